"""Gated linear attention by chunks: the state that each chunk adds, the states
passed on from chunk to chunk, and the outputs, from state and chunk."""
import numpy as np
import triton
import triton.language as tl


@triton.jit
def _decay(G, at, there):
    """The running sum of a chunk's log decays, and its last one."""
    g = tl.load(G + at, mask=there, other=0.0)
    return tl.cumsum(g, 0), tl.sum(g, 0)


@triton.jit
def _rows(X, at, dims, there, D: tl.constexpr):
    return tl.load(X + at[:, None] * D + dims[None, :], mask=there[:, None],
                   other=0.0)


@triton.jit
def chunk_states(K, V, G, States, Decays, n, chunks, DK: tl.constexpr,
                 DV: tl.constexpr, C: tl.constexpr):
    chunk = tl.program_id(0)
    head = tl.program_id(1)
    at = chunk * C + tl.arange(0, C)
    there = at < n
    dk = tl.arange(0, DK)
    dv = tl.arange(0, DV)
    k = _rows(K, head * n + at, dk, there, DK)
    v = _rows(V, head * n + at, dv, there, DV)
    g, whole = _decay(G, head * n + at, there)
    k = k * tl.exp(whole - g)[:, None]
    state = tl.dot(tl.trans(k), v, input_precision='ieee')
    base = (head * chunks + chunk) * DK * DV
    tl.store(States + base + dk[:, None] * DV + dv[None, :], state)
    tl.store(Decays + head * chunks + chunk, whole)


@triton.jit
def pass_states(States, Decays, Before, First, Last, chunks,
                SIZE: tl.constexpr, B: tl.constexpr):
    head = tl.program_id(1)
    at = tl.program_id(0) * B + tl.arange(0, B)
    state = tl.load(First + head * SIZE + at)
    for c in range(chunks):
        here = (head * chunks + c) * SIZE + at
        tl.store(Before + here, state)
        decay = tl.exp(tl.load(Decays + head * chunks + c))
        state = state * decay + tl.load(States + here)
    tl.store(Last + head * SIZE + at, state)


@triton.jit
def _inside(q, k, g, rows, C: tl.constexpr):
    s = tl.dot(q, tl.trans(k), input_precision='ieee')
    step = tl.arange(0, C)
    keep = step[:, None] >= step[None, :]
    between = tl.where(keep, g[:, None] - g[None, :], 0.0)
    return tl.where(keep, s * tl.exp(between), 0.0)


@triton.jit
def outputs(Q, K, V, G, Before, Out, scale, n, chunks, DK: tl.constexpr,
            DV: tl.constexpr, C: tl.constexpr):
    chunk = tl.program_id(0)
    head = tl.program_id(1)
    at = chunk * C + tl.arange(0, C)
    there = at < n
    dk = tl.arange(0, DK)
    dv = tl.arange(0, DV)
    q = _rows(Q, head * n + at, dk, there, DK) * scale
    k = _rows(K, head * n + at, dk, there, DK)
    v = _rows(V, head * n + at, dv, there, DV)
    g, whole = _decay(G, head * n + at, there)
    base = (head * chunks + chunk) * DK * DV
    state = tl.load(Before + base + dk[:, None] * DV + dv[None, :])
    out = tl.dot(q * tl.exp(g)[:, None], state, input_precision='ieee')
    s = _inside(q, k, g, at, C)
    out += tl.dot(s, v, input_precision='ieee')
    tl.store(Out + (head * n + at[:, None]) * DV + dv[None, :], out,
             mask=there[:, None])


def gated_attention(q, k, v, g, first, scale, C=16):
    heads, n, dk = q.shape
    dv = v.shape[2]
    chunks = triton.cdiv(n, C)
    states = np.empty((heads, chunks, dk, dv), np.float32)
    before = np.empty_like(states)
    decays = np.empty((heads, chunks), np.float32)
    last = np.empty_like(first)
    out = np.empty_like(v)
    chunk_states[(chunks, heads)](k, v, g, states, decays, n, chunks, DK=dk,
                                  DV=dv, C=C)
    size = dk * dv
    pass_states[(triton.cdiv(size, 64), heads)](
        states, decays, before, first, last, chunks, SIZE=size, B=64)
    outputs[(chunks, heads)](q, k, v, g, before, out, scale, n, chunks, DK=dk,
                             DV=dv, C=C)
    return out, last


def reference(q, k, v, g, first, scale):
    state = first.astype(np.float64)
    out = np.empty(v.shape)
    for t in range(q.shape[1]):
        state = state * np.exp(g[:, t].astype(np.float64))[:, None, None]
        state = state + k[:, t, :, None] * v[:, t, None, :]
        out[:, t] = np.einsum('hd,hde->he', q[:, t] * scale, state)
    return out, state


def main():
    rng = np.random.default_rng(6)
    heads, n, dk, dv = 2, 56, 16, 32
    q, k = rng.standard_normal((2, heads, n, dk)).astype(np.float32)
    v = rng.standard_normal((heads, n, dv)).astype(np.float32)
    g = -rng.uniform(0.01, 0.2, (heads, n)).astype(np.float32)
    first = rng.standard_normal((heads, dk, dv)).astype(np.float32)
    out, last = gated_attention(q, k, v, g, first, 0.25)
    expected, state = reference(q, k, v, g, first, 0.25)
    np.testing.assert_allclose(out, expected, rtol=1e-3, atol=1e-3)
    np.testing.assert_allclose(last, state, rtol=1e-3, atol=1e-3)
    print('ok')


if __name__ == '__main__':
    main()
