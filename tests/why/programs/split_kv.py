"""Attention over split keys (grouped heads, causal), joined by a second
kernel that weighs the parts by their log-sum-exp."""
import math

import numpy as np
import triton
import triton.language as tl

LOG2E = tl.constexpr(1.4426950408889634)


@triton.jit
def _online(acc, total, m, s, v):
    m_new = tl.maximum(m, tl.max(s, 1))
    alpha = tl.math.exp2(m - m_new)
    p = tl.math.exp2(s - m_new[:, None])
    total = total * alpha + tl.sum(p, 1)
    acc = acc * alpha[:, None]
    acc += tl.dot(p.to(v.dtype), v)
    return acc, total, m_new


@triton.jit
def _walk(acc, total, m, q, k_ptr, v_ptr, stride_kn, stride_vn, rows, first,
          last, n, scale, CAUSAL: tl.constexpr, BN: tl.constexpr):
    for start in range(first, last, BN):
        cols = start + tl.arange(0, BN)
        there = cols < n
        k = tl.load(k_ptr + cols[None, :] * stride_kn, mask=there[None, :],
                    other=0.0)
        s = tl.dot(q, k) * scale
        s = tl.where(there[None, :], s, -1.0e30)
        if CAUSAL:
            s = tl.where(rows[:, None] >= cols[None, :], s, -1.0e30)
        v = tl.load(v_ptr + cols[:, None] * stride_vn, mask=there[:, None],
                    other=0.0)
        acc, total, m = _online(acc, total, m, s, v)
    return acc, total, m


@triton.jit
def attend_part(Q, K, V, Part, Lse, scale, stride_qz, stride_qh, stride_qm,
                stride_kz, stride_kh, stride_kn, stride_vz, stride_vh,
                stride_vn, stride_pz, stride_ps, stride_pm, heads, n, splits,
                GROUP: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr,
                D: tl.constexpr, CAUSAL: tl.constexpr):
    block = tl.program_id(0)
    zh = tl.program_id(1)
    split = tl.program_id(2)
    z = zh // heads
    h = zh % heads
    kv = h // GROUP
    rows = block * BM + tl.arange(0, BM)
    dims = tl.arange(0, D)
    q = tl.load(Q + z * stride_qz + h * stride_qh +
                rows[:, None] * stride_qm + dims[None, :],
                mask=rows[:, None] < n, other=0.0)
    k_ptr = K + z * stride_kz + kv * stride_kh + dims[:, None]
    v_ptr = V + z * stride_vz + kv * stride_vh + dims[None, :]
    run = tl.cdiv(tl.cdiv(n, splits), BN) * BN
    first = split * run
    last = min(first + run, n)
    if CAUSAL:
        last = min(last, (block + 1) * BM)
    acc = tl.zeros([BM, D], dtype=tl.float32)
    total = tl.zeros([BM], dtype=tl.float32)
    m = tl.full([BM], -1.0e30, dtype=tl.float32)
    acc, total, m = _walk(acc, total, m, q, k_ptr, v_ptr, stride_kn, stride_vn,
                          rows, first, last, n, scale * LOG2E, CAUSAL, BN)
    safe = tl.where(total == 0.0, 1.0, total)
    lse = tl.where(total == 0.0, -1.0e30, m + tl.math.log2(safe))
    there = rows < n
    tl.store(Part + zh * stride_pz + split * stride_ps +
             rows[:, None] * stride_pm + dims[None, :], acc / safe[:, None],
             mask=there[:, None])
    tl.store(Lse + (zh * splits + split) * n + rows, lse, mask=there)


@triton.jit
def join_parts(Part, Lse, Out, stride_pz, stride_ps, stride_pm, stride_oz,
               stride_om, n, splits, S: tl.constexpr, BM: tl.constexpr,
               D: tl.constexpr):
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    zh = tl.program_id(1)
    dims = tl.arange(0, D)
    parts = tl.arange(0, S)
    there = rows < n
    lse = tl.load(Lse + (zh * splits + parts[:, None]) * n + rows[None, :],
                  mask=(parts[:, None] < splits) & there[None, :],
                  other=-1.0e30)
    m = tl.max(lse, 0)
    total = tl.sum(tl.math.exp2(lse - m[None, :]), 0)
    acc = tl.zeros([BM, D], dtype=tl.float32)
    for s in range(splits):
        part = tl.load(Part + zh * stride_pz + s * stride_ps +
                       rows[:, None] * stride_pm + dims[None, :],
                       mask=there[:, None], other=0.0)
        one = tl.load(Lse + (zh * splits + s) * n + rows, mask=there,
                      other=-1.0e30)
        acc += part * tl.math.exp2(one - m)[:, None]
    acc = acc / total[:, None]
    tl.store(Out + zh * stride_oz + rows[:, None] * stride_om +
             dims[None, :], acc.to(Out.dtype.element_ty),
             mask=there[:, None])


def strides(a):
    return [s // a.itemsize for s in a.strides]


def attention(q, k, v, causal, splits=3, BM=16, BN=16):
    batch, heads, n, dim = q.shape
    part = np.empty((batch * heads, splits, n, dim), np.float32)
    lse = np.empty((batch * heads, splits, n), np.float32)
    out = np.empty_like(q)
    blocks = triton.cdiv(n, BM)
    attend_part[(blocks, batch * heads, splits)](
        q, k, v, part, lse, 1.0 / math.sqrt(dim), *strides(q)[:3],
        *strides(k)[:3], *strides(v)[:3], *strides(part)[:3], heads, n, splits,
        GROUP=heads // k.shape[1], BM=BM, BN=BN, D=dim, CAUSAL=causal)
    join_parts[(blocks, batch * heads)](
        part, lse, out, *strides(part)[:3], *strides(out)[1:3], n, splits,
        S=triton.next_power_of_2(splits), BM=BM, D=dim)
    return out


def reference(q, k, v, causal):
    group = q.shape[1] // k.shape[1]
    k = np.repeat(k, group, axis=1).astype(np.float32)
    v = np.repeat(v, group, axis=1).astype(np.float32)
    s = q.astype(np.float32) @ k.swapaxes(-1, -2) / math.sqrt(q.shape[-1])
    if causal:
        n = q.shape[2]
        s = np.where(np.tri(n, dtype=bool), s, -np.inf)
    p = np.exp(s - s.max(-1, keepdims=True))
    return p @ v / p.sum(-1, keepdims=True)


def main():
    rng = np.random.default_rng(0)
    q = rng.standard_normal((2, 4, 50, 16)).astype(np.float16)
    k = rng.standard_normal((2, 2, 50, 16)).astype(np.float16)
    v = rng.standard_normal((2, 50, 2, 16)).astype(np.float16)
    v = v.swapaxes(1, 2)  # as a projection leaves it
    for causal in False, True:
        np.testing.assert_allclose(attention(q, k, v, causal),
                                   reference(q, k, v, causal),
                                   rtol=1e-2, atol=1e-2)
    print('ok')


if __name__ == '__main__':
    main()
