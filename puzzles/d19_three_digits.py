"""d19: Three digits

A solver that multiplies float32 matrices stops getting better at an error of
about one in two thousand, though float32 has seven digits. Inputs and
outputs are float32, the accumulator is float32, and the same matrices
multiplied by NumPy in float32 have seven digits right. "And nothing in my
kernel is ever cast!"

    z[i, j] = a[i, 0] * b[0, j] + ... + a[i, K-1] * b[K-1, j]
                                             for 0 <= i < M, 0 <= j < N

    a_ptr   float32, M by K, row-major       given
    b_ptr   float32, K by N, row-major       given
    z_ptr   float32, M by N, row-major       to be written
    grid    ceil(M / B) by ceil(N / B) programs

Your job has two parts.

1. Write the verdict below: the line in which digits are lost, and how many
   bits of the fraction (index) are left of each operand there; a float32
   has 23 of them.
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
    z = tl.zeros([B, B], tl.float32)
    for start in range(0, K, BK):
        ks = start + tl.arange(0, BK)
        a = tl.load(a_ptr + rows[:, None] * K + ks[None, :],
                    mask=(rows < M)[:, None] & (ks < K)[None, :], other=0.0)
        b = tl.load(b_ptr + ks[:, None] * N + cols[None, :],
                    mask=(ks < K)[:, None] & (cols < N)[None, :], other=0.0)
        z = tl.dot(a, b, z)
    mask = (rows < M)[:, None] & (cols < N)[None, :]
    tl.store(z_ptr + rows[:, None] * N + cols[None, :], z, mask=mask)
