"""Emitters of loads, stores, atomic operations, and of what is said."""
from __future__ import annotations

import math
import re
from typing import Any

from . import functions
from .builder import INT32, INT64, Builder, emits
from .model import Op
from .statements import FormType, Slot



_PADDING = {"zero": 0.0, "neg_zero": -0.0, "nan": math.nan,
            "pos_inf": math.inf, "neg_inf": -math.inf}
_PROMISE = ("check_bounds=False promises that the tile lies in the array, and "
            "it does not")


class Window:
    """Addresses of the elements of a tile, and which of them are in the
    array.  What is one for all lanes is computed once: where the tile starts,
    and how far the array goes on from there."""

    def __init__(self, b: Builder, op: Op) -> None:
        view = op.operands["view"]
        self.b, self.type = b, view.type
        base, *rest = view.parts
        self.pointer, self.mask = b.slot(base), None
        self.fits: Slot | None = None  # what must hold for every lane
        lanes = []
        for t, index in enumerate(op.operands["index"]):
            axis = self.type.order[t] if self.type.order else t
            length = b.cast(b.slot(rest[axis]), "int64")
            stride = b.slot(rest[self.type.rank + axis])
            at, low = b.cast(b.slot(index), "int64"), b.constant(INT64, 0)
            if t != self.type.sparse:
                at, length, low = self._dense(t, at, length, stride)
            if at is not None:
                lanes.append((t, at, stride, length, low))
        for t, at, stride, limit, low in lanes:
            if self.fits is not None:
                limit = b.select(self.fits, limit, b.number(limit, 0))
                self.fits = None
            self._axis(t, at, stride, limit, low)
        if self.fits is not None:
            self._and(self.fits)
        if any(op.attributes.get("inbounds", ())) and self.mask is not None:
            b.promise(self.mask, _PROMISE)
            self.mask = None
        self.pointer = b.broadcast(self.pointer, self.type.tile)

    def _dense(self, t, index, length, stride):
        """Goes to where the tile starts along an axis: (lanes from there, how
        many are in the array, how many before it, or None where it is all or
        none); None for the lanes of an axis that has one."""
        b, n = self.b, self.type.tile[t]
        step = 1 if self.type.kind == "gather" else self.type.steps[t]
        zero = b.constant(INT64, 0)
        start = b.binary("mul", index, b.constant(INT64, step))
        self.pointer = b.emit("addptr", self.pointer.type, self.pointer,
                              self._offset(start, stride))
        left = b.binary("sub", length, start)
        if n == 1 or step >= n:
            self._require(b.compare("ge", start, zero))
        if n == 1:
            self._require(b.compare("gt", left, zero))
            return None, left, None
        before = None if step >= n else self._upto(
            n, b.binary("sub", zero, start))
        return (b.emit("arange", INT32.shaped((n,)), start=0),
                self._upto(n, left), before)

    def _upto(self, n, count):
        """A count as int32, at least 0 and at most n."""
        b = self.b
        count = b.binary("min", count, b.constant(INT64, n))
        return b.cast(b.binary("max", count, b.constant(INT64, 0)), "int32")

    def _require(self, condition):
        self.fits = condition if self.fits is None else self.b.binary(
            "and", self.fits, condition)

    def _offset(self, at, stride):
        """In elements of the array."""
        if stride in self.b.ones:
            return at
        return self.b.binary("mul", self.b.cast(at, "int64"),
                             self.b.cast(stride, "int64"))

    def _axis(self, t, at, stride, limit, low):
        """Moves the addresses along an axis, and keeps lanes out."""
        b, tile = self.b, self.type.tile
        row = [1] * len(tile)
        row[t] = tile[t]
        at = b.reshape(at, row)
        offset = self._offset(at, stride)
        if self.pointer.type.shape:
            self.pointer = b.broadcast(self.pointer, tile)
            offset = b.broadcast(offset, tile)
        self.pointer = b.emit("addptr", self.pointer.type.shaped(
            offset.type.shape), self.pointer, offset)
        inside = b.compare("lt", at, limit)
        if low is not None:
            inside = b.binary("and", b.compare("ge", at, low), inside)
        self._and(inside)

    def _and(self, inside):
        inside = self.b.broadcast(inside, self.type.tile)
        self.mask = inside if self.mask is None else self.b.binary(
            "and", self.mask, inside)


def _operands(mask, other=None):
    return [("mask", mask)] * (mask is not None) + (
        [("other", other)] * (other is not None and mask is not None))


@emits("tile_load")
def _load(b, op):
    type = b.type(op.results[0])
    window = Window(b, op)
    padding = op.operands["view"].type.padding
    other = None
    if padding in _PADDING:
        other = b.constant(type.shaped(()), _PADDING[padding])
    attributes = {"window": "descriptor"}
    _order(op, attributes)
    b.set(op.results[0], b.emit(
        "load", type, window.pointer, *_operands(window.mask, other),
        **attributes))


_SCOPES = {"device": "", "block": "_cta", "sys": "_sys", "none": ""}


def _order(op, attributes):
    order = op.attributes.get("memory_order", "weak")
    if order != "weak":
        attributes["ordering"] = order + _SCOPES[
            op.attributes.get("memory_scope", "device")]


def _sem(op):
    """The attributes of an atomic operation."""
    scope = op.attributes.get("memory_scope", "device")
    return {"sem": op.attributes.get("memory_order", "relaxed"),
            "scope": {"block": "cta", "sys": "sys"}.get(scope, "gpu")}


def barrier(b: Builder) -> None:
    """A block is one thread: what it has written it may read."""
    b.add("barrier", [], [], {}, INT32)


@emits("tile_store")
def _store(b, op):
    value = b.slot(op.operands["tile"])
    window = Window(b, op)
    if op.attributes.get("memory_order", "weak") == "weak":
        b.add("store", [], [window.pointer, value, *_operands(window.mask)],
              {"window": "descriptor"}, value.type)
    else:
        b.emit("atomic", value.type, window.pointer, value,
               *_operands(window.mask), op="atomic_xchg", **_sem(op))
    barrier(b)


@emits("load_pointer")
def _load_pointer(b, op):
    mask, other = (op.operands.get(k) for k in ("mask", "padding_value"))
    b.set(op.results[0], b.emit(
        "load", b.type(op.results[0]), b.slot(op.operands["pointer"]),
        *_operands(mask and b.slot(mask), other and b.slot(other))))


@emits("store_pointer")
def _store_pointer(b, op):
    mask, value = op.operands.get("mask"), b.slot(op.operands["value"])
    b.add("store", [], [b.slot(op.operands["pointer"]), value,
                        *_operands(mask and b.slot(mask))], {}, value.type)
    barrier(b)


@emits("pointer_offset")
def _offset(b, op):
    b.set(op.results[0], b.emit(
        "addptr", b.type(op.results[0]), b.slot(op.operands["pointer"]),
        b.cast(b.slot(op.operands["offset"]), "int64")))


def _rmw(op):
    """The form's word of a mode: ADD_FLOAT, MAX_UNSIGNED_INT, EXCHANGE."""
    word = op.attributes["mode"].replace("BITWISE_", "").split("_")[0]
    return "atomic_" + {"EXCHANGE": "xchg"}.get(word, word.lower())


@emits("tile_atomic_rmw")
def _atomic(b, op):
    mask = op.operands.get("mask")
    b.set(op.results[0], b.emit(
        "atomic", b.type(op.results[0]), b.slot(op.operands["pointer"]),
        b.slot(op.operands["update"]), *_operands(mask and b.slot(mask)),
        op=_rmw(op), **_sem(op)))
    barrier(b)


@emits("tile_atomic_red_view")
def _reduce_view(b, op):
    value = b.slot(op.operands["update"])
    window = Window(b, op)
    b.emit("atomic", value.type, window.pointer, value,
           *_operands(window.mask), op=_rmw(op), **_sem(op))
    barrier(b)


@emits("tile_atomic_cas")
def _cas(b, op):
    mask = op.operands.get("mask")
    pointer, expected, value = (b.slot(op.operands[k]) for k in
                                ("pointer", "expected", "desired"))
    b.set(op.results[0], b.emit(
        "atomic_cas", b.type(op.results[0]), pointer, expected, value,
        *_operands(mask and b.slot(mask)), **_sem(op)))
    barrier(b)


@emits("num_tiles")
def _num_tiles(b, op):
    view = op.operands["view"]
    base, *rest = view.parts
    for t, result in enumerate(op.results):
        axis = view.type.order[t] if view.type.order else t
        length = b.slot(rest[axis])
        step = b.number(length, view.type.steps[t])
        up = b.binary("add", length, b.number(length, view.type.steps[t] - 1))
        b.set(result, b.cast(b.binary("div", up, step), "int32"))


@emits("get_array_list_item")
def _list_item(b, op):
    base, length = op.operands["x"].parts
    index = b.cast(b.slot(op.operands["index"]), "int64")
    size = b.cast(b.slot(length), "int64")
    inside = b.binary("and", b.compare("ge", index, b.number(index, 0)),
                      b.compare("lt", index, size))
    b.promise(inside, "the index is outside of the list of arrays")
    first = b.binary("mul", index, b.number(index, len(op.results)))
    for i, result in enumerate(op.results):
        at = b.binary("add", first, b.number(first, i))
        word = b.emit("load", INT64, b.emit(
            "addptr", FormType("pointer<int64>"), b.slot(base), at))
        b.set(result, b.cast(word, b.type(result).element))


# ---- what is said ---------------------------------------------------------


_FORMAT = re.compile(r"%([-+ #0]*)(\d*)((?:\.\d+)?)(hh|h|ll|l|z)?([a-zA-Z%])")


@emits("tile_printf")
def _printf(b, op):
    pieces: list[Any] = []
    args, at, text = list(op.operands["args"]), 0, op.attributes["format"]
    for found in _FORMAT.finditer(text):
        if found.start() > at:
            pieces.append(text[at:found.start()])
        at = found.end()
        flags, width, precision, _, kind = found.groups()
        if kind == "%":
            pieces.append("%")
            continue
        kind = "d" if kind in "iu" else kind
        spec = flags.replace("-", "<") + width + precision + kind
        value = b.slot(args.pop(0))  # a tile is a list of lanes, by format
        pieces.append((value, "" if spec == "d" and not value.type.shape
                       else spec))
    if text[at:]:
        pieces.append(text[at:])
    if pieces and isinstance(pieces[-1], str):  # printing ends the line
        pieces[-1] = pieces[-1].removesuffix("\n")
    values = [p[0] for p in pieces if not isinstance(p, str)]
    b.add("print", [], [], {}, values[0].type if values else INT32,
          format=pieces)


@emits("assert")
def _assert(b, op):
    condition = b.slot(op.operands["cond"])
    b.add("assert", [], [condition], {}, condition.type,
          format=[op.attributes["message"] or "ct.assert_"])


@emits("tile_reduce")
def _reduce(b, op):
    functions.emit_reduction(b, op, scan=False)


@emits("tile_scan")
def _scan(b, op):
    functions.emit_reduction(b, op, scan=True)
