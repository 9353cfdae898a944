"""Host code that launches one kernel several times, with other arguments."""
import numpy as np
import triton
import triton.language as tl


@triton.jit
def fill(x_ptr, value, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(x_ptr + i, value)


x = np.zeros(8, np.int32)
for value in 7, 9, 11:
    fill[(2,)](x, value, B=4)
