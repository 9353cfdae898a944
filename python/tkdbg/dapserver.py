"""The launches of a session under an editor's debugger."""
from __future__ import annotations

import ctypes
import os
import signal
import sys
import threading
from typing import TYPE_CHECKING

from . import _capi, gdbserver

if TYPE_CHECKING:
    from .session import Session
    from .settings import Options

PATIENCE = 2.0  # seconds for a script to end after it was asked to


def wanted(options: Options) -> bool:
    return options.dap is not None


class Server:
    """Takes over the connection of an editor, or listens for one."""

    def __init__(self, session: Session) -> None:
        o, self._session, self._lib = session.options, session, session.lib
        self._ptr = ctypes.c_void_p()
        self._say = _capi.SayFn(gdbserver.say)
        options = _capi.DapOptions(
            address=o.dap.encode(), listen_anywhere=o.listen_anywhere,
            script=True,
            port_file=o.port_file.encode() if o.port_file else None,
            say=self._say)
        session.check(self._until_ctrl_c(
            self._lib.tk_dap_new, session.ptr, ctypes.byref(options),
            ctypes.byref(self._ptr)))
        self.debugger = self._lib.tk_dap_debugger(self._ptr)

    def _until_ctrl_c(self, call, *args):
        """call(*args); Ctrl-C ends the process, also while C calls `say`,
        out of which nothing can be raised."""
        try:
            return self._session.guarded(call, *args)
        except KeyboardInterrupt:
            raise SystemExit(130) from None

    def begin(self) -> None:
        """Waits until the editor has set its breakpoints; what it asks for
        between launches is answered by a thread from then on."""
        # A print is seen when it is made, not when a buffer is full.
        if hasattr(sys.stdout, "reconfigure"):
            sys.stdout.reconfigure(line_buffering=True)
        if self._until_ctrl_c(self._lib.tk_dap_configure, self._ptr):
            raise SystemExit(0)  # the editor has left
        threading.Thread(target=self._attend, name="tkdbg dap",
                         daemon=True).start()

    def _attend(self):
        while self._lib.tk_dap_wait(self._ptr):
            with self._session.lock:
                goes_on = self._lib.tk_dap_attend(self._ptr)
            if not goes_on:
                self._end_script()
                return

    def _end_script(self):
        """Ctrl-C for the script; one that does not hear it is ended."""
        os.kill(os.getpid(), signal.SIGINT)
        threading.Event().wait(PATIENCE)
        os._exit(130)

    def end(self, status: int) -> None:
        """The script has ended: tells the editor."""
        self._lib.tk_dap_end(self._ptr, status)
