import triton
import triton.language as tl


@triton.jit
def k(x, y, B: tl.constexpr):
    i = tl.arange(0, B)
    j = tl.max_contiguous(i * 2 % B, B)
    tl.store(y + i, tl.load(x + j))
