"""Lanes and elements without a value, for the debugger's question marks."""
import triton
import triton.language as tl


@triton.jit
def twice(v):
    return v * 2


@triton.jit
def holes(x, y, n, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + i, mask=i < n)
    w = tl.where(i < 6, twice(v), 0.)
    m = v > 2
    tl.store(y + i, w, mask=i < 4)
    tl.store(y + 4, tl.sum(w))
