"""Statements of several lines, several in a line, for places to stop at."""
import triton
import triton.language as tl


@triton.jit
def more(v):
    w = v + 1
    return w


@triton.jit
def lines(a, o, n, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(
        a + i,
        mask=i < n)
    v = more(v); v = v * 2
    # a comment
    for k in range(0, 2):
        if k == 1: v -= 1
    tl.store(o + i,
             v)
