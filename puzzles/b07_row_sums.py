"""b07: Rows that are longer than a block

Add up each row. A program has BM whole rows, but its block is only BN columns
wide, and a row may be much longer: walk along the rows in a loop, and keep
what was summed so far in a block of its own.

tl.sum(x, 1) adds up a block along axis 1: [BM, BN] becomes [BM]. It adds all
lanes there are. A lane that a mask left out must hold something that does not
count, and what does not count in a sum is 0.

    z[i] = sum over j of x[i, j]             for 0 <= i < M, 0 <= j < N

    x_ptr   float32, M by N, row-major       given
    z_ptr   float32, M elements              to be written
    grid    ceil(M / BM) programs

About 8 lines.
"""
import triton
import triton.language as tl


def reference(x):
    return x.sum(1)


@triton.jit
def row_sums(x_ptr, z_ptr, M, N, BM: tl.constexpr, BN: tl.constexpr):
    # TODO: begin with a sum of zeros, and add to it block by block.
    pass
