"""a07: More blocks than programs

Until now the grid had a program for every block. Often it is better to start
only as many programs as the machine can run at once, and to let each work on
several blocks: its own first, then the one that lies as many blocks further
as there are programs, and so on to the end. tl.num_programs(0) says how many
there are; there may be fewer or more of them than blocks.

A Python loop, for start in range(first, end, step), is allowed in a kernel,
and its bounds may be known only when it runs.

    z[i] = x[i] * x[i]                       for 0 <= i < N

    x_ptr   float32, N elements              given
    z_ptr   float32, N elements              to be written
    grid    however many programs

About 5 lines.
"""
import triton
import triton.language as tl


def reference(x):
    return x * x


@triton.jit
def square(x_ptr, z_ptr, N, B: tl.constexpr):
    # TODO: which blocks are this program's?
    pass
