"""Products of many small matrices: several of a batch in one 3-D tl.dot.

Checked against float64: |error| <= 1e-4 + 1e-5 |reference|.
"""
import numpy as np
import triton
import triton.language as tl


@triton.jit
def batched_matmul_kernel(a_ptr, b_ptr, c_ptr, batch, M, N, K,
                          BATCH: tl.constexpr, BLOCK_M: tl.constexpr,
                          BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr):
    ib = tl.program_id(0) * BATCH + tl.arange(0, BATCH)[:, None, None]
    im = tl.program_id(1) * BLOCK_M + tl.arange(0, BLOCK_M)[None, :, None]
    in_ = tl.program_id(2) * BLOCK_N + tl.arange(0, BLOCK_N)[None, None, :]
    acc = tl.zeros([BATCH, BLOCK_M, BLOCK_N], dtype=tl.float32)
    for start in range(0, K, BLOCK_K):
        ka = start + tl.arange(0, BLOCK_K)[None, None, :]
        kb = start + tl.arange(0, BLOCK_K)[None, :, None]
        a = tl.load(a_ptr + (ib * M + im) * K + ka,
                    mask=(ib < batch) & (im < M) & (ka < K), other=0.0)
        b = tl.load(b_ptr + (ib * K + kb) * N + in_,
                    mask=(ib < batch) & (kb < K) & (in_ < N), other=0.0)
        acc = tl.dot(a, b, acc, input_precision='ieee')
    tl.store(c_ptr + (ib * M + im) * N + in_, acc,
             mask=(ib < batch) & (im < M) & (in_ < N))


def batched_matmul(a, b):
    batch, M, K = a.shape
    N = b.shape[2]
    c = np.empty((batch, M, N), dtype=np.float32)
    grid = lambda meta: (triton.cdiv(batch, meta['BATCH']),
                         triton.cdiv(M, meta['BLOCK_M']),
                         triton.cdiv(N, meta['BLOCK_N']))
    batched_matmul_kernel[grid](a, b, c, batch, M, N, K, BATCH=4, BLOCK_M=16,
                                BLOCK_N=16, BLOCK_K=16)
    return c


def main():
    rng = np.random.default_rng(0)
    shapes = (1, 1, 1, 1), (4, 16, 16, 32), (7, 20, 9, 25)
    for batch, M, N, K in shapes:
        a = rng.standard_normal((batch, M, K)).astype(np.float32)
        b = rng.standard_normal((batch, K, N)).astype(np.float32)
        np.testing.assert_allclose(batched_matmul(a, b),
                                   a.astype(np.float64) @ b, rtol=1e-5,
                                   atol=1e-4)
    print('batched_matmul: OK,', len(shapes), 'shapes')


if __name__ == '__main__':
    main()
