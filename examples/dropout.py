"""Dropout that keeps a seed instead of a mask.

Philox gives each element its own random number, made of the seed and the
element's position: the backward pass makes the same numbers again.

Checked against float64: the kept elements to |error| <= 1e-6 |reference|, the
fraction that is kept to four standard deviations, and Philox itself against
ten known rounds.
"""
import numpy as np
import triton
import triton.language as tl


@triton.jit
def dropout_kernel(x_ptr, y_ptr, n, p, seed, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < n
    x = tl.load(x_ptr + i, mask=mask, other=0.0)
    keep = tl.rand(seed, i) >= p
    tl.store(y_ptr + i, tl.where(keep, x / (1 - p), 0.0), mask=mask)


@triton.jit
def random_words(out_ptr, n, seed, BLOCK: tl.constexpr):
    """Four 32-bit words for each position, one after the other."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    a, b, c, d = tl.randint4x(seed, i)
    mask = i < n
    tl.store(out_ptr + 4 * i, a.to(tl.int32, bitcast=True), mask=mask)
    tl.store(out_ptr + 4 * i + 1, b.to(tl.int32, bitcast=True), mask=mask)
    tl.store(out_ptr + 4 * i + 2, c.to(tl.int32, bitcast=True), mask=mask)
    tl.store(out_ptr + 4 * i + 3, d.to(tl.int32, bitcast=True), mask=mask)


def dropout(x, p, seed):
    y = np.empty_like(x)
    grid = lambda meta: (triton.cdiv(x.size, meta['BLOCK']), )
    dropout_kernel[grid](x, y, x.size, p, seed, BLOCK=256)
    return y


def words(n, seed):
    out = np.empty((n, 4), dtype=np.int32)
    grid = lambda meta: (triton.cdiv(n, meta['BLOCK']), )
    random_words[grid](out, n, seed, BLOCK=64)
    return out.view(np.uint32)


def philox(position, seed):
    """Philox 4x32 with ten rounds, by its definition (Salmon et al. 2011)."""
    c = [position.astype(np.uint64)] + [np.zeros_like(position, np.uint64)
                                        for _ in range(3)]
    k = [seed & 0xFFFFFFFF, seed >> 32]
    low = np.uint64(0xFFFFFFFF)
    for _ in range(10):
        a, b = np.uint64(0xD2511F53) * c[0], np.uint64(0xCD9E8D57) * c[2]
        c = [(b >> np.uint64(32)) ^ c[1] ^ np.uint64(k[0]), b & low,
             (a >> np.uint64(32)) ^ c[3] ^ np.uint64(k[1]), a & low]
        k = [(k[0] + 0x9E3779B9) & 0xFFFFFFFF,
             (k[1] + 0xBB67AE85) & 0xFFFFFFFF]
    return np.stack(c, axis=-1).astype(np.uint32)


def main():
    rng = np.random.default_rng(0)
    for seed in 0, 123, 0x123456789ABC:
        np.testing.assert_array_equal(words(100, seed),
                                      philox(np.arange(100), seed))
    sizes = 1, 256, 5000
    for n in sizes:
        x = rng.standard_normal(n).astype(np.float32)
        for p in 0.1, 0.5:
            y = dropout(x, p, seed=n)
            np.testing.assert_array_equal(y, dropout(x, p, seed=n))
            kept = y != 0
            want = x.astype(np.float64)[kept] / (1 - p)
            np.testing.assert_allclose(y[kept], want, rtol=1e-6)
            assert abs(kept.mean() - (1 - p)) <= 4 * np.sqrt(
                p * (1 - p) / n) or n == 1
    print('dropout: OK,', len(sizes), 'sizes')


if __name__ == '__main__':
    main()
