"""2-D maximum pooling, with the place of each maximum, and its backward pass.

Padding counts as -inf, so that it never wins.  Of equal numbers the first
wins.  Windows may overlap, and the gradient is added by atomics.

Checked against float64: forward exactly, |error| <= 1e-6 + 1e-6 |reference|
backward.
"""
import numpy as np
import triton
import triton.language as tl


@triton.jit
def maxpool2d_forward(x_ptr, y_ptr, index_ptr, n, height, width, out_height,
                      out_width, stride, padding, WINDOW: tl.constexpr,
                      BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    image = i // (out_height * out_width)
    top = i // out_width % out_height * stride - padding
    left = i % out_width * stride - padding
    best = tl.full([BLOCK], float('-inf'), dtype=tl.float32)
    where = tl.zeros([BLOCK], dtype=tl.int32)
    for place in tl.static_range(WINDOW * WINDOW):
        y = top + place // WINDOW
        x = left + place % WINDOW
        inside = (y >= 0) & (y < height) & (x >= 0) & (x < width) & (i < n)
        at = (image * height + y) * width + x
        value = tl.load(x_ptr + at, mask=inside, other=float('-inf'))
        where = tl.where(value > best, at, where)
        best = tl.maximum(value, best)
    tl.store(y_ptr + i, best, mask=i < n)
    tl.store(index_ptr + i, where, mask=i < n)


@triton.jit
def maxpool2d_backward(dy_ptr, index_ptr, dx_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    dy = tl.load(dy_ptr + i, mask=i < n, other=0.0)
    index = tl.load(index_ptr + i, mask=i < n, other=0)
    tl.atomic_add(dx_ptr + index, dy, mask=i < n, sem='relaxed')


def maxpool2d(x, window, stride, padding):
    images, height, width = x.shape
    out_height = (height + 2 * padding - window) // stride + 1
    out_width = (width + 2 * padding - window) // stride + 1
    y = np.empty((images, out_height, out_width), dtype=np.float32)
    index = np.empty(y.shape, dtype=np.int32)
    grid = lambda meta: (triton.cdiv(y.size, meta['BLOCK']), )
    maxpool2d_forward[grid](x, y, index, y.size, height, width, out_height,
                            out_width, stride, padding, WINDOW=window,
                            BLOCK=64)
    return y, index


def maxpool2d_gradient(dy, index, shape):
    dx = np.zeros(shape, dtype=np.float32)
    grid = lambda meta: (triton.cdiv(dy.size, meta['BLOCK']), )
    maxpool2d_backward[grid](dy, index, dx, dy.size, BLOCK=64)
    return dx


def reference(x, window, stride, padding):
    """(maxima, their positions in x)"""
    images, height, width = x.shape
    places = np.arange(x.size).reshape(x.shape)
    edge = [(0, 0)] + 2 * [(padding, padding)]

    def windows(a, fill):
        a = np.pad(a, edge, constant_values=fill)
        view = np.lib.stride_tricks.sliding_window_view(
            a, (window, window), (1, 2))[:, ::stride, ::stride]
        return view.reshape(*view.shape[:3], -1)

    values, at = windows(x, -np.inf), windows(places, -1)
    best = values.argmax(axis=3)[..., None]
    return (np.take_along_axis(values, best, 3)[..., 0],
            np.take_along_axis(at, best, 3)[..., 0])


def main():
    rng = np.random.default_rng(0)
    cases = ((1, 1, 1, 1, 1, 0), (2, 8, 8, 2, 2, 0), (3, 13, 9, 3, 2, 1))
    for images, height, width, window, stride, padding in cases:
        x = rng.integers(-9, 9, (images, height, width)).astype(np.float32)
        want, place = reference(x, window, stride, padding)
        y, index = maxpool2d(x, window, stride, padding)
        np.testing.assert_array_equal(y, want)
        np.testing.assert_array_equal(index, place)
        dy = rng.standard_normal(y.shape).astype(np.float32)
        dx = np.zeros(x.size)
        np.add.at(dx, place.ravel(), dy.astype(np.float64).ravel())
        np.testing.assert_allclose(maxpool2d_gradient(dy, index, x.shape),
                                   dx.reshape(x.shape), rtol=1e-6, atol=1e-6)
    print('maxpool2d: OK,', len(cases), 'cases')


if __name__ == '__main__':
    main()
