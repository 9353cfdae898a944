"""Attention and its gradients: forward with log-sum-exp, the rows' delta, dK
and dV by blocks of keys, dQ by blocks of queries."""
import numpy as np
import triton
import triton.language as tl


@triton.jit
def _tile(ptr, rows, dims, n, D: tl.constexpr):
    return tl.load(ptr + rows[:, None] * D + dims[None, :],
                   mask=rows[:, None] < n, other=0.0)


@triton.jit
def _scores(q, k, rows, cols, n, scale):
    s = tl.dot(q, tl.trans(k), input_precision='ieee') * scale
    keep = (rows[:, None] >= cols[None, :]) & (cols[None, :] < n)
    return tl.where(keep, s, float('-inf'))


@triton.jit
def _probabilities(q, k, lse, rows, cols, n, scale):
    s = _scores(q, k, rows, cols, n, scale)
    return tl.exp(s - lse[:, None])


@triton.jit
def forward(Q, K, V, O, Lse, scale, n, B: tl.constexpr, D: tl.constexpr):
    at = tl.program_id(1) * n
    rows = tl.program_id(0) * B + tl.arange(0, B)
    dims = tl.arange(0, D)
    q = _tile(Q + at * D, rows, dims, n, D)
    m = tl.full([B], float('-inf'), dtype=tl.float32)
    total = tl.zeros([B], dtype=tl.float32)
    acc = tl.zeros([B, D], dtype=tl.float32)
    for start in range(0, (tl.program_id(0) + 1) * B, B):
        cols = start + tl.arange(0, B)
        k = _tile(K + at * D, cols, dims, n, D)
        v = _tile(V + at * D, cols, dims, n, D)
        s = _scores(q, k, rows, cols, n, scale)
        m_new = tl.maximum(m, tl.max(s, 1))
        alpha = tl.exp(m - m_new)
        p = tl.exp(s - m_new[:, None])
        total = total * alpha + tl.sum(p, 1)
        acc = acc * alpha[:, None] + tl.dot(p, v, input_precision='ieee')
        m = m_new
    tl.store(O + (at + rows[:, None]) * D + dims[None, :],
             acc / total[:, None], mask=rows[:, None] < n)
    tl.store(Lse + at + rows, m + tl.log(total), mask=rows < n)


@triton.jit
def row_delta(O, DO, Delta, n, B: tl.constexpr, D: tl.constexpr):
    at = tl.program_id(1) * n
    rows = tl.program_id(0) * B + tl.arange(0, B)
    dims = tl.arange(0, D)
    o = _tile(O + at * D, rows, dims, n, D)
    do = _tile(DO + at * D, rows, dims, n, D)
    tl.store(Delta + at + rows, tl.sum(o * do, axis=1), mask=rows < n)


@triton.jit
def backward_kv(Q, K, V, DO, DK, DV, Lse, Delta, scale, n, B: tl.constexpr,
                D: tl.constexpr):
    block = tl.program_id(0)
    at = tl.program_id(1) * n
    cols = block * B + tl.arange(0, B)
    dims = tl.arange(0, D)
    k = _tile(K + at * D, cols, dims, n, D)
    v = _tile(V + at * D, cols, dims, n, D)
    dk = tl.zeros([B, D], dtype=tl.float32)
    dv = tl.zeros([B, D], dtype=tl.float32)
    for start in range(block * B, n, B):
        rows = start + tl.arange(0, B)
        q = _tile(Q + at * D, rows, dims, n, D)
        do = _tile(DO + at * D, rows, dims, n, D)
        lse = tl.load(Lse + at + rows, mask=rows < n, other=float('inf'))
        delta = tl.load(Delta + at + rows, mask=rows < n, other=0.0)
        p = _probabilities(q, k, lse, rows, cols, n, scale)
        dv += tl.dot(tl.trans(p), do, input_precision='ieee')
        dp = tl.dot(do, tl.trans(v), input_precision='ieee')
        ds = p * (dp - delta[:, None])
        dk += tl.dot(tl.trans(ds), q, input_precision='ieee')
    out = (at + cols[:, None]) * D + dims[None, :]
    tl.store(DK + out, dk * scale, mask=cols[:, None] < n)
    tl.store(DV + out, dv, mask=cols[:, None] < n)


@triton.jit
def backward_q(Q, K, V, DO, DQ, Lse, Delta, scale, n, B: tl.constexpr,
               D: tl.constexpr):
    block = tl.program_id(0)
    at = tl.program_id(1) * n
    rows = block * B + tl.arange(0, B)
    dims = tl.arange(0, D)
    q = _tile(Q + at * D, rows, dims, n, D)
    do = _tile(DO + at * D, rows, dims, n, D)
    lse = tl.load(Lse + at + rows, mask=rows < n, other=float('inf'))
    delta = tl.load(Delta + at + rows, mask=rows < n, other=0.0)
    dq = tl.zeros([B, D], dtype=tl.float32)
    for start in range(0, (block + 1) * B, B):
        cols = start + tl.arange(0, B)
        k = _tile(K + at * D, cols, dims, n, D)
        v = _tile(V + at * D, cols, dims, n, D)
        p = _probabilities(q, k, lse, rows, cols, n, scale)
        dp = tl.dot(do, tl.trans(v), input_precision='ieee')
        ds = p * (dp - delta[:, None])
        dq += tl.dot(ds, k, input_precision='ieee')
    tl.store(DQ + (at + rows[:, None]) * D + dims[None, :], dq * scale,
             mask=rows[:, None] < n)


def run(q, k, v, do, scale, B=16):
    heads, n, d = q.shape
    o, dq, dk, dv = (np.empty_like(q) for _ in range(4))
    lse = np.empty((heads, n), np.float32)
    delta = np.empty((heads, n), np.float32)
    grid = triton.cdiv(n, B), heads
    forward[grid](q, k, v, o, lse, scale, n, B=B, D=d)
    row_delta[grid](o, do, delta, n, B=B, D=d)
    backward_kv[grid](q, k, v, do, dk, dv, lse, delta, scale, n, B=B, D=d)
    backward_q[grid](q, k, v, do, dq, lse, delta, scale, n, B=B, D=d)
    return o, dq, dk, dv


def reference(q, k, v, do, scale):
    q, k, v, do = (a.astype(np.float64) for a in (q, k, v, do))
    s = q @ k.swapaxes(1, 2) * scale
    s = np.where(np.tri(s.shape[1], dtype=bool), s, -np.inf)
    p = np.exp(s - s.max(-1, keepdims=True))
    p /= p.sum(-1, keepdims=True)
    dp = do @ v.swapaxes(1, 2)
    ds = p * (dp - (p * dp).sum(-1, keepdims=True)) * scale
    return p @ v, ds @ k, ds.swapaxes(1, 2) @ q, p.swapaxes(1, 2) @ do


def main():
    rng = np.random.default_rng(1)
    q, k, v, do = (rng.standard_normal((3, 41, 16)).astype(np.float32)
                   for _ in range(4))
    got = run(q, k, v, do, 0.3)
    for name, one, ref in zip(('o', 'dq', 'dk', 'dv'), got,
                              reference(q, k, v, do, 0.3)):
        assert np.allclose(one, ref, rtol=1e-3, atol=1e-4), name
    print('ok')


if __name__ == '__main__':
    main()
