"""The text that a kernel was written in.

C parses whole files: line numbers in reports are those of the file.  The
text comes from linecache, which also knows notebook cells and code whose
author registered it.  What exec() is given has no file: Python tells of each
text that it compiles (an audit event), and those of late are kept, so that
the one that a function was made from can be found among them.
"""
from __future__ import annotations

import __future__
import collections
import contextlib
import functools
import inspect
import io
import linecache
import os
import re
import stat
import sys
import textwrap
import tokenize
import types
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from . import parsing

if TYPE_CHECKING:
    import ast


class Source(NamedTuple):
    """A file's name and lines, and the line where a function starts (that of
    its first decorator, if any).  The lines are linecache's own, so that the
    functions of a file share them."""
    name: str
    lines: list
    line: int

    @property
    def text(self) -> str:
        return "".join(self.lines)


def _lines(file: str, module: dict) -> list[str]:
    """Of a file; none where it is not in its encoding, as since Python 3.10."""
    try:
        return linecache.getlines(file, module)
    except UnicodeDecodeError:
        return []


def find(fn: Callable[..., Any]) -> Source:
    """The Source of a Python function; raises ValueError without one.  Of a
    wrapper that functools.wraps marked, it is the wrapped function's."""
    fn = inspect.unwrap(fn)
    code = fn.__code__
    name, line = code.co_filename, code.co_firstlineno
    text = None if _is_path(name) else texts.made(code)
    linecache.checkcache(name)  # a module that is reloaded has another text
    lines = _lines(name, fn.__globals__) if text is None else ()
    if text is None and not lines:
        text = texts.made(code) or _executed(code)
    if text is not None:
        lines = text.splitlines(keepends=True)
    if not lines:
        piped = "; to run a program from a pipe, use 'tkdbg run -'"
        raise ValueError("@jit functions should be defined in a Python file" +
                         piped * (name == "<stdin>"))
    if line > len(lines):
        raise ValueError(f"{name} no longer has a line {line}: {fn.__name__} "
                         "cannot be found in it")
    return Source(cell(name) or name, lines, line)


class Undecodable(NamedTuple):
    """The first byte of a file that is not in the file's encoding."""
    file: str
    line: int
    column: int  # from 1
    byte: int
    text: str  # of the line, as if it were Latin-1


def undecodable(file: str, data: bytes | None = None) -> Undecodable | None:
    """Which byte keeps Python from reading a file, or None: it can be read,
    or it cannot for another reason.  data: what is in it, if that is known."""
    try:
        if data is None:
            with open(file, "rb") as f:
                data = f.read()
        encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
    except (OSError, SyntaxError):
        encoding = "utf-8"  # a first line that is not, or an unknown name
    if data is None:
        return None
    try:
        data.decode(encoding)
    except (UnicodeDecodeError, LookupError) as e:
        at = getattr(e, "start", 0)
        line = data.count(b"\n", 0, at) + 1
        begin = data.rfind(b"\n", 0, at) + 1
        text = data[begin:].splitlines()[0].decode("latin-1")
        return Undecodable(file, line, at - begin + 1, data[at], text)
    return None


def check_encoding(file: str, data: bytes) -> None:
    """Raises what Python raises when it is to run such a file."""
    found = undecodable(file, data)
    if found is not None:
        raise SyntaxError(
            f"Non-UTF-8 code starting with '\\x{found.byte:02x}' in file "
            f"{file} on line {found.line}, but no encoding declared; see "
            "https://peps.python.org/pep-0263/ for details",
            (file, found.line, found.column, found.text))


def _is_path(name):
    """Whether a code object's file name may be that of a file; the others
    ("<string>") are shared by all texts without one."""
    return not (name.startswith("<") and name.endswith(">"))


def cell(name: str) -> str | None:
    """What a notebook calls the cell with this file name, "In[3]"; None for
    other files."""
    ipython = sys.modules.get("IPython")
    shell = ipython and ipython.get_ipython()
    number = getattr(getattr(shell, "compile", None), "_filename_map",
                     {}).get(name)
    if number is None:  # its versions before 8.6 know it by the name
        found = re.match(r"<ipython-input-(\d+)-", name)
        number = found and found.group(1)
    return number and f"In[{number}]"


# ---- texts without a file ----------------------------------------------------


class Texts:
    """The texts that Python compiled last, by the file name they got."""

    KEPT = 256  # of each name

    def __init__(self) -> None:
        self._of: dict[Any, Any] = {}
        self._hooked = False

    def follow(self) -> None:
        """Keeps texts from now on.  Python has no way to take such a hook
        away again, and it costs next to nothing."""
        if not self._hooked:
            self._hooked = True
            sys.addaudithook(self._on_event)

    def _on_event(self, event, args):
        if event == "compile":
            text, name = args[:2]
            if isinstance(text, (str, bytes)) and isinstance(name, str):
                self._add(text, name)

    def _add(self, text, name):
        """Notes a text that may define a function and has no file, except
        those of dataclasses, of which importing PyTorch makes thousands."""
        word: Any = "def "
        dataclass: Any = "def __create_fn__("
        if isinstance(text, bytes):
            word, dataclass = word.encode(), dataclass.encode()
        if (word in text and not text.startswith(dataclass) and
                not os.path.exists(name)):
            kept = self._of.setdefault(name, collections.deque(
                maxlen=self.KEPT))
            if text not in kept:
                kept.append(text)

    def made(self, code: types.CodeType) -> str | None:
        """The text that compiles to a function's code, or None."""
        for text in reversed(self._of.get(code.co_filename, ())):
            if isinstance(text, bytes):
                text = text.decode("utf-8", "replace")
            if _makes(text, code):
                return text
        return None


texts = Texts()


def keep_stdin() -> None:
    """Keeps the program that Python is about to read from standard input:
    it is read here, and again by Python from a copy."""
    if sys.argv[:1] not in ([""], ["-"]) or sys.flags.interactive:
        return
    if os.isatty(0):
        return
    with open(0, "rb", closefd=False) as f:
        data = f.read()
    copy = os.memfd_create("stdin")
    with open(copy, "wb", closefd=False) as f:
        f.write(data)
    os.lseek(copy, 0, os.SEEK_SET)
    os.dup2(copy, 0)
    os.close(copy)
    keep_lines("<stdin>", data.decode("utf-8", "replace"))


def keep_lines(name: str, text: str) -> None:
    """Lets tracebacks, and find(), show a text without a file."""
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True),
                             name)


@contextlib.contextmanager
def shown_to_inspect(fn: Callable[..., Any]) -> Iterator[Any]:
    """Within it, inspect finds the text of a function that has no file.  Not
    for longer: tracebacks of other texts with the same name would show it."""
    code = getattr(inspect.unwrap(fn), "__code__", None)
    name = getattr(code, "co_filename", __file__)
    before = linecache.cache.get(name)
    if not os.path.exists(name):
        with contextlib.suppress(ValueError):  # inspect will say the same
            keep_lines(name, find(fn).text)
    try:
        yield
    finally:
        if before is not None:
            linecache.cache[name] = before
        elif not os.path.exists(name):
            linecache.cache.pop(name, None)


# how many callers of the decorator may hold the text that exec() was given
_CALLERS = 12


def _executed(code):
    """The text among the callers' variables that compiles to this code: it
    was compiled before anybody listened."""
    frame: types.FrameType | None = sys._getframe(1)
    for _ in range(_CALLERS):
        if frame is None:
            break
        for text in list(frame.f_locals.values()):
            if isinstance(text, str) and _makes(text, code):
                return text
        frame = frame.f_back
    texts_of_process = (*_command_line(), *_standard_input())
    return next((t for t in texts_of_process if _makes(t, code)), None)


def _command_line():
    """Of this process, where the text of ``python -c`` stands."""
    try:
        with open("/proc/self/cmdline", encoding="utf-8",
                  errors="replace") as f:
            return f.read().split("\0")
    except OSError:
        return ()


def _standard_input():
    """What Python read its program from, if it is a file: that stays."""
    try:
        about = os.fstat(0)
        if stat.S_ISREG(about.st_mode):
            yield os.pread(0, about.st_size, 0).decode("utf-8", "replace")
    except OSError:
        return


def _makes(text, code):
    """Whether code is part of what text compiles to."""
    if f"def {code.co_name}" not in text:
        return False
    try:
        pending = [parsing.code(text, code.co_filename,
                                code.co_flags & _FUTURE)]
    except SyntaxError:
        return False
    while pending:
        for constant in pending.pop().co_consts:
            if isinstance(constant, types.CodeType):
                if constant == code:
                    return True
                pending.append(constant)
    return False


_FUTURE = 0  # the flags of a code object that `from __future__` sets
for _name in __future__.all_feature_names:
    _FUTURE |= getattr(__future__, _name).compiler_flag


def lines_of(source: Source) -> tuple[list[str], int]:
    """(lines of a function with its decorators, number of the first)."""
    return parsing.block(source.lines[source.line - 1:]), source.line


def without_decorators(lines: list[str]) -> str:
    """The text from ``def`` on, dedented."""
    text = textwrap.dedent("".join(lines))
    start = re.search(r"^def\s+\w+\s*\(", text, re.MULTILINE)
    return text[start.start():] if start else text


@functools.lru_cache(maxsize=8)
def tree(text: str) -> ast.Module | None:
    """The syntax tree of a script's text, which is not to be changed; None if
    Python cannot read it."""
    try:
        return parsing.tree(text)
    except (SyntaxError, RecursionError):
        return None
