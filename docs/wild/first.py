import triton
import triton.language as tl


@triton.jit
def quantise(x, scale, y, cols, stride, N: tl.constexpr):
    row = tl.program_id(0)
    tl.assume(row > 0)
    i = tl.arange(0, N)
    v = tl.load(x + row * stride + i, mask=i < cols)
    v = (v / tl.load(scale)).to(tl.int8)
    tl.store(y + row * stride + i, v, mask=i < cols)
