"""The launches of a session under gdb: a server in place of the console."""
from __future__ import annotations

import ctypes
import sys

from . import _capi


def wanted(options):
    return bool(options.stdio or options.listen)


def start(session):
    """Listens; the first launch waits for a client.  Returns the debugger
    (a tk_debugger) that the session's launches run under."""
    o, out = session.options, ctypes.c_void_p()
    say = _capi.SayFn(_say)
    options = _capi.GdbserverOptions(
        address=b"-" if o.stdio else o.listen.encode(),
        listen_anywhere=o.listen_anywhere, once=o.once, multi=o.multi,
        port_file=o.port_file.encode() if o.port_file else None,
        write_elf=o.write_elf.encode() if o.write_elf else None, say=say)
    session.check(session.lib.tk_gdbserver_new(
        session.ptr, ctypes.byref(options), ctypes.byref(out)))
    session.gdbserver = out, say  # the callback lives as long as it may be used
    return session.lib.tk_gdbserver_debugger(out)


def end(session, status):
    """The script has ended: tells the client."""
    if session and session.gdbserver:
        session.lib.tk_gdbserver_end(session.gdbserver[0], status)


def _say(_ud, line):
    print(_capi.text(line), file=sys.stderr, flush=True)
