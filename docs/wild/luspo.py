import triton
import triton.language as tl


@triton.jit
def backward(dloss, dx, stride_b, stride_l, L: tl.constexpr):
    b, l = tl.program_id(0), tl.program_id(1)
    d = tl.load(dloss + b * stride_b + l * stride_l)
    tl.store(dx + b * L + l, d)
