import triton
import triton.language as tl


@triton.jit
def add_mask(x, mask, y, K, stride_x, stride_m, B: tl.constexpr):
    n, k = tl.program_id(0), tl.arange(0, B)
    v = tl.load(x + n * stride_x + k, mask=k < K)
    m = tl.load(mask + n * stride_m + k, mask=k < K)
    tl.store(y + n * stride_x + k, v + m, mask=k < K)
