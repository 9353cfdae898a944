"""Host code that launches kernels of two files."""
import numpy as np
import triton
import triton.language as tl

from helpers import clamp


@triton.jit
def first(x_ptr, n, B: tl.constexpr):
    i = tl.arange(0, B)
    x = tl.load(x_ptr + i, mask=i < n)
    y = clamp(x, 2, 5)
    tl.store(x_ptr + i, y, mask=i < n)


@triton.jit
def second(x_ptr, B: tl.constexpr):
    i = tl.arange(0, B)
    x = tl.load(x_ptr + i)
    tl.store(x_ptr + i, x * x)


x = np.arange(8, dtype=np.int32)
print("host begins")
first[(1,)](x, 8, B=8)
print("after first", x)
second[(2,)](x, B=8)
second[(1,)](x, B=4)
print("after second", x)
