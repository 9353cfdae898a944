"""One decoding step over a paged cache of keys and values: the new token is
appended, each run of pages is attended to by a program, the runs are joined."""
import math

import numpy as np
import triton
import triton.language as tl


@triton.jit
def append(New, Cache, Table, Lengths, stride_t, stride_page, stride_slot,
           stride_head, PAGE: tl.constexpr, HK: tl.constexpr,
           D: tl.constexpr):
    seq = tl.program_id(0)
    at = tl.load(Lengths + seq) - 1
    page = tl.load(Table + seq * stride_t + at // PAGE)
    slot = at % PAGE
    heads = tl.arange(0, HK)
    dims = tl.arange(0, D)
    new = tl.load(New + (seq * HK + heads[:, None]) * D + dims[None, :])
    tl.store(Cache + page * stride_page + slot * stride_slot +
             heads[:, None] * stride_head + dims[None, :], new)


@triton.jit
def _page(Cache, page, slots, dims, there, kv, stride_page, stride_slot,
          stride_head):
    return tl.load(Cache + page * stride_page +
                   slots[:, None] * stride_slot + kv * stride_head +
                   dims[None, :], mask=there[:, None], other=0.0)


@triton.jit
def _update(m, total, acc, q, k, v, there, scale):
    s = tl.sum(q[:, None, :] * k[None, :, :], axis=2) * scale
    s = tl.where(there[None, :], s, float('-inf'))
    m_new = tl.maximum(m, tl.max(s, 1))
    alpha = tl.exp(m - m_new)
    p = tl.exp(s - m_new[:, None])
    total = total * alpha + tl.sum(p, 1)
    acc = acc * alpha[:, None] + tl.sum(p[:, :, None] * v[None, :, :], axis=1)
    return m_new, total, acc


@triton.jit
def decode_run(Q, KCache, VCache, Table, Lengths, Acc, Max, Sum, scale,
               stride_t, stride_page, stride_slot, stride_head, runs, pages,
               H: tl.constexpr, GROUP: tl.constexpr, PAGE: tl.constexpr,
               D: tl.constexpr):
    seq = tl.program_id(0)
    kv = tl.program_id(1)
    run = tl.program_id(2)
    length = tl.load(Lengths + seq)
    heads = kv * GROUP + tl.arange(0, GROUP)
    dims = tl.arange(0, D)
    slots = tl.arange(0, PAGE)
    q = tl.load(Q + (seq * H + heads[:, None]) * D + dims[None, :])
    first = run * pages
    last = tl.minimum(first + pages, tl.cdiv(length, PAGE))
    m = tl.full([GROUP], float('-inf'), dtype=tl.float32)
    total = tl.zeros([GROUP], dtype=tl.float32)
    acc = tl.zeros([GROUP, D], dtype=tl.float32)
    for i in range(first, last):
        page = tl.load(Table + seq * stride_t + i)
        there = i * PAGE + slots < length
        k = _page(KCache, page, slots, dims, there, kv, stride_page,
                  stride_slot, stride_head)
        v = _page(VCache, page, slots, dims, there, kv, stride_page,
                  stride_slot, stride_head)
        m, total, acc = _update(m, total, acc, q, k, v, there, scale)
    row = (seq * H + heads) * runs + run
    tl.store(Max + row, m)
    tl.store(Sum + row, total)
    tl.store(Acc + row[:, None] * D + dims[None, :], acc)


@triton.jit
def join_runs(Acc, Max, Sum, Out, runs, R: tl.constexpr, D: tl.constexpr):
    head = tl.program_id(0)
    r = tl.arange(0, R)
    dims = tl.arange(0, D)
    there = r < runs
    m = tl.load(Max + head * runs + r, mask=there, other=float('-inf'))
    weight = tl.exp(m - tl.max(m, 0))
    total = tl.load(Sum + head * runs + r, mask=there, other=0.0)
    acc = tl.load(Acc + (head * runs + r[:, None]) * D + dims[None, :],
                  mask=there[:, None], other=0.0)
    out = tl.sum(acc * weight[:, None], 0) / tl.sum(total * weight, 0)
    tl.store(Out + head * D + dims, out)


def step(q, k_new, v_new, k_cache, v_cache, table, lengths, runs=3):
    seqs, heads, dim = q.shape
    _, page_size, kv_heads, _ = k_cache.shape
    at_page, at_slot, at_head, _ = (s // 4 for s in k_cache.strides)
    for new, cache in (k_new, k_cache), (v_new, v_cache):
        append[(seqs,)](new, cache, table, lengths, table.shape[1], at_page,
                        at_slot, at_head, PAGE=page_size, HK=kv_heads, D=dim)
    acc = np.empty((seqs, heads, runs, dim), np.float32)
    most = np.empty((seqs, heads, runs), np.float32)
    total = np.empty((seqs, heads, runs), np.float32)
    out = np.empty_like(q)
    pages = triton.cdiv(table.shape[1], runs)
    decode_run[(seqs, kv_heads, runs)](
        q, k_cache, v_cache, table, lengths, acc, most, total,
        1 / math.sqrt(dim), table.shape[1], at_page, at_slot, at_head, runs,
        pages, H=heads, GROUP=heads // kv_heads, PAGE=page_size, D=dim)
    join_runs[(seqs * heads,)](acc, most, total, out, runs,
                               R=triton.next_power_of_2(runs), D=dim)
    return out


def reference(q, keys, values):
    out = np.empty_like(q)
    group = q.shape[1] // keys[0].shape[1]
    for i, (k, v) in enumerate(zip(keys, values)):
        k, v = (np.repeat(a, group, axis=1) for a in (k, v))
        s = np.einsum('hd,nhd->hn', q[i], k) / math.sqrt(q.shape[2])
        p = np.exp(s - s.max(1, keepdims=True))
        out[i] = np.einsum('hn,nhd->hd', p / p.sum(1, keepdims=True), v)
    return out


def main():
    rng = np.random.default_rng(4)

    def randn(*shape):
        return rng.standard_normal(shape).astype(np.float32)
    seqs, heads, kv_heads, dim, page_size, most = 4, 4, 2, 16, 8, 6
    lengths = np.array([45, 9, 33, 17], np.int32)
    table = rng.permutation(seqs * most).reshape(seqs, most).astype(np.int32)
    k_cache = randn(seqs * most, page_size, kv_heads, dim)
    v_cache = randn(seqs * most, page_size, kv_heads, dim)
    q, k_new, v_new = randn(seqs, heads, dim), *randn(2, seqs, kv_heads, dim)
    keys, values = [], []
    for i, n in enumerate(lengths):
        for whole, cache, new in ((keys, k_cache, k_new),
                                  (values, v_cache, v_new)):
            old = cache[table[i]].reshape(-1, kv_heads, dim)[:n - 1]
            whole.append(np.concatenate([old, new[i:i + 1]]))
    out = step(q, k_new, v_new, k_cache, v_cache, table, lengths)
    np.testing.assert_allclose(out, reference(q, keys, values), rtol=1e-4,
                               atol=1e-5)
    print('ok')


if __name__ == '__main__':
    main()
