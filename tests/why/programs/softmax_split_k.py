"""A product split over K, whose parts are added with a bias and a mask; then a
softmax of rows by blocks, and its gradient."""
import numpy as np
import triton
import triton.language as tl


@triton.jit
def _accumulate(A, B, rows, cols, first, last, m, n, k, BM: tl.constexpr,
                BN: tl.constexpr, BK: tl.constexpr):
    acc = tl.zeros([BM, BN], dtype=tl.float32)
    for start in range(first, last, BK):
        ks = start + tl.arange(0, BK)
        a = tl.load(A + rows[:, None] * k + ks[None, :],
                    mask=(rows[:, None] < m) & (ks[None, :] < last),
                    other=0.0)
        b = tl.load(B + ks[:, None] * n + cols[None, :],
                    mask=(ks[:, None] < last) & (cols[None, :] < n),
                    other=0.0)
        acc = tl.dot(a, b, acc, input_precision='ieee')
    return acc


@triton.jit
def split_product(A, B, Part, m, n, k, per, BM: tl.constexpr,
                  BN: tl.constexpr, BK: tl.constexpr):
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    cols = tl.program_id(1) * BN + tl.arange(0, BN)
    split = tl.program_id(2)
    first = split * per
    last = tl.minimum(first + per, k)
    acc = _accumulate(A, B, rows, cols, first, last, m, n, k, BM, BN, BK)
    tl.store(Part + (split * m + rows[:, None]) * n + cols[None, :], acc,
             mask=(rows[:, None] < m) & (cols[None, :] < n))


@triton.jit
def add_up(Part, Bias, Valid, S, m, n, splits, scale, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    there = cols < n
    acc = tl.zeros([BLOCK], dtype=tl.float32)
    for split in range(splits):
        acc += tl.load(Part + (split * m + row) * n + cols, mask=there,
                       other=0.0)
    acc = acc * scale + tl.load(Bias + cols, mask=there, other=0.0)
    valid = tl.load(Valid + row)
    acc = tl.where(cols < valid, acc, -1.0e9)
    tl.store(S + row * n + cols, acc, mask=there)


@triton.jit
def _combine(m1, s1, m2, s2):
    m = tl.maximum(m1, m2)
    return m, s1 * tl.exp(m1 - m) + s2 * tl.exp(m2 - m)


@triton.jit
def _row_sums(S, row, n, BLOCK: tl.constexpr):
    m = -1.0e30
    total = 0.0
    for start in range(0, n, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        x = tl.load(S + row * n + cols, mask=cols < n, other=float('-inf'))
        most = tl.max(x, 0)
        m, total = _combine(m, total, most, tl.sum(tl.exp(x - most), 0))
    return m, total


@triton.jit
def softmax(S, P, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    m, total = _row_sums(S, row, n, BLOCK)
    for start in range(0, n, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        x = tl.load(S + row * n + cols, mask=cols < n, other=float('-inf'))
        tl.store(P + row * n + cols, tl.exp(x - m) / total, mask=cols < n)


@triton.jit
def softmax_gradient(P, DP, DS, n, scale, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    acc = tl.zeros([BLOCK], dtype=tl.float32)
    for start in range(0, n, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        p = tl.load(P + row * n + cols, mask=cols < n, other=0.0)
        dp = tl.load(DP + row * n + cols, mask=cols < n, other=0.0)
        acc += p * dp
    dot = tl.sum(acc, 0)
    for start in range(0, n, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        p = tl.load(P + row * n + cols, mask=cols < n, other=0.0)
        dp = tl.load(DP + row * n + cols, mask=cols < n, other=0.0)
        tl.store(DS + row * n + cols, p * (dp - dot) * scale, mask=cols < n)


def run(a, b, bias, valid, dp, scale, splits=3, BK=16):
    m, k = a.shape
    n = b.shape[1]
    part = np.empty((splits, m, n), np.float32)
    s, p, ds = np.empty((3, m, n), np.float32)
    per = triton.cdiv(k, splits)
    split_product[(triton.cdiv(m, 16), triton.cdiv(n, 16), splits)](
        a, b, part, m, n, k, per, BM=16, BN=16, BK=BK)
    add_up[(m, triton.cdiv(n, 32))](part, bias, valid, s, m, n, splits, scale,
                                    BLOCK=32)
    softmax[(m,)](s, p, n, BLOCK=16)
    softmax_gradient[(m,)](p, dp, ds, n, scale, BLOCK=32)
    return p, ds


def reference(a, b, bias, valid, dp, scale):
    s = a.astype(np.float64) @ b * scale + bias
    s = np.where(np.arange(b.shape[1]) < valid[:, None], s, -1e9)
    p = np.exp(s - s.max(1, keepdims=True))
    p /= p.sum(1, keepdims=True)
    return p, p * (dp - (p * dp).sum(1, keepdims=True)) * scale


def main():
    rng = np.random.default_rng(16)
    m, n, k = 25, 52, 100
    a = rng.standard_normal((m, k)).astype(np.float32)
    b = rng.standard_normal((k, n)).astype(np.float32)
    bias = rng.standard_normal(n).astype(np.float32)
    valid = rng.integers(20, n + 1, m).astype(np.int32)
    dp = rng.standard_normal((m, n)).astype(np.float32)
    got = run(a, b, bias, valid, dp, 0.2)
    for one, ref in zip(got, reference(a, b, bias, valid, dp, 0.2)):
        assert np.allclose(one, ref, rtol=1e-3, atol=1e-5)
    print('ok')


if __name__ == '__main__':
    main()
