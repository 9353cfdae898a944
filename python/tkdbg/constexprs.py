"""Python functions that run while a kernel is compiled."""
from __future__ import annotations

import dis
import functools
import types
from collections.abc import Callable
from typing import Any

from . import tltypes as tl_types


class ConstexprFunction:
    """A Python function that kernels call while they are compiled."""

    def __init__(self, fn: Callable[..., Any]) -> None:
        self.fn = fn
        functools.update_wrapper(self, fn)

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        if instance is None:
            return self
        return BoundConstexprFunction(instance, self)

    def __call__(self, *args: Any, _semantic: Any = None, **kwargs: Any) -> Any:
        return self.fn(*map(tl_types.unwrap, args),
                       **{k: tl_types.unwrap(v) for k, v in kwargs.items()})


class KnownType(tl_types.constexpr):
    """A dtype in a constexpr, that answers as the dtype too: functions that
    run at compile time are given either."""

    def __getattr__(self, name: str) -> Any:
        return getattr(self.value, name)


class PlainFunction:
    """A Python function without decorator that kernels reach through a
    constexpr or a module: it sees its arguments as the compiler does."""

    def __init__(self, fn: Callable[..., Any]) -> None:
        self.fn = fn
        self.__name__ = fn.__name__

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.fn(*map(_compiler_value, args),
                       **{k: _compiler_value(v) for k, v in kwargs.items()})


def _compiler_value(value):
    # An installed Triton has a class of its own for them.
    if any(c.__name__ == "dtype" for c in type(value).__mro__):
        return KnownType(value)
    return value if isinstance(value, tuple) else tl_types.constexpr(value)


COMPILER = ("_semantic", "_generator")  # parameters that Triton fills in


def python_function(value: Any) -> Any:
    """The Python function behind one that kernels may call; None."""
    value = getattr(value, "__func__", value)  # of a method
    while not isinstance(value, types.FunctionType):
        value = getattr(value, "fn", None)
        if value is None:
            return None
    while hasattr(value, "__wrapped__"):  # triton.language.core.builtin
        value = value.__wrapped__
    return value if isinstance(value, types.FunctionType) else None


def wants_compiler(value: Any) -> bool:
    """Whether value is a user's @triton.language.core.builtin that does more
    with the compiler than to take it as a parameter."""
    if not (isinstance(value, types.FunctionType) and
            getattr(value, "__triton_builtin__", False)):
        return False
    code = python_function(value).__code__
    return any(i.opname.startswith("LOAD") and name in str(i.argval)
               for name in COMPILER if name in code.co_varnames
               for i in dis.get_instructions(code))


class BoundConstexprFunction:
    """A ConstexprFunction as method."""

    def __init__(self, instance: Any, function: Any) -> None:
        self.__self__ = instance
        self.__func__ = function

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.__func__(self.__self__, *args, **kwargs)


def constexpr_function(fn: Callable[..., Any]) -> ConstexprFunction:
    return ConstexprFunction(fn)
