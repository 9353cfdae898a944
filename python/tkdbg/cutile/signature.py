"""What a launch's arguments are to a kernel of CUDA Tile: the constraints that
it is compiled for, as cuda.tile's own extension derives them, and what is
passed to it."""
from __future__ import annotations

import dataclasses
import enum
from collections.abc import Sequence
from typing import Any, NamedTuple

from .. import arguments, tensors
from . import front
from .model import Param

_TMA_AXES = 5  # of more axes nothing is assumed
ALIGNED = 16  # bytes, or elements of a length


class Leaf(NamedTuple):
    """An argument, or an item of one, that the kernel gets when it runs."""
    name: str
    kind: str     # "array", "scalar", "list"
    value: Any
    dtype: str    # of a scalar


class Arguments(NamedTuple):
    """A launch's arguments, taken apart."""
    constraints: list[Any]
    leaves: list[Leaf]
    params: list[Param]
    names: list[tuple[str, str | None]]


def layout_of(reader: Any, value: Any) -> tensors.Layout:
    """Where an array lies; elements that are exponents alone are bytes."""
    kind: Any = arguments.kind_of(type(value))
    if kind == "torch" and str(value.dtype) == "torch.float8_e8m0fnu":
        return reader.read_torch(value, tensors.torch().uint8)
    return reader.read(kind, value)


class _Reader:
    """Takes one launch's arguments apart."""

    def __init__(self, reader: Any, knows_shapes: bool) -> None:
        self.reader = reader
        self.knows_shapes = knows_shapes  # a length of 1 is a constant
        self.leaves: list[Leaf] = []
        self.params: list[Param] = []
        self.names: list[tuple[str, str | None]] = []

    def constraint(self, name: str, value: Any, annotation: Any) -> Any:
        """Of one argument, or item, whose leaves are noted."""
        module = front.constraints()
        if type(value) is tuple:
            return module.TupleConstraint(tuple(
                self.constraint(f"{name}_{i}", item, node) for i, (item, node)
                in enumerate(zip(value, _items(annotation, value, name)))))
        if getattr(annotation, "KIND", "leaf") != "leaf":
            raise TypeError("Received a non-tuple argument for a parameter "
                            "annotated as a tuple")
        if dataclasses.is_dataclass(value) and not isinstance(value, type):
            raise TypeError(f"argument '{name}': dataclasses as arguments are "
                            "not supported by tkdbg")
        if getattr(annotation, "constant", False) or _is_constant(value):
            self.names.append((name, _shown(value)))
            return module.ConstantConstraint(value)
        if isinstance(value, (bool, int, float)):
            return self._scalar(name, value, annotation)
        if isinstance(value, list):
            return self._list(name, value, annotation)
        if arguments.kind_of(type(value)) not in ("torch", "numpy",
                                                  "interface"):
            raise TypeError(f"Unsupported argument type '"
                            f"{type(value).__name__}' of '{name}'")
        return self._array(name, value, annotation)

    def _scalar(self, name, value, annotation):
        stated = getattr(annotation, "scalar", None)
        dtype = ("bool_" if isinstance(value, bool) else
                 "float32" if isinstance(value, float) else
                 stated.dtype.name if stated is not None else "int32")
        if dtype == "int32" and not -1 << 31 <= value < 1 << 31:
            raise OverflowError(
                f"argument '{name}' is {value}, past 32 bits: annotate it "
                "with ct.ScalarInt64")
        self.leaves.append(Leaf(name, "scalar", value, dtype))
        self.names.append((name, None))
        self.params.append(Param(name))
        return front.constraints().ScalarConstraint(front.dtype(dtype))

    def _array(self, name, value, annotation):
        stated = getattr(annotation, "array", None)
        layout, made = self._layout(name, value, stated)
        self.leaves.append(Leaf(name, "array", value, ""))
        self.names.append((name, None))
        self.params += [Param(name, 0, made.base_addr_divisible_by)]
        self.params += [
            Param(name, i, is_one=known == 1) for i, known in
            enumerate((*made.shape_constant, *made.stride_constant), 1)]
        return made

    def _layout(self, name, value, stated):
        """(where an array lies, its constraint)"""
        layout = layout_of(self.reader, value)
        dtype = front.dtype_of(value)
        wide = getattr(getattr(stated, "index_dtype", None), "bitwidth",
                       32) > 32
        for what, numbers in (("stride", layout.strides),
                              ("shape", layout.shape)):
            if any(n < 0 for n in numbers):
                raise ValueError(f"argument '{name}' has a negative {what}")
            if not wide and any(n >= 1 << 31 for n in numbers):
                raise OverflowError(f"argument '{name}': {what} is too big: "
                                    "annotate it with ct.IndexedWithInt64")
        return layout, _array_constraint(layout, dtype, wide, stated,
                                         self.knows_shapes)

    def _list(self, name, value, annotation):
        if not value:
            raise TypeError("Empty lists are not supported as kernel "
                            "arguments")
        stated = getattr(annotation, "list", None)
        stated = getattr(stated, "element", None)
        made = [self._layout(name, item, stated)[1] for item in value]
        first = made[0]
        if any(m.dtype != first.dtype for m in made):
            raise TypeError("Arrays in list vary in data type")
        if any(m.ndim != first.ndim for m in made):
            raise TypeError("Arrays in list vary in rank")
        self.leaves.append(Leaf(name, "list", value, ""))
        self.names += [(name, None), (name + "_length", None)]
        self.params += [Param(name), Param(name + "_length")]
        module = front.constraints()
        return module.ListConstraint(_weakest(made, stated), alias_groups=(),
                                     elements_may_alias=False)


def _items(annotation, value, name):
    """The annotations of a tuple's items."""
    kind = getattr(annotation, "KIND", "leaf")
    if kind == "homogeneous_tuple":
        return [annotation.each] * len(value)
    if kind == "heterogeneous_tuple":
        if len(annotation.items) != len(value):
            raise TypeError(
                f"argument '{name}': Received a tuple of length {len(value)} "
                "for a parameter annotated as a tuple of length "
                f"{len(annotation.items)}")
        return annotation.items
    return [annotation] * len(value)


def _is_constant(value):
    """What is part of a kernel's signature, whatever it is annotated as."""
    return (value is None or isinstance(value, (str, enum.Enum)) or
            front.is_dtype(value))


def _shown(value):
    return repr(value)


def _array_constraint(layout, dtype, wide, stated, knows_shapes):
    rank = len(layout.shape)
    size = max(1, getattr(dtype, "bitwidth", 8) // 8)
    looks = rank <= _TMA_AXES
    per = ALIGNED // size if ALIGNED % size == 0 else 1
    static_shape = _axes(stated, "static_shape_dims", rank)
    static_strides = _axes(stated, "static_stride_dims", rank)
    strides = [s if i in static_strides else
               1 if looks and not static_strides and s == 1 else None
               for i, s in enumerate(layout.strides)]
    shape = [n if i in static_shape else
             1 if looks and knows_shapes and not static_shape and n == 1
             else None for i, n in enumerate(layout.shape)]
    return front.constraints().ArrayConstraint(
        dtype=dtype, ndim=rank,
        index_dtype=front.dtype("int64" if wide else "int32"),
        stride_constant=strides, shape_constant=shape,
        stride_lower_bound_incl=0, alias_groups=(),
        may_alias_internally=not _are_disjoint(layout),
        stride_divisible_by=tuple(
            per if looks and s * size % ALIGNED == 0 and s % per == 0 else 1
            for s in layout.strides),
        shape_divisible_by=tuple(
            ALIGNED if looks and n % ALIGNED == 0 else 1
            for n in layout.shape),
        base_addr_divisible_by=(
            1 if (layout.device_address or layout.data) % ALIGNED else
            ALIGNED))


def _axes(stated: Any, what: str, rank: int) -> set[int]:
    """The axes that an annotation names."""
    found: set[int] = set()
    for axis in getattr(stated, what, ()):
        if not -rank <= axis < rank:
            raise ValueError(f"{what} contains axis {axis}, but array rank is "
                             f"{rank}")
        if axis % rank in found:
            raise ValueError(f"{what} contains duplicate axis {axis}")
        found.add(axis % rank)
    return found


def _are_disjoint(layout):
    """Whether no two indices are of one element."""
    axes = sorted(zip(layout.strides, layout.shape))
    reach = 1
    for stride, length in axes:
        if stride < reach:
            return False
        reach = stride * length
    return True


def _weakest(made, stated):
    """What holds of all arrays of a list."""
    first = made[0]
    for what in "shape", "stride":
        for axis in _axes(stated, f"static_{what}_dims", first.ndim):
            values = [getattr(m, f"{what}_constant")[axis] for m in made]
            for other in values:
                if other != values[0]:
                    raise ValueError(
                        f"Arrays in list vary in static {what} at axis "
                        f"{axis} ({values[0]} vs {other})")
    same = {f.name: getattr(first, f.name)
            for f in dataclasses.fields(first)}
    for name in ("stride_constant", "shape_constant"):
        same[name] = tuple(
            values[0] if len(set(values)) == 1 else None
            for values in zip(*(getattr(m, name) for m in made)))
    for name in ("stride_divisible_by", "shape_divisible_by"):
        same[name] = tuple(min(values) for values in zip(*(
            getattr(m, name) for m in made)))
    same["base_addr_divisible_by"] = min(m.base_addr_divisible_by
                                         for m in made)
    same["may_alias_internally"] = any(m.may_alias_internally for m in made)
    same["stride_lower_bound_incl"] = 0
    return type(first)(**same)


def read(reader: Any, names: Sequence[str], annotations: Sequence[Any],
         values: Sequence[Any], knows_shapes: bool = True) -> Arguments:
    """A launch's arguments; raises what cuda.tile's launch raises."""
    if len(values) != len(names):
        raise TypeError(
            f"Kernel expects {len(names)} argument{'s'[:len(names) != 1]} but "
            f"{len(values)} {'was' if len(values) == 1 else 'were'} given")
    found = _Reader(reader, knows_shapes)
    made = [found.constraint(name, value, annotation) for
            name, value, annotation in zip(names, values, annotations)]
    return Arguments(made, found.leaves, found.params, found.names)


def list_words(reader: Any, value: list[Any]) -> tuple[list[int], list[Any]]:
    """What a kernel reads of a list: address, lengths and strides of each
    array; and where each lies."""
    words: list[int] = []
    layouts = []
    for item in value:
        layout = layout_of(reader, item)
        words += [layout.device_address or layout.data, *layout.shape,
                  *layout.strides]
        layouts.append(layout)
    return words, layouts
