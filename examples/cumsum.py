"""Running sum of a long vector in two kernels, forward or backward.

The first leaves the sum of each block; the second adds the sums of the blocks
before its own and scans its block.

Checked against float64: |error| <= 1e-4 + 1e-5 |reference|; integers exactly.
"""
import numpy as np
import triton
import triton.language as tl


@triton.jit
def block_sums(x_ptr, sum_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=0)
    tl.store(sum_ptr + tl.program_id(0), tl.sum(x, axis=0))


@triton.jit
def scan_blocks(x_ptr, sum_ptr, y_ptr, n, REVERSE: tl.constexpr,
                BLOCK: tl.constexpr, MANY: tl.constexpr):
    pid = tl.program_id(0)
    i = pid * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=0)
    first = 0
    last = pid
    if REVERSE:
        first = pid + 1
        last = tl.num_programs(0)
    before = tl.zeros([MANY], dtype=sum_ptr.dtype.element_ty)
    for start in range(first, last, MANY):
        block = start + tl.arange(0, MANY)
        before += tl.load(sum_ptr + block, mask=block < last, other=0)
    y = tl.cumsum(x, axis=0, reverse=REVERSE) + tl.sum(before, axis=0)
    tl.store(y_ptr + i, y, mask=i < n)


def cumsum(x, reverse, block=64):
    programs = triton.cdiv(x.size, block)
    sums, y = np.empty(programs, dtype=x.dtype), np.empty_like(x)
    block_sums[(programs, )](x, sums, x.size, BLOCK=block)
    scan_blocks[(programs, )](x, sums, y, x.size, REVERSE=reverse,
                              BLOCK=block, MANY=16)
    return y


def main():
    rng = np.random.default_rng(0)
    cases = [(n, reverse) for n in (1, 64, 3000) for reverse in (False, True)]
    for n, reverse in cases:
        step = -1 if reverse else 1
        x = rng.standard_normal(n).astype(np.float32)
        want = x[::step].cumsum(dtype=np.float64)[::step]
        np.testing.assert_allclose(cumsum(x, reverse), want, rtol=1e-5,
                                   atol=1e-4)
        x = rng.integers(-1000, 1000, n).astype(np.int32)
        np.testing.assert_array_equal(cumsum(x, reverse),
                                      x[::step].cumsum()[::step])
    print('cumsum: OK,', len(cases), 'cases')


if __name__ == '__main__':
    main()
