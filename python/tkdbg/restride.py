"""Arrays of other strides, with the same elements in the same shape; and of
other types.

What lies between the elements is not a number, where that can be: a kernel that
reads it gives something else.
"""
from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any

GAP = 3  # elements between rows
DTYPES = "float16", "bfloat16", "float32", "float64", "int32", "int64"


def padded(array: Any) -> Any:
    """Rows that do not follow each other at once."""
    shape = _shape(array)
    if len(shape) < 2:
        return array
    return _within(array, (*shape[:-1], shape[-1] + GAP),
                   (..., slice(0, shape[-1])))


def transposed(array: Any) -> Any:
    """The last two axes lie the other way round."""
    shape = _shape(array)
    if len(shape) < 2:
        return array
    turned = (*shape[:-2], shape[-1], shape[-2])
    return _within(array, turned, None)


def stepped(array: Any) -> Any:
    """Every second element along the last axis."""
    shape = _shape(array)
    if not shape:
        return array
    return _within(array, (*shape[:-1], 2 * shape[-1]),
                   (..., slice(0, 2 * shape[-1], 2)))


def expanded(array: Any) -> Any:
    """The first row in place of all, at a stride of 0."""
    shape = _shape(array)
    if len(shape) < 2:
        return array
    if _is_torch(array):
        return array if array.requires_grad else array[:1].expand(shape)
    numpy = sys.modules["numpy"]
    made = numpy.lib.stride_tricks.as_strided(
        array, shape, (0, *array.strides[1:]))
    return made


def _typed(dtype: str) -> Callable[[Any], Any]:
    def typed(array: Any) -> Any:
        if _is_torch(array):
            torch = sys.modules["torch"]
            if array.is_floating_point() != ("float" in dtype) or (
                    array.dtype in (torch.bool, torch.uint8)):
                return array
            other = array.detach().to(getattr(torch, dtype))
            return other.requires_grad_(array.requires_grad)
        numpy = sys.modules.get("numpy")
        if numpy is None or type(array) is not numpy.ndarray or (
                not hasattr(numpy, dtype) or
                array.dtype.kind != ("f" if "float" in dtype else "i")):
            return array
        return array.astype(dtype)
    typed.__doc__ = f"Numbers of {dtype} in place of others of this kind."
    return typed


float16, bfloat16, float32, float64, int32, int64 = map(_typed, DTYPES)


def _shape(array: Any) -> Sequence[int]:
    """That of an array that can be laid out in another way; (): it cannot."""
    if _is_torch(array):
        return array.shape if array.numel() else ()
    numpy = sys.modules.get("numpy")
    return array.shape if numpy is not None and type(
        array) is numpy.ndarray and array.size else ()


def _is_torch(array):
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(
        array, torch.Tensor) and not isinstance(
            array, torch.nn.Parameter) and array.is_leaf


def _within(array, shape, part):
    """The array as a part of another one; None: as the other one with its last
    axes turned."""
    if _is_torch(array):
        whole = array.detach().new_zeros(shape)
        if whole.is_floating_point() and whole.element_size() > 1:
            whole.fill_(float("nan"))
        view = whole.mT if part is None else whole[part]
        view.copy_(array.detach())
        return view.requires_grad_(array.requires_grad)
    numpy: Any = sys.modules["numpy"]
    whole = numpy.zeros(shape, array.dtype)
    if array.dtype.kind in "fc":
        whole.fill(numpy.nan)
    view = whole.swapaxes(-1, -2) if part is None else whole[part]
    view[...] = array
    return view
