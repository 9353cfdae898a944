"""Matrix product whose K is split among programs that add by atomics.

For a tall K and a small result there are too few blocks of C to fill a
machine.  SPLIT programs share one block: each adds its part of the sum to C,
which must be zero before.  The order of these sums is not fixed.

Checked against float64: |error| <= 1e-4 + 1e-5 |reference|.
"""
import numpy as np
import triton
import triton.language as tl


@triton.jit
def split_k_kernel(a_ptr, b_ptr, c_ptr, M, N, K, stride_am, stride_ak,
                   stride_bk, stride_bn, stride_cm, stride_cn,
                   BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
                   BLOCK_K: tl.constexpr, SPLIT: tl.constexpr):
    rows = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    cols = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    acc = tl.zeros([BLOCK_M, BLOCK_N], dtype=tl.float32)
    # Block k of K belongs to program k % SPLIT.
    for start in range(tl.program_id(2) * BLOCK_K, K, BLOCK_K * SPLIT):
        ks = start + tl.arange(0, BLOCK_K)
        a = tl.load(a_ptr + rows[:, None] * stride_am +
                    ks[None, :] * stride_ak,
                    mask=(rows[:, None] < M) & (ks[None, :] < K), other=0.0)
        b = tl.load(b_ptr + ks[:, None] * stride_bk +
                    cols[None, :] * stride_bn,
                    mask=(ks[:, None] < K) & (cols[None, :] < N), other=0.0)
        acc = tl.dot(a, b, acc, input_precision='ieee')
    c_ptrs = c_ptr + rows[:, None] * stride_cm + cols[None, :] * stride_cn
    mask = (rows[:, None] < M) & (cols[None, :] < N)
    if SPLIT == 1:
        tl.store(c_ptrs, acc, mask=mask)
    else:
        tl.atomic_add(c_ptrs, acc, mask=mask, sem='relaxed')


def strides(x):
    return [s // x.itemsize for s in x.strides]


def split_k(a, b, split):
    (M, K), N = a.shape, b.shape[1]
    c = np.zeros((M, N), dtype=np.float32)
    grid = lambda meta: (triton.cdiv(M, meta['BLOCK_M']),
                         triton.cdiv(N, meta['BLOCK_N']), meta['SPLIT'])
    split_k_kernel[grid](a, b, c, M, N, K, *strides(a), *strides(b),
                         *strides(c), BLOCK_M=16, BLOCK_N=32, BLOCK_K=32,
                         SPLIT=split)
    return c


def main():
    rng = np.random.default_rng(0)
    cases = [(*shape, split)
             for shape in ((1, 1, 1), (16, 32, 256), (20, 50, 333))
             for split in (1, 4)]
    for M, N, K, split in cases:
        a = rng.standard_normal((M, K)).astype(np.float32)
        b = rng.standard_normal((N, K)).astype(np.float32).T
        np.testing.assert_allclose(
            split_k(a, b, split), a.astype(np.float64) @ b, rtol=1e-5,
            atol=1e-4)
    print('split_k: OK,', len(cases), 'cases')


if __name__ == '__main__':
    main()
