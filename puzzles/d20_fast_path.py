"""d20: The fast path

"Most vectors are a multiple of the block, and for these I need no masks", an
engineer explains. "So the kernel asks first, and the fast path runs twice as
fast!" It does. It runs twice as fast for every length, and each week another
service goes down.

    z[i] = x[i] + y[i]                       for 0 <= i < N

    x_ptr   float32, N elements              given
    y_ptr   float32, N elements              given
    z_ptr   float32, N elements              to be written
    grid    ceil(N / B) programs

Your job has two parts.

1. Write the verdict below, for N=100 and B=32: which kind of fault it is
   (docs/findings.md lists them), the line with the mistake, and the index of
   the first element that is wrongly touched.
2. Repair the kernel, and change no more than you must.
"""
# TODO: put what you find in place of the question marks.
# verdict: kind=? line=? index=?
import triton
import triton.language as tl


def reference(x, y):
    return x + y


@triton.jit
def add(x_ptr, y_ptr, z_ptr, N, B: tl.constexpr):
    offs = tl.program_id(0) * B + tl.arange(0, B)
    if B % 16 == 0:
        x = tl.load(x_ptr + offs)
        y = tl.load(y_ptr + offs)
        tl.store(z_ptr + offs, x + y)
    else:
        mask = offs < N
        x = tl.load(x_ptr + offs, mask=mask)
        y = tl.load(y_ptr + offs, mask=mask)
        tl.store(z_ptr + offs, x + y, mask=mask)
