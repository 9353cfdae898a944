"""``tkdbg profile script.py``: says where the time of all launches went.

What is counted and how it is said is the library's (tkdbg/profile.h).
"""
from __future__ import annotations

import ctypes
import os
import sys
from typing import TYPE_CHECKING

from . import watched

if TYPE_CHECKING:
    from .session import Session


class Profile(watched.Watched):
    """Profiles the launches of a session from now on."""

    def __init__(self, session: Session) -> None:
        self._profile = ctypes.c_void_p()
        session.check(session.lib.tk_profile_new(
            session.ptr, ctypes.byref(self._profile)))
        session.runs.profile_with(self._profile)
        super().__init__(session)

    def _text(self):
        lib, out = self._session.lib, ctypes.c_char_p()
        options = self._session.options
        if options.json:
            status = lib.tk_profile_json(self._profile, ctypes.byref(out))
        else:
            status = lib.tk_profile_text(
                self._profile, options.colour(sys.stdout), ctypes.byref(out))
        self._session.check(status)
        return out.value

    def _write(self, complete):
        with os.fdopen(self._out, "wb") as file:
            file.write(self._text())
        page = self._session.options.html
        if page is not None:
            self._session.check(self._session.lib.tk_profile_save(
                self._profile, page.encode()))
