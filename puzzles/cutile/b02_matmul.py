"""b02: Product of matrices

A block has a tile of the product, and walks along a row of tiles of x and a
column of tiles of y: ct.num_tiles(x, 1, (T, T)) says how many tiles of that
shape x has along axis 1. ct.mma(a, b, acc) gives acc plus the product of two
tiles, in the type of acc, which should be float32: a sum that is kept in
halves loses its digits.

    z[i, j] = sum over k of x[i, k] * y[k, j]

    x       float16, M by K                  given
    y       float16, K by N                  given
    z       float16, M by N                  to be written
    grid    ceil(M / T) by ceil(N / T) blocks

About 7 lines.
"""
import cuda.tile as ct


def reference(x, y):
    return x @ y


@ct.kernel
def matmul(x, y, z, T: ct.Constant[int]):
    # TODO: acc begins as ct.full((T, T), 0, ct.float32).
    pass
