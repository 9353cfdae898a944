"""d01: The warm corner

A colleague's kernel finds the greatest temperature of each row. "Our sensors
are on a glacier", she says, "all of them are below zero. And once in a while,
after a restart, a row's maximum is 0, or 3e8. With 64 sensors a row it never
happens; since we have 50 it does. The kernel has not changed."

    z[i] = max over j of x[i, j]

    x       float32, M by N, N <= T          given
    z       float32, M elements              to be written
    grid    M blocks

Your job has two parts.

1. Write the verdict below, for M=3, N=50 and T=64: which kind of fault it is
   (docs/findings.md lists them), and the line at which it does harm, that is
   at which a value that nobody has determined is used.
2. Repair the kernel, and change no more than you must.
"""
# TODO: put what you find in place of the question marks.
# verdict: kind=? line=?
import cuda.tile as ct


def reference(x):
    return x.max(1)


@ct.kernel
def row_max(x, z, T: ct.Constant[int]):
    i = ct.bid(0)
    t = ct.load(x, (i, 0), (1, T))
    m = ct.max(t, 1)
    ct.store(z, (i,), m)
