"""b08: Softmax of long rows

Softmax turns a row of scores into weights that are positive and sum to 1.
The formula as it is does not work: exp(89) is more than a float32 can hold,
and scores may well be larger. But adding the same number to all scores of a
row changes nothing, so subtract the largest one first.

Each program has one row, which may be longer than a block: walk along it
once for the maximum, once for the sum, once to write. What does not count in
a maximum is not 0, and 0 does count after exp: think of what the lanes behind
the end hold at each step.

    m[i]    = max over j of x[i, j]
    z[i, j] = exp(x[i, j] - m[i]) / sum over k of exp(x[i, k] - m[i])

    x_ptr   float32, M by N, row-major       given
    z_ptr   float32, M by N, row-major       to be written
    grid    M programs

About 16 lines.
"""
import triton
import triton.language as tl


def reference(x):
    e = np.exp(x - x.max(1, keepdims=True))
    return e / e.sum(1, keepdims=True)


@triton.jit
def softmax(x_ptr, z_ptr, M, N, B: tl.constexpr):
    # TODO: three walks along row number program_id.
    pass
