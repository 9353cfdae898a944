"""a06: Look it up

A table has K entries; index says, for each element of z, which entry it gets.
Words become vectors that way, and colours become pixels.

Until now offsets were computed. Here they are loaded: what tl.load gives is
a block like any other, so it can be added to a pointer, and loaded through.
Each index is at least 0 and less than K.

    z[i] = table[index[i]]                   for 0 <= i < N

    index_ptr   int32, N elements            given
    table_ptr   float32, K elements          given
    z_ptr       float32, N elements          to be written
    grid        ceil(N / B) programs

About 5 lines.
"""
import triton
import triton.language as tl


def reference(index, table):
    return table[index]


@triton.jit
def look_up(index_ptr, table_ptr, z_ptr, N, K, B: tl.constexpr):
    # TODO: one load tells where the next one has to go.
    pass
