"""d05: Empty seats

A nightly test compares the mean of each row with NumPy's. On the author's
machine it has never failed. On the new cluster it fails on some nights, for
some rows, by amounts that make no sense; and when it is run again, it passes.

    z[i] = (x[i, 0] + ... + x[i, N-1]) / N   for 0 <= i < M

    x_ptr   float32, M by N, row-major       given
    z_ptr   float32, M elements              to be written
    grid    M programs

Your job has two parts.

1. Write the verdict below, for M=3, N=45 and B=64: which kind of fault it
   is (docs/findings.md lists them), the line where it does its harm, and
   the number (index) of the first lane that is to blame.
2. Repair the kernel, and change no more than you must.
"""
# TODO: put what you find in place of the question marks.
# verdict: kind=? line=? index=?
import triton
import triton.language as tl


def reference(x):
    return x.mean(axis=1)


@triton.jit
def row_mean(x_ptr, z_ptr, N, B: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, B)
    x = tl.load(x_ptr + row * N + cols, mask=cols < N)
    total = tl.sum(x, axis=0)
    tl.store(z_ptr + row, total / N)
