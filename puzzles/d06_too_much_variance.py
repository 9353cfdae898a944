"""d06: Too much variance

A home-made layer norm trains a little worse than the library's, but only
with a hidden size of 45. With 64 the two agree to the last digit. The
variance is suspected, since with 45 features it is always too large, and the
farther the mean is from zero, the larger. "But I did write other=0.0",
protests the author, "so masked lanes cannot count!"

    mean[i] = (x[i, 0] + ... + x[i, N-1]) / N
    z[i] = ((x[i, 0] - mean[i])**2 + ... + (x[i, N-1] - mean[i])**2) / N

    x_ptr   float32, M by N, row-major       given
    z_ptr   float32, M elements              to be written
    grid    M programs

Your job has two parts.

1. Write the verdict below, for N=45 and B=64: which kind of fault it is
   (docs/findings.md lists them), and the line in which lanes that should
   not count are summed.
2. Repair the kernel, and change no more than you must.
"""
# TODO: put what you find in place of the question marks.
# verdict: kind=? line=?
import triton
import triton.language as tl


def reference(x):
    return x.var(axis=1)


@triton.jit
def variance(x_ptr, z_ptr, N, B: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, B)
    x = tl.load(x_ptr + row * N + cols, mask=cols < N, other=0.0)
    mean = tl.sum(x, axis=0) / N
    d = x - mean
    total = tl.sum(d * d, axis=0)
    tl.store(z_ptr + row, total / N)
