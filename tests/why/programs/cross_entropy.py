"""Cross entropy over parts of the vocabulary with smoothing, a z-loss and
ignored labels: the parts, their join, the mean, and the gradient in place."""
import numpy as np
import triton
import triton.language as tl


@triton.jit
def _online(m, total, x):
    m_new = tl.maximum(m, tl.max(x, 0))
    total = total * tl.exp(m - m_new) + tl.sum(tl.exp(x - m_new), 0)
    return m_new, total


@triton.jit
def part_sums(X, Max, Sum, Logits, V, per, parts, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    part = tl.program_id(1)
    m = -1.0e30
    total = 0.0
    all_x = 0.0
    for v in range(part * per, min((part + 1) * per, V), BLOCK):
        cols = v + tl.arange(0, BLOCK)
        x = tl.load(X + row * V + cols, mask=cols < V, other=float('-inf'))
        m, total = _online(m, total, x)
        all_x += tl.sum(tl.where(cols < V, x, 0.0), 0)
    tl.store(Max + row * parts + part, m)
    tl.store(Sum + row * parts + part, total)
    tl.store(Logits + row * parts + part, all_x)


@triton.jit
def _joined(Max, Sum, row, parts, P: tl.constexpr):
    p = tl.arange(0, P)
    at = row * parts + p
    m = tl.load(Max + at, mask=p < parts, other=float('-inf'))
    total = tl.load(Sum + at, mask=p < parts, other=0.0)
    most = tl.max(m, 0)
    return most + tl.log(tl.sum(total * tl.exp(m - most), 0))


@triton.jit
def row_loss(X, Labels, Max, Sum, Logits, Loss, Lse, V, parts, smooth, z,
             ignore, P: tl.constexpr):
    row = tl.program_id(0)
    label = tl.load(Labels + row)
    lse = _joined(Max, Sum, row, parts, P)
    tl.store(Lse + row, lse)
    loss = 0.0
    if label != ignore:
        p = tl.arange(0, P)
        all_x = tl.sum(tl.load(Logits + row * parts + p, mask=p < parts,
                               other=0.0), 0)
        hit = tl.load(X + row * V + label)
        loss = lse - (1.0 - smooth) * hit - smooth / V * all_x
        loss += z * lse * lse
    tl.store(Loss + row, loss)


@triton.jit
def mean_loss(Loss, Labels, Out, Count, n, ignore, BLOCK: tl.constexpr):
    acc = tl.zeros([BLOCK], dtype=tl.float32)
    count = tl.zeros([BLOCK], dtype=tl.int32)
    for i in range(0, n, BLOCK):
        rows = i + tl.arange(0, BLOCK)
        acc += tl.load(Loss + rows, mask=rows < n, other=0.0)
        label = tl.load(Labels + rows, mask=rows < n, other=ignore)
        count += (label != ignore).to(tl.int32)
    tl.store(Count, tl.sum(count, 0))
    tl.store(Out, tl.sum(acc, 0) / tl.sum(count, 0))


@triton.jit
def _gradient(x, lse, hit, smooth, z, V):
    g = tl.exp(x - lse) * (1.0 + 2.0 * z * lse) - smooth / V
    return tl.where(hit, g - (1.0 - smooth), g)


@triton.jit
def backward(X, Labels, Lse, Count, V, smooth, z, ignore,
             BLOCK: tl.constexpr):
    """Writes the gradient over the logits."""
    row = tl.program_id(0)
    cols = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    label = tl.load(Labels + row)
    scale = 1.0 / tl.load(Count).to(tl.float32)
    if label == ignore:
        scale = 0.0
    x = tl.load(X + row * V + cols, mask=cols < V, other=0.0)
    g = _gradient(x, tl.load(Lse + row), cols == label, smooth, z, V)
    tl.store(X + row * V + cols, g * scale, mask=cols < V)


def cross_entropy(x, labels, smooth, z, ignore=-100, parts=3, BLOCK=32):
    n, V = x.shape
    most, total, logits = np.empty((3, n, parts), np.float32)
    loss, lse = np.empty((2, n), np.float32)
    mean = np.empty(1, np.float32)
    count = np.empty(1, np.int32)
    per = triton.cdiv(triton.cdiv(V, parts), BLOCK) * BLOCK
    part_sums[(n, parts)](x, most, total, logits, V, per, parts, BLOCK=BLOCK)
    row_loss[(n,)](x, labels, most, total, logits, loss, lse, V, parts,
                   smooth, z, ignore, P=triton.next_power_of_2(parts))
    mean_loss[(1,)](loss, labels, mean, count, n, ignore, BLOCK=16)
    backward[(n, triton.cdiv(V, BLOCK))](x, labels, lse, count, V, smooth, z,
                                         ignore, BLOCK=BLOCK)
    return mean[0], x


def reference(x, labels, smooth, z, ignore=-100):
    x = x.astype(np.float64)
    V = x.shape[1]
    most = x.max(1, keepdims=True)
    lse = (most + np.log(np.exp(x - most).sum(1, keepdims=True)))[:, 0]
    kept = labels != ignore
    target = np.full(x.shape, smooth / V)
    target[kept, labels[kept]] += 1 - smooth
    loss = (lse[:, None] * target - x * target).sum(1) + z * lse ** 2
    g = np.exp(x - lse[:, None]) * (1 + 2 * z * lse)[:, None] - target
    return loss[kept].mean(), g * kept[:, None] / kept.sum()


def main():
    rng = np.random.default_rng(11)
    n, V = 29, 150
    x = (rng.standard_normal((n, V)) * 3 + 1).astype(np.float32)
    labels = rng.integers(0, V, n).astype(np.int64)
    labels[::5] = -100
    loss_ref, grad_ref = reference(x, labels, 0.1, 1e-3)
    loss, grad = cross_entropy(x, labels, 0.1, 1e-3)
    assert np.allclose(loss, loss_ref, rtol=1e-4), f'{loss} {loss_ref}'
    assert np.abs(grad - grad_ref).max() < 1e-5
    print('ok')


if __name__ == '__main__':
    main()
