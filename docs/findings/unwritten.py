import triton
import triton.language as tl


@triton.jit
def k(y):
    i = tl.program_id(0) * 4 + tl.arange(0, 4)
    tl.store(y + i, i * i)
