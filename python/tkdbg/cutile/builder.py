"""What makes the statements of a function of the typed form: instructions,
constants, places, and the table of emitters, one for each operation of CUDA
Tile's intermediate form.  What has none is refused by name.
"""
from __future__ import annotations

import ast
import math
import os
from collections.abc import Callable, Sequence
from typing import Any

from .. import arguments, parsing
from .model import Kernel, Op, Place, Refused, Tile, Value
from .statements import FormType, Inst, Piece, Slot, Stmt

# element types by cuda.tile's names; those narrower than 8 bits, and those
# without a sign, are bytes with their bits
ELEMENTS = {
    "bool_": "int1", "int8": "int8", "int16": "int16", "int32": "int32",
    "int64": "int64", "uint8": "uint8", "uint16": "uint16",
    "uint32": "uint32", "uint64": "uint64", "float16": "fp16",
    "bfloat16": "bf16", "float32": "fp32", "tfloat32": "fp32",
    "float64": "fp64", "float8_e4m3fn": "fp8e4nv", "float8_e5m2": "fp8e5",
    "float8_e8m0fnu": "uint8", "float8_e5m3fnu": "uint8",
    "float4_e2m1fn": "uint8"}
BITS = {"int1": 1, "fp8e4nv": 8, "fp8e5": 8, "fp16": 16, "bf16": 16,
        "fp32": 32, "fp64": 64, **{f"{u}int{n}": n for n in (8, 16, 32, 64)
                                   for u in ("", "u")}}
# what the bits of those that are no type of the form stand for
DECODED = {
    "float8_e8m0fnu": [*(2.0 ** (n - 127) for n in range(255)), math.nan],
    "float8_e5m3fnu": [*(math.ldexp(n % 8 + 8 * (n > 7), max(n // 8, 1) - 18)
                         for n in range(255)), math.nan],
    "float4_e2m1fn": [s * n for s in (1, -1)
                      for n in (0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0)]}
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


# ---- statements of the source ---------------------------------------------


class Lines:
    """The statements of a file, by where they stand."""

    def __init__(self, lines: Sequence[str]) -> None:
        try:
            tree = parsing.tree("".join(lines))
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
        last: Any = getattr(best, end) if end else best
        if hasattr(best, "body") and not end:
            return place._replace(line=best.lineno, last_line=best.lineno,
                                  column=best.col_offset + 1,
                                  end=best.col_offset + 2)
        return place._replace(
            line=best.lineno, column=best.col_offset + 1,
            last_line=last.end_lineno, end=last.end_col_offset + 1)


# ---- the builder ----------------------------------------------------------


class Builder:
    """Makes the statements of one function.  around: of a reduction's body,
    who makes what it stands in; lift: the shape that its scalars have, since
    it is computed for many lanes at once."""

    def __init__(self, kernel: Kernel, made: list[str],
                 around: Builder | None = None,
                 lift: tuple[int, ...] | None = None) -> None:
        self.kernel = kernel
        self.made = made  # the text of each function that was made
        self.lift = lift
        self.lines = Lines(kernel.sources.get(kernel.place.file, ()))
        self.slots: dict[Value, Slot] = {}
        self.ones: set[Slot] = around.ones if around else set()
        self.constants: dict[Value, Any] = (
            dict(around.constants) if around else {})
        self.known: dict[Any, Slot] = {}  # constants of the open statement
        self.out: list[Stmt] = []
        self.open: Stmt | None = None
        self.place: Place = around.place if around else kernel.place
        self.header: Place = self.place

    # ---- where -------------------------------------------------------------

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

    def compound(self, kind: str, cond: Slot | None = None,
                 loop: tuple[Slot, ...] = (),
                 results: Sequence[Slot] = ()) -> Stmt:
        """The open statement made a compound one: its instructions are the
        header's."""
        made = self.statement()
        self.close()
        made.become(kind, self.header, cond, loop, results)
        return made

    def before(self, emit: Callable[[], None]) -> None:
        """What emit makes is a statement before the last one."""
        kept, self.open = self.open, Stmt("run", self.header)
        self.out.insert(len(self.out) - 1, self.open)
        emit()
        self.close()
        self.open = kept

    def inside(self, block: list[Stmt], emit: Callable[[], None]) -> None:
        """What emit makes goes to a block."""
        outer, self.out = self.out, block
        kept = self.place, self.header
        self.close()
        emit()
        self.close()
        self.out = outer
        self.place, self.header = kept

    # ---- values ------------------------------------------------------------

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
        number = self.constants.get(value, value.constant)
        if number is None or not isinstance(value.type, Tile):
            raise Refused("a value is used that has no place in the form")
        return self.constant(self.type(value), code_of(value.type.dtype,
                                                       number))

    def set(self, value: Value, slot: Slot) -> None:
        """value is in a slot from here on."""
        self.slots[value] = slot

    def new(self, value: Value, name: str = "") -> Slot:
        """A slot for a value that is about to be defined, as its variable or
        that of a name."""
        name = value.name or name
        frame = self.place.function.split(".")[0] if name else ""
        return Slot(self.type(value), name, frame)

    def emit(self, name: str, type: FormType, /,
             *operands: Slot | tuple[str, Slot], result: Slot | None = None,
             **attributes: Any) -> Slot:
        """An instruction with one result."""
        made = result or Slot(type)
        self.add(name, [made], operands, attributes)
        return made

    def add(self, op: str, results: Sequence[Slot], operands: Sequence[Any],
            attributes: dict[str, Any], type: FormType | None = None, *,
            functions: Sequence[str] = (),
            format: Sequence[Piece] | None = None) -> None:
        """An instruction."""
        self.statement().insts.append(Inst(
            op, results, [o if isinstance(o, tuple) else ("", o)
                          for o in operands], attributes, self.place, type,
            functions=functions, format=format))

    def move(self, to: Slot, source: Slot) -> None:
        if to is source:
            return
        self.statement().insts.append(Inst(
            "copy", [to], [("", source)], {}, self.place, is_move=True))

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
        elif type.element.startswith("pointer"):  # of no value: nowhere
            made = self.emit("cast", scalar, self.constant(INT64, 0))
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
        self.add("assert", [], [condition], {"assumed": "true"},
                 condition.type, format=[message])

    # ---- operations --------------------------------------------------------

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


def code_of(dtype: str, value: Any) -> Any:
    """A number as the form's type for a dtype of cuda.tile has it."""
    known = DECODED.get(dtype)
    if known is None:
        return value
    if math.isnan(value):
        return len(known) - 1
    return min(range(len(known)), key=lambda code: (
        abs(known[code] - value) if known[code] == known[code] else math.inf,
        math.copysign(1, known[code]) != math.copysign(1, value), code % 2))


def bits_of(name: str, value: Any) -> int:
    """The bits of a number of an element type."""
    if name == "int1":
        return int(bool(value))
    if not is_float(name):
        return int(value) & ((1 << BITS[name]) - 1)
    value = float(value)
    if name == "bf16" and math.isnan(value):
        return arguments.bits_of("fp32", value) >> 16 | 0x40
    try:
        return arguments.bits_of(name, value)
    except OverflowError:  # rounded to infinity
        return arguments.bits_of(name, math.copysign(math.inf, value))
