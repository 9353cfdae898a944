"""``tkdbg view script.py``: writes a page of all launches.

What is recorded and how it is drawn is the library's (tkdbg/view.h).
"""
from __future__ import annotations

import ctypes
import os
import sys
import webbrowser
from typing import TYPE_CHECKING

from . import errors, watched

if TYPE_CHECKING:
    from .session import Session


class View(watched.Watched):
    """Watches the launches of a session from now on."""

    def __init__(self, session: Session) -> None:
        self._view = ctypes.c_void_p()
        options = session.options
        session.check(session.lib.tk_view_new(
            session.ptr, options.page_size or 0, ctypes.byref(self._view)))
        if options.launch is None:
            session.lib.tk_view_expect_many(self._view)
        session.runs.view_with(self._view)
        super().__init__(session)

    def _write_data(self):
        out = ctypes.c_char_p()
        self._session.check(self._session.lib.tk_view_json(
            self._view, ctypes.byref(out)))
        with os.fdopen(self._out, "wb") as file:
            file.write(out.value or b"")

    def _write_page(self):
        path = self._session.options.output
        self._session.check(self._session.lib.tk_view_save(
            self._view, os.fsencode(path)))
        if not self._session.options.is_quiet():
            sys.stderr.write(f"tkdbg: wrote {path}\n")
        if self._session.options.open:
            webbrowser.open(f"file://{os.path.abspath(path)}")

    def _write(self, complete):
        if self._session.options.json:
            self._write_data()
        elif self._session.lib.tk_view_launches(self._view):
            self._write_page()
        elif complete:
            raise errors.UsageError(
                "tkdbg: no kernel was launched: there is nothing to show")
