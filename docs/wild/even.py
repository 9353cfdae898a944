import triton
import triton.language as tl


@triton.jit
def dot(x, y, out, K, EVEN_K: tl.constexpr, B: tl.constexpr):
    k = tl.arange(0, B)
    total = 0.0
    for left in range(K, 0, -B):
        if EVEN_K:
            a, b = tl.load(x + k), tl.load(y + k)
        else:
            a = tl.load(x + k, mask=k < left, other=0.0)
            b = tl.load(y + k, mask=k < left, other=0.0)
        total += tl.sum(a * b)
        x += B
        y += B
    tl.store(out, total)
