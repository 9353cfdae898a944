"""Launches of puzzles whose kernels are CUDA Tile's.

cuda.tile's own front end reads a kernel, for which its function must exist:
the definitions of a learner's file are executed, its import of cuda.tile, and
nothing else of it.
"""
from __future__ import annotations

import ast
import linecache
import re
from ctypes import byref, c_void_p
from typing import TYPE_CHECKING, Any

from .. import parsing, tensors
from ..cutile import form, front, signature
from ..cutile.model import Refused as Unknown
from . import data, manifest
from .running import Refused, Running

if TYPE_CHECKING:
    from .data import Launch
    from .engine import Engine

# what cuda.tile runs as Python while it reads a kernel
_STATIC = re.compile(r"static_\w+")
# what its errors are to a learner
_KINDS = {"UnsupportedSyntaxError": "syntax", "TypeCheckingError": "type",
          "InvalidValueError": "value", "RecursionLimitError": "recursion",
          "UnsupportedFeatureError": "unsupported"}


def load() -> None:
    """Imports cuda.tile, before there are children; raises KeyFault."""
    try:
        import cuda.tile
        assert cuda.tile
        front.check_version()
        front.lookup("cuda.tile._compile:compile_tile")  # takes seconds
    except (ImportError, Unknown) as e:
        raise manifest.KeyFault(
            "these puzzles need cuda.tile (pip install cuda-tile): "
            f"{e}") from None


def _refused(kind: str, message: str, line: int = 0) -> Refused:
    found: dict[str, Any] = {"kind": kind, "message": message}
    return Refused([{**found, "line": line} if line else found])


def _is_kept(node: ast.stmt) -> bool:
    """Whether a statement of a learner's file is executed."""
    if isinstance(node, ast.Import):
        return all(name.name == "cuda.tile" for name in node.names)
    if isinstance(node, ast.ImportFrom):
        return node.module == "cuda.tile"
    return isinstance(node, ast.FunctionDef)


def _functions(text: str, file: str) -> dict[str, Any]:
    """The functions of a learner's file by their names."""
    try:
        tree = parsing.tree(text, file)
    except SyntaxError as e:
        raise _refused("syntax", str(e.msg), e.lineno or 0) from None
    for node in ast.walk(tree):
        name = getattr(node, "attr", getattr(node, "id", ""))
        if _STATIC.fullmatch(str(name)):
            raise _refused("forbidden", f"{name!r} may not be used in puzzles:"
                           " it runs Python", getattr(node, "lineno", 0))
    lines = text.splitlines(True)
    linecache.cache[file] = len(text), None, lines, file
    names: dict[str, Any] = {"__name__": "answer"}
    tree = ast.Module([n for n in tree.body if _is_kept(n)], [])
    try:
        exec(compile(tree, file, "exec"), names)
    except Exception as e:
        at = e.__traceback__ and e.__traceback__.tb_next
        raise _refused("name", f"{type(e).__name__}: {e}",
                       at.tb_lineno if at else 0) from None
    return names


class _Arrays:
    """What the converter asks of a case's arrays."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine

    def read(self, _kind: str, array: Any) -> tensors.Layout:
        strides = tuple(s // array.itemsize for s in array.strides)
        return tensors.Layout(array.ctypes.data,
                              self.engine.dtype(str(array.dtype)),
                              array.shape, strides, array.ctypes.data,
                              array.nbytes, 0, 0)


class Tiles:
    """The kernels of a learner's file, converted for what they get."""

    def __init__(self, engine: Engine) -> None:
        load()
        self.engine, self.made = engine, dict[Any, Any]()
        submission = engine.submission
        self.names = _functions(submission.text, submission.name)

    def launch(self, name: str, launch: Launch) -> Running:
        """A Running; raises Refused."""
        kernel = self.names.get(name)
        if not front.is_kernel(kernel):
            raise _refused("name", f"there is no kernel {name!r}: "
                           "@ct.kernel makes one")
        given = self._arguments(kernel, launch)
        sig = front.signature(given.constraints, name)
        key = name, front.key_of(sig)
        if key not in self.made:
            self.made[key] = self._open(kernel, sig, given)
        return _Tile(self.engine, self.made[key], launch, given.leaves)

    def _arguments(self, kernel, launch):
        function, annotations = front.parameters_of(kernel)
        code = function.__code__
        names = code.co_varnames[:code.co_argcount]
        if sorted(names) != sorted(launch.arguments):
            raise _refused(
                "argument", "the kernel is launched with "
                f"{', '.join(launch.arguments)}, and its parameters are "
                f"{', '.join(names)}", code.co_firstlineno)
        values = [launch.arguments[n] for n in names]
        return signature.read(_Arrays(self.engine), names, annotations,
                              [v.array if isinstance(v, data.Buffer) else v
                               for v in values])

    def _open(self, kernel, sig, given):
        """The tk_function of a kernel for a signature."""
        engine = self.engine
        try:
            made = front.read(kernel, sig, given.params, given.names)
            text = form.convert(made).encode()
        except Unknown as e:
            raise _refused("unsupported", str(e)) from None
        except Exception as e:  # what cuda.tile says of the kernel
            loc = getattr(e, "loc", None)
            while loc is not None and loc.filename != engine.submission.name:
                loc = loc.call_site
            raise _refused(_KINDS.get(type(e).__name__, "call"),
                           getattr(e, "message", None) or str(e),
                           loc.line if loc else 0) from None
        found = c_void_p()
        engine.must(engine.lib.tk_ir_open(
            engine.session, f"{made.name}.tk".encode(), text, len(text),
            byref(found)))
        return found


class _Tile(Running):
    """A launch of a converted kernel."""

    def __init__(self, engine: Engine, function: Any, launch: Launch,
                 leaves: list[signature.Leaf]) -> None:
        self.leaves = leaves
        super().__init__(engine, function, launch)

    def _each_argument(self):
        for leaf in self.leaves:
            if leaf.kind == "array":
                yield self._buffer(leaf.name,
                                   self.launch.arguments[leaf.name])
                continue
            kind = form.ELEMENTS[leaf.dtype]
            yield self.lib.tk_launch_scalar(
                self.ptr, leaf.name.encode(), self.engine.dtype(kind),
                form.bits_of(kind, leaf.value))


