"""The launches of a session under gdb: a server in place of the console."""
from __future__ import annotations

import ctypes
import sys
from typing import TYPE_CHECKING, Any

from . import _capi

if TYPE_CHECKING:
    from .session import Session
    from .settings import Options


def wanted(options: Options) -> bool:
    return bool(options.stdio or options.listen)


class Server:
    """Listens; the first launch waits for a client."""

    def __init__(self, session: Session) -> None:
        o, self._session, self._lib = session.options, session, session.lib
        self._ptr = ctypes.c_void_p()
        self._say = _capi.SayFn(say)
        options = _capi.GdbserverOptions(
            address=b"-" if o.stdio else o.listen.encode(),
            listen_anywhere=o.listen_anywhere, once=o.once, multi=o.multi,
            script=True, restarts=True, replaceable=session.script.arguments,
            port_file=o.port_file.encode() if o.port_file else None,
            machine=o.machine.encode() if o.machine else None,
            write_elf=o.write_elf.encode() if o.write_elf else None,
            say=self._say)
        session.check(self._lib.tk_gdbserver_new(
            session.ptr, ctypes.byref(options), ctypes.byref(self._ptr)))
        # the tk_debugger that the session's launches run under
        self.debugger = self._lib.tk_gdbserver_debugger(self._ptr)

    def begin(self) -> None:
        """The script begins."""

    def end(self, status: int) -> None:
        """The script has ended: tells the client.  One that may begin it
        again is served until it leaves, or until Ctrl-C."""
        try:
            self._session.guarded(self._lib.tk_gdbserver_end, self._ptr,
                                  status)
        except KeyboardInterrupt:
            pass


def say(_ud: Any, line: bytes) -> None:
    print(_capi.text(line), file=sys.stderr, flush=True)
