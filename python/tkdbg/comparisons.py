"""The host's own comparisons: which arrays a script found unequal.

Functions of NumPy and PyTorch that compare are wrapped; each one that says
no, or raises, is noted with both arrays and its tolerance.  A function that
calls another is noted last, with what the script gave it.
"""
from __future__ import annotations

import functools
from typing import Any, NamedTuple

USUAL = -1.0  # a tolerance: what is usual for the type
UNKNOWN = object()  # one of two arrays that nobody keeps


class Comparison(NamedTuple):
    """Two arrays that were found unequal."""
    name: str  # what compared them
    found: Any
    expected: Any
    rtol: float = USUAL
    atol: float = USUAL


def _given(args, kwargs, names, defaults):
    """Arguments behind the first two, by position or name."""
    found = dict(zip(names, args), **{n: kwargs[n] for n in names
                                      if n in kwargs})
    return [defaults[i] if found.get(n) is None else float(found[n])
            for i, n in enumerate(names)]


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
        "assert_close": _tolerances(("rtol", "atol"), (USUAL, USUAL))}}


class Comparisons:
    """What was found unequal, while it is installed."""

    def __init__(self):
        self.last = None  # the last Comparison that failed

    def install(self, patches, module, functions):
        """Wraps functions of a module."""
        for name, tolerances in functions.items():
            *within, last = name.split(".")
            owner = getattr(module, within[0]) if within else module
            before = getattr(owner, last, None)
            if before is not None:
                patches.set(owner, last, self._wrapped(
                    f"{module.__name__}.{name}", before, tolerances))

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
            return result
        return compare

    def _note(self, name, args, kwargs, tolerances):
        pair = list(args[:2])
        for key in ("actual", "input", "a", "a1", "x", "expected", "desired",
                    "other", "b", "a2", "y"):
            if len(pair) < 2 and key in kwargs:
                pair.append(kwargs[key])
        if len(pair) == 2:
            self.last = Comparison(name, *pair,
                                   *tolerances(args[2:], kwargs))


def _says_no(result):
    """Whether a comparison's result is False, or has a False element."""
    if result is None or isinstance(result, bool):
        return result is False
    try:
        return not bool(result.all())
    except (AttributeError, TypeError, ValueError):
        return False
