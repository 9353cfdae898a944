import triton
import triton.language as tl


@triton.jit
def scale(v, by):
    w = v * by
    return w


@triton.jit
def add(x, y, n, B: tl.constexpr):
    o = tl.program_id(0) * B + tl.arange(0, B)
    s = tl.zeros([B], tl.int32)
    for i in range(3):
        t = tl.load(x + o, mask=o < n)
        s += scale(t, i)
    tl.store(y + o, s, mask=o < n)
