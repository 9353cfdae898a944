import triton
import triton.language as tl


@triton.jit
def k(x, y, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    total = tl.zeros([BLOCK], dtype=tl.float16)
    for start in range(0, n, BLOCK):
        total += tl.load(x + start + i)
    tl.store(y + i, total)
