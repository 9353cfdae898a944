"""b11: Matrix product

The kernel that GPUs are built for. A program makes a tile of the product, BM
by BN: it walks along K, loads BM by BK of x and BK by BN of y, and multiplies
them by tl.dot(x, y, acc), which returns acc plus the product of two blocks.

The matrices hold halves, fp16, and a sum of many halves soon loses digits.
tl.dot multiplies halves and adds up the products in float32: give it an
accumulator of that type.

    z[i, j] = sum over k of x[i, k] * y[k, j]
                             for 0 <= i < M, 0 <= j < N, 0 <= k < K

    x_ptr   float16, M by K, row-major       given
    y_ptr   float16, K by N, row-major       given
    z_ptr   float32, M by N, row-major       to be written
    grid    ceil(M / BM) by ceil(N / BN) programs

About 10 lines.
"""
import triton
import triton.language as tl


def reference(x, y):
    return x @ y


@triton.jit
def matmul(x_ptr, y_ptr, z_ptr, M, N, K, BM: tl.constexpr,
           BN: tl.constexpr, BK: tl.constexpr):
    # TODO: which rows, which columns; then walk along K.
    pass
