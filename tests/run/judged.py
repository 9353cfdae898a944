"""Kernels that engines are compared on; test_judge.c launches them.

`skip` leaves out the last terms of a sum.
"""
import triton
import triton.language as tl


@triton.jit
def product(a, b, c, M, N, K, skip, P: tl.constexpr, B: tl.constexpr):
    i = tl.program_id(0) * 32 + tl.arange(0, 32)
    j = tl.program_id(1) * 32 + tl.arange(0, 32)
    acc = tl.zeros([32, 32], tl.float32)
    for k in range(0, K - skip, B):
        k += tl.arange(0, B)
        x = tl.load(a + i[:, None] * K + k[None, :])
        y = tl.load(b + k[:, None] * N + j[None, :])
        acc = tl.dot(x, y, acc, input_precision=P)
    tl.store(c + i[:, None] * N + j[None, :], acc.to(c.dtype.element_ty))


@triton.jit
def softmax(x, y, N, skip, B: tl.constexpr):
    row = tl.program_id(0)
    m = -float('inf')
    d = 0.0
    for k in range(0, N - skip, B):
        v = tl.load(x + row * N + k + tl.arange(0, B)).to(tl.float32)
        new = tl.maximum(m, tl.max(v, axis=0))
        d = d * tl.exp(m - new) + tl.sum(tl.exp(v - new), axis=0)
        m = new
    for k in range(0, N, B):
        at = row * N + k + tl.arange(0, B)
        v = tl.load(x + at).to(tl.float32)
        tl.store(y + at, (tl.exp(v - m) / d).to(y.dtype.element_ty))


@triton.jit
def attention(q, k, v, o, N, skip, scale, D: tl.constexpr):
    i = tl.program_id(0) * 32 + tl.arange(0, 32)
    d = tl.arange(0, D)
    x = tl.load(q + i[:, None] * D + d[None, :])
    m = tl.full([32], -float('inf'), tl.float32)
    z = tl.zeros([32], tl.float32)
    acc = tl.zeros([32, D], tl.float32)
    for n in range(0, N - skip, 32):
        j = n + tl.arange(0, 32)
        y = tl.load(k + j[None, :] * D + d[:, None])
        s = tl.dot(x, y) * scale
        new = tl.maximum(m, tl.max(s, axis=1))
        p = tl.exp2(s - new[:, None])
        fade = tl.exp2(m - new)
        z = z * fade + tl.sum(p, axis=1)
        w = tl.load(v + j[:, None] * D + d[None, :])
        acc = tl.dot(p.to(w.dtype), w, acc * fade[:, None])
        m = new
    tl.store(o + i[:, None] * D + d[None, :],
             (acc / z[:, None]).to(o.dtype.element_ty))


@triton.jit
def layer_norm(x, w, y, N, skip, eps, B: tl.constexpr):
    row = tl.program_id(0)
    s = tl.zeros([B], tl.float32)
    q = tl.zeros([B], tl.float32)
    for k in range(0, N - skip, B):
        v = tl.load(x + row * N + k + tl.arange(0, B)).to(tl.float32)
        s += v
        q += v * v
    mean = tl.sum(s, axis=0) / N
    scale = tl.rsqrt(tl.sum(q, axis=0) / N - mean * mean + eps)
    for k in range(0, N, B):
        at = k + tl.arange(0, B)
        v = tl.load(x + row * N + at).to(tl.float32)
        g = tl.load(w + at).to(tl.float32)
        tl.store(y + row * N + at,
                 ((v - mean) * scale * g).to(y.dtype.element_ty))


@triton.jit
def sums(x, y, N, skip, B: tl.constexpr):
    row = tl.program_id(0)
    s = tl.zeros([B], tl.float32)
    for k in range(0, N - skip, B):
        v = tl.load(x + row * N + k + tl.arange(0, B)).to(tl.float32)
        s += tl.exp(v) * v
    tl.store(y + row, tl.sum(s, axis=0).to(y.dtype.element_ty))


@triton.jit
def added(x, y, N, skip, B: tl.constexpr):
    row = tl.program_id(0)
    for k in range(0, N - skip, B):
        v = tl.load(x + row * N + k + tl.arange(0, B))
        tl.atomic_add(y + row % 16, tl.sum(tl.exp(v), axis=0))


@triton.jit
def gelu(x, y, N, skip, B: tl.constexpr):
    row = tl.program_id(0)
    for k in range(0, N, B):
        at = row * N + k + tl.arange(0, B)
        v = tl.load(x + at).to(tl.float32)
        u = 0.7978845608 * (v + 0.044715 * v * v * v)
        t = 2 / (1 + tl.exp(-2 * u)) - 1
        tl.store(y + at, (0.5 * v * (1 + t)).to(y.dtype.element_ty))


@triton.jit
def quantised(x, y, N, skip, B: tl.constexpr):
    row = tl.program_id(0)
    m = 0.0
    for k in range(0, N, B):
        v = tl.load(x + row * N + k + tl.arange(0, B)).to(tl.float32)
        m = tl.maximum(m, tl.max(tl.abs(v), axis=0))
    for k in range(0, N - skip, B):
        at = row * N + k + tl.arange(0, B)
        v = tl.load(x + at).to(tl.float32) * (127 / m)
        tl.store(y + at, tl.floor(v + 0.5).to(tl.int8))


@triton.jit
def variance(x, y, N, skip, B: tl.constexpr):
    row = tl.program_id(0)
    at = row * N + tl.arange(0, B)
    v = tl.load(x + at).to(tl.float32)
    c = v - tl.sum(v, axis=0) / B
    tl.store(y + row, tl.sum(c * c, axis=0) / B)


@triton.jit
def join(a, b, c, d):
    return a * c, b * c + d


@triton.jit
def recurrence(x, y, N, skip, B: tl.constexpr):
    row = tl.program_id(0)
    at = row * N + tl.arange(0, B)
    v = tl.load(x + at).to(tl.float32)
    decay = 1 / (1 + tl.exp(-v))
    p, s = tl.associative_scan((decay, v), 0, join)
    tl.store(y + at, s.to(y.dtype.element_ty))
