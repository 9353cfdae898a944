"""What the rows of options.txt run."""
import hashlib

import numpy as np
import triton
import triton.language as tl


@triton.jit
def add(x, y, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + i, mask=i < n)
    tl.store(y + i, v + 1, mask=i < n)


@triton.jit
def twice(x, y, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + i, 2 * tl.load(x + i, mask=i < n), mask=i < n)


@triton.jit
def mix(a, b, c):
    i = tl.arange(0, 32)
    at = i[:, None] * 32 + i[None, :]
    p = tl.dot(tl.load(a + at), tl.load(b + at), input_precision="ieee")
    tl.store(c + at, tl.exp(p))


@triton.jit
def noise(x, y, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + i, mask=i < n, other=0)
    tl.store(y + i, tl.exp(v) * tl.exp(-v) - 1, mask=i < n)


@triton.jit
def says(y):
    tl.device_print("pid", tl.program_id(0))
    tl.device_assert(tl.load(y) < 0, "asserted")


@triton.jit
def undefined(x, y):
    i = tl.arange(0, 4)
    tl.store(y + i, tl.load(x + i, mask=i < 2) + 1)
    tl.store(y + 4 + i, tl.load(x + i, mask=i < 3) + 2)


if __name__ == "__main__":
    import sys
    x = np.arange(8, dtype=np.float32)
    y = np.zeros(8, dtype=np.float32)
    a, b = np.random.default_rng(0).random((2, 32, 32), np.float32)
    c = np.zeros((32, 32), np.float32)
    add[(2,)](x, y, 8, BLOCK=4)
    twice[(2,)](x, y, 8, BLOCK=4)
    add[(2,)](x, y, 8, BLOCK=4)
    if "mix" in sys.argv:
        mix[(1,)](a, b, c)
        print(hashlib.sha1(c.tobytes()).hexdigest())
    if "noise" in sys.argv:
        noise[(2,)](x, y, 8, BLOCK=4)
    if "says" in sys.argv:
        says[(2,)](y)
    if "undefined" in sys.argv:
        undefined[(1,)](x, y)
    print("y =", y)
