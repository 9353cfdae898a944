"""A selective state space model: step sizes by softplus, an associative scan in
each chunk, the carries from chunk to chunk, and the gated outputs."""
import numpy as np
import triton
import triton.language as tl


@triton.jit
def _softplus(x):
    return tl.where(x > 20.0, x, tl.log(1.0 + tl.exp(x)))


@triton.jit
def _silu(x):
    return x / (1.0 + tl.exp(-x))


@triton.jit
def _then(a1, b1, a2, b2):
    return a1 * a2, a2 * b1 + b2


@triton.jit
def steps(Raw, Bias, Delta, n, width, B: tl.constexpr):
    """Delta = softplus(raw + bias), of [n, width]."""
    at = tl.program_id(0) * B + tl.arange(0, B)
    there = at < n * width
    raw = tl.load(Raw + at, mask=there, other=0.0)
    bias = tl.load(Bias + at % width, mask=there, other=0.0)
    tl.store(Delta + at, _softplus(raw + bias), mask=there)


@triton.jit
def _terms(X, Delta, A, Bm, at, d, s, there, width, N: tl.constexpr):
    delta = tl.load(Delta + at * width + d, mask=there, other=0.0)
    x = tl.load(X + at * width + d, mask=there, other=0.0)
    a = tl.load(A + d * N + s)
    b = tl.load(Bm + at[:, None] * N + s[None, :], mask=there[:, None],
                other=0.0)
    return tl.exp(delta[:, None] * a[None, :]), (delta * x)[:, None] * b


@triton.jit
def chunk_scan(X, Delta, A, Bm, Decay, State, n, width, chunks,
               N: tl.constexpr, C: tl.constexpr):
    """What a chunk does to the state: state * decay + its own."""
    d = tl.program_id(0)
    c = tl.program_id(1)
    at = c * C + tl.arange(0, C)
    s = tl.arange(0, N)
    a, b = _terms(X, Delta, A, Bm, at, d, s, at < n, width, N)
    decay, state = tl.associative_scan((a, b), 0, _then)
    last = (tl.arange(0, C) == C - 1)[:, None]
    row = (d * chunks + c) * N + s
    tl.store(Decay + row, tl.sum(tl.where(last, decay, 0.0), 0))
    tl.store(State + row, tl.sum(tl.where(last, state, 0.0), 0))


@triton.jit
def carry(Decay, State, Before, chunks, N: tl.constexpr):
    d = tl.program_id(0)
    s = tl.arange(0, N)
    h = tl.zeros([N], dtype=tl.float32)
    for c in range(chunks):
        row = (d * chunks + c) * N + s
        tl.store(Before + row, h)
        h = h * tl.load(Decay + row) + tl.load(State + row)


@triton.jit
def finish(X, Z, Delta, A, Bm, Cm, Skip, Before, Y, n, width, chunks,
           N: tl.constexpr, C: tl.constexpr):
    d = tl.program_id(0)
    c = tl.program_id(1)
    at = c * C + tl.arange(0, C)
    there = at < n
    s = tl.arange(0, N)
    a, b = _terms(X, Delta, A, Bm, at, d, s, there, width, N)
    decay, state = tl.associative_scan((a, b), 0, _then)
    before = tl.load(Before + (d * chunks + c) * N + s)
    state += decay * before[None, :]
    out = tl.load(Cm + at[:, None] * N + s[None, :], mask=there[:, None],
                  other=0.0)
    y = tl.sum(state * out, axis=1)
    x = tl.load(X + at * width + d, mask=there, other=0.0)
    z = tl.load(Z + at * width + d, mask=there, other=0.0)
    y = (y + tl.load(Skip + d) * x) * _silu(z)
    tl.store(Y + at * width + d, y, mask=there)


def selective_scan(x, raw, bias, a, b, c, skip, z, C=16):
    n, width = x.shape
    states = a.shape[1]
    chunks = triton.cdiv(n, C)
    delta, y = np.empty_like(x), np.empty_like(x)
    steps[(triton.cdiv(n * width, 128),)](raw, bias, delta, n, width, B=128)
    decay, state, before = np.empty((3, width, chunks, states), np.float32)
    grid = width, chunks
    chunk_scan[grid](x, delta, a, b, decay, state, n, width, chunks, N=states,
                     C=C)
    carry[(width,)](decay, state, before, chunks, N=states)
    finish[grid](x, z, delta, a, b, c, skip, before, y, n, width, chunks,
                 N=states, C=C)
    return y


def reference(x, raw, bias, a, b, c, skip, z):
    x, raw, a, b, c, z = (v.astype(np.float64) for v in (x, raw, a, b, c, z))
    delta = np.log1p(np.exp(raw + bias))
    h, y = np.zeros(a.shape), np.empty(x.shape)
    for t in range(len(x)):
        h = (np.exp(delta[t, :, None] * a) * h +
             (delta[t] * x[t])[:, None] * b[t])
        y[t] = h @ c[t] + skip * x[t]
    return y * z / (1 + np.exp(-z))


def main():
    rng = np.random.default_rng(7)
    n, width, states = 45, 6, 8

    def randn(*shape):
        return rng.standard_normal(shape).astype(np.float32)
    x, raw, z = randn(3, n, width)
    b, c = randn(2, n, states)
    bias, skip = randn(2, width)
    a = -rng.uniform(0.5, 4, (width, states)).astype(np.float32)
    y = selective_scan(x, raw, bias, a, b, c, skip, z)
    error = np.abs(y - reference(x, raw, bias, a, b, c, skip, z))
    assert error.max() < 1e-4, error.max()
    print('ok')


if __name__ == '__main__':
    main()
