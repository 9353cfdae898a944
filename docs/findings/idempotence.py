import triton
import triton.language as tl


@triton.jit
def k(x, y):
    i = tl.program_id(0) * 4 + tl.arange(0, 4)
    tl.store(y + i, tl.load(y + i) + tl.load(x + i) + 1)
