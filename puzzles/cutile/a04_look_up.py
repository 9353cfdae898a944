"""a04: Look up

Not everything lies in tiles. ct.gather(x, at) loads the elements whose
indices the tile `at` holds; ct.scatter(z, at, t) stores to them. An index
outside of the array gets padding, which is 0 unless padding_value= says
something else, and stores nothing.

    z[i] = x[at[i]]                          for 0 <= i < N
    z[i] = -1                                where at[i] is not in x

    x       float32, K elements              given
    at      int32, N elements, some are not in x      given
    z       float32, N elements              to be written
    grid    ceil(N / T) blocks

About 4 lines.
"""
import cuda.tile as ct


def reference(x, at):
    inside = (at >= 0) & (at < len(x))
    return np.where(inside, x[np.where(inside, at, 0)], -1)


@ct.kernel
def look_up(x, at, z, T: ct.Constant[int]):
    # TODO: load a tile of indices. What do they lead to?
    pass
