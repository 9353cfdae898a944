"""Calls that are compared with a reference, a sample of them.

What ``tkdbg.verify`` returns calls what it was given, and every N-th time the
reference as well, on copies of the arguments.  Where they differ, the launch
that wrote the wrong array is kept as a launch file, beside what it should have
written, for ``tkdbg why``.
"""
from __future__ import annotations

import contextlib
import os
import re
import shutil
import threading
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from . import arguments, arrays, errors, launchlog, origins
from . import session as session_

MOST_BYTES = 1 << 30  # of launches that a sampled call may keep


class _Tolerance(NamedTuple):
    rtol: float
    atol: float


# What torch.testing.assert_close allows.
_USUAL = {"float64": _Tolerance(1e-7, 1e-7),
          "float32": _Tolerance(1.3e-6, 1e-5),
          "float16": _Tolerance(1e-3, 1e-5),
          "bfloat16": _Tolerance(1.6e-2, 1e-5)}


class VerificationError(AssertionError):
    """A call did not give what the reference gives.

    ``record`` is the launch file that was written, and ``expected`` the .npy
    file of what its tensor should hold; None: no launch is to blame."""

    def __init__(self, message: str, record: str | None,
                 expected: str | None) -> None:
        super().__init__(message)
        self.record, self.expected = record, expected


class Verified:
    """What is called in place of a function or a kernel."""

    def __init__(self, function: Any, reference: Callable[..., Any],
                 rules: _Rules) -> None:
        self.function, self.reference = function, reference
        self._rules = rules
        self.__name__ = getattr(function, "__name__", "call")
        self.__doc__ = getattr(function, "__doc__", None)

    def __getitem__(self, grid: Any) -> Verified:
        """A kernel with its grid; calls of all grids are counted together."""
        found = Verified(self.function[grid], self.reference, self._rules)
        found.__name__ = self.__name__
        return found

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        number = self._rules.begin()
        if number is None:
            return self.function(*args, **kwargs)
        try:
            return self._compare(number, args, kwargs)
        finally:
            self._rules.end()

    def _compare(self, number, args, kwargs):
        own = [_copy(a) for a in args]
        named = {name: _copy(a) for name, a in kwargs.items()}
        with _recorded() as log:
            result = self.function(*args, **kwargs)
            wanted = self.reference(*own, **named)
            got = result
            if not _has_arrays(result):  # they wrote into their arguments
                got = [*args, *kwargs.values()]
                wanted = [*own, *named.values()]
            for where, a, b in _pairs(got, wanted):
                bad = _wrong(a, b, self._rules)
                if bad:
                    self._rules.fail(_Failure(
                        self.__name__, number, where, a, b, bad), log)
        return result


class _Failure(NamedTuple):
    """An array that is wrong."""
    name: str
    number: int
    where: str
    got: Any
    wanted: Any
    bad: str


class _Rules:
    """What all calls of one tkdbg.verify share."""

    def __init__(self, every: int, rtol: float | None, atol: float | None,
                 folder: str, on_failure: Callable[..., Any] | None) -> None:
        if every < 1:
            raise errors.UsageError(
                f"tkdbg.verify: every must be at least 1, not {every}")
        self.every, self.rtol, self.atol = every, rtol, atol
        self.folder, self.on_failure = folder, on_failure
        self._calls = 0
        self._lock = threading.Lock()
        self._comparing = threading.Lock()

    def begin(self) -> int | None:
        """The number of a call that is compared, from 1; else None.  While one
        is compared, in whatever thread, no other is."""
        with self._lock:
            self._calls += 1
            number = self._calls
        due = (number - 1) % self.every == 0
        return number if due and self._comparing.acquire(False) else None

    def end(self) -> None:
        """A call that begin() numbered is over."""
        self._comparing.release()

    def tolerance(self, array: Any) -> _Tolerance:
        """How far an array's elements may be off."""
        usual = _USUAL.get(str(array.dtype).rpartition(".")[2],
                           _Tolerance(0.0, 0.0))
        return _Tolerance(usual.rtol if self.rtol is None else self.rtol,
                          usual.atol if self.atol is None else self.atol)

    def fail(self, failure: _Failure, log: Any) -> None:
        """Writes files and raises, or calls what the user has given."""
        text = (f"{failure.name}, call {failure.number}: {failure.where} is "
                f"wrong: {failure.bad}")
        record, expected, how = self._keep(failure, log)
        error = VerificationError(f"{text}\n{how}", record, expected)
        if self.on_failure is None:
            raise error
        self.on_failure(error)

    def _keep(self, failure, log):
        """The files, and what to do with them."""
        import numpy
        origin = _origin(log, failure.got)
        whole = origin and origin.expected(failure.wanted)
        if whole is None:
            why = log.left_out if log is not None else None
            return None, None, why or (
                "no launch that was recorded wrote it: kernels are recorded "
                "where they run under tkdbg (tkdbg.install(), 'tkdbg run')")
        name = re.sub(r"\W+", "_", failure.name)
        os.makedirs(self.folder, exist_ok=True)
        path = os.path.join(self.folder, f"{name}-{failure.number}")
        record, expected = path + ".safetensors", path + ".npy"
        shutil.copyfile(origin.logged.path, record)
        numpy.save(expected, whole)
        bound = self.tolerance(failure.got)
        return record, expected, (
            f"to see why: tkdbg why {record} --expect {origin.parameter}="
            f"@{expected} --rtol {bound.rtol:g} --atol {bound.atol:g}")


@contextlib.contextmanager
def _recorded() -> Iterator[Any]:
    """The launchlog.Log of what runs meanwhile; None where launches are
    recorded already, as by ``tkdbg why``."""
    session = session_.current()
    if not session.runs.may_log():
        yield None
        return
    log = launchlog.Log(session, MOST_BYTES)
    session.runs.log_to(log)
    try:
        yield log
    finally:
        session.runs.log_to(None)
        log.close()


def _origin(log: Any, array: Any) -> Any:
    """The origins.Origin of an array, or None."""
    if log is None or not log.launches:
        return None
    lib = session_.current().lib
    if arrays.memory(array) is not None:
        for found in origins.by_memory(lib, log, array):
            return found
    return next(iter(origins.by_values(lib, log, array)), None)


def _is_array(x: Any) -> bool:
    return arguments.kind_of(type(x)) in ("numpy", "torch")


def _has_arrays(x: Any) -> bool:
    if isinstance(x, (tuple, list)):
        return any(_has_arrays(each) for each in x)
    return _is_array(x)


def _copy(x: Any) -> Any:
    """An argument for the reference, which may write into it."""
    kind = arguments.kind_of(type(x))
    if kind == "numpy":
        return x.copy()
    if kind == "torch":
        return x.detach().clone().requires_grad_(x.requires_grad)
    return x


def _pairs(got: Any, wanted: Any, where: str = "the result"
           ) -> Iterator[tuple[str, Any, Any]]:
    """Arrays beside each other, and what each is called."""
    if isinstance(got, (tuple, list)):
        if not isinstance(wanted, (tuple, list)) or len(got) != len(wanted):
            raise errors.UsageError(
                f"tkdbg.verify: {where} is a sequence of {len(got)}; the "
                "reference must return as many")
        for i, (a, b) in enumerate(zip(got, wanted)):
            yield from _pairs(a, b, f"array {i}" if _is_array(a) else where)
    elif _is_array(got):
        yield where, got, wanted


def _wrong(got: Any, wanted: Any, rules: _Rules) -> str:
    """What is wrong with an array; "": nothing."""
    import numpy
    a, b = arrays.values(got), arrays.values(wanted)
    if a is None or b is None:
        return ""
    if a.shape != b.shape:
        return f"its shape is {a.shape}, that of the reference {b.shape}"
    bound = rules.tolerance(got)
    close = numpy.isclose(a, b, bound.rtol, bound.atol, equal_nan=True)
    if close.all():
        return ""
    index = tuple(int(i) for i in numpy.argwhere(~close)[0])
    return (f"{int((~close).sum())} of {close.size} elements; first "
            f"{list(index)}: {a[index]:.6g}, the reference gives "
            f"{b[index]:.6g}")


def verify(function: Any, reference: Callable[..., Any], every: int = 1,
           rtol: float | None = None, atol: float | None = None,
           folder: str = ".",
           on_failure: Callable[[VerificationError], Any] | None = None
           ) -> Verified:
    """See tkdbg.verify."""
    return Verified(function, reference,
                    _Rules(every, rtol, atol, folder, on_failure))
