"""Emitters of loads, stores, atomic operations, and of what is said."""
from __future__ import annotations

import math
import re
from typing import Any

from . import functions
from .builder import INT32, INT64, Builder, emits
from .model import Value, View
from .statements import FormType



_PADDING = {"zero": 0.0, "neg_zero": -0.0, "nan": math.nan,
            "pos_inf": math.inf, "neg_inf": -math.inf}
_PROMISE = ("check_bounds=False promises that the tile lies in the array, and "
            "it does not")


class Window:
    """Addresses of the elements of a tile, and which of them are in the
    array."""

    def __init__(self, b: Builder, view: Value, index: tuple[Value, ...],
                 inbounds: bool) -> None:
        type = view.type
        assert isinstance(type, View)
        base, *rest = view.parts
        lengths, strides = rest[:type.rank], rest[type.rank:]
        self.pointer, self.mask = b.slot(base), None
        tile = type.tile
        for t, n in enumerate(tile):
            axis = type.order[t] if type.order else t
            at = self._positions(b, type, index[t], t, n)
            row = [1] * len(tile)
            row[t] = n
            at = b.reshape(at, row)
            stride = b.cast(b.slot(strides[axis]), "int64")
            self._step(b, b.binary("mul", at, stride), tile)
            length = b.cast(b.slot(lengths[axis]), "int64")
            inside = b.binary("and", b.compare("ge", at, b.constant(INT64, 0)),
                              b.compare("lt", at, length))
            inside = b.broadcast(inside, tile)
            self.mask = (inside if self.mask is None else
                         b.binary("and", self.mask, inside))
        if inbounds and self.mask is not None:
            b.promise(self.mask, _PROMISE)
            self.mask = None

    def _positions(self, b, type, index, t, n):
        """The places of lanes along an axis, as int64."""
        i = b.cast(b.slot(index), "int64")
        if type.kind == "gather":
            if t == type.sparse:
                return i
            start = i
        else:
            start = b.binary("mul", i, b.constant(INT64, type.steps[t]))
        lanes = b.emit("arange", INT32.shaped((n,)), start=0)
        lanes = b.cast(lanes, "int64")
        return b.binary("add", lanes, start)

    def _step(self, b, offset, tile):
        """Moves the addresses along an axis."""
        if not self.pointer.type.shape:
            to = self.pointer.type.shaped(offset.type.shape)
            self.pointer = b.emit("addptr", to, self.pointer, offset)
            return
        self.pointer = b.broadcast(self.pointer, tile)
        self.pointer = b.emit("addptr", self.pointer.type, self.pointer,
                              b.broadcast(offset, tile))

    def finish(self, b: Builder, shape: tuple[int, ...]) -> None:
        """Both in the shape of the tile."""
        self.pointer = b.broadcast(self.pointer, shape)


def _operands(mask, other=None):
    return [("mask", mask)] * (mask is not None) + (
        [("other", other)] * (other is not None and mask is not None))


def _window(b, op):
    window = Window(b, op.operands["view"], op.operands["index"],
                    any(op.attributes.get("inbounds", ())))
    window.finish(b, op.operands["view"].type.tile)
    return window


@emits("tile_load")
def _load(b, op):
    type = b.type(op.results[0])
    window = _window(b, op)
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
    window = _window(b, op)
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
    window = _window(b, op)
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
