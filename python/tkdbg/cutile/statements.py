"""The typed form of a function while it is made: instructions in a tree of
statements, whose values become variables and temporaries of the text.

What is made has every value defined once, and moves where ways meet.  Values
that one variable of the source stands for, and those that a move connects,
share a slot where no two of them are needed at the same time.
"""
from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, Union

from .model import Place


class FormType(NamedTuple):
    """A type as the form's text has it."""
    element: str
    shape: tuple[int, ...] = ()

    def __str__(self) -> str:
        if not self.shape:
            return self.element
        return f"<[{', '.join(map(str, self.shape))}], {self.element}>"

    def of(self, element: str) -> FormType:
        return FormType(element, self.shape)

    def shaped(self, shape: Sequence[int]) -> FormType:
        return FormType(self.element, tuple(shape))


class Slot:
    """A value; name: of the variable that the source calls it, with the call
    that it belongs to."""
    __slots__ = ("type", "name", "frame", "number", "home")

    def __init__(self, type: FormType, name: str = "",
                 frame: str = "") -> None:
        self.type, self.name, self.frame = type, name, frame
        self.number = -1
        self.home: Slot | None = None  # whose slot it shares

    def root(self) -> Slot:
        found = self
        while found.home is not None:
            found = found.home
        return found


Piece = Union[str, tuple[Slot, str]]  # of a format: text, a value and its spec
Operand = tuple[str, Slot]            # "mask", or "" where the place says it


class Inst:
    """An instruction."""

    def __init__(self, op: str, results: Sequence[Slot],
                 operands: Sequence[Operand], attributes: dict[str, Any],
                 place: Place | None, type: FormType | None = None, *,
                 functions: Sequence[str] = (),
                 format: Sequence[Piece] | None = None,
                 is_move: bool = False) -> None:
        self.op, self.results, self.operands = op, list(results), operands
        self.attributes, self.place, self.type = attributes, place, type
        self.functions, self.format = functions, format
        self.is_move = is_move

    def reads(self) -> Iterator[Slot]:
        for _, slot in self.operands:
            yield slot
        for piece in self.format or ():
            if not isinstance(piece, str):
                yield piece[0]


class Stmt:
    """A statement: run, if, for, while or return."""

    def __init__(self, kind: str, place: Place) -> None:
        self.kind, self.place = kind, place
        self.insts: list[Inst] = []
        self.cond: Slot | None = None
        self.loop: tuple[Slot, ...] = ()  # of a for: variable, from, to, by
        self.inside: list[Stmt] = []
        self.orelse: list[Stmt] = []
        self.results: Sequence[Slot] = ()

    def become(self, kind: str, place: Place, cond: Slot | None,
               loop: tuple[Slot, ...], results: Sequence[Slot]) -> None:
        """A statement whose instructions are a compound one's header."""
        self.kind, self.place, self.cond = kind, place, cond
        self.loop, self.results = loop, results


class Function:
    """A function of the form."""

    def __init__(self, name: str, params: Sequence[Slot], place: Place,
                 body: list[Stmt], results: Sequence[FormType] = (),
                 origins: Sequence[str] = ()) -> None:
        self.name, self.params, self.place = name, params, place
        self.inside, self.results = body, results
        self.origins = origins  # of a kernel's params, as text

    def text(self, word: str, source: int) -> str:
        _Merging(self).run()
        return _Printer(self).text(word, source)


def statements(body: Sequence[Stmt]) -> Iterator[Stmt]:
    for st in body:
        yield st
        yield from statements(st.inside)
        yield from statements(st.orelse)


# ---- which values share a slot --------------------------------------------


class _Merging:
    """Sets of values are the bits of integers."""

    def __init__(self, function: Function) -> None:
        self.function = function
        self.slots: list[Slot] = []
        for slot in function.params:
            self._number(slot)
        for st in statements(function.inside):
            for slot in (*st.loop, *st.results, *filter(None, [st.cond])):
                self._number(slot)
            for inst in st.insts:
                for slot in (*inst.reads(), *inst.results):
                    self._number(slot)
        self.clash = [0] * len(self.slots)
        self.members = [1 << i for i in range(len(self.slots))]

    def _number(self, slot):
        if slot.number < 0:
            slot.number = len(self.slots)
            self.slots.append(slot)

    def run(self) -> None:
        live = self._body(self.function.inside, 0)
        params = 0
        for slot in self.function.params:
            params |= 1 << slot.number
        for slot in self.function.params:
            self._define(slot, live | params)
        moves = [inst for st in statements(self.function.inside)
                 for inst in st.insts if inst.is_move]
        for inst in moves:
            self._merge(inst.results[0], inst.operands[0][1])
        named: dict[Any, Slot] = {}
        for slot in self.slots:
            if slot.name:
                key = slot.frame, slot.name, slot.type
                self._merge(named.setdefault(key, slot), slot)
        self._tidy(self.function.inside)

    def _tidy(self, body):
        """Takes away moves from a slot to itself, and statements of nothing
        else."""
        for st in body:
            st.insts = self._without_moves(st.insts)
            self._tidy(st.inside)
            self._tidy(st.orelse)
        body[:] = [st for st in body if st.insts or st.kind != "run"]

    def _without_moves(self, insts):
        return [inst for inst in insts if not (
            inst.is_move and
            inst.results[0].root() is inst.operands[0][1].root())]

    def _merge(self, a, b):
        a, b = a.root(), b.root()
        if a is b or a.type != b.type:
            return
        if a.name and b.name and (a.frame, a.name) != (b.frame, b.name):
            return
        if (self.clash[a.number] & self.members[b.number] or
                self.clash[b.number] & self.members[a.number]):
            return
        if b.number < a.number:
            a, b = b, a
        b.home = a
        if not a.name:
            a.name, a.frame = b.name, b.frame
        self.clash[a.number] |= self.clash[b.number]
        self.members[a.number] |= self.members[b.number]

    def _define(self, slot, live, but=0):
        self.clash[slot.number] |= live & ~(1 << slot.number) & ~but

    def _list(self, insts, live):
        for inst in reversed(insts):
            source = 1 << inst.operands[0][1].number if inst.is_move else 0
            written = 0
            for slot in inst.results:
                written |= 1 << slot.number
            for slot in inst.results:
                self._define(slot, live | written, source)
            live &= ~written
            for slot in inst.reads():
                live |= 1 << slot.number
        return live

    def _body(self, body, live):
        for st in reversed(body):
            live = self._stmt(st, live)
        return live

    def _stmt(self, st, live):
        if st.kind == "return":
            live = 0
            for slot in st.results:
                live |= 1 << slot.number
        elif st.kind == "if":
            live = (self._body(st.inside, live) | self._body(st.orelse, live) |
                    1 << st.cond.number)
        elif st.kind == "for":
            return self._list(st.insts, self._for(st, live))
        elif st.kind == "while":
            return self._while(st, live)
        return self._list(st.insts, live)

    def _for(self, st, after):
        variable, *bounds = st.loop
        head, before = after, -1
        while head != before:
            before = head
            inside = self._body(st.inside, head)
            self._define(variable, inside | head)
            head |= inside & ~(1 << variable.number)
        for slot in bounds:
            head |= 1 << slot.number
        return head

    def _while(self, st, after):
        head, before = 0, -1
        while head != before:
            before = head
            head = self._list(st.insts, after | 1 << st.cond.number |
                              self._body(st.inside, head))
        return head


# ---- the text -------------------------------------------------------------


class _Printer:
    """A function as text, once its values have their slots."""

    def __init__(self, function: Function) -> None:
        self.function = function
        self.lines: list[str] = []
        self.names: dict[Slot, str] = {}
        self.variables: list[Slot] = []
        self.next = 0

    def text(self, word: str, source: int) -> str:
        f = self.function
        self._name_variables()
        origins = f.origins or [""] * len(f.params)
        params = ", ".join(
            f"{self.names[slot.root()]}: {slot.type}{origin}"
            for slot, origin in zip(f.params, origins))
        results = (" -> " + ", ".join(map(str, f.results))
                   if f.results else "")
        self._body(f.inside, 1)
        variables = [f"  var {self.names[slot]}: {slot.type}"
                     for slot in self.variables]
        return "\n".join([
            f"{word} @{f.name}({params}){results} source {source} "
            f"{_at(f.place)} {{", *variables, *self.lines, "}", ""])

    def _name_variables(self):
        homes, many = self._homes()
        params = {slot.root() for slot in self.function.params}
        taken: dict[str, Any] = {}
        hidden = 0
        for slot in sorted(params, key=lambda s: s.number):
            self.names[slot] = self._fresh(taken, slot)
        for slot in homes:
            if slot in params:
                continue
            if not slot.name:
                if slot not in many:
                    continue  # a temporary
                hidden += 1
                slot.name = f".{hidden}"
            self.names[slot] = self._fresh(taken, slot)
            self.variables.append(slot)

    def _fresh(self, taken, slot):
        """A name that no slot of the same type has."""
        base = slot.name if not slot.frame else f"{slot.frame}.{slot.name}"
        name, i = base, 0
        while slot.type in taken.get(name, ()):
            i += 1
            name = f"{base}.{i}"
        types = taken.setdefault(name, [])
        types.append(slot.type)
        return f"%{name}" + (f"#{len(types)}" if len(types) > 1 else "")

    def _homes(self):
        """(slots in their order, those that cannot be temporaries)"""
        homes: dict[Slot, Any] = {}
        many, once = set(), set()
        for slot in self.function.params:
            homes[slot.root()] = None
        for st in statements(self.function.inside):
            for inst in st.insts:
                for slot in inst.results:
                    home = slot.root()
                    if homes.setdefault(home, st) is not st or home in once:
                        many.add(home)
                    once.add(home)
            if st.loop:
                homes.setdefault(st.loop[0].root(), None)
                many.add(st.loop[0].root())
        for st in statements(self.function.inside):
            used = [slot for inst in st.insts for slot in inst.reads()]
            used += (*st.results, *st.loop[1:], *filter(None, [st.cond]))
            many |= {slot.root() for slot in used
                     if homes.get(slot.root()) is not st}
        return homes, many

    def _name(self, slot):
        home = slot.root()
        if home not in self.names:
            self.names[home] = f"%{self.next}"
            self.next += 1
        return self.names[home]

    def _body(self, body, depth):
        for st in body:
            self._stmt(st, depth)

    def _stmt(self, st, depth):
        pad = "  " * depth
        word = {"run": "stmt"}.get(st.kind, st.kind)
        self.lines.append(f"{pad}{word} {_at(st.place)} {{")
        self._insts(st.insts, st.place, depth + 1)
        end = f"{pad}}}"
        if st.kind == "return":
            end += " " * bool(st.results) + ", ".join(
                map(self._name, st.results))
        elif st.kind == "if":
            end += f" then {self._name(st.cond)} {{"
        elif st.kind == "for":
            names = list(map(self._name, st.loop))
            end += f" over {names[0]} = {', '.join(names[1:])} {{"
        elif st.kind == "while":
            end += f" do {self._name(st.cond)} {{"
        self.lines.append(end)
        if st.kind in ("run", "return"):
            return
        self._body(st.inside, depth + 1)
        if st.orelse:
            self.lines.append(f"{pad}}} else {{")
            self._body(st.orelse, depth + 1)
        self.lines.append(f"{pad}}}")

    def _insts(self, insts, around, depth):
        for inst in insts:
            self.lines.append("  " * depth + self._inst(inst, around))

    def _inst(self, inst, around):
        line = ""
        operands = ", ".join((f"{label}=" if label else "") + self._name(slot)
                             for label, slot in inst.operands)
        if operands:
            line += " " + operands
        if inst.attributes:
            line += " {" + ", ".join(f"{name} = {value}" for name, value
                                     in inst.attributes.items()) + "}"
        if inst.functions:
            line += " by " + ", ".join(f"@{f}" for f in inst.functions)
        if inst.format is not None:
            line += " [" + ", ".join(map(self._piece, inst.format)) + "]"
        results = ", ".join(map(self._name, inst.results))
        types = (", ".join(str(slot.type) for slot in inst.results) or
                 str(inst.type))
        line = (f"{results}{' = ' if results else ''}{inst.op}{line} : "
                f"{types}")
        if inst.place is not None and inst.place != around:
            line += " " + _at(inst.place)
        return line

    def _piece(self, piece):
        if isinstance(piece, str):
            return quoted(piece)
        slot, spec = piece
        return self._name(slot) + (f":{quoted(spec)}" if spec else "")


def quoted(text: str) -> str:
    """Text in the quotes of the form."""
    made = text.replace("\\", "\\\\").replace('"', '\\"')
    made = made.replace("\n", "\\n")
    return '"' + "".join(c if c >= " " and c != "\x7f" else f"\\x{ord(c):02x}"
                         for c in made) + '"'


def _at(place: Place) -> str:
    last = (f"{place.last_line}:" if place.last_line != place.line else "")
    return f"at {place.line}:{place.column}-{last}{place.end}"
