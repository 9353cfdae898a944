"""The lines of a script that launched a kernel: the call, what its arguments
and its grid were made of, and where the tensor was made that is wrong.

Nothing is evaluated: values are those that the launch was given.
"""
from __future__ import annotations

import ast
import linecache
import os
import sys
import types
from typing import Any, NamedTuple

from . import source

# who stands between script and launch
OURS = ("tkdbg", "triton", "torch", "helion", "jax", "jax_triton")
_OF_SHAPES = frozenset(("shape", "size", "numel", "dim", "ndim"))
SOURCE, NOTE = 46, 44  # columns, as src/launch/report_difference.c has them


class Site(NamedTuple):
    """Where a launch was made."""
    file: str
    line: int


def shown(file: str) -> str:
    """What reports call a file, or a cell of a notebook."""
    return source.cell(file) or os.path.basename(file)


class _Line(NamedTuple):
    rank: int  # the lowest are shown first
    number: int
    note: str


def site() -> Site | None:
    """Where the script makes the launch that is about to run, or None."""
    frame: types.FrameType | None = sys._getframe(1)
    while frame is not None:
        name = str(frame.f_globals.get("__name__")).partition(".")[0]
        file = frame.f_code.co_filename
        if source.cell(file) or name not in OURS and file[:1] != "<":
            return Site(file, frame.f_lineno)
        frame = frame.f_back
    return None


def lines(at: Site, kernel: str, values: dict[str, Any], wrong: str,
          most: int) -> list[str]:
    """At most so many lines of source as text, in their order.  kernel: its
    name; values: those of the parameters by name, in order; wrong: the name of
    the tensor that is not right."""
    text = linecache.getlines(at.file)
    tree = source.tree("".join(text))
    if tree is None:
        return []
    call = _launch(tree, at.line)
    found = [_Line(0, at.line if call is None else call.lineno, ""),
             *_decorators(tree, kernel, values)]
    if call is not None:
        scope = _scope(tree, call)
        given, others = given_to(call, list(values))
        found += _arguments(given, values)
        found += [_Line(2, node.lineno, "") for node in others]
        for rank, node in _asked(call, given, others, values, wrong):
            found += _origins(tree, scope, call, rank, node)
        if _is_repeated(scope, call):
            found += [_Line(5, node.lineno, "") for node in _returns(scope)
                      if node.lineno > call.lineno]
    return [_line(text, number, note)
            for number, note in _chosen(found, most) if number <= len(text)]


def places(at: Site, names: list[str], made: bool) -> dict[str, int]:
    """{parameter: the line of the script where it is given to the launch},
    and "" for the grid; made: the line that gave a name its value, instead."""
    tree = source.tree("".join(linecache.getlines(at.file)))
    call = None if tree is None else _launch(tree, at.line)
    if call is None:
        return {}
    scope = _scope(tree, call)
    given, _ = given_to(call, names)
    assert isinstance(call.func, ast.Subscript)
    return {name: _said(tree, scope, node, call) if made else node.lineno
            for name, node in (*given.items(), ("", call.func.slice))}


def _said(tree, scope, node, call):
    made = _made(tree, scope, node, call.lineno) if isinstance(
        node, ast.Name) else None
    return node.lineno if made is None else made.lineno


def _height(node):
    """How many lines a statement or an expression takes, less one."""
    return node.end_lineno - node.lineno


def _launch(tree, line):
    """The innermost kernel[grid](...) around a line, or None."""
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)
             and isinstance(node.func, ast.Subscript)
             and node.lineno <= line <= node.end_lineno]
    return min(calls, key=_height, default=None)


def _scope(tree, call):
    """The function that a call stands in, or the whole script."""
    around = [node for node in ast.walk(tree)
              if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
              and node.lineno <= call.lineno <= node.end_lineno]
    return min(around, key=_height, default=tree)


def given_to(call: ast.Call,
             names: list[str]) -> tuple[dict[str, ast.expr], list[ast.expr]]:
    """({parameter: the expression that is given for it}, expressions that
    stand between two *arguments); of *arguments the expression is that of
    all."""
    positional = list(call.args)
    given: dict[str, ast.expr] = {}
    rest = {k.arg: k.value for k in call.keywords
            if k.arg is not None and k.arg in names}
    stars = [a for a in positional if isinstance(a, ast.Starred)]
    # as many as one * must have for all parameters to have a value
    more = len(names) - len(rest) - len(positional) + 1 if (
        len(stars) == 1) else 1
    free = iter(n for n in names if n not in rest)
    for i, arg in enumerate(positional):
        starred = isinstance(arg, ast.Starred)
        if starred and len(stars) > 1:
            return {**given, **rest}, positional[i:]
        for _ in range(max(0, more) if starred else 1):
            name = next(free, None)
            if name is not None:
                given[name] = arg
    return {**given, **rest}, []


def _arguments(given, values):
    """The lines of a call's numbers and of tensors that are not contiguous;
    first those where more is given than a name or a number."""
    notes: dict[int, list[str]] = {}
    ranks: dict[int, int] = {}
    for name, node in given.items():
        note = _note(name, values[name])
        if note:
            at = node.lineno
            notes.setdefault(at, []).append(note)
            plain = isinstance(node, (ast.Name, ast.Constant))
            ranks[at] = min(ranks.get(at, 3), 3 if plain else 2)
    return [_Line(ranks[number], number, ", ".join(each))
            for number, each in notes.items()]


def _note(name, value):
    if isinstance(value, float):
        return f"{name} = {value:.6g}"
    if isinstance(value, (bool, int)):
        return f"{name} = {value}"
    try:
        contiguous = value.is_contiguous()
        return "" if contiguous else (
            f"{name} has strides ({', '.join(map(str, value.stride()))})")
    except (AttributeError, TypeError, RuntimeError):
        return ""


def _decorators(tree, kernel, values):
    """The lines of what tunes a kernel, and of the configuration that was
    chosen."""
    for function in ast.walk(tree):
        if not isinstance(function, ast.FunctionDef) or (
                function.name != kernel):
            continue
        for node in function.decorator_list:
            if isinstance(node, ast.Call) and getattr(
                    node.func, "attr", "") in ("autotune", "heuristics"):
                yield _Line(6, node.lineno, "")
                for part in ast.walk(node):
                    if isinstance(part, ast.Dict) and _is_chosen(part, values):
                        yield _Line(1, part.lineno, "this configuration")


def _is_chosen(node, values):
    """Whether a dictionary of an autotuner says what parameters are."""
    try:
        said = ast.literal_eval(node)
    except ValueError:
        return False
    return bool(said) and all(k in values and values[k] == v
                              for k, v in said.items())


def _asked(call, given, others, values, wrong):
    """(rank, expression) of what is looked for: the grid, numbers, the tensor
    that is wrong; of other tensors those that a function may have made."""
    yield 1, call.func.slice
    for node in others:
        yield 3, node
    for name, node in given.items():
        if name == wrong:
            yield 4, node
        elif isinstance(values[name], (bool, int, float)):
            yield 3, node
        elif hasattr(values[name], "shape"):
            yield None, node


def _origins(tree, scope, call, rank, node):
    """The lines that gave the names in an expression their values, and those
    that functions of the script returned for them; without a rank the latter
    alone."""
    for part in ast.walk(node):
        made = _made(tree, scope, part, call.lineno)
        if made is None:
            continue
        if rank is not None:
            yield _Line(rank + 3 * _is_simple(made.value), made.lineno, "")
        for returned in _returns(_called(tree, made.value)):
            yield _Line(rank or 5, returned.lineno, "")


def _made(tree, scope, part, line):
    """The assignment to a name before a line, or to a member of self that the
    class has anywhere; None if there is none."""
    if isinstance(part, ast.Name):
        return _assigned(scope, part.id, line)
    if not (isinstance(part, ast.Attribute) and
            isinstance(part.value, ast.Name) and part.value.id == "self"):
        return None
    around = [node for node in ast.walk(tree) if isinstance(node, ast.ClassDef)
              and node.lineno <= line <= node.end_lineno]
    return max((node for each in around for node in ast.walk(each)
                if isinstance(node, ast.Assign) and
                ast.unparse(part) in map(ast.unparse, node.targets)),
               key=lambda n: n.lineno, default=None)


def _called(tree, value):
    """The function of the script that an expression calls, or None."""
    name = isinstance(value, ast.Call) and getattr(value.func, "id", None)
    return next((node for node in ast.walk(tree)
                 if isinstance(node, ast.FunctionDef) and node.name == name),
                None)


def _returns(scope):
    return [node for node in ast.walk(scope) if isinstance(node, ast.Return)
            ] if isinstance(scope, ast.FunctionDef) else []


def _is_repeated(scope, call):
    """Whether a call stands in a loop: the tensors of its last time may be
    others than those of the time before."""
    return any(isinstance(node, (ast.For, ast.While)) and
               node.lineno < call.lineno <= node.end_lineno
               for node in ast.walk(scope))


def _targets(node):
    return node.targets if isinstance(node, ast.Assign) else [node.target]


def _assigned(scope, name, line):
    """The last assignment to a name before a line, or None."""
    found = [node for node in ast.walk(scope)
             if isinstance(node, (ast.Assign, ast.AnnAssign, ast.AugAssign))
             and node.lineno < line and node.value is not None
             and any(isinstance(part, ast.Name) and part.id == name
                     for target in _targets(node)
                     for part in ast.walk(target))]
    return max(found, key=lambda n: n.lineno, default=None)


def _is_simple(node):
    """Whether an expression is a number, or of a shape: few mistakes are made
    there."""
    if isinstance(node, ast.Tuple):
        return all(map(_is_simple, node.elts))
    while isinstance(node, (ast.Subscript, ast.Call)):
        node = node.func if isinstance(node, ast.Call) else node.value
    return isinstance(node, ast.Constant) or isinstance(
        node, ast.Attribute) and node.attr in _OF_SHAPES


def _chosen(found, most):
    """The (line number, note)s of the lowest ranks, in order."""
    ranks: dict[int, Any] = {}
    for rank, number, note in found:
        before, told = ranks.get(number, (rank, ""))
        ranks[number] = (min(rank, before), told or note)
    best = sorted(ranks, key=lambda number: (ranks[number][0], number))[:most]
    return [(number, ranks[number][1]) for number in sorted(best)]


def _line(text, number, note):
    shown = _cut(text[number - 1].strip(), SOURCE)
    return f"  {number:5} | {shown:{SOURCE}} {_cut(note, NOTE)}".rstrip()


def _cut(text, most):
    return text if len(text) <= most else text[:most - 3] + "..."
