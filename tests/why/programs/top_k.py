"""The k largest of each row and a softmax of them: candidates of each block,
the best of the candidates, then probabilities with temperature, and a sum of
values by these."""
import numpy as np
import triton
import triton.language as tl


@triton.jit
def _largest(x, at):
    """The largest and where it stands; of equals the first."""
    most = tl.max(x, 0)
    return most, tl.min(tl.where(x == most, at, 2147483647), 0)


@triton.jit
def _drop(x, at, which):
    return tl.where(at == which, float('-inf'), x)


@triton.jit
def candidates(X, Best, At, n, blocks, stride_x, K: tl.constexpr,
               B: tl.constexpr):
    row = tl.program_id(0)
    block = tl.program_id(1)
    at = block * B + tl.arange(0, B)
    x = tl.load(X + row * stride_x + at, mask=at < n, other=float('-inf'))
    out = (row * blocks + block) * K
    for i in range(K):
        most, where = _largest(x, at)
        tl.store(Best + out + i, most)
        tl.store(At + out + i, where)
        x = _drop(x, at, where)


@triton.jit
def merge(Best, At, Values, Index, count, K: tl.constexpr, C: tl.constexpr):
    row = tl.program_id(0)
    c = tl.arange(0, C)
    x = tl.load(Best + row * count + c, mask=c < count, other=float('-inf'))
    at = tl.load(At + row * count + c, mask=c < count, other=2147483646)
    for i in range(K):
        most, where = _largest(x, at)
        tl.store(Values + row * K + i, most)
        tl.store(Index + row * K + i, where)
        x = _drop(x, at, where)


@triton.jit
def _softmax(x):
    e = tl.exp(x - tl.max(x, 0))
    return e / tl.sum(e, 0)


@triton.jit
def probabilities(Values, P, temperature, rows, K: tl.constexpr):
    row = tl.program_id(0)
    k = tl.arange(0, K)
    x = tl.load(Values + row * K + k)
    tl.store(P + row * K + k, _softmax(x / temperature))


@triton.jit
def mix(P, Index, Table, Out, width, K: tl.constexpr, B: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.program_id(1) * B + tl.arange(0, B)
    acc = tl.zeros([B], dtype=tl.float32)
    for i in range(K):
        p = tl.load(P + row * K + i)
        at = tl.load(Index + row * K + i)
        acc += p * tl.load(Table + at * width + cols, mask=cols < width,
                           other=0.0)
    tl.store(Out + row * width + cols, acc, mask=cols < width)


def top_k(x, table, k, temperature, B=32):
    rows, n = x.shape
    width = table.shape[1]
    blocks = triton.cdiv(n, B)
    best = np.empty((rows, blocks, k), np.float32)
    at = np.empty((rows, blocks, k), np.int32)
    values = np.empty((rows, k), np.float32)
    index = np.empty((rows, k), np.int32)
    p = np.empty_like(values)
    out = np.empty((rows, width), np.float32)
    candidates[(rows, blocks)](x, best, at, n, blocks, x.strides[0] // 4, K=k,
                               B=B)
    count = blocks * k
    merge[(rows,)](best, at, values, index, count, K=k,
                   C=triton.next_power_of_2(count))
    probabilities[(rows,)](values, p, temperature, rows, K=k)
    mix[(rows, triton.cdiv(width, 16))](p, index, table, out, width, K=k,
                                        B=16)
    return index, p, out


def main():
    rng = np.random.default_rng(13)
    rows, n, k, width = 9, 150, 4, 20
    whole = rng.standard_normal((rows, n + 10)).astype(np.float32)
    x = whole[:, :n]
    table = rng.standard_normal((n, width)).astype(np.float32)
    index, p, out = top_k(x, table, k, 0.7)
    order = np.argsort(-x, axis=1, kind='stable')[:, :k]
    best = np.take_along_axis(x, order, 1) / 0.7
    expected = np.exp(best - best.max(1, keepdims=True))
    expected /= expected.sum(1, keepdims=True)
    assert np.array_equal(index, order), 'the indices differ'
    np.testing.assert_allclose(p, expected, rtol=1e-5)
    np.testing.assert_allclose(
        out, np.einsum('rk,rkw->rw', expected, table[order]), rtol=1e-4,
        atol=1e-5)
    print('ok')


if __name__ == '__main__':
    main()
