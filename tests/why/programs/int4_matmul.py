"""Weights of four bits with a scale and a zero point for each group of rows:
they are quantised and packed, multiplied split over K, and added up."""
import numpy as np
import triton
import triton.language as tl


@triton.jit
def quantise(W, Packed, Scales, Zeros, n, GROUP: tl.constexpr,
             BN: tl.constexpr):
    """Eight rows to an int32; a program does one group of rows."""
    group = tl.program_id(0)
    cols = tl.program_id(1) * BN + tl.arange(0, BN)
    there = cols < n
    rows = group * GROUP + tl.arange(0, GROUP)
    w = tl.load(W + rows[:, None] * n + cols[None, :], mask=there[None, :],
                other=0.0)
    low = tl.min(w, 0)
    scale = tl.maximum((tl.max(w, 0) - low) / 15.0, 1e-6)
    zero = tl.floor(-low / scale + 0.5)
    tl.store(Scales + group * n + cols, scale, mask=there)
    tl.store(Zeros + group * n + cols, zero, mask=there)
    for i in tl.static_range(GROUP // 8):
        word = tl.zeros([BN], dtype=tl.int32)
        for j in tl.static_range(8):
            row = group * GROUP + i * 8 + j
            x = tl.load(W + row * n + cols, mask=there, other=0.0)
            q = tl.floor(x / scale + 0.5) + zero
            q = tl.minimum(tl.maximum(q, 0.0), 15.0).to(tl.int32)
            word = word | (q << (4 * j))
        tl.store(Packed + (group * (GROUP // 8) + i) * n + cols, word,
                 mask=there)


@triton.jit
def _unpack(Packed, ks, cols, there, n):
    word = tl.load(Packed + (ks // 8)[:, None] * n + cols[None, :],
                   mask=there[None, :], other=0)
    return (word >> ((ks % 8) * 4)[:, None]) & 15


@triton.jit
def _weights(Packed, Scales, Zeros, ks, cols, there, n, GROUP: tl.constexpr):
    q = _unpack(Packed, ks, cols, there, n)
    at = (ks // GROUP)[:, None] * n + cols[None, :]
    scale = tl.load(Scales + at, mask=there[None, :], other=0.0)
    zero = tl.load(Zeros + at, mask=there[None, :], other=0.0)
    return (q.to(tl.float32) - zero) * scale


@triton.jit
def multiply(X, Packed, Scales, Zeros, Part, m, n, k, per, stride_ps,
             GROUP: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr,
             BK: tl.constexpr):
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    cols = tl.program_id(1) * BN + tl.arange(0, BN)
    split = tl.program_id(2)
    acc = tl.zeros([BM, BN], dtype=tl.float32)
    for start in range(split * per, min((split + 1) * per, k), BK):
        ks = start + tl.arange(0, BK)
        x = tl.load(X + rows[:, None] * k + ks[None, :],
                    mask=rows[:, None] < m, other=0.0)
        w = _weights(Packed, Scales, Zeros, ks, cols, cols < n, n, GROUP)
        acc = tl.dot(x, w, acc, input_precision='ieee')
    tl.store(Part + split * stride_ps + rows[:, None] * n + cols[None, :],
             acc, mask=(rows[:, None] < m) & (cols[None, :] < n))


@triton.jit
def add_splits(Part, Bias, Out, size, n, splits, B: tl.constexpr):
    at = tl.program_id(0) * B + tl.arange(0, B)
    there = at < size
    acc = tl.load(Bias + at % n, mask=there, other=0.0)
    for s in range(splits):
        acc += tl.load(Part + s * size + at, mask=there, other=0.0)
    tl.store(Out + at, acc, mask=there)


def linear(x, w, bias, group=16, splits=3):
    m, k = x.shape
    n = w.shape[1]
    packed = np.empty((k // 8, n), np.int32)
    scales, zeros = np.empty((2, k // group, n), np.float32)
    quantise[(k // group, triton.cdiv(n, 32))](
        w, packed, scales, zeros, n, GROUP=group, BN=32)
    part = np.empty((splits, m, n), np.float32)
    out = np.empty((m, n), np.float32)
    BK = 16
    per = triton.cdiv(triton.cdiv(k, splits), BK) * BK
    grid = triton.cdiv(m, 16), triton.cdiv(n, 16), splits
    multiply[grid](x, packed, scales, zeros, part, m, n, k, per,
                   part.strides[0] // 4, GROUP=group, BM=16, BN=16, BK=BK)
    add_splits[(triton.cdiv(m * n, 128),)](part, bias, out, m * n, n, splits,
                                           B=128)
    return out


def reference(x, w, bias, group=16):
    k, n = w.shape
    blocks = w.reshape(k // group, group, n)
    low = blocks.min(1, keepdims=True)
    scale = np.maximum((blocks.max(1, keepdims=True) - low) / np.float32(15),
                       np.float32(1e-6))
    zero = np.floor(-low / scale + np.float32(0.5))
    q = np.clip(np.floor(blocks / scale + np.float32(0.5)) + zero, 0, 15)
    return x @ ((q - zero) * scale).reshape(k, n) + bias


def main():
    rng = np.random.default_rng(9)
    m, n, k = 20, 40, 128
    x = rng.standard_normal((m, k)).astype(np.float32)
    w = rng.standard_normal((k, n)).astype(np.float32)
    bias = rng.standard_normal(n).astype(np.float32)
    out, expected = linear(x, w, bias), reference(x, w, bias)
    assert np.allclose(out, expected, rtol=1e-3, atol=1e-3), (
        np.abs(out - expected).max())
    print('ok')


if __name__ == '__main__':
    main()
