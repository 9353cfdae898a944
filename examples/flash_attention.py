"""Attention without the matrix of scores, forward and backward.

Forward: one program a block of queries, an online softmax over blocks of
keys.  Backward: the scores are computed again from the saved logarithm of the
sums; one kernel walks the queries for each block of keys (dk, dv), one the
keys for each block of queries (dq).  Causal masking is a constexpr.  The head
dimension must be a power of two of at least 16.

Checked against float64: |error| <= 1e-5 + 1e-4 |reference|.
"""
import numpy as np
import triton
import triton.language as tl


@triton.jit
def block_of_rows(ptr, rows, n, dims, DIM: tl.constexpr):
    """Rows of an [n, DIM] matrix; those past the end are zero."""
    return tl.load(ptr + rows[:, None] * DIM + dims[None, :],
                   mask=rows[:, None] < n, other=0.0)


@triton.jit
def attention_forward(q_ptr, k_ptr, v_ptr, o_ptr, lse_ptr, scale, n,
                      CAUSAL: tl.constexpr, BLOCK_M: tl.constexpr,
                      BLOCK_N: tl.constexpr, DIM: tl.constexpr):
    head = tl.program_id(1).to(tl.int64)
    q_ptr += head * n * DIM
    k_ptr += head * n * DIM
    v_ptr += head * n * DIM
    o_ptr += head * n * DIM
    rows = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    dims = tl.arange(0, DIM)
    q = block_of_rows(q_ptr, rows, n, dims, DIM)
    m = tl.full([BLOCK_M], float('-inf'), dtype=tl.float32)
    d = tl.zeros([BLOCK_M], dtype=tl.float32)
    acc = tl.zeros([BLOCK_M, DIM], dtype=tl.float32)
    end = n
    if CAUSAL:
        end = tl.minimum(n, (tl.program_id(0) + 1) * BLOCK_M)
    for start in range(0, end, BLOCK_N):
        cols = start + tl.arange(0, BLOCK_N)
        k = block_of_rows(k_ptr, cols, n, dims, DIM)
        v = block_of_rows(v_ptr, cols, n, dims, DIM)
        s = tl.dot(q, tl.trans(k), input_precision='ieee') * scale
        seen = cols[None, :] < n
        if CAUSAL:
            seen = seen & (cols[None, :] <= rows[:, None])
        s = tl.where(seen, s, float('-inf'))
        # Column 0 is in the first block and seen by every row, so that the
        # maximum is finite from then on.
        m_new = tl.maximum(m, tl.max(s, axis=1))
        p = tl.exp(s - m_new[:, None])
        old = tl.exp(m - m_new)
        d = d * old + tl.sum(p, axis=1)
        acc = tl.dot(p, v, acc * old[:, None], input_precision='ieee')
        m = m_new
    acc = acc / d[:, None]
    tl.store(o_ptr + rows[:, None] * DIM + dims[None, :], acc,
             mask=rows[:, None] < n)
    tl.store(lse_ptr + head * n + rows, m + tl.log(d), mask=rows < n)


@triton.jit
def attention_delta(o_ptr, do_ptr, delta_ptr, n_rows, BLOCK: tl.constexpr,
                    DIM: tl.constexpr):
    """delta = the sum of o * do along each row."""
    rows = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    dims = tl.arange(0, DIM)
    o = block_of_rows(o_ptr, rows, n_rows, dims, DIM)
    do = block_of_rows(do_ptr, rows, n_rows, dims, DIM)
    tl.store(delta_ptr + rows, tl.sum(o * do, axis=1), mask=rows < n_rows)


@triton.jit
def probabilities(q, k, lse, rows, cols, n, scale, CAUSAL: tl.constexpr):
    """The block of the softmax matrix at rows and cols."""
    s = tl.dot(q, tl.trans(k), input_precision='ieee') * scale
    seen = (rows[:, None] < n) & (cols[None, :] < n)
    if CAUSAL:
        seen = seen & (cols[None, :] <= rows[:, None])
    return tl.where(seen, tl.exp(s - lse[:, None]), 0.0)


@triton.jit
def attention_backward_kv(q_ptr, k_ptr, v_ptr, do_ptr, lse_ptr, delta_ptr,
                          dk_ptr, dv_ptr, scale, n, CAUSAL: tl.constexpr,
                          BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
                          DIM: tl.constexpr):
    head = tl.program_id(1).to(tl.int64)
    base = head * n * DIM
    cols = tl.program_id(0) * BLOCK_N + tl.arange(0, BLOCK_N)
    dims = tl.arange(0, DIM)
    k = block_of_rows(k_ptr + base, cols, n, dims, DIM)
    v = block_of_rows(v_ptr + base, cols, n, dims, DIM)
    dk = tl.zeros([BLOCK_N, DIM], dtype=tl.float32)
    dv = tl.zeros([BLOCK_N, DIM], dtype=tl.float32)
    first = 0
    if CAUSAL:  # earlier queries see none of these keys
        first = tl.program_id(0) * BLOCK_N // BLOCK_M * BLOCK_M
    for start in range(first, n, BLOCK_M):
        rows = start + tl.arange(0, BLOCK_M)
        q = block_of_rows(q_ptr + base, rows, n, dims, DIM)
        do = block_of_rows(do_ptr + base, rows, n, dims, DIM)
        at = head * n + rows
        lse = tl.load(lse_ptr + at, mask=rows < n, other=0.0)
        delta = tl.load(delta_ptr + at, mask=rows < n, other=0.0)
        p = probabilities(q, k, lse, rows, cols, n, scale, CAUSAL)
        dv = tl.dot(tl.trans(p), do, dv, input_precision='ieee')
        dp = tl.dot(do, tl.trans(v), input_precision='ieee')
        ds = p * (dp - delta[:, None]) * scale
        dk = tl.dot(tl.trans(ds), q, dk, input_precision='ieee')
    at = cols[:, None] * DIM + dims[None, :]
    tl.store(dk_ptr + base + at, dk, mask=cols[:, None] < n)
    tl.store(dv_ptr + base + at, dv, mask=cols[:, None] < n)


@triton.jit
def attention_backward_q(q_ptr, k_ptr, v_ptr, do_ptr, lse_ptr, delta_ptr,
                         dq_ptr, scale, n, CAUSAL: tl.constexpr,
                         BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
                         DIM: tl.constexpr):
    head = tl.program_id(1).to(tl.int64)
    base = head * n * DIM
    rows = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    dims = tl.arange(0, DIM)
    q = block_of_rows(q_ptr + base, rows, n, dims, DIM)
    do = block_of_rows(do_ptr + base, rows, n, dims, DIM)
    lse = tl.load(lse_ptr + head * n + rows, mask=rows < n, other=0.0)
    delta = tl.load(delta_ptr + head * n + rows, mask=rows < n, other=0.0)
    dq = tl.zeros([BLOCK_M, DIM], dtype=tl.float32)
    end = n
    if CAUSAL:
        end = tl.minimum(n, (tl.program_id(0) + 1) * BLOCK_M)
    for start in range(0, end, BLOCK_N):
        cols = start + tl.arange(0, BLOCK_N)
        k = block_of_rows(k_ptr + base, cols, n, dims, DIM)
        v = block_of_rows(v_ptr + base, cols, n, dims, DIM)
        p = probabilities(q, k, lse, rows, cols, n, scale, CAUSAL)
        dp = tl.dot(do, tl.trans(v), input_precision='ieee')
        ds = p * (dp - delta[:, None]) * scale
        dq = tl.dot(ds, k, dq, input_precision='ieee')
    tl.store(dq_ptr + base + rows[:, None] * DIM + dims[None, :], dq,
             mask=rows[:, None] < n)


def attention(q, k, v, do, causal):
    """(o, dq, dk, dv)"""
    heads, n, dim = q.shape
    o, dq, dk, dv = (np.empty_like(q) for _ in range(4))
    lse, delta = (np.empty((heads, n), dtype=np.float32) for _ in range(2))
    scale, m_block, n_block = dim**-0.5, 32, 16
    shape = dict(CAUSAL=causal, BLOCK_M=m_block, BLOCK_N=n_block, DIM=dim)
    by_rows = (triton.cdiv(n, m_block), heads)
    attention_forward[by_rows](q, k, v, o, lse, scale, n, **shape)
    attention_delta[(triton.cdiv(heads * n, 32), )](
        o, do, delta, heads * n, BLOCK=32, DIM=dim)
    attention_backward_kv[(triton.cdiv(n, n_block), heads)](
        q, k, v, do, lse, delta, dk, dv, scale, n, **shape)
    attention_backward_q[by_rows](q, k, v, do, lse, delta, dq, scale, n,
                                  **shape)
    return o, dq, dk, dv


def reference(q, k, v, do, causal):
    q, k, v, do = (a.astype(np.float64) for a in (q, k, v, do))
    n, scale = q.shape[1], q.shape[2]**-0.5
    s = q @ k.swapaxes(1, 2) * scale
    if causal:
        s = np.where(np.tri(n, dtype=bool), s, -np.inf)
    p = np.exp(s - s.max(axis=2, keepdims=True))
    p /= p.sum(axis=2, keepdims=True)
    o = p @ v
    dp = do @ v.swapaxes(1, 2)
    ds = p * (dp - (o * do).sum(axis=2, keepdims=True)) * scale
    return o, ds @ k, ds.swapaxes(1, 2) @ q, p.swapaxes(1, 2) @ do


def main():
    rng = np.random.default_rng(0)
    cases = [(shape, causal)
             for shape in ((1, 1, 16), (2, 64, 32), (2, 75, 16))
             for causal in (False, True)]
    for shape, causal in cases:
        tensors = rng.standard_normal((4, *shape)).astype(np.float32)
        for got, want in zip(attention(*tensors, causal),
                             reference(*tensors, causal)):
            np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-5)
    print('flash_attention: OK,', len(cases), 'cases')


if __name__ == '__main__':
    main()
