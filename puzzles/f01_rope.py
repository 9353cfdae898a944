"""f01: Rotary positions

Attention learns where a token is because its queries and keys are turned
by an angle that grows with the position. Element j of the first half of a
head and element j of its second half are one point of a plane, and each
plane turns at its own speed.

With H2 = D / 2, for 0 <= t < T, 0 <= h < H, 0 <= j < H2:

    z[t, h, j]      = x[t, h, j] * cos[t, j] - x[t, h, j + H2] * sin[t, j]
    z[t, h, j + H2] = x[t, h, j + H2] * cos[t, j] + x[t, h, j] * sin[t, j]

    x_ptr    float32, T by H by D, row-major     given
    cos_ptr  float32, T by H2, row-major         given
    sin_ptr  float32, T by H2, row-major         given
    z_ptr    float32, T by H by D, row-major     to be written
    grid     T programs; BH >= H and BD >= H2 are powers of 2

About 13 lines. Goal: load each element of x, cos and sin once.
"""
import triton
import triton.language as tl


def reference(x, cos, sin):
    half = cos.shape[1]
    first, second = x[:, :, :half], x[:, :, half:]
    cos, sin = cos[:, None, :], sin[:, None, :]
    return np.concatenate([first * cos - second * sin,
                           second * cos + first * sin], axis=2)


@triton.jit
def rope(x_ptr, cos_ptr, sin_ptr, z_ptr, H, D, BH: tl.constexpr,
         BD: tl.constexpr):
    # TODO: one program turns all heads of one token.
    pass
