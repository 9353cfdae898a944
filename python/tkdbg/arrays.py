"""Arrays of NumPy and PyTorch, and memory of launches, as float64 or int64.

For comparing a script's arrays with what its kernels wrote: shapes, addresses
and values, whatever the element type is.
"""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from . import arguments, torch_private

if TYPE_CHECKING:
    from ._capi import Tensor

ROUNDED = 2.0 ** -8  # the error of a cast to a narrower type


class Memory(NamedTuple):
    """Where an array lies: addresses, and strides in elements."""
    data: int
    itemsize: int
    shape: tuple
    strides: tuple
    storage: int
    nbytes: int

    def meets(self, at: int, nbytes: int) -> bool:
        """Whether its storage has a byte of a stretch of memory."""
        return self.storage < at + nbytes and at < self.storage + self.nbytes


def memory(array: Any) -> Memory | None:
    """The Memory of a tensor on the host or an array; None: it has none."""
    kind = arguments.kind_of(type(array))
    try:
        if kind == "torch":
            with torch_private.unseen():  # nobody is given the address
                storage, size = array.untyped_storage(), array.element_size()
                return Memory(
                    storage.data_ptr() + array.storage_offset() * size, size,
                    tuple(array.shape), tuple(array.stride()),
                    storage.data_ptr(), storage.nbytes())
        if kind == "numpy":
            root = array
            while getattr(root, "base", None) is not None and hasattr(
                    root.base, "ctypes"):
                root = root.base
            return Memory(array.ctypes.data, array.itemsize, array.shape,
                          tuple(s // array.itemsize for s in array.strides),
                          root.ctypes.data, root.nbytes)
    except (RuntimeError, AttributeError, ZeroDivisionError):
        return None
    if kind == "pointer" and getattr(array, "base", None) is not None:
        return memory(array.base)
    return None


def values(array: Any) -> Any:
    """The elements as a NumPy array of float64 or int64, where complex
    numbers have one more axis; None: unknown."""
    import numpy
    if arguments.kind_of(type(array)) == "torch":
        t = array.detach().cpu()
        if t.is_complex():
            import torch
            t = torch.view_as_real(t.resolve_conj())
        t = t.double() if t.is_floating_point() else t.long()
        return t.numpy()
    try:
        array = numpy.asarray(array)
    except Exception:
        return None
    if array.dtype.kind in "biu":
        return array.astype("i8")
    if array.dtype.kind == "c":
        return numpy.stack([array.real, array.imag], -1).astype("f8")
    return array.astype("f8") if array.dtype.kind == "f" else None


def elements(lib: Any, tensor: Tensor) -> Any:
    """The whole storage of a tk_tensor as a 1-D NumPy array of float64 or
    int64; None for an element type that NumPy lacks."""
    import ctypes

    import numpy
    name = lib.tk_dtype_name(tensor.dtype).decode()
    raw = numpy.frombuffer(ctypes.string_at(tensor.storage or 0,
                                            tensor.storage_bytes), "u1")
    if name == "bf16":
        wide = raw.view("u2").astype("u4") << 16
        return wide.view("f4").astype("f8")
    if name == "int1":
        return raw.astype("i8")
    if name in _FP8_BIAS:
        return _fp8(name)[raw]
    plain = {"fp": "f", "in": "i", "ui": "u"}.get(name[:2])
    bits = name.lstrip("abcdefghijklmnopqrstuvwxyz")
    if plain is None or not bits.isdigit():
        return None
    size = int(bits) // 8
    found = raw[:len(raw) // size * size].view(f"{plain}{size}")
    return found.astype("f8" if plain == "f" else "i8")


def positions(offset: int, shape: Any, strides: Any) -> Any:
    """Which element of a storage each one of a view is, in the view's shape;
    offset: that of its first."""
    import numpy
    at = numpy.asarray(offset)
    for n, step in zip(shape, strides):
        at = at[..., None] + numpy.arange(n) * step
    return at


def places(lib: Any, tensor: Tensor) -> Any:
    """The same of a tk_tensor."""
    offset = ((tensor.data or 0) - (tensor.storage or 0)) // (
        lib.tk_dtype_size(tensor.dtype))
    return positions(offset, tensor.shape[:tensor.rank],
                     tensor.strides[:tensor.rank])


_FP8_BIAS = {"fp8e4nv": 7, "fp8e5": 15, "fp8e4b8": 8, "fp8e5b16": 16,
             "fp8e4b15": 15}


def _fp8(name):
    """The value of each byte."""
    import numpy
    bits = 7 - int(name[4])  # of the fraction
    byte = numpy.arange(256)
    power, fraction = byte >> bits & (1 << 7 - bits) - 1, byte % (1 << bits)
    small = power == 0  # subnormal
    table = (fraction / (1 << bits) + ~small) * 2.0 ** (
        power + small - _FP8_BIAS[name])
    table[byte > 127] *= -1
    if name == "fp8e5":  # as IEEE has it
        table[byte % 128 == 0x7c] *= numpy.inf
        table[byte % 128 > 0x7c] = numpy.nan
    elif name == "fp8e4nv":
        table[byte % 128 == 0x7f] = numpy.nan
    elif name != "fp8e4b15":
        table[0x80] = numpy.nan
    return table
