"""The debugger over the launches of a session, if there is one."""
from __future__ import annotations

import ctypes
import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from . import _capi, dapserver, errors, gdbserver, interrupt

if TYPE_CHECKING:
    from .session import Session


def is_terminal(stream: Any) -> bool:
    """Whether a stream of Python's is a terminal."""
    try:
        return stream.isatty()
    except (AttributeError, ValueError):
        return False


class Debugging:
    """Of a session: on its terminal, or by a server for gdb or an editor."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self.debugger: Any = None  # a tk_debugger
        self.server: Any = None    # ... that gdb or an editor drives

    def begin(self) -> None:
        """Puts a debugger over all launches, if the options ask for one, or
        if there is somebody at a terminal who may."""
        session = self._session
        o = session.options
        servers = [module.Server for module in (gdbserver, dapserver)
                   if module.wanted(o)]
        if servers:
            self.server = servers[0](session)
            self._stand_over(self.server.debugger)
        elif (o.debug or o.breakpoints or
                not (o.json or o.profile) and
                is_terminal(sys.stdin) and is_terminal(sys.stdout)):
            self._open_console()

    def _open_console(self) -> None:
        """Puts a debugger on this process's terminal."""
        session, out = self._session, ctypes.c_void_p()
        o = session.options

        def strings(items: Iterable[Any]) -> Any:
            kept = [str(i).encode() for i in items]
            return (ctypes.c_char_p * (len(kept) + 1))(*kept)
        console = _capi.ConsoleOptions(
            commands=strings(o.commands), ncommands=len(o.commands),
            files=strings(o.command_files), nfiles=len(o.command_files),
            breakpoints=strings(o.breakpoints),
            nbreakpoints=len(o.breakpoints), stop_at_start=o.debug,
            json=o.json, colour=o.colour(sys.stdout), no_init=o.no_init,
            wait_for_call=not (o.debug or o.breakpoints), script=True)
        session.check(session.lib.tk_console_new(
            session.ptr, ctypes.byref(console), ctypes.byref(out)))
        self._stand_over(out)

    def _stand_over(self, debugger: Any) -> None:
        self.debugger = debugger
        lib = self._session.lib
        self._session.watch.ask_whether_debugged(
            lambda: lib.tk_debugger_is_active(debugger))

    def before(self, selected: bool) -> None:
        """A launch begins under a debugger; selected: it is for this one."""
        sys.stdout.flush()
        self._session.lib.tk_debugger_ignore(self.debugger, not selected)

    def after(self) -> None:
        """A launch has ended under a debugger, which may go back into it, and
        may have been told to quit."""
        session = self._session
        session.guarded(session.lib.tk_debugger_go_back, self.debugger)
        if session.lib.tk_debugger_has_quit(self.debugger):
            session.lib.tk_report_clear(session.ptr)
            if self.server and session.watch.unanswered:
                session.watch.end()
                raise SystemExit(interrupt.STATUS)
            raise SystemExit(0)

    def raised(self, error: BaseException, test: Any = None) -> None:
        """The script, or one of its tests, has failed: the debugger may go
        back into launches.  Where a kernel has failed it stopped already."""
        session = self._session
        session.script.fail()
        if not self.debugger or isinstance(error, errors.KernelError):
            return
        if test is not None and not (self.server or session.options.json):
            print(f"\n{test}", flush=True)
        lines = str(error).strip().splitlines()
        text = ": ".join([type(error).__name__, *lines[:1]])
        with session.lock:  # editors are answered between launches
            session.guarded(session.lib.tk_debugger_raised, self.debugger,
                            text.encode("utf-8", "replace"))
