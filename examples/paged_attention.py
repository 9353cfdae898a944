"""Attention of one new token over a paged cache of keys and values.

The cache is cut into pages of PAGE tokens that lie anywhere; the block table
of a sequence says where.  Grouped queries: several query heads share a key
head.  One program computes one query head of one sequence with an online
softmax.

Checked against float64: |error| <= 2e-3 (fp16).
"""
import numpy as np
import triton
import triton.language as tl


@triton.jit
def paged_decode_kernel(out_ptr, q_ptr, k_cache_ptr, v_cache_ptr, table_ptr,
                        length_ptr, scale, max_pages, n_heads, n_kv_heads,
                        head_dim, PAGE: tl.constexpr, DIM: tl.constexpr):
    sequence = tl.program_id(0)
    head = tl.program_id(1)
    kv_head = head // (n_heads // n_kv_heads)
    length = tl.load(length_ptr + sequence)
    dims = tl.arange(0, DIM)
    dim_mask = dims < head_dim
    q_at = (sequence * n_heads + head) * head_dim + dims
    q = tl.load(q_ptr + q_at, mask=dim_mask, other=0.0).to(tl.float32) * scale

    m = float('-inf')
    d = 0.0
    acc = tl.zeros([DIM], dtype=tl.float32)
    for page in range(0, tl.cdiv(length, PAGE)):
        block = tl.load(table_ptr + sequence * max_pages + page).to(tl.int64)
        slots = tl.arange(0, PAGE)
        tokens = page * PAGE + slots
        at = (((block * PAGE + slots[:, None]) * n_kv_heads + kv_head) *
              head_dim + dims[None, :])
        mask = (tokens[:, None] < length) & dim_mask[None, :]
        k = tl.load(k_cache_ptr + at, mask=mask, other=0.0).to(tl.float32)
        v = tl.load(v_cache_ptr + at, mask=mask, other=0.0).to(tl.float32)
        score = tl.sum(q[None, :] * k, axis=1)
        score = tl.where(tokens < length, score, float('-inf'))
        m_new = tl.maximum(m, tl.max(score, axis=0))
        p = tl.exp(score - m_new)
        old = tl.exp(m - m_new)
        d = d * old + tl.sum(p, axis=0)
        acc = acc * old + tl.sum(p[:, None] * v, axis=0)
        m = m_new
    # A sequence without tokens has no page and gives zeros.
    acc = acc / tl.where(length > 0, d, 1.0)
    tl.store(out_ptr + q_at, acc.to(out_ptr.dtype.element_ty), mask=dim_mask)


def paged_decode(q, k_cache, v_cache, table, length):
    n_sequences, n_heads, head_dim = q.shape
    _, page, n_kv_heads, _ = k_cache.shape
    out = np.empty_like(q)
    paged_decode_kernel[(n_sequences, n_heads)](
        out, q, k_cache, v_cache, table, length, head_dim**-0.5,
        table.shape[1], n_heads, n_kv_heads, head_dim, PAGE=page,
        DIM=triton.next_power_of_2(head_dim))
    return out


def reference(q, k_cache, v_cache, table, length):
    q, k_cache, v_cache = (a.astype(np.float64)
                           for a in (q, k_cache, v_cache))
    out = np.zeros_like(q)
    group = q.shape[1] // k_cache.shape[2]
    for s, n in enumerate(length):
        if n == 0:
            continue
        k, v = (np.repeat(c[table[s]].reshape(-1, *c.shape[2:])[:n], group,
                          axis=1) for c in (k_cache, v_cache))
        score = np.einsum('hd,nhd->hn', q[s], k) * q.shape[2]**-0.5
        p = np.exp(score - score.max(axis=1, keepdims=True))
        p /= p.sum(axis=1, keepdims=True)
        out[s] = np.einsum('hn,nhd->hd', p, v)
    return out


def main():
    rng = np.random.default_rng(0)
    shapes = (1, 1, 1, 16), (3, 4, 2, 32), (4, 6, 2, 24)
    for n_sequences, n_heads, n_kv_heads, head_dim in shapes:
        page, max_pages = 16, 4
        length = rng.integers(1, page * max_pages + 1, n_sequences)
        if n_sequences > 2:
            length[0], length[1] = page * max_pages, 0
        length = length.astype(np.int32)
        pages = rng.permutation(n_sequences * max_pages + 3)
        table = pages[:n_sequences * max_pages].astype(np.int32)
        table = table.reshape(n_sequences, max_pages)
        k, v = rng.standard_normal((2, len(pages), page, n_kv_heads,
                                    head_dim)).astype(np.float16)
        q = rng.standard_normal((n_sequences, n_heads, head_dim))
        q = q.astype(np.float16)
        np.testing.assert_allclose(paged_decode(q, k, v, table, length),
                                   reference(q, k, v, table, length),
                                   rtol=0, atol=2e-3)
    print('paged_attention: OK,', len(shapes), 'shapes')


if __name__ == '__main__':
    main()
