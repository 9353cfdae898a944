"""a02: Transpose

Tiles have as many axes as their array, and a grid may have up to three:
ct.bid(1) is a block's place along the second. Each block moves one tile. Two
things change places: the tile's elements, and the tile itself.

    z[j, i] = x[i, j]

    x       float32, M by N                  given
    z       float32, N by M                  to be written
    grid    ceil(M / T) by ceil(N / T) blocks

About 3 lines.
"""
import cuda.tile as ct


def reference(x):
    return x.T


@ct.kernel
def transpose(x, z, T: ct.Constant[int]):
    # TODO: load tile (i, j) of x. Which tile of z is it?
    pass
