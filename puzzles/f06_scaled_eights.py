"""f06: Eight bits and a scale

Training in eight bits: each number is a float8, and each group of G
neighbours along K has one float32 to be multiplied by. a has a scale for
every row and group, b one for every group of rows and group of columns. As
scales differ from group to group along K, they cannot be applied after the
sum: each group's product is scaled, then added, in float32.

    z[i, j] = a[i, 0] * sa[i, 0] * b[0, j] * sb[0, j // G] + ...
              + a[i, K-1] * sa[i, (K-1) // G] * b[K-1, j] * sb[(K-1) // G,
                                                               j // G]

    With KG = ceil(K / G) and NG = ceil(N / G):

    a_ptr    float8e4nv, M by K, row-major   given
    sa_ptr   float32, M by KG, row-major     given
    b_ptr    float8e4nv, K by N, row-major   given
    sb_ptr   float32, KG by NG, row-major    given
    z_ptr    float32, M by N, row-major      to be written
    grid     ceil(M / BM) by ceil(N / BN) programs; BN may be more than G

About 22 lines. Goal: one tl.dot for each group, of float8 as it is.
"""
import triton
import triton.language as tl


def reference(a, sa, b, sb, G):
    def wide(x, axis, size):
        return np.repeat(x, G, axis=axis).take(range(size), axis=axis)
    a = a * wide(sa, 1, a.shape[1])
    b = b * wide(wide(sb, 0, b.shape[0]), 1, b.shape[1])
    return a @ b


@triton.jit
def scaled_matmul(a_ptr, sa_ptr, b_ptr, sb_ptr, z_ptr, M, N, K,
                  G: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    # TODO: one trip of a loop for each group along K.
    pass
