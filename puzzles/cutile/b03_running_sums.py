"""b03: Running sums of long rows

A scan gives each element the sum of all up to it: ct.cumsum(t, 1). These rows
are longer than a tile. Walk along a row, tile by tile, and carry what came
before.

    z[i, j] = x[i, 0] + x[i, 1] + ... + x[i, j]

    x       float32, M by N                  given
    z       float32, M by N                  to be written
    grid    M blocks

About 6 lines.
"""
import cuda.tile as ct


def reference(x):
    return x.cumsum(1)


@ct.kernel
def running_sums(x, z, T: ct.Constant[int]):
    # TODO: what is carried from tile to tile, and where does it come from?
    pass
