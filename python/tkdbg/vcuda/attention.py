"""Attention by the operators that only CUDA has, in fp32 and rounded once.

Libraries call ``aten::_flash_attention_forward`` and its kin by name, most
often as a reference for kernels of their own.
"""
from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import types


def kernels(torch: types.ModuleType) -> dict[str, Callable[..., Any]]:
    """{operator of ATen: a kernel for it}"""
    return {
        "_flash_attention_forward": _flash(torch),
        "_efficient_attention_forward": _efficient(torch),
        "_scaled_dot_product_flash_attention": _scaled_flash(torch),
        "_scaled_dot_product_efficient_attention": _scaled_efficient(torch),
    }


def attend(torch: types.ModuleType, q: Any, k: Any, v: Any, scale: Any,
           seen: Callable[..., Any], bias: Any = None) -> tuple[Any, Any]:
    """(output, logarithms of the sums) of one batch: heads, rows, columns.

    seen(rows, columns): a mask, or None where every key is seen."""
    groups = q.shape[-3] // k.shape[-3]
    q, k, v = q.float(), k.float(), v.float()
    if groups > 1:
        k = k.repeat_interleave(groups, -3)
        v = v.repeat_interleave(groups, -3)
    scale = 1 / math.sqrt(q.shape[-1]) if scale is None else scale
    scores = q @ k.transpose(-1, -2) * scale
    if bias is not None:
        scores = scores + bias.float()
    mask = seen(scores.shape[-2], scores.shape[-1])
    if mask is not None:
        scores = scores.masked_fill(~mask, -math.inf)
    sums = torch.logsumexp(scores, -1)
    weights = (scores - sums[..., None]).exp()
    return torch.nan_to_num(weights) @ v, sums


def _window(torch, causal, left=None, right=None, bottom=True):
    """The mask of a causal or sliding window; bottom: the last row sees the
    last key, else the first row sees the first."""
    left = None if left is None or left < 0 else left
    right = 0 if causal else None if right is None or right < 0 else right

    def seen(rows, columns):
        if left is None and right is None:
            return None
        shift = columns - rows if bottom else 0
        ahead = (torch.arange(columns)[None] - torch.arange(rows)[:, None] -
                 shift)
        mask = torch.ones(rows, columns, dtype=torch.bool)
        if right is not None:
            mask &= ahead <= right
        if left is not None:
            mask &= ahead >= -left
        return mask

    return seen


def _by_sequence(torch, q, k, v, starts_q, starts_k, scale, seen):
    """Sequences one after the other: rows, heads, columns."""
    out = torch.empty(*q.shape[:-1], v.shape[-1], dtype=q.dtype)
    sums = torch.empty(q.shape[1], q.shape[0])
    edges = list(zip(starts_q.tolist(), starts_q.tolist()[1:],
                     starts_k.tolist(), starts_k.tolist()[1:]))
    for a, b, c, d in edges:
        part, part_sums = attend(
            torch, q[a:b].transpose(0, 1), k[c:d].transpose(0, 1),
            v[c:d].transpose(0, 1), scale, seen)
        out[a:b] = part.transpose(0, 1).to(q.dtype)
        sums[:, a:b] = part_sums
    return out, sums


def _seeds(torch):
    return (torch.zeros(2, dtype=torch.uint64),
            torch.zeros((), dtype=torch.uint64))


def _flash(torch):
    def kernel(query, key, value, cum_seq_q, cum_seq_k, max_q, max_k,
               dropout_p, is_causal, return_debug_mask, *, scale=None,
               window_size_left=None, window_size_right=None, **_):
        seen = _window(torch, is_causal, window_size_left, window_size_right)
        if cum_seq_q is not None:
            out, sums = _by_sequence(torch, query, key, value, cum_seq_q,
                                     cum_seq_k, scale, seen)
        else:
            q, k, v = (t.transpose(1, 2) for t in (query, key, value))
            out, sums = attend(torch, q, k, v, scale, seen)
            out = out.transpose(1, 2).contiguous().to(query.dtype)
        return (out, sums, *_seeds(torch), query.new_empty(0))
    return kernel


def _efficient(torch):
    def kernel(query, key, value, bias, cu_seqlens_q, cu_seqlens_k,
               max_seqlen_q, max_seqlen_k, dropout_p, custom_mask_type,
               compute_log_sumexp=False, *, scale=None, seqlen_k=None,
               window_size=None):
        # 0: no mask, 1: causal from the top left, 2: from the bottom right
        seen = _window(torch, custom_mask_type > 0, window_size and
                       window_size - 1, bottom=custom_mask_type == 2)
        if cu_seqlens_q is not None:
            out, sums = _by_sequence(torch, query[0], key[0], value[0],
                                     cu_seqlens_q, cu_seqlens_k, scale, seen)
            out, sums = out[None], sums[None]
        else:
            q, k, v = (t.transpose(1, 2) for t in (query, key, value))
            out, sums = attend(torch, q, k, v, scale, seen, bias)
            out = out.transpose(1, 2).contiguous().to(query.dtype)
        seed, offset = (torch.zeros((), dtype=torch.int64) for _ in "ab")
        return (out, _aligned(torch, sums, compute_log_sumexp), seed, offset,
                query.shape[1], key.shape[1])
    return kernel


def _aligned(torch, sums, wanted):
    """Logarithms of sums as CUDA's memory-efficient kernels store them: rows
    padded to a multiple of 32 by infinity, or none at all."""
    if not wanted:
        return sums[..., :0]
    return torch.nn.functional.pad(sums, (0, -sums.shape[-1] % 32),
                                   value=math.inf)


def _scaled_flash(torch):
    def kernel(query, key, value, dropout_p=0.0, is_causal=False,
               return_debug_mask=False, *, scale=None):
        out, sums = attend(torch, query, key, value, scale,
                           _window(torch, is_causal, bottom=False))
        if out.shape == query.shape:  # in memory as the query is
            out = torch.empty_like(query).copy_(out)
        return (out.to(query.dtype), sums, None, None, query.shape[2],
                key.shape[2], *_seeds(torch), query.new_empty(0))
    return kernel


def _scaled_efficient(torch):
    def kernel(query, key, value, attn_bias, compute_log_sumexp,
               dropout_p=0.0, is_causal=False, *, scale=None):
        out, sums = attend(torch, query, key, value, scale, _window(
            torch, is_causal, bottom=False), attn_bias)
        rows = out.transpose(1, 2).contiguous()  # in memory heads come last
        return (rows.transpose(1, 2).to(query.dtype),
                _aligned(torch, sums, compute_log_sumexp),
                *(torch.zeros((), dtype=torch.int64) for _ in "ab"))
    return kernel
