"""b12: Weights of four bits

A large model spends its time fetching weights, so they are stored in four
bits each. An int32 of w holds eight weights that follow each other along K:
w[r, j] holds the weights of rows 8 * r to 8 * r + 7 of column j, the first of
them in the lowest four bits. The four bits hold 0 to 15 and stand for -8 to
7: 8 has been added. Each such word has a scale of its own.

    q[k, j] = ((w[k // 8, j] >> (4 * (k % 8))) & 15) - 8
    z[i, j] = sum over k of x[i, k] * q[k, j] * scale[k // 8, j]
                             for 0 <= i < M, 0 <= j < N, 0 <= k < K

The `&` is not for show: >> of a negative int32 copies the sign down from the
left. And one more thing: unless told otherwise, tl.dot rounds float32 to 10
bits behind the point, TF32, which is too rough here. tl.dot(x, y, acc,
input_precision="ieee") does not.

    x_ptr       float32, M by K, row-major             given
    w_ptr       int32, K / 8 by N, row-major           given
    scale_ptr   float32, K / 8 by N, row-major         given
    z_ptr       float32, M by N, row-major             to be written
    grid        ceil(M / BM) by ceil(N / BN) programs; K is a multiple of 8

About 14 lines.
"""
import triton
import triton.language as tl


def reference(x, w, scale):
    k = np.arange(x.shape[1])
    q = ((w[k // 8] >> (4 * (k % 8))[:, None]) & 15) - 8
    return x @ (q * scale[k // 8])


@triton.jit
def matmul4(x_ptr, w_ptr, scale_ptr, z_ptr, M, N, K, BM: tl.constexpr,
            BN: tl.constexpr, BK: tl.constexpr):
    # TODO: unpack a block of weights in each trip, and multiply.
    pass
