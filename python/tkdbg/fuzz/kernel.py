"""A kernel as statements that can be deleted one by one, and its launch."""
from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any, Union

import numpy as np

from .values import LENGTH

HEAD = '''import triton
import triton.language as tl


@triton.jit
def add2(a, b):
    return a + b


@triton.jit
def xor2(a, b):
    return a ^ b


@triton.jit
def greater(a, b):
    return tl.where(a > b, a, b)


@triton.jit
def later(a, b):
    return b


@triton.jit
def affine(a, b, c, d):
    return a * c, b * c + d


@triton.jit
def first_least(a, i, b, j):
    left = (a < b) | ((a == b) & (i < j))
    return tl.where(left, a, b), tl.where(left, i, j)


@triton.jit
def sum_and_most(a, b, c, d):
    return a + c, tl.maximum(b, d)
'''
WORD = re.compile(r'[A-Za-z_]\w*')


class Statement:
    """text: a line, or the head of a body; gives: {name: text of a plain value
    of its type}."""

    def __init__(self, text: str, gives: dict[str, str] | None = None,
                 body: Body | None = None) -> None:
        self.text, self.gives, self.body = text, gives or {}, body

    def lines(self, indent: int) -> Iterator[str]:
        yield "    " * indent + self.text
        if self.body is not None:
            inner = [line for s in self.body for line in s.lines(indent + 1)]
            yield from inner or ["    " * (indent + 1) + "pass"]

    def words(self) -> set[str]:
        return set(WORD.findall('\n'.join(self.lines(0))))

    def say(self, text: str) -> None:
        """Another text."""
        self.text = text

    def replace(self, change: Callable[[str], str]) -> None:
        """All of its texts, by other ones."""
        self.text = change(self.text)
        self.gives = {name: change(text) for name, text in self.gives.items()}

    def copy(self) -> Statement:
        return Statement(self.text, dict(self.gives), copied(self.body))


Body = list[Statement]


def copied(body: Body | None) -> Body | None:
    return None if body is None else [s.copy() for s in body]


def walk(body: Body) -> Iterator[Body]:
    """Every list of statements, outer ones first."""
    yield body
    for s in body:
        if s.body is not None:
            yield from walk(s.body)


class Function:
    def __init__(self, name: str, params: list[str], body: Body,
                 how: str = "") -> None:
        self.name, self.params, self.body, self.how = name, params, body, how

    def text(self) -> str:
        lines = [f"@triton.jit{self.how}",
                 f'def {self.name}({", ".join(self.params)}):']
        for s in self.body:
            lines += s.lines(1)
        return '\n'.join(lines) + '\n'


class Tensor:
    """What a tensor is filled with: a NumPy dtype, a length, how."""

    def __init__(self, dtype: str, length: int, fill: str) -> None:
        self.dtype, self.length, self.fill = dtype, length, fill

    def make(self, seed: int) -> Any:
        draw = np.random.RandomState(seed)
        if self.fill == "zeros":
            return np.zeros(self.length, self.dtype)
        if self.fill == "small":
            return draw.randint(-4, 5, self.length).astype(self.dtype)
        kind = np.dtype(self.dtype)
        raw = draw.bytes(self.length * kind.itemsize)
        out = np.frombuffer(raw, kind).copy()
        if self.fill == "bf16":
            return with_usual_bf16(out, draw)
        if kind.kind == "f":
            usual = draw.randn(self.length) * 4
            whole = draw.randint(-9, 9, self.length)
            which = draw.randint(0, 8, self.length)
            return np.where(which == 0, out, np.where(
                which < 5, usual, whole)).astype(self.dtype)
        return np.where(draw.randint(0, 2, self.length) == 0, out,
                        draw.randint(0, 100, self.length)).astype(self.dtype)


def with_usual_bf16(bits: Any, draw: np.random.RandomState) -> Any:
    usual = (draw.randn(len(bits)) * 4).astype(np.float32)
    upper = (usual.view(np.uint32) >> 16).astype(np.uint16)
    return np.where(draw.randint(0, 8, len(bits)) == 0, bits, upper)


Argument = Union[Tensor, int]


class Kernel:
    """args: {parameter: Tensor or a number}; outputs: {parameter: how its
    bits are read, 'bfloat16' where NumPy has no such type}."""

    is_defined = True  # bit for bit, also without some of its statements

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.name, self.title = f"k{seed}", f"seed {seed}"
        self.functions: list[Function] = []
        self.args: dict[str, Argument] = {}
        self.outputs: dict[str, str] = {}
        self.grid = (1, 1, 1)
        self.options: dict[str, Any] = {}

    def copy(self) -> Kernel:
        k = Kernel(self.seed)
        k.functions = [Function(f.name, list(f.params),
                                [s.copy() for s in f.body], f.how)
                       for f in self.functions]
        k.args, k.outputs = dict(self.args), dict(self.outputs)
        k.grid, k.options = self.grid, dict(self.options)
        return k

    def launch_with(self, **options: Any) -> None:
        """Other options."""
        self.options.update(options)

    def launch_on(self, grid: tuple[int, int, int]) -> None:
        """Another grid."""
        self.grid = grid

    def smaller(self) -> Iterator[Kernel]:
        """Copies with smaller arguments, that still may fail."""
        for name, a in self.args.items():
            if not isinstance(a, Tensor):
                continue
            for fill in ("zeros", "small"):
                if a.fill != fill and a.fill not in ("zeros", "small"):
                    yield self.with_argument(name, Tensor(a.dtype, a.length,
                                                          fill))
            if a.length > LENGTH // 16:
                yield self.with_argument(name, Tensor(
                    a.dtype, a.length // 4, a.fill))

    def with_argument(self, name: str, value: Argument) -> Kernel:
        """A copy with another value of an argument."""
        out = self.copy()
        out.args[name] = value
        return out

    def with_dtype(self, old: str, new: str) -> Kernel:
        """A copy whose tensors of one type are of another one."""
        out = self.copy()
        for name, a in self.args.items():
            if isinstance(a, Tensor) and a.dtype == old and (
                    self.outputs.get(name) != "bfloat16"):
                out.args[name] = Tensor(new, a.length, a.fill)
                if name in out.outputs:
                    out.outputs[name] = new
        return out

    def without_unused(self) -> Kernel:
        """A copy without helpers and arguments that nothing names."""
        out = self.copy()
        words = set().union(*(s.words() for f in out.functions for s in f.body))
        main = out.functions[-1]
        out.functions = [f for f in out.functions
                         if f.name in words or f is main]
        words = set().union(*(s.words() for s in main.body), set())
        out.args = {n: a for n, a in out.args.items() if n in words}
        out.outputs = {n: a for n, a in out.outputs.items() if n in words}
        main.params = list(out.args)
        return out

    def text(self) -> str:
        """Its functions, helpers first; HEAD stands before them."""
        return '\n\n'.join(f.text() for f in self.functions)

    def describe(self) -> str:
        """Its text, and how it is launched."""
        lines = [self.text(), f"# grid {self.grid}, " + ", ".join(
            f"{name}={value}" for name, value in self.options.items())]
        for name, a in self.args.items():
            lines.append(f"# {name} = {a}" if not isinstance(a, Tensor) else
                         f"# {name}: {a.length} of {a.dtype}, {a.fill}")
        return '\n'.join(lines)

    def arrays(self) -> dict[str, Any]:
        """The arguments, tensors as NumPy arrays, of fresh memory."""
        return {name: a.make(self.seed % 2**31 + i * 7919)
                if isinstance(a, Tensor) else a
                for i, (name, a) in enumerate(self.args.items())}

    def results(self, arrays: dict[str, Any]) -> dict[str, Any]:
        """What a run left, so that equal means the same bytes: every NaN has
        the same bits."""
        return {name: one_nan(arrays[name], how)
                for name, how in self.outputs.items()}


def one_nan(array: Any, how: str) -> Any:
    out = array.copy()
    if how == "bfloat16":
        out[(out & 0x7fff) > 0x7f80] = 0x7fc0
    elif out.dtype.kind == "f":
        out[np.isnan(out)] = np.nan
    return out
