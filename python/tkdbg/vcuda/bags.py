"""Embedding bags as CUDA's kernel returns them.

The sums are the same on the CPU; what is returned beside them has other sizes
there, where its kernel needs less (ATen/native/EmbeddingBag.cpp and
ATen/native/cuda/EmbeddingBag.cu, PyTorch 2.15).  PyTorch's compiler counts on
CUDA's.
"""
from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from .. import torch_private

if TYPE_CHECKING:
    from .virtual import VirtualCuda

_MAX = 2  # the mode that returns indices of largest elements

NAMES = "aten::_embedding_bag", "aten::_embedding_bag_forward_only"


def embedding_bag(v: VirtualCuda, func: Callable[..., Any],
                  args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """(sums, the bag of each index, how many each bag has, indices of largest
    elements) of a call of ATen's operator."""
    found = func(*args, **kwargs)
    where = v.place(args[0])
    if where < 0:
        return found
    given = _named(func, args, kwargs)
    with torch_private.unseen():
        rest = _beside(v.torch, given, found[3])
    return v.mark((found[0], *rest), where)


def _named(func, args, kwargs):
    """{name: argument}, with defaults."""
    schema = torch_private.schema(getattr(func, "default", func)).arguments
    named = {a.name: a.default_value for a in schema}
    named.update(zip(named, args))
    return {**named, **kwargs}


def _beside(torch, given, largest):
    indices, starts = given["indices"], given["offsets"]
    if given["include_last_offset"]:
        starts = starts[:-1]
    at = torch.arange(indices.numel(), dtype=starts.dtype)
    bags = torch.searchsorted(starts, at, right=True) - 1
    counted = (indices.flatten() != given["padding_idx"]).to(indices.dtype)
    sizes = torch.zeros(starts.numel(), dtype=indices.dtype)
    sizes.index_add_(0, bags, counted)
    if given["mode"] != _MAX:
        largest = indices.new_empty(0)
    return bags.to(indices.dtype), sizes, largest
