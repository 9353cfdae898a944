"""d12: The empty sentence

A loss curve falls nicely for eleven thousand steps, then it says nan, and
goes on saying it. In the batch of that step there is a sentence of length 0,
which somebody has left in the data by mistake. "It can have no attention
weights", says the author, "but they should be zero, and harm nobody."

    z[i, j] = exp(x[i, j]) / (exp(x[i, 0]) + ... + exp(x[i, n[i]-1]))
                                             for 0 <= j < n[i]
    z[i, j] = 0                              for n[i] <= j < N

    x_ptr   float32, M by N, row-major       given
    n_ptr   int32, M elements, from 0 to N   given
    z_ptr   float32, M by N, row-major       to be written
    grid    M programs

Your job has two parts.

1. Write the verdict below, for M=4 and N=45, where n = 45, 0, 7, 1: which
   kind of fault it is (docs/findings.md lists them), the line in which it
   first shows, and the program.
2. Repair the kernel, and change no more than you must.
"""
# TODO: put what you find in place of the question marks.
# verdict: kind=? line=? program=?
import triton
import triton.language as tl


def reference(x, n):
    z = np.zeros(x.shape)
    for i, length in enumerate(n):
        if length > 0:
            e = np.exp(x[i, :length] - x[i, :length].max())
            z[i, :length] = e / e.sum()
    return z


@triton.jit
def softmax(x_ptr, n_ptr, z_ptr, N, B: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, B)
    length = tl.load(n_ptr + row)
    x = tl.load(x_ptr + row * N + cols, mask=cols < length,
                other=float("-inf"))
    largest = tl.max(x, axis=0)
    e = tl.exp(x - largest)
    total = tl.sum(e, axis=0)
    tl.store(z_ptr + row * N + cols, e / total, mask=cols < N)
