"""d09: Row or column

Each row of a table has a factor of its own. On the author's example all
factors were 0.5, and the result was right. Now they differ, and only the
numbers on the diagonal of each block come out right.

    z[i, j] = x[i, j] * s[i]                 for 0 <= i < M, 0 <= j < N

    x_ptr   float32, M by N, row-major       given
    s_ptr   float32, M elements              given
    z_ptr   float32, M by N, row-major       to be written
    grid    ceil(M / B) by ceil(N / B) programs

Your job has two parts.

1. Write the verdict below, for M=20, N=24 and B=16: the line with the
   mistake, and the index (row, column) of the first wrong element, row
   after row.
2. Repair the kernel, and change no more than you must.
"""
# TODO: put what you find in place of the question marks.
# verdict: line=? index=?
import triton
import triton.language as tl


def reference(x, s):
    return x * s[:, None]


@triton.jit
def scale_rows(x_ptr, s_ptr, z_ptr, M, N, B: tl.constexpr):
    rows = tl.program_id(0) * B + tl.arange(0, B)
    cols = tl.program_id(1) * B + tl.arange(0, B)
    offs = rows[:, None] * N + cols[None, :]
    mask = (rows < M)[:, None] & (cols < N)[None, :]
    x = tl.load(x_ptr + offs, mask=mask)
    s = tl.load(s_ptr + rows, mask=rows < M, other=1.0)
    z = x * s[None, :]
    tl.store(z_ptr + offs, z, mask=mask)
