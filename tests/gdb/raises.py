"""Host code that fails behind its launches."""
import numpy as np
import triton
import triton.language as tl


@triton.jit
def double(x_ptr, B: tl.constexpr):
    i = tl.arange(0, B)
    x = tl.load(x_ptr + i)
    tl.store(x_ptr + i, x * 2)


@triton.jit
def shift(x_ptr, n, B: tl.constexpr):
    i = tl.arange(0, B)
    x = tl.load(x_ptr + i, mask=i < n)
    tl.store(x_ptr + i, x + 1, mask=i < n)


x = np.arange(4, dtype=np.int32)
double[(1,)](x, B=4)
shift[(1,)](x, 3, B=4)
assert x[3] == 7, f"x is {x}"
