"""c01: The maximum that hides nothing

Triton's tl.max ignores a NaN: the maximum of 3 and NaN is 3. NumPy's does
not, and that is better for whoever wants to notice that a row has gone bad.
Compute row maxima that are NaN if the row has a NaN anywhere.

How do you find a NaN? It is the only number that is not equal to itself.

    z[i] = NaN                       if a NaN is among x[i, j]
         = max over j of x[i, j]     otherwise

    x_ptr   float32, M by N, row-major       given
    z_ptr   float32, M elements              to be written
    grid    M programs; rows may be longer than a block

About 10 lines.
"""
import triton
import triton.language as tl


def reference(x):
    return x.max(1)


@triton.jit
def nan_max(x_ptr, z_ptr, M, N, B: tl.constexpr):
    # TODO: carry the maximum along, and something else.
    pass
