"""A product of int8: rows of X and columns of W are quantised by their largest
value, multiplied in int32 by blocks in a grouped order, scaled back."""
import numpy as np
import triton
import triton.language as tl


@triton.jit
def _round(x):
    return tl.floor(x + 0.5)


@triton.jit
def _to_int8(x, scale):
    q = _round(x / scale)
    return tl.minimum(tl.maximum(q, -127.0), 127.0).to(tl.int8)


@triton.jit
def quantise_rows(X, Q, Scale, width, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    most = tl.zeros([BLOCK], dtype=tl.float32)
    for start in range(0, width, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        x = tl.load(X + row * width + cols, mask=cols < width, other=0.0)
        most = tl.maximum(most, tl.abs(x))
    scale = tl.maximum(tl.max(most, 0) / 127.0, 1e-8)
    tl.store(Scale + row, scale)
    for start in range(0, width, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        x = tl.load(X + row * width + cols, mask=cols < width, other=0.0)
        tl.store(Q + row * width + cols, _to_int8(x, scale),
                 mask=cols < width)


@triton.jit
def _place(tile, tiles_m, tiles_n, TALL: tl.constexpr):
    """Tiles in an order of columns of TALL tiles, which reuses the cache."""
    per = TALL * tiles_n
    first = tile // per * TALL
    tall = min(tiles_m - first, TALL)
    return first + tile % per % tall, tile % per // tall


@triton.jit
def multiply(A, B, C, ScaleA, ScaleB, Bias, m, n, k, stride_am, stride_bn,
             stride_cm, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
             TALL: tl.constexpr):
    tile_m, tile_n = _place(tl.program_id(0), tl.cdiv(m, BM), tl.cdiv(n, BN),
                            TALL)
    rows = tile_m * BM + tl.arange(0, BM)
    cols = tile_n * BN + tl.arange(0, BN)
    ks = tl.arange(0, BK)
    acc = tl.zeros([BM, BN], dtype=tl.int32)
    for start in range(0, k, BK):
        left = k - start
        a = tl.load(A + rows[:, None] * stride_am + start + ks[None, :],
                    mask=(rows[:, None] < m) & (ks[None, :] < left), other=0)
        b = tl.load(B + cols[None, :] * stride_bn + start + ks[:, None],
                    mask=(cols[None, :] < n) & (ks[:, None] < left), other=0)
        acc += tl.dot(a, b)
    scale_a = tl.load(ScaleA + rows, mask=rows < m, other=0.0)
    scale_b = tl.load(ScaleB + cols, mask=cols < n, other=0.0)
    bias = tl.load(Bias + cols, mask=cols < n, other=0.0)
    out = acc.to(tl.float32) * scale_a[:, None] * scale_b[None, :]
    out += bias[None, :]
    tl.store(C + rows[:, None] * stride_cm + cols[None, :],
             tl.maximum(out, 0.0),
             mask=(rows[:, None] < m) & (cols[None, :] < n))


def quantised(x, BLOCK=32):
    q = np.empty(x.shape, np.int8)
    scale = np.empty(x.shape[0], np.float32)
    quantise_rows[(x.shape[0],)](x, q, scale, x.shape[1], BLOCK=BLOCK)
    return q, scale


def linear(x, w, bias):
    m, k = x.shape
    n = w.shape[0]
    a, scale_a = quantised(x)
    b, scale_b = quantised(w)
    out = np.empty((m, n), np.float32)
    BM = BN = 16
    multiply[(triton.cdiv(m, BM) * triton.cdiv(n, BN),)](
        a, b, out, scale_a, scale_b, bias, m, n, k, a.strides[0],
        b.strides[0], out.strides[0] // 4, BM=BM, BN=BN, BK=32, TALL=2)
    return out


def rounded(x):
    scale = np.maximum(np.abs(x).max(1) / np.float32(127), np.float32(1e-8))
    q = np.floor(x / scale[:, None] + np.float32(0.5))
    return np.clip(q, -127, 127) * scale[:, None]


def main():
    rng = np.random.default_rng(10)
    m, n, k = 45, 50, 90
    x = (rng.standard_normal((m, k)) * 3).astype(np.float32)
    w = rng.standard_normal((n, k)).astype(np.float32)
    bias = rng.standard_normal(n).astype(np.float32)
    out = linear(x, w, bias)
    expected = np.maximum(rounded(x) @ rounded(w).T + bias, 0)
    difference = np.abs(out - expected)
    if difference.max() > 1e-2:
        raise SystemExit(f'FAILED: off by {difference.max():.4f}')
    print('ok')


if __name__ == '__main__':
    main()
