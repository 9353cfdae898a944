import triton
import triton.language as tl


@triton.jit
def gemm(a, b, scales, c, M, K: tl.constexpr, B: tl.constexpr):
    m = tl.program_id(0) * B + tl.arange(0, B)
    n, k = tl.arange(0, 16), tl.arange(0, K)
    at = m[:, None] * K + k[None, :]
    x = tl.load(a + at, mask=m[:, None] < M, other=0.0)
    y = tl.dot(x, tl.load(b + k[:, None] * 16 + n[None, :]))
    y *= tl.load(scales + m)[:, None]
    tl.store(c + m[:, None] * 16 + n[None, :], y, mask=m[:, None] < M)
