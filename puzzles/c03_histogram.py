"""c03: How many of each?

x holds whole numbers from 0 to K - 1; count how often each of them occurs.
The usual way gives every program a piece of x, and all of them add to the same
counters; that needs atomic operations, which come later. Here it is the
other way round: a program owns a block of BK counters, and reads all of x, B
elements at a time. Nobody else writes its counters.

Compare a column of elements with a row of counters, and you have a table
which says who is counted where.

    z[k] = how many i there are with x[i] = k       for 0 <= k < K

    x_ptr   int32, N elements, 0 <= x[i] < K        given
    z_ptr   int32, K elements                       to be written
    grid    ceil(K / BK) programs
    goal    no atomic operations

About 8 lines.
"""
import triton
import triton.language as tl


def reference(x, K):
    return np.bincount(x, minlength=K)


@triton.jit
def histogram(x_ptr, z_ptr, N, K, B: tl.constexpr, BK: tl.constexpr):
    # TODO: which numbers does this program count?
    pass
