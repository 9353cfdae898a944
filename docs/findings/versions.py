import triton
import triton.language as tl


@triton.jit
def relu(x, y, N: tl.constexpr):
    i = tl.arange(0, N)
    v = tl.maximum(tl.load(x + i), 0.1)
    tl.store(y + i, v * v)


@triton.jit
def window(x, y, N: tl.constexpr):
    p = tl.make_block_ptr(x, (N,), (1,), (0,), (N,), (0,))
    tl.store(y + tl.arange(0, N), tl.load(p))
