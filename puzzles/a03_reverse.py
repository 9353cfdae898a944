"""a03: Back to front

Turn a vector round: the last element of x comes first in z. As before, each
program has a block of B elements, and the last block may be ragged.

Where a lane reads need not be where it writes. Both are only offsets, and an
offset may be any arithmetic that you like, as long as each access stays
inside its tensor. Mind that a lane may also fall off at the front.

    z[i] = x[N - 1 - i]                      for 0 <= i < N

    x_ptr   float32, N elements              given
    z_ptr   float32, N elements              to be written
    grid    ceil(N / B) programs

About 4 lines.
"""
import triton
import triton.language as tl


def reference(x):
    return x[::-1]


@triton.jit
def reverse(x_ptr, z_ptr, N, B: tl.constexpr):
    # TODO: which element of x belongs in each lane of this program's block?
    pass
