"""Products that warpgroups compute on sm_90a, or just not: what each engine
prints of them must be the same.

    tkdbg run [--engine ptx --arch sm_90a] tests/nvptx/warpgroups.py

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


def some(*shape):
    n = np.arange(np.prod(shape), dtype=np.int64)
    return ((n * 37 + 11) % 13 - 6).reshape(shape).astype(np.float16)


@triton.jit
def at_once(x, y, z, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr,
            LEFT: tl.constexpr, RIGHT: tl.constexpr):
    """LEFT, RIGHT: which of the matrices lie turned in memory."""
    i = tl.arange(0, M)
    j = tl.arange(0, N)
    k = tl.arange(0, K)
    if LEFT:
        a = tl.trans(tl.load(x + k[:, None] * M + i[None, :]))
    else:
        a = tl.load(x + i[:, None] * K + k[None, :])
    if RIGHT:
        b = tl.trans(tl.load(y + j[:, None] * K + k[None, :]))
    else:
        b = tl.load(y + k[:, None] * N + j[None, :])
    tl.store(z + i[:, None] * N + j[None, :], tl.dot(a, b))


@triton.jit
def in_steps(x, y, z, lots, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr,
             LEFT: tl.constexpr, RIGHT: tl.constexpr, STAGES: tl.constexpr):
    """Loads run ahead; pointers show how a matrix lies, and the last step is
    not whole."""
    i = tl.arange(0, M)
    j = tl.arange(0, N)
    k = tl.arange(0, K)
    if LEFT:
        a = x + i[:, None] + k[None, :] * M
    else:
        a = x + i[:, None] * lots + k[None, :]
    if RIGHT:
        b = y + k[:, None] + j[None, :] * lots
    else:
        b = y + k[:, None] * N + j[None, :]
    c = tl.zeros((M, N), tl.float32)
    for at in tl.range(0, lots - 8, K, num_stages=STAGES):
        left = k < lots - 8 - at
        p = tl.load(a, left[None, :], 0)
        q = tl.load(b, left[:, None], 0)
        c = tl.dot(p, q, c)
        a += K * M if LEFT else K
        b += K if RIGHT else K * N
    tl.store(z + i[:, None] * N + j[None, :], c.to(tl.float16))


@triton.jit
def many(x, y, z, trips, N: tl.constexpr):
    """One that is copied ahead beside one that is not; a matrix on both sides;
    a product of what is computed; a sum in f16; a loop in a loop."""
    i = tl.arange(0, N)
    at = i[:, None] * N + i[None, :]
    c = tl.zeros((N, N), tl.float32)
    once = tl.load(y + at)
    for t in range(trips):
        p = tl.load(x + t * N * N + at)
        c = tl.dot(p, once, c)
        c += tl.dot(p, tl.trans(p))
        h = tl.dot(once, p, out_dtype=tl.float16)
        c += tl.dot((h * 0.0 + 1.0).to(tl.float16), p)
        for u in range(trips):
            c += tl.dot(tl.load(x + u * N * N + at), p)
    tl.store(z + at, c)


@triton.jit
def rows(x, y, v, z, n, D: tl.constexpr, B: tl.constexpr):
    """Products whose rows are reduced between them, as attention has them."""
    i = tl.arange(0, B)
    d = tl.arange(0, D)
    q = tl.load(x + i[:, None] * D + d[None, :])
    most = tl.zeros((B, ), tl.float32)
    acc = tl.zeros((B, D), tl.float32)
    for at in range(0, n, B):
        k = tl.load(y + (at + i)[None, :] * D + d[:, None])
        s = tl.dot(q, k)
        now = tl.maximum(most, tl.max(s, 1))
        p = tl.where(s == now[:, None], 1.0, 0.0).to(tl.float16)
        acc = tl.dot(p, tl.load(v + (at + i)[:, None] * D + d[None, :]), acc)
        most = now
    tl.store(z + i[:, None] * D + d[None, :], acc + most[:, None])


SHAPES = ((64, 8, 16, 4), (64, 16, 32, 4), (64, 32, 64, 4), (128, 128, 64, 4),
          (64, 128, 32, 8), (64, 32, 128, 16), (128, 64, 16, 8),
          (256, 16, 64, 4), (64, 256, 32, 4), (64, 512, 16, 4),
          (32, 64, 64, 4), (64, 64, 64, 2))


def main():
    for m, n, k, warps in SHAPES:
        for left in (False, True):
            for right in (False, True):
                x, y = some(m, k), some(k, n)
                z = np.zeros((m, n), np.float32)
                at_once[(1, )](x, y, z, m, n, k, left, right, num_warps=warps)
                show(f'at once {m}x{n}x{k} {warps} {left} {right}', z)
                lots, stages = 2 * k + 24, 2 + (m + n) // 64 % 3
                x, y = some(m, lots), some(lots, n)
                z = np.zeros((m, n), np.float16)
                in_steps[(1, )](x, y, z, lots, m, n, k, left, right, stages,
                                num_warps=warps)
                show(f'in steps {m}x{n}x{k} {warps} {left} {right}', z)
    for trips in (0, 1, 3):
        x, y = some(trips + 1, 64, 64), some(64, 64)
        z = np.zeros((64, 64), np.float32)
        many[(1, )](x, y, z, trips, 64)
        show(f'many {trips}', z)
    for d in (32, 128):
        x, y, v = some(64, d), some(192, d), some(192, d)
        z = np.zeros((64, d), np.float32)
        rows[(1, )](x, y, v, z, 192, d, 64)
        show(f'rows {d}', z)


main()
