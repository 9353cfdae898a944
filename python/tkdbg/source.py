"""The text that a kernel was written in.

C parses whole files: line numbers in reports are those of the file.  The
text comes from linecache, which also knows notebook cells and code whose
author registered it.
"""
from __future__ import annotations

import inspect
import linecache
import re
import sys
import textwrap
import types
from typing import NamedTuple


class Source(NamedTuple):
    """A file's name and lines, and the line where a function starts (that of
    its first decorator, if any).  The lines are linecache's own, so that the
    functions of a file share them."""
    name: str
    lines: list
    line: int

    @property
    def text(self):
        return "".join(self.lines)


def find(fn):
    """The Source of a Python function; raises ValueError without one."""
    code = fn.__code__
    lines = linecache.getlines(code.co_filename, fn.__globals__)
    if not lines:
        executed = _executed(fn)
        if executed is not None:
            return executed
        raise ValueError("@jit functions should be defined in a Python file")
    if code.co_firstlineno > len(lines):
        raise ValueError(f"{code.co_filename} no longer has a line "
                         f"{code.co_firstlineno}: {fn.__name__} cannot be "
                         "found in it")
    return Source(code.co_filename, lines, code.co_firstlineno)


# how many callers of the decorator may hold the text that exec() was given
_CALLERS = 12


def _executed(fn):
    """The Source of a function that exec() is making right now, or None:
    the text among the callers' variables that compiles to its code."""
    code, frame = fn.__code__, sys._getframe(1)
    for _ in range(_CALLERS):
        if frame is None:
            return None
        for text in list(frame.f_locals.values()):
            if (isinstance(text, str) and f"def {code.co_name}" in text and
                    _makes(text, code)):
                return Source(code.co_filename,
                              text.splitlines(keepends=True),
                              code.co_firstlineno)
        frame = frame.f_back
    return None


def _makes(text, code):
    """Whether code is part of what text compiles to."""
    try:
        pending = [compile(text, code.co_filename, "exec",
                           dont_inherit=True)]
    except (SyntaxError, ValueError):
        return False
    while pending:
        for constant in pending.pop().co_consts:
            if isinstance(constant, types.CodeType):
                if constant == code:
                    return True
                pending.append(constant)
    return False


def lines_of(source):
    """(lines of a function with its decorators, number of the first)."""
    return inspect.getblock(source.lines[source.line - 1:]), source.line


def without_decorators(lines):
    """The text from ``def`` on, dedented."""
    text = textwrap.dedent("".join(lines))
    start = re.search(r"^def\s+\w+\s*\(", text, re.MULTILINE)
    return text[start.start():] if start else text
