"""d18: The stale mask

A kernel sums squares along each row. Of a table with four rows, three rows
come out a little too large, by an amount that looks like the beginning of
the next row. The fourth one is sometimes right and sometimes not, and once
a week the job is killed in that very kernel. "But every load is masked!"

    z[i] = x[i, 0]**2 + ... + x[i, N-1]**2   for 0 <= i < M

    x_ptr   float32, M by N, row-major       given
    z_ptr   float32, M elements              to be written
    grid    M programs

Your job has two parts.

1. Write the verdict below, for M=4, N=45 and B=32: which kind of fault stops
   the kernel (docs/findings.md lists them), the line that commits it, the
   program, and the index of the first element that it should not touch,
   counted from the beginning of x.
2. Repair the kernel, and change no more than you must.
"""
# TODO: put what you find in place of the question marks.
# verdict: kind=? line=? program=? index=?
import triton
import triton.language as tl


def reference(x):
    return (x * x).sum(axis=1)


@triton.jit
def sum_squares(x_ptr, z_ptr, N, B: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, B)
    mask = cols < N
    total = tl.zeros([B], tl.float32)
    for _ in range(tl.cdiv(N, B)):
        x = tl.load(x_ptr + row * N + cols, mask=mask, other=0.0)
        total += x * x
        cols += B
    tl.store(z_ptr + row, tl.sum(total, axis=0))
