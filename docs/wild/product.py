import triton
import triton.language as tl


@triton.jit
def dot(x, y, out, n, B: tl.constexpr):
    i = tl.arange(0, B)
    a = tl.load(x + i, mask=i < n)
    b = tl.load(y + i, mask=i < n)
    tl.atomic_add(out, tl.sum(a * b))
