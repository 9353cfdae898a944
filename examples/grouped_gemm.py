"""Matrix products of different sizes in one launch, through pointers in memory.

Nothing is packed: three lists hold the addresses of the matrices, and a kernel
loads an address as an integer and makes a pointer of it.  A fixed number of
programs walks the blocks of all products, one product after the other.

Checked against float64: |error| <= 1e-2 + 2e-3 |reference| (fp16).
"""
import numpy as np
import tkdbg
import triton
import triton.language as tl


@triton.jit
def grouped_gemm_kernel(a_list_ptr, b_list_ptr, c_list_ptr, size_list_ptr,
                        n_products, BLOCK_M: tl.constexpr,
                        BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr):
    block = tl.program_id(0)
    done = 0  # blocks of the products before
    for g in range(n_products):
        M = tl.load(size_list_ptr + 3 * g)
        N = tl.load(size_list_ptr + 3 * g + 1)
        K = tl.load(size_list_ptr + 3 * g + 2)
        blocks_n = tl.cdiv(N, BLOCK_N)
        blocks = tl.cdiv(M, BLOCK_M) * blocks_n
        a_ptr = tl.load(a_list_ptr + g).to(tl.pointer_type(tl.float16))
        b_ptr = tl.load(b_list_ptr + g).to(tl.pointer_type(tl.float16))
        c_ptr = tl.load(c_list_ptr + g).to(tl.pointer_type(tl.float16))
        while block >= done and block < done + blocks:
            pid = block - done
            rows = pid // blocks_n * BLOCK_M + tl.arange(0, BLOCK_M)
            cols = pid % blocks_n * BLOCK_N + tl.arange(0, BLOCK_N)
            acc = tl.zeros([BLOCK_M, BLOCK_N], dtype=tl.float32)
            for start in range(0, K, BLOCK_K):
                ks = start + tl.arange(0, BLOCK_K)
                a = tl.load(a_ptr + rows[:, None] * K + ks[None, :],
                            mask=(rows[:, None] < M) & (ks[None, :] < K),
                            other=0.0)
                b = tl.load(b_ptr + ks[:, None] * N + cols[None, :],
                            mask=(ks[:, None] < K) & (cols[None, :] < N),
                            other=0.0)
                acc = tl.dot(a, b, acc)
            tl.store(c_ptr + rows[:, None] * N + cols[None, :],
                     acc.to(tl.float16),
                     mask=(rows[:, None] < M) & (cols[None, :] < N))
            block += tl.num_programs(0)
        done += blocks


def addresses(arrays):
    return np.array([tkdbg.address_of(a) for a in arrays], dtype=np.int64)


def grouped_gemm(a_list, b_list, programs):
    c_list = [np.empty((a.shape[0], b.shape[1]), dtype=np.float16)
              for a, b in zip(a_list, b_list)]
    sizes = np.array([(*a.shape, b.shape[1])
                      for a, b in zip(a_list, b_list)], dtype=np.int32)
    sizes = np.ascontiguousarray(sizes[:, [0, 2, 1]])  # M, N, K
    grouped_gemm_kernel[(programs, )](
        addresses(a_list), addresses(b_list), addresses(c_list), sizes,
        len(a_list), BLOCK_M=32, BLOCK_N=32, BLOCK_K=16)
    return c_list


def main():
    rng = np.random.default_rng(0)
    groups = ([(1, 1, 1)], [(64, 32, 48), (5, 70, 33), (33, 16, 100)],
              [(100, 40, 20)] * 4)
    cases = [(group, programs) for group in groups for programs in (1, 7)]
    for group, programs in cases:
        a_list = [rng.standard_normal((M, K)).astype(np.float16)
                  for M, N, K in group]
        b_list = [rng.standard_normal((K, N)).astype(np.float16)
                  for M, N, K in group]
        c_list = grouped_gemm(a_list, b_list, programs)
        for a, b, c in zip(a_list, b_list, c_list):
            np.testing.assert_allclose(c, a.astype(np.float64) @ b,
                                       rtol=2e-3, atol=1e-2)
    print('grouped_gemm: OK,', len(cases), 'cases')


if __name__ == '__main__':
    main()
