"""Kernels whose results are defined bit for bit: what each engine prints of
them must be the same.

    tkdbg run [--engine ptx] tests/nvptx/codegen.py

A line is the name of a case and a checksum of all that its kernel wrote.
Products are of small integers, so that their order does not matter.
"""
import zlib

import numpy as np
import triton
import triton.language as tl


def show(name, *arrays):
    sums = ' '.join(f'{zlib.crc32(a.tobytes()):08x}' for a in arrays)
    print(name, sums, flush=True)


def some(dtype, *shape):
    """Numbers that differ, of any type, small enough for exact sums."""
    n = np.arange(np.prod(shape), dtype=np.int64)
    return ((n * 37 + 11) % 101 - 50).reshape(shape).astype(dtype)


# ---- layouts and conversions ------------------------------------------------

@triton.jit
def transpose(x, y, M: tl.constexpr, N: tl.constexpr):
    i = tl.arange(0, M)
    j = tl.arange(0, N)
    a = tl.load(x + i[:, None] * N + j[None, :])
    tl.store(y + j[:, None] * M + i[None, :], tl.trans(a))


@triton.jit
def turn(x, y, A: tl.constexpr, B: tl.constexpr, C: tl.constexpr):
    i = tl.arange(0, A)[:, None, None]
    j = tl.arange(0, B)[None, :, None]
    k = tl.arange(0, C)[None, None, :]
    a = tl.load(x + (i * B + j) * C + k)
    i = tl.arange(0, A)[None, :, None]
    j = tl.arange(0, B)[None, None, :]
    k = tl.arange(0, C)[:, None, None]
    tl.store(y + (k * A + i) * B + j, tl.permute(a, 2, 0, 1))


@triton.jit
def sums_of_rows(x, y, z, M: tl.constexpr, N: tl.constexpr):
    i = tl.arange(0, M)
    j = tl.arange(0, N)
    a = tl.load(x + i[:, None] * N + j[None, :])
    rows = tl.sum(a, 1)
    tl.store(y + i, rows)
    tl.store(z + i[:, None] * N + j[None, :],
             a - rows[:, None] + tl.max(a, 0)[None, :])


@triton.jit
def halves(x, y, N: tl.constexpr):
    i = tl.arange(0, N)
    a, b = tl.split(tl.reshape(tl.load(x + i), (N // 2, 2)))
    c = tl.reshape(tl.join(b, a), (N, ))
    tl.store(y + i, tl.flip(c, 0) + tl.cumsum(c, 0))


def conversions():
    for dtype in (np.int8, np.int16, np.float32, np.int64):
        for m, n in ((1, 128), (16, 16), (8, 256), (64, 128)):
            for warps in (1, 4):
                x = some(dtype, m, n)
                y = np.zeros((n, m), dtype)
                transpose[(1, )](x, y, m, n, num_warps=warps)
                show(f'transpose {dtype.__name__} {m}x{n} {warps}', y)
    for shape in ((2, 4, 8), (16, 4, 32), (32, 32, 32)):
        x = some(np.int64, *shape)
        y = np.zeros_like(x)
        turn[(1, )](x, y, *shape)
        show('turn %dx%dx%d' % shape, y)
    for m, n, warps in ((2, 4, 1), (32, 16, 2), (16, 256, 4), (128, 8, 8)):
        x = some(np.float32, m, n)
        y, z = np.zeros(m, np.float32), np.zeros_like(x)
        sums_of_rows[(1, )](x, y, z, m, n, num_warps=warps)
        show(f'sums of rows {m}x{n} {warps}', y, z)
    for n in (8, 64, 1024):
        x, y = some(np.int32, n), np.zeros(n, np.int32)
        halves[(1, )](x, y, n)
        show(f'halves {n}', y)


# ---- products ---------------------------------------------------------------

@triton.jit
def product(x, y, z, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr,
            TURNED: tl.constexpr, HOW: tl.constexpr):
    i = tl.arange(0, M)
    j = tl.arange(0, N)
    k = tl.arange(0, K)
    a = tl.load(x + i[:, None] * K + k[None, :])
    if TURNED:
        b = tl.trans(tl.load(y + j[:, None] * K + k[None, :]))
    else:
        b = tl.load(y + k[:, None] * N + j[None, :])
    c = tl.dot(a, b, input_precision=HOW)
    tl.store(z + i[:, None] * N + j[None, :], c)


def products():
    shapes = (16, 16, 16), (32, 64, 32), (64, 16, 128)
    cases = [(np.float16, 'tf32'), (np.int8, 'tf32'), (np.float64, 'ieee')]
    cases += [(np.float32, how)
              for how in ('ieee', 'tf32', 'tf32x3', 'bf16x3', 'bf16x6')]
    for dtype, how in cases:
        for m, n, k in shapes if dtype is not np.int8 else shapes[1:]:
            for turned in (False, True):
                x, y = some(dtype, m, k), some(dtype, k, n)
                out = {np.int8: np.int32, np.float64: np.float64}
                z = np.zeros((m, n), out.get(dtype, np.float32))
                product[(1, )](x, y, z, m, n, k, turned, how)
                show(f'product {dtype.__name__} {how} {m}x{n}x{k} {turned}', z)


@triton.jit
def long_product(x, y, z, lots, M: tl.constexpr, N: tl.constexpr,
                 K: tl.constexpr, TURNED: tl.constexpr, OTHER: tl.constexpr,
                 STAGES: tl.constexpr):
    """Loads of a loop over k run ahead, up to an end within a block."""
    i = tl.arange(0, M)
    j = tl.arange(0, N)
    k = tl.arange(0, K)
    a = x + i[:, None] * lots + k[None, :]
    if TURNED:
        b = y + j[:, None] * lots + k[None, :]
    else:
        b = y + k[:, None] * N + j[None, :]
    c = tl.zeros((M, N), z.dtype.element_ty)
    for at in tl.range(0, lots - 8, K, num_stages=STAGES):
        left = k < lots - 8 - at
        p = tl.load(a, left[None, :], OTHER)
        if TURNED:
            q = tl.trans(tl.load(b, left[None, :], OTHER))
            b += K
        else:
            q = tl.load(b, left[:, None], OTHER)
            b += K * N
        c = tl.dot(p, q, c, out_dtype=z.dtype.element_ty)
        a += K
    tl.store(z + i[:, None] * N + j[None, :], c)


@triton.jit
def down(x, y, z, trips, N: tl.constexpr):
    """Addresses by the variable of a loop that runs down; a block that is
    loaded is used as it is and converted, and what another trip stores."""
    i = tl.arange(0, N)
    at = i[:, None] * N + i[None, :]
    c = tl.zeros((N, N), tl.float32)
    rows = tl.zeros((N, ), tl.float32)
    for t in range(trips - 1, -1, -1):
        p = tl.load(x + t * N * N + at)
        q = tl.load(y + t * N * N + at)
        c = tl.dot(p, q.to(tl.float16), c)
        rows += tl.sum(p.to(tl.float32), 1)
    tl.store(z + at, c + rows[:, None])
    c = tl.zeros((N, N), tl.float32)
    for t in range(trips):
        tl.debug_barrier()
        p = tl.load(x + at)
        c = tl.dot(p, p, c)
        tl.store(x + at, (c * 0.25).to(tl.float16))
    tl.store(z + N * N + at, c)


@triton.jit
def grids(x, y, z, outer, inner, N: tl.constexpr):
    """A loop that copies ahead in one that does."""
    i = tl.arange(0, N)
    at = i[:, None] * N + i[None, :]
    c = tl.zeros((N, N), tl.float32)
    for t in range(outer):
        p = tl.load(x + t * N * N + at)
        d = tl.zeros((N, N), tl.float32)
        for u in range(inner):
            d = tl.dot(p, tl.load(y + u * N * N + at), d)
        c += tl.dot(tl.trans(d.to(tl.float16)), p)
    tl.store(z + at, c)


def long_products():
    for dtype, out, k in ((np.float16, np.float32, 32), (np.int8, np.int32, 64),
                          (np.float32, np.float32, 16)):
        for m, n, warps, lots, stages, other in ((32, 64, 4, 104, 3, 0),
                                                 (16, 128, 2, 264, 2, 0),
                                                 (64, 32, 8, 264, 4, 0),
                                                 (64, 64, 4, 136, 3, 0),
                                                 (32, 32, 4, 24, 5, 0),
                                                 (32, 32, 4, 104, 3, 2)):
            for turned in (False, True):
                x, y = some(dtype, m, lots), some(dtype, lots, n)
                z = np.zeros((m, n), out)
                long_product[(1, )](x, y, z, lots, m, n, k, turned, other,
                                    stages, num_warps=warps)
                show(f'long product {dtype.__name__} {m}x{n} {turned} {lots} '
                     f'{stages} {other}', z)
    for trips in (0, 1, 2, 5):
        x, y = (some(t, trips + 1, 32, 32) % 4 for t in (np.float16, np.int8))
        z = np.zeros((2, 32, 32), np.float32)
        down[(1, )](x, y.astype(np.int8), z, trips, 32, num_stages=3)
        show(f'down {trips}', z, x)
        w = some(np.float16, 3, 32, 32) % 3
        z = np.zeros((32, 32), np.float32)
        grids[(1, )](y.astype(np.float16), w, z, trips, 3, 32, num_stages=3)
        show(f'grids {trips}', z)


@triton.jit
def scaled_product(x, xs, y, ys, z, M: tl.constexpr, N: tl.constexpr,
                   K: tl.constexpr, LEFT: tl.constexpr, RIGHT: tl.constexpr,
                   DOWN: tl.constexpr):
    """e2m1 holds two of K in a byte; DOWN: two of M and of N instead."""
    i = tl.arange(0, M)
    j = tl.arange(0, N)
    k = tl.arange(0, K)
    groups = tl.arange(0, K // 32)
    if LEFT == 'e2m1' and DOWN:
        rows = tl.arange(0, M // 2)
        a = tl.load(x + rows[:, None] * K + k[None, :])
    elif LEFT == 'e2m1':
        half = tl.arange(0, K // 2)
        a = tl.load(x + i[:, None] * (K // 2) + half[None, :])
    else:
        a = tl.load(x + i[:, None] * K + k[None, :]).to(tl.float8e4nv,
                                                        bitcast=True)
    if RIGHT == 'e2m1' and DOWN:
        cols = tl.arange(0, N // 2)
        b = tl.load(y + k[:, None] * (N // 2) + cols[None, :])
    elif RIGHT == 'e2m1':
        half = tl.arange(0, K // 2)
        b = tl.load(y + half[:, None] * N + j[None, :])
    else:
        b = tl.load(y + k[:, None] * N + j[None, :]).to(tl.float8e4nv,
                                                        bitcast=True)
    sa = tl.load(xs + i[:, None] * (K // 32) + groups[None, :])
    sb = tl.load(ys + j[:, None] * (K // 32) + groups[None, :])
    c = tl.dot_scaled(a, sa, LEFT, b, sb, RIGHT,
                      lhs_k_pack=not DOWN or LEFT != 'e2m1',
                      rhs_k_pack=not DOWN or RIGHT != 'e2m1')
    tl.store(z + i[:, None] * N + j[None, :], c)


def scaled_products():
    m, n, k = 32, 16, 64
    for left in ('e2m1', 'e4m3'):
        for right in ('e2m1', 'e4m3'):
            for down in (False, True):
                x, y = (np.arange(m * k, dtype=np.uint8) * 7 % 97
                        for _ in range(2))
                xs = (np.arange(m * k // 32, dtype=np.uint8) * 5 % 9 + 123)
                ys = (np.arange(n * k // 32, dtype=np.uint8) * 3 % 7 + 124)
                z = np.zeros((m, n), np.float32)
                scaled_product[(1, )](x, xs, y, ys, z, m, n, k, left, right,
                                      down)
                show(f'scaled {left} {right} {down}', z)


# ---- atomic operations ------------------------------------------------------

@triton.jit
def extremes(x, y, N: tl.constexpr):
    i = tl.arange(0, N)
    a = tl.load(x + i)
    tl.atomic_max(y + i % 4, a, mask=a != 3)
    tl.atomic_min(y + 4 + i % 4, a)
    tl.atomic_add(y + 8 + i % 4, a)
    tl.store(y + 12, tl.atomic_max(y + 13, tl.sum(a)))
    tl.store(y + 16 + i, a + tl.atomic_add(y + 14, tl.max(a)))


def atomics():
    for dtype in (np.int32, np.int64, np.uint32, np.float32, np.float64):
        x, y = some(dtype, 256), some(dtype, 272)
        extremes[(1, )](x, y, 256)
        show(f'extremes {dtype.__name__}', y)


# ---- masks, loops, integers, order ------------------------------------------

@triton.jit
def masked(x, y, n, N: tl.constexpr):
    i = tl.arange(0, N)
    a = tl.load(x + i, mask=i < n, other=7)
    tl.store(y + i, a * 2, mask=(i % 3 == 0) & (i < n))
    tl.store(y + N + i, a)


@triton.jit
def integers(x, y, n, N: tl.constexpr):
    i = tl.arange(4, 4 + N)
    a = tl.load(x + i - 4)
    total = a * 0
    for k in range(0, n):
        total += a >> k
    tl.store(y + i - 4, total + (a // 7) + (a.to(tl.int8).to(tl.int32) % 5))


@triton.jit
def latest(a, m, b, n):
    return tl.where(n > 0, b, a), m + n


@triton.jit
def ordered(x, y, N: tl.constexpr):
    i = tl.arange(0, N)
    a = tl.load(x + i)
    tl.store(y + i, tl.sort(a))
    tl.store(y + N + i, tl.histogram(a & 15, N))
    last, count = tl.associative_scan((a, (a > 0).to(tl.int32)), 0, latest)
    tl.store(y + 2 * N + i, last + count)
    tl.store(y + 3 * N + i, tl.argmax(a, 0) + tl.max(a, 0) + i)


def others():
    for dtype in (np.int8, np.float16, np.int32):
        x, y = some(dtype, 200), np.zeros(512, dtype)
        masked[(1, )](x, y, 200, 256)
        show(f'masked {dtype.__name__}', y)
    for n in (32, 256):
        x, y = some(np.int32, n), np.zeros(n, np.int32)
        integers[(1, )](x, y, 5, n)
        show(f'integers {n}', y)
    for n in (16, 64, 256):
        x, y = some(np.int32, n), np.zeros(4 * n, np.int32)
        ordered[(1, )](x, y, n)
        show(f'ordered {n}', y)


if __name__ == '__main__':
    others()
    conversions()
    products()
    long_products()
    scaled_products()
    atomics()
