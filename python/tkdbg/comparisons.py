"""The host's own comparisons: which arrays a script found unequal.

Functions of NumPy and PyTorch that compare are wrapped; each one that says
no, or raises, is noted with both arrays and its tolerance.  A function that
calls another is noted last, with what the script gave it.
"""
from __future__ import annotations

import functools
import sys
import types
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from .patches import Patches

USUAL = -1.0  # a tolerance: what is usual for the type
UNKNOWN = object()  # one of two arrays that nobody keeps


class Comparison(NamedTuple):
    """Two arrays that were found unequal."""
    name: str  # what compared them
    found: Any
    expected: Any
    rtol: float = USUAL
    atol: float = USUAL
    stack: frozenset = frozenset()  # the (file, line)s that it was made from
    asks: str = ""  # what one array is asked for, such as "isnan"


def _given(args, kwargs, names, defaults):
    """Arguments after the first two, by position or name."""
    found = dict(zip(names, args), **{n: kwargs[n] for n in names
                                      if n in kwargs})
    return [_number(found.get(n), default)
            for n, default in zip(names, defaults)]


def _number(given, default):
    try:
        return float(given)
    except (TypeError, ValueError):  # None; a function of the dtype
        return default


def _exact(_args, _kwargs):
    return 0.0, 0.0


def _tolerances(names, defaults):
    def read(args, kwargs):
        given = dict(zip(names, _given(args, kwargs, names, defaults)))
        return given["rtol"], given["atol"]
    return read


def _decimals(default, factor):
    def read(args, kwargs):
        decimal, = _given(args, kwargs, ("decimal",), (default,))
        return 0.0, factor * 10.0 ** -decimal
    return read


_close = _tolerances(("rtol", "atol"), (1e-5, 1e-8))

# module: {function, perhaps of a class in it: tolerances of a call}
FUNCTIONS = {
    "numpy": {
        "allclose": _close, "isclose": _close, "array_equal": _exact,
        "array_equiv": _exact},
    "numpy.testing": {
        "assert_allclose": _tolerances(("rtol", "atol"), (1e-7, 0.0)),
        "assert_array_equal": _exact, "assert_equal": _exact,
        "assert_array_almost_equal": _decimals(6, 1.5),
        "assert_almost_equal": _decimals(7, 1.5)},
    "torch": {
        "allclose": _close, "isclose": _close, "equal": _exact,
        "Tensor.allclose": _close, "Tensor.isclose": _close,
        "Tensor.equal": _exact},
    "torch.testing": {
        "assert_close": _tolerances(("rtol", "atol"), (USUAL, USUAL))},
    "triton.testing": {
        "assert_close": _tolerances(("atol", "rtol"), (1e-2, 0.0))},
    "unittest.result": {}}


class Comparisons:
    """What was found unequal, while it is installed."""

    def __init__(self) -> None:
        self.last: list[Any] = []  # Comparisons of the last call that failed
        self.subtracted: Any = None  # the last two tensors whose difference or
        # equality the script asked for, as a Comparison
        self.caught = None  # the last exception that unittest caught

    def forget(self) -> None:
        """What was compared before is of no use any more."""
        self.last, self.subtracted, self.caught = [], None, None

    def install(self, patches: Patches, module: types.ModuleType,
                functions: dict[str, Callable[..., Any]]) -> None:
        """Wraps functions of a module."""
        if module.__name__ == "unittest.result":
            self._follow_tests(patches, module.TestResult)
        if module.__name__ == "torch":
            self._follow_differences(patches, module.Tensor)
        for name, tolerances in functions.items():
            *within, last = name.split(".")
            owner = getattr(module, within[0]) if within else module
            before = getattr(owner, last, None)
            if before is not None:
                patches.set(owner, last, self._wrapped(
                    f"{module.__name__}.{name}", before, tolerances))

    def _follow_tests(self, patches, result):
        for name in "addFailure", "addError", "addSubTest":
            def add(this, *args, before=getattr(result, name)):
                if args[-1] is not None:
                    self.caught = args[-1][1]
                return before(this, *args)
            patches.set(result, name, add)

    def _follow_differences(self, patches, tensor):
        """A script that prints how far off it is, or which elements are
        wrong, and then fails, or ends well."""
        for name in "__sub__", "sub", "__ne__", "ne", "__eq__", "eq":
            def subtract(this, other, *args, before=getattr(tensor, name),
                         **kwargs):
                shape = getattr(other, "shape", None)
                if shape == this.shape and this is not other and (
                        not _is_called_by_torch()):
                    caller = sys._getframe(1)
                    self.subtracted = Comparison(
                        "the last difference", this, other, stack=frozenset(
                            ((caller.f_code.co_filename, caller.f_lineno),)))
                return before(this, other, *args, **kwargs)
            patches.set(tensor, name, subtract)

    def _wrapped(self, name, function, tolerances):
        @functools.wraps(function)
        def compare(*args, **kwargs):
            __tracebackhide__ = True
            try:
                result = function(*args, **kwargs)
            except AssertionError:
                self._note(name, args, kwargs, tolerances)
                raise
            if _says_no(result):
                self._note(name, args, kwargs, tolerances)
            else:  # what was subtracted before has a use of its own
                self.subtracted = None
            return result
        return compare

    def _note(self, name, args, kwargs, tolerances):
        pair = list(args[:2])
        for key in ("actual", "input", "a", "a1", "x", "expected", "desired",
                    "other", "b", "a2", "y"):
            if len(pair) < 2 and key in kwargs:
                pair.append(kwargs[key])
        if len(pair) == 2:
            (rtol, atol), stack = tolerances(args[2:], kwargs), _stack()
            self.last = [Comparison(name, found, expected, rtol, atol, stack)
                         for found, expected in _leaves(*pair)]


def _is_called_by_torch():
    """Whether PyTorch itself compares, as it does to print a tensor, or the
    virtual device passes on what somebody else has asked for."""
    caller = sys._getframe(2).f_globals.get("__name__")
    return str(caller).partition(".")[0] in ("torch", "tkdbg")


def _stack():
    """Where everybody who is being called stands."""
    frame: types.FrameType | None = sys._getframe()
    found: set[tuple[str, int | None]] = set()
    while frame is not None:
        found.add((frame.f_code.co_filename, frame.f_lineno))
        frame = frame.f_back
    return frozenset(found)


def _leaves(found, expected):
    """The pairs of arrays in two lists, tuples or dicts of arrays."""
    if isinstance(found, dict) and isinstance(expected, dict):
        pairs = [(found[key], expected[key]) for key in found
                 if key in expected]
    elif all(isinstance(side, (list, tuple)) and any(
            hasattr(each, "shape") or isinstance(each, (list, tuple, dict))
            for each in side) for side in (found, expected)):
        pairs = list(zip(found, expected))
    else:
        return [(found, expected)]
    return [leaf for pair in pairs for leaf in _leaves(*pair)]


def _says_no(result):
    """Whether a comparison's result is False, or has a False element."""
    if result is None or isinstance(result, bool):
        return result is False
    try:
        return not bool(result.all())
    except (AttributeError, TypeError, ValueError):
        return False
