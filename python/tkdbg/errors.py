"""What a launch raises, and how it is shown.

The names follow Triton's, so that scripts which catch them keep working::

    TritonError
      KernelError                  a fault in the user's kernel; also an
                                   InterpreterError
        CompilationError           ... found before the first program ran
          CompileTimeAssertionFailure
          UnsupportedLanguageConstruct
        LaunchError (RuntimeError) ... found while a program ran
      InterpreterError, OutOfResources, PTXASError, AutotunerError
    UsageError (ValueError)        a bad option or argument of ours
    InternalError (RuntimeError)   our own fault, or out of memory
"""
from __future__ import annotations

import ast
import json
import linecache
import re
import textwrap
from collections.abc import Sequence
from typing import Any

from . import parsing


class TritonError(Exception):
    """Base of everything that Triton itself raises."""


class _Messaged(TritonError):
    def __init__(self, error_message=None):
        super().__init__(error_message)
        self.error_message = error_message

    def __str__(self):
        return self.error_message or ""


class InterpreterError(_Messaged):
    """A kernel that an interpreter found at fault: every KernelError."""


class KernelError(InterpreterError):
    """A fault in a kernel.

    report    the finding as text, with source lines and carets
    findings  the report's entries as a list of dicts
    colour    the text again, for a terminal
    kernel    name of the kernel that was launched
    """

    def __init__(self, report: str = "", findings: Sequence[Any] = (),
                 kernel: str = "", colour: str | None = None) -> None:
        Exception.__init__(self, report)  # real Triton's may come next
        self.report = report
        self.findings = list(findings)
        self.kernel = kernel
        self.colour = colour if colour is not None else report

    told = False  # written as JSON already
    shown = False  # by the debugger
    where = ""  # where it is, from the start of the kernel

    def __str__(self) -> str:
        return self.report + self.where

    def note(self, told: bool, shown: bool) -> None:
        """Who knows of it already."""
        self.told, self.shown = told, shown

    def _kept(self):
        """What an equal error has, other than its report."""
        return {name: value for name, value in vars(self).items()
                if name in ("where", "place")}

    def __reduce__(self) -> Any:
        return (type(self), (self.report, self.findings, self.kernel),
                self._kept())

    def copy(self) -> Any:
        """An equal error without a traceback."""
        again = type(self)(self.report, self.findings, self.kernel,
                           self.colour)
        again.__dict__.update(self._kept())
        again.__cause__ = self.__cause__
        return again

    @property
    def report_json(self) -> str:
        """The findings as the text of a JSON array."""
        return json.dumps(self.findings)

    @property
    def headline(self) -> str:
        """The line of the report that says what was wrong."""
        entry = first_entry(self.findings)
        ending = f"[{entry.get('kind')}]"
        lines = self.report.splitlines() or [""]
        return next((line for line in lines if line.endswith(ending)),
                    lines[0])


_ASSERTION = "static assertion failed"


class CompilationError(KernelError):
    """A kernel that does not compile.

    place    (file, line, column) of what is wrong, counted from 1, or None
    """

    place = None

    @property
    def src(self) -> str:
        """The text of the function that is wrong, from its def on; None
        where it has no file."""
        return self._function()[0]

    @property
    def node(self) -> ast.AST | None:
        """The piece of syntax that is wrong, which counts lines as src does;
        None if it is not known."""
        text, line, column = self._function()
        innermost = first_entry(self.findings).get("kind") == "name"
        return text and _node_at(text, line, column, innermost)

    @property
    def message(self) -> str | None:
        return str(self)

    def _function(self):
        """(text of the function, line and column in it), or three None."""
        if self.place is None:
            return None, None, None
        name, line, column = self.place
        lines = linecache.getlines(name)
        start = _def_around(lines, line)
        if start is None:
            return None, None, None
        try:
            block = parsing.block(lines[start - 1:])
        except SyntaxError:  # the file has changed since
            return None, None, None
        text = textwrap.dedent("".join(block))
        return (text, line - start + 1,
                max(column - 1 - _indent(lines[start - 1]), 0))

    @property
    def error_message(self) -> str | None:
        """What is wrong; None when it is so in a function that the kernel
        called: then __cause__ is the error there."""
        if isinstance(self.__cause__, CompilationError):
            return None
        entry = first_entry(self.findings)
        text = entry.get("message", self.report)
        if entry.get("kind") == "name":  # Triton shows Python's exception
            return repr(NameError(text))
        return text


class CompileTimeAssertionFailure(CompilationError):
    """A tl.static_assert that does not hold."""

    @property
    def error_message(self) -> str | None:
        """What the assertion says."""
        text = super().error_message
        return text and text.removeprefix(_ASSERTION).removeprefix(": ")


class UnsupportedLanguageConstruct(CompilationError):
    """Python that the kernel language does not have."""


class LaunchError(KernelError, RuntimeError):
    """A kernel that went wrong while it ran."""


class PTXASError(_Messaged):
    """Raised by a GPU assembler only; here so that it can be caught."""

    def __str__(self) -> str:
        return f"PTXAS error: {self.error_message or ''}"


class AutotunerError(_Messaged):
    """An autotuner that has no configuration left."""

    def __str__(self) -> str:
        return f"Autotuner error: {self.error_message or ''}"


class OutOfResources(TritonError):
    """A kernel too large for a device; here so that it can be caught."""

    def __init__(self, required: int, limit: int, name: str) -> None:
        super().__init__(required, limit, name)
        self.required = required
        self.limit = limit
        self.name = name

    def __str__(self) -> str:
        return (f"out of resource: {self.name}, Required: {self.required}, "
                f"Hardware limit: {self.limit}. Reducing block sizes or "
                "`num_stages` may help.")


class UsageError(ValueError):
    """A bad option, argument or file."""


class InternalError(RuntimeError):
    """A fault of tkdbg itself, or no memory left."""


class KernelWarning(UserWarning):
    """Something doubtful in a kernel; the text is the report."""


class NotOpened(Exception):
    """A jit function whose text C refused; the report says why."""


# Diagnostics that only a running program can cause, by the name that
# diag.def gives them; everything else is found while compiling.
RUN_TIME = frozenset((
    "out-of-bounds", "null-pointer", "wild-pointer", "misaligned",
    "read-only", "assert", "division", "runaway", "deadlock", "race",
    "order", "idempotence", "undef", "neutral", "nan", "inf",
    "overflow"))

_COMPILE_CLASSES = {
    "static-assert": CompileTimeAssertionFailure,
    "unsupported": UnsupportedLanguageConstruct,
}


def first_entry(findings: list[dict[str, Any]]) -> dict[str, Any]:
    """The first entry that is an error, {} when none is."""
    for entry in findings:
        if entry.get("severity", "error") == "error":
            return entry
    return {}


def finding(report: str, findings: list[dict[str, Any]], kernel: str,
            colour: str | None = None, classes: dict[type, type] | None = None,
            cause: BaseException | None = None) -> KernelError:
    """The exception for a report, by the kind of its first error.

    classes: {class above: the class to raise in its place}; cause: what the
    host program raised, if it did."""
    entry = first_entry(findings)
    name = entry.get("kind", "")
    chosen: type[KernelError] = LaunchError
    if name not in RUN_TIME:
        chosen = _COMPILE_CLASSES.get(name, CompilationError)
    chosen = (classes or {}).get(chosen, chosen)
    error = chosen(report, findings, kernel, colour)
    if isinstance(error, CompilationError) and "file" in entry:
        return _with_causes(error, entry, chosen, cause)
    error.__cause__ = cause
    return error


# ---- causes -----------------------------------------------------------------

# Python's class for what the kind of a diagnostic says
_CAUSES = {"type": TypeError, "value": ValueError, "shape": ValueError,
           "call": TypeError, "division": ZeroDivisionError,
           "loop-carried": AssertionError}


def _with_causes(error, entry, chosen, cause):
    """error, for the outermost call; its __cause__ is the error in the
    function called there, and so on; the innermost comes from the reason
    as an exception of Python's own."""
    if cause is None and entry["kind"] in _CAUSES:
        cause = _CAUSES[entry["kind"]](entry["message"])
    calls = [n for n in entry.get("notes", ()) if
             n["text"].startswith("in the call from ")]
    places = [entry] + calls
    for place in places[:-1]:
        where = _where(place)
        inner = chosen(f"{where}{entry['message']}\n",
                       [dict(entry, notes=[])], error.kernel)
        inner.place = _place(place)
        inner.__cause__, cause = cause, inner
    error.where = _where(places[-1])
    error.place = _place(places[-1])
    error.__cause__ = cause
    return error


def _place(place):
    return place.get("file", ""), place["line"], place["column"]


def _node_at(text, line, column, innermost):
    """The largest or the innermost piece of syntax that begins at this place,
    or the last one before it; None if the text cannot be parsed."""
    try:
        tree = parsing.tree(text)
    except SyntaxError:
        return None
    found, at = None, (0, 0)
    for node in ast.walk(tree):  # from the outside to the inside
        start = getattr(node, "lineno", 0), getattr(node, "col_offset", 0)
        if (start <= (line, column) and not isinstance(node, ast.Expr) and
                (start > at or innermost and start == at)):
            found, at = node, start
    return found


def _where(place):
    """A line "at 2:4:" as Triton counts: from the function's def."""
    lines = linecache.getlines(place.get("file", ""))
    line, column = place["line"], place["column"]
    start = _def_around(lines, line)
    if start is None:
        return f"  note: at {line}:{column - 1}:\n"
    if place.get("kind", "name") != "name":
        line, column = _call_around(lines, start, line, column)
    return (f"  note: at {line - start + 1}:"
            f"{max(column - 1 - _indent(lines[start - 1]), 0)}: counted from "
            "the function's def\n")


def _def_around(lines, line):
    """The number of the def whose body a line is in, or None."""
    if line > len(lines):
        return None
    own = _indent(lines[line - 1])
    for start in range(line, 0, -1):
        text = lines[start - 1]
        if (re.match(r"\s*def\s", text) and
                (_indent(text) < own or start == line)):
            return start
    return None


def _call_around(lines, start, line, column):
    """Where the call begins whose argument is the name or literal at this
    place: Triton reports a wrong argument at the call.  Only the function at
    line start is parsed, because files can be long."""
    margin = _indent(lines[start - 1])
    try:
        tree = parsing.tree(textwrap.dedent("".join(
            parsing.block(lines[start - 1:]))))
    except SyntaxError:
        return line, column
    place = (line - start + 1, column - 1 - margin)
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        for arg in node.args + [k.value for k in node.keywords]:
            if (isinstance(arg, (ast.Name, ast.Constant)) and
                    (arg.lineno, arg.col_offset) == place):
                return (node.lineno + start - 1,
                        node.col_offset + 1 + margin)
    return line, column


def _indent(text):
    return len(text) - len(text.lstrip())
