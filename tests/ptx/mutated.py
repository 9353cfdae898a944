"""Kernels whose PTX, as Triton makes it, mutants.py puts faults into.

Each stands behind a comment that says how it is launched, as in
tests/random/written.py; numbers are small and whole, so that sums are exact.
"""
KERNELS = '''
# num_warps=4; num_stages=3; a: 8192 of float16, small; \
b: 8192 of float16, small; \
y: 4096 of float32, zeros
@triton.jit
def product(a, b, y):
    m = tl.arange(0, 64)
    k = tl.arange(0, 32)
    acc = tl.zeros((64, 64), tl.float32)
    for at in range(0, 128, 32):
        left = tl.load(a + m[:, None] * 128 + (at + k)[None, :])
        right = tl.load(b + (at + k)[:, None] * 64 + m[None, :])
        acc = tl.dot(left, right, acc)
    tl.store(y + m[:, None] * 64 + m[None, :], acc)


# num_warps=4; x: 4096 of float32, small; y: 8 of float32, zeros
@triton.jit
def sums(x, y):
    i = tl.arange(0, 8)
    j = tl.arange(0, 512)
    block = tl.load(x + i[:, None] * 512 + j[None, :])
    total = tl.sum(block, axis=1)
    tl.store(y + i, total)


# num_warps=4; x: 4096 of float32, small; y: 4096 of float32, zeros
@triton.jit
def turned(x, y):
    i = tl.arange(0, 64)
    block = tl.load(x + i[:, None] * 64 + i[None, :])
    other = tl.trans(block)
    tl.store(y + i[:, None] * 64 + i[None, :], other)


# num_warps=4; n = 500; x: 512 of int32, any; y: 512 of int32, zeros
@triton.jit
def summed_up(x, n, y):
    i = tl.arange(0, 512)
    block = tl.load(x + i, mask=i < n, other=0)
    sums = tl.cumsum(block, 0)
    tl.store(y + i, sums, mask=i < n)


# num_warps=4; n = 200; x: 256 of int32, any; y: 16 of int32, zeros
@triton.jit
def counted(x, n, y):
    i = tl.arange(0, 256)
    value = tl.load(x + i, mask=i < n, other=0)
    tl.atomic_add(y + (value & 15), value, mask=i < n)


# num_warps=4; num_stages=3; a: 16384 of float16, small; \
b: 16384 of float16, small; \
y: 4096 of float32, zeros
@triton.jit
def product_by_tma(a, b, y):
    left = tl.make_tensor_descriptor(a, [64, 256], [256, 1], [64, 64])
    right = tl.make_tensor_descriptor(b, [256, 64], [64, 1], [64, 64])
    acc = tl.zeros((64, 64), tl.float32)
    for at in range(0, 256, 64):
        acc = tl.dot(left.load([0, at]), right.load([at, 0]), acc)
    m = tl.arange(0, 64)
    tl.store(y + m[:, None] * 64 + m[None, :], acc)
'''
