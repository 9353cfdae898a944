"""c07: Running sums

Each element of z is the sum of all elements of its row up to that place: what
a bank calls the balance. tl.cumsum(x, 0) does that for one block; a row is
longer than a block, and every block has to begin where the one before it
ended.

    z[i, j] = x[i, 0] + x[i, 1] + ... + x[i, j]

    x_ptr   float32, M by N, row-major       given
    z_ptr   float32, M by N, row-major       to be written
    grid    M programs; rows may be longer than a block

About 7 lines.
"""
import triton
import triton.language as tl


def reference(x):
    return np.cumsum(x, 1)


@triton.jit
def running_sums(x_ptr, z_ptr, M, N, B: tl.constexpr):
    # TODO: what does a block have to know of those before it?
    pass
