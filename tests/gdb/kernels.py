"""Kernels that the sessions with gdb look at.

The sessions name lines of this file, so that a line more or less here means
another look at each of them.  Helpers stand first, then kernels: one that
calls them, one with a variable of every type, one whose helper has several
forms, two that are reported, and one with loops.  Their arguments are given
on the command lines of the sessions, and tests/gdb/script.py launches some of
them as host code does.
"""
import triton
import triton.language as tl


@triton.jit
def clamp(v, low, high):
    w = tl.maximum(v, low)
    return tl.minimum(w, high)


@triton.jit
def scale_add(x, s, BIAS: tl.constexpr):
    t = x * s
    return t + BIAS


@triton.jit
def activation(v, s):
    u = scale_add(v, s, 1.0)
    return tl.where(u > 0, u, 0.0)


@triton.jit
def kernel(x_ptr, y_ptr, n, B: tl.constexpr, DT: tl.constexpr):
    pid = tl.program_id(0)
    offs = pid * B + tl.arange(0, B)
    mask = offs < n
    x = tl.load(x_ptr + offs,
                mask=mask)
    acc = tl.zeros((B,), tl.float32)
    for i in range(3):
        acc += x * i
    pair = (acc, pid)
    acc = activation(acc, 0.5)
    acc = acc.to(tl.float16)
    a, b = pair
    if pid == 1:
        z = 3
        acc += z
    tl.store(y_ptr + offs, acc, mask=mask)


@triton.jit
def types(x_ptr, y_ptr, n, NAME: tl.constexpr, FLAG: tl.constexpr,
          B: tl.constexpr):
    i = tl.arange(0, B)
    x = tl.load(x_ptr + i)
    tiny = i.to(tl.int8)
    byte = (i + 250).to(tl.uint8)
    small16 = i.to(tl.int16)
    wide = i.to(tl.int64) * 1000000007
    half = x.to(tl.float16) / 2
    brain = x.to(tl.bfloat16)
    small = x.to(tl.float8e5)
    exact = x.to(tl.float64)
    odd = i % 2 == 1
    grid = tl.reshape(x, (2, B // 2))
    where = x_ptr + i
    one = tl.sum(x)
    nested = (x, (n, one))
    tl.store(y_ptr + i, half)


@triton.jit
def twice(v):
    return v + v


@triton.jit
def scalars(x_ptr, n):
    a = twice(n)
    b = twice(n * 0.5)
    c = twice(tl.arange(0, 4))
    d = clamp(a, 0, 5)
    tl.store(x_ptr, a + b + d)


@triton.jit
def beyond(x_ptr, n, B: tl.constexpr):
    pid = tl.program_id(0)
    offs = pid * B + tl.arange(0, B)
    x = tl.load(x_ptr + offs)
    tl.store(x_ptr + offs, x + 1)


@triton.jit
def claims(x_ptr, n):
    half = n // 2
    tl.device_assert(half > 100, "n is small")
    tl.store(x_ptr, half)


@triton.jit
def counts(x_ptr, n):
    total = 0
    for i in range(n):
        if i % 3 == 0:
            total += i
        else:
            total += 1
    while total > 10:
        total = total // 2
    tl.device_print("total", total)
    tl.store(x_ptr, total)


@triton.jit
def windows(x_ptr, y_ptr, n, B: tl.constexpr):
    block = tl.make_block_ptr(x_ptr, shape=(n, n), strides=(n, 1),
                              offsets=(0, 0), block_shape=(B, B),
                              order=(1, 0))
    tile = tl.make_tensor_descriptor(y_ptr, shape=[n, n], strides=[n, 1],
                                     block_shape=[B, B])
    a = tl.zeros((B, B), tl.float32)
    for i in range(2):
        a += tl.load(block)
        block = tl.advance(block, (0, B))
    both = (a, n)
    one = tl.sum(a)
    tile.store([0, 0], a)
    both = (one, n, n * 0.5)
    tl.store(y_ptr, one)


@triton.jit
def often(x_ptr, n):
    m = n + 1
    a = (twice(n) + twice(m) + twice(n + 2) + twice(n + 3) +
         twice(n + 4) + twice(n + 5) + twice(n + 6) + twice(n + 7) +
         clamp(n, 8, m) + clamp(m, 0, 9))
    tl.store(x_ptr, a)
