"""e03: The last one turns off the light

Compute the length of a long vector in one launch. Each program sums the
squares of its block and writes the sum to a place of its own. Then it takes a
number from a counter. The program that sees that all others have been there
is the last one: it adds up what they have written, takes the root, and stores
the result. No program waits for another.

    z[0] = sqrt(x[0]**2 + ... + x[N-1]**2)

    x_ptr      float32, N elements           given
    z_ptr      float32, 1 element            to be written, once
    part_ptr   float32, ceil(N / B) elements, not cleared    a workspace
    count_ptr  int32, 1 element, holding 0   a counter
    grid       ceil(N / B) programs; P is a power of 2, at least as many

About 11 lines.
"""
import triton
import triton.language as tl


def reference(x):
    return np.sqrt((x * x).sum(keepdims=True))


@triton.jit
def length(x_ptr, z_ptr, part_ptr, count_ptr, N, B: tl.constexpr,
           P: tl.constexpr):
    # TODO: what must have happened before this program takes its number?
    pass
