"""Kernels that the sessions of tests/dap look at.

The sessions find their lines by what stands in them.
"""
import triton
import triton.language as tl


@triton.jit
def scale(v, s):
    w = v * s
    return w


@triton.jit
def add(x, y, n, B: tl.constexpr):
    pid = tl.program_id(0)
    offs = pid * B + tl.arange(0, B)
    mask = offs < n
    a = tl.load(x + offs, mask=mask, other=0)
    total = tl.zeros((B,), tl.float32)
    for i in range(3):
        total += scale(a, i)
    pair = (total, pid)
    tl.store(y + offs, total, mask=mask)


@triton.jit
def planes(x, y, M: tl.constexpr, N: tl.constexpr):
    rows = tl.arange(0, M)[:, None]
    cols = tl.arange(0, N)[None, :]
    tile = tl.load(x + rows * N + cols)
    half = tile.to(tl.float16)
    wide = tl.sum(tile, 1)
    tl.store(y + rows * N + cols, tile + 1)


@triton.jit
def beyond(x, n, B: tl.constexpr):
    offs = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + offs)
    tl.store(x + offs, v + 1)


@triton.jit
def undefined(x, y, n, B: tl.constexpr):
    offs = tl.arange(0, B)
    v = tl.load(x + offs, mask=offs < n)
    s = tl.sum(v)
    tl.store(y, s)


@triton.jit
def slow(x, n):
    total = 0
    for i in range(n):
        total += i % 7
    tl.store(x, total)


@triton.jit
def waits(x, n):
    total = 0.0
    for i in range(n):
        v = tl.load(x + tl.arange(0, 2), mask=tl.arange(0, 2) < 1)
        total += tl.sum(v)
        tl.store(x + 1, total)
    tl.store(x, total)


@triton.jit
def walks(x, y):
    tile = tl.make_block_ptr(x, shape=(16,), strides=(1,), offsets=(0,),
                             block_shape=(8,), order=(0,))
    head = tl.load(tile)
    tile = tl.advance(tile, (8,))
    tl.store(y + tl.arange(0, 8), head + tl.load(tile))


@triton.jit
def claims(x, n):
    tl.device_assert(n > 100, "n is small")
    tl.store(x, n)


@triton.jit
def many(x, y):
    i = tl.arange(0, 128)[:, None] * 128 + tl.arange(0, 128)[None, :]
    b0 = tl.load(x + i)
    b1 = b0 + 1
    b2 = b0 + 2
    b3 = b0 + 3
    b4 = b0 + 4
    b5 = b0 + 5
    b6 = b0 + 6
    b7 = b0 + 7
    b8 = b0 + 8
    b9 = b0 + 9
    c0 = b0 * 2
    c1 = b1 * 2
    c2 = b2 * 2
    c3 = b3 * 2
    c4 = b4 * 2
    c5 = b5 * 2
    c6 = b6 * 2
    c7 = b7 * 2
    c8 = b8 * 2
    c9 = b9 * 2
    d0 = c0 > b1
    d1 = c1 > b2
    d2 = c2 > b3
    d3 = c3.to(tl.float16)
    d4 = c4.to(tl.float16)
    d5 = c5.to(tl.int32)
    d6 = c6.to(tl.int32)
    d7 = c7.to(tl.bfloat16)
    d8 = c8.to(tl.float64)
    s = b0 + c9
    tl.store(y + i, s + b3 + b4 + b5 + b6 + b7 + b8 + b9 + d8 + d7 + d4)
    tl.store(y + i, tl.where(d0 & d1 & d2, d3, d5 + d6))
