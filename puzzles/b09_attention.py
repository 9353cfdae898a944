"""b09: Attention in one sweep

Each token i asks a question q[i], and every token j has a key k[j] and a value
v[j]; here all of them are single numbers. Token i gets the average of the
values, weighted by the softmax of its scores q[i] * k[j].

The table of scores, T by T, must never be in memory: that was the idea of
FlashAttention. A program takes BQ questions and walks over keys and values
once, BK at a time. The maximum is not known before the walk ends, so each
question carries three numbers: the largest score so far, the sum of the
weights relative to it, and the weighted sum of values relative to it. If a
block brings a new maximum, both sums are multiplied by exp(old - new) before
the block's own share is added.

    s[i, j] = q[i] * k[j]
    z[i]    = sum over j of exp(s[i, j]) * v[j] / sum over j of exp(s[i, j])

    q_ptr, k_ptr, v_ptr   float32, T elements each   given
    z_ptr                 float32, T elements        to be written
    grid                  ceil(T / BQ) programs
    goal                  one loop

About 18 lines.
"""
import triton
import triton.language as tl


def reference(q, k, v):
    s = q[:, None] * k[None, :]
    e = np.exp(s - s.max(1, keepdims=True))
    return (e * v).sum(1) / e.sum(1)


@triton.jit
def attention(q_ptr, k_ptr, v_ptr, z_ptr, T, BQ: tl.constexpr,
              BK: tl.constexpr):
    # TODO: what does each question carry through the loop?
    pass
