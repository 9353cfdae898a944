"""What stands before attention: a packed projection is split into queries and
keys, which are normalised, rotated in pairs, and written with the values, the
keys and values into a cache."""
import numpy as np
import triton
import triton.language as tl


@triton.jit
def angles(Positions, Cos, Sin, n, base, HALF: tl.constexpr,
           B: tl.constexpr):
    """Cos and sin of each token's position times each frequency."""
    t = tl.program_id(0) * B + tl.arange(0, B)
    d = tl.arange(0, HALF)
    position = tl.load(Positions + t, mask=t < n, other=0).to(tl.float32)
    frequency = tl.exp(-tl.log(base) * d.to(tl.float32) / HALF)
    angle = position[:, None] * frequency[None, :]
    at = t[:, None] * HALF + d[None, :]
    tl.store(Cos + at, tl.cos(angle), mask=t[:, None] < n)
    tl.store(Sin + at, tl.sin(angle), mask=t[:, None] < n)


@triton.jit
def _inverse_rms(even, odd, eps, D: tl.constexpr):
    square = tl.sum(even * even, 1) + tl.sum(odd * odd, 1)
    return 1.0 / tl.sqrt(square / D + eps)


@triton.jit
def _normed(even, odd, W, d, eps, HALF: tl.constexpr):
    rstd = _inverse_rms(even, odd, eps, 2 * HALF)
    w_even = tl.load(W + 2 * d)
    w_odd = tl.load(W + 2 * d + 1)
    even = even * rstd[:, None] * w_even[None, :]
    odd = odd * rstd[:, None] * w_odd[None, :]
    return even, odd


@triton.jit
def _rotated(even, odd, cos, sin):
    return even * cos - odd * sin, even * sin + odd * cos


@triton.jit
def norm_rope(Packed, W, Cos, Sin, Out, n, stride_t, first, eps,
              HEADS: tl.constexpr, HALF: tl.constexpr, B: tl.constexpr):
    """Out: [head, token, 2 * HALF]."""
    t = tl.program_id(0) * B + tl.arange(0, B)
    head = tl.program_id(1)
    d = tl.arange(0, HALF)
    there = t[:, None] < n
    x = Packed + t[:, None] * stride_t + (first + head) * 2 * HALF
    even = tl.load(x + 2 * d[None, :], mask=there, other=0.0)
    odd = tl.load(x + 2 * d[None, :] + 1, mask=there, other=0.0)
    even, odd = _normed(even, odd, W, d, eps, HALF)
    angle = t[:, None] * HALF + d[None, :]
    cos = tl.load(Cos + angle, mask=there, other=1.0)
    sin = tl.load(Sin + angle, mask=there, other=0.0)
    even, odd = _rotated(even, odd, cos, sin)
    out = Out + (head * n + t[:, None]) * 2 * HALF + 2 * d[None, :]
    tl.store(out, even, mask=there)
    tl.store(out + 1, odd, mask=there)


@triton.jit
def write_cache(K, Packed, KCache, VCache, Slots, n, stride_t, first,
                stride_slot, HK: tl.constexpr, D: tl.constexpr):
    """The keys and values of a token into its slot; -1: it is padding."""
    token = tl.program_id(0)
    slot = tl.load(Slots + token)
    if slot < 0:
        return
    heads = tl.arange(0, HK)
    d = tl.arange(0, D)
    k = tl.load(K + (heads[:, None] * n + token) * D + d[None, :])
    v = tl.load(Packed + token * stride_t + (first + heads[:, None]) * D +
                d[None, :])
    at = slot * stride_slot + heads[:, None] * D + d[None, :]
    tl.store(KCache + at, k)
    tl.store(VCache + at, v)


def prepare(packed, positions, slots, w_q, w_k, k_cache, v_cache, heads,
            kv_heads, base=100.0, eps=1e-6):
    n, width = packed.shape
    dim = width // (heads + 2 * kv_heads)
    cos, sin = np.empty((2, n, dim // 2), np.float32)
    q = np.empty((heads, n, dim), np.float32)
    k = np.empty((kv_heads, n, dim), np.float32)
    blocks = triton.cdiv(n, 8)
    angles[(blocks,)](positions, cos, sin, n, base, HALF=dim // 2, B=8)
    norm_rope[(blocks, heads)](packed, w_q, cos, sin, q, n, width, 0, eps,
                               HEADS=heads, HALF=dim // 2, B=8)
    norm_rope[(blocks, kv_heads)](packed, w_k, cos, sin, k, n, width, heads,
                                  eps, HEADS=kv_heads, HALF=dim // 2, B=8)
    write_cache[(n,)](k, packed, k_cache, v_cache, slots, n, width,
                      heads + kv_heads, k_cache.strides[0] // 4, HK=kv_heads,
                      D=dim)
    return q


def turned(x, w, positions, base, eps):
    x = x / np.sqrt((x * x).mean(-1, keepdims=True) + eps) * w
    half = x.shape[-1] // 2
    angle = np.outer(positions, base ** -(np.arange(half) / half))[:, None]
    z = (x[..., ::2] + 1j * x[..., 1::2]) * np.exp(1j * angle)
    return np.stack([z.real, z.imag], -1).reshape(x.shape)


def main():
    rng = np.random.default_rng(15)
    n, heads, kv_heads, dim, base = 19, 4, 2, 16, 100.0
    packed = rng.standard_normal((n, (heads + 2 * kv_heads) * dim))
    packed = packed.astype(np.float32)
    positions = rng.integers(0, 60, n).astype(np.int32)
    slots = rng.permutation(n).astype(np.int32)
    slots[[4, 11]] = -1
    w_q, w_k = rng.uniform(0.5, 1.5, (2, dim)).astype(np.float32)
    k_cache, v_cache = np.zeros((2, 40, kv_heads, dim), np.float32)
    q = prepare(packed, positions, slots, w_q, w_k, k_cache, v_cache, heads,
                kv_heads, base)
    rows = packed.astype(np.float64).reshape(n, -1, dim)
    k_all = turned(rows[:, heads:heads + kv_heads], w_k, positions, base, 1e-6)
    k_ref, v_ref = np.zeros_like(k_cache), np.zeros_like(v_cache)
    k_ref[slots[slots >= 0]] = k_all[slots >= 0]
    v_ref[slots[slots >= 0]] = rows[slots >= 0, heads + kv_heads:]
    q_ref = turned(rows[:, :heads], w_q, positions, base, 1e-6)
    np.testing.assert_allclose(q.swapaxes(0, 1), q_ref, rtol=1e-3, atol=1e-4)
    assert np.allclose(k_cache, k_ref, rtol=1e-3, atol=1e-4)
    assert np.array_equal(v_cache, v_ref)
    print('ok')


if __name__ == '__main__':
    main()
