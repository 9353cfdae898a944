"""f02: Residual and norm in one

Between two layers of a transformer the residual is added and the sum is
normalised. With two kernels the sum goes to memory and comes back; with one
it is still there. Memory holds float16, and the arithmetic is float32: the
squares of large activations do not fit into halves.

    r[i, j] = x[i, j] + res[i, j]            for 0 <= i < M, 0 <= j < N
    z[i, j] = w[j] * r[i, j]
              / sqrt((r[i, 0]**2 + ... + r[i, N-1]**2) / N + eps)

    x_ptr    float16, M by N, row-major      given
    res_ptr  float16, M by N, row-major      given
    w_ptr    float16, N elements             given
    r_ptr    float16, M by N, row-major      to be written
    z_ptr    float16, M by N, row-major      to be written
    grid     M programs; B is a power of 2, and may be less than N

About 18 lines. Goal: read x and res once, by keeping what fits, or twice.
"""
import triton
import triton.language as tl


def reference(x, res, w, eps):
    r = x + res
    square = (r * r).mean(axis=1, keepdims=True)
    return r, w * r / np.sqrt(square + eps)


@triton.jit
def add_norm(x_ptr, res_ptr, w_ptr, r_ptr, z_ptr, N, eps, B: tl.constexpr):
    # TODO: once over the row for the sum of squares, once for the result.
    pass
