"""Values of a random kernel: their types, and texts that make them."""
from __future__ import annotations

from collections.abc import Iterable
from typing import Optional

Shape = tuple[int, ...]

SIGNED = ["int8", "int16", "int32", "int64"]
UNSIGNED = ["uint8", "uint16", "uint32", "uint64"]
INTS = SIGNED + UNSIGNED
FLOATS = ["float16", "bfloat16", "float32", "float64"]
BITS = {"int1": 1, "bfloat16": 16, **{d: int(d.lstrip("uintfloa"))
                                      for d in INTS + FLOATS
                                      if d != "bfloat16"}}
# Integers up to it are exact.
EXACT = {"float16": 2**11, "bfloat16": 2**8, "float32": 2**24,
         "float64": 2**53}
LENGTH = 4096  # of an input
MOST = 1024    # lanes of a block


class Value:
    """A name of a kernel's; bound: of a whole float."""

    def __init__(self, name: str, dtype: str, shape: Shape,
                 bound: int | None = None) -> None:
        self.name, self.dtype, self.shape = name, dtype, shape
        self.bound = bound


Made = Optional[Value]  # by an operation, None: it cannot be here


def lanes(shape: Shape) -> int:
    n = 1
    for size in shape:
        n *= size
    return n


def shown(shape: Iterable[int]) -> str:
    sizes = list(shape)
    return "(" + ", ".join(map(str, sizes)) + (
        ",)" if len(sizes) == 1 else ")")


def plain(dtype: str, shape: Shape) -> str:
    """The text of a value of that type."""
    if shape:
        return f"tl.full({shown(shape)}, 1, tl.{dtype})"
    return f"tl.full([1], 1, tl.{dtype}).sum()" if dtype == "int32" else \
        f"tl.max(tl.full([1], 1, tl.int32), 0).to(tl.{dtype})"


def linear(shape: Shape) -> str:
    """The text of a block's row-major indices."""
    parts, step = [], lanes(shape)
    for axis, size in enumerate(shape):
        step //= size
        at = f"tl.arange(0, {size})"
        if len(shape) > 1:
            at += "[" + ", ".join(":" if i == axis else "None"
                                  for i in range(len(shape))) + "]"
        parts.append(at + (f" * {step}" if step > 1 else ""))
    return " + ".join(parts) if parts else "0"
