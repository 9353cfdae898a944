"""f03: A product for each expert

In a mixture of experts each token goes to one expert, and each expert has a
matrix of its own. The tokens are sorted by expert, so that the rows
start[e] to start[e+1]-1 of x are those of expert e. Some experts have many,
some have none. One launch does all the products.

    z[t, j] = x[t, 0] * w[e, 0, j] + ... + x[t, K-1] * w[e, K-1, j]
                    for start[e] <= t < start[e+1], 0 <= j < N

    x_ptr      float16, T by K, row-major              given
    w_ptr      float16, E by K by N, row-major         given
    start_ptr  int32, E+1 elements, rising from 0 to T given
    z_ptr      float32, T by N, row-major              to be written
    grid       E by ceil(N / BN) programs

About 20 lines.
"""
import triton
import triton.language as tl


def reference(x, w, start):
    z = np.zeros((x.shape[0], w.shape[2]))
    for e in range(w.shape[0]):
        z[start[e]:start[e + 1]] = x[start[e]:start[e + 1]] @ w[e]
    return z


@triton.jit
def experts(x_ptr, w_ptr, start_ptr, z_ptr, K, N, BM: tl.constexpr,
            BN: tl.constexpr, BK: tl.constexpr):
    # TODO: which rows are this expert's? Go through them BM at a time.
    pass
