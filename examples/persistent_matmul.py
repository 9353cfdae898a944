"""Matrix product by a fixed number of programs that take blocks in turn.

Each program walks the blocks pid, pid + programs, ...; the blocks are
numbered so that GROUP_M rows of them share columns of B.  The epilogue adds a
bias.

Checked against float64: |error| <= 1e-2 + 2e-3 |reference| (fp16).
"""
import numpy as np
import triton
import triton.language as tl


@triton.jit
def block_of(number, M, N, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
             GROUP_M: tl.constexpr):
    """(row, column) of a block by its number."""
    blocks_m = tl.cdiv(M, BLOCK_M)
    blocks_n = tl.cdiv(N, BLOCK_N)
    return tl.swizzle2d(number // blocks_n, number % blocks_n, blocks_m,
                        blocks_n, GROUP_M)


@triton.jit
def persistent_matmul_kernel(a_ptr, b_ptr, bias_ptr, c_ptr, M, N, K,
                             stride_am, stride_ak, stride_bk, stride_bn,
                             stride_cm, stride_cn, BLOCK_M: tl.constexpr,
                             BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
                             GROUP_M: tl.constexpr):
    tl.assume(stride_am > 0)
    tl.assume(stride_cm > 0)
    n_blocks = tl.cdiv(M, BLOCK_M) * tl.cdiv(N, BLOCK_N)
    for number in tl.range(tl.program_id(0), n_blocks, tl.num_programs(0),
                           flatten=True):
        pid_m, pid_n = block_of(number, M, N, BLOCK_M, BLOCK_N, GROUP_M)
        rows = pid_m * BLOCK_M + tl.arange(0, BLOCK_M)
        cols = pid_n * BLOCK_N + tl.arange(0, BLOCK_N)
        # Lanes past the end read row or column 0; they are not stored.
        a_rows = tl.where(rows < M, rows, 0)
        b_cols = tl.where(cols < N, cols, 0)
        acc = tl.zeros([BLOCK_M, BLOCK_N], dtype=tl.float32)
        for step in range(0, tl.cdiv(K, BLOCK_K)):
            ks = step * BLOCK_K + tl.arange(0, BLOCK_K)
            a = tl.load(a_ptr + a_rows[:, None] * stride_am +
                        ks[None, :] * stride_ak, mask=ks[None, :] < K,
                        other=0.0)
            b = tl.load(b_ptr + ks[:, None] * stride_bk +
                        b_cols[None, :] * stride_bn, mask=ks[:, None] < K,
                        other=0.0)
            acc = tl.dot(a, b, acc)
        bias = tl.load(bias_ptr + cols, mask=cols < N, other=0.0)
        acc += bias.to(tl.float32)[None, :]
        c_ptrs = (c_ptr + rows[:, None] * stride_cm +
                  cols[None, :] * stride_cn)
        tl.store(c_ptrs, acc.to(c_ptr.dtype.element_ty),
                 mask=(rows[:, None] < M) & (cols[None, :] < N))


def strides(x):
    return [s // x.itemsize for s in x.strides]


def persistent_matmul(a, b, bias, programs):
    (M, K), N = a.shape, b.shape[1]
    c = np.empty((M, N), dtype=np.float16)
    persistent_matmul_kernel[(programs, )](
        a, b, bias, c, M, N, K, *strides(a), *strides(b), *strides(c),
        BLOCK_M=32, BLOCK_N=16, BLOCK_K=32, GROUP_M=2)
    return c


def main():
    rng = np.random.default_rng(0)
    cases = [(*shape, programs)
             for shape in ((1, 1, 1), (64, 48, 64), (100, 70, 45))
             for programs in (1, 6, 40)]
    for M, N, K, programs in cases:
        a = rng.standard_normal((M, K)).astype(np.float16)
        b = rng.standard_normal((N, K)).astype(np.float16).T
        bias = rng.standard_normal(N).astype(np.float16)
        np.testing.assert_allclose(
            persistent_matmul(a, b, bias, programs),
            a.astype(np.float64) @ b + bias, rtol=2e-3, atol=1e-2)
    print('persistent_matmul: OK,', len(cases), 'cases')


if __name__ == '__main__':
    main()
