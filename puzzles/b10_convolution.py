"""b10: A picture and a small window

Slide a small window of weights over a picture: each pixel of the result is
the weighted sum of the pixels around it. The window has KH rows and KW
columns, both odd, and its middle lies on the pixel. What would lie outside
the picture counts as 0.

A program makes a tile of BH by BW pixels. Loop over the weights, not over the
pixels: each weight meets a whole tile, shifted a little. A shifted tile can
stick out on all four sides.

    z[i, j] = sum over a and b of w[a, b] * x[i + a - KH // 2, j + b - KW // 2]

                                             for 0 <= i < H, 0 <= j < W

    x_ptr   float32, H by W, row-major       given
    w_ptr   float32, KH by KW, row-major     given
    z_ptr   float32, H by W, row-major       to be written
    grid    ceil(H / BH) by ceil(W / BW) programs

About 12 lines.
"""
import triton
import triton.language as tl


def reference(x, w):
    z = np.zeros_like(x)
    top, left = w.shape[0] // 2, w.shape[1] // 2
    padded = np.pad(x, ((top, top), (left, left)))
    for a in range(w.shape[0]):
        for b in range(w.shape[1]):
            z += w[a, b] * padded[a:a + x.shape[0], b:b + x.shape[1]]
    return z


@triton.jit
def convolve(x_ptr, w_ptr, z_ptr, H, W, KH, KW, BH: tl.constexpr,
             BW: tl.constexpr):
    # TODO: for each weight, load the tile that it meets.
    pass
