"""d01: The silent tail

A colleague's kernel doubles a vector. "It has run for months", she says,
"and only now and then some other tensor in the same process holds a number
that nobody put there. It happens when the length is 100, never when it is
128. My kernel cannot be the reason: its result is right."

    z[i] = 2 * x[i]                          for 0 <= i < N

    x_ptr   float32, N elements              given
    z_ptr   float32, N elements              to be written
    grid    ceil(N / B) programs

Your job has two parts.

1. Write the verdict below, for N=100 and B=32: which kind of fault it is
   (docs/findings.md lists them), the first line that commits it, the
   program that does, and the index of the first element of the tensor that
   it should not touch.
2. Repair the kernel, and change no more than you must.
"""
# TODO: put what you find in place of the question marks.
# verdict: kind=? line=? program=? index=?
import triton
import triton.language as tl


def reference(x):
    return 2 * x


@triton.jit
def double(x_ptr, z_ptr, N, B: tl.constexpr):
    offs = tl.program_id(0) * B + tl.arange(0, B)
    x = tl.load(x_ptr + offs)
    tl.store(z_ptr + offs, 2 * x)
