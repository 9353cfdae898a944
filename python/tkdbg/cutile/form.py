"""CUDA Tile's intermediate form to the text of the typed form.

An operation has an emitter, found by its code in one table; what has none is
refused by name.  Control flow, and the bodies of reductions and scans, are in
functions.py.
"""
from __future__ import annotations

import ast
import math
import os
import re
import struct
from collections.abc import Callable, Sequence
from typing import Any

from . import functions
from .model import (Block, Kernel, Op, Place, Refused, Tile, Value, View)
from .tree import (FormType, Function, Inst, Slot, Stmt, quoted)

HEAD = "tkdbg-ir 1"

# element types by cuda.tile's names; those narrower than 8 bits, and those
# that are exponents alone, are bytes with their bits
ELEMENTS = {
    "bool_": "int1", "int8": "int8", "int16": "int16", "int32": "int32",
    "int64": "int64", "uint8": "uint8", "uint16": "uint16",
    "uint32": "uint32", "uint64": "uint64", "float16": "fp16",
    "bfloat16": "bf16", "float32": "fp32", "tfloat32": "fp32",
    "float64": "fp64", "float8_e4m3fn": "fp8e4nv", "float8_e5m2": "fp8e5",
    "float8_e8m0fnu": "uint8", "float4_e2m1fn": "uint8"}
BITS = {"int1": 1, "fp8e4nv": 8, "fp8e5": 8, "fp16": 16, "bf16": 16,
        "fp32": 32, "fp64": 64, **{f"{u}int{n}": n for n in (8, 16, 32, 64)
                                   for u in ("", "u")}}
INT32, INT64, FLAG = FormType("int32"), FormType("int64"), FormType("int1")

Emitter = Callable[["Builder", Op], None]
EMITTERS: dict[str, Emitter] = {}


def emits(*codes: str) -> Callable[[Emitter], Emitter]:
    """Enters a function in the table."""
    def enter(emitter: Emitter) -> Emitter:
        for code in codes:
            EMITTERS[code] = emitter
        return emitter
    return enter


def element(dtype: str) -> str:
    """The form's name of an element type."""
    if dtype.startswith("pointer["):
        return f"pointer<{element(dtype[8:-1].split(',')[0])}>"
    found = ELEMENTS.get(dtype)
    if found is None:
        raise Refused(f"elements of {dtype} are not supported")
    return found


def is_float(name: str) -> bool:
    return name.startswith(("fp", "bf"))


def is_signed(name: str) -> bool:
    return name.startswith("int") and name != "int1"


# ---- statements of the source --------------------------------------------------


class Lines:
    """The statements of a file, by where they stand."""

    def __init__(self, lines: Sequence[str]) -> None:
        try:
            tree: ast.AST = ast.parse("".join(lines))
        except (SyntaxError, ValueError):
            tree = ast.Module([], [])
        self.nodes = sorted(
            (n for n in ast.walk(tree) if isinstance(n, ast.stmt)),
            key=lambda n: (n.lineno, n.col_offset,
                           -(n.end_lineno or 0)))

    def header(self, place: Place) -> Place:
        """Where the statement stands that a place is in; of one with others
        inside, its header."""
        at, best = (place.line, place.column - 1), None
        for node in self.nodes:
            if (node.lineno, node.col_offset) > at:
                break
            if (node.end_lineno or 0, node.end_col_offset or 0) > at:
                best = node
        if best is None:
            return place
        end: Any = {ast.If: "test", ast.While: "test", ast.For: "iter"}.get(
            type(best))
        last = getattr(best, end) if end else best
        if hasattr(best, "body") and not end:
            return place._replace(line=best.lineno, last_line=best.lineno,
                                  column=best.col_offset + 1,
                                  end=best.col_offset + 2)
        return place._replace(
            line=best.lineno, column=best.col_offset + 1,
            last_line=last.end_lineno, end=last.end_col_offset + 1)


# ---- the builder ------------------------------------------------------------------


class Builder:
    """Makes the statements of one function.  lift: the shape that scalars of
    a reduction's body have, which is computed for many lanes at once."""

    def __init__(self, kernel: Kernel, made: list[str],
                 lift: tuple[int, ...] | None = None) -> None:
        self.kernel = kernel
        self.made = made  # the text of each function that was made
        self.lift = lift
        self.lines = Lines(kernel.sources.get(kernel.place.file, ()))
        self.slots: dict[Value, Slot] = {}
        self.constants: dict[Value, Any] = {}
        self.known: dict[Any, Slot] = {}  # constants of the open statement
        self.out: list[Stmt] = []
        self.open: Stmt | None = None
        self.place = kernel.place
        self.header = kernel.place

    # ---- where -----------------------------------------------------------

    def at(self, op: Op) -> None:
        """Instructions are of this operation from here on."""
        for place in op.places:
            if place.file == self.kernel.place.file:
                self.place = place
                header = self.lines.header(place)
                if header[:5] != self.header[:5] or self.open is None:
                    self.close()
                self.header = header
                return

    def close(self) -> Stmt | None:
        """Ends the open statement, and gives it."""
        was, self.open = self.open, None
        self.known = {}
        return was

    def statement(self) -> Stmt:
        """The statement that instructions go to."""
        if self.open is None:
            self.open = Stmt("run", self.header)
            self.out.append(self.open)
        return self.open

    def compound(self, kind: str) -> Stmt:
        """The open statement made a compound one: its instructions are the
        header's."""
        made = self.statement()
        self.close()
        made.kind, made.place = kind, self.header
        return made

    def inside(self, block: list[Stmt], emit: Callable[[], None]) -> None:
        """What emit makes goes to a block."""
        outer, self.out = self.out, block
        kept = self.place, self.header
        self.close()
        emit()
        self.close()
        self.out = outer
        self.place, self.header = kept

    # ---- values ----------------------------------------------------------

    def type(self, value: Value) -> FormType:
        """The type of a value; Refused for what has none."""
        if not isinstance(value.type, Tile):
            raise Refused("this value has no type of lanes")
        shape = value.type.shape
        if not shape and self.lift is not None:
            shape = self.lift
        return FormType(element(value.type.dtype), shape)

    def slot(self, value: Value) -> Slot:
        """What a value is in."""
        found = self.slots.get(value)
        if found is not None:
            return found
        if value in self.constants:
            return self.constant(self.type(value), self.constants[value])
        if value.constant is not None and isinstance(value.type, Tile):
            return self.constant(self.type(value), value.constant)
        raise Refused("a function of a reduction or scan uses a value that is "
                      "computed outside of it")

    def set(self, value: Value, slot: Slot) -> None:
        """value is in a slot from here on."""
        self.slots[value] = slot

    def new(self, value: Value) -> Slot:
        """A slot for a value that is about to be defined."""
        frame = self.place.function.split(".")[0] if value.name else ""
        return Slot(self.type(value), value.name, frame)

    def emit(self, name: str, type: FormType, /,
             *operands: Slot | tuple[str, Slot], result: Slot | None = None,
             **attributes: Any) -> Slot:
        """An instruction with one result."""
        made = result or Slot(type)
        self.add(name, [made], operands, attributes)
        return made

    def add(self, op: str, results: Sequence[Slot], operands: Sequence[Any],
            attributes: dict[str, Any], type: FormType | None = None) -> Inst:
        inst = Inst(op, results, [o if isinstance(o, tuple) else ("", o)
                                  for o in operands], attributes, self.place,
                    type)
        self.statement().insts.append(inst)
        return inst

    def move(self, to: Slot, source: Slot) -> None:
        if to is source:
            return
        self.add("copy", [to], [source], {}).is_move = True

    def constant(self, type: FormType, value: Any) -> Slot:
        """A number in every lane; each statement has its own."""
        self.statement()
        key = type, repr(value)
        if key not in self.known:
            self.known[key] = self._constant(type, value)
        return self.known[key]

    def _constant(self, type, value):
        scalar = type.shaped(())
        if type.element in ("fp8e4nv", "fp8e5"):
            wide = self.constant(FormType("fp32"), float(value))
            made = self.emit("cast", scalar, wide)
        else:
            made = self.emit("const", scalar,
                             bits=hex(bits_of(type.element, value)))
        return self.broadcast(made, type.shape)

    def broadcast(self, slot: Slot, shape: Sequence[int]) -> Slot:
        """A value in another shape."""
        to = slot.type.shaped(shape)
        if slot.type == to:
            return slot
        if slot.type.shape and len(slot.type.shape) != len(to.shape):
            padded = ((1,) * (len(to.shape) - len(slot.type.shape)) +
                      slot.type.shape)
            slot = self.emit("copy", slot.type.shaped(padded), slot)
            if slot.type == to:
                return slot
        return self.emit("broadcast", to, slot)

    def reshape(self, slot: Slot, shape: Sequence[int]) -> Slot:
        """The same lanes in another shape."""
        to = slot.type.shaped(shape)
        return slot if slot.type == to else self.emit("copy", to, slot)

    def cast(self, slot: Slot, to: str, **attributes: Any) -> Slot:
        if slot.type.element == to:
            return slot
        return self.emit("cast", slot.type.of(to), slot, **attributes)

    def binary(self, op: str, left: Slot, right: Slot,
               result: Slot | None = None) -> Slot:
        return self.emit("binary", left.type, left, right, result=result,
                         op=op)

    def compare(self, op: str, left: Slot, right: Slot) -> Slot:
        return self.emit("compare", left.type.of("int1"), left, right, op=op)

    def select(self, condition: Slot, yes: Slot, no: Slot) -> Slot:
        return self.emit("select", yes.type, condition, yes, no)

    def number(self, like: Slot, value: Any) -> Slot:
        """A constant of the type of another value."""
        return self.constant(like.type, value)

    def promise(self, condition: Slot, message: str) -> None:
        """A condition that the program promises to hold."""
        inst = self.add("assert", [], [condition], {"assumed": "true"},
                        condition.type)
        inst.format = [message]

    # ---- operations --------------------------------------------------------

    def block(self, block: Block, loop: functions.Loop | None) -> None:
        """The operations of a block, and how it ends."""
        functions.emit_block(self, block.ops, loop)

    def operation(self, op: Op) -> None:
        emitter = EMITTERS.get(op.code)
        if emitter is None:
            raise Refused(
                f"tkdbg does not know the operation '{op.code}' of cuda.tile "
                f"{self.kernel.version}{_where(op)}")
        self.at(op)
        try:
            emitter(self, op)
        except Refused as e:
            if e.args[0].endswith(")"):
                raise
            raise Refused(f"{e.args[0]}{_where(op)}") from None


def _where(op: Op) -> str:
    if not op.places:
        return ""
    return f" ({os.path.basename(op.places[-1].file)}:{op.places[-1].line})"


def bits_of(name: str, value: Any) -> int:
    """The bits of a number of an element type."""
    if not is_float(name):
        return int(value) & ((1 << BITS[name]) - 1)
    value = float(value)
    if name == "fp64":
        return struct.unpack("<Q", struct.pack("<d", value))[0]
    try:
        if name == "fp16":
            return struct.unpack("<H", struct.pack("<e", value))[0]
        single = struct.unpack("<I", struct.pack("<f", value))[0]
    except OverflowError:  # rounded to infinity
        return bits_of(name, math.copysign(math.inf, value))
    if name == "fp32":
        return single
    return (single >> 16 | 0x40 if math.isnan(value) else
            single + 0x7FFF + (single >> 16 & 1) >> 16)


# ---- a kernel's text ----------------------------------------------------------------


def convert(kernel: Kernel) -> str:
    """The text of the typed form of a kernel; raises Refused."""
    made: list[str] = []
    b = Builder(kernel, made)
    for value in kernel.body.params:
        if isinstance(value.type, Tile):
            b.set(value, Slot(b.type(value), value.name))
    slots = [b.slots[v] for v in kernel.body.params]
    function = Function(kernel.name, slots, kernel.place)
    function.origins = [
        f" from {p.argument}" + (f".{p.item}" if p.item else "") +
        (f" divisor {p.divisor}" if p.divisor > 1 else "")
        for p in kernel.params]
    for slot, p in zip(slots, kernel.params):
        slot.name = p.argument + (f".{p.item}" if p.item else "")
    b.block(kernel.body, None)
    function.body = b.out
    arguments = [f"arg {name}" + (f" = {quoted(text)}" if text is not None
                                  else "")
                 for name, text in kernel.arguments]
    lines = kernel.sources.get(kernel.place.file, [])
    return "\n".join([
        HEAD, "language cutile", *arguments, "",
        function.text("kernel", 0), *made,
        f"source 0 {quoted(kernel.place.file)} from 1",
        *("|" + line.rstrip("\n") for line in lines), ""])


# ---- of nothing, copied, moved ---------------------------------------------------------


@emits("make_tensor_view", "make_partition_view", "make_strided_view",
       "make_gather_scatter_view", "make_list_view", "make_token",
       "join_tokens", "grid_dependency_control_wait",
       "grid_dependency_control_launch_dependents", "foreign_pointer_cast_")
def _nothing(b: Builder, op: Op) -> None:
    """Views are known by their types; everything runs in order."""


@emits("typed_const")
def _const(b, op):
    result, value = op.results[0], op.attributes["value"]
    if not isinstance(result.type, Tile):
        return  # a module, a text: what the front end alone uses
    type = b.type(result)
    if isinstance(value, tuple):
        b.set(result, _dense(b, type, value))
    elif not result.type.shape:
        b.constants[result] = value
    else:
        b.set(result, b.broadcast(b.constant(type.shaped(()), value),
                                  type.shape))


def _dense(b, type, value):
    """A tile of given numbers, by choosing among them lane by lane."""
    flat = list(value)
    while flat and isinstance(flat[0], tuple):
        flat = [x for row in flat for x in row]
    row = type.shaped((len(flat),))
    lanes = b.emit("arange", INT32.shaped(row.shape), start=0)
    made = b.constant(row, flat[0])
    for i, x in enumerate(flat[1:], 1):
        here = b.compare("eq", lanes, b.number(lanes, i))
        made = b.select(here, b.constant(row, x), made)
    return b.emit("copy", type, made)


@emits("make_dummy")
def _dummy(b, op):
    if isinstance(op.results[0].type, Tile):
        b.constants[op.results[0]] = 0


@emits("assign")
def _assign(b, op):
    value, result = op.operands["value"], op.results[0]
    if not isinstance(result.type, Tile):
        return
    to = b.new(result)
    if value in b.slots:
        b.move(to, b.slots[value])
    else:
        source = b.slot(value)
        b.move(to, source)
    b.set(result, to)


@emits("assume_bounded")
def _bounded(b, op):
    x, result = b.slot(op.operands["x"]), op.results[0]
    lower = op.attributes["lower_bound"]
    is_argument = op.operands["x"] in b.kernel.body.params
    if lower is not None and not is_argument and (
            op.operands["x"].constant is None):
        b.promise(b.compare("ge", x, b.number(x, lower)),
                  "the length of an array is negative")
    b.set(result, x)


@emits("assume_div_by")
def _divisible(b, op):
    x, divisor = b.slot(op.operands["x"]), op.attributes["divisor"]
    rest = b.binary("mod", x, b.number(x, divisor))
    b.promise(b.compare("eq", rest, b.number(x, 0)),
              f"assume_divisible_by: this is not a multiple of {divisor}")
    b.set(op.results[0], x)


@emits("tile_bid")
def _bid(b, op):
    b.set(op.results[0], b.emit("program_id", INT32,
                                axis=op.attributes["axis"]))


@emits("tile_num_blocks")
def _num_blocks(b, op):
    b.set(op.results[0], b.emit("num_programs", INT32,
                                axis=op.attributes["axis"]))


@emits("tile_arange")
def _arange(b, op):
    type = b.type(op.results[0])
    lanes = b.emit("arange", INT32.shaped(type.shape), start=0)
    b.set(op.results[0], b.cast(lanes, type.element))


@emits("tile_reshape", "tile_bitcast", "reinterpret_pointer",
       "foreign_pointer_cast", "address_space_cast")
def _copy(b, op):
    source = b.slot(next(iter(op.operands.values())))
    type = b.type(op.results[0])
    if "<" in type.element or "<" in source.type.element:
        if type.element != source.type.element:
            b.set(op.results[0], b.emit("cast", type, source))
            return
    b.set(op.results[0], source if type == source.type else
          b.emit("copy", type, source))


@emits("tile_broadcast")
def _broadcast(b, op):
    b.set(op.results[0], b.broadcast(b.slot(op.operands["x"]),
                                     b.type(op.results[0]).shape))


@emits("tile_permute")
def _permute(b, op):
    b.set(op.results[0], b.emit("permute", b.type(op.results[0]),
                                b.slot(op.operands["x"]),
                                axes=list(op.attributes["axes"])))


@emits("tile_cat")
def _cat(b, op):
    b.set(op.results[0], b.emit("cat", b.type(op.results[0]),
                                b.slot(op.operands["x"]),
                                b.slot(op.operands["y"]),
                                axis=op.attributes["axis"]))


def _inside(b, index, count):
    """Promises that a subtile lies in its tile."""
    fits = b.emit("binary", FLAG, b.compare("ge", index, b.number(index, 0)),
                  b.compare("lt", index, b.number(index, count)), op="and")
    b.promise(fits, "the index is outside of the tile")


@emits("tile_extract")
def _extract(b, op):
    made, shape = b.slot(op.operands["x"]), b.type(op.results[0]).shape
    for axis, (index, n) in enumerate(zip(op.operands["index"], shape)):
        whole = made.type.shape[axis]
        if whole == n:
            continue
        to = made.type.shaped((*made.type.shape[:axis], n,
                               *made.type.shape[axis + 1:]))
        if index.constant is not None:
            made = b.emit("slice", to, made, axis=axis,
                          start=index.constant * n, step=1)
            continue
        start = b.cast(b.slot(index), "int32")
        _inside(b, start, whole // n)
        start = b.binary("mul", start, b.number(start, n))
        made = b.emit("gather", to, made, _along(b, to.shape, axis, start),
                      axis=axis)
    b.set(op.results[0], made)


def _along(b, shape, axis, start):
    """start + i along an axis of a shape."""
    lanes = b.emit("arange", INT32.shaped((shape[axis],)), start=0)
    lanes = b.binary("add", lanes, start)
    row = [1] * len(shape)
    row[axis] = shape[axis]
    return b.broadcast(b.emit("copy", lanes.type.shaped(row), lanes), shape)


@emits("tile_insert")
def _insert(b, op):
    whole, part = b.slot(op.operands["x"]), b.slot(op.operands["value"])
    shape, made, inside = whole.type.shape, part, None
    for axis, index in enumerate(op.operands["index"]):
        n = part.type.shape[axis]
        if n == shape[axis]:
            continue
        start = b.cast(b.slot(index), "int32")
        if index.constant is None:
            _inside(b, start, shape[axis] // n)
        start = b.binary("mul", start, b.number(start, n))
        zero = b.number(start, 0)
        to = made.type.shaped((*made.type.shape[:axis], shape[axis],
                               *made.type.shape[axis + 1:]))
        lane = _along(b, to.shape, axis, b.binary("sub", zero, start))
        at = b.binary("and", lane, b.number(lane, n - 1))
        made = b.emit("gather", to, made, at, axis=axis)
        place = _along(b, shape, axis, b.binary("sub", zero, start))
        here = b.binary("and", b.compare("ge", place, b.number(place, 0)),
                        b.compare("lt", place, b.number(place, n)))
        inside = here if inside is None else b.binary("and", inside, here)
    b.set(op.results[0], made if inside is None else
          b.select(inside, made, whole))


@emits("tile_pack")
def _pack(b, op):
    """The bytes of lanes, the lowest first."""
    x, result = b.slot(op.operands["x"]), b.type(op.results[0])
    dtype = op.operands["x"].type.dtype
    if dtype == "float4_e2m1fn":
        pairs = b.emit("copy", x.type.shaped((result.shape[0], 2)), x)
        low, high = Slot(result), Slot(result)
        b.add("split", [low, high], [pairs], {})
        high = b.binary("shl", high, b.number(high, 4))
        b.set(op.results[0], b.binary("or", low, high))
        return
    size = BITS[x.type.element] // 8
    word = b.emit("copy", x.type.of(f"uint{size * 8}"), x)
    parts = [b.cast(b.binary("lshr", word, b.number(word, 8 * i))
                    if i else word, "uint8") for i in range(size)]
    while len(parts) > 1:  # each new axis is a bit of the byte's number
        half = len(parts) // 2
        parts = [b.emit("join", p.type.shaped((*p.type.shape, 2)), p, q)
                 for p, q in zip(parts[:half], parts[half:])]
    b.set(op.results[0], b.emit("copy", result, parts[0]))


@emits("tile_unpack")
def _unpack(b, op):
    x, result = b.slot(op.operands["x"]), b.type(op.results[0])
    if op.results[0].type.dtype == "float4_e2m1fn":
        low = b.binary("and", x, b.number(x, 15))
        high = b.binary("lshr", x, b.number(x, 4))
        both = b.emit("join", x.type.shaped((*x.type.shape, 2)), low, high)
        b.set(op.results[0], b.emit("copy", result, both))
        return
    size = BITS[result.element] // 8
    rows = b.emit("copy", x.type.shaped((result.shape[0], size)), x)
    parts = [rows]
    for _ in range(size.bit_length() - 1):  # halves: the lowest bytes first
        half = parts[0].type.shape[1] // 2
        parts = [b.emit("slice", p.type.shaped((result.shape[0], half)), p,
                        axis=1, start=half * k, step=1)
                 for p in parts for k in (0, 1)]
    word = f"uint{size * 8}"
    made = None
    for i, part in enumerate(parts):
        wide = b.cast(b.emit("copy", part.type.shaped(result.shape), part),
                      word)
        wide = b.binary("shl", wide, b.number(wide, 8 * i)) if i else wide
        made = wide if made is None else b.binary("or", made, wide)
    b.set(op.results[0], b.emit("copy", result, made))


# ---- conversions ----------------------------------------------------------------------


def _tf32(b, x):
    """Rounded to 10 bits of mantissa, ties to even."""
    bits = b.emit("copy", x.type.of("uint32"), x)
    odd = b.binary("and", b.binary("lshr", bits, b.number(bits, 13)),
                   b.number(bits, 1))
    up = b.binary("add", bits, b.binary("add", odd, b.number(bits, 0xFFF)))
    cut = b.binary("and", up, b.number(bits, 0xFFFFE000))
    rounded = b.emit("copy", x.type, cut)
    size = b.binary("and", bits, b.number(bits, 0x7F800000))
    finite = b.compare("ne", size, b.number(bits, 0x7F800000))
    return b.select(finite, rounded, x)


def _from_exponent(b, x):
    """An exponent with bias 127, e8m0, as fp32."""
    wide = b.cast(x, "uint32")
    bits = b.binary("shl", wide, b.number(wide, 23))
    least = b.compare("eq", wide, b.number(wide, 0))
    bits = b.select(least, b.number(wide, 0x400000), bits)
    nan = b.compare("eq", wide, b.number(wide, 255))
    bits = b.select(nan, b.number(wide, 0x7FC00000), bits)
    return b.emit("copy", x.type.of("fp32"), bits)


def _from_e2m1(b, x):
    """Four bits, e2m1, as fp32."""
    made = b.constant(x.type.of("fp32"), 0.0)
    code = b.binary("and", x, b.number(x, 7))
    for i, v in enumerate((0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0), 1):
        made = b.select(b.compare("eq", code, b.number(x, i)),
                        b.number(made, v), made)
    negative = b.compare("ne", b.binary("and", x, b.number(x, 8)),
                         b.number(x, 0))
    return b.select(negative, b.emit("unary", made.type, made, op="neg"), made)


_NARROW = {"float8_e8m0fnu": _from_exponent, "float4_e2m1fn": _from_e2m1}


def as_float(b: Builder, value: Value) -> Slot:
    """A value whose element type is a number in the form."""
    x = b.slot(value)
    assert isinstance(value.type, Tile)
    narrow = _NARROW.get(value.type.dtype)
    return narrow(b, x) if narrow else x


@emits("tile_astype")
def _astype(b, op):
    result = op.results[0]
    x, to = as_float(b, op.operands["x"]), b.type(result)
    if result.type.dtype in _NARROW:
        raise Refused(f"conversions to {result.type.dtype} are not supported")
    mode = op.attributes.get("rounding_mode")
    if mode not in (None, "nearest_even", "zero"):
        raise Refused(f"conversions with rounding_mode {mode} are not "
                      "supported")
    if to.element == "int1" and x.type.element != "int1":
        made = b.compare("ne", x, b.number(x, 0))
    elif is_float(x.type.element) and is_float(to.element) and mode == "zero":
        made = b.cast(x, to.element, rounding="zero")
    else:
        made = b.cast(x, to.element)
    if result.type.dtype == "tfloat32":
        made = _tf32(b, made)
    b.set(result, made)


# ---- arithmetic --------------------------------------------------------------------------


def _flush(b, x, does):
    """Subnormal numbers of fp32 as zeros with their signs."""
    if not does or x.type.element != "fp32":
        return x
    size = b.emit("unary", x.type, x, op="abs")
    tiny = b.compare("lt", size, b.number(x, 2.0 ** -126))
    return b.select(tiny, b.binary("mul", x, b.number(x, 0.0)), x)


@emits("raw_cmp")
def _compare(b, op):
    b.set(op.results[0], b.compare(op.attributes["fn"],
                                   b.slot(op.operands["lhs"]),
                                   b.slot(op.operands["rhs"])))


@emits("raw_binary_bitwise")
def _bitwise(b, op):
    b.set(op.results[0], b.binary(op.attributes["fn"].rstrip("_"),
                                  b.slot(op.operands["lhs"]),
                                  b.slot(op.operands["rhs"])))


@emits("raw_bitwise_shift")
def _shift(b, op):
    x = b.slot(op.operands["lhs"])
    right = "shr" if is_signed(x.type.element) else "lshr"
    b.set(op.results[0], b.binary(
        "shl" if op.attributes["fn"] == "lshift" else right, x,
        b.slot(op.operands["rhs"])))


_PLAIN = {"add": "add", "sub": "sub", "mul": "mul", "truediv": "div",
          "c_mod": "mod", "min": "min", "max": "max"}
_DIRECTED = {"zero": "rz", "negative_inf": "rd", "positive_inf": "ru"}
_LIBRARY = {"add": "add", "sub": "sub", "mul": "mul", "truediv": "div"}


@emits("raw_binary_arith")
def _arithmetic(b, op):
    x, y = b.slot(op.operands["lhs"]), b.slot(op.operands["rhs"])
    ftz = op.attributes.get("flush_to_zero", False)
    x, y = _flush(b, x, ftz), _flush(b, y, ftz)
    made = _binary(b, op, x, y)
    b.set(op.results[0], _flush(b, made, ftz))


def _binary(b, op, x, y):
    fn, floats = op.attributes["fn"], is_float(x.type.element)
    way = _DIRECTED.get(op.attributes.get("rounding_mode"))
    if floats and way and fn in _LIBRARY:
        return external(b, f"{_LIBRARY[fn]}_{way}", x, y)
    if fn in ("min", "max") and floats and op.attributes["propagate_nan"]:
        return b.binary(fn + "_nan", x, y)
    if fn in _PLAIN:
        return b.binary(_PLAIN[fn], x, y)
    if fn in ("pow", "atan2"):
        return external(b, fn, x, y)
    if fn == "floordiv" and floats:
        return _unary_float(b, "floor", b.binary("div", x, y))
    if fn in ("floordiv", "cdiv"):
        return _whole_quotient(b, fn, x, y)
    raise Refused(f"the operation '{fn}' of cuda.tile {b.kernel.version} is "
                  "not known")


def _whole_quotient(b, fn, x, y):
    """A quotient of integers rounded down, or up."""
    q = b.binary("div", x, y)
    if not is_signed(x.type.element) and fn == "floordiv":
        return q
    rest = b.compare("ne", b.binary("mul", q, y), x)
    one = b.number(x, 1)
    if not is_signed(x.type.element):
        return b.select(rest, b.binary("add", q, one), q)
    zero = b.number(x, 0)
    signs = b.compare("ne" if fn == "floordiv" else "eq",
                      b.compare("lt", x, zero), b.compare("lt", y, zero))
    fix = b.binary("sub" if fn == "floordiv" else "add", q, one)
    return b.select(b.binary("and", rest, signs), fix, q)


_OVERLOADS = {"pow": 2}  # the first of two floats; 0 for the others


def external(b: Builder, function: str, *args: Slot) -> Slot:
    """A function of libdevice, which has fp32 and fp64."""
    own = args[0].type.element
    at = "fp64" if own == "fp64" else "fp32"
    wide = [b.cast(a, at) if is_float(a.type.element) else a for a in args]
    made = b.emit("extern", wide[0].type, *wide, function=function,
                  overload=_OVERLOADS.get(function, 0) + (at == "fp64"))
    return b.cast(made, own)


@emits("raw_fpowi")
def _powi(b, op):
    base, n = b.slot(op.operands["base"]), b.slot(op.operands["exponent"])
    b.set(op.results[0], external(b, "pow", base,
                                  b.cast(n, "fp64" if base.type.element ==
                                         "fp64" else "fp32")))


@emits("raw_where")
def _where_(b, op):
    b.set(op.results[0], b.select(b.slot(op.operands["cond"]),
                                  b.slot(op.operands["x"]),
                                  b.slot(op.operands["y"])))


def _unary_float(b, fn, x):
    at = "fp64" if x.type.element == "fp64" else "fp32"
    wide = b.cast(x, at)
    return b.cast(b.emit("unary", wide.type, wide, op=fn), x.type.element)


@emits("unaryop")
def _unary(b, op):
    x, fn = b.slot(op.operands["operand"]), op.attributes["fn"]
    ftz = op.attributes.get("flush_to_zero", False)
    way = _DIRECTED.get(op.attributes.get("rounding_mode"))
    x = _flush(b, x, ftz)
    if fn in ("invert", "bitwise_not"):
        made = b.emit("unary", x.type, x, op="not")
    elif fn in ("abs", "neg"):
        unsigned = not is_float(x.type.element) and not is_signed(
            x.type.element)
        made = (x if fn == "abs" and unsigned else
                b.emit("unary", x.type, x, op=fn))
    elif fn == "sqrt" and way:
        made = external(b, f"sqrt_{way}", x)
    elif fn in ("tan", "sinh", "cosh", "tanh"):
        made = external(b, fn, x)
    else:
        made = _unary_float(b, fn, x)
    b.set(op.results[0], _flush(b, made, ftz))


@emits("fma")
def _fma(b, op):
    b.set(op.results[0], b.emit(
        "fma", b.type(op.results[0]),
        *(b.slot(op.operands[k]) for k in ("lhs", "rhs", "acc"))))


# ---- products ------------------------------------------------------------------------------


def _three(b, slot):
    """A batch of matrices with one axis for the batch."""
    shape = slot.type.shape
    if len(shape) <= 3:
        return slot
    return b.emit("copy", slot.type.shaped((math.prod(shape[:-2]),
                                            *shape[-2:])), slot)


def _product(b, x, y, acc):
    own = acc.type
    wide = "fp32" if own.element == "bf16" else own.element
    acc = b.cast(acc, wide)
    made = b.emit("dot", _three(b, acc).type, _three(b, x), _three(b, y),
                  ("accumulator", _three(b, acc)))
    if made.type.shape != own.shape:
        made = b.emit("copy", made.type.shaped(own.shape), made)
    return b.cast(made, own.element)


@emits("tile_mma")
def _mma(b, op):
    x, y, acc = (b.slot(op.operands[k]) for k in ("x", "y", "acc"))
    b.set(op.results[0], _product(b, x, y, acc))


@emits("tile_mma_scaled")
def _mma_scaled(b, op):
    sides = []
    for name, axis in (("x", -1), ("y", -2)):
        wide = b.cast(as_float(b, op.operands[name]), "fp32")
        scale = b.cast(as_float(b, op.operands[name + "_scale"]), "fp32")
        sides.append(b.binary("mul", wide, _spread(
            b, scale, axis % len(wide.type.shape), wide.type.shape)))
    b.set(op.results[0], _product(b, *sides, b.slot(op.operands["acc"])))


def _spread(b, scale, axis, shape):
    """Each lane repeated along an axis, up to a shape."""
    own = scale.type.shape
    group = shape[axis] // own[axis]
    with_one = (*own[:axis + 1], 1, *own[axis + 1:])
    wide = (*own[:axis + 1], group, *own[axis + 1:])
    made = b.emit("copy", scale.type.shaped(with_one), scale)
    return b.emit("copy", scale.type.shaped(shape), b.broadcast(made, wide))


# ---- memory ----------------------------------------------------------------------------------


_PADDING = {"zero": 0.0, "neg_zero": -0.0, "nan": math.nan,
            "pos_inf": math.inf, "neg_inf": -math.inf}
_OUTSIDE = ("the tile lies entirely outside of the array, which cuda.tile "
            "leaves undefined")
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
            at, start = self._positions(b, type, index[t], t, n)
            row = [1] * len(tile)
            row[t] = n
            at = b.reshape(at, row)
            stride = b.cast(b.slot(strides[axis]), "int64")
            self._step(b, b.binary("mul", at, stride), tile)
            length = b.cast(b.slot(lengths[axis]), "int64")
            inside = b.binary("and", b.compare("ge", at, b.constant(INT64, 0)),
                              b.compare("lt", at, length))
            if start is not None and not inbounds:
                self._touches(b, start, n, length)
            inside = b.broadcast(inside, tile)
            self.mask = (inside if self.mask is None else
                         b.binary("and", self.mask, inside))
        if inbounds and self.mask is not None:
            b.promise(self.mask, _PROMISE)
            self.mask = None

    def _positions(self, b, type, index, t, n):
        """(lanes along an axis, the first of them), as int64."""
        i = b.cast(b.slot(index), "int64")
        if type.kind == "gather":
            if t == type.sparse:
                return i, None
            start = i
        else:
            start = b.binary("mul", i, b.constant(INT64, type.steps[t]))
        lanes = b.emit("arange", INT32.shaped((n,)), start=0)
        lanes = b.cast(lanes, "int64")
        return b.binary("add", lanes, start), start

    def _step(self, b, offset, tile):
        """Moves the addresses along an axis."""
        if not self.pointer.type.shape:
            to = self.pointer.type.shaped(offset.type.shape)
            self.pointer = b.emit("addptr", to, self.pointer, offset)
            return
        self.pointer = b.broadcast(self.pointer, tile)
        self.pointer = b.emit("addptr", self.pointer.type, self.pointer,
                              b.broadcast(offset, tile))

    def _touches(self, b, start, n, length):
        """Promises that a tile is not all outside."""
        begins = b.compare("lt", start, length)
        ends = b.compare("gt", start, b.constant(INT64, -n))
        b.promise(b.binary("and", begins, ends), _OUTSIDE)

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


# ---- what is said ----------------------------------------------------------------------------


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
        pieces.append((b.slot(args.pop(0)), "" if spec == "d" else spec))
    if text[at:]:
        pieces.append(text[at:])
    if pieces and isinstance(pieces[-1], str):  # printing ends the line
        pieces[-1] = pieces[-1].removesuffix("\n")
    values = [p[0] for p in pieces if not isinstance(p, str)]
    inst = b.add("print", [], [], {}, values[0].type if values else INT32)
    inst.format = pieces


@emits("assert")
def _assert(b, op):
    condition = b.slot(op.operands["cond"])
    inst = b.add("assert", [], [condition], {}, condition.type)
    inst.format = [op.attributes["message"] or "ct.assert_"]


@emits("tile_reduce")
def _reduce(b, op):
    functions.emit_reduction(b, op, scan=False)


@emits("tile_scan")
def _scan(b, op):
    functions.emit_reduction(b, op, scan=True)
