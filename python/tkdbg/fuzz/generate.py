"""Random kernels whose results are defined bit for bit.

``generate(seed)`` gives a kernel.Kernel, always the same one for a seed and a
set of features.

Values are blocks of one set of shapes, so that they meet; what is asked for is
a shape and a dtype, and made of others from the outermost operation inwards.
Integers wrap.  Floats are either of any value, and then only what rounds once
in one way is done to them, or *whole*: integers below a bound, of which sums
and products are exact in any order.  No lane depends on what the language
leaves open: masked loads have another value, indices are cut to what they
index, stores of a kernel hit each place once, and atomic operations either
have places of their own or a result that nobody looks at.
"""
from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from . import (along, assembly, lanewise, memory, moves, operation, products,
               statements)
from .kernel import Function, Kernel, Statement, Tensor
from .values import (EXACT, FLOATS, INTS, MOST, UNSIGNED, Shape, Value, lanes,
                     linear, plain)

if TYPE_CHECKING:
    from .operation import Operation

    # name, parameters, what it gives, whether it may return early
    Helper = tuple[str, list[Value], list[tuple[str, Shape]], bool]
T = TypeVar("T")


def operations() -> Iterator[Operation]:
    """All of them; their order is a part of what a seed means."""
    for module in (lanewise, moves, along, assembly, products):
        yield from module.operation


class Generator:
    """Writes one function."""

    def __init__(self, kernel: Kernel, draw: random.Random,
                 helpers: list[Helper],
                 features: frozenset[str]) -> None:
        self.kernel, self.draw, self.helpers = kernel, draw, helpers
        self.features = features
        self.body: list[Statement] = []
        self.scopes: list[list[Value]] = [[]]
        self.count, self.loops = 0, 0
        self.in_helper = False
        self.shapes: list[Shape] = []
        self.programs = 1

    # ---- choices ----------------------------------------------------------

    def below(self, n: int) -> int:
        return int(self.draw.random() * n)

    def chance(self, p: float) -> bool:
        return self.draw.random() < p

    def pick(self, things: Sequence[T]) -> T:
        return things[self.below(len(things))]

    def weighted(self, table: Sequence[tuple[float, T]]) -> T:
        """Of (weight, thing)."""
        at = self.draw.random() * sum(w for w, _ in table)
        for weight, thing in table:
            at -= weight
            if at < 0:
                return thing
        return table[-1][1]

    def some_dtype(self) -> str:
        floats = "floats" in self.features
        table: list[tuple[float, str]] = [(6, "int32"), (3, "float32")]
        table += [(1, d) for d in INTS + FLOATS]
        return self.weighted([(w, d) for w, d in table
                              if floats or "float" not in d])

    def some_shape(self) -> Shape:
        return self.pick(self.shapes)

    # ---- writing ----------------------------------------------------------

    def new_name(self, letter: str = "t") -> str:
        self.count += 1
        return f"{letter}{self.count}"

    def put(self, text: str, dtype: str, shape: Shape,
            bound: int | None = None, reusable: bool = True) -> Value:
        """Writes NAME = text, and gives the value."""
        v = Value(self.new_name(), dtype, shape, bound)
        self.body.append(Statement(f"{v.name} = {text}",
                                   {v.name: plain(dtype, shape)}))
        if reusable:
            self.scopes[-1].append(v)
        return v

    def known(self, wanted: Callable[[Value], bool]) -> list[Value]:
        return [v for scope in self.scopes for v in scope if wanted(v)]

    def inside(self, head: str, write: Callable[[], Any]) -> None:
        """A statement with a body, which write() writes."""
        outer, self.body = self.body, []
        self.scopes.append([])
        write()
        self.scopes.pop()
        inner, self.body = self.body, outer
        self.body.append(Statement(head, body=inner))

    def repeated(self, head: str, write: Callable[[], Any]) -> None:
        """The same, of a loop."""
        self.loops += 1
        self.inside(head, write)
        self.loops -= 1

    # ---- values -----------------------------------------------------------

    def make(self, dtype: str, shape: Shape, depth: int) -> Value:
        """A value of that type, of which nothing is known."""
        same = self.known(lambda v: v.dtype == dtype and v.shape == shape)
        if same and self.chance(0.45 if depth > 0 else 0.9):
            return self.pick(same)
        if depth <= 0 or lanes(shape) > MOST:
            return self.leaf(dtype, shape)
        return self.some(dtype, shape, depth)

    def some(self, dtype: str, shape: Shape, depth: int) -> Value:
        """A value by one of the operations that fit."""
        fitting = [(o.weight, o.function) for o in operations()
                   if o.fits(dtype, shape) and o.features <= self.features]
        for _ in range(4 if fitting else 0):
            made = self.weighted(fitting)(self, dtype, shape, depth - 1)
            if made is not None:
                return made
        return self.leaf(dtype, shape)

    def scalar(self, dtype: str = "int32") -> Value:
        return self.make(dtype, (), 1)

    def mask(self, shape: Shape, depth: int = 1) -> Value:
        return self.make("int1", shape, depth)

    def whole(self, dtype: str, shape: Shape, depth: int,
              bound: int) -> Value:
        """A whole float with that bound, never -0, or an integer like it."""
        bits = bound.bit_length() - 1
        v = self.make(self.pick(["int32", "int16"] + ["uint8"] *
                                (bound <= 256)), shape, depth)
        low = 0 if v.dtype[0] == "u" else 2**bits // 2
        text = f"({v.name} & {2**bits - 1})"
        if low and bits > 1:
            text = f"({text} - {low})"
        return self.put(f"{text}.to(tl.{dtype})", dtype, shape, 2**bits,
                        reusable=dtype not in EXACT)

    def index(self, shape: Shape, below: int, depth: int = 1) -> str:
        """The text of int32 indices below a power of two."""
        return f'({self.make("int32", shape, depth).name} & {below - 1})'

    def number(self, dtype: str) -> str:
        """A literal that fits."""
        if dtype in FLOATS:
            return self.pick(["0.5", "2.0", "3", "1.0", "-1.5", "0.25", "7"])
        if dtype in UNSIGNED:
            return self.pick(["1", "2", "3", "7", "16", "100", "127"])
        return self.pick(["1", "2", "3", "7", "16", "100", "-1", "-5", "127"])

    def tensor(self, dtype: str, length: int, fill: str,
               letter: str = "x") -> str:
        """A new tensor argument, or for an input one that there is."""
        numpy = {"bfloat16": "uint16", "int1": "uint8"}.get(dtype, dtype)
        if dtype == "bfloat16" and fill == "any":
            fill = "bf16"
        if letter == "x":
            for name, t in self.kernel.args.items():
                if name[0] == "x" and isinstance(t, Tensor) and (
                        t.dtype, t.fill) == (numpy, fill):
                    return name
        name = f"{letter}{len(self.kernel.args)}"
        self.kernel.args[name] = Tensor(numpy, length, fill)
        return name

    def pointer(self, name: str, dtype: str) -> str:
        """The text of a tensor's address as one of that dtype."""
        if dtype == "bfloat16":
            return f"{name}.to(tl.pointer_type(tl.bfloat16), bitcast=True)"
        return name

    def leaf(self, dtype: str, shape: Shape) -> Value:
        """A value that is made of none, or by a load."""
        if dtype == "int1":
            v = self.leaf("int32", shape)
            return self.put(f"{v.name} % 3 != 0", "int1", shape)
        near = self.known(lambda v: v.shape == shape and v.dtype in INTS)
        if near and self.chance(0.4):
            return self.put(f"{self.pick(near).name}.to(tl.{dtype})", dtype,
                            shape)
        if self.in_helper or self.chance(0.2):
            return self.put(f"({linear(shape)} + {self.below(50)})"
                            f".to(tl.{dtype})" if shape else
                            plain(dtype, shape), dtype, shape)
        return memory.load(self, dtype, shape)

    # ---- a whole kernel ----------------------------------------------------

    def statements(self, n: int) -> None:
        for _ in range(n):
            statements.statement(self)


def factorisations(n: int, draw: random.Random) -> list[Shape]:
    """Shapes of n lanes: of one axis, two, three."""
    k = n.bit_length() - 1
    out: list[Shape] = [(n,)]
    for _ in range(2):
        a = int(draw.random() * (k + 1))
        out.append((2**a, 2**(k - a)))
    a = int(draw.random() * (k + 1))
    b = int(draw.random() * (k - a + 1))
    out.append((2**a, 2**b, 2**(k - a - b)))
    return out


def helper(kernel: Kernel, draw: random.Random, helpers: list[Helper],
           shapes: list[Shape], features: frozenset[str]) -> None:
    """A function that others call, with values for parameters: scalars where
    it is not inlined."""
    g = Generator(kernel, draw, helpers, features)
    alone = g.chance(0.3)
    g.shapes, g.in_helper = shapes, True
    params = [Value(f"p{i}", g.some_dtype(), () if alone else g.some_shape())
              for i in range(1 + g.below(3))]
    g.scopes[0] += params
    types = [(g.some_dtype(), g.pick(params).shape)
             for _ in range(1 + g.below(2))]

    def leave():
        results = [g.make(*t, 2) for t in types]
        g.body.append(Statement(
            "return " + ", ".join(v.name for v in results)))
    early = "branches" in features and g.chance(0.3)
    if early:
        g.inside(f"if {statements.condition(g)}:", leave)
    leave()
    name = f"{kernel.name}_h{len(helpers)}"
    kernel.functions.append(Function(name, [p.name for p in params], g.body,
                                     "(noinline=True)" * alone))
    helpers.append((name, params, types, early and not alone))


def generate(seed: int,
             features: frozenset[str] = operation.ALL) -> Kernel:
    draw = random.Random(seed)
    kernel = Kernel(seed)
    n = 2**(4 + int(draw.random() * 6))
    shapes = factorisations(n, draw) + factorisations(n, draw)
    helpers: list[Helper] = []
    for _ in range(int(draw.random() * 3) if "calls" in features else 0):
        helper(kernel, draw, helpers, shapes, features)
    g = Generator(kernel, draw, helpers, features)
    g.shapes = shapes
    kernel.grid = (1 + g.below(3), 1 + g.below(2), 1)
    kernel.launch_with(num_warps=g.pick([1, 2, 4, 4, 8]),
                       num_stages=1 + g.below(3), enable_fp_fusion=False)
    g.programs = kernel.grid[0] * kernel.grid[1]
    kernel.args["n"] = g.pick([0, 2, 3, 5, 16, 100, -7])
    g.scopes[0].append(Value("n", "int32", ()))
    g.body.append(Statement("pid = tl.program_id(0) + tl.program_id(1) * "
                            "tl.num_programs(0)", {"pid": "0"}))
    g.scopes[0].append(Value("pid", "int32", ()))
    g.statements(2 + g.below(5))
    for _ in range(1 + g.below(3)):
        memory.store(g)
    kernel.functions.append(Function(kernel.name, list(kernel.args), g.body))
    return kernel
