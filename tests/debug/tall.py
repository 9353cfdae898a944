"""Blocks with more rows than a list of variables has room for."""
import triton
import triton.language as tl


@triton.jit
def tall(x, M: tl.constexpr, N: tl.constexpr):
    i = tl.arange(0, M)[:, None]
    four = tl.arange(0, 4)[:, None]
    at = x + i * N
    part = tl.load(at, mask=i < 5)
    both = i * N + tl.arange(0, N)[None, :]
    deep = tl.reshape(i, (2, M // 2, 1))
    pairs = tl.join(tl.arange(0, 32), tl.arange(0, 32) + 1)
    tl.store(x + both, both + tl.sum(deep) + part + tl.sum(four) +
             tl.sum(pairs))
