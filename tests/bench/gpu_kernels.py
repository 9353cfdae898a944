"""What `make bench-gpu` times: kernels with the arguments they are launched
with.  Nothing here needs a GPU.

A case is a row of CASES: the kernel, its arguments by name (a pair of type and
shape is a tensor), its compile-time arguments, the grid, launch options.
"""
import os
import sys
from collections import namedtuple

import triton
import triton.language as tl

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
sys.argv[1:1] = ['triton']  # else kernels.py has kernels as text alone
import kernels as seven  # noqa: E402
del sys.argv[1]

constexpr = tl.constexpr


@triton.jit
def grouped_matmul_kernel(a_ptr, b_ptr, c_ptr, M, N, K, BLOCK_M: constexpr,
                          BLOCK_N: constexpr, BLOCK_K: constexpr,
                          GROUP: constexpr):
    """Programs run down GROUP rows of blocks at a time: these stay in L2."""
    pid = tl.program_id(0)
    across = tl.cdiv(N, BLOCK_N)
    first = pid // (GROUP * across) * GROUP
    high = min(tl.cdiv(M, BLOCK_M) - first, GROUP)
    row = first + pid % (GROUP * across) % high
    column = pid % (GROUP * across) // high
    offs_m = (row * BLOCK_M + tl.arange(0, BLOCK_M)) % M
    offs_n = (column * BLOCK_N + tl.arange(0, BLOCK_N)) % N
    offs_k = tl.arange(0, BLOCK_K)
    a_ptrs = a_ptr + offs_m[:, None] * K + offs_k[None, :]
    b_ptrs = b_ptr + offs_k[:, None] * N + offs_n[None, :]
    accumulator = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for k in range(0, tl.cdiv(K, BLOCK_K)):
        left = K - k * BLOCK_K
        a = tl.load(a_ptrs, mask=offs_k[None, :] < left, other=0.0)
        b = tl.load(b_ptrs, mask=offs_k[:, None] < left, other=0.0)
        accumulator = tl.dot(a, b, accumulator)
        a_ptrs += BLOCK_K
        b_ptrs += BLOCK_K * N
    offs_m = row * BLOCK_M + tl.arange(0, BLOCK_M)
    offs_n = column * BLOCK_N + tl.arange(0, BLOCK_N)
    c_ptrs = c_ptr + offs_m[:, None] * N + offs_n[None, :]
    mask = (offs_m[:, None] < M) & (offs_n[None, :] < N)
    tl.store(c_ptrs, accumulator.to(tl.float16), mask=mask)


Case = namedtuple('Case', 'name kernel args constants grid options work')
F32, F16 = 'f32', 'f16'


def vector_add(n):
    x = (F32, (n, ))
    return Case(f'vector add {n}', seven.add_kernel,
                dict(x_ptr=x, y_ptr=x, output_ptr=x, n=n), dict(BLOCK=1024),
                (triton.cdiv(n, 1024), ), {}, ('GB/s', 12 * n))


def matmul(n, m, j, k):
    a = (F16, (n, n))
    return Case(f'matmul {n}^3 f16 by {m}x{j}x{k}', seven.matmul_kernel,
                dict(a_ptr=a, b_ptr=a, c_ptr=(F32, (n, n)), M=n, N=n, K=n),
                dict(BLOCK_M=m, BLOCK_N=j, BLOCK_K=k),
                (triton.cdiv(n, m), triton.cdiv(n, j)), {},
                ('TFLOP/s', 2 * n**3))


def grouped_matmul(n, m, j, k, warps, stages):
    a = (F16, (n, n))
    return Case(f'matmul {n}^3 f16 by {m}x{j}x{k}, {warps} warps, '
                f'{stages} stages', grouped_matmul_kernel,
                dict(a_ptr=a, b_ptr=a, c_ptr=a, M=n, N=n, K=n),
                dict(BLOCK_M=m, BLOCK_N=j, BLOCK_K=k, GROUP=8),
                (triton.cdiv(n, m) * triton.cdiv(n, j), ),
                dict(num_warps=warps, num_stages=stages),
                ('TFLOP/s', 2 * n**3))


def softmax(rows, columns, block):
    x = (F32, (rows, columns))
    return Case(f'softmax {rows}x{columns}', seven.softmax_kernel,
                dict(x_ptr=x, y_ptr=x, n_cols=columns), dict(BLOCK=block),
                (rows, ), {}, ('GB/s', 8 * rows * columns))


def layer_norm(rows, columns):
    x, w = (F32, (rows, columns)), (F32, (columns, ))
    return Case(f'layer norm {rows}x{columns}', seven.layer_norm_kernel,
                dict(x_ptr=x, y_ptr=x, w_ptr=w, b_ptr=w, n_cols=columns,
                     eps=1e-5), dict(BLOCK=1024), (rows, ), {},
                ('GB/s', 8 * rows * columns))


def attention(heads, n, d):
    x = (F32, (heads, n, d))
    return Case(f'causal attention {heads}x{n}x{d}', seven.attention_kernel,
                dict(q_ptr=x, k_ptr=x, v_ptr=x, o_ptr=x, n_ctx=n,
                     scale=d**-0.5), dict(BLOCK=64, D=d), (n // 64, heads), {},
                ('TFLOP/s', 2 * heads * n * n * d))


def abs_max(n):
    return Case(f'abs-max {n}', seven.abs_max_kernel,
                dict(x_ptr=(F32, (n, )), out_ptr=(F32, (1, )), n=n),
                dict(BLOCK=1024), (n // 1024, ), {}, ('GB/s', 4 * n))


CASES = [
    vector_add(98432),
    softmax(1823, 781, 1024),
    matmul(512, 64, 64, 32),
    matmul(128, 16, 16, 16),
    layer_norm(256, 3000),
    attention(4, 512, 64),
    abs_max(1 << 20),
    vector_add(1 << 28),
    softmax(32768, 4096, 4096),
    layer_norm(32768, 4096),
    attention(64, 4096, 64),
    grouped_matmul(4096, 128, 128, 64, 8, 3),
    grouped_matmul(4096, 128, 128, 64, 4, 3),
    grouped_matmul(4096, 128, 256, 64, 8, 3),
    grouped_matmul(4096, 128, 128, 32, 4, 4),
    grouped_matmul(4096, 256, 128, 64, 8, 3),
]
