"""d13: The remainder

A dot product of long rows, 32 elements at a time. "The error is small and
always there", says the ticket, "about as if a few of the last features did
not exist. But I have checked every mask, and all are right!"

    z[i] = x[i, 0] * y[0] + ... + x[i, K-1] * y[K-1]   for 0 <= i < M

    x_ptr   float32, M by K, row-major       given
    y_ptr   float32, K elements              given
    z_ptr   float32, M elements              to be written
    grid    M programs

Your job has two parts.

1. Write the verdict below, for K=75 and B=32: the line with the mistake, and
   the first column (index) that is left out.
2. Repair the kernel, and change no more than you must.
"""
# TODO: put what you find in place of the question marks.
# verdict: line=? index=?
import triton
import triton.language as tl


def reference(x, y):
    return x @ y


@triton.jit
def matvec(x_ptr, y_ptr, z_ptr, K, B: tl.constexpr):
    row = tl.program_id(0)
    total = tl.zeros([B], tl.float32)
    for step in range(K // B):
        cols = step * B + tl.arange(0, B)
        x = tl.load(x_ptr + row * K + cols, mask=cols < K, other=0.0)
        y = tl.load(y_ptr + cols, mask=cols < K, other=0.0)
        total += x * y
    tl.store(z_ptr + row, tl.sum(total, axis=0))
