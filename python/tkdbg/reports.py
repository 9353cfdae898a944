"""What the library reports of launches: raised, said as warnings, or handed
to whoever listens."""
from __future__ import annotations

import collections
import contextlib
import ctypes
import re
import sys
import warnings
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Callable

from . import _capi, _results, errors

if TYPE_CHECKING:
    from .session import Session

Entry = dict[str, Any]  # a finding
# hear([entry, ...], text, coloured text, whether it is raised as well)
Listener = Callable[[list[Entry], str, str, bool], None]


class Reports:
    """Of a session."""

    def __init__(self, session: Session) -> None:
        self._session = session
        # an exception that a callback of C's could not raise
        self._pending: BaseException | None = None
        # headlines of LaunchErrors
        self.raised: collections.Counter[str] = collections.Counter()
        # gets what launches find, in place of warnings
        self._listener: Listener | None = None
        # errors that somebody who tries launches will catch
        self._caught: tuple[type[BaseException], ...] = ()

    def listen(self, listener: Listener | None) -> None:
        """Who gets what launches find from here on; None: it is said."""
        self._listener = listener

    @contextlib.contextmanager
    def catching(self, classes: tuple[type[BaseException], ...]
                 ) -> Iterator[None]:
        """Within it, errors of these classes are caught by who tries a
        launch, who hands them to tell() where they are raised after all."""
        before, self._caught = self._caught, classes
        try:
            yield
        finally:
            self._caught = before

    def tell(self, error: BaseException) -> None:
        """Writes the findings of an error as JSON, where that is wanted and
        has not been done."""
        if (self._session.options.json and
                isinstance(error, errors.KernelError) and not error.told):
            self._session.json.tell(error.findings, error.kernel)
            error.note(told=True, shown=error.shown)

    def swallow(self, error: BaseException) -> None:
        """What a callback of C's has raised is raised when C returns; of
        several the first."""
        self._pending = self._pending or error

    def forget(self) -> None:
        """What C has reported, and its callbacks raised, is of no use."""
        self._session.lib.tk_report_clear(self._session.ptr)
        self._pending = None

    def is_empty(self) -> bool:
        """Whether there is nothing to raise or to say."""
        return self._pending is None and not (
            self._session.lib.tk_report_count(self._session.ptr))

    # ---- detectors -------------------------------------------------------

    def use_checks(self) -> None:
        """Turns on the detectors that the options name, and no others;
        what they have found is forgotten."""
        session = self._session
        session.fresh.keep_maps(session.options.check is not None)
        if session.is_open():
            self.set_checks()

    def set_checks(self) -> None:
        """The same in a session that is open."""
        session, o = self._session, self._session.options
        path = None if o.suppressions is None else o.suppressions.encode()
        checks = _capi.CheckOptions(
            suppressions=path, limit=o.limit or 0,
            assume_written=o.assume_written, stop=o.stop_on_finding,
            collect=True, keep_going=o.keep_going,
            arch=int(o.device.removeprefix("sm_")))
        self.check(session.lib.tk_session_check(
            session.ptr, None if o.check is None else o.check.encode(),
            ctypes.byref(checks)))
        session.fresh.keep_maps(any(
            session.lib.tk_check_is_on(session.ptr, name)
            for name in (b"undef", b"unwritten")))

    def findings(self) -> int:
        """How many findings the detectors have had, but for those that the
        host may still make untrue."""
        session = self._session
        if not session.is_open():
            return 0
        return (session.lib.tk_check_findings(session.ptr) -
                session.fresh.unsaid)

    def kept_going(self, tell: bool = False) -> int:
        """At how many places there were accesses that must not happen, after
        which launches went on; tell: the findings that sum them up are
        said, and none are left."""
        session = self._session
        if not session.is_open():
            return 0
        places = session.lib.tk_check_kept_going(session.ptr, tell)
        if places and tell:
            self.check(_capi.OK)
        return places

    # ---- reports ---------------------------------------------------------

    def take(self) -> tuple[str, str, list[Entry]]:
        """(text, coloured text, findings) of the report, which is cleared."""
        lib, ptr = self._session.lib, self._session.ptr
        plain = _capi.text(lib.tk_report(ptr, False))
        colour = _capi.text(lib.tk_report(ptr, True))
        found = _results.findings(lib, ptr)
        lib.tk_report_clear(ptr)
        return plain, colour, found

    def check(self, status: int, kernel: str = "",
              launch: int | None = None) -> None:
        """Raises what a tk_status stands for; shows warnings on success.

        launch: the number of the launch that has run, if one has."""
        __tracebackhide__ = True
        session = self._session
        pending, self._pending = self._pending, None
        if pending is not None and not isinstance(pending, Exception):
            session.lib.tk_report_clear(session.ptr)
            raise pending
        if status == _capi.OK:
            if session.lib.tk_report_count(session.ptr):
                self._warn(kernel, launch)
            if pending is not None:
                raise pending
            return
        shown = not session.lib.tk_report_unshown(session.ptr, False)
        plain, colour, found = self.take()
        if status == _capi.INTERRUPTED:
            raise KeyboardInterrupt
        if status == _capi.FINDING:
            raise self._found(plain, colour, found, kernel, launch, shown,
                              pending)
        if status == _capi.USAGE:
            raise errors.UsageError(plain.rstrip() or "tkdbg: bad input"
                                    ) from pending
        raise errors.InternalError(plain.rstrip() or
                                   "tkdbg: internal error") from pending

    def _found(self, plain: str, colour: str, found: list[Entry],
               kernel: str, launch: int | None, shown: bool,
               pending: BaseException | None) -> errors.KernelError:
        """The error for a finding, which is counted and told."""
        session = self._session
        session.runs.totals["findings"] += 1
        if launch is not None and self._listener is not None:
            self._listener(found, plain, colour, True)
        error = errors.finding(plain, found, kernel, colour,
                               session.real.error_classes, pending)
        if isinstance(error, errors.LaunchError):
            self.raised[error.headline] += 1
        told = session.options.json and not isinstance(error, self._caught)
        if told:
            session.json.tell(found, kernel, launch)
        error.note(told=told, shown=shown)
        return error

    def _warn(self, kernel: str, launch: int | None) -> None:
        session = self._session
        coloured = session.options.colour(sys.stderr)
        text = _capi.text(session.lib.tk_report_unshown(session.ptr, coloured))
        plain, colour, entries = self.take()
        if self._can_hold(entries):
            for entry, one, other in zip(entries, _parts(plain),
                                         _parts(colour)):
                self._say_or_hold(entry, one, other, kernel, launch)
            return
        self._say(entries, plain, colour, text, kernel, launch)

    def _can_hold(self, entries: list[Entry]) -> bool:
        """Whether the host's writes are seen, and one of the findings is
        about elements that it may still write."""
        session = self._session
        return (session.setup is not None and
                session.setup.cuda is not None and
                not session.debugging.debugger and
                any(e["kind"] == "unwritten" for e in entries))

    def _say_or_hold(self, entry: Entry, plain: str, colour: str,
                     kernel: str, launch: int | None) -> None:
        session = self._session

        def say() -> None:
            text = colour if session.options.colour(sys.stderr) else plain
            self._say([entry], plain, colour, text, kernel, launch)
        named = re.match(r"no program writes (\w+)\[", entry["message"])
        tensor = session.runs.launched.get(named.group(1)) if named else None
        if tensor is None or not session.fresh.hold(tensor, say):
            say()

    def _say(self, entries: list[Entry], plain: str, colour: str, text: str,
             kernel: str, launch: int | None) -> None:
        if self._listener is not None:
            self._listener(entries, plain, colour, False)
            return
        if self._session.options.json:
            self._session.json.tell(entries, kernel, launch)
            return
        if not text:
            return  # the debugger has shown it
        before = warnings.formatwarning
        warnings.formatwarning = lambda *_, **__: text
        try:  # the report names the place: no file and line of the host's
            warnings.warn_explicit(errors.KernelWarning(plain),
                                   errors.KernelWarning, "kernel", 1)
        finally:
            warnings.formatwarning = before


def _parts(report: str) -> list[str]:
    """The findings of a report's text: what is indented goes on with one."""
    parts: list[str] = []
    for line in report.splitlines(keepends=True):
        if parts and re.match(r"(\x1b\[[0-9;]*m)* ", line):
            parts[-1] += line
        else:
            parts.append(line)
    return parts
