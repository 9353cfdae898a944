"""Bodies of reductions and scans as functions of the form; loops and branches
that end early, for which the form has no words, as flags."""
from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from .model import Block, Op, Refused, Value
from .statements import FormType, Function, Slot, Stmt

if TYPE_CHECKING:
    from .builder import Builder

_FLAG = FormType("int1")
_ENDS = ("break", "continue", "return")


class Loop:
    """A loop that operations stand in."""

    def __init__(self, params: Sequence[Value]) -> None:
        self.params = params         # carried from trip to trip
        self.goes: Slot | None = None   # whether there is another trip
        self.skips: Slot | None = None  # whether a trip's rest is left out
        self.pending: list[Slot] = []   # results of branches, not set yet

    def go(self) -> Slot:
        """The flag `goes`, which there is from here on."""
        self.goes = Slot(_FLAG)
        return self.goes

    def skip(self) -> Slot:
        """The flag `skips`, which there is from here on."""
        self.skips = self.skips or Slot(_FLAG)
        return self.skips


# ---- loops and branches ---------------------------------------------------


def _leaves(block: Block) -> bool:
    """Whether a block has a break or continue of the loop around it."""
    for op in block.ops:
        if op.code in ("break", "continue"):
            return True
        if op.code == "ifelse" and any(map(_leaves, op.blocks)):
            return True
    return False


def _breaks(block: Block) -> bool:
    return any(op.code == "break" or
               op.code == "ifelse" and any(map(_breaks, op.blocks))
               for op in block.ops)


def emit_block(b: Builder, ops: Sequence[Op], loop: Loop | None,
               results: Sequence[Value] = ()) -> None:
    """Operations of a block; results: of the branch that it ends."""
    for i, op in enumerate(ops):
        if op.code == "loop":
            _emit_loop(b, op)
        elif op.code == "ifelse":
            if _emit_branch(b, op, ops[i + 1:], loop, results):
                return
        elif op.code == "end_branch":
            _carry(b, results, op.operands["outputs"])
        elif op.code in ("break", "continue"):
            _emit_jump(b, op, loop)
            return
        elif op.code == "return":
            if op.places or loop is not None or len(ops) > i + 1:
                b.at(op)
                b.close()
                b.compound("return")
            return
        else:
            b.operation(op)


def _carry(b, to: Sequence[Value], values: Sequence[Value]) -> None:
    """All of them at once: what one overwrites another may read."""
    pairs = [(b.slots[t], b.slot(v)) for t, v in zip(to, values)
             if t in b.slots]
    pairs = [(t, v) for t, v in pairs if t is not v]
    written = {t for t, _ in pairs}
    safe = []
    for t, v in pairs:
        if v in written:
            kept = Slot(v.type)
            b.move(kept, v)
            v = kept
        safe.append((t, v))
    for t, v in safe:
        b.move(t, v)


def _lanes(values: Sequence[Value]) -> list[Value]:
    """Those that the form has a place for: no tokens."""
    return [v for v in values if v.type is not None]


def _emit_jump(b, op: Op, loop: Loop | None) -> None:
    assert loop is not None
    b.at(op)
    _carry(b, loop.params, op.operands["values"])
    for slot in loop.pending:  # nobody reads them, but they are set
        same = [b.slots[p] for p in _lanes(loop.params)
                if (p.name or slot.name) == slot.name and
                b.slots[p].type == slot.type]
        b.move(slot, same[0] if same else b.constant(slot.type, 0))
    if op.code == "break" and loop.goes is not None:
        _put(b, loop.goes, False)
    if loop.skips is not None:
        _put(b, loop.skips, True)


def _put(b, flag: Slot, value: bool) -> None:
    b.add("const", [flag], [], {"bits": hex(value)})


def _emit_branch(b, op: Op, rest: Sequence[Op], loop: Loop | None,
                 results: Sequence[Value]) -> bool:
    """An if; whether the operations after it were emitted too."""
    b.at(op)
    cond = b.slot(op.operands["cond"])
    then, other = op.blocks
    ends = [block.ops[-1].code in _ENDS for block in op.blocks]
    deep = [_leaves(block) for block in op.blocks]
    for result in _lanes(op.results):
        names = [after.results[0].name for after in rest
                 if after.code == "assign" and
                 after.operands["value"] is result]
        b.set(result, b.new(result, *names[:1]))
    st = b.compound("if", cond)
    nested = deep[0] != deep[1] and ends[deep.index(True)]
    if any(deep) and not nested:
        assert loop is not None
        skips = loop.skip()
        b.before(lambda: _put(b, skips, False))
        loop.pending += [b.slots[r] for r in _lanes(op.results)]
    for block, body, leaves in zip(op.blocks, (st.inside, st.orelse), deep):
        def emit(block=block, leaves=leaves):
            emit_block(b, block.ops, loop, op.results)
            if nested and not leaves:
                emit_block(b, rest, loop, results)
        b.inside(body, emit)
    if any(deep) and not nested and loop is not None and op.results:
        del loop.pending[-len(_lanes(op.results)):]
    if not st.inside and not st.orelse:
        st.inside.append(Stmt("run", st.place))
    if nested:
        return True
    if not any(deep):
        return False
    assert loop is not None
    after = b.compound("if", loop.skips)
    b.inside(after.orelse, lambda: emit_block(b, rest, loop, results))
    return True


def _emit_loop(b, op: Op) -> None:
    b.at(op)
    body = op.blocks[0]
    counts = op.operands["start"] is not None
    params = body.params[1:] if counts else body.params
    loop = Loop(params)
    for param in _lanes(params):
        b.set(param, b.new(param))
    _carry(b, params, op.operands["initial_values"])
    breaks = _breaks(body)
    if counts and not breaks:
        _emit_for(b, op, loop)
    else:
        _emit_while(b, op, loop, counts)
    for result, param in zip(op.results, params):
        if param in b.slots:
            b.set(result, b.slots[param])


def _bounds(b, op: Op) -> list[Slot]:
    return [b.slot(op.operands[k]) for k in ("start", "stop", "step")]


def _variable(b, op: Op) -> Slot:
    """The variable of a for, by the name that the body gives it."""
    value = op.blocks[0].params[0]
    names = [inner.results[0].name for inner in op.blocks[0].ops[:1]
             if inner.code == "assign" and inner.operands["value"] is value]
    made = b.new(value, *names)
    b.set(value, made)
    return made


def _emit_for(b, op: Op, loop: Loop) -> None:
    bounds = _bounds(b, op)
    st = b.compound("for", loop=(_variable(b, op), *bounds))
    b.inside(st.inside, lambda: emit_block(b, op.blocks[0].ops, loop))


def _emit_while(b, op: Op, loop: Loop, counts: bool) -> None:
    """Also a for with a break, which has no more trips when its flag is
    down."""
    goes = loop.go()
    _put(b, goes, True)
    stop = step = count = None
    if counts:
        start, stop, step = _bounds(b, op)
        count = Slot(start.type)
        b.move(count, start)
    b.close()
    if counts:
        more = b.compare("lt", count, stop)
        st = b.compound("while", b.binary("and", goes, more))
    else:
        st = b.compound("while", goes)

    def emit() -> None:
        if counts:
            b.move(_variable(b, op), count)
        emit_block(b, op.blocks[0].ops, loop)
    b.inside(st.inside, emit)
    if counts:
        def count_on() -> None:
            b.binary("add", count, step, result=count)
        b.inside(st.inside, count_on)


# ---- reductions and scans -------------------------------------------------


_SIMPLE = {"add": "sum", "mul": "prod", "min": "min", "max": "max",
           "and_": "and", "or_": "or", "xor": "xor"}


def _simple(op: Op) -> str | None:
    """The form's word for a body that is one operation of its parameters."""
    body = op.blocks[0]
    if len(body.ops) != 2 or len(body.params) != 2:
        return None
    inner, end = body.ops
    if inner.code not in ("raw_binary_arith", "raw_binary_bitwise"):
        return None
    attributes = inner.attributes
    if (attributes.get("rounding_mode") is not None or
            attributes.get("flush_to_zero") or
            list(inner.operands.values()) != body.params or
            list(end.operands["outputs"]) != inner.results):
        return None
    word = _SIMPLE.get(attributes["fn"])
    if word in ("min", "max") and attributes.get("propagate_nan"):
        dtype = body.params[0].type.dtype  # type: ignore[union-attr]
        return word + "_nan" if "float" in dtype else word
    return word


def emit_reduction(b: Builder, op: Op, scan: bool) -> None:
    """tile_reduce and tile_scan."""
    axis = op.attributes["axis"]
    xs = [b.slot(x) for x in op.operands["xs"]]
    around = _captured(b, op.blocks[0])
    word = _simple(op)
    attributes: dict[str, Any] = {"axis": axis}
    if scan and op.attributes["reverse"]:
        attributes["reverse"] = "true"
    if word is not None:
        b.set(op.results[0], b.emit(
            "scan" if scan else "reduce", b.type(op.results[0]), xs[0],
            op=word, **attributes))
        return
    shape = list(xs[0].type.shape)
    xs += [b.broadcast(b.slot(v), shape) for v in around]
    results = [Slot(b.type(r)) for r in op.results]
    results += [Slot(results[0].type.of(x.type.element))
                for x in xs[len(results):]]
    shapes = []
    if scan:
        shapes.append(tuple(shape))
    while not scan and shape[axis] > 1:
        shape[axis] //= 2
        shapes.append(tuple(shape))
    b.add("scan_fn" if scan else "reduce_fn", results, xs, attributes,
          functions=[_combine(b, op, around, s) for s in shapes])
    for value, slot in zip(op.results, results):
        b.set(value, slot)


def _captured(b: Builder, body: Block) -> list[Value]:
    """What a function of scalars takes from around it: to the form these are
    more tiles, of which the first of two stays."""
    own = {*body.params, *(v for op in body.ops for v in op.results)}
    used = [v for op in body.ops for operand in op.operands.values()
            for v in (operand if isinstance(operand, tuple) else (operand,))]
    return list(dict.fromkeys(v for v in used
                              if v is not None and v not in own and
                              v in b.slots))


def _combine(b: Builder, op: Op, around: list[Value],
             shape: tuple[int, ...]) -> str:
    """Makes the function that combines two tiles of a shape; its name."""
    body = op.blocks[0]
    name = f"combine#{len(b.made) + 1}" if b.made else "combine"
    inner = type(b)(b.kernel, b.made, b, shape)
    # lhs0, rhs0, lhs1, rhs1 there; those of each side together here
    ordered = [*body.params[::2], *around, *body.params[1::2],
               *(Value("", v.type) for v in around)]
    for i, param in enumerate(ordered):
        half = len(ordered) // 2
        side = "a" if i < half else "b"
        number = str(i % half) if half > 1 else ""
        inner.set(param, Slot(inner.type(param), side + number))
    b.made.append("")  # its place among the names
    at = len(b.made) - 1
    *ops, end = body.ops
    for each in ops:
        if each.blocks:
            raise Refused("a function of a reduction or scan with a loop or "
                          "branch is not supported")
        inner.operation(each)
    results = [inner.broadcast(inner.slot(v), shape)
               for v in (*end.operands["outputs"], *around)]
    inner.compound("return", results=results)
    function = Function(name, [inner.slots[p] for p in ordered], b.place,
                        inner.out, [slot.type for slot in results])
    b.made[at] = function.text("func", 0)
    return name
