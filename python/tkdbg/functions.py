"""Functions decorated with @triton.jit, as everybody below a launch knows
them: what has ``fn[grid]``, what has a kernel's text, how to recognise one.
"""
from __future__ import annotations

import ast
import functools
import hashlib
import inspect
import itertools
import types
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from . import parsing, source
from . import tltypes as tl_types
from .scope import trees_of
from .wrappers import MockTensor

if TYPE_CHECKING:
    from .session import Session
    from .source import Source


class KernelInterface:
    """What has ``fn[grid](...)``: jit functions, autotuners, heuristics."""

    def run(self, *args: Any, grid: Any, warmup: Any, **kwargs: Any) -> Any:
        raise NotImplementedError("run not implemented")

    def warmup(self, *args: Any, grid: Any, **kwargs: Any) -> Any:
        """Compiles for these arguments; runs nothing."""
        return self.run(*map(MockTensor.wrap_dtype, args), grid=grid,
                        warmup=True, **kwargs)

    def __getitem__(self, grid: Any) -> Any:
        return functools.partial(self.run, grid=grid, warmup=False)


class JITCallable:
    """A Python function that kernels can call: its source, and what scripts
    ask about it.  ``scope`` and ``open`` come with JITFunction."""

    def __init__(self, fn: Callable[..., Any],
                 source_: Source | None = None) -> None:
        """source_: the source.Source of fn, if it is known already."""
        self.fn = fn
        self.signature = inspect.signature(fn)
        self._source = source.find(fn) if source_ is None else source_
        self._src = None
        self._fn_name = f"{fn.__module__}.{fn.__qualname__}"
        self.hash: Any = None
        self.used_global_vals: dict[Any, Any] = {}
        self.__doc__ = fn.__doc__
        self.__name__ = fn.__name__
        self.__qualname__ = fn.__qualname__
        self.__globals__ = fn.__globals__
        self.__module__ = fn.__module__

    @functools.cached_property
    def raw_src(self) -> list[str]:
        """The lines of the function, decorators included."""
        return source.lines_of(self._source)[0]

    @property
    def starting_line_number(self) -> int:
        return self._source.line

    @property
    def file_name(self) -> str:
        return self._source.name

    @property
    def def_file_line_number(self) -> int:
        """The line of ``def``, below the decorators."""
        return self.starting_line_number + self._def()

    @property
    def def_file_col_number(self) -> int:
        """The column of ``def``; the first is 1."""
        line = self.raw_src[self._def()]
        return len(line) - len(line.lstrip()) + 1

    def _def(self):
        """Which of the function's lines has ``def``."""
        return next((i for i, line in enumerate(self.raw_src)
                     if line.strip().startswith("def ")), 0)

    @property
    def src(self) -> str:
        """The text from ``def`` on."""
        if self._src is None:
            return source.without_decorators(self.raw_src)
        return self._src

    @src.setter
    def src(self, _: str) -> None:
        raise AttributeError("Cannot set attribute 'src' directly. Use "
                             "'_unsafe_update_src()'.")

    def _unsafe_update_src(self, text):
        self._src = text
        self.hash = None

    @property
    def cache_key(self) -> str:
        """A hash of the text and of those of all functions that it names;
        scripts that set ``hash`` to None have it made again."""
        if self.hash is None:
            self.hash = f"recursion:{self._fn_name}"
            text = f"{self._fn_name}:{self.starting_line_number}:{self.src}"
            keys = [function.cache_key for function in self.named()]
            self.hash = hashlib.sha256("\n".join(
                [text, *keys]).encode()).hexdigest()
        return self.hash

    def named(self) -> Iterator[Any]:
        """The jit functions that the text names, perhaps in a module."""
        scope = self.get_capture_scope()
        for node in itertools.chain(*map(ast.walk, trees_of(self.src))):
            path = []
            while isinstance(node, ast.Attribute):
                path.append(node.attr)
                node = node.value
            if isinstance(node, ast.Name):
                value = scope.get(node.id)
                for name in reversed(path):
                    holds = isinstance(value, (types.ModuleType, type))
                    value = getattr(value, name, None) if holds else None
                if isinstance(value, JITCallable) and value is not self:
                    yield value

    def parse(self) -> ast.Module:
        return parsing.tree(self.src)

    def get_capture_scope(self) -> dict[Any, Any]:
        return {**self.__globals__,
                **inspect.getclosurevars(self.fn).nonlocals}

    @property
    def type(self) -> Any:
        return tl_types.constexpr_type(self)


# ---- recognising jit functions ----------------------------------------------

MAX_WRAPPERS = 8


def is_jit_class(cls: type) -> bool:
    return (issubclass(cls, KernelInterface) or
            cls.__name__ in ("JITFunction", "Autotuner", "Heuristics"))


def as_python_function(session: Session, function: Callable[..., Any]) -> Any:
    """What holds the text of a Python function that kernels call."""
    found = session.compiling.python_functions.get(function)
    if found is None:
        found = session.compiling.python_functions[function] = (
            session.compiling.function_class(function))
    return found


def as_jit_function(session: Session, value: Any) -> Any:
    """The jit function inside value (autotuners and the like), or None."""
    if isinstance(value, (type, int, float, str, tuple, list, dict)):
        return None
    for _ in range(MAX_WRAPPERS):
        if isinstance(value, JITCallable):
            return value
        adopted = session.real.adopt(value)
        if adopted is not None:
            return adopted
        value = getattr(value, "fn", None)
        if value is None or inspect.isfunction(value):
            return None
    return None


def inside(session: Session, value: Any) -> Iterator[Any]:
    """The jit functions that a value is, or that are items of a tuple."""
    value = tl_types.unwrap(value)
    if isinstance(value, (tuple, list)):
        for item in value:
            yield from inside(session, item)
        return
    function = as_jit_function(session, value)
    if function is not None:
        yield function
