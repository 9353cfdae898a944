"""d03: Only on squares

The test of this kernel runs on a table of 64 by 64 and has been green since
the day it was written. Yesterday somebody gave it 20 rows of 45 columns, and
the job died in the middle of the night with "an illegal memory access was
encountered", twenty kernels later.

    z[i, j] = x[i, j] + y[j]                 for 0 <= i < M, 0 <= j < N

    x_ptr   float32, M by N, row-major       given
    y_ptr   float32, N elements              given
    z_ptr   float32, M by N, row-major       to be written
    grid    ceil(M / BM) by ceil(N / BN) programs

Your job has two parts.

1. Write the verdict below, for M=20, N=45, BM=16 and BN=32: which kind of
   fault it is (docs/findings.md lists them), the first line that commits
   it, the program that does, and the index of the first element that is
   wrongly touched, counted from the beginning of that tensor.
2. Repair the kernel, and change no more than you must.
"""
# TODO: put what you find in place of the question marks.
# verdict: kind=? line=? program=? index=?
import triton
import triton.language as tl


def reference(x, y):
    return x + y[None, :]


@triton.jit
def add_bias(x_ptr, y_ptr, z_ptr, M, N, BM: tl.constexpr, BN: tl.constexpr):
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    cols = tl.program_id(1) * BN + tl.arange(0, BN)
    offs = rows[:, None] * N + cols[None, :]
    mask = (rows < N)[:, None] & (cols < M)[None, :]
    x = tl.load(x_ptr + offs, mask=mask)
    y = tl.load(y_ptr + cols, mask=cols < N)
    tl.store(z_ptr + offs, x + y[None, :], mask=mask)
