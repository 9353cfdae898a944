"""Uncaught exceptions: the script's own frames, then the kernel's report."""
from __future__ import annotations

import linecache
import os
import sys
import sysconfig
import traceback
import types
from collections.abc import Callable
from typing import Any

from . import device, errors, findings, mistakes, session as session_
from .modules import finder

_BEFORE = "tkdbg_before"  # of our hook: the one that it stands for
_OURS = os.path.dirname(os.path.abspath(__file__)) + os.sep
_LIBRARY = sysconfig.get_path("stdlib") + os.sep
_HIDDEN = ("<tkdbg binder>", "<frozen runpy>", "<frozen importlib._bootstrap>")


def is_ours(code: types.CodeType) -> bool:
    return code.co_filename.startswith(_OURS) or code.co_filename in _HIDDEN


def strip(tb: types.TracebackType | None,
          also: Callable[..., Any] = lambda name: False) -> Any:
    """A traceback without frames of tkdbg, and without those of files that
    also(name) names; None when nothing is left."""
    kept = []
    while tb is not None:
        code = tb.tb_frame.f_code
        if not is_ours(code) and not also(code.co_filename):
            kept.append(tb)
        tb = tb.tb_next
    result = None
    for tb in reversed(kept):
        result = types.TracebackType(result, tb.tb_frame, tb.tb_lasti,
                                     tb.tb_lineno)
    return result


def _without_end(tb):
    """The traceback of Ctrl-C without what tkdbg, and Python's library for
    it, was doing when it came."""
    links = list(_links(tb))
    codes = [link.tb_frame.f_code for link in links]
    n = len(links)
    while n and codes[n - 1].co_filename.startswith(_LIBRARY):
        n -= 1
    if not n or n == len(codes) or not is_ours(codes[n - 1]):
        return tb
    result = None
    for link in reversed(links[:n]):
        result = types.TracebackType(result, link.tb_frame, link.tb_lasti,
                                     link.tb_lineno)
    return result


def _links(tb):
    while tb is not None:
        yield tb
        tb = tb.tb_next


def _strip_chain(error, seen):
    """Strips an exception and those it came from."""
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        if isinstance(error, KeyboardInterrupt):
            error.__traceback__ = _without_end(error.__traceback__)
        error.__traceback__ = strip(error.__traceback__)
        _strip_chain(error.__context__, seen)
        error = error.__cause__


def advice(error: BaseException) -> str:
    """What to do about an exception that is not tkdbg's own, or "".  Its
    frames have not been stripped yet."""
    if isinstance(error, (errors.KernelError, errors.InternalError)):
        return ""
    about = [finder.advice(error)] if isinstance(error, ImportError) else []
    return "\n".join(filter(None, (*about, device.advice(error),
                                   mistakes.advice(error))))


def show(error: BaseException, stream: Any = None) -> None:
    """Writes an uncaught exception: stack, then what is wrong."""
    stream = sys.stderr if stream is None else stream
    _hide_undecodable(error)
    to_do = advice(error)
    _strip_chain(error, set())
    if isinstance(error, errors.KernelError):
        _show_finding(error, stream)
    elif isinstance(error, (errors.UsageError, errors.InternalError)):
        stream.write(str(error).rstrip("\n") + "\n")
    else:
        traceback.print_exception(type(error), error, error.__traceback__,
                                  file=stream)
    if to_do:
        stream.write(to_do + "\n")


def _hide_undecodable(error: BaseException) -> None:
    """Python 3.9 fails to show a stack with a file that is not in its
    encoding: the lines of such files are left out."""
    for frame, _ in traceback.walk_tb(error.__traceback__):
        file = frame.f_code.co_filename
        try:
            linecache.getlines(file)
        except UnicodeDecodeError:
            linecache.cache[file] = (0, None, [], file)


def note_shown(error: BaseException) -> None:
    """This exception, and those it came from, are shown to the user."""
    raised, seen = session_.current().reports.raised, set()
    pending: list[BaseException | None] = [error]
    while pending:
        each = pending.pop()
        if each is None or id(each) in seen:
            continue
        seen.add(id(each))
        pending += [each.__cause__, each.__context__]
        if isinstance(each, errors.LaunchError):
            raised[each.headline] -= 1


def _tell_finding(error):
    """The finding as JSON, unless that was written when it was found."""
    if not error.told:
        entries = error.findings or [findings.entry("launch", error.report)]
        session_.current().json.tell(entries, error.kernel)


def _show_finding(error, stream):
    if session_.current().options.json:
        _tell_finding(error)
        return
    cause = error.__cause__
    if cause is not None and cause.__traceback__ is not None:
        traceback.print_exception(type(cause), cause, cause.__traceback__,
                                  file=stream)
        stream.write("\n")
    if error.__traceback__ is not None:
        stream.write("Traceback (most recent call last):\n")
        stream.write("".join(traceback.format_tb(error.__traceback__)))
    name = type(error).__name__
    stream.write(f"tkdbg.{name}: {error.kernel} stopped"
                 if error.kernel else f"tkdbg.{name}")
    if error.shown:
        stream.write(", as shown above\n")
        return
    stream.write("\n\n")
    coloured = session_.current().options.colour(stream)
    stream.write(error.colour if coloured else error.report)
    stream.flush()


def _make_hook(before):
    def hook(kind, error, tb):
        if isinstance(error, errors.KernelError):
            show(error)
            return
        if issubclass(kind, KeyboardInterrupt):
            session_.current().watch.leave()
        to_do = advice(error)
        error.__traceback__ = strip(tb)
        before(kind, error, error.__traceback__)
        if to_do:
            sys.stderr.write(to_do + "\n")
    setattr(hook, _BEFORE, before)
    return hook


def install() -> None:
    """Sets sys.excepthook."""
    if not hasattr(sys.excepthook, _BEFORE):
        sys.excepthook = _make_hook(sys.excepthook)


def uninstall() -> None:
    """Undoes install()."""
    sys.excepthook = getattr(sys.excepthook, _BEFORE, sys.excepthook)
