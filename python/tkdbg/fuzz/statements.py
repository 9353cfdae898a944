"""Statements, and what has a body."""
from __future__ import annotations

from typing import TYPE_CHECKING

from . import values
from .kernel import Statement
from .memory import atomic, own_atomic, store, through_memory
from .operation import is_int
from .values import Value

if TYPE_CHECKING:
    from .generate import Generator


def statement(g: Generator) -> None:
    write = g.weighted([(w, write) for w, write, feature in STATEMENTS
                        if not feature or feature in g.features])
    if g.loops and write in (store, own_atomic, through_memory, loop, spin,
                             early_return):
        write = one_value if g.loops > 1 or write not in (loop, spin) \
            else write
    write(g)


def one_value(g: Generator) -> None:
    g.make(g.some_dtype(), g.some_shape(), 3)


VARIABLES = ((5, "int32"), (2, "float32"), (1, "int64"), (1, "uint8"),
             (1, "float16"))


def variables(g: Generator) -> list[Value]:
    """One to three variables that the statement below assigns to."""
    out = []
    for _ in range(1 + g.below(3)):
        dtype = g.weighted([(w, d) for w, d in VARIABLES
                            if "floats" in g.features or "int" in d])
        shape = g.some_shape() if g.chance(0.8) else ()
        begin = g.make(dtype, shape, 1)
        v = values.Value(g.new_name("v"), dtype, shape)
        # A name that is bound to an argument may become a constant.
        text = f"{begin.name} + 0" if not shape and is_int(dtype) \
            else begin.name
        g.body.append(Statement(f"{v.name} = ({text}).to(tl.{dtype})",
                                {v.name: values.plain(dtype, shape)}))
        out.append(v)
    g.scopes[-1] += out
    return out


def assignments(g: Generator, changing: list[Value]) -> None:
    for v in changing:
        if g.chance(0.2):
            continue
        new = g.make(v.dtype, v.shape, 2)
        op = f"{v.name} + {new.name}" if g.chance(0.5) else new.name
        g.body.append(Statement(f"{v.name} = ({op}).to(tl.{v.dtype})"))


def loop(g: Generator) -> None:
    changing = variables(g)
    trips = g.pick(["range(3)", "range(1, 5, 2)", "tl.static_range(2)",
                    "tl.range(0, 4, num_stages=2)", "range(n & 3)",
                    "range(3, 0, -1)",
                    f"range(0, {g.scalar().name} & 3)"])
    counter = g.new_name("i")

    def write():
        g.scopes[-1].append(values.Value(f"({counter} + pid)", "int32", ()))
        if g.chance(0.5):
            g.statements(1)
        assignments(g, changing)
    g.repeated(f"for {counter} in {trips}:", write)


def spin(g: Generator) -> None:
    changing = variables(g)
    counter = g.new_name("c")
    g.body.append(Statement(f"{counter} = {g.scalar().name} & 3",
                            {counter: values.plain("int32", ())}))

    def write():
        assignments(g, changing)
        g.body.append(Statement(f"{counter} = {counter} - 1"))
    g.repeated(f"while {counter} > 0:", write)


def condition(g: Generator) -> str:
    """The text of a condition of scalars."""
    a, b = g.scalar(), g.scalar()
    return f'{a.name} {g.pick(["<", ">", "==", "!="])} {b.name}'


def branch(g: Generator) -> None:
    changing = variables(g)
    g.inside(f"if {condition(g)}:", lambda: assignments(g, changing))
    if g.chance(0.6):
        g.inside("else:", lambda: assignments(g, changing))


def early_return(g: Generator) -> None:
    """Some programs may end here; what others do does not depend on it."""
    g.inside(f"if {condition(g)}:",
             lambda: g.body.append(Statement("return")))


def call(g: Generator) -> None:
    """Triton 3.6 compiles no call in a loop of what returns early."""
    helpers = [h for h in g.helpers if not (g.loops and h[3])]
    if not helpers:
        one_value(g)
        return
    name, params, types, _ = g.pick(helpers)
    args = [g.make(p.dtype, p.shape, 2).name for p in params]
    given = [values.Value(g.new_name(), *t) for t in types]
    g.body.append(Statement(
        f'{", ".join(v.name for v in given)} = {name}({", ".join(args)})',
        {v.name: values.plain(v.dtype, v.shape) for v in given}))
    g.scopes[-1] += given


def tuples(g: Generator) -> None:
    a, b = (g.make(g.some_dtype(), g.some_shape(), 2) for _ in range(2))
    pair = g.new_name("pair")
    g.body.append(Statement(f"{pair} = ({a.name}, {b.name})",
                            {pair: f"({values.plain(a.dtype, a.shape)}, "
                                   f"{values.plain(b.dtype, b.shape)})"}))
    g.put(f"{pair}[1]", b.dtype, b.shape)


# How often, and the feature that it needs.
STATEMENTS = (
    (5, one_value, ""), (3, store, ""), (2, loop, "loops"), (1, spin, "loops"),
    (2, branch, "branches"), (2, atomic, "atomics"),
    (1, own_atomic, "atomics"), (1, through_memory, ""), (2, call, "calls"),
    (1, tuples, ""), (0.5, early_return, "branches"))
