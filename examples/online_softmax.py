"""Softmax and log-softmax of rows too long for one block.

One pass finds the maximum and the sum of exponentials together, lane by lane:
a lane carries (maximum, sum), and two such pairs combine to one.  A second
pass writes.  A row that is -inf throughout has no softmax; it gives zeros
(-inf for the logarithm).

Checked against float64: |error| <= 1e-6 + 1e-5 |reference|.
"""
import numpy as np
import triton
import triton.language as tl


@triton.jit
def join_parts(m_a, d_a, m_b, d_b):
    """(maximum, sum of exp(x - maximum)) of two sets of numbers together."""
    m = tl.maximum(m_a, m_b)
    # -inf is the maximum of nothing: leave it out of the difference.
    safe = tl.where(m == float('-inf'), 0.0, m)
    return m, d_a * tl.exp(m_a - safe) + d_b * tl.exp(m_b - safe)


@triton.jit
def online_softmax_kernel(x_ptr, y_ptr, n_cols, LOG: tl.constexpr,
                          BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    x_ptr += row * n_cols
    y_ptr += row * n_cols
    m = tl.full([BLOCK], float('-inf'), dtype=tl.float32)
    d = tl.zeros([BLOCK], dtype=tl.float32)
    for start in range(0, n_cols, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        mask = cols < n_cols
        x = tl.load(x_ptr + cols, mask=mask, other=float('-inf'))
        m, d = join_parts(m, d, x, mask.to(tl.float32))
    m, d = tl.reduce((m, d), 0, join_parts)
    empty = m == float('-inf')
    m = tl.where(empty, 0.0, m)
    d = tl.where(empty, 1.0, d)
    for start in range(0, n_cols, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        mask = cols < n_cols
        x = tl.load(x_ptr + cols, mask=mask, other=float('-inf'))
        if LOG:
            y = x - m - tl.log(d)
        else:
            y = tl.exp(x - m) / d
        tl.store(y_ptr + cols, y, mask=mask)


def online_softmax(x, log):
    y = np.empty_like(x)
    online_softmax_kernel[(x.shape[0], )](x, y, x.shape[1], LOG=log, BLOCK=64)
    return y


def reference(x, log):
    x = x.astype(np.float64)
    m = x.max(axis=1, keepdims=True)
    m = np.where(m == -np.inf, 0, m)
    d = np.exp(x - m).sum(axis=1, keepdims=True)
    d = np.where(d == 0, 1, d)
    return x - m - np.log(d) if log else np.exp(x - m) / d


def main():
    rng = np.random.default_rng(0)
    cases = [(shape, log) for shape in ((1, 1), (4, 64), (6, 500))
             for log in (False, True)]
    for shape, log in cases:
        x = (rng.standard_normal(shape) * 30).astype(np.float32)
        x[:, 1::5] = -np.inf
        if shape[0] > 1:
            x[1] = -np.inf
        np.testing.assert_allclose(online_softmax(x, log), reference(x, log),
                                   rtol=1e-5, atol=1e-6)
    print('online_softmax: OK,', len(cases), 'cases')


if __name__ == '__main__':
    main()
