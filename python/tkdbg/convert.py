"""Python objects as tk_value, and back.

``fill(session, out, value)`` writes a value; ``read(session, value)`` reads
one.  Values that kernels cannot hold become TK_V_OBJECT handles, which C
asks about through the host callbacks.
"""
from __future__ import annotations

import builtins
import collections
import ctypes
import enum
import functools
import operator
import sys
import types
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from . import _capi, constexprs, functions, operations, torch_private
from . import tltypes as tl_types
from .constexprs import PlainFunction

if TYPE_CHECKING:
    from ._capi import Value
    from .session import Session

_MASK64 = (1 << 64) - 1
_INT_MIN, _INT_MAX = -(1 << 127), (1 << 127) - 1

# modules that kernels name, by their canonical name
MODULES = {
    "triton": "triton",
    "triton.language": "tl",
    "triton.language.core": "tl",
    "triton.language.standard": "tl",
    "triton.language.random": "tl",
    "triton.language.math": "tl.math",
    "triton.language.libdevice": "libdevice",
    "triton.language.extra": "tl.extra",
    "triton.language.extra.libdevice": "libdevice",
    "triton.language.extra.cuda": "tl.extra.cuda",
    "triton.language.extra.cuda.libdevice": "libdevice",
    "triton.language.extra.hip.libdevice": "libdevice",
    "triton.language.extra.cuda.utils": "tl.extra.cuda",
    "triton.language.extra.cuda.gdc": "tl.extra.cuda",
    "triton.language.target_info": "tl.target_info",
}

# classes of ``triton.language`` that kernels call or test against
_CLASSES = {
    tl_types.constexpr: "tl.constexpr",
    tl_types.tensor: "tl.tensor",
    tl_types.tensor_descriptor: "tl.tensor_descriptor",
    tl_types.tl_tuple: "tl.tuple",
    tl_types.tl_slice: "tl.slice",
    tl_types.tuple_type: "tl.tuple_type",
    tl_types.constexpr_type: "tl.constexpr_type",
    tl_types.tensor_descriptor_type: "tl.tensor_descriptor_type",
    tl_types.dtype: "tl.dtype",
    tl_types.pointer_type: "tl.pointer_type",
    tl_types.block_type: "tl.block_type",
    tl_types.const: "tl.const",
    tl_types.PropagateNan: "tl.PropagateNan",
    tl_types.dtype.KIND: "tl.dtype.KIND",
    tl_types.dtype.SIGNEDNESS: "tl.dtype.SIGNEDNESS",
}

INDUCTOR = torch_private.HELPERS

# helpers that practitioners paste into their files; the tool has its own
PASTED = {"print_if": "tl.print_if", "breakpoint_if": "tl.breakpoint_if"}


class NotConvertible(Exception):
    """A value that C cannot be told about; the text says why."""


def is_namedtuple(value: Any) -> bool:
    return isinstance(value, tuple) and hasattr(value, "_fields")


# ---- Python to C ------------------------------------------------------------


def fill(session: Session, out: Value, value: Any,
         name: str | None = None) -> None:
    """Writes value to the tk_value out; name: what the kernel calls it.

    What out points to lives as long as the Python object ``out``.  Raises
    NotConvertible for an integer beyond 128 bits.
    """
    out.is_constexpr = False
    if tl_types.is_constexpr(value):
        fill(session, out, known_function(session, value.value), name)
        out.is_constexpr = True
        return
    if value is None:
        out.kind = _capi.V_NONE
    elif isinstance(value, bool):
        out.kind, out.lo = _capi.V_BOOL, int(value)
    elif isinstance(value, int):
        _fill_int(out, value)
    elif isinstance(value, float):
        out.kind, out.f = _capi.V_FLOAT, value
    elif isinstance(value, str):
        _fill_str(out, _capi.V_STR, value)
    elif isinstance(value, (tuple, list)) or tl_types.is_tl_tuple_class(
            type(value)):
        fill_tuple(session, out, value,
                   lambda slot, item: fill(session, slot, item))
    elif not _fill_dtype(session, out, value):
        _fill_other(session, out, value, name)


def known_function(session: Session, value: Any) -> Any:
    """A plain Python function as one that kernels call while they are
    compiled; anything else as it is."""
    plain = (isinstance(value, types.FunctionType) and
             not getattr(value, "__triton_builtin__", False) and
             builtin_name(value, value.__name__) is None)
    if not plain:
        return value
    return session.compiling.plain_functions.setdefault(
        value, PlainFunction(value))


def _fill_int(out, value):
    value = int(value)
    if not _INT_MIN <= value <= _INT_MAX:
        raise NotConvertible(f"the integer {value} needs more than 128 bits")
    out.kind = _capi.V_INT
    out.lo = value & _MASK64
    out.hi = value >> 64


def _fill_str(out, kind, text):
    data = text.encode("utf-8", "surrogateescape")
    out.kind, out.str, out.n = kind, data, len(data)


def fill_tuple(session: Session, out: Value, value: Any,
               fill_item: Callable[..., Any]) -> None:
    """Writes a tuple; fill_item(tk_value, item) writes each of its items."""
    items = list(value)
    array = (_capi.Value * max(1, len(items)))()
    for slot, item in zip(array, items):
        fill_item(slot, item)
    out.kind, out.n = _capi.V_TUPLE, len(items)
    out.items = ctypes.cast(array, ctypes.POINTER(_capi.Value))
    out.str = (",".join(value._fields).encode()
               if is_namedtuple(value) else None)


def _fill_dtype(session, out, value):
    is_block = type(value).__name__ == "block_type"
    shape = value.shape if is_block else ()
    element, depth = tl_types.pointer_depth(value.element_ty if shape
                                            else value)
    name = tl_types.dtype_name(element)
    index = session.dtypes.number(name) if name and name != "void" else None
    if index is None:
        return False
    out.n = 0
    if shape:
        fill_tuple(session, out, shape, _fill_int)
    out.kind, out.lo, out.hi = _capi.V_DTYPE, index, depth
    if depth and not shape:
        out.hi += ((_space(value.address_space) - 1 & 0xFF) << 8) + (
            bool(value.const) << 16)
    return True


_SPACES = {"global": 1, "constant": 4}


def _space(name):
    """The number of an address space, which Triton names since 3.9."""
    if not isinstance(name, str):
        return name
    if name not in _SPACES:
        raise ValueError(f"invalid pointer address space {name!r}: Triton "
                         f"knows {' and '.join(map(repr, _SPACES))}")
    return _SPACES[name]


def _fill_other(session, out, value, name):
    canonical = builtin_name(value, name)
    if canonical is not None:
        _fill_str(out, _capi.V_BUILTIN, canonical)
        return
    function = functions.as_jit_function(session, value)
    if function is not None:
        out.kind, out.ptr = _capi.V_FUNCTION, function.open(session)
        session.compiling.jit_functions[out.ptr] = value
        return
    if constexprs.wants_compiler(value):
        fill_python(session, out, constexprs.python_function(value))
        return
    fill_object(session, out, value)


def fill_python(session: Session, out: Value, function: Any) -> None:
    """Writes a Python function that the library follows itself, when a
    kernel calls it with values of its own."""
    out.kind, out.lo = _capi.V_FUNCTION, 1
    out.ptr = functions.as_python_function(session, function).open(session)


def fill_object(session: Session, out: Value, value: Any) -> None:
    """Writes value as a handle; str is the printed name of its type.

    It stands for a constexpr that holds the value (set_raw)."""
    _fill_str(out, _capi.V_OBJECT, type(value).__name__)
    out.ptr, out.lo = session.kept.handle(value), 0


def set_raw(out: Value, value: Any) -> None:
    """Says of what fill wrote for value that it is an object itself, whose
    attribute `value` is its own and not what a constexpr holds."""
    if out.kind == _capi.V_OBJECT and not tl_types.is_constexpr(value):
        out.lo = 1


# ---- names of builtins ------------------------------------------------------


def is_pasted(value: Any, name: str | None) -> bool:
    """Whether it is a helper of the user's that the tool has itself."""
    return name in PASTED and isinstance(value, types.FunctionType)


def builtin_name(value: Any, name: str | None = None) -> str | None:
    """The canonical name of an operation or module, or None."""
    if isinstance(value, operations.Builtin):
        return value.canonical
    if isinstance(value, types.ModuleType):
        return MODULES.get(value.__name__)
    if isinstance(value, enum.Enum):
        return _member_name(value)
    if isinstance(value, type) and value in _CLASSES:
        return _CLASSES[value]
    if name is not None and is_pasted(value, name):
        return PASTED[name]
    if callable(value) and getattr(value, "__module__", None) == "builtins":
        short = getattr(value, "__name__", "")
        if getattr(builtins, short, None) is value:
            return f"builtins.{short}"
    return _inductor_name(value, name) or _triton_name(value)


def _member_name(value):
    """The name of a member of the language's own enumerations; None."""
    if isinstance(value, tl_types.PropagateNan):
        return f"tl.PropagateNan.{value.name}"
    cls = type(value)
    if cls.__module__ in (tl_types.__name__, "triton.language.core"):
        return f"tl.{cls.__qualname__}.{value.name}"
    return None


def _inductor_name(value, name):
    """The name of what PyTorch's helpers do while Triton compiles."""
    inductor = getattr(value, "__module__", None) == INDUCTOR
    if inductor and name and getattr(value, "__triton_builtin__", False):
        return f"triton_helpers.{name}"
    return None


def _triton_name(value):
    """The name of an object of real Triton's (or of our triton.cdiv)."""
    module = getattr(value, "__module__", None)
    if not isinstance(module, str) or not module.startswith("triton"):
        return None
    short = getattr(value, "__name__", None)
    if short is None:
        short = getattr(getattr(value, "fn", None), "__name__", None)
    if short is None and type(value).__name__ == "PROPAGATE_NAN":
        return f"tl.PropagateNan.{value.name}"
    if short is None:
        return None
    if module == "triton":
        return f"triton.{short}"
    if module not in MODULES:
        return None
    prefix = MODULES[module]
    return f"{'tl' if prefix == 'tl.math' else prefix}.{short}"


# ---- C to Python ------------------------------------------------------------


def read(session: Session, value: Value) -> Any:
    """The Python object of a tk_value; tuples become tuples, with the names of
    their fields where they have some.

    Raises NotConvertible for what only kernels have.
    """
    kind = value.kind
    if kind == _capi.V_NONE:
        return None
    if kind == _capi.V_BOOL:
        return bool(value.lo)
    if kind == _capi.V_INT:
        return (value.hi << 64) | value.lo
    if kind == _capi.V_FLOAT:
        return value.f
    if kind == _capi.V_STR:
        return (value.str or b"")[:value.n].decode("utf-8", "replace")
    if kind == _capi.V_TUPLE:
        items = [read(session, value.items[i]) for i in range(value.n)]
        names = _capi.text(value.str)
        return _named(names)._make(items) if names else tuple(items)
    if kind == _capi.V_DTYPE:
        return _read_dtype(session, value)
    handle: Any = value.ptr
    if kind == _capi.V_OBJECT:
        return session.kept.object(handle)
    if kind == _capi.V_BUILTIN:
        return _read_builtin(session, _capi.text(value.str))
    found = (kind == _capi.V_FUNCTION and
             session.compiling.jit_functions.get(handle))
    if not found:
        raise NotConvertible(
            "what a kernel computes cannot be passed to host code")
    return found


@functools.cache
def _named(names: str) -> Any:
    """The class of tuples whose fields have these names."""
    return collections.namedtuple("tuple", names)


def _read_dtype(session, value):
    language = sys.modules.get("triton.language", tl_types)
    found = language.dtype(session.dtypes.names[value.lo])
    depth, space, const = (value.hi & 0xFF, (value.hi >> 8 & 0xFF) + 1,
                           bool(value.hi >> 16))
    for inner in reversed(range(depth)):
        found = (language.pointer_type(found) if inner else
                 language.pointer_type(found, space & 0xFF, const))
    if value.n:
        shape = [value.items[i].lo for i in range(value.n)]
        found = language.block_type(found, shape)
    return found


def _read_builtin(session, canonical):
    head, _, last = canonical.rpartition(".")
    if head == "builtins":
        return getattr(builtins, last)
    for kind, name in _CLASSES.items():
        if name == canonical:
            return kind
    for name in ("dtype.KIND", "dtype.SIGNEDNESS"):
        if head == f"tl.{name}":
            language = sys.modules.get("triton.language", tl_types)
            return getattr(operator.attrgetter(name)(language), last)
    return operations.builtin(session, canonical)
