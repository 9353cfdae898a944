"""a01: Add two arrays

A kernel of CUDA Tile runs once for each block of a grid. A block is one
thread that works on whole tiles: it loads a tile of each array, calculates,
and stores a tile.

An array is cut into tiles of T elements. Block number ct.bid(0) has tile
number ct.bid(0): ct.load(x, (i,), (T,)) loads tile i, and ct.store(z, (i,), t)
stores it. The last tile may stick out of the array; what is stored out there
is dropped.

    z[i] = x[i] + y[i]                       for 0 <= i < N

    x, y    float32, N elements              given
    z       float32, N elements              to be written
    grid    ceil(N / T) blocks

About 4 lines.
"""
import cuda.tile as ct


def reference(x, y):
    return x + y


@ct.kernel
def add(x, y, z, T: ct.Constant[int]):
    # TODO: which tile does this block have?
    pass
