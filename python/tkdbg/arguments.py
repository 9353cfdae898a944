"""Kernel arguments: what kind each is, and how it is set in a launch.

``key_of`` gives what distinguishes one signature from another; a Slot sets
one argument of a tk_launch and remembers it, so that a launch with the same
arguments as the last one costs no call.
"""
from __future__ import annotations

import ctypes
import functools
import operator
import struct
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Callable

from . import _capi, binder, convert, functions, tensors, wrappers
from . import tltypes as tl_types

if TYPE_CHECKING:
    from .binder import KernelParam
    from .session import Session
    from .tensors import Reader

_MASK64 = (1 << 64) - 1
_NUMBERS = {bool: "bool", int: "int", float: "float", type(None): "none",
            tuple: "tuple"}


def _kind_of(cls: type) -> str:
    """The kind of argument that a Python class is: a number, "tuple",
    "constexpr", "jit", "numpy_scalar", "descriptor", a kind of
    tensors.kind_of, or "other"."""
    if cls in _NUMBERS:
        return _NUMBERS[cls]
    for base in (bool, int, float):
        if issubclass(cls, base):
            return _NUMBERS[base]
    if cls.__name__ == "constexpr":
        return "constexpr"
    if issubclass(cls, tuple) or tl_types.is_tl_tuple_class(cls):
        return "tuple"
    if cls.__name__ == "TensorDescriptor" and hasattr(cls, "from_tensor"):
        return "descriptor"
    tensor = tensors.kind_of(cls)
    if tensor is not None:
        return tensor
    numpy = tensors.numpy()
    if (numpy is not None and issubclass(cls, numpy.generic) or
            issubclass(cls, wrappers.MockScalar)):
        return "numpy_scalar"
    return "jit" if functions.is_jit_class(cls) else "other"


kind_of: Callable[[type], str] = functools.lru_cache(maxsize=None)(_kind_of)


TENSORS = frozenset(("torch", "numpy", "interface", "pointer"))


# ---- keys -------------------------------------------------------------------


def constexpr_key(value: Any) -> tuple[Any, ...]:
    """A hashable that tells compile-time values apart: 1, 1.0 and True are
    three different ones."""
    cls = type(value)
    if cls is int or cls is bool or cls is str or value is None:
        return cls, value
    if isinstance(value, float):
        return cls, repr(value)
    if tl_types.is_constexpr(value):
        return "constexpr", constexpr_key(value.value)
    if isinstance(value, (tuple, list)):
        return cls, tuple(map(constexpr_key, value))
    if isinstance(value, functions.JITCallable):
        return cls, id(value), value.cache_key  # its text can be replaced
    if tl_types.dtype_name(value) is not None:
        return "dtype", str(value)
    return cls, id(value)


def key_of(arg: Any) -> str | tuple[Any, ...]:
    """The part of a signature that a run-time argument decides."""
    kind = kind_of(type(arg))
    if kind in TENSORS:
        if kind == "interface":
            return kind, arg.__array_interface__["typestr"]
        if kind == "pointer":
            return kind, arg.dtype, getattr(arg, "is_const", False)
        return kind, arg.dtype
    if kind == "tuple":
        return kind, type(arg), tuple(map(key_of, arg))
    if kind == "descriptor":
        return (kind, key_of(arg.base), tuple(arg.block_shape),
                getattr(arg, "padding", "zero"), _rounds(arg))
    if kind == "constexpr" or kind == "jit":
        return kind, constexpr_key(arg)
    if kind == "numpy_scalar":
        return kind, arg.dtype
    return kind


class Specialization:
    """What a kernel was compiled for: types and constants by parameter name,
    as a jit function's repr sees it, and all constants by path (a
    parameter's number and those of items in tuples)."""

    def __init__(self, params: list[KernelParam],
                 values: Sequence[Any]) -> None:
        self.constants, self.signature, self.paths = {}, {}, {}
        for i, (p, v) in enumerate(zip(params, values)):
            if p.is_constexpr:
                self.signature[p.name] = "constexpr"
                self.paths[i,] = tl_types.unwrap(v)
            else:
                text = self._spell(v, (i,), p)
                self.signature[p.name] = (
                    text if text == "constexpr" else
                    p.annotation_type or text)
            if (i,) in self.paths:
                self.constants[p.name] = self.paths[i,]

    def _spell(self, value, path, parameter):
        """The type of a value that is not a constexpr by itself."""
        if kind_of(type(value)) == "tuple":
            return tuple(self._spell(item, (*path, i), parameter)
                         for i, item in enumerate(value))
        text = type_text(value)
        if text == "constexpr" or (type(value) is int and value == 1 and
                                   not parameter.do_not_specialize):
            self.paths[path] = tl_types.unwrap(value)
            return "constexpr"
        return text


def specialization(parameter: KernelParam, value: Any,
                   text: str | tuple[Any, ...]) -> tuple[Any, ...]:
    """(type, what else it is specialised for) of an argument, as Triton's
    launches have it: "D" for a multiple of 16, "" for another number or
    address, None for what is not looked at, the value of a constexpr."""
    if isinstance(text, tuple):
        pairs = [specialization(parameter, item, t)
                 for item, t in zip(value, text)]
        return tuple(t for t, _ in pairs), tuple(known for _, known in pairs)
    if text == "constexpr":
        return text, tl_types.unwrap(value)
    number = text[0] in "iu" and text != "u1"
    if parameter.do_not_specialize or not (number or text[0] == "*"):
        return text, None
    looked_at = not parameter.do_not_specialize_on_alignment
    return text, "D" if looked_at and _is_aligned(value) else ""


def _is_aligned(value):
    if kind_of(type(value)) == "torch":
        return tensors.data_ptr(value) % 16 == 0
    if hasattr(value, "data_ptr"):
        return value.data_ptr() % 16 == 0
    if kind_of(type(value)) in TENSORS:
        return value.__array_interface__["data"][0] % 16 == 0
    return hasattr(value, "__int__") and int(value) % 16 == 0


def attributes(params: list[KernelParam], values: Sequence[Any],
               signature: dict[Any, Any]) -> dict[Any, Any]:
    """{(number of a parameter,): what is known of it}, as Triton has it."""
    known = {(i,): specialization(p, v, signature[p.name])[1]
             for i, (p, v) in enumerate(zip(params, values))
             if signature[p.name] != "constexpr"}
    return {path: [["tt.divisibility", 16]] if text == "D" else []
            for path, text in known.items() if isinstance(text, str)}


def type_text(value: Any) -> str:
    """The type of an argument that is not a tuple, as signatures spell it."""
    kind = kind_of(type(value))
    if kind in ("bool", "float"):
        return {"bool": "u1", "float": "fp32"}[kind]
    if kind == "int":
        small = -(1 << 31) <= value < (1 << 31)
        return "i32" if small else "u64" if value >= 1 << 63 else "i64"
    if kind in TENSORS and hasattr(value, "dtype"):
        name = tl_types.dtype_name(value.dtype) or str(value.dtype)
        return "*" + (binder.normalise(name) or name)
    if kind == "numpy_scalar":
        return binder.normalise(tl_types.dtype_name(value.dtype))
    return "constexpr"


# ---- slots ------------------------------------------------------------------


class Slot:
    """Sets one argument; ``set`` returns a tk_status."""

    def __init__(self, session: Session, launch: int, name: str) -> None:
        self.session = session
        self.lib = session.lib
        self.launch = launch
        self.name = name.encode()

    def set(self, arg: Any, reader: Any) -> int:
        raise NotImplementedError


class TensorSlot(Slot):
    """A tensor; nothing is done when it is where it was."""

    def __init__(self, session: Session, launch: int, name: str, kind: str,
                 flags: int = 0) -> None:
        super().__init__(session, launch, name)
        self.read = "read_" + kind
        self.flags = flags
        self.text = name
        self.buffer = tensors.buffer()
        self.address = ctypes.addressof(self.buffer)
        self.last = None

    def set(self, arg: Any, reader: Reader) -> int:
        layout = self._layout(arg, reader)
        if self.flags:
            layout = layout._replace(flags=layout.flags | self.flags)
        if reader.repeated and self.text in reader.repeated:
            layout = layout._replace(
                flags=layout.flags | _capi.TENSOR_REPEATED)
        if layout == self.last:
            return _capi.OK
        usable = layout if layout.data else _no_memory(layout, reader)
        usable.pack(self.buffer)
        status = self.lib.tk_launch_tensor(self.launch, self.name,
                                           self.address)
        remember = status == _capi.OK and layout.data
        self.last = layout if remember else None
        return status


    def _layout(self, arg, reader):
        return getattr(reader, self.read)(arg)


class TypedSlot(TensorSlot):
    """A tensor, an address or None for a parameter whose annotation is a
    pointer's type: memory is read as that type, whatever the tensor's is."""

    def __init__(self, session: Session, launch: int, name: str,
                 annotation: str, flags: int) -> None:
        super().__init__(session, launch, name, "torch", flags)
        self.dtype = tl_types.str_to_ty(annotation).element_ty

    def _layout(self, arg, reader):
        kind = kind_of(type(arg))
        if kind == "torch":
            return reader.reinterpreted(arg, self.dtype)
        if kind in ("int", "bool", "none"):
            return reader.at_address(int(arg or 0), self.dtype)
        raise TypeError("Pointer argument must be either uint64 or have "
                        "data_ptr method")


def _no_memory(layout, reader):
    """A tensor without memory as an empty one; warmup only."""
    if not reader.compiling and 0 not in layout.shape:
        raise ValueError("a tensor argument has no memory: it can be "
                         "compiled for (warmup), not run")
    return layout._replace(shape=(0,), strides=(1,), storage=0, nbytes=0)


class ValueSlot(Slot):
    """A number, None, constexpr, string, tuple or other value."""

    def __init__(self, session: Session, launch: int, name: str,
                 is_constexpr: bool) -> None:
        super().__init__(session, launch, name)
        self.is_constexpr = is_constexpr
        self.value = _capi.Value()
        self.address = ctypes.addressof(self.value)
        self.last = Slot  # equal to no argument

    def set(self, arg: Any, reader: Reader) -> int:
        if arg is self.last:
            return _capi.OK
        value = self.value
        value.str = None
        convert.fill(self.session, value, arg)
        if self.is_constexpr:
            value.is_constexpr = True
        status = self.lib.tk_launch_value(self.launch, self.name,
                                          self.address)
        self.last = arg if status == _capi.OK else Slot
        return status


class IntSlot(ValueSlot):
    """An int, most often a different one on each launch."""

    def set(self, arg: Any, reader: Reader) -> int:
        if arg == self.last:
            return _capi.OK
        number = int(arg)
        if not -(1 << 63) <= number < (1 << 64):
            raise OverflowError("integer to be specialized too large to "
                                "represent")
        value = self.value
        value.kind = _capi.V_INT
        value.lo = number & _MASK64
        value.hi = number >> 64
        status = self.lib.tk_launch_value(self.launch, self.name,
                                          self.address)
        self.last = arg if status == _capi.OK else Slot
        return status


class ScalarSlot(Slot):
    """A NumPy scalar, which says its own type."""

    def set(self, arg: Any, reader: Reader) -> int:
        dtype = reader.dtype(arg.dtype)
        data = arg.tobytes()
        if len(data) > 8:
            raise TypeError(f"scalars of {arg.dtype} are not supported")
        bits, = struct.unpack("=Q", data.ljust(8, b"\0"))
        return self.lib.tk_launch_scalar(self.launch, self.name, dtype, bits)


# how struct packs the floats of an annotation
_PACKED = {"fp16": "=e", "fp32": "=f", "fp64": "=d"}


class AnnotatedSlot(Slot):
    """A number for a parameter whose annotation names its type."""

    def __init__(self, session: Session, launch: int, name: str,
                 annotation: str) -> None:
        super().__init__(session, launch, name)
        self.annotation = annotation
        self.dtype = session.dtypes.number(tl_types.str_to_ty(annotation).name)

    def set(self, arg: Any, reader: Reader) -> int:
        self.last = arg
        return self.lib.tk_launch_scalar(self.launch, self.name, self.dtype,
                                         bits_of(self.annotation, arg))


def bits_of(kind: str, number: Any) -> int:
    """The bits of a number of a type, as Triton's launchers convert it;
    OverflowError where they raise one."""
    if kind == "bf16":  # rounded to nearest even
        bits = int.from_bytes(struct.pack("=f", number), sys.byteorder)
        return (bits + 0x7FFF + (bits >> 16 & 1)) >> 16
    packed = _PACKED.get(kind)
    if packed:
        return int.from_bytes(struct.pack(packed, number), sys.byteorder)
    number = operator.index(number)
    _check_width(kind, number)
    return number & ((1 << int(kind[1:])) - 1)


# what Triton's launchers say of numbers that do not fit the annotated type:
# (name, least, greatest); unsigned ones, and bools, wrap around
_LIMITS = {"i8": ("unsigned byte integer", 0, 0xFF),
           "i16": ("signed short integer", -(1 << 15), (1 << 15) - 1),
           "i32": ("signed integer", -(1 << 31), (1 << 31) - 1)}


def _check_width(annotation, number):
    name, least, greatest = _LIMITS.get(annotation, ("", number, number))
    if number < least:
        raise OverflowError(f"{name} is less than minimum")
    if number > greatest:
        raise OverflowError(f"{name} is greater than maximum")


def _annotated(parameter, arg):
    """Whether the parameter's annotation gives this number its type."""
    annotation = parameter.annotation_type
    return ((annotation in _PACKED or annotation == "bf16" or
             annotation[:1] in ("i", "u")) and
            kind_of(type(arg)) in ("int", "bool", "float"))


def _typed(parameter, arg, kind):
    """Whether the parameter's annotation gives a pointer its type: other than
    the tensor's, or where the argument is none."""
    annotation = parameter.annotation_type
    if not annotation.startswith("*") or annotation.startswith("**"):
        return False
    if kind == "torch":
        wanted = tl_types.str_to_ty(annotation).element_ty
        return not wanted.is_ptr() and type_text(arg) != (
            "*" + annotation.lstrip("*k"))
    return kind in ("int", "bool", "float", "none")


class TupleSlot(ValueSlot):
    """A tuple or a tensor descriptor: run-time values where they can be."""

    def set(self, arg: Any, reader: Reader) -> int:
        value = self.value
        value.str = None
        self._fill(value, arg, reader)
        status = self.lib.tk_launch_value(self.launch, self.name,
                                          self.address)
        self.last = arg if status == _capi.OK else Slot
        return status

    def _fill(self, out, arg, reader):
        kind = kind_of(type(arg))
        if kind == "tuple":
            convert.fill_tuple(
                self.session, out, arg,
                lambda slot, item: self._fill(slot, item, reader))
        elif kind == "descriptor":
            self._fill_descriptor(out, arg, reader)
        elif kind in TENSORS:
            layout = getattr(reader, "read_" + kind)(arg)
            usable = layout if layout.data else _no_memory(layout, reader)
            memory = tensors.buffer()
            usable.pack(memory)
            out.kind = _capi.V_TENSOR
            out.ptr = ctypes.addressof(memory)
            out.items = ctypes.cast(memory, ctypes.POINTER(_capi.Value))
        elif kind == "numpy_scalar":
            convert.fill(self.session, out, arg.item())
        elif kind == "other":
            _fill_other(self.session, out, arg)
        else:
            convert.fill(self.session, out, arg)

    def _fill_descriptor(self, out, arg, reader):
        parts = (arg.base, tuple(map(int, arg.shape)),
                 tuple(map(int, arg.strides)),
                 tuple(map(int, arg.block_shape)),
                 getattr(arg, "padding", "zero"))
        convert.fill_tuple(self.session, out, parts,
                           lambda slot, item: self._fill(slot, item, reader))
        out.kind = _capi.V_DESCRIPTOR
        out.lo = _rounds(arg)


def _rounds(descriptor):
    """Whether loads of fp32 round to tf32, which Triton has since 3.7."""
    return bool(getattr(descriptor, "round_f32_to_tf32", False))


def _fill_other(session, out, arg):
    """A dtype or text inside a tuple; TypeError for what Triton refuses."""
    if not isinstance(arg, str) and tl_types.dtype_name(arg) is None:
        raise unsupported(arg)
    convert.fill(session, out, arg)


def unsupported(arg: Any) -> Any:
    """The TypeError that Triton raises on an argument it cannot take."""
    cls = type(arg)
    name = (cls.__name__ if cls.__module__ == "builtins"
            else f"{cls.__module__}.{cls.__qualname__}")
    return TypeError(f"failed to specialize argument of type: {name}")


def make_slot(session: Session, launch: int, parameter: KernelParam,
              arg: Any) -> Any:
    """The Slot for an argument like arg; raises TypeError if none fits."""
    name = parameter.name
    if parameter.is_constexpr:
        return ValueSlot(session, launch, name, True)
    if _annotated(parameter, arg):
        return AnnotatedSlot(session, launch, name,
                             parameter.annotation_type)
    kind = kind_of(type(arg))
    const = parameter.is_const or getattr(arg, "is_const", False) is True
    flags = _capi.TENSOR_CONST if const else 0
    if _typed(parameter, arg, kind):
        return TypedSlot(session, launch, name, parameter.annotation_type,
                         flags)
    if kind in TENSORS:
        return TensorSlot(session, launch, name, kind, flags)
    if kind == "int":
        return IntSlot(session, launch, name, False)
    if kind == "tuple" or kind == "descriptor":
        return TupleSlot(session, launch, name, False)
    if kind == "numpy_scalar":
        return ScalarSlot(session, launch, name)
    if kind in ("bool", "float", "none"):
        return ValueSlot(session, launch, name, False)
    if kind in ("constexpr", "jit"):
        return ValueSlot(session, launch, name, True)
    raise unsupported(arg)
