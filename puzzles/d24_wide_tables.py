"""d24: Wide tables

A kernel turns temperatures into Fahrenheit. It is right for every table that
was tried for a year, tall ones, narrow ones, ragged ones. Then a wide table
comes, and the right-hand part of the result is whatever was in memory
before. Stranger still: tables of 20 by 60 are right and tables of 20 by 70
are not.

    z[i, j] = 1.8 * x[i, j] + 32             for 0 <= i < M, 0 <= j < N

    x_ptr   float32, M by N, row-major       given
    z_ptr   float32, M by N, row-major       to be written
    grid    ceil(M / BM) by ceil(N / BN) programs

Your job has two parts.

1. Write the verdict below, for M=20, N=70, BM=16 and BN=32: which kind of
   fault it is (docs/findings.md lists them), the first line with the
   mistake, and the first element (row, column) that suffers.
2. Repair the kernel, and change no more than you must.
"""
# TODO: put what you find in place of the question marks.
# verdict: kind=? line=? index=?
import triton
import triton.language as tl


def reference(x):
    return 1.8 * x + 32


@triton.jit
def fahrenheit(x_ptr, z_ptr, M, N, BM: tl.constexpr, BN: tl.constexpr):
    rows = tl.program_id(1) * BM + tl.arange(0, BM)
    cols = tl.program_id(0) * BN + tl.arange(0, BN)
    offs = rows[:, None] * N + cols[None, :]
    mask = (rows < M)[:, None] & (cols < N)[None, :]
    x = tl.load(x_ptr + offs, mask=mask)
    tl.store(z_ptr + offs, 1.8 * x + 32, mask=mask)
