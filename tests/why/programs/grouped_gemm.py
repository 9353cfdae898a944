"""Products of several groups of rows in one launch, whose programs find their
group from running sums; a bias and GELU as epilogue, then a scale per row."""
import numpy as np
import triton
import triton.language as tl


@triton.jit
def _gelu(x):
    return 0.5 * x * (1.0 + tl.erf(x * 0.7071067811865476))


@triton.jit
def _epilogue(acc, Bias, cols, width, ACT: tl.constexpr):
    bias = tl.load(Bias + cols, mask=cols < width, other=0.0)
    acc += bias[None, :]
    if ACT:
        acc = _gelu(acc)
    return acc


@triton.jit
def _product(a_ptrs, b_ptrs, rows_there, cols_there, depth, step_a, step_b,
             BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    acc = tl.zeros([BM, BN], dtype=tl.float32)
    ks = tl.arange(0, BK)
    for k in range(0, tl.cdiv(depth, BK)):
        left = depth - k * BK
        a = tl.load(a_ptrs, mask=rows_there[:, None] & (ks[None, :] < left),
                    other=0.0)
        b = tl.load(b_ptrs, mask=(ks[:, None] < left) & cols_there[None, :],
                    other=0.0)
        acc += tl.dot(a, b)
        a_ptrs += BK * step_a
        b_ptrs += BK * step_b
    return acc


@triton.jit
def count_tiles(Offsets, First, groups, tiles_n, G: tl.constexpr,
                BM: tl.constexpr):
    """The number of the first tile of each group, and of all tiles."""
    g = tl.arange(0, G)
    there = g < groups
    lo = tl.load(Offsets + g, mask=there, other=0)
    hi = tl.load(Offsets + g + 1, mask=there, other=0)
    tiles = tl.cdiv(hi - lo, BM) * tiles_n
    after = tl.cumsum(tiles, 0)
    tl.store(First + g, after - tiles, mask=there)
    tl.store(First + groups, tl.sum(tiles, 0))


@triton.jit
def grouped(A, B, C, Bias, Offsets, First, groups, width, depth, stride_am,
            stride_ak, stride_bg, stride_bk, stride_bn, stride_cm,
            ACT: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr,
            BK: tl.constexpr):
    tile = tl.program_id(0)
    tiles_n = tl.cdiv(width, BN)
    total = tl.load(First + groups)
    while tile < total:
        g = 0
        while tl.load(First + g + 1) <= tile:
            g += 1
        inside = tile - tl.load(First + g)
        lo = tl.load(Offsets + g)
        hi = tl.load(Offsets + g + 1)
        rows = lo + (inside // tiles_n) * BM + tl.arange(0, BM)
        cols = (inside % tiles_n) * BN + tl.arange(0, BN)
        ks = tl.arange(0, BK)
        a_ptrs = A + rows[:, None] * stride_am + ks[None, :] * stride_ak
        b_ptrs = (B + g * stride_bg + ks[:, None] * stride_bk +
                  cols[None, :] * stride_bn)
        acc = _product(a_ptrs, b_ptrs, rows < hi, cols < width, depth,
                       stride_ak, stride_bk, BM, BN, BK)
        acc = _epilogue(acc, Bias + g * width, cols, width, ACT)
        tl.store(C + rows[:, None] * stride_cm + cols[None, :],
                 acc.to(C.dtype.element_ty),
                 mask=(rows[:, None] < hi) & (cols[None, :] < width))
        tile += tl.num_programs(0)


@triton.jit
def scale_rows(C, Scale, Out, m, width, BM: tl.constexpr, BN: tl.constexpr):
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    cols = tl.program_id(1) * BN + tl.arange(0, BN)
    there = (rows[:, None] < m) & (cols[None, :] < width)
    at = rows[:, None] * width + cols[None, :]
    c = tl.load(C + at, mask=there, other=0.0).to(tl.float32)
    scale = tl.load(Scale + rows, mask=rows < m, other=0.0)
    tl.store(Out + at, c * scale[:, None], mask=there)


def strides(a):
    return [s // a.itemsize for s in a.strides]


def grouped_linear(a, b, bias, sizes, scale, BM=16, BN=16, BK=16):
    m, depth = a.shape
    groups, _, width = b.shape
    offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int32)
    first = np.empty(groups + 1, np.int32)
    count_tiles[(1,)](offsets, first, groups, triton.cdiv(width, BN),
                      G=triton.next_power_of_2(groups), BM=BM)
    c = np.empty((m, width), np.float16)
    out = np.empty((m, width), np.float32)
    grouped[(5,)](a, b, c, bias, offsets, first, groups, width, depth,
                  *strides(a), *strides(b), strides(c)[0], ACT=True, BM=BM,
                  BN=BN, BK=BK)
    scale_rows[(triton.cdiv(m, BM), triton.cdiv(width, BN))](
        c, scale, out, m, width, BM=BM, BN=BN)
    return out


def reference(a, b, bias, sizes, scale):
    out, lo = [], 0
    for g, n in enumerate(sizes):
        x = a[lo:lo + n].astype(np.float32) @ b[g].astype(np.float32)
        x = (x + bias[g]).astype(np.float64)
        # GELU's erf by an approximation that is good to 1e-7.
        t = 1 / (1 + 0.5 * np.abs(x) / np.sqrt(2))
        poly = (-1.26551223 + t * (1.00002368 + t * (
            0.37409196 + t * (0.09678418 + t * (-0.18628806 + t * (
                0.27886807 + t * (-1.13520398 + t * (1.48851587 + t * (
                    -0.82215223 + t * 0.17087277)))))))))
        erf = np.sign(x) * (1 - t * np.exp(-x * x / 2 + poly))
        out.append(0.5 * x * (1 + erf))
        lo += n
    return np.concatenate(out) * scale[:, None]


def main():
    rng = np.random.default_rng(2)
    sizes = [21, 5, 0, 34]
    a = rng.standard_normal((sum(sizes), 40)).astype(np.float16)
    b = rng.standard_normal((len(sizes), 40, 40)).astype(np.float16)
    bias = rng.standard_normal((len(sizes), 40)).astype(np.float32)
    scale = rng.uniform(0.5, 2, sum(sizes)).astype(np.float32)
    got = grouped_linear(a, b, bias, sizes, scale)
    expected = reference(a, b, bias, sizes, scale)
    worst = np.abs(got - expected).max()
    assert worst < 5e-2, f'off by {worst}'
    print('ok')


if __name__ == '__main__':
    main()
