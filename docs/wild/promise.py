import triton
import triton.language as tl


@triton.jit
def combine(y, out, stride_k, N: tl.constexpr):
    tl.assume(stride_k > 0)
    i = tl.arange(0, N)
    part = tl.program_id(0)
    tl.store(out + part * stride_k + i, tl.load(y + i))
