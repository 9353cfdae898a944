"""d21: Locked in

Programs search for the largest reading together and guard the record with a
lock. On the author's card the kernel takes a millisecond. On some inputs it
takes for ever: the card is at 100 %, the fans howl, and nothing comes back.
With readings that grow from block to block it never happens.

    z[0] = the largest of z[0], x[0], ..., x[N-1]

    x_ptr     int32, N elements              given
    z_ptr     int32, 1 element, holding the record so far, to be updated
    lock_ptr  int32, 1 element, holding 0    0 is free, 1 is taken
    grid      ceil(N / B) programs

Your job has two parts.

1. Write the verdict below: which kind of fault it is (docs/findings.md lists
   them), the line on which everybody waits, and, for x = 5, 5, ..., 5 (N=100)
   with a record of 7 and B=32, the program that keeps the lock when all
   programs begin in the order of their numbers.
2. Repair the kernel, and change no more than you must.
"""
# TODO: put what you find in place of the question marks.
# verdict: kind=? line=? program=?
import triton
import triton.language as tl


def reference(x, z):
    return np.maximum(z, x.max())


@triton.jit
def record(x_ptr, z_ptr, lock_ptr, N, B: tl.constexpr):
    offs = tl.program_id(0) * B + tl.arange(0, B)
    x = tl.load(x_ptr + offs, mask=offs < N, other=-2147483648)
    largest = tl.max(x, axis=0)
    while tl.atomic_cas(lock_ptr, 0, 1) == 1:
        pass
    if largest > tl.load(z_ptr):
        tl.store(z_ptr, largest)
        tl.debug_barrier()
        tl.atomic_xchg(lock_ptr, 0)
