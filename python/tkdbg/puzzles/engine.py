"""Launches of a puzzle: the C API on NumPy arrays, and results as structs.

A learner's file is read by tkdbg alone: no Python runs it, so nothing that
stands beside its kernels has an effect.
"""
from __future__ import annotations

import sys
from ctypes import byref, c_void_p
from typing import TYPE_CHECKING, Any

from .. import _capi, _results, errors
from .running import Refused, Running

if TYPE_CHECKING:
    from .answer import Submission
    from .data import Launch

FAULTS = "error", "warning"  # severities that an answer may not have
# kinds after which no result can be expected
FATAL = frozenset((
    "syntax", "unsupported", "name", "type", "value", "shape", "call",
    "static-assert", "loop-carried", "recursion", "out-of-bounds",
    "null-pointer", "wild-pointer", "misaligned", "read-only", "assert",
    "division", "runaway", "deadlock", "launch", "argument"))


class Engine:
    """A session of the library with a learner's file in it."""

    def __init__(self, submission: Submission, colour: bool = False) -> None:
        self.submission = submission
        self.lib = load()
        self.colour = colour  # in reports
        self.report = ""      # of the last run that had findings, as text
        self.shows = False    # a debugger shows what is printed and found
        self.live = submission.live
        self.session = c_void_p(self.live.session if self.live else
                                self.lib.tk_session_new())
        self.printed: list[Any] = []
        self._output = _capi.OutputFn(self._print)
        self.lib.tk_session_output(self.session, self._output, None)
        self._dtypes: dict[Any, Any] = {}
        self._tiles: Any = None  # kernels of CUDA Tile

    def show(self) -> None:
        """A debugger shows what is printed and found from here on."""
        self.shows = True

    def __enter__(self) -> Engine:
        return self

    def __exit__(self, *_: Any) -> None:
        if not self.live:
            self.lib.tk_session_free(self.session)

    def _print(self, _ud, text, size):
        self.printed.append(_capi.text(text, size))
        if self.shows:
            sys.stdout.write(self.printed[-1])
            sys.stdout.flush()

    def kernel(self, name: str) -> Any:
        """The tk_function of a kernel of the file; raises Refused."""
        if self.live:
            try:
                return self.live.open(name)
            except errors.NotOpened:
                raise Refused(self.take_findings()) from None
        text, name_ = self.submission.text.encode(), self.submission.name
        module, found = c_void_p(), c_void_p()
        self.must(self.lib.tk_module_open(self.session, name_.encode(), text,
                                          len(text), byref(module)))
        self.must(self.lib.tk_function_named(module, name.encode(),
                                             byref(found)))
        return found

    def must(self, status: int) -> None:
        if status != _capi.OK:
            raise Refused(self.take_findings())

    def take_findings(self) -> list[dict[str, Any]]:
        found = _results.findings(self.lib, self.session)
        report = (self.lib.tk_report_unshown if self.shows else
                  self.lib.tk_report)
        if found:
            self.report = _capi.text(report(self.session, self.colour))
        self.lib.tk_report_clear(self.session)
        return found

    def check(self, detectors: str | None) -> None:
        """Turns detectors on: their names, or None."""
        options = _capi.CheckOptions(limit=20)
        self.must(self.lib.tk_session_check(
            self.session, detectors and detectors.encode(), byref(options)))

    def dtype(self, name: str) -> int:
        found = self._dtypes.get(name)
        if found is None:
            found = self.lib.tk_dtype_from_name(name.encode())
            self._dtypes[name] = found
        return found

    def launch(self, launch: Launch) -> Running:
        """A Running for a data.Launch; raises Refused."""
        name = launch.kernel or self.submission.main_kernel
        if self.submission.entry.pack.uses_tiles:
            from . import tiles  # which needs cuda.tile
            self._tiles = self._tiles or tiles.Tiles(self)
            return self._tiles.launch(name, launch)
        return Running(self, self.kernel(name), launch)


def load() -> Any:
    """The library with the prototypes of its results."""
    return _capi.bind(_capi.load(), _results.PROTOTYPES)
