import triton
import triton.language as tl


@triton.jit
def k(x, y, n):
    i = (tl.program_id(0) * 8 + tl.arange(0, 8)) % n
    tl.store(y + i, tl.load(x + i))
