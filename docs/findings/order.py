import triton
import triton.language as tl


@triton.jit
def k(count):
    if tl.program_id(0) == 0:
        tl.store(count, 0)
    tl.atomic_add(count, 1)
