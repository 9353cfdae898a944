"""Arguments for compiling: what stands for a value of a type."""
from __future__ import annotations

import re
from typing import Any

from . import tltypes, wrappers


def values(function: Any, signature: dict[Any, Any], constants: dict[Any, Any],
           attrs: Any = None) -> list[Any]:
    """An argument for each parameter of a jit function.

    signature: {name: type as signatures spell it}; constants: {path: value},
    a path being the number of a parameter and those of items in tuples;
    attrs: {path: [[name, number]]}, what is known of the others."""
    multiples = {path for path, known in (attrs or {}).items()
                 if ["tt.divisibility", 16] in map(list, known)}
    return [_value(name, (i,), signature, constants, multiples)
            for i, name in enumerate(function.arg_names)]


def _value(name, path, signature, constants, multiples):
    if path in constants:
        return tltypes.constexpr(tltypes.unwrap(constants[path]))
    return _item(path, signature.get(name, "constexpr"), constants, multiples)


class UnknownType(NotImplementedError, KeyError):
    """A type in a signature; Triton raises a KeyError."""


class TensorDescriptor:
    """What stands for a tensor descriptor of a dtype and a block's shape."""
    from_tensor = None  # that launches recognise a descriptor by
    padding = "zero"

    def __init__(self, dtype: str, shape: str) -> None:
        self.base = wrappers.MockTensor(tltypes.dtype(dtype))
        self.block_shape = [int(n) for n in shape.split(",")]
        self.shape = self.strides = [1] * len(self.block_shape)


# numbers of Python's that have a type and are multiples of 16
_MULTIPLES = {"int32": 16, "int64": 1 << 40, "uint64": 1 << 63}


def _item(path, kind, constants, multiples):
    if isinstance(kind, (tuple, list)):
        return tuple(_item((*path, i), k, constants, multiples)
                     for i, k in enumerate(kind))
    if path in constants or kind == "constexpr":
        return tltypes.constexpr(tltypes.unwrap(constants.get(path)))
    described = re.fullmatch(r"tensordesc<(\w+)\[([\d, ]+)\].*>", kind)
    if described:
        return TensorDescriptor(*described.groups())
    try:
        ty = tltypes.str_to_ty(kind)
    except AssertionError:
        raise UnknownType(
            f"triton.compile: tkdbg does not know the type {kind!r}; "
            "launch the kernel, or use kernel.warmup(...)") from None
    if ty.is_ptr():
        return wrappers.MockTensor(ty.element_ty, is_const=ty.const)
    if path in multiples and ty.name in _MULTIPLES:
        return _MULTIPLES[ty.name]
    return wrappers.MockScalar(ty)
