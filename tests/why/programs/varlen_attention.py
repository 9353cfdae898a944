"""Attention over sequences of several lengths that lie one after the other,
with a list of work, rotated queries and keys, and a sliding window."""
import numpy as np
import triton
import triton.language as tl


@triton.jit
def list_work(Starts, Work, Count, seqs, S: tl.constexpr, B: tl.constexpr):
    """(sequence, block of queries) of each program that has work."""
    s = tl.arange(0, S)
    lo = tl.load(Starts + s, mask=s < seqs, other=0)
    hi = tl.load(Starts + s + 1, mask=s < seqs, other=0)
    blocks = tl.cdiv(hi - lo, B)
    first = tl.cumsum(blocks, 0) - blocks
    total = tl.sum(blocks, 0)
    tl.store(Count, total)
    for i in range(total):
        mine = (first <= i) & (i < first + blocks)
        tl.store(Work + 2 * i, tl.sum(tl.where(mine, s, 0), 0))
        tl.store(Work + 2 * i + 1, tl.sum(tl.where(mine, i - first, 0), 0))


@triton.jit
def _turn(a, b, cos, sin):
    return a * cos - b * sin, b * cos + a * sin


@triton.jit
def rotate(X, Y, Cos, Sin, Starts, H: tl.constexpr, HALF: tl.constexpr,
           B: tl.constexpr):
    seq = tl.program_id(0)
    lo = tl.load(Starts + seq)
    hi = tl.load(Starts + seq + 1)
    dims = tl.arange(0, HALF)
    head = tl.program_id(1)
    for start in range(0, hi - lo, B):
        at = start + tl.arange(0, B)
        there = (at < hi - lo)[:, None]
        row = ((lo + at) * H + head) * (2 * HALF)
        a = tl.load(X + row[:, None] + dims[None, :], mask=there, other=0.0)
        b = tl.load(X + row[:, None] + HALF + dims[None, :], mask=there,
                    other=0.0)
        angle = at[:, None] * HALF + dims[None, :]
        cos = tl.load(Cos + angle, mask=there, other=1.0)
        sin = tl.load(Sin + angle, mask=there, other=0.0)
        a, b = _turn(a, b, cos, sin)
        tl.store(Y + row[:, None] + dims[None, :], a, mask=there)
        tl.store(Y + row[:, None] + HALF + dims[None, :], b, mask=there)


@triton.jit
def _rows(X, at, there, dims, head, H: tl.constexpr, D: tl.constexpr):
    return tl.load(X + (at[:, None] * H + head) * D + dims[None, :],
                   mask=there[:, None], other=0.0)


@triton.jit
def _step(acc, total, m, q, k, v, keep, scale):
    s = tl.dot(q, tl.trans(k), input_precision='ieee') * scale
    s = tl.where(keep, s, -1.0e30)
    m_new = tl.maximum(m, tl.max(s, 1))
    p = tl.where(keep, tl.exp(s - m_new[:, None]), 0.0)
    alpha = tl.exp(m - m_new)
    total = total * alpha + tl.sum(p, 1)
    acc = acc * alpha[:, None] + tl.dot(p, v, input_precision='ieee')
    return acc, total, m_new


@triton.jit
def attend(Q, K, V, Out, Starts, Work, Count, scale, window, H: tl.constexpr,
           HK: tl.constexpr, D: tl.constexpr, B: tl.constexpr):
    item = tl.program_id(0)
    if item >= tl.load(Count):
        return
    head = tl.program_id(1)
    kv = head // (H // HK)
    seq = tl.load(Work + 2 * item)
    block = tl.load(Work + 2 * item + 1)
    lo = tl.load(Starts + seq)
    length = tl.load(Starts + seq + 1) - lo
    rows = block * B + tl.arange(0, B)
    dims = tl.arange(0, D)
    q = _rows(Q, lo + rows, rows < length, dims, head, H, D)
    m = tl.full([B], -1.0e30, dtype=tl.float32)
    total = tl.zeros([B], dtype=tl.float32)
    acc = tl.zeros([B, D], dtype=tl.float32)
    begin = tl.maximum(block * B - window + 1, 0) // B * B
    end = tl.minimum((block + 1) * B, length)
    for start in range(begin, end, B):
        cols = start + tl.arange(0, B)
        k = _rows(K, lo + cols, cols < length, dims, kv, HK, D)
        v = _rows(V, lo + cols, cols < length, dims, kv, HK, D)
        back = rows[:, None] - cols[None, :]
        keep = (back >= 0) & (back < window) & (cols < length)[None, :]
        acc, total, m = _step(acc, total, m, q, k, v, keep, scale)
    out = acc / tl.where(total == 0.0, 1.0, total)[:, None]
    tl.store(Out + ((lo + rows)[:, None] * H + head) * D + dims[None, :],
             out, mask=(rows < length)[:, None])


def attention(q, k, v, cos, sin, starts, scale, window, B=16):
    tokens, H, D = q.shape
    HK = k.shape[1]
    seqs = len(starts) - 1
    most = triton.cdiv(tokens, B) + seqs
    work = np.empty((most, 2), np.int32)
    n_work = np.empty(1, np.int32)
    list_work[(1,)](starts, work, n_work, seqs,
                    S=triton.next_power_of_2(seqs), B=B)
    q_turned, k_turned, out = (np.empty_like(a) for a in (q, k, q))
    rotate[(seqs, H)](q, q_turned, cos, sin, starts, H=H, HALF=D // 2, B=B)
    rotate[(seqs, HK)](k, k_turned, cos, sin, starts, H=HK, HALF=D // 2, B=B)
    attend[(most, H)](q_turned, k_turned, v, out, starts, work, n_work, scale,
                      window, H=H, HK=HK, D=D, B=B)
    return out


def turned(x, cos, sin):
    a, b = np.split(x, 2, axis=-1)
    cos, sin = cos[:len(x), None], sin[:len(x), None]
    return np.concatenate([a * cos - b * sin, b * cos + a * sin], axis=-1)


def reference(q, k, v, cos, sin, starts, scale, window):
    out = np.empty_like(q)
    group = q.shape[1] // k.shape[1]
    for lo, hi in zip(starts[:-1], starts[1:]):
        x = turned(q[lo:hi], cos, sin)
        y = np.repeat(turned(k[lo:hi], cos, sin), group, axis=1)
        s = np.einsum('mhd,nhd->hmn', x, y) * scale
        back = np.subtract.outer(np.arange(hi - lo), np.arange(hi - lo))
        s = np.where((back >= 0) & (back < window), s, -np.inf)
        p = np.exp(s - s.max(-1, keepdims=True))
        p /= p.sum(-1, keepdims=True)
        out[lo:hi] = np.einsum('hmn,nhd->mhd', p,
                               np.repeat(v[lo:hi], group, axis=1))
    return out


def main():
    rng = np.random.default_rng(5)
    lengths = [23, 1, 40, 16]
    starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
    q = rng.standard_normal((starts[-1], 4, 16)).astype(np.float32)
    k = rng.standard_normal((starts[-1], 2, 16)).astype(np.float32)
    v = rng.standard_normal((starts[-1], 2, 16)).astype(np.float32)
    angle = np.outer(np.arange(40), 1 / 10 ** (np.arange(8) / 4))
    cos, sin = np.cos(angle).astype('f4'), np.sin(angle).astype('f4')
    out = attention(q, k, v, cos, sin, starts, 0.25, 20)
    expected = reference(q, k, v, cos, sin, starts, 0.25, 20)
    assert np.allclose(out, expected, rtol=1e-3, atol=1e-4)
    print('ok')


if __name__ == '__main__':
    main()
