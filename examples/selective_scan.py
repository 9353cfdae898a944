"""Selective scan of a state-space model (the recurrence of Mamba).

    h[t] = exp(delta[t] * A) * h[t - 1] + delta[t] * B[t] * x[t]
    y[t] = sum over the state of C[t] * h[t], plus D * x[t]

A step is the pair (a, b) of h -> a * h + b, and pairs combine associatively,
so that a block of time is one scan of a tuple.  Blocks follow one another; the
last state of one is the start of the next.  One program computes one channel
of one sequence.

Checked against float64: |error| <= 1e-4 + 1e-4 |reference|.
"""
import numpy as np
import triton
import triton.language as tl


@triton.jit
def then(a_first, b_first, a_second, b_second):
    """The step that does the first step, then the second."""
    return a_first * a_second, b_first * a_second + b_second


@triton.jit
def selective_scan_kernel(x_ptr, delta_ptr, a_ptr, b_ptr, c_ptr, d_ptr,
                          y_ptr, length, n_channels, BLOCK: tl.constexpr,
                          STATE: tl.constexpr):
    sequence = tl.program_id(0)
    channel = tl.program_id(1)
    states = tl.arange(0, STATE)
    a = tl.load(a_ptr + channel * STATE + states)
    d = tl.load(d_ptr + channel)
    h = tl.zeros([STATE], dtype=tl.float32)
    for start in range(0, length, BLOCK):
        time = start + tl.arange(0, BLOCK)
        mask = time < length
        at = (sequence * length + time) * n_channels + channel
        x = tl.load(x_ptr + at, mask=mask, other=0.0)
        # Steps past the end have delta 0: they leave the state alone.
        delta = tl.load(delta_ptr + at, mask=mask, other=0.0)
        at_state = ((sequence * length + time[:, None]) * STATE +
                    states[None, :])
        b = tl.load(b_ptr + at_state, mask=mask[:, None], other=0.0)
        c = tl.load(c_ptr + at_state, mask=mask[:, None], other=0.0)
        decay = tl.exp(delta[:, None] * a[None, :])
        push = (delta * x)[:, None] * b
        decays, pushes = tl.associative_scan((decay, push), 0, then)
        hs = decays * h[None, :] + pushes
        y = tl.sum(hs * c, axis=1) + d * x
        tl.store(y_ptr + at, y, mask=mask)
        last = tl.arange(0, BLOCK) == BLOCK - 1
        h = tl.sum(tl.where(last[:, None], hs, 0.0), axis=0)


def selective_scan(x, delta, a, b, c, d):
    n_sequences, length, n_channels = x.shape
    y = np.empty_like(x)
    selective_scan_kernel[(n_sequences, n_channels)](
        x, delta, a, b, c, d, y, length, n_channels, BLOCK=16,
        STATE=a.shape[1])
    return y


def reference(x, delta, a, b, c, d):
    x, delta, a, b, c, d = (v.astype(np.float64)
                            for v in (x, delta, a, b, c, d))
    h = np.zeros((x.shape[0], *a.shape))
    y = np.empty_like(x)
    for t in range(x.shape[1]):
        h = (np.exp(delta[:, t, :, None] * a) * h +
             (delta[:, t] * x[:, t])[:, :, None] * b[:, t, None])
        y[:, t] = (h * c[:, t, None]).sum(axis=2) + d * x[:, t]
    return y


def main():
    rng = np.random.default_rng(0)
    shapes = (1, 1, 1, 1), (2, 32, 3, 4), (2, 41, 5, 16)
    for n_sequences, length, n_channels, n_states in shapes:
        x = rng.standard_normal((n_sequences, length, n_channels))
        delta = rng.uniform(0.01, 0.5, x.shape)
        a = -rng.uniform(0.1, 2.0, (n_channels, n_states))
        b, c = rng.standard_normal((2, n_sequences, length, n_states))
        d = rng.standard_normal(n_channels)
        args = [v.astype(np.float32) for v in (x, delta, a, b, c, d)]
        np.testing.assert_allclose(selective_scan(*args), reference(*args),
                                   rtol=1e-4, atol=1e-4)
    print('selective_scan: OK,', len(shapes), 'shapes')


if __name__ == '__main__':
    main()
