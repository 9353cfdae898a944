"""a05: A length that lives in memory

A batch of sentences is padded to one length N, but only the first n elements
of x are real; behind them is rubbish, perhaps even NaN. Only the GPU's memory
knows how long the sentence really is: n_ptr points to one whole number.

Clear the rubbish: z is x up to n, and 0 from there to N. Two things help.
tl.load of a single pointer, not a block of them, gives a single number. And
a masked load with other=0 fills the lanes that it leaves out with 0; without
other= those lanes hold nothing at all, and must not be used.

    z[i] = x[i]                              for 0 <= i < n
    z[i] = 0                                 for n <= i < N

    x_ptr   float32, N elements              given
    n_ptr   int32, 1 element, 0 <= n <= N    given
    z_ptr   float32, N elements              to be written
    grid    ceil(N / B) programs

About 4 lines.
"""
import triton
import triton.language as tl


def reference(x, n):
    return np.where(np.arange(len(x)) < n[0], x, 0)


@triton.jit
def clear_padding(x_ptr, n_ptr, z_ptr, N, B: tl.constexpr):
    # TODO: which lanes may read, and which must write?
    pass
