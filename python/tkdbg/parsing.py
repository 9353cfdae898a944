"""Python's text as syntax trees and code.

A text that Python cannot read is a SyntaxError, whatever the version: of a
null byte ast.parse() and compile() raise a ValueError before Python 3.11.4 and
a SyntaxError without a place afterwards, and what takes a text into tokens
has an error of its own.  The bridge parses nothing without these functions.
"""
from __future__ import annotations

import ast
import inspect
import tokenize
import types
from typing import Union
from collections.abc import Iterator, Sequence

Text = Union[str, bytes]
NULL_SHOWN = "\N{SYMBOL FOR NULL}"


def check(text: Text, name: str = "<unknown>") -> None:
    """Raises SyntaxError, with the place, if the text has a null byte."""
    if isinstance(text, bytes):
        text = text.decode("latin-1") if b"\0" in text else ""
    at = text.find("\0")
    if at < 0:
        return
    start = text.rfind("\n", 0, at) + 1
    line = text[start:].partition("\n")[0].replace("\0", NULL_SHOWN)
    raise SyntaxError("source code cannot contain null bytes", (
        name, text.count("\n", 0, at) + 1, at - start + 1, line))


def tree(text: Text, name: str = "<unknown>") -> ast.Module:
    """ast.parse()."""
    check(text, name)
    return ast.parse(text, name)


def code(text: Text, name: str, flags: int = 0) -> types.CodeType:
    """What compile() makes of a module's text; none of our own __future__
    statements hold in it."""
    check(text, name)
    return compile(text, name, "exec", flags, dont_inherit=True)


class _Checked(list[str]):
    """Lines that are checked when they are read: a file of many functions is
    not looked through for each."""

    def __iter__(self) -> Iterator[str]:
        for line in super().__iter__():
            check(line)
            yield line


def block(lines: Sequence[str]) -> list[str]:
    """inspect.getblock(): those of the lines that are the first statement's."""
    try:
        return list(inspect.getblock(_Checked(lines)))
    except tokenize.TokenError as e:
        raise SyntaxError(str(e.args[0])) from None
