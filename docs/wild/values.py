import triton
import triton.language as tl


@triton.jit
def weighted(k, v, out, n, B: tl.constexpr):
    i = tl.arange(0, B)
    at = i[:, None] * B + i[None, :]
    inside = i[:, None] < n
    s = tl.load(k + at, mask=inside).to(tl.float32)
    s += tl.where(inside, 0, float("-inf"))
    p = tl.exp2(s - tl.max(s, 0)[None, :]).to(tl.float16)
    x = tl.load(v + at, mask=inside)
    tl.store(out + at, tl.dot(tl.trans(p), x))
