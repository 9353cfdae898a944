"""e02: The champion

Find the largest number of a vector and where it is: two numbers that belong
together, so one atomic operation is not enough. Guard them with a lock. A
program that wants to look at the record, or to change it, waits until it has
taken the lock, and gives it back when it is done.

Of several equal numbers the first one counts, in whatever order the programs
come.

    best[0] = the largest of x[0], ..., x[N-1]
    where[0] = the smallest i with x[i] = best[0]

    x_ptr      int32, N elements                       given
    best_ptr   int32, 1 element, holding -2147483648   to be updated
    where_ptr  int32, 1 element, holding 2147483647    to be updated
    lock_ptr   int32, 1 element, holding 0             0 is free, 1 taken
    grid       ceil(N / B) programs

About 14 lines.
"""
import triton
import triton.language as tl


def reference(x):
    return x.max(keepdims=True), np.array([x.argmax()])


@triton.jit
def champion(x_ptr, best_ptr, where_ptr, lock_ptr, N, B: tl.constexpr):
    # TODO: first find this block's own champion, which needs no lock.
    pass
