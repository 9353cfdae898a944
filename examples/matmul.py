"""Matrix product in blocks, in an order that reuses them.

C = A @ B: half precision in, single precision in the accumulator, and a leaky
ReLU on the way out where it is asked for.

Checked against float64: |error| <= 1e-2 + 2e-3 |reference| (fp16).
"""
import numpy as np
import triton
import triton.language as tl


@triton.jit
def leaky_relu(x):
    return tl.where(x >= 0, x, 0.01 * x)


@triton.jit
def matmul_kernel(a_ptr, b_ptr, c_ptr, M, N, K, stride_am, stride_ak,
                  stride_bk, stride_bn, stride_cm, stride_cn,
                  BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
                  BLOCK_K: tl.constexpr, GROUP_M: tl.constexpr,
                  ACTIVATION: tl.constexpr):
    # Programs of a group share GROUP_M rows of blocks of A.
    pid = tl.program_id(axis=0)
    num_pid_m = tl.cdiv(M, BLOCK_M)
    num_pid_n = tl.cdiv(N, BLOCK_N)
    num_pid_in_group = GROUP_M * num_pid_n
    group_id = pid // num_pid_in_group
    first_pid_m = group_id * GROUP_M
    group_size_m = min(num_pid_m - first_pid_m, GROUP_M)
    pid_m = first_pid_m + (pid % num_pid_in_group) % group_size_m
    pid_n = (pid % num_pid_in_group) // group_size_m

    # Rows and columns past the end wrap around: what they compute is not
    # stored.
    offs_am = (pid_m * BLOCK_M + tl.arange(0, BLOCK_M)) % M
    offs_bn = (pid_n * BLOCK_N + tl.arange(0, BLOCK_N)) % N
    offs_k = tl.arange(0, BLOCK_K)
    a_ptrs = a_ptr + (offs_am[:, None] * stride_am +
                      offs_k[None, :] * stride_ak)
    b_ptrs = b_ptr + (offs_k[:, None] * stride_bk +
                      offs_bn[None, :] * stride_bn)
    accumulator = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for k in range(0, tl.cdiv(K, BLOCK_K)):
        left = K - k * BLOCK_K
        a = tl.load(a_ptrs, mask=offs_k[None, :] < left, other=0.0)
        b = tl.load(b_ptrs, mask=offs_k[:, None] < left, other=0.0)
        accumulator = tl.dot(a, b, accumulator)
        a_ptrs += BLOCK_K * stride_ak
        b_ptrs += BLOCK_K * stride_bk
    if ACTIVATION == 'leaky_relu':
        accumulator = leaky_relu(accumulator)
    c = accumulator.to(tl.float16)

    offs_cm = pid_m * BLOCK_M + tl.arange(0, BLOCK_M)
    offs_cn = pid_n * BLOCK_N + tl.arange(0, BLOCK_N)
    c_ptrs = (c_ptr + stride_cm * offs_cm[:, None] +
              stride_cn * offs_cn[None, :])
    c_mask = (offs_cm[:, None] < M) & (offs_cn[None, :] < N)
    tl.store(c_ptrs, c, mask=c_mask)


def strides(x):
    return [s // x.itemsize for s in x.strides]


def matmul(a, b, activation=''):
    M, K = a.shape
    K, N = b.shape
    c = np.empty((M, N), dtype=np.float16)
    grid = lambda meta: (triton.cdiv(M, meta['BLOCK_M']) *
                         triton.cdiv(N, meta['BLOCK_N']), )
    matmul_kernel[grid](a, b, c, M, N, K, *strides(a), *strides(b),
                        *strides(c), BLOCK_M=64, BLOCK_N=64, BLOCK_K=32,
                        GROUP_M=8, ACTIVATION=activation)
    return c


def main():
    rng = np.random.default_rng(0)
    cases = [(*shape, activation)
             for shape in ((1, 1, 1), (64, 128, 64), (150, 125, 100))
             for activation in ('', 'leaky_relu')]
    for M, N, K, activation in cases:
        a = rng.standard_normal((M, K)).astype(np.float16)
        b = rng.standard_normal((K, N)).astype(np.float16)
        want = a.astype(np.float64) @ b
        if activation:
            want = np.where(want >= 0, want, 0.01 * want)
        np.testing.assert_allclose(matmul(a, b, activation), want, rtol=2e-3,
                                   atol=1e-2)
    print('matmul: OK,', len(cases), 'cases')


if __name__ == '__main__':
    main()
