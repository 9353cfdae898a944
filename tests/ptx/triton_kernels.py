"""Kernels whose PTX, as Triton prints it, is beside them (record.py)."""
import triton
import triton.language as tl


@triton.jit
def mm(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rn = tl.program_id(1) * BN + tl.arange(0, BN)
    rk = tl.arange(0, BK)
    acc = tl.zeros((BM, BN), tl.float32)
    for k in range(0, K, BK):
        x = tl.load(a + rm[:, None] * K + (k + rk)[None, :])
        y = tl.load(b + (k + rk)[:, None] * N + rn[None, :])
        acc = tl.dot(x, y, acc)
    tl.store(c + rm[:, None] * N + rn[None, :], acc)


@triton.jit
def softmax(x, y, n, B: tl.constexpr):
    r = tl.program_id(0)
    i = tl.arange(0, B)
    v = tl.load(x + r * n + i, mask=i < n, other=-float('inf'))
    v = v - tl.max(v, 0)
    e = tl.exp(v)
    tl.store(y + r * n + i, e / tl.sum(e, 0), mask=i < n)


@triton.jit
def integers(x, y, z, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    a = tl.load(x + i, mask=i < n, other=1)
    b = tl.load(y + i, mask=i < n, other=1)
    q = tl.where(b == 0, 0, a // tl.where(b == 0, 1, b))
    r = (a << 3) ^ (b >> 2) | (a & 0x55)
    tl.store(z + i, q + r + tl.minimum(a, b) * tl.maximum(a, 3), mask=i < n)


@triton.jit
def scan(x, y, z, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + i)
    tl.store(y + i, tl.cumsum(v, 0))
    tl.store(z + i, tl.sort(v))


@triton.jit
def atomics(x, y, h, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + i, mask=i < n, other=0)
    tl.atomic_add(h + v % 16, 1, mask=i < n)
    tl.atomic_max(y, tl.max(v, 0))


@triton.jit
def halves(x, y, z, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    a = tl.load(x + i, mask=i < n, other=0.)
    b = tl.load(y + i, mask=i < n, other=0.)
    tl.store(z + i, (a + b.to(tl.float16)) * a - tl.maximum(a, 0.5), mask=i < n)


@triton.jit
def transpose(x, y, M, N, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    j = tl.program_id(1) * B + tl.arange(0, B)
    v = tl.load(x + i[:, None] * N + j[None, :])
    tl.store(y + j[:, None] * M + i[None, :], tl.trans(v))
