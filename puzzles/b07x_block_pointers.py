"""b07x: The same, with block pointers

Offsets and masks in two dimensions are always built alike, so Triton has a
shorthand for them. tl.make_block_ptr(base, shape, strides, offsets,
block_shape, order) describes a tensor and where the block lies in it: shape
and strides are those of the whole tensor, offsets says where the block's
first element is, in elements, and order=(1, 0) that axis 1 lies closest
together. tl.advance(pointer, (0, BN)) gives one that lies BN columns further.

tl.load(pointer, boundary_check=(0, 1), padding_option="zero") compares those
axes with the shape, and gives 0 for what lies outside. tl.store has
boundary_check too. Sum the rows of b07 once more, without any mask.

    z[i] = sum over j of x[i, j]             for 0 <= i < M, 0 <= j < N

    x_ptr   float32, M by N, row-major       given
    z_ptr   float32, M elements              to be written
    grid    ceil(M / BM) programs
    goal    load with block pointers

About 13 lines.
"""
import triton
import triton.language as tl


def reference(x):
    return x.sum(1)


@triton.jit
def row_sums(x_ptr, z_ptr, M, N, BM: tl.constexpr, BN: tl.constexpr):
    # TODO: describe x once, then load, sum and advance.
    pass
