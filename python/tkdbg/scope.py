"""Where the free names of a kernel's function live, and what a compiled
kernel depends on.

Lookup order is Python's: closure cells, then the function's globals.  Of
Python's builtins kernels know few, which the library names itself.
"""
from __future__ import annotations

import ast
import copy
import inspect
import re
import types
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from . import parsing
from . import tltypes as tl_types

MISSING = object()


class Scope:
    """Where one function's free names live."""

    def __init__(self, fn: Callable[..., Any]) -> None:
        self.fn = fn
        self.globals = fn.__globals__
        code = fn.__code__
        self.cells = dict(zip(code.co_freevars, fn.__closure__ or ()))
        self.reads = Dependencies()

    def find(self, name: str) -> tuple[Any, ...]:
        """(value, dict or cell that holds it); MISSING when unknown."""
        cell = self.cells.get(name)
        if cell is not None:
            try:
                return cell.cell_contents, cell
            except ValueError:  # not assigned yet
                return MISSING, None
        if name in self.globals:
            return self.globals[name], self.globals
        return MISSING, None

    def default(self, name: str) -> Any:
        """What a parameter is when a call leaves it out, as Python found when
        the function was defined; MISSING when it has no default."""
        found = inspect.signature(self.fn).parameters.get(name)
        if found is None or found.default is inspect.Parameter.empty:
            return MISSING
        for attribute in ("__defaults__", "__kwdefaults__"):
            self.reads.add_attribute(self.fn, attribute,
                                     getattr(self.fn, attribute))
        return found.default

    def note_named(self, text: str) -> None:
        """Values that a function's text names where nothing is compiled, as
        in `if False`: Triton watches these too."""
        for name in names_in(trees_of(text)):
            value, holder = self.find(name)
            if holder is not None and _is_value(value):
                self.reads.add_name(name, value, holder)


_PIECE = 250  # lines


def trees_of(text: str) -> Iterator[ast.Module]:
    """The syntax trees of a function's text, of a long one in pieces: Python
    answers no signals while it parses."""
    lines, pieces, first = text.splitlines(True), [], 0
    indents = [_indent_of_statement(line) for line in lines]
    least = min(filter(None, indents), default=0)
    for n, indent in enumerate(indents):
        if indent == least and n - first >= _PIECE:
            pieces.append(lines[first:n])
            first = n
    pieces.append(lines[first:])
    try:
        yield parsing.tree("".join(pieces[0]))
        for piece in pieces[1:]:
            yield parsing.tree("if 1:\n" + "".join(piece))
    except SyntaxError:  # a piece ended within a statement
        yield parsing.tree(text)


_STATEMENT = re.compile(r"(\s+)(?!(?:else|elif|except|finally)\b)[A-Za-z_]")


def _indent_of_statement(line):
    """How far a line is indented, if a statement may begin in it."""
    found = _STATEMENT.match(line)
    return len(found[1]) if found else None


def names_in(trees: Iterable[ast.AST]) -> set[str]:
    """Names that a function reads and does not assign."""
    read, own = set(), set()
    for tree in trees:
        defaults = {id(node) for arguments in ast.walk(tree)
                    if isinstance(arguments, ast.arguments)
                    for default in arguments.defaults
                    for node in ast.walk(default)}
        for node in ast.walk(tree):
            if isinstance(node, ast.arg):
                own.add(node.arg)
            elif isinstance(node, ast.Name) and id(node) not in defaults:
                read.add(node.id)
                if not isinstance(node.ctx, ast.Load):
                    own.add(node.id)
    return read - own


# ---- what a kernel depends on -----------------------------------------------

MAX_DEPTH = 8  # of Python functions that call each other at compile time


class Dependencies:
    """What the host program was asked for while one function was compiled,
    as part of a kernel or as the kernel itself.

    Triton refuses a launch after a global variable has changed that it read
    as a value (``changed``).  After any other change the kernel is compiled
    again (``is_stale``): it is what it is now.
    """

    def __init__(self) -> None:
        # (id(holder), name): (holder, how to read it, name, the object, a
        # copy of it if it can be changed where it is)
        self._values: dict[Any, Any] = {}
        self._others: dict[Any, Any] = {}
        # (id(object), name): (object, name, a copy)
        self._attributes: dict[Any, Any] = {}
        # id(scope): the scope of a function it calls
        self._callees: dict[Any, Any] = {}

    def clear(self) -> None:
        for kept in (self._values, self._others, self._attributes,
                     self._callees):
            kept.clear()

    def add_callee(self, scope: Scope) -> None:
        self._callees[id(scope)] = scope

    def all(self) -> list[Dependencies]:
        """These and those of all functions that are called, at any depth."""
        found, pending = {}, [self]
        while pending:
            reads = pending.pop()
            if id(reads) not in found:
                found[id(reads)] = reads
                pending.extend(s.reads for s in reads._callees.values())
        return list(found.values())

    def add_name(self, name: str, value: Any, holder: Any) -> None:
        """name means value, which was found in a dict or cell."""
        kept = self._values if _is_value(value) else self._others
        key = id(holder), name
        if key not in kept:
            read = holder.get if isinstance(holder, dict) else _Cell(holder)
            kept[key] = holder, read, name, value, _copy(value)

    def add_attribute(self, obj: Any, name: str, value: Any) -> None:
        """obj.name is value."""
        copied = _copy(value)
        self._attributes.setdefault(
            (id(obj), name), (obj, name, value if copied is None else copied))

    def add_call(self, fn: Any, depth: int = 0) -> None:
        """A Python function ran, which reads what it names."""
        fn = getattr(fn, "__func__", fn)
        fn = getattr(fn, "fn", fn)
        if not isinstance(fn, types.FunctionType) or depth > MAX_DEPTH:
            return
        scope = Scope(fn)
        for name in (*fn.__code__.co_names, *fn.__code__.co_freevars):
            value, holder = scope.find(name)
            if holder is None or (id(holder), name) in self._others:
                continue
            self.add_name(name, value, holder)
            self.add_call(value, depth + 1)

    def changed(self) -> tuple[Any, ...] | None:
        """(name, before, now) of a value that changed, or None."""
        for _, read, name, value, copied in self._values.values():
            now = read(name, MISSING)
            if now is value and copied is None:
                continue
            before = value if copied is None else copied
            if not _same(now, before):
                return name, before, None if now is MISSING else now
        return None

    def is_stale(self) -> bool:
        """Whether anything else has changed."""
        for _, read, name, value, _ in self._others.values():
            if read(name, MISSING) is not value:
                return True
        for obj, name, before in self._attributes.values():
            now = getattr(obj, name, MISSING)
            if now is not before and not _same(now, before):
                return True
        return False


class _Cell:
    """Reads a closure's cell as a dict's ``get`` reads a name."""

    def __init__(self, cell):
        self.cell = cell

    def __call__(self, name, default):
        try:
            return self.cell.cell_contents
        except ValueError:
            return default


def _is_value(value):
    """Values that Triton watches: a change is an error."""
    if isinstance(value, (types.ModuleType, type)) or value is None:
        return False
    return (tl_types.is_constexpr(value) or
            isinstance(value, (bool, int, float, str, tuple, list)) or
            tl_types.dtype_name(value) is not None)


def _copy(value):
    """A copy of what can be changed where it is; None for all else."""
    if tl_types.is_constexpr(value) or isinstance(value, (tuple, list)):
        try:
            return copy.deepcopy(value)
        except Exception:
            return copy.copy(value)
    return None


def module_annotations(module_globals: dict[str, Any]) -> dict[str, Any]:
    """A module's annotations by its globals, on every Python version."""
    found = module_globals.get("__annotations__")
    if found is None and callable(module_globals.get("__annotate__")):
        try:  # Python 3.14 computes them when asked
            found = module_globals["__annotate__"](1)
        except Exception:
            found = {}
        module_globals["__annotations__"] = found
    return found if isinstance(found, dict) else {}


def is_constexpr_annotation(note: Any) -> bool:
    """True for tl.constexpr, "tl.constexpr", "constexpr" and the like."""
    text = note if isinstance(note, str) else getattr(note, "__name__", "")
    return "constexpr" in text


def _same(a, b):
    if type(a) is not type(b):
        return False
    if hasattr(a, "value") and hasattr(b, "value"):
        a, b = a.value, b.value
    try:
        return bool(a == b)
    except Exception:
        return False
