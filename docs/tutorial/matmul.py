import triton
import triton.language as tl


@triton.jit
def matmul(A, B, C, M, N, K, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    row = pid // (N // BLOCK)
    col = pid % (N // BLOCK)
    i = row * BLOCK + tl.arange(0, BLOCK)
    j = col * BLOCK + tl.arange(0, BLOCK)
    sums = tl.zeros((BLOCK, BLOCK), dtype=tl.float32)
    for k in range(0, K, BLOCK):
        l = k + tl.arange(0, BLOCK)
        a = tl.load(A + i[:, None] * K + l[None, :])
        b = tl.load(B + l[:, None] * N + j[None, :])
        sums += tl.dot(a, b)
    tl.store(C + i[:, None] * N + j[None, :], sums)
