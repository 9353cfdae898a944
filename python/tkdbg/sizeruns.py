"""What a run of a script has done that is tried with other sizes: its
launches, what was found, and what its own comparisons say.

It is made in the process that is split off, and handed over as JSON.
"""
from __future__ import annotations

import traceback
import zlib
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from . import arrays, errors, findings
from .comparisons import USUAL, Comparison

if TYPE_CHECKING:
    from .session import Session

MOST_LAUNCHES = 64  # of a run that are looked at
# A sum of twice as many numbers is rounded more, and another order of a sum
# differently.  What is wrong by less than this many times the bound that the
# script gives, or in proportion to the largest number, may be that.
MOST_ROUNDED = 16
ROUNDED = 1e-3       # where a bound is 0
ROUNDED_NARROW = 2.0 ** -5  # ... of elements of 16 bits or fewer
_USUAL = {"float64": (1e-7, 1e-7), "float16": (1e-3, 1e-5),
          "bfloat16": (1.6e-2, 1e-5)}


class Launch(NamedTuple):
    """One of a run."""
    kernel: str
    given: dict[str, Any]  # by argument: a shape, a number, None
    grid: list[int]
    fixed: list[str]       # compile-time arguments
    strides: dict[str, list[int]]  # of tensors
    before: dict[str, int]  # what tensors hold, as a number
    after: dict[str, int]
    file: str = ""          # a launch file of it, if one was kept

    def written(self, name: str) -> bool:
        return self.before.get(name) != self.after.get(name)


class Run(NamedTuple):
    """What a run of the script has done."""
    launches: list[Launch]
    findings: list[Any]  # of tk_finding's, as dicts with "at", a launch
    unequal: str         # a comparison that has failed
    is_far: bool         # ... by more than rounding explains
    nearly: list[Any]    # where two tensors were subtracted last, whose
    #                      difference was small
    stops: str           # what has ended it early

    @staticmethod
    def made(said: list[Any]) -> Run:
        """One that was handed over."""
        return Run([Launch(*each) for each in said[0]], *said[1:])


class Seen:
    """Who is told of launches and findings in a run."""
    history = None

    def __init__(self, session: Session, path: str, values: bool = False,
                 keep: Callable[[int, str], str] | None = None) -> None:
        """path: of the script; values: what tensors hold is noted; keep: a
        function of a launch and its kernel, which gives a launch file of it,
        or ""."""
        self._session = session
        self._path = path
        self._values = values
        self._keep = keep
        self._launches: list[Launch] = []
        self._findings: list[Any] = []

    def add(self, launch: int, kernel: str, _number: int) -> None:
        """A launch begins."""
        if len(self._launches) >= MOST_LAUNCHES:
            return
        runs = self._session.runs
        given = runs.launched
        self._launches.append(Launch(
            kernel, {n: _described(v) for n, v in given.items()},
            list(runs.grid), sorted(runs.fixed),
            {n: _strides(v) for n, v in given.items()
             if _strides(v) is not None}, self._digests(), {},
            self._keep(launch, kernel) if self._keep else ""))

    def _ran(self, _launch: int) -> None:
        if self._launches:
            self._launches[-1].after.update(self._digests())

    def _digests(self):
        if not self._values:
            return {}
        return {name: zlib.crc32(_bytes(v)) for name, v in
                self._session.runs.launched.items()
                if hasattr(v, "shape") and arrays.memory(v) is not None}

    def hear(self, entries: Any, *_: Any) -> None:
        """A launch has found something."""
        self._findings += [dict(e, at=len(self._launches) - 1)
                           for e in entries
                           if e.get("severity") in ("error", "warning")]

    def watch(self, run: Any) -> Run:
        """Runs the script."""
        session, stops = self._session, ""
        session.options.json = False  # it is told of by who asks for the run
        session.reports.listen(self.hear)
        session.runs.log_to(self)
        session.runs.look_at(0, self._ran if self._values else None)
        failed: BaseException | None = None
        try:
            run()
        except SystemExit as e:
            if e.code not in (None, 0):
                stops = f"it exits with {e.code}"
        except Exception as e:
            failed, stops = e, _what(e, self._path)
        last, differing = session.setup.comparisons.last, []
        if last:
            unequal, far = last[0].name, any(map(is_far, last))
        else:
            unequal, far, differing = self._differs(failed)
        return Run(self._launches, self._findings, unequal, far,
                   differing, stops)

    def _differs(self, failed):
        """(what says so, whether it is far, where it was asked for) of the
        last two tensors that were subtracted, by a script that judges their
        difference itself."""
        asked = self._session.setup.comparisons.subtracted
        if asked is None or failed is not None and not isinstance(
                failed, AssertionError):
            return "", False, []
        (file, line), = asked.stack
        if file != self._path:
            return "", False, []
        if is_far(asked._replace(rtol=0.0, atol=0.0)):
            return f"the difference in line {line}", True, []
        return "", False, [line]


def _described(value):
    """The shape of a tensor; a whole number; else None."""
    shape = getattr(value, "shape", None)
    if shape is not None:
        return [int(n) for n in shape]
    return value if type(value) is int else None


def _strides(value):
    memory = arrays.memory(value) if hasattr(value, "shape") else None
    return None if memory is None else [int(n) for n in memory.strides]


def _bytes(value):
    found = arrays.values(value)
    return b"" if found is None else found.tobytes()


def _what(error, path):
    """An exception in a line."""
    if isinstance(error, errors.KernelError):
        return f"it stops: {error.headline}" if isinstance(
            error, errors.LaunchError) else "a kernel does not compile"
    frames = traceback.extract_tb(error.__traceback__)
    ours = [f for f in frames if f.filename == path]
    where = f" in line {ours[-1].lineno}" if ours else ""
    said = str(error).strip().splitlines()
    return (f"it stops{where} with {type(error).__name__}"
            + (f": {said[0]}" if said else ""))


# ---- by how much ------------------------------------------------------------


def is_far(compared: Comparison) -> bool:
    """Whether two arrays differ by more than rounding explains."""
    import numpy
    found, wanted = arrays.values(compared.found), arrays.values(
        compared.expected)
    if found is None or wanted is None:
        return False
    if found.shape != wanted.shape and found.size > 1 < wanted.size:
        return False  # the host's own matter
    if not (found.size and wanted.size):
        return False
    found, wanted = numpy.broadcast_arrays(found, wanted)
    if found.dtype.kind == wanted.dtype.kind == "i":
        return bool((found != wanted).any())
    odd = ~(numpy.isfinite(found) & numpy.isfinite(wanted))
    if (odd & (found != wanted) & ~(numpy.isnan(found) & numpy.isnan(wanted))
            ).any():
        return True
    if odd.all():
        return False
    found, wanted = found[~odd], wanted[~odd]
    return bool((numpy.abs(found - wanted) > _most(
        compared, numpy.abs(wanted))).any())


def _most(compared, size):
    """How far elements may be from what is wanted, for its absolute value."""
    dtypes = {str(getattr(a, "dtype", "")).rpartition(".")[2]
              for a in (compared.found, compared.expected)}
    narrow = any(d in ("float16", "bfloat16") or "float8" in d
                 for d in dtypes)
    rtol, atol = next((_USUAL[d] for d in ("bfloat16", "float16", "float64")
                       if d in dtypes), (1.3e-6, 1e-5))
    rtol = rtol if compared.rtol == USUAL else compared.rtol
    atol = atol if compared.atol == USUAL else compared.atol
    least = (ROUNDED_NARROW if narrow else 0 if rtol or atol else
             ROUNDED) * size.max()
    return (MOST_ROUNDED * (atol + rtol * size)).clip(min=least)


def unequal(run: Run) -> dict[str, Any]:
    """A finding that says which comparison has failed."""
    return findings.entry("unequal",
                          f"{run.unequal} says that the result is wrong")
