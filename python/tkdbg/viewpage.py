"""``tkdbg view script.py``: writes a page of all launches; ``tkdbg.view`` and
``%%tkdbg --view``, the page in a notebook.

What is recorded and how it is drawn is the library's (tkdbg/view.h).
"""
from __future__ import annotations

import ctypes
import os
import sys
from typing import TYPE_CHECKING, Any

from . import errors, watched
from . import session as session_

if TYPE_CHECKING:
    from .session import Session


def _new(session):
    """A tk_view, which watches from now on."""
    view = ctypes.c_void_p()
    session.check(session.lib.tk_view_new(
        session.ptr, session.options.page_size or 0, ctypes.byref(view)))
    session.lib.tk_view_triton(view, session.options.by == "triton")
    return view


def _watch_selected(session, view):
    """The launches that options select share its page."""
    if session.options.launch is None:
        session.lib.tk_view_expect_many(view)
    session.runs.view_with(view)


class View(watched.Watched):
    """Watches the launches of a session from now on."""

    def __init__(self, session: Session) -> None:
        self._view = _new(session)
        _watch_selected(session, self._view)
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
            self._session.lib.tk_view_show(os.fsencode(path))

    def _write(self, complete):
        if self._session.options.json:
            self._write_data()
        elif self._session.lib.tk_view_launches(self._view):
            self._write_page()
        elif complete:
            raise errors.UsageError(
                "tkdbg: no kernel was launched: there is nothing to show")


class Page:
    """A page of launches, which notebooks show.

    html    the page
    error   the KernelError that the launch has ended with, or None
    """

    HEIGHT = 800  # of its frame in a notebook, in pixels

    def __init__(self, html: str, error: errors.KernelError | None) -> None:
        self.html, self.error = html, error

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the page to a file."""
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.html)

    def __repr__(self) -> str:
        return f"<a page of tkdbg view; {len(self.html)} characters>"

    def _repr_html_(self) -> str:
        """A frame, so that the page's style is not the notebook's."""
        text = self.html.replace("&", "&amp;").replace("'", "&#39;")
        return ("<iframe title='tkdbg view' sandbox='allow-scripts "
                "allow-forms' style='width: 100%; border: 0' "
                f"height='{self.HEIGHT}' srcdoc='{text}'></iframe>")


class Recording:
    """The launches from now until it is closed; under the session's lock."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._view = _new(session)

    def select(self) -> None:
        """Only launches that options select, which share the page."""
        _watch_selected(self._session, self._view)

    def page(self, error: errors.KernelError | None = None) -> Page | None:
        """The page; None: nothing was launched."""
        session, out = self._session, ctypes.c_char_p()
        if not session.lib.tk_view_launches(self._view):
            return None
        session.check(session.lib.tk_view_html(
            self._view, ctypes.byref(out)))
        return Page((out.value or b"").decode("utf-8", "replace"), error)

    def close(self) -> None:
        """Launches are watched no longer."""
        if self._view in self._session.runs.views:
            self._session.runs.view_no_more(self._view)
        self._session.lib.tk_view_free(self._view)


def view(kernel: Any, grid: Any, args: tuple[Any, ...],
         kwargs: dict[str, Any]) -> Page:
    """tkdbg.view"""
    __tracebackhide__ = True
    session = session_.current()
    error: errors.KernelError | None = None
    with session.lock:
        recording = Recording(session)
        try:
            try:
                kernel[grid](*args, **kwargs)
            except errors.KernelError as e:
                error = e
            page = recording.page(error)
        finally:
            recording.close()
    if page:
        return page
    if error:  # it does not compile
        raise error
    raise errors.UsageError(
        "tkdbg.view: the kernel did not run under tkdbg: call tkdbg.install() "
        "before the first 'import triton'")
