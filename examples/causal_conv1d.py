"""Short causal convolution along time, one filter for each channel, with SiLU.

The last WIDTH - 1 inputs of a sequence are its state: a call continues where
the one before ended, for a whole chunk or for a single token.

Checked against float64: |error| <= 1e-5 + 1e-5 |reference|.
"""
import numpy as np
import triton
import triton.language as tl


@triton.jit
def causal_conv1d_kernel(x_ptr, w_ptr, bias_ptr, state_ptr, next_state_ptr,
                         y_ptr, length, n_channels, WIDTH: tl.constexpr,
                         BLOCK_T: tl.constexpr, BLOCK_C: tl.constexpr):
    sequence = tl.program_id(2)
    time = tl.program_id(0) * BLOCK_T + tl.arange(0, BLOCK_T)[:, None]
    channel = tl.program_id(1) * BLOCK_C + tl.arange(0, BLOCK_C)[None, :]
    x_ptr += sequence.to(tl.int64) * length * n_channels
    y_ptr += sequence.to(tl.int64) * length * n_channels
    state_ptr += sequence * (WIDTH - 1) * n_channels
    next_state_ptr += sequence * (WIDTH - 1) * n_channels
    inside = channel < n_channels
    bias = tl.load(bias_ptr + channel, mask=inside, other=0.0)
    acc = tl.zeros([BLOCK_T, BLOCK_C], dtype=tl.float32) + bias
    for tap in tl.static_range(WIDTH):
        at = time + tap - (WIDTH - 1)
        now = tl.load(x_ptr + at * n_channels + channel,
                      mask=(at >= 0) & (at < length) & inside, other=0.0)
        before = tl.load(state_ptr + (at + WIDTH - 1) * n_channels + channel,
                         mask=(at < 0) & inside, other=0.0)
        w = tl.load(w_ptr + channel * WIDTH + tap, mask=inside, other=0.0)
        acc += w * tl.where(at < 0, before, now)
    y = acc * tl.sigmoid(acc)
    tl.store(y_ptr + time * n_channels + channel, y,
             mask=(time < length) & inside)
    if tl.program_id(0) == 0:
        cols = tl.program_id(1) * BLOCK_C + tl.arange(0, BLOCK_C)
        for step in tl.static_range(WIDTH - 1):
            # The inputs before the end, or what is left of the old state.
            place = length - (WIDTH - 1) + step
            last = tl.load(x_ptr + place * n_channels + cols,
                           mask=(cols < n_channels) & (place >= 0),
                           other=0.0)
            old = tl.load(state_ptr + (place + WIDTH - 1) * n_channels +
                          cols, mask=(cols < n_channels) & (place < 0),
                          other=0.0)
            tl.store(next_state_ptr + step * n_channels + cols,
                     tl.where(place >= 0, last, old), mask=cols < n_channels)


def causal_conv1d(x, w, bias, state):
    """(output, state after the last input)"""
    batch, length, n_channels = x.shape
    y, after = np.empty_like(x), np.empty_like(state)
    grid = lambda meta: (triton.cdiv(length, meta['BLOCK_T']),
                         triton.cdiv(n_channels, meta['BLOCK_C']), batch)
    causal_conv1d_kernel[grid](x, w, bias, state, after, y, length,
                               n_channels, WIDTH=w.shape[1], BLOCK_T=16,
                               BLOCK_C=32)
    return y, after


def reference(x, w, bias):
    width = w.shape[1]
    x = np.pad(x.astype(np.float64), [(0, 0), (width - 1, 0), (0, 0)])
    window = np.lib.stride_tricks.sliding_window_view(x, width, axis=1)
    y = np.einsum('btcw,cw->btc', window, w.astype(np.float64)) + bias
    return y / (1 + np.exp(-y))


def main():
    rng = np.random.default_rng(0)
    cases = [(*shape, cut) for shape in ((1, 8, 1, 4), (2, 40, 45, 4),
                                         (3, 19, 33, 3)) for cut in (1, 5)]
    for batch, length, n_channels, width, cut in cases:
        x = rng.standard_normal((batch, length, n_channels))
        w = rng.standard_normal((n_channels, width)).astype(np.float32)
        bias = rng.standard_normal(n_channels).astype(np.float32)
        x = x.astype(np.float32)
        state = np.zeros((batch, width - 1, n_channels), dtype=np.float32)
        parts = []
        for part in x[:, :cut], x[:, cut:]:
            y, state = causal_conv1d(np.ascontiguousarray(part), w, bias,
                                     state)
            parts.append(y)
        np.testing.assert_allclose(np.concatenate(parts, axis=1),
                                   reference(x, w, bias), rtol=1e-5,
                                   atol=1e-5)
        np.testing.assert_array_equal(state, x[:, length - width + 1:])
    print('causal_conv1d: OK,', len(cases), 'cases')


if __name__ == '__main__':
    main()
