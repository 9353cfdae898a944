"""e04: The relay

Compute the running sum of a vector in one launch. Each program can sum its
own block, but its result begins where the one before ends: a carry is handed
on from block to block, like a baton.

A program first takes a number from next_ptr, and works on the block with
that number: then all blocks before it belong to programs that have begun
already, so that it can wait for them. It waits until flag[number] is 1,
finds what it has to add in carry[number], and hands on carry[number + 1] and
flag[number + 1]. For block 0 the baton is there from the beginning.

    z[i] = x[0] + ... + x[i]                 for 0 <= i < N

    x_ptr      int32, N elements             given
    z_ptr      int32, N elements             to be written
    next_ptr   int32, 1 element, holding 0   in the end the number of programs
    carry_ptr  int32, 1 + programs elements, the first holding 0
    flag_ptr   int32, 1 + programs elements, the first 1, all others 0
    grid       ceil(N / B) programs

About 12 lines.
"""
import triton
import triton.language as tl


def reference(x, B):
    return np.cumsum(x), -(-len(x) // B)


@triton.jit
def running_sum(x_ptr, z_ptr, next_ptr, carry_ptr, flag_ptr, N,
                B: tl.constexpr):
    # TODO: who waits for what, and who says so to whom?
    pass
