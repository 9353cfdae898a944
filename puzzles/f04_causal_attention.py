"""f04: Causal attention

Each token looks at itself and at all tokens before it. The table of scores
is T by T, and must never be in memory: a program keeps a block of queries,
goes through the keys block by block, and keeps for each query the largest
score so far, the sum of the weights and the weighted sum of the values.
Whenever a larger score comes, the two sums shrink.

    s[t, u] = scale * (q[t, 0] * k[u, 0] + ... + q[t, D-1] * k[u, D-1])
    w[t, u] = exp(s[t, u]) / (exp(s[t, 0]) + ... + exp(s[t, t]))
    z[t, j] = w[t, 0] * v[0, j] + ... + w[t, t] * v[t, j]

    q_ptr, k_ptr, v_ptr   float32, T by D, row-major     given
    z_ptr                 float32, T by D, row-major     to be written
    grid                  ceil(T / BM) programs; BD >= D is a power of 2

Products must be exact: input_precision="ieee". About 28 lines. Goal: do not
load a block of keys that none of the program's queries may look at.
"""
import triton
import triton.language as tl


def reference(q, k, v, scale):
    s = scale * (q @ k.T)
    s[np.triu_indices(len(s), 1)] = -np.inf
    w = np.exp(s - s.max(axis=1, keepdims=True))
    return w @ v / w.sum(axis=1, keepdims=True)


@triton.jit
def attention(q_ptr, k_ptr, v_ptr, z_ptr, scale, T, D, BM: tl.constexpr,
              BN: tl.constexpr, BD: tl.constexpr):
    # TODO: a block of queries against all blocks of keys up to its own.
    pass
