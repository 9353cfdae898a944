"""Matrix product with tensor descriptors made in the kernel.

A descriptor knows shape and strides, so that no mask is needed: reads past
the end give zero, writes there are dropped.  Its base and its strides must be
multiples of 16 bytes, the last stride 1.  C = A @ B.T.

Checked against float64: |error| <= 1e-2 + 2e-3 |reference| (fp16).
"""
import numpy as np
import triton
import triton.language as tl


@triton.jit
def descriptor_matmul_kernel(a_ptr, b_ptr, c_ptr, M, N, K,
                             BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
                             BLOCK_K: tl.constexpr):
    a_desc = tl.make_tensor_descriptor(a_ptr, shape=[M, K], strides=[K, 1],
                                       block_shape=[BLOCK_M, BLOCK_K])
    b_desc = tl.make_tensor_descriptor(b_ptr, shape=[N, K], strides=[K, 1],
                                       block_shape=[BLOCK_N, BLOCK_K])
    c_desc = tl.make_tensor_descriptor(c_ptr, shape=[M, N], strides=[N, 1],
                                       block_shape=[BLOCK_M, BLOCK_N])
    row = tl.program_id(0) * BLOCK_M
    col = tl.program_id(1) * BLOCK_N
    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for k in range(0, K, BLOCK_K):
        a = a_desc.load([row, k])
        b = b_desc.load([col, k])
        acc = tl.dot(a, b.T, acc)
    c_desc.store([row, col], acc.to(tl.float16))


def descriptor_matmul(a, b):
    (M, K), N = a.shape, b.shape[0]
    c = np.empty((M, N), dtype=np.float16)
    # Descriptors take a little memory of the device for each program.
    triton.set_allocator(lambda size, align, stream: np.empty(size, np.int8))
    grid = lambda meta: (triton.cdiv(M, meta['BLOCK_M']),
                         triton.cdiv(N, meta['BLOCK_N']))
    descriptor_matmul_kernel[grid](a, b, c, M, N, K, BLOCK_M=32, BLOCK_N=32,
                                   BLOCK_K=32)
    return c


def main():
    rng = np.random.default_rng(0)
    shapes = (1, 8, 8), (64, 32, 96), (45, 72, 40)
    for M, N, K in shapes:
        a = rng.standard_normal((M, K)).astype(np.float16)
        b = rng.standard_normal((N, K)).astype(np.float16)
        np.testing.assert_allclose(descriptor_matmul(a, b),
                                   a.astype(np.float64) @ b.T, rtol=2e-3,
                                   atol=1e-2)
    print('descriptor_matmul: OK,', len(shapes), 'shapes')


if __name__ == '__main__':
    main()
