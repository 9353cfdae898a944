"""Lanes that a mask left out, other ones in each trip, for the debugger."""
import triton
import triton.language as tl


@triton.jit
def gaps(x, y, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    s = tl.zeros([B], tl.float32)
    for t in range(3):
        v = tl.load(x + i, mask=i < n + t)
        s += v
    tl.store(y + i, s, mask=i < n)
