"""b06: The way back

Training needs the kernel's mirror image. Forward, a layer computed

    z[i, j] = max(x[i, j] * y[j], 0)

and now dz[i, j] is given: by how much the loss changes with z[i, j]. Compute
dx[i, j]: by how much it changes with x[i, j]. The chain rule says: where the
product was positive, z changes with x by the factor y[j]; where it was not, z
stayed 0 and the loss did not change. A product of exactly 0 counts as not
positive.

    dx[i, j] = y[j] * dz[i, j]     where x[i, j] * y[j] > 0
             = 0                   elsewhere

    x_ptr    float32, M by N, row-major      given
    y_ptr    float32, N elements             given
    dz_ptr   float32, M by N, row-major      given
    dx_ptr   float32, M by N, row-major      to be written
    grid     ceil(M / BM) by ceil(N / BN) programs

About 8 lines.
"""
import triton
import triton.language as tl


def reference(x, y, dz):
    return np.where(x * y > 0, y * dz, 0)


@triton.jit
def backward(x_ptr, y_ptr, dz_ptr, dx_ptr, M, N, BM: tl.constexpr,
             BN: tl.constexpr):
    # TODO: which lanes let the gradient through?
    pass
