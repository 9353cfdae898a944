"""The text that a kernel was written in.

C parses whole files: line numbers in reports are those of the file.  The
text comes from linecache, which also knows notebook cells and code whose
author registered it.
"""
from __future__ import annotations

import inspect
import linecache
import re
import textwrap
from typing import NamedTuple


class Source(NamedTuple):
    """A file's name and text, and the line where a function starts (that of
    its first decorator, if any)."""
    name: str
    text: str
    line: int


_texts = {}  # file name -> (linecache's list of lines, text)


def _text_of(name, lines):
    known = _texts.get(name)
    if known is None or known[0] is not lines:
        known = _texts[name] = (lines, "".join(lines))
    return known[1]


def find(fn):
    """The Source of a Python function; raises ValueError without one."""
    code = fn.__code__
    lines = linecache.getlines(code.co_filename, fn.__globals__)
    if not lines:
        raise ValueError("@jit functions should be defined in a Python file")
    if code.co_firstlineno > len(lines):
        raise ValueError(f"{code.co_filename} no longer has a line "
                         f"{code.co_firstlineno}: {fn.__name__} cannot be "
                         "found in it")
    return Source(code.co_filename, _text_of(code.co_filename, lines),
                  code.co_firstlineno)


def lines_of(fn):
    """(lines of fn with its decorators, number of the first)."""
    source = find(fn)
    lines = source.text.splitlines(keepends=True)[source.line - 1:]
    return inspect.getblock(lines), source.line


def without_decorators(lines):
    """The text from ``def`` on, dedented."""
    text = textwrap.dedent("".join(lines))
    start = re.search(r"^def\s+\w+\s*\(", text, re.MULTILINE)
    return text[start.start():] if start else text
