"""b04: Transpose

Rows become columns. x has M rows and N columns, z has N rows and M columns;
both are row-major, so that x[i, j] is at i * N + j, and z[j, i] is at ...
that is the question.

Axis 0 of the grid counts blocks of rows of x, axis 1 blocks of its columns.

    z[j, i] = x[i, j]                        for 0 <= i < M, 0 <= j < N

    x_ptr   float32, M by N, row-major       given
    z_ptr   float32, N by M, row-major       to be written
    grid    ceil(M / BM) by ceil(N / BN) programs

About 5 lines.
"""
import triton
import triton.language as tl


def reference(x):
    return x.T


@triton.jit
def transpose(x_ptr, z_ptr, M, N, BM: tl.constexpr, BN: tl.constexpr):
    # TODO: one table of pointers to read by, another one to write by.
    pass
