import triton
import triton.language as tl


@triton.jit
def total(x, out, n, B: tl.constexpr):
    """Forgets other=0, and that programs share out[0]."""
    p = tl.program_id(0)
    i = p * B + tl.arange(0, B)
    v = tl.load(x + i, mask=i < n)
    s = tl.sum(v, 0)
    tl.store(out + 1 + p, s)
    t = tl.load(out)
    tl.store(out, t + s)
