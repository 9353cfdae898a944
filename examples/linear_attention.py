"""Causal linear attention with decay, in chunks (the recurrence of RetNet).

    S[t] = decay * S[t - 1] + k[t] (outer) v[t],    o[t] = q[t] @ S[t]

Inside a chunk the outputs are a masked matrix product; between chunks a state
is carried.  One program computes one head, and a slice of the columns of v.

Checked against float64: |error| <= 1e-4 + 1e-4 |reference|.
"""
import numpy as np
import triton
import triton.language as tl


@triton.jit
def linear_attention_kernel(q_ptr, k_ptr, v_ptr, o_ptr, decay_ptr, n, dim_v,
                            CHUNK: tl.constexpr, DIM_K: tl.constexpr,
                            BLOCK_V: tl.constexpr):
    head = tl.program_id(1).to(tl.int64)
    cols = tl.program_id(0) * BLOCK_V + tl.arange(0, BLOCK_V)
    dims = tl.arange(0, DIM_K)
    log_decay = tl.log2(tl.load(decay_ptr + head))
    t = tl.arange(0, CHUNK)
    # Entry (i, j): how much of step j is left at step i of the same chunk.
    gap = t[:, None] - t[None, :]
    within = tl.where(gap >= 0, tl.exp2(gap * log_decay), 0.0)
    since_start = tl.exp2((t + 1) * log_decay)
    until_end = tl.exp2((CHUNK - 1 - t) * log_decay)
    whole = tl.exp2(CHUNK * log_decay)
    state = tl.zeros([DIM_K, BLOCK_V], dtype=tl.float32)
    for start in range(0, n, CHUNK):
        time = start + t
        at_k = (head * n + time[:, None]) * DIM_K + dims[None, :]
        at_v = (head * n + time[:, None]) * dim_v + cols[None, :]
        mask_v = (time[:, None] < n) & (cols[None, :] < dim_v)
        q = tl.load(q_ptr + at_k, mask=time[:, None] < n, other=0.0)
        k = tl.load(k_ptr + at_k, mask=time[:, None] < n, other=0.0)
        v = tl.load(v_ptr + at_v, mask=mask_v, other=0.0)
        s = tl.dot(q, tl.trans(k), input_precision='ieee') * within
        o = tl.dot(s, v, input_precision='ieee')
        o += tl.dot(q * since_start[:, None], state, input_precision='ieee')
        # Steps past the end add zeros; the state is not needed after them.
        state = tl.dot(tl.trans(k * until_end[:, None]), v, state * whole,
                       input_precision='ieee')
        tl.store(o_ptr + at_v, o, mask=mask_v)


def linear_attention(q, k, v, decay):
    heads, n, dim_k = q.shape
    dim_v = v.shape[2]
    o = np.empty_like(v)
    grid = lambda meta: (triton.cdiv(dim_v, meta['BLOCK_V']), heads)
    linear_attention_kernel[grid](q, k, v, o, decay, n, dim_v, CHUNK=16,
                                  DIM_K=dim_k, BLOCK_V=16)
    return o


def reference(q, k, v, decay):
    q, k, v, decay = (a.astype(np.float64) for a in (q, k, v, decay))
    state = np.zeros((q.shape[0], q.shape[2], v.shape[2]))
    o = np.empty_like(v)
    for t in range(q.shape[1]):
        state = (decay[:, None, None] * state +
                 k[:, t, :, None] * v[:, t, None, :])
        o[:, t] = np.einsum('hd,hde->he', q[:, t], state)
    return o


def main():
    rng = np.random.default_rng(0)
    shapes = (1, 1, 16, 1), (2, 64, 32, 16), (3, 75, 16, 45)
    for heads, n, dim_k, dim_v in shapes:
        q, k = (rng.standard_normal((heads, n, dim_k)) / np.sqrt(dim_k)
                for _ in range(2))
        v = rng.standard_normal((heads, n, dim_v))
        decay = 1 - 2.0**(-3.0 - np.arange(heads))
        args = [a.astype(np.float32) for a in (q, k, v, decay)]
        np.testing.assert_allclose(linear_attention(*args), reference(*args),
                                   rtol=1e-4, atol=1e-4)
    print('linear_attention: OK,', len(shapes), 'shapes')


if __name__ == '__main__':
    main()
