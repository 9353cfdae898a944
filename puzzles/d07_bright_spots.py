"""d07: Bright spots turn dark

A photographer blends two pictures, half and half. In the shadows the result
is perfect. Where both pictures are bright, it is black, or as dark as a cave.

    z[i] = (x[i] + y[i]) // 2                for 0 <= i < N

    x_ptr   uint8, N elements                given
    y_ptr   uint8, N elements                given
    z_ptr   uint8, N elements                to be written
    grid    ceil(N / B) programs

Your job has two parts.

1. Write the verdict below: the line in which the light is lost, and the
   smallest sum x[i] + y[i] (index) for which it is.
2. Repair the kernel, and change no more than you must.
"""
# TODO: put what you find in place of the question marks.
# verdict: line=? index=?
import triton
import triton.language as tl


def reference(x, y):
    return (x + y) // 2


@triton.jit
def blend(x_ptr, y_ptr, z_ptr, N, B: tl.constexpr):
    offs = tl.program_id(0) * B + tl.arange(0, B)
    mask = offs < N
    x = tl.load(x_ptr + offs, mask=mask, other=0)
    y = tl.load(y_ptr + offs, mask=mask, other=0)
    both = x + y
    tl.store(z_ptr + offs, both // 2, mask=mask)
