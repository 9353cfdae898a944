"""Matrix product of int8 numbers, scaled on the way out.

A has one scale for each row, B one for each column and a zero point: its real
value is (b - zero) * scale.  The product of integers is exact in int32; the
zero point is taken out through the sum of each row of A.

Checked against float64: |error| <= 1e-4 + 1e-5 |reference|.
"""
import numpy as np
import triton
import triton.language as tl


@triton.jit
def int8_matmul_kernel(a_ptr, b_ptr, c_ptr, a_scale_ptr, b_scale_ptr,
                       b_zero_ptr, M, N, K, BLOCK_M: tl.constexpr,
                       BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr):
    rows = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    cols = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    acc = tl.zeros([BLOCK_M, BLOCK_N], dtype=tl.int32)
    a_sum = tl.zeros([BLOCK_M], dtype=tl.int32)
    for start in range(0, K, BLOCK_K):
        ks = start + tl.arange(0, BLOCK_K)
        a = tl.load(a_ptr + rows[:, None] * K + ks[None, :],
                    mask=(rows[:, None] < M) & (ks[None, :] < K), other=0)
        b = tl.load(b_ptr + ks[:, None] * N + cols[None, :],
                    mask=(ks[:, None] < K) & (cols[None, :] < N), other=0)
        acc = tl.dot(a, b, acc, out_dtype=tl.int32)
        a_sum += tl.sum(a.to(tl.int32), axis=1)
    zero = tl.load(b_zero_ptr + cols, mask=cols < N, other=0).to(tl.int32)
    acc -= a_sum[:, None] * zero[None, :]
    a_scale = tl.load(a_scale_ptr + rows, mask=rows < M, other=0.0)
    b_scale = tl.load(b_scale_ptr + cols, mask=cols < N, other=0.0)
    c = acc.to(tl.float32) * a_scale[:, None] * b_scale[None, :]
    tl.store(c_ptr + rows[:, None] * N + cols[None, :], c,
             mask=(rows[:, None] < M) & (cols[None, :] < N))


def int8_matmul(a, b, a_scale, b_scale, b_zero):
    (M, K), N = a.shape, b.shape[1]
    c = np.empty((M, N), dtype=np.float32)
    grid = lambda meta: (triton.cdiv(M, meta['BLOCK_M']),
                         triton.cdiv(N, meta['BLOCK_N']))
    int8_matmul_kernel[grid](a, b, c, a_scale, b_scale, b_zero, M, N, K,
                             BLOCK_M=32, BLOCK_N=32, BLOCK_K=32)
    return c


def main():
    rng = np.random.default_rng(0)
    shapes = (1, 1, 1), (32, 64, 128), (35, 50, 77)
    for M, N, K in shapes:
        a = rng.integers(-128, 128, (M, K)).astype(np.int8)
        b = rng.integers(-128, 128, (K, N)).astype(np.int8)
        a_scale = rng.uniform(0.001, 0.01, M).astype(np.float32)
        b_scale = rng.uniform(0.001, 0.01, N).astype(np.float32)
        b_zero = rng.integers(-20, 21, N).astype(np.int8)
        real_a = a * a_scale.astype(np.float64)[:, None]
        real_b = ((b.astype(np.int64) - b_zero) *
                  b_scale.astype(np.float64))
        np.testing.assert_allclose(
            int8_matmul(a, b, a_scale, b_scale, b_zero), real_a @ real_b,
            rtol=1e-5, atol=1e-4)
    print('int8_matmul: OK,', len(shapes), 'shapes')


if __name__ == '__main__':
    main()
