"""a02: Copy a vector

A program of a grid works on one block of B neighbouring elements; program 0
on the first block, program 1 on the next. Each loads its block of x and
stores it to the same place of z.

N need not be a multiple of B: the last block may reach beyond the end, and
what lies there is not yours. A mask says which lanes are real.

    z[i] = x[i]                              for 0 <= i < N

    x_ptr   float32, N elements              given
    z_ptr   float32, N elements              to be written
    grid    ceil(N / B) programs

About 5 lines.
"""
import triton
import triton.language as tl


def reference(x):
    return x


@triton.jit
def copy(x_ptr, z_ptr, N, B: tl.constexpr):
    # TODO: where does this program's block begin? Load it, and store it.
    pass
