import numpy as np
import triton
import triton.language as tl


@triton.jit
def softmax(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * n + cols, mask=cols < n, other=0.0)
    x = x - tl.max(x, axis=0)
    e = tl.exp(x)
    tl.store(y_ptr + row * n + cols, e / tl.sum(e, axis=0), mask=cols < n)


x = np.linspace(-2, 2, 4 * 100, dtype=np.float32).reshape(4, 100)
y = np.empty_like(x)
softmax[(4,)](x, y, 100, BLOCK=128)
e = np.exp(x - x.max(axis=1, keepdims=True))
assert np.allclose(y, e / e.sum(axis=1, keepdims=True))
