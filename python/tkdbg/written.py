"""Kernels of the program's own that PyTorch's compiler copied into a file.

It says above such a copy where the kernel is written.  What the program still
says in the same words runs as if it were there: findings, breakpoints and
tables name the program's own lines.
"""
from __future__ import annotations

import ast
import linecache
import re
import textwrap
import types

from . import source

_ORIGINAL = re.compile(r"# Original path: (.*):(\d+)\s*$")
_NEAR = 3  # lines above a copy, at most


def at_its_place(code: types.CodeType, text: str,
                 above: list[str]) -> types.CodeType:
    """The code of a module, with the functions that were copied into it at
    the places that they have in the program.

    text: of the module; above: lines of the file that it stands in."""
    found = next(filter(None, map(_ORIGINAL.search, above[-_NEAR:])), None)
    if found is None:
        return code
    file, kernel = found[1], int(found[2])
    written = _functions("".join(linecache.getlines(file)))
    copies = {lines[0]: words for words, lines in _functions(text).items()}

    def moved(constant):
        if not isinstance(constant, types.CodeType):
            return constant
        lines = written.get(copies.get(constant.co_firstlineno, ""), [])
        if kernel in lines:
            lines = [kernel]
        if len(lines) != 1:  # in other words, or twice
            return constant
        return constant.replace(co_filename=file, co_firstlineno=lines[0])
    return code.replace(co_consts=tuple(map(moved, code.co_consts)))


def _functions(text: str) -> dict[str, list[int]]:
    """{a function's words, from "def" on: the lines where functions of these
    words start, with their decorators}"""
    tree = source.tree(text)
    lines = text.splitlines(keepends=True)
    found: dict[str, list[int]] = {}
    for node in ast.walk(tree) if tree is not None else ():
        if isinstance(node, ast.FunctionDef):
            words = textwrap.dedent("".join(
                lines[node.lineno - 1:node.end_lineno])).rstrip()
            found.setdefault(words, []).append(min(
                [node.lineno, *(d.lineno for d in node.decorator_list)]))
    return found
