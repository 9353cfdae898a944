"""A kernel to jump about in: its blocks have more lanes than fit in place."""
import triton
import triton.language as tl


@triton.jit
def pick(v, by):
    if by > 0:
        w = v * by
    else:
        w = v
    u = w + 1
    return u


@triton.jit
def jumped(x, y, n, B: tl.constexpr):
    o = tl.program_id(0) * B + tl.arange(0, B)
    m = o < n
    v = tl.load(x + o, mask=m, other=0.0)
    s = tl.sum(v, 0)
    w = v * 2
    for i in range(2):
        w += pick(v, i)
    while s > 1000:
        s = s * 0.5
    tl.store(y + o, w + s, mask=m)
