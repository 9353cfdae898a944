"""What an operation of random kernels is: a function of the generator, a dtype,
a shape and a depth, which gives a value of that type; or None where it cannot
be, after all."""
from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, NamedTuple

from . import values
from .values import Made, Shape

if TYPE_CHECKING:
    from .generate import Generator

    Function = Callable[[Generator, str, Shape, int], Made]
Fits = Callable[[str, Shape], object]

# What kernels can be made of, and what that is.
FEATURES = {
    "floats": "fp16, bf16, fp32 and fp64",
    "fp8": "floats of eight bits",
    "fp8e4nv": "... of the kind that sm_80 lacks",
    "shapes": "reshape, permute, broadcast, join, split, flip, gather",
    "reductions": "sums, extremes and functions of a kernel's own",
    "scans": "cumulative sums and products, and associative scans",
    "sorts": "sort and histogram",
    "assembly": "inline assembly",
    "dots": "products of matrices",
    "descriptors": "tensor descriptors",
    "atomics": "atomic operations",
    "loops": "for and while",
    "branches": "if, else, and programs that return early",
    "calls": "functions that are inlined, or not",
}
ALL = frozenset(FEATURES)


class Operation(NamedTuple):
    """weight: how often it is chosen, of those that fit; features: that it
    needs."""
    weight: float
    fits: Fits
    function: Function
    features: frozenset[str]


class Operations:
    """Those of a module; it decorates them."""

    def __init__(self, feature: str = "") -> None:
        self._feature = feature
        self._all: list[Operation] = []

    def __call__(self, weight: float,
                 fits: Fits = lambda dtype, shape: True,
                 feature: str = "") -> Callable[[Function], Function]:
        def add(function: Function) -> Function:
            self._all.append(Operation(weight, fits, function, frozenset(
                f"{feature} {self._feature}".split())))
            return function
        return add

    def __iter__(self) -> Iterator[Operation]:
        return iter(self._all)


# ---- which types an operation gives ------------------------------------------

def is_int(dtype: str, _shape: Shape = ()) -> bool:
    return "int" in dtype and dtype != "int1"


def is_float(dtype: str, _shape: Shape = ()) -> bool:
    return "float" in dtype


def is_mask(dtype: str, _shape: Shape = ()) -> bool:
    return dtype == "int1"


def is_number(dtype: str, _shape: Shape = ()) -> bool:
    return dtype != "int1"


def is_block(_dtype: str, shape: Shape) -> bool:
    return bool(shape)


def both(*tests: Fits) -> Fits:
    return lambda dtype, shape: all(t(dtype, shape) for t in tests)


# ---- what is combined --------------------------------------------------------

def other_int(g: Generator, dtype: str) -> str:
    """Mostly the same, so that kernels have plain operations, too."""
    return dtype if g.chance(0.6) else g.pick(values.INTS)


def operand(g: Generator, dtype: str, shape: Shape, depth: int) -> str:
    """The text of something to combine with a block of that shape: another,
    one that is broadcast, a scalar, a literal."""
    kind = g.below(10)
    if kind == 0:
        return g.number(dtype)
    if kind == 1:
        return g.make(dtype, (), depth).name
    if kind == 2 and len(shape) > 1:
        axis = g.below(len(shape))
        return g.make(dtype, tuple(1 if i == axis else n
                                   for i, n in enumerate(shape)), depth).name
    return g.make(dtype, shape, depth).name
