"""d02: Half a tile too far

A colleague smooths a signal: each element becomes the mean of itself and of
its right neighbour; the last one stays as it is. "It runs in place, to save
memory", he says. "Each block loads its tile and the neighbours, calculates,
and stores. In the simulator, where blocks run one after the other, every
result is right. On the GPU some are not, and each time others: the first and
the last of a tile."

    x[i] = (x[i] + x[i + 1]) / 2             for 0 <= i < N - 1
    x[N - 1] stays

    x       float32, N elements              given, to be written in place
    z       float32, N elements              to be written
    grid    ceil(N / T) blocks

Your job has two parts.

1. Write the verdict below, for N=100 and T=32: which kind of fault it is
   (docs/findings.md lists them), and the line that does what another block's
   line does not expect: the later one of the two, when blocks run in order.
2. Repair the kernel. The result need not be in place: there is an array z, and
   it is z that is compared.
"""
# TODO: put what you find in place of the question marks.
# verdict: kind=? line=?
import cuda.tile as ct


def reference(x):
    return np.append((x[:-1] + x[1:]) / 2, x[-1:])


@ct.kernel
def smooth(x, z, T: ct.Constant[int]):
    at = ct.bid(0) * T + ct.arange(T, dtype=ct.int32)
    here = ct.gather(x, at)
    next = ct.gather(x, ct.minimum(at + 1, x.shape[0] - 1))
    ct.scatter(x, at, (here + next) / 2)
    ct.scatter(z, at, (here + next) / 2)
