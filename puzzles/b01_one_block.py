"""b01: One block for everything

A short vector fits into one block, so that one program can do it all: add c
to every element.

There is a catch. The length of a block is part of the program's text, a
constexpr, and it is a power of two; N is neither. B was chosen so that N <= B:
the block may have many more lanes than there is work for.

    z[i] = x[i] + c                          for 0 <= i < N

    x_ptr   float32, N elements              given
    c       float                            given
    z_ptr   float32, N elements              to be written
    grid    1 program, N <= B

About 3 lines.
"""
import triton
import triton.language as tl


def reference(x, c):
    return x + c


@triton.jit
def add_constant(x_ptr, z_ptr, c, N, B: tl.constexpr):
    # TODO: how long is the block, and which of its lanes have work?
    pass
