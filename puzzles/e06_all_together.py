"""e06: All together now

Compute each number of a vector as its share of the whole. For that every
program needs a sum to which all of them contribute. Instead of a second
launch, let every program wait for all others: each stores its block's sum,
counts itself, and goes on when all have been counted. Such a barrier over the
grid needs all programs on the device at the same time; here they are.

    z[i] = x[i] / (x[0] + ... + x[N-1])      for 0 <= i < N

    x_ptr      float32, N elements, positive           given
    z_ptr      float32, N elements                     to be written
    part_ptr   float32, ceil(N / B) elements, not cleared    a workspace
    count_ptr  int32, 1 element, holding 0             a counter
    grid       ceil(N / B) programs; P is a power of 2, at least as many

Load each element of x once. About 12 lines.
"""
import triton
import triton.language as tl


def reference(x):
    return x / x.sum()


@triton.jit
def shares(x_ptr, z_ptr, part_ptr, count_ptr, N, B: tl.constexpr,
           P: tl.constexpr):
    # TODO: before the barrier, the barrier, after the barrier.
    pass
