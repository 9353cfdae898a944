"""What a learner's file says outside of its kernels' meaning: operations
that a puzzle forbids or asks for, the verdict of a detective case, lines."""
from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING, Any

from .. import parsing
from . import manifest

if TYPE_CHECKING:
    from .manifest import Puzzle

_STATEMENTS = {ast.For: "for", ast.While: "while", ast.If: "if",
               ast.MatMult: "@", ast.IfExp: "if"}


def kernels(tree: ast.Module) -> list[ast.FunctionDef]:
    """The decorated functions of a file."""
    return [n for n in tree.body if isinstance(n, ast.FunctionDef)
            and n.decorator_list]


def used(tree: ast.Module) -> dict[str, int]:
    """{name: line} of the operations and statements of the kernels; under
    whatever name they were imported."""
    found: dict[str, int] = {}

    def add(name, node):
        found.setdefault(name, getattr(node, "lineno", 0))
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            for alias in node.names:
                add(alias.name, node)
    for node in (n for k in kernels(tree) for n in ast.walk(k)):
        if isinstance(node, ast.Attribute):
            add(node.attr, node)
        elif isinstance(node, ast.Name):
            add(node.id, node)
        elif isinstance(node, ast.BinOp):
            add(_STATEMENTS.get(type(node.op), ""), node)
        elif type(node) in _STATEMENTS:
            add(_STATEMENTS[type(node)], node)
    return found


def failures(text: str, key: Puzzle) -> list[dict[str, Any]]:
    """What a text uses that the key forbids, or lacks that it asks for."""
    try:
        names = used(parsing.tree(text))
    except SyntaxError:
        return []  # the kernels' own errors are reported better
    found = [{"kind": "forbidden", "line": names[name],
              "message": f"{name!r} may not be used here: {why}"}
             for name, why in key.forbid.items() if name in names]
    return found + [{"kind": "required",
                     "message": f"{name!r} must be used here: {why}"}
                    for name, why in key.require.items()
                    if name not in names]


def first_kernel(text: str) -> int:
    """The number of the line on which the first kernel begins."""
    found = manifest.KERNEL.search(text)
    return text.count("\n", 0, found.start()) + 1 if found else 1


def code_lines(text: str) -> int:
    """How many lines of code the bodies of the kernels have."""
    try:
        tree = parsing.tree(text)
    except SyntaxError:
        return 0
    lines: set[int] = set()
    for kernel in kernels(tree):
        for statement in kernel.body:
            if not (isinstance(statement, ast.Expr) and
                    isinstance(statement.value, ast.Constant)):
                lines.update(n.lineno for n in ast.walk(statement)
                             if hasattr(n, "lineno"))
    return len(lines)


# ---- verdicts ---------------------------------------------------------------

FIELDS = "kind", "line", "program", "index"


def read_verdict(text: Any) -> Any:
    """{field: value} of the line "# verdict: kind=race line=12 ..."; of a
    field that is still "?" there is none."""
    line = re.search(r"^# verdict:(.*)$", text, re.M)
    words = re.findall(r"(\w+)\s*=\s*(\([^)]*\)|\[[^\]]*\]|\S+)",
                       line.group(1) if line else "")
    return {name: _value(word) for name, word in words if word != "?"}


def _value(word):
    numbers = re.findall(r"-?\d+", word)
    if numbers and re.fullmatch(r"[\s\d,()\[\]-]+", word):
        return tuple(map(int, numbers))
    return word


def verdict_failures(text: Any, entry: Any) -> Any:
    """What is missing or wrong in the verdict of a detective case."""
    said, key = read_verdict(text), entry.key.verdict
    missing = [name for name in FIELDS if name in key and name not in said]
    wrong = [name for name in FIELDS if name in key and name in said and
             not _agrees(name, said[name], entry, text)]
    found = []
    if missing:
        found.append("the verdict does not say yet: " + ", ".join(missing))
    for name in wrong:
        value = said[name]
        shown = (value if isinstance(value, str) else
                 ",".join(map(str, value)))
        found.append(f"the verdict's {name}={shown} is not right")
    return [{"kind": "verdict", "message": m} for m in found]


def _agrees(name, said, entry, text):
    accepted = entry.key.verdict[name]
    accepted = accepted if isinstance(accepted, list) else [accepted]
    if name == "line":
        return _names_line(said, [entry.line_of(a) for a in accepted],
                           entry.starter, text)
    if name == "program":
        return any(_program(a) == _program(said) for a in accepted)
    if name == "index":
        return any(_tuple(a) == said for a in accepted)
    return said in accepted


def _names_line(said, accepted, starter, text):
    """Whether a number is an accepted line's in the file as it was shipped,
    or in the learner's, where lines above it may have come and gone."""
    if not isinstance(said, tuple) or len(said) != 1:
        return False
    shipped, now = starter.split("\n"), text.split("\n")
    return said[0] in accepted or (
        0 < said[0] <= len(now) and
        now[said[0] - 1] in (shipped[n - 1] for n in accepted))


def _tuple(value):
    return tuple(value) if isinstance(value, (tuple, list)) else (value,)


def _program(value):
    if isinstance(value, str):
        return value
    return (_tuple(value) + (0, 0))[:3]
