"""b05: A product that is never negative

Two steps of a network in one kernel: multiply a column by a row, and replace
what is negative by 0, which is called ReLU. The table of products between
the two steps never reaches memory; that is what *fused* means.

    z[i, j] = max(x[i] * y[j], 0)            for 0 <= i < M, 0 <= j < N

    x_ptr   float32, M elements              given
    y_ptr   float32, N elements              given
    z_ptr   float32, M by N, row-major       to be written
    grid    ceil(M / BM) by ceil(N / BN) programs

About 6 lines.
"""
import triton
import triton.language as tl


def reference(x, y):
    return np.maximum(x[:, None] * y[None, :], 0)


@triton.jit
def outer_relu(x_ptr, y_ptr, z_ptr, M, N, BM: tl.constexpr,
               BN: tl.constexpr):
    # TODO: as in b03, with another sum and one more step.
    pass
