"""The sizes that people debug: cases for `make bench` beside PyTorch alone.

Triton's own interpreter takes minutes for most of these.  See kernels.py,
which runs them; a case is (class, largest error that is accepted).
"""
import os
import sys

import numpy as np

from kernels import (ENGINE, LIBRARY, Attention, Case, Matmul, VectorAdd,
                     add_kernel, array, constexpr, numpy, tl, torch, triton)

if not LIBRARY:
    ROOT = os.path.dirname(os.path.dirname(os.path.dirname(
        os.path.abspath(__file__))))
    sys.path.insert(0, os.path.join(ROOT, 'examples'))
    import int4_matmul


@triton.jit
def product_kernel(a_ptr, b_ptr, c_ptr, N, BLOCK_M: constexpr,
                   BLOCK_N: constexpr, BLOCK_K: constexpr):
    offs_m = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    offs_n = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    offs_k = tl.arange(0, BLOCK_K)
    a_ptrs = a_ptr + offs_m[:, None] * N + offs_k[None, :]
    b_ptrs = b_ptr + offs_k[:, None] * N + offs_n[None, :]
    accumulator = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for k in range(0, N, BLOCK_K):
        accumulator = tl.dot(tl.load(a_ptrs), tl.load(b_ptrs), accumulator,
                             input_precision='ieee')
        a_ptrs += BLOCK_K
        b_ptrs += BLOCK_K * N
    tl.store(c_ptr + offs_m[:, None] * N + offs_n[None, :], accumulator)


@triton.jit
def add(a, b):
    return a + b


@triton.jit
def scan_kernel(x_ptr, y_ptr, BLOCK: constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(y_ptr + at, tl.associative_scan(tl.load(x_ptr + at), 0, add))


@triton.jit
def gather_kernel(x_ptr, at_ptr, y_ptr, BLOCK: constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y_ptr + offsets, tl.load(x_ptr + tl.load(at_ptr + offsets)))


@triton.jit
def histogram_kernel(x_ptr, out_ptr, BLOCK: constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.atomic_add(out_ptr + tl.load(x_ptr + offsets), 1)


@triton.jit
def tiny_kernel(x_ptr, BLOCK: constexpr):
    tl.store(x_ptr + tl.arange(0, BLOCK), 1.0)


class LargeAttention(Attention):
    heads, n = 8, 2048


class Product(Matmul):
    """Beside OpenBLAS, NumPy's, with the same product."""
    n = 2048

    def setup(self):
        self.a, self.b = self.normal(self.n, self.n), self.normal(
            self.n, self.n)
        self.out = self.empty(self.n, self.n)

    def launch(self):
        product_kernel[(self.n // 128, self.n // 128)](
            self.a, self.b, self.out, self.n, BLOCK_M=128, BLOCK_N=128,
            BLOCK_K=32)

    def torch(self):
        return array(self.numpy())

    def numpy(self):
        return numpy(self.a) @ numpy(self.b)


class Int4Matmul(Case):
    m, n, k, group = 64, 1024, 1024, 64

    def setup(self):
        of_row = np.arange(self.k) // self.group
        self.a = self.normal(self.m, self.k, dtype=np.float16)
        weight = self.rng.integers(0, 16, (self.k, self.n))
        zero = self.rng.integers(0, 16, (self.k // self.group, self.n))
        scale = self.rng.uniform(.01, .1, zero.shape).astype(np.float16)
        real = (weight - zero[of_row]) * scale.astype(float)[of_row]
        self.reference = [numpy(self.a).astype(float) @ real]
        self.out = self.empty(self.m, self.n, dtype=np.float16)
        if LIBRARY:
            self.wide = array(numpy(self.a).astype(np.float32))
            self.weights = array(real.astype(np.float32))
        else:
            packed = int4_matmul.pack(weight), int4_matmul.pack(zero)
            self.q, self.zero = map(array, packed)
            self.scale = array(scale)

    def launch(self):
        int4_matmul.int4_matmul_kernel[(self.m // 64, self.n // 64)](
            self.a, self.q, self.scale, self.zero, self.out, self.m, self.n,
            self.k, GROUP=self.group, BLOCK_M=64, BLOCK_N=64, BLOCK_K=64)

    def torch(self):
        return self.wide @ self.weights

    numpy = torch

    def expected(self):
        return self.reference[0]


class Scan(Case):
    def setup(self):
        self.x = array(self.rng.integers(-9, 9, 1 << 20).astype(np.float32))
        self.out = self.empty(1 << 20)

    def launch(self):
        scan_kernel[(1, )](self.x, self.out, BLOCK=1 << 20)

    def torch(self):
        return torch.cumsum(self.x, 0)

    def numpy(self):
        return np.cumsum(self.x)

    def expected(self):
        return np.cumsum(numpy(self.x).astype(float))


class Gather(Case):
    n = 1 << 24

    def setup(self):
        self.x = self.normal(self.n)
        self.at = array(self.rng.integers(0, self.n, self.n).astype(np.int32))
        self.out = self.empty(self.n)

    def launch(self):
        gather_kernel[(self.n // 4096, )](self.x, self.at, self.out,
                                          BLOCK=4096)

    def torch(self):
        return torch.index_select(self.x, 0, self.at)

    def numpy(self):
        return self.x[self.at]

    def expected(self):
        return numpy(self.x).astype(float)[numpy(self.at)]


class Histogram(Case):
    n = 1 << 20

    def setup(self):
        self.x = array(self.rng.integers(0, 256, self.n).astype(np.int32))
        self.out = self.empty(256, dtype=np.int32)

    def launch(self):
        self.out[:] = 0
        histogram_kernel[(self.n // 1024, )](self.x, self.out, BLOCK=1024)

    def torch(self):
        return torch.bincount(self.x, minlength=256)

    def numpy(self):
        return np.bincount(self.x, minlength=256)

    def expected(self):
        return np.bincount(numpy(self.x), minlength=256).astype(float)


class SmallPrograms(VectorAdd):
    """2^20 programs of 32 lanes."""
    n, block = 1 << 25, 32

    def setup(self):
        self.x, self.y = self.normal(self.n), self.normal(self.n)
        self.out = self.empty(self.n)

    def launch(self):
        add_kernel[(self.n // self.block, )](self.x, self.y, self.out, self.n,
                                             BLOCK=self.block)


class Launches(Case):
    """10^4 launches of a tiny kernel."""
    def setup(self):
        self.out = self.empty(32)

    def launch(self):
        launch = tiny_kernel[(1, )]
        for _ in range(10000):
            launch(self.out, BLOCK=32)

    def torch(self):
        for _ in range(10000):
            self.out.fill_(1)
        return self.out

    def numpy(self):
        return np.ones(32)

    def expected(self):
        return np.ones(32)


LARGE = {
    'attention H8 N2048 D64': (LargeAttention, 5e-3),
    'matmul 2048^3 f32': (Product, 5e-3),
    'int4 matmul 64x1024^2': (Int4Matmul, 0.2),
    'associative_scan 2^20': (Scan, 1e-6),
    'gather 2^24': (Gather, 1e-6),
    'histogram 2^20': (Histogram, 1e-6),
    '2^20 programs of 32': (SmallPrograms, 1e-6),
    '10^4 launches': (Launches, 1e-6),
}

# What a launch costs as its grid grows, and as its block does.
for _k in range(10, 21, 2):
    LARGE[f'grid 2^{_k}'] = (type('Grid', (SmallPrograms, ),
                                  {'n': 32 << _k}), 1e-6)
    LARGE[f'block 2^{_k}'] = (type('Block', (SmallPrograms, ),
                                   {'n': 1 << _k, 'block': 1 << _k}), 1e-6)
