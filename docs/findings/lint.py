import triton
import triton.language as tl


@triton.jit
def either(x, y, n, m):
    i = tl.arange(0, 8)
    mask = (i < n) + (i < m)
    tl.store(y + i, tl.load(x + i), mask=mask)


@triton.jit
def tail(x, y, n):
    start = tl.program_id(0) * 8
    i = start + tl.arange(0, 8)
    v = tl.load(x + i, mask=start < n, other=0)
    tl.store(y + i, v, mask=i < n)


@triton.jit
def halves(x, y):
    i = tl.arange(0, 8)
    tl.store(y + i, tl.load(x + (i - 1) // 2 + 1))


@triton.jit
def total(x, y, n):
    i = tl.arange(0, 8)
    v = tl.load(x + i, mask=i < n)
    tl.store(y, tl.sum(v, 0))


@triton.jit
def row(x, y, stride):
    v = tl.load(x + tl.program_id(0) * stride)
    tl.store(y, v)


@triton.jit
def leftovers(x, y):
    i = tl.arange(0, 8)
    v = tl.load(x + i)
    twice = i * 2
    tl.store(y + i, 0.0)
    tl.store(y + i, 1.0)


@triton.jit
def six(x):
    tl.store(x + tl.arange(0, 6), 0.0)


@triton.jit
def misspelt(x):
    index = tl.arange(0, 8)
    tl.store(x + indx, 0.0)
