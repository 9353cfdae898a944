"""b03: Add a column and a row

The first puzzle with two axes. x has M elements, y has N; z is the table of
all their sums. Programs form a grid of two axes as well: axis 0 counts
blocks of rows, BM of them at a time, axis 1 blocks of columns, BN at a time.

In memory z is one long vector, row after row: z[i, j] is at i * N + j.

    z[i, j] = x[i] + y[j]                    for 0 <= i < M, 0 <= j < N

    x_ptr   float32, M elements              given
    y_ptr   float32, N elements              given
    z_ptr   float32, M by N, row-major       to be written
    grid    ceil(M / BM) by ceil(N / BN) programs

About 7 lines.
"""
import triton
import triton.language as tl


def reference(x, y):
    return x[:, None] + y[None, :]


@triton.jit
def outer_add(x_ptr, y_ptr, z_ptr, M, N, BM: tl.constexpr, BN: tl.constexpr):
    # TODO: load a block of x and one of y, and store a table of BM by BN.
    pass
