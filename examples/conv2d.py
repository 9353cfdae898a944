"""2-D convolution as a matrix product that is never written down.

Rows are the pixels of the output, columns its channels, and K runs over
input channel, kernel row and kernel column.  The pixels of the input are
computed from these numbers; those in the padding read as zero.

Checked against float64: |error| <= 1e-4 + 1e-5 |reference|.
"""
import numpy as np
import triton
import triton.language as tl


@triton.jit
def conv2d_kernel(x_ptr, w_ptr, bias_ptr, y_ptr, batch, channels, height,
                  width, out_channels, out_height, out_width, stride, padding,
                  KH: tl.constexpr, KW: tl.constexpr, BLOCK_M: tl.constexpr,
                  BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr):
    pixels = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    outs = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    n_pixels = batch * out_height * out_width
    ox = pixels % out_width
    oy = pixels // out_width % out_height
    image = pixels // (out_width * out_height)
    K = channels * KH * KW
    acc = tl.zeros([BLOCK_M, BLOCK_N], dtype=tl.float32)
    for start in range(0, K, BLOCK_K):
        k = start + tl.arange(0, BLOCK_K)
        kx = k % KW
        ky = k // KW % KH
        channel = k // (KW * KH)
        y = (oy * stride - padding)[:, None] + ky[None, :]
        x = (ox * stride - padding)[:, None] + kx[None, :]
        inside = (y >= 0) & (y < height) & (x >= 0) & (x < width)
        inside = inside & (pixels < n_pixels)[:, None] & (k < K)[None, :]
        at = ((image[:, None] * channels + channel[None, :]) * height +
              y) * width + x
        a = tl.load(x_ptr + at, mask=inside, other=0.0)
        w = tl.load(w_ptr + outs[None, :] * K + k[:, None],
                    mask=(outs[None, :] < out_channels) & (k < K)[:, None],
                    other=0.0)
        acc = tl.dot(a, w, acc, input_precision='ieee')
    acc += tl.load(bias_ptr + outs, mask=outs < out_channels,
                   other=0.0)[None, :]
    at = (((image[:, None] * out_channels + outs[None, :]) * out_height +
           oy[:, None]) * out_width + ox[:, None])
    tl.store(y_ptr + at, acc, mask=(pixels[:, None] < n_pixels) &
             (outs[None, :] < out_channels))


def conv2d(x, w, bias, stride, padding):
    batch, channels, height, width = x.shape
    out_channels, _, kh, kw = w.shape
    out_height = (height + 2 * padding - kh) // stride + 1
    out_width = (width + 2 * padding - kw) // stride + 1
    y = np.empty((batch, out_channels, out_height, out_width), np.float32)
    grid = lambda meta: (triton.cdiv(batch * out_height * out_width,
                                     meta['BLOCK_M']),
                         triton.cdiv(out_channels, meta['BLOCK_N']))
    conv2d_kernel[grid](x, w, bias, y, batch, channels, height, width,
                        out_channels, out_height, out_width, stride, padding,
                        KH=kh, KW=kw, BLOCK_M=32, BLOCK_N=16, BLOCK_K=16)
    return y


def reference(x, w, bias, stride, padding):
    x = np.pad(x.astype(np.float64), [(0, 0), (0, 0)] + 2 * [2 * (padding, )])
    window = np.lib.stride_tricks.sliding_window_view(x, w.shape[2:], (2, 3))
    window = window[:, :, ::stride, ::stride]
    return (np.einsum('bchwij,ocij->bohw', window, w.astype(np.float64)) +
            bias[:, None, None])


def main():
    rng = np.random.default_rng(0)
    cases = ((1, 1, 1, 1, 1, 1, 1, 1, 0), (2, 3, 8, 8, 5, 3, 3, 1, 1),
             (1, 4, 11, 7, 20, 3, 2, 2, 1), (2, 2, 9, 9, 3, 5, 5, 3, 2))
    for batch, channels, height, width, outs, kh, kw, stride, pad in cases:
        x = rng.standard_normal((batch, channels, height, width))
        w = rng.standard_normal((outs, channels, kh, kw))
        bias = rng.standard_normal(outs)
        x, w, bias = (a.astype(np.float32) for a in (x, w, bias))
        np.testing.assert_allclose(conv2d(x, w, bias, stride, pad),
                                   reference(x, w, bias, stride, pad),
                                   rtol=1e-5, atol=1e-4)
    print('conv2d: OK,', len(cases), 'cases')


if __name__ == '__main__':
    main()
