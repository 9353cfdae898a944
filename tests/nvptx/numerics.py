"""Kernels whose results depend on how a GPU computes: with `--numerics device`
the interpreter gives the bits that code for a GPU gives.

    tkdbg diff --backend ptx --numerics device tests/nvptx/numerics.py
"""
import numpy as np
import triton
import triton.language as tl
from triton.language.extra import libdevice


def some(*shape):
    n = int(np.prod(shape))
    x = np.random.RandomState(n).randn(n)
    return x.reshape(shape).astype(np.float32)


@triton.jit
def approximations(x, approximated, B: tl.constexpr):
    i = tl.arange(0, B)
    a = tl.load(x + i)
    b = tl.abs(a) * 30
    tl.store(approximated + i, tl.exp(a * 20))
    tl.store(approximated + B + i, tl.exp2(a * 20))
    tl.store(approximated + 2 * B + i, tl.log(b))
    tl.store(approximated + 3 * B + i, tl.log2(b))
    tl.store(approximated + 4 * B + i, tl.rsqrt(b))
    tl.store(approximated + 5 * B + i, tl.softmax(a))


@triton.jit
def flushed(x, small, quotient, B: tl.constexpr):
    """Where roots and powers meet numbers that .ftz takes for zero."""
    i = tl.arange(0, B)
    a = tl.load(x + i)
    tiny = tl.abs(a) * 1e-38
    tl.store(small + i, tl.sqrt(tiny))
    tl.store(small + B + i, tl.rsqrt(tiny))
    tl.store(small + 2 * B + i, tl.exp2(a - 127))
    tl.store(small + 3 * B + i, tl.exp(a - 88))
    tl.store(small + 4 * B + i, tl.sqrt_rn(tiny))
    tl.store(quotient + i, a / tiny)
    tl.store(quotient + B + i, tiny / tl.load(x))
    tl.store(quotient + 2 * B + i, tl.div_rn(tiny, a))


@triton.jit
def remainders(x, remainder, remainder64, remainder16, B: tl.constexpr):
    i = tl.arange(0, B)
    a = tl.load(x + i)
    b = tl.abs(tl.load(x + B - 1 - i))
    tl.store(remainder + i, a * 1e6 % b)
    tl.store(remainder + B + i, a % float('inf'))
    tl.store(remainder64 + i, (a * 1e6).to(tl.float64) % b)
    tl.store(remainder16 + i, (a * 99).to(tl.float16) % b.to(tl.float16))


@triton.jit
def library(x, called, called64, flags, B: tl.constexpr):
    i = tl.arange(0, B)
    a = tl.load(x + i)
    tl.store(called + i, tl.sin(a * 50))
    tl.store(called + B + i, libdevice.pow(tl.abs(a), a))
    tl.store(called + 2 * B + i, tl.erf(a) + libdevice.tanh(tl.load(x)))
    tl.store(called64 + i, tl.exp(a.to(tl.float64)))
    tl.store(called64 + B + i, tl.rsqrt(tl.abs(a).to(tl.float64)))
    tl.store(flags + i, libdevice.isnan(libdevice.log(a)).to(tl.int32))


@triton.jit
def product(x, y, multiplied, M: tl.constexpr, N: tl.constexpr,
            K: tl.constexpr, HOW: tl.constexpr, TYPE: tl.constexpr):
    i = tl.arange(0, M)[:, None]
    j = tl.arange(0, N)[None, :]
    k = tl.arange(0, K)
    a = tl.load(x + i * K + k[None, :]).to(TYPE)
    b = tl.load(y + k[:, None] * N + j).to(TYPE)
    tl.store(multiplied + i * N + j,
             tl.dot(a, b, input_precision=HOW).to(tl.float32))


@triton.jit
def orders(x, ordered, B: tl.constexpr):
    i = tl.arange(0, B)
    a = tl.load(x + i)
    tl.store(ordered + i, tl.cumsum(a, 0))
    tl.store(ordered + B + i, tl.sum(a, 0) + a * a)


X = some(1024)
approximations[(1,)](X, np.zeros(6 * 1024, np.float32), 1024)
flushed[(1,)](X, np.zeros(5 * 1024, np.float32),
              np.zeros(3 * 1024, np.float32), 1024)
remainders[(1,)](X, np.zeros(2 * 1024, np.float32), np.zeros(1024),
                 np.zeros(1024, np.float16), 1024)
library[(1,)](X, np.zeros(3 * 1024, np.float32), np.zeros(2 * 1024),
              np.zeros(1024, np.int32), 1024)
orders[(1,)](X, np.zeros(2 * 1024, np.float32), 1024)
for shape, how, dtype in (
        ((16, 16, 64), 'tf32', tl.float16),
        ((32, 64, 128), 'ieee', tl.bfloat16),
        ((16, 32, 32), 'tf32', tl.float8e5),
        ((64, 32, 64), 'tf32', tl.float32),
        ((16, 16, 64), 'tf32x3', tl.float32),
        ((16, 16, 64), 'bf16x6', tl.float32),
        ((16, 16, 64), 'ieee', tl.float32), ((16, 16, 64), 'ieee', tl.float64)):
    m, n, k = shape
    product[(1,)](some(m, k), some(k, n), np.zeros((m, n), np.float32), m, n,
                  k, how, dtype)
