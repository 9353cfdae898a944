import triton
import triton.language as tl


@triton.jit
def k(x, y):
    i = tl.program_id(0) * 32 + tl.arange(0, 32)
    tl.store(y + i, tl.load(x + i))
