import triton
import triton.language as tl


@triton.jit
def twice(v):
    w = v + v
    return w


@triton.jit
def k(x, y, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    s = tl.zeros([B], tl.int32)
    for t in range(3):
        s += twice(tl.load(x + i, mask=i < n, other=0)) + t
        if t == 1:
            breakpoint()
    tl.device_assert(s < 400, "large")
    tl.store(y + i, s)
