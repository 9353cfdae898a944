"""Layer norm, forward and backward: dX by rows, dW and dB as partial sums of
runs of rows, and a kernel that adds these up."""
import numpy as np
import triton
import triton.language as tl


@triton.jit
def _row(ptr, row, cols, n):
    return tl.load(ptr + row * n + cols, mask=cols < n, other=0.0)


@triton.jit
def _moments(x, cols, n, eps):
    mean = tl.sum(x, 0) / n
    centred = tl.where(cols < n, x - mean, 0.0)
    var = tl.sum(centred * centred, 0) / n
    return mean, 1.0 / tl.sqrt(var + eps)


@triton.jit
def forward(X, Y, W, Bias, Mean, Rstd, n, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    x = _row(X, row, cols, n)
    mean, rstd = _moments(x, cols, n, eps)
    tl.store(Mean + row, mean)
    tl.store(Rstd + row, rstd)
    w = tl.load(W + cols, mask=cols < n, other=0.0)
    b = tl.load(Bias + cols, mask=cols < n, other=0.0)
    tl.store(Y + row * n + cols, (x - mean) * rstd * w + b, mask=cols < n)


@triton.jit
def _row_gradient(x_hat, wdy, rstd, n):
    c1 = tl.sum(x_hat * wdy, 0) / n
    c2 = tl.sum(wdy, 0) / n
    return (wdy - (x_hat * c1 + c2)) * rstd


@triton.jit
def backward(DX, DY, X, W, Mean, Rstd, PartW, PartB, m, n, per,
             BLOCK: tl.constexpr):
    part = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    there = cols < n
    w = tl.load(W + cols, mask=there, other=0.0)
    dw = tl.zeros([BLOCK], dtype=tl.float32)
    db = tl.zeros([BLOCK], dtype=tl.float32)
    for row in range(part * per, min((part + 1) * per, m)):
        x = _row(X, row, cols, n)
        dy = _row(DY, row, cols, n)
        mean = tl.load(Mean + row)
        rstd = tl.load(Rstd + row)
        x_hat = tl.where(there, (x - mean) * rstd, 0.0)
        dx = _row_gradient(x_hat, w * dy, rstd, n)
        tl.store(DX + row * n + cols, dx, mask=there)
        dw += dy * x_hat
        db += dy
    tl.store(PartW + part * n + cols, dw, mask=there)
    tl.store(PartB + part * n + cols, db, mask=there)


@triton.jit
def _column_sum(Part, rows, parts, cols, n, BM: tl.constexpr,
                BN: tl.constexpr):
    acc = tl.zeros([BM, BN], dtype=tl.float32)
    for i in range(0, parts, BM):
        r = i + rows
        acc += tl.load(Part + r[:, None] * n + cols[None, :],
                       mask=(r[:, None] < parts) & (cols[None, :] < n),
                       other=0.0)
    return tl.sum(acc, axis=0)


@triton.jit
def add_parts(PartW, PartB, DW, DB, parts, n, BM: tl.constexpr,
              BN: tl.constexpr):
    cols = tl.program_id(0) * BN + tl.arange(0, BN)
    rows = tl.arange(0, BM)
    dw = _column_sum(PartW, rows, parts, cols, n, BM, BN)
    db = _column_sum(PartB, rows, parts, cols, n, BM, BN)
    tl.store(DW + cols, dw, mask=cols < n)
    tl.store(DB + cols, db, mask=cols < n)


class LayerNorm:
    def __init__(self, weight, bias, eps=1e-5):
        self.weight, self.bias, self.eps = weight, bias, eps

    def forward(self, x):
        m, n = x.shape
        y = np.empty_like(x)
        self.x = x
        self.mean, self.rstd = np.empty((2, m), np.float32)
        self.block = triton.next_power_of_2(n)
        forward[(m,)](x, y, self.weight, self.bias, self.mean, self.rstd, n,
                      self.eps, BLOCK=self.block)
        return y

    def backward(self, dy, per=4):
        m, n = dy.shape
        parts = triton.cdiv(m, per)
        dx = np.empty_like(dy)
        part_w, part_b = np.empty((2, parts, n), np.float32)
        dw, db = np.empty((2, n), np.float32)
        backward[(parts,)](dx, dy, self.x, self.weight, self.mean, self.rstd,
                           part_w, part_b, m, n, per, BLOCK=self.block)
        add_parts[(triton.cdiv(n, 32),)](part_w, part_b, dw, db, parts, n,
                                         BM=4, BN=32)
        return dx, dw, db


def reference(x, w, b, dy, eps):
    x, dy = x.astype(np.float64), dy.astype(np.float64)
    rstd = 1 / np.sqrt(x.var(1, keepdims=True) + eps)
    x_hat = (x - x.mean(1, keepdims=True)) * rstd
    wdy = w * dy
    dx = (wdy - x_hat * (x_hat * wdy).mean(1, keepdims=True) -
          wdy.mean(1, keepdims=True)) * rstd
    return x_hat * w + b, dx, (dy * x_hat).sum(0), dy.sum(0)


def main():
    rng = np.random.default_rng(8)
    m, n = 38, 90
    x = (rng.standard_normal((m, n)) * 2 + 1).astype(np.float32)
    dy = rng.standard_normal((m, n)).astype(np.float32)
    w, b = rng.standard_normal((2, n)).astype(np.float32)
    norm = LayerNorm(w, b)
    y = norm.forward(x)
    got = y, *norm.backward(dy)
    for one, expected in zip(got, reference(x, w, b, dy, 1e-5)):
        np.testing.assert_allclose(one, expected, rtol=1e-4, atol=1e-4)
    print('ok')


if __name__ == '__main__':
    main()
