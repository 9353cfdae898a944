import triton
import triton.language as tl


@triton.jit
def scatter(counts, starts, rows, n, E: tl.constexpr, B: tl.constexpr):
    own, i = tl.program_id(0), tl.arange(0, E)
    v = tl.load(counts + i, mask=i < n, other=0)
    tl.store(starts + i, tl.cumsum(v) - v, mask=i < n)
    start = tl.load(starts + own)
    for k in range(0, tl.load(counts + own), B):
        tl.store(rows + start + k + tl.arange(0, B), own)
