"""b11x: Matrix product with descriptors

Newer GPUs have a unit that fetches whole tiles by itself. A descriptor tells it
about the tensor beforehand: tl.make_tensor_descriptor(base, shape, strides,
block_shape). desc.load([row, column]) is the tile whose first element is
there, and desc.store([row, column], values) writes one. All axes are always
checked: outside the tensor a load gives 0, and a store writes nothing. You
need no pointers, no masks, and no other=.

Rows must begin at multiples of 16 bytes, so N and K are multiples of 8 here.

    z[i, j] = sum over k of x[i, k] * y[k, j]
                             for 0 <= i < M, 0 <= j < N, 0 <= k < K

    x_ptr   float16, M by K, row-major       given
    y_ptr   float16, K by N, row-major       given
    z_ptr   float32, M by N, row-major       to be written
    grid    ceil(M / BM) by ceil(N / BN) programs
    goal    descriptors alone: no tl.load, no tl.store

About 14 lines.
"""
import triton
import triton.language as tl


def reference(x, y):
    return x @ y


@triton.jit
def matmul(x_ptr, y_ptr, z_ptr, M, N, K, BM: tl.constexpr,
           BN: tl.constexpr, BK: tl.constexpr):
    # TODO: three descriptors, then walk along K.
    pass
