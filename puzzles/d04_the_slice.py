"""d04: The slice

An attention layer keeps queries, keys and values side by side in one wide
tensor and hands this kernel a slice of it, the queries. "With a tensor of
its own the result is right", says the new colleague, "with the slice the
first row is right and all others are noise. But I do pass the strides!"

    z[i, j] = x[i, j] * x[i, j]              for 0 <= i < M, 0 <= j < N

    x_ptr   float32, M by N; row i begins at i * stride_x    given
    z_ptr   float32, M by N; row i begins at i * stride_z    to be written
    grid    M programs

Your job has two parts.

1. Write the verdict below, for M=5 and N=40, where stride_x=120 and
   stride_z=40: which kind of fault it is (docs/findings.md lists them), the
   first line that commits it, and the program that does.
2. Repair the kernel, and change no more than you must.
"""
# TODO: put what you find in place of the question marks.
# verdict: kind=? line=? program=?
import triton
import triton.language as tl


def reference(x):
    return x * x


@triton.jit
def square(x_ptr, z_ptr, stride_x, stride_z, N, B: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, B)
    mask = cols < N
    x = tl.load(x_ptr + row * stride_z + cols, mask=mask)
    tl.store(z_ptr + row * stride_z + cols, x * x, mask=mask)
