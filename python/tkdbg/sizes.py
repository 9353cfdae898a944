"""Whole numbers that know what the script made them of.

A Size is an int.  Arithmetic on it gives Sizes; what compares it is noted,
with the line of the script.  Terms are written as `--assume` takes them, with
a Root for each number that the script did not work out.
"""
from __future__ import annotations

import dis
import functools
import math
import operator
import sys
import types
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, Union

from . import hostlines


class Root:
    """A size or a stride of a tensor that is what it is."""

    def __init__(self, kind: str, value: int) -> None:
        self.kind = kind
        self.value = value


class Made(NamedTuple):
    """What an operator or a function gives."""
    name: str
    parts: tuple[Any, ...]


Term = Union[int, Root, Made]
_OPERATORS = "+", "-", "*", "//", "%"
MOST_PARTS = 40  # of a term; a larger one is forgotten


class Fact(NamedTuple):
    """That a comparison of the script came out so."""
    left: Term
    comparison: str
    right: Term
    place: hostlines.Site | None


class Facts:
    """What the script has found out about its numbers, each once."""

    def __init__(self) -> None:
        self._all: dict[Any, Fact] = {}

    def add(self, fact: Fact) -> None:
        if len(self._all) < 4096:
            self._all.setdefault(fact[:3], fact)

    def __iter__(self) -> Iterator[Fact]:
        return iter(self._all.values())


def roots(term: Term) -> set[Root]:
    """The Roots of a term."""
    if isinstance(term, Root):
        return {term}
    if isinstance(term, Made):
        return set().union(*map(roots, term.parts))
    return set()


def text(term: Term, names: dict[Root, str], inner: bool = False) -> str:
    """A term as `--assume` takes it; inner: it is part of another one."""
    if isinstance(term, Root):
        return names[term]
    if not isinstance(term, Made):
        return str(term)
    if term.name in _OPERATORS:
        left, right = (text(p, names, True) for p in term.parts)
        whole = f"{left} {term.name} {right}"
        return f"({whole})" if inner else whole
    parts = ", ".join(text(p, names) for p in term.parts)
    return f"{term.name}({parts})"


def made(name: str, left: Term, right: Term) -> Term:
    """What an operator gives; what changes nothing is left out."""
    if right == (1 if name in ("*", "//") else 0) and name in (
            "+", "-", "*", "//"):
        return left
    if left == (1 if name == "*" else 0) and name in ("+", "*"):
        return right
    return Made(name, (left, right))


def _parts(term):
    if isinstance(term, Made):
        return 1 + sum(map(_parts, term.parts))
    return 1


def term_of(value: Any) -> Term:
    """The term of a whole number."""
    return value.term if isinstance(value, Size) else int(value)


def plain(value: Any) -> Any:
    """A value with ints in place of Sizes, also in tuples and lists."""
    if isinstance(value, Size):
        return int.__add__(value, 0)
    if isinstance(value, Ratio):
        return float.__float__(value)
    if isinstance(value, (tuple, list)) and any(
            isinstance(v, (Size, Ratio, tuple, list)) for v in value):
        made = [plain(v) for v in value]
        if type(value) in (tuple, list):
            return type(value)(made)
        make = getattr(value, "_make", None)
        return value if make is None else make(made)
    return value


class Size(int):
    """An int with its term."""
    term: Term
    facts: Facts

    @staticmethod
    def make(value: int, term: Term, facts: Facts) -> int:
        """A Size; an int where the term is a number or too large."""
        if isinstance(term, int) or _parts(term) > MOST_PARTS:
            return value
        size = Size(value)
        size.term, size.facts = term, facts
        return size

    __hash__ = int.__hash__

    def __reduce__(self) -> Any:
        return int, (plain(self),)

    def __deepcopy__(self, memo: Any) -> Size:
        return self

    def __neg__(self) -> int:
        value = int.__neg__(self)
        if isinstance(self.term, Made) and self.term.name == "//":
            above, below = self.term.parts
            if isinstance(above, Made) and above[:1] == ("-",) and (
                    above.parts[0] == 0):  # -(-a // b)
                return Size.make(value, Made("cdiv", (above.parts[1], below)),
                                 self.facts)
        return Size.make(value, Made("-", (0, self.term)), self.facts)

    def __pos__(self) -> Size:
        return self

    def __divmod__(self, other: Any) -> Any:
        return self // other, self % other

    def __truediv__(self, other: Any) -> Any:
        value = int.__truediv__(self, other)
        if value is NotImplemented or not isinstance(other, int):
            return value
        return Ratio.make(value, self.term, term_of(other), self.facts)

    def __lshift__(self, other: Any) -> Any:
        return self * (1 << other) if _is_few(other) else NotImplemented

    def __rshift__(self, other: Any) -> Any:
        return self // (1 << other) if _is_few(other) else NotImplemented


def _is_few(bits):
    return type(bits) is int and 0 <= bits < 62


class Ratio(float):
    """A float that is one Size divided by another, until it is rounded."""
    parts: tuple[Term, Term]
    facts: Facts

    @staticmethod
    def make(value: float, above: Term, below: Term, facts: Facts) -> Ratio:
        ratio = Ratio(value)
        ratio.parts, ratio.facts = (above, below), facts
        return ratio

    def _rounded(self, how, name):
        return Size.make(how(float.__float__(self)), Made(name, self.parts),
                         self.facts)

    def __ceil__(self) -> int:
        return self._rounded(math.ceil, "cdiv")

    def __floor__(self) -> int:
        return self._rounded(math.floor, "//")

    __hash__ = float.__hash__


# ---- arithmetic -------------------------------------------------------------


def _binary(name, sign, swapped):
    plain_method = getattr(int, name)

    @functools.wraps(plain_method)
    def method(self, other):
        value = plain_method(self, other)
        if value is NotImplemented:
            return value
        parts = self.term, term_of(other)
        if swapped:
            parts = parts[::-1]
        return Size.make(value, made(sign, *parts), self.facts)
    return method


for _name, _sign in (("add", "+"), ("sub", "-"), ("mul", "*"),
                     ("floordiv", "//"), ("mod", "%")):
    for _prefix in ("", "r"):
        _full = f"__{_prefix}{_name}__"
        setattr(Size, _full, _binary(_full, _sign, bool(_prefix)))


# ---- comparisons ------------------------------------------------------------


@functools.lru_cache(maxsize=512)
def _comparing(code: types.CodeType) -> frozenset[int]:
    """Where a function compares by itself: a look into a dict compares as
    well, and says nothing."""
    return frozenset(i.offset for i in dis.get_instructions(code)
                     if i.opname in ("COMPARE_OP", "CONTAINS_OP"))


def _site(equal):
    """The line of the script that compares; None: not a script's, or it is
    not meant."""
    frame = sys._getframe(2)
    name = str(frame.f_globals.get("__name__")).partition(".")[0]
    if name in hostlines.OURS or (
            equal and frame.f_lasti not in _comparing(frame.f_code)):
        return None
    return hostlines.Site(frame.f_code.co_filename, frame.f_lineno)


def _comparison(name, sign, opposite):
    compare = getattr(int, name)

    @functools.wraps(compare)
    def method(self, other):
        value = compare(self, other)
        if value is NotImplemented:
            return value
        site = _site(sign in ("==", "!="))
        if site is not None:
            self.facts.add(Fact(self.term, sign if value else opposite,
                                term_of(other), site))
        return value
    return method


for _name, _sign, _opposite in (
        ("eq", "==", "!="), ("ne", "!=", "=="), ("lt", "<", ">="),
        ("le", "<=", ">"), ("gt", ">", "<="), ("ge", ">=", "<")):
    setattr(Size, f"__{_name}__",
            _comparison(f"__{_name}__", _sign, _opposite))


# ---- functions --------------------------------------------------------------


def _first_size(values):
    return next((v for v in values if isinstance(v, Size)), None)


def extreme(plain_function: Callable[..., Any], name: str) -> Any:
    """min or max, of Sizes too."""
    @functools.wraps(plain_function)
    def function(*args, **kwargs):
        values: Any = args
        if len(args) == 1 and isinstance(args[0], (tuple, list)):
            values = args[0]
        size = None if kwargs else _first_size(values)
        if size is None or len(values) < 2 or not all(
                isinstance(v, int) for v in values):
            return plain_function(*args, **kwargs)
        term = functools.reduce(lambda a, b: Made(name, (a, b)),
                                map(term_of, values))
        return Size.make(plain_function(map(plain, values)), term, size.facts)
    return function


def next_power(plain_function: Callable[..., Any]) -> Any:
    """triton.next_power_of_2, of Sizes too."""
    @functools.wraps(plain_function)
    def function(n, *args, **kwargs):
        if not isinstance(n, Size) or args or kwargs:
            return plain_function(n, *args, **kwargs)
        return Size.make(plain_function(plain(n)),
                         Made("next_power_of_2", (n.term,)), n.facts)
    return function


def product(values: Any) -> Any:
    """Of all values."""
    return functools.reduce(operator.mul, values, 1)
