"""Host code that changes what its process was begun with."""
import os
import sys

import numpy as np
import triton
import triton.language as tl


@triton.jit
def fill(x_ptr, value, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(x_ptr + i, value)


print("begins", *sys.argv[1:], flush=True)
sys.argv.clear()
os.chdir("/")
os.environ.clear()
x = np.zeros(4, np.int32)
fill[(1,)](x, 7, B=4)
print("ends", x, flush=True)
