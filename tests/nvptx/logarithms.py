"""Logarithms of fp32, beside NumPy's in double precision: prints the largest
error of each in units of the last place, and fails where it is more than 1.

    tkdbg run --engine ptx tests/nvptx/logarithms.py

By NVIDIA's library of functions, or with TKDBG_LIBDEVICE= by tkdbg's own.
"""
import numpy as np
import triton
import triton.language as tl


@triton.jit
def logarithms(x, y, z, N: tl.constexpr):
    i = tl.program_id(0) * N + tl.arange(0, N)
    a = tl.load(x + i)
    tl.store(y + i, tl.log(a))
    tl.store(z + i, tl.log2(a))


def arguments():
    rng = np.random.default_rng(0)
    anywhere = rng.integers(1, 0x7f800000, 30 << 10, dtype=np.uint32)
    near_1 = rng.integers(0x3f700000, 0x3f900000, 30 << 10, dtype=np.uint32)
    tiny = rng.integers(1, 0x00800000, 3 << 10, dtype=np.uint32)
    powers = np.arange(1, 255, dtype=np.uint32) << 23
    x = np.concatenate([anywhere, near_1, tiny, powers]).view(np.float32)
    return np.append(x, np.ones(-x.size % 1024, np.float32))


def main():
    x = arguments()
    y, z = np.empty_like(x), np.empty_like(x)
    logarithms[(x.size // 1024, )](x, y, z, 1024)
    for name, got, want in (('log', y, np.log(x.astype(np.float64))),
                            ('log2', z, np.log2(x.astype(np.float64)))):
        unit = np.spacing(np.abs(want).astype(np.float32)).astype(np.float64)
        worst = (np.abs(got - want) / unit).max()
        print(f'{name}: {worst:.3f} ulp')
        assert worst <= 1, x[np.argmax(np.abs(got - want) / unit)]
    odd = np.array([0, -0.0, np.inf, -np.inf, -1, np.nan] + 1018 * [1],
                   np.float32)
    y, z = np.empty_like(odd), np.empty_like(odd)
    logarithms[(1, )](odd, y, z, 1024)
    want = [-np.inf, -np.inf, np.inf] + 3 * [np.nan]
    for got in (y, z):
        assert np.array_equal(got[:6], want, equal_nan=True), got[:6]
        assert not got[6:].any()


main()
