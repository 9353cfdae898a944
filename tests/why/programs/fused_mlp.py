"""A transformer's MLP: RMS norm, a gated product of two weights, and the
product back with the residual, split over K by atomics."""
import numpy as np
import triton
import triton.language as tl


@triton.jit
def _sigmoid(x):
    return 1.0 / (1.0 + tl.exp(-x))


@triton.jit
def _swiglu(gate, up):
    return gate * _sigmoid(gate) * up


@triton.jit
def rms_norm(X, W, Y, n, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    square = tl.zeros([BLOCK], dtype=tl.float32)
    for start in range(0, n, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        x = tl.load(X + row * n + cols, mask=cols < n, other=0.0)
        square += x * x
    rstd = 1.0 / tl.sqrt(tl.sum(square, 0) / n + eps)
    for start in range(0, n, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        x = tl.load(X + row * n + cols, mask=cols < n, other=0.0)
        w = tl.load(W + cols, mask=cols < n, other=0.0)
        tl.store(Y + row * n + cols, x * rstd * w, mask=cols < n)


@triton.jit
def _tile(X, rows, cols, m, n, stride):
    return tl.load(X + rows[:, None] * stride + cols[None, :],
                   mask=(rows[:, None] < m) & (cols[None, :] < n), other=0.0)


@triton.jit
def gate_up(X, WGate, WUp, H, m, n, k, BM: tl.constexpr, BN: tl.constexpr,
            BK: tl.constexpr):
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    cols = tl.program_id(1) * BN + tl.arange(0, BN)
    gate = tl.zeros([BM, BN], dtype=tl.float32)
    up = tl.zeros([BM, BN], dtype=tl.float32)
    for start in range(0, k, BK):
        ks = start + tl.arange(0, BK)
        x = _tile(X, rows, ks, m, k, k)
        gate += tl.dot(x, _tile(WGate, ks, cols, k, n, n),
                       input_precision='ieee')
        up += tl.dot(x, _tile(WUp, ks, cols, k, n, n),
                     input_precision='ieee')
    tl.store(H + rows[:, None] * n + cols[None, :], _swiglu(gate, up),
             mask=(rows[:, None] < m) & (cols[None, :] < n))


@triton.jit
def down(H, W, Residual, Out, m, n, k, splits, BM: tl.constexpr,
         BN: tl.constexpr, BK: tl.constexpr):
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    cols = tl.program_id(1) * BN + tl.arange(0, BN)
    split = tl.program_id(2)
    acc = tl.zeros([BM, BN], dtype=tl.float32)
    for start in range(split * BK, k, splits * BK):
        ks = start + tl.arange(0, BK)
        h = _tile(H, rows, ks, m, k, k)
        w = _tile(W, ks, cols, k, n, n)
        acc = tl.dot(h, w, acc, input_precision='ieee')
    if split == 0:
        acc += _tile(Residual, rows, cols, m, n, n)
    tl.atomic_add(Out + rows[:, None] * n + cols[None, :], acc,
                  mask=(rows[:, None] < m) & (cols[None, :] < n))


def mlp(x, out, norm, w_gate, w_up, w_down, eps=1e-6, splits=2):
    m, width = x.shape
    hidden = w_gate.shape[1]
    normed = np.empty_like(x)
    h = np.empty((m, hidden), np.float32)
    out[:] = 0
    rms_norm[(m,)](x, norm, normed, width, eps, BLOCK=32)
    gate_up[(triton.cdiv(m, 16), triton.cdiv(hidden, 16))](
        normed, w_gate, w_up, h, m, hidden, width, BM=16, BN=16, BK=16)
    down[(triton.cdiv(m, 16), triton.cdiv(width, 16), splits)](
        h, w_down, x, out, m, width, hidden, splits, BM=16, BN=16, BK=16)


def network(x, layers):
    """The layers one after the other, in two buffers."""
    here, there = x.copy(), np.empty_like(x)
    for layer in layers:
        mlp(here, there, *layer)
        here, there = there, here
    return here


def reference(x, norm, w_gate, w_up, w_down, eps=1e-6):
    x = x.astype(np.float64)
    y = x / np.sqrt((x * x).mean(1, keepdims=True) + eps) * norm
    gate = y @ w_gate
    return x + (gate / (1 + np.exp(-gate)) * (y @ w_up)) @ w_down


def main():
    rng = np.random.default_rng(14)
    m, width, hidden = 21, 40, 72
    x = rng.standard_normal((m, width)).astype(np.float32)
    layers = []
    for _ in range(3):
        norm = rng.uniform(0.5, 1.5, width).astype(np.float32)
        up = (rng.standard_normal((2, width, hidden)) / 6).astype(np.float32)
        back = (rng.standard_normal((hidden, width)) / 8).astype(np.float32)
        layers.append((norm, *up, back))
    out, expected = network(x, layers), x
    for layer in layers:
        expected = reference(expected, *layer)
    np.testing.assert_allclose(out, expected, rtol=1e-4, atol=1e-4)
    print('ok')


if __name__ == '__main__':
    main()
