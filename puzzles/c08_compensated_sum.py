"""c08: Nothing gets lost

A ledger has a few huge entries, the first one among them, and hundreds of
small ones. In float32 there are no numbers between 20000000 and 20000002: add
0.7 to the first, and it stays what it was. After a hundred such additions the
sum has not moved at all.

Kahan's cure: keep beside the sum what the last addition lost, and take it off
the next number before that is added.

    y     = x - lost
    t     = total + y         a large and a small number: digits of y are lost
    lost  = (t - total) - y   what t has more than it should (mostly < 0)
    total = t

On paper lost is always 0. In floating-point numbers it is exact.

    z[j] = sum over i of x[i, j]             for 0 <= j < N

    x_ptr   float32, M by N, row-major       given
    z_ptr   float32, N elements              to be written
    grid    ceil(N / B) programs, B columns each; a program walks down the rows
    goal    no float64

About 10 lines.
"""
import triton
import triton.language as tl


def reference(x):
    return x.sum(0)


@triton.jit
def ledger(x_ptr, z_ptr, M, N, B: tl.constexpr):
    # TODO: one row at a time, a sum and a loss for every column.
    pass
