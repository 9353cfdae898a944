"""Matrix product in which each program does the same number of steps.

The steps along K of all blocks of C form one row, and are dealt out in
equal runs (Stream-K).  A run may begin or end inside a block.  The program
that does the last step of a block stores it; it first waits for the parts of
the programs before it, and adds them.  Programs wait only for programs with a
smaller number, so that any machine which starts them in order gets on.

Checked against float64: |error| <= 1e-4 + 1e-5 |reference|.
"""
import numpy as np
import triton
import triton.language as tl


@triton.jit
def partial_product(a_ptr, b_ptr, rows, cols, first, last, M, N, K,
                    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
                    BLOCK_K: tl.constexpr):
    """Steps first .. last - 1 along K of one block of C."""
    acc = tl.zeros([BLOCK_M, BLOCK_N], dtype=tl.float32)
    for step in range(first, last):
        ks = step * BLOCK_K + tl.arange(0, BLOCK_K)
        a = tl.load(a_ptr + rows[:, None] * K + ks[None, :],
                    mask=(rows[:, None] < M) & (ks[None, :] < K), other=0.0)
        b = tl.load(b_ptr + ks[:, None] * N + cols[None, :],
                    mask=(ks[:, None] < K) & (cols[None, :] < N), other=0.0)
        acc = tl.dot(a, b, acc, input_precision='ieee')
    return acc


@triton.jit
def stream_k_kernel(a_ptr, b_ptr, c_ptr, part_ptr, ready_ptr, M, N, K,
                    steps_per_program, BLOCK_M: tl.constexpr,
                    BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr):
    pid = tl.program_id(0)
    blocks_n = tl.cdiv(N, BLOCK_N)
    steps = tl.cdiv(K, BLOCK_K)
    total = tl.cdiv(M, BLOCK_M) * blocks_n * steps
    at = pid * steps_per_program
    end = tl.minimum(at + steps_per_program, total)
    inside = (tl.arange(0, BLOCK_M)[:, None] * BLOCK_N +
              tl.arange(0, BLOCK_N)[None, :])
    while at < end:
        block = at // steps
        first = at % steps
        last = tl.minimum(steps, first + end - at)
        rows = (block // blocks_n) * BLOCK_M + tl.arange(0, BLOCK_M)
        cols = (block % blocks_n) * BLOCK_N + tl.arange(0, BLOCK_N)
        acc = partial_product(a_ptr, b_ptr, rows, cols, first, last, M, N, K,
                              BLOCK_M, BLOCK_N, BLOCK_K)
        if last < steps:
            # This run ends inside the block: leave the part for a later one.
            tl.store(part_ptr + pid * BLOCK_M * BLOCK_N + inside, acc)
            tl.debug_barrier()
            tl.atomic_xchg(ready_ptr + pid, 1, sem='release')
        else:
            # Add what the programs before left of this block.
            parts = tl.cdiv(first, steps_per_program)
            for other in range(pid - parts, pid):
                while tl.atomic_cas(ready_ptr + other, 1, 1,
                                    sem='acquire') != 1:
                    pass
                tl.debug_barrier()
                acc += tl.load(part_ptr + other * BLOCK_M * BLOCK_N + inside)
            tl.store(c_ptr + rows[:, None] * N + cols[None, :], acc,
                     mask=(rows[:, None] < M) & (cols[None, :] < N))
        at += last - first


def stream_k(a, b, programs):
    (M, K), N = a.shape, b.shape[1]
    bm, bn, bk = 16, 32, 16
    total = triton.cdiv(M, bm) * triton.cdiv(N, bn) * triton.cdiv(K, bk)
    c = np.empty((M, N), dtype=np.float32)
    part = np.empty((programs, bm, bn), dtype=np.float32)
    ready = np.zeros(programs, dtype=np.int32)
    stream_k_kernel[(programs, )](
        a, b, c, part, ready, M, N, K, triton.cdiv(total, programs),
        BLOCK_M=bm, BLOCK_N=bn, BLOCK_K=bk)
    return c


def main():
    rng = np.random.default_rng(0)
    cases = [(*shape, programs)
             for shape in ((1, 1, 1), (32, 64, 160), (40, 70, 100))
             for programs in (1, 5, 13)]
    for M, N, K, programs in cases:
        a = rng.standard_normal((M, K)).astype(np.float32)
        b = rng.standard_normal((K, N)).astype(np.float32)
        np.testing.assert_allclose(
            stream_k(a, b, programs), a.astype(np.float64) @ b, rtol=1e-5,
            atol=1e-4)
    print('stream_k: OK,', len(cases), 'cases')


if __name__ == '__main__':
    main()
