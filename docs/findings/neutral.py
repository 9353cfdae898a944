import triton
import triton.language as tl


@triton.jit
def k(x, y, n):
    i = tl.arange(0, 8)
    v = tl.load(x + i, mask=i < n, other=0)
    tl.store(y, tl.max(v, 0))
