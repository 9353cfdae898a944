"""Attention of one query over many keys, split among programs (flash decoding).

One query cannot fill a machine, so that the keys are cut into SPLITS runs.
Each program leaves the unnormalised output, the maximum and the sum of its
run; a second kernel joins them.  Query heads that share a key head are the
rows of one tl.dot, padded to 16.

Checked against float64: |error| <= 2e-3 (fp16).
"""
import numpy as np
import triton
import triton.language as tl


@triton.jit
def decode_part_kernel(q_ptr, k_ptr, v_ptr, part_ptr, m_ptr, d_ptr, scale, n,
                       n_kv_heads, group, HEADS: tl.constexpr,
                       BLOCK_N: tl.constexpr, DIM: tl.constexpr):
    """q: [batch, kv head, group, DIM]; k, v: [batch, n, kv head, DIM]."""
    split = tl.program_id(0)
    splits = tl.num_programs(0)
    kv_head = tl.program_id(1)
    batch = tl.program_id(2).to(tl.int64)
    heads = tl.arange(0, HEADS)
    dims = tl.arange(0, DIM)
    first_head = (batch * n_kv_heads + kv_head) * group
    q = tl.load(q_ptr + (first_head + heads[:, None]) * DIM + dims[None, :],
                mask=heads[:, None] < group, other=0.0)
    per_split = tl.cdiv(tl.cdiv(n, BLOCK_N), splits) * BLOCK_N
    m = tl.full([HEADS], float('-inf'), dtype=tl.float32)
    d = tl.zeros([HEADS], dtype=tl.float32)
    acc = tl.zeros([HEADS, DIM], dtype=tl.float32)
    end = tl.minimum((split + 1) * per_split, n)
    for start in tl.range(split * per_split, end, BLOCK_N, num_stages=2):
        cols = start + tl.arange(0, BLOCK_N)
        at = (((batch * n + cols[:, None]) * n_kv_heads + kv_head) * DIM +
              dims[None, :])
        k = tl.load(k_ptr + at, mask=cols[:, None] < n, other=0.0)
        v = tl.load(v_ptr + at, mask=cols[:, None] < n, other=0.0)
        s = tl.dot(q, tl.trans(k)) * scale
        s = tl.where(cols[None, :] < n, s, float('-inf'))
        m_new = tl.maximum(m, tl.max(s, axis=1))
        p = tl.exp(s - m_new[:, None])
        old = tl.exp(m - m_new)
        d = d * old + tl.sum(p, axis=1)
        acc = tl.dot(p.to(v.dtype), v, acc * old[:, None])
        m = m_new
    # A run without keys leaves maximum -inf and sum 0.
    row = (first_head + heads) * splits + split
    mask = heads < group
    tl.store(m_ptr + row, m, mask=mask)
    tl.store(d_ptr + row, d, mask=mask)
    tl.store(part_ptr + row[:, None] * DIM + dims[None, :], acc,
             mask=mask[:, None])


@triton.jit
def decode_join_kernel(part_ptr, m_ptr, d_ptr, o_ptr, splits,
                       SPLITS: tl.constexpr, DIM: tl.constexpr):
    head = tl.program_id(0).to(tl.int64)
    split = tl.arange(0, SPLITS)
    dims = tl.arange(0, DIM)
    row = head * splits + split
    m = tl.load(m_ptr + row, mask=split < splits, other=float('-inf'))
    d = tl.load(d_ptr + row, mask=split < splits, other=0.0)
    part = tl.load(part_ptr + row[:, None] * DIM + dims[None, :],
                   mask=split[:, None] < splits, other=0.0)
    share = tl.exp(m - tl.max(m, axis=0))
    o = tl.sum(part * share[:, None], axis=0) / tl.sum(d * share, axis=0)
    tl.store(o_ptr + head * DIM + dims, o.to(o_ptr.dtype.element_ty))


def flash_decoding(q, k, v, splits):
    batch, n_kv_heads, group, dim = q.shape
    n = k.shape[1]
    o = np.empty_like(q)
    n_heads = batch * n_kv_heads * group
    part = np.empty((n_heads, splits, dim), dtype=np.float32)
    m, d = (np.empty((n_heads, splits), dtype=np.float32) for _ in range(2))
    decode_part_kernel[(splits, n_kv_heads, batch)](
        q, k, v, part, m, d, dim**-0.5, n, n_kv_heads, group,
        HEADS=max(16, triton.next_power_of_2(group)), BLOCK_N=16, DIM=dim)
    decode_join_kernel[(n_heads, )](
        part, m, d, o, splits, SPLITS=triton.next_power_of_2(splits), DIM=dim)
    return o


def reference(q, k, v):
    q, k, v = (a.astype(np.float64) for a in (q, k, v))
    s = np.einsum('bhgd,bnhd->bhgn', q, k) * q.shape[3]**-0.5
    p = np.exp(s - s.max(axis=3, keepdims=True))
    return np.einsum('bhgn,bnhd->bhgd', p / p.sum(axis=3, keepdims=True), v)


def main():
    rng = np.random.default_rng(0)
    cases = [(*shape, splits)
             for shape in ((1, 1, 1, 1, 16), (2, 3, 4, 100, 32),
                           (1, 2, 7, 64, 16)) for splits in (1, 3, 8)]
    for batch, n_kv_heads, group, n, dim, splits in cases:
        q = rng.standard_normal((batch, n_kv_heads, group, dim))
        k, v = rng.standard_normal((2, batch, n, n_kv_heads, dim)).astype(
            np.float16)
        q = q.astype(np.float16)
        np.testing.assert_allclose(flash_decoding(q, k, v, splits),
                                   reference(q, k, v), rtol=0, atol=2e-3)
    print('flash_decoding: OK,', len(cases), 'cases')


if __name__ == '__main__':
    main()
