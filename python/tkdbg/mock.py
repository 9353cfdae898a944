"""Arguments for compiling: what stands for a value of a type."""
from __future__ import annotations

from . import tltypes, wrappers


def values(function, signature, constants):
    """An argument for each parameter of a jit function.

    signature: {name: type as signatures spell it}; constants: {path: value},
    a path being the number of a parameter and those of items in tuples."""
    return [_value(name, (i,), signature, constants)
            for i, name in enumerate(function.arg_names)]


def _value(name, path, signature, constants):
    if path in constants:
        return tltypes.constexpr(tltypes.unwrap(constants[path]))
    return _item(path, signature.get(name, "constexpr"), constants)


def _item(path, kind, constants):
    if isinstance(kind, (tuple, list)):
        return tuple(_item((*path, i), k, constants)
                     for i, k in enumerate(kind))
    if path in constants or kind == "constexpr":
        return tltypes.constexpr(tltypes.unwrap(constants.get(path)))
    try:
        ty = tltypes.str_to_ty(kind)
    except AssertionError:
        raise NotImplementedError(
            f"triton.compile: tkdbg does not know the type {kind!r}; "
            "launch the kernel, or use kernel.warmup(...)") from None
    if ty.is_ptr():
        return wrappers.MockTensor(ty.element_ty)
    return wrappers.MockScalar(ty)
