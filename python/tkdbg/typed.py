"""Arguments of a kernel that was compiled for a signature: they have its
types and constants, whatever their values are, as in Triton's launchers."""
from __future__ import annotations

import sys
from typing import Any
from collections.abc import Iterable, Mapping

from . import arguments, tltypes, wrappers


def values(names: Iterable[str], signature: Mapping[str, Any],
           constants: Mapping[tuple, Any], args: Iterable[Any]) -> tuple:
    """What a launch of ours takes in place of args.

    names: of the parameters; signature: {name: type as signatures spell it};
    constants: {path: value}, a path being the number of a parameter and those
    of items in tuples."""
    return tuple(
        _value((i,), signature.get(name, "constexpr"), constants, arg)
        for i, (name, arg) in enumerate(zip(names, args)))


def _value(path: tuple, kind: Any, constants: Mapping[tuple, Any],
           arg: Any) -> Any:
    if path in constants or kind == "constexpr":
        return tltypes.constexpr(tltypes.unwrap(constants.get(path, arg)))
    if isinstance(kind, (tuple, list)):
        items = [_value((*path, i), k, constants, item)
                 for i, (k, item) in enumerate(zip(kind, arg))]
        return type(arg)(*items) if hasattr(arg, "_fields") else tuple(items)
    if kind[0] == "*":
        return _pointer(kind, arg)
    if type(arg) in (int, bool, float):
        return _number(kind, arg)
    return arg


def _pointer(kind: str, arg: Any) -> Any:
    """A tensor, read as the type that the kernel was compiled for."""
    wanted = tltypes.str_to_ty(kind).element_ty
    if wanted.is_ptr() or not hasattr(arg, "data_ptr"):
        return arg
    if arguments.type_text(arg).replace("*u1", "*i1") == (
            "*" + kind.lstrip("*k").replace("u1", "i1")):
        return arg
    return wrappers.reinterpret(arg, wanted)


def _number(kind: str, arg: Any) -> Any:
    bits = arguments.bits_of(kind, arg)
    return wrappers.TypedScalar(tltypes.str_to_ty(kind), arg, bits)


def kernel_of(fn: Any, signature: dict[str, Any], constants: dict[str, Any],
              attributes: dict[tuple, Any], options: dict[str, Any],
              args: list[Any] | None) -> Any:
    """The compiled kernel that ASTSource describes: types, constants and what
    is divisible are as given, whatever the values are.

    args: those of the first launch, or None."""
    compiler, names = sys.modules["triton.compiler"], fn.arg_names
    paths = {(names.index(name),): value for name, value in constants.items()
             if name in names}
    src = compiler.ASTSource(fn, signature, paths, {
        path: known for path, known in attributes.items()
        if path not in paths})
    if args is not None:
        taken = values(names, signature, paths, args)
        src.values = lambda: taken
    kernel = sys.modules["triton"].compile(src, options=options)
    vars(src).pop("values", None)  # the kernel keeps src: no tensors
    kernel._init_handles()
    return kernel
