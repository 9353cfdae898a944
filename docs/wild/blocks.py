import triton
import triton.language as tl


@triton.jit
def causal(scale, out, M: tl.constexpr, N: tl.constexpr):
    m = tl.program_id(0)
    s = 0.0
    for start in range(0, (m + 1) * M, N):
        s += tl.load(scale + start // N)
    tl.store(out + m, s)
