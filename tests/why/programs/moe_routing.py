"""A mixture of experts: the gate's two best, a count for each expert, rows
sorted by expert and padded to blocks, a product for each block, and the
weighted sum of what the two experts of a token say."""
import numpy as np
import triton
import triton.language as tl


@triton.jit
def _best(x, cols):
    value = tl.max(x, 0)
    at = tl.min(tl.where(x == value, cols, 1 << 20), 0)
    return value, at


@triton.jit
def _two_best(x, cols):
    v0, e0 = _best(x, cols)
    v1, e1 = _best(tl.where(cols == e0, float('-inf'), x), cols)
    return v0, e0, v1, e1


@triton.jit
def gate(Logits, Weights, Experts, experts, E: tl.constexpr):
    token = tl.program_id(0)
    cols = tl.arange(0, E)
    x = tl.load(Logits + token * experts + cols, mask=cols < experts,
                other=float('-inf'))
    v0, e0, v1, e1 = _two_best(x, cols)
    w1 = 1.0 / (1.0 + tl.exp(v0 - v1))
    tl.store(Weights + token * 2, 1.0 - w1)
    tl.store(Weights + token * 2 + 1, w1)
    tl.store(Experts + token * 2, e0)
    tl.store(Experts + token * 2 + 1, e1)


@triton.jit
def count(Experts, Counts, n, B: tl.constexpr):
    at = tl.program_id(0) * B + tl.arange(0, B)
    e = tl.load(Experts + at, mask=at < n, other=0)
    tl.atomic_add(Counts + e, 1, mask=at < n)


@triton.jit
def offsets(Counts, Starts, BlockExpert, experts, E: tl.constexpr,
            BM: tl.constexpr):
    """Where the rows of an expert start, each a multiple of BM."""
    e = tl.arange(0, E)
    counts = tl.load(Counts + e, mask=e < experts, other=0)
    padded = tl.cdiv(counts, BM) * BM
    start = tl.cumsum(padded, 0) - padded
    tl.store(Starts + e, start, mask=e < experts)
    for b in range(0, tl.sum(padded, 0) // BM):
        mine = (start <= b * BM) & (b * BM < start + padded)
        tl.store(BlockExpert + b, tl.sum(tl.where(mine, e, 0), 0))


@triton.jit
def place(Experts, Starts, Row, n, B: tl.constexpr):
    """The row of each choice: those of one expert keep their order."""
    expert = tl.program_id(0)
    before = tl.load(Starts + expert)
    for base in range(0, n, B):
        at = base + tl.arange(0, B)
        e = tl.load(Experts + at, mask=at < n, other=-1)
        mine = (e == expert).to(tl.int32)
        row = before + tl.cumsum(mine, 0) - mine
        tl.store(Row + at, row, mask=mine != 0)
        tl.store(Row + n + row, at, mask=mine != 0)
        before += tl.sum(mine, 0)


@triton.jit
def expert_product(X, W, Y, Row, BlockExpert, n, width, stride_we, stride_wk,
                   K: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    block = tl.program_id(0)
    expert = tl.load(BlockExpert + block)
    if expert < 0:
        return
    rows = block * BM + tl.arange(0, BM)
    cols = tl.program_id(1) * BN + tl.arange(0, BN)
    ks = tl.arange(0, K)
    choice = tl.load(Row + n + rows)
    there = choice >= 0
    x = tl.load(X + (choice // 2)[:, None] * K + ks[None, :],
                mask=there[:, None], other=0.0)
    w = tl.load(W + expert * stride_we + ks[:, None] * stride_wk +
                cols[None, :], mask=cols[None, :] < width, other=0.0)
    y = tl.dot(x, w, input_precision='ieee')
    tl.store(Y + rows[:, None] * width + cols[None, :], y,
             mask=there[:, None] & (cols[None, :] < width))


@triton.jit
def combine(Y, Weights, Row, Out, width, BN: tl.constexpr):
    token = tl.program_id(0)
    cols = tl.arange(0, BN)
    acc = tl.zeros([BN], dtype=tl.float32)
    for j in tl.static_range(2):
        row = tl.load(Row + token * 2 + j)
        weight = tl.load(Weights + token * 2 + j)
        y = tl.load(Y + row * width + cols, mask=cols < width, other=0.0)
        acc += weight * y
    tl.store(Out + token * width + cols, acc, mask=cols < width)


class Work:
    """Buffers that are used again by each call."""

    def __init__(self, tokens, experts, BM=16):
        self.BM = BM
        self.blocks = triton.cdiv(tokens * 2, BM) + experts
        self.counts = np.empty(experts, np.int32)
        self.starts = np.empty(experts, np.int32)
        self.block_expert = np.empty(self.blocks, np.int32)
        self.row = np.empty(tokens * 2 + self.blocks * BM, np.int32)

    def clear(self):
        self.counts[:] = 0
        self.block_expert[:] = -1
        self.row[:] = -1


def moe(x, logits, w, work, BN=16):
    tokens, depth = x.shape
    experts, _, width = w.shape
    E = triton.next_power_of_2(experts)
    n = tokens * 2
    weights = np.empty((tokens, 2), np.float32)
    chosen = np.empty((tokens, 2), np.int32)
    y = np.empty((work.blocks * work.BM, width), np.float32)
    out = np.empty((tokens, width), np.float32)
    work.clear()
    gate[(tokens,)](logits, weights, chosen, experts, E=E)
    count[(triton.cdiv(n, 32),)](chosen, work.counts, n, B=32)
    offsets[(1,)](work.counts, work.starts, work.block_expert, experts, E=E,
                  BM=work.BM)
    place[(experts,)](chosen, work.starts, work.row, n, B=32)
    expert_product[(work.blocks, triton.cdiv(width, BN))](
        x, w, y, work.row, work.block_expert, n, width, depth * width, width,
        K=depth, BM=work.BM, BN=BN)
    combine[(tokens,)](y, weights, work.row, out, width,
                       BN=triton.next_power_of_2(width))
    return out


def reference(x, logits, w):
    out = np.zeros((x.shape[0], w.shape[2]))
    for t in range(x.shape[0]):
        best = np.argsort(-logits[t], kind='stable')[:2]
        p = np.exp(logits[t, best].astype(np.float64))
        for e, share in zip(best, p / p.sum()):
            out[t] += share * (x[t].astype(np.float64) @ w[e])
    return out


def main():
    rng = np.random.default_rng(3)
    tokens, experts, depth, width = 37, 5, 16, 24
    w = rng.standard_normal((experts, depth, width)).astype(np.float32)
    work = Work(tokens, experts)
    for _ in range(2):
        x = rng.standard_normal((tokens, depth)).astype(np.float32)
        logits = rng.standard_normal((tokens, experts)).astype(np.float32)
        out = moe(x, logits, w, work)
        np.testing.assert_allclose(out, reference(x, logits, w), rtol=1e-4,
                                   atol=1e-4)
    print('ok')


if __name__ == '__main__':
    main()
