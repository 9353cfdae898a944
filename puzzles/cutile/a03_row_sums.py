"""a03: Sums of rows

A tile's lengths are powers of two, an array's are not. A tile that sticks out
of its array has elements that are in no array: unless you say what they are,
with padding_mode= of ct.load, they are undetermined, and may be anything. That
does not matter where they are dropped; here they would be added.

    z[i] = sum of x[i, j] over j

    x       float32, M by N, N <= T          given
    z       float32, M elements              to be written
    grid    M blocks

About 3 lines.
"""
import cuda.tile as ct


def reference(x):
    return x.sum(1)


@ct.kernel
def row_sums(x, z, T: ct.Constant[int]):
    # TODO: load row number ct.bid(0) as a tile of (1, T).
    pass
