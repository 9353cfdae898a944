import triton
import triton.language as tl


@triton.jit
def smooth(x, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    inner = (i > 0) & (i < n - 1)
    left = tl.load(x + i - 1, mask=inner, other=0.0)
    here = tl.load(x + i, mask=i < n, other=0.0)
    right = tl.load(x + i + 1, mask=inner, other=0.0)
    tl.debug_barrier()
    mean = (left + here + right) / 3
    tl.store(x + i, mean, mask=inner)
