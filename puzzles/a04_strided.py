"""a04: Every so many elements

Not every vector lies in one piece. A column of a table, for instance, is a
vector whose neighbours are a whole row apart; how far that is, in elements,
is called its stride. x is such a vector: x[i] lies `stride` times i elements
behind x_ptr, and what lies between is somebody else's.

Copy x into z, which is in one piece.

    z[i] = x[i]                              for 0 <= i < N

    x_ptr    float32, N elements, `stride` apart      given
    z_ptr    float32, N elements                      to be written
    grid     ceil(N / B) programs

About 4 lines.
"""
import triton
import triton.language as tl


def reference(x):
    return x


@triton.jit
def gather_column(x_ptr, z_ptr, stride, N, B: tl.constexpr):
    # TODO: the same copy; but where in memory is x[i]?
    pass
