"""Attention of sequences of different lengths packed into one tensor.

Sequence s holds the tokens cu_seqlens[s] .. cu_seqlens[s + 1] - 1, and no
tensor is padded.  The grid is made for the longest sequence; programs past the
end of their own return early.  A window limits how far back a token looks.

Checked against float64: |error| <= 2e-3 (fp16).
"""
import numpy as np
import triton
import triton.language as tl


@triton.jit
def varlen_attention_kernel(q_ptr, k_ptr, v_ptr, o_ptr, cu_seqlens_ptr,
                            scale, n_heads, window, BLOCK_M: tl.constexpr,
                            BLOCK_N: tl.constexpr, DIM: tl.constexpr):
    sequence = tl.program_id(1)
    head = tl.program_id(2)
    first = tl.load(cu_seqlens_ptr + sequence)
    n = tl.load(cu_seqlens_ptr + sequence + 1) - first
    start_m = tl.program_id(0) * BLOCK_M
    if start_m >= n:
        return
    rows = start_m + tl.arange(0, BLOCK_M)
    dims = tl.arange(0, DIM)
    token = n_heads * DIM
    base = first.to(tl.int64) * token + head * DIM
    q_at = base + rows[:, None] * token + dims[None, :]
    row_mask = rows[:, None] < n
    q = tl.load(q_ptr + q_at, mask=row_mask, other=0.0)
    m = tl.full([BLOCK_M], float('-inf'), dtype=tl.float32)
    d = tl.zeros([BLOCK_M], dtype=tl.float32)
    acc = tl.zeros([BLOCK_M, DIM], dtype=tl.float32)
    # The first block that the window of the first row reaches.
    begin = tl.maximum(start_m - window + 1, 0) // BLOCK_N * BLOCK_N
    for start in range(begin, tl.minimum(n, start_m + BLOCK_M), BLOCK_N):
        cols = start + tl.arange(0, BLOCK_N)
        k_at = base + cols[:, None] * token + dims[None, :]
        k = tl.load(k_ptr + k_at, mask=cols[:, None] < n, other=0.0)
        v = tl.load(v_ptr + k_at, mask=cols[:, None] < n, other=0.0)
        s = tl.dot(q, k.T) * scale
        back = rows[:, None] - cols[None, :]
        seen = (back >= 0) & (back < window) & (cols[None, :] < n)
        s = tl.where(seen, s, float('-inf'))
        m_new = tl.maximum(m, tl.max(s, axis=1))
        # A row that has seen nothing yet keeps m = -inf: do not subtract it.
        safe = tl.where(m_new == float('-inf'), 0.0, m_new)
        p = tl.exp(s - safe[:, None])
        old = tl.exp(m - safe)
        d = d * old + tl.sum(p, axis=1)
        acc = tl.dot(p.to(v.dtype), v, acc * old[:, None])
        m = m_new
    # Rows past the end may have seen nothing.
    acc = acc / tl.where(d > 0, d, 1.0)[:, None]
    tl.store(o_ptr + q_at, acc.to(o_ptr.dtype.element_ty), mask=row_mask)


def varlen_attention(q, k, v, cu_seqlens, window):
    _, n_heads, dim = q.shape
    o = np.empty_like(q)
    lengths = np.diff(cu_seqlens)
    grid = lambda meta: (triton.cdiv(int(lengths.max()), meta['BLOCK_M']),
                         len(lengths), n_heads)
    varlen_attention_kernel[grid](q, k, v, o, cu_seqlens, dim**-0.5, n_heads,
                                  window, BLOCK_M=32, BLOCK_N=16, DIM=dim)
    return o


def reference(q, k, v, cu_seqlens, window):
    q, k, v = (x.astype(np.float64) for x in (q, k, v))
    o = np.zeros_like(q)
    for lo, hi in zip(cu_seqlens, cu_seqlens[1:]):
        s = np.einsum('mhd,nhd->hmn', q[lo:hi], k[lo:hi]) * q.shape[2]**-0.5
        back = np.subtract.outer(np.arange(hi - lo), np.arange(hi - lo))
        s = np.where((back >= 0) & (back < window), s, -np.inf)
        p = np.exp(s - s.max(axis=2, keepdims=True, initial=-1e30))
        p /= p.sum(axis=2, keepdims=True)
        o[lo:hi] = np.einsum('hmn,nhd->mhd', p, v[lo:hi])
    return o


def main():
    rng = np.random.default_rng(0)
    cases = [(lengths, window)
             for lengths in ((1, ), (32, 64), (5, 0, 71, 16))
             for window in (1000, 9)]
    for lengths, window in cases:
        cu_seqlens = np.cumsum((0, *lengths)).astype(np.int32)
        q, k, v = rng.standard_normal((3, sum(lengths), 2, 16)).astype(
            np.float16)
        np.testing.assert_allclose(
            varlen_attention(q, k, v, cu_seqlens, window),
            reference(q, k, v, cu_seqlens, window), rtol=0, atol=2e-3)
    print('varlen_attention: OK,', len(cases), 'cases')


if __name__ == '__main__':
    main()
