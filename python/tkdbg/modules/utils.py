"""triton._utils and small functions of triton.runtime.jit that projects
import."""
from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from .. import binder, tltypes


def get_iterable_path(iterable: Any, path: Sequence[int]) -> Any:
    """iterable[path[0]][path[1]]..."""
    return functools.reduce(lambda found, i: found[i], path, iterable)


def set_iterable_path(iterable: Any, path: Sequence[int], val: Any) -> None:
    """Assigns to an item of nested tuples of the language."""
    assert path
    get_iterable_path(iterable, path[:-1])._setitem(path[-1], val)


def find_paths_if(iterable: Any, pred: Callable[..., Any]) -> list[Any]:
    """The paths of all items, tuples entered, with pred(path, item)."""
    found = []

    def look(path, item):
        if isinstance(item, (list, tuple)) or tltypes.is_tl_tuple_class(
                type(item)):
            for i, part in enumerate(item):
                look((*path, i), part)
        elif pred(path, item):
            found.append(path)
    look((), iterable)
    return found


def is_power_of_two(x: Any) -> bool:
    return x & (x - 1) == 0


def is_namedtuple(val: Any) -> bool:
    """Whether a class is one of collections.namedtuple's."""
    return (isinstance(val, type) and issubclass(val, tuple) and
            hasattr(val, "_fields"))


def canonicalize_dtype(dtype: Any) -> Any:
    """A signature's name of a dtype of PyTorch, NumPy or Triton."""
    return binder.normalise(str(dtype).rpartition(".")[2])


def canonicalize_ptr_dtype(dtype: Any, is_const: Any) -> Any:
    return ("*k" if is_const else "*") + canonicalize_dtype(dtype)


def get_primitive_bitwidth(dtype: str) -> int:
    """The bits of a type by its name in signatures; 0 for "void"."""
    if dtype == "void":
        return 0
    return tltypes.str_to_ty(dtype).primitive_bitwidth


def get_full_name(fn: Any) -> Any:
    return f"{fn.__module__}.{fn.__qualname__}"


def get_jit_fn_file_line(fn: Any) -> Any:
    """(file, line of its ``def``) of a jit function or what wraps one."""
    while not hasattr(fn, "raw_src"):
        fn = fn.fn
    line = fn.starting_line_number
    for i, text in enumerate(fn.raw_src):
        if text.strip().startswith("def "):
            line += i
            break
    return fn.fn.__code__.co_filename, line


def convert_to_tuple_if_list(item: Any) -> Any:
    """Lists as tuples, at any depth."""
    if not isinstance(item, list):
        return item
    return tuple(map(convert_to_tuple_if_list, item))


def absent(what: str, instead: str) -> Callable[..., Any]:
    """A function of Triton's compiler that tkdbg has no use for."""
    def function(*args, **kwargs):
        raise NotImplementedError(
            f"{what}: tkdbg makes no GPU code; {instead}")
    function.__name__ = what.rpartition(".")[2]
    return function
