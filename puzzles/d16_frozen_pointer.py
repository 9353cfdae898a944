"""d16: The frozen pointer

A matrix product, rewritten from indices to pointers that move, "which is
what the fast ones do". As long as K is 16 it agrees with NumPy. With a
larger K the result looks like a product, has the right size, and is wrong.

    z[i, j] = a[i, 0] * b[0, j] + ... + a[i, K-1] * b[K-1, j]
                                             for 0 <= i < M, 0 <= j < N

    a_ptr   float16, M by K, row-major       given
    b_ptr   float16, K by N, row-major       given
    z_ptr   float32, M by N, row-major       to be written
    grid    ceil(M / B) by ceil(N / B) programs

Your job has two parts.

1. Write the verdict below, for K=40 and BK=16: the line whose access goes
   to the wrong place, and the first row of b (index) that no program ever
   loads.
2. Repair the kernel, and change no more than you must.
"""
# TODO: put what you find in place of the question marks.
# verdict: line=? index=?
import triton
import triton.language as tl


def reference(a, b):
    return a @ b


@triton.jit
def matmul(a_ptr, b_ptr, z_ptr, M, N, K, B: tl.constexpr, BK: tl.constexpr):
    rows = tl.program_id(0) * B + tl.arange(0, B)
    cols = tl.program_id(1) * B + tl.arange(0, B)
    ks = tl.arange(0, BK)
    a_ptrs = a_ptr + rows[:, None] * K + ks[None, :]
    b_ptrs = b_ptr + ks[:, None] * N + cols[None, :]
    z = tl.zeros([B, B], tl.float32)
    for left in range(K, 0, -BK):
        a_mask = (rows < M)[:, None] & (ks < left)[None, :]
        b_mask = (ks < left)[:, None] & (cols < N)[None, :]
        a = tl.load(a_ptrs, mask=a_mask, other=0.0)
        b = tl.load(b_ptrs, mask=b_mask, other=0.0)
        z = tl.dot(a, b, z)
        a_ptrs += BK
    mask = (rows < M)[:, None] & (cols < N)[None, :]
    tl.store(z_ptr + rows[:, None] * N + cols[None, :], z, mask=mask)
