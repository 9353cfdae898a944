"""Reductions and scans along an axis, sorting, counting."""
from __future__ import annotations

from typing import TYPE_CHECKING

from . import values
from .operation import (Operations, both, is_block, is_float, is_int,
                        is_number, other_int)
from .values import Shape

if TYPE_CHECKING:
    from .generate import Generator
    from .values import Made

operation = Operations()


def longer(g: Generator, shape: Shape) -> tuple[Shape | None, int]:
    """A shape with one more axis, and the axis."""
    axis = g.below(len(shape) + 1)
    most = values.MOST // values.lanes(shape)
    if len(shape) > 2 or most < 2:
        return None, axis
    n = 2**(1 + g.below(min(8, most.bit_length() - 1)))
    return shape[:axis] + (n,) + shape[axis:], axis


@operation(4, is_int, "reductions")
def reduced(g: Generator, dtype: str, shape: Shape, depth: int) -> Made:
    wide, axis = longer(g, shape)
    if wide is None:
        return None
    a = g.make(other_int(g, dtype), wide, depth)
    text = g.pick([
        f"tl.sum({a.name}, {axis})", f"tl.sum({a.name}, axis={axis})",
        f"tl.max({a.name}, {axis})", f"tl.min({a.name}, {axis})",
        f"tl.xor_sum({a.name}, {axis})",
        f"tl.argmax({a.name}, {axis})", f"tl.argmin({a.name}, {axis})",
        f"tl.max({a.name}, {axis}, return_indices=True)[1]",
        f"tl.reduce({a.name}, {axis}, add2)",
        f"tl.reduce({a.name}, {axis}, xor2)",
        f"tl.reduce({a.name}, {axis}, greater)"])
    return g.put(f"{text}.to(tl.{dtype})", dtype, shape)


@operation(2, is_int, "reductions")
def reduced_pair(g: Generator, dtype: str, shape: Shape, depth: int) -> Made:
    wide, axis = longer(g, shape)
    if wide is None:
        return None
    by = g.pick(["sum_and_most", "first_least"])
    a = g.make("int32", wide, depth)
    b = g.make("int32" if by == "first_least" else other_int(g, dtype), wide,
               depth)
    return g.put(f"tl.reduce(({a.name}, {b.name}), {axis}, {by})"
                 f"[{g.below(2)}].to(tl.{dtype})", dtype, shape)


@operation(2, is_float, "reductions")
def reduced_floats(g: Generator, dtype: str, shape: Shape, depth: int) -> Made:
    """Extremes of any floats, sums of whole ones."""
    wide, axis = longer(g, shape)
    if wide is None:
        return None
    if g.chance(0.5):
        a = g.make(dtype, wide, depth)
        op = g.pick(["max", "min"])
        return g.put(f"tl.{op}({a.name}, {axis}).to(tl.{dtype})", dtype,
                     shape)
    d = g.pick(["float32", "float64", "float16"])
    a = g.whole(d, wide, depth, 4 if d == "float16" else 64)
    if d == "float16" and wide[axis] > 256:
        return None
    return g.put(f"tl.sum({a.name}, {axis}).to(tl.{dtype})", dtype, shape)


@operation(1, is_int, "reductions floats")
def best_of_floats(g: Generator, dtype: str, shape: Shape, depth: int) -> Made:
    wide, axis = longer(g, shape)
    if wide is None:
        return None
    a = g.whole(g.pick(["float32", "float16", "bfloat16"]), wide, depth, 32)
    op = g.pick(["argmax", "argmin"])
    return g.put(f"tl.{op}({a.name}, {axis}).to(tl.{dtype})", dtype, shape)


def long_axis(g: Generator, shape: Shape) -> int | None:
    """Triton 3.6 scans blocks with an axis of one lane wrongly, or does not
    compile that."""
    return None if 1 in shape else g.below(len(shape))


@operation(3, both(is_int, is_block), "scans")
def scanned(g: Generator, dtype: str, shape: Shape, depth: int) -> Made:
    axis = long_axis(g, shape)
    if axis is None:
        return None
    a = g.make(dtype, shape, depth)
    back = g.pick(["", ", reverse=True"])
    text = g.pick([
        f"tl.cumsum({a.name}, {axis}{back})",
        f"tl.cumprod({a.name}, {axis}{back})",
        f"tl.associative_scan({a.name}, {axis}, greater{back})",
        f"tl.associative_scan({a.name}, {axis}, xor2{back})",
        f"tl.associative_scan({a.name}, {axis}, later{back})"])
    return g.put(f"{text}.to(tl.{dtype})", dtype, shape)


@operation(1, both(is_int, is_block), "scans")
def scanned_pair(g: Generator, dtype: str, shape: Shape, depth: int) -> Made:
    axis = long_axis(g, shape)
    if axis is None:
        return None
    a, b = (g.make("int32", shape, depth) for _ in range(2))
    back = g.pick(["", ", reverse=True"])
    return g.put(f"tl.associative_scan(({a.name}, {b.name}), {axis}, "
                 f"affine{back})[{g.below(2)}].to(tl.{dtype})", dtype, shape)


@operation(1, lambda dtype, shape: is_float(dtype) and shape
           and dtype in ("float32", "float64"))
def summed_up(g: Generator, dtype: str, shape: Shape, depth: int) -> Made:
    axis = long_axis(g, shape)
    if axis is None:
        return None
    a = g.whole(dtype, shape, depth, 64)
    return g.put(f"tl.cumsum({a.name}, {axis})", dtype, shape)


@operation(1, both(is_number, is_block), "sorts")
def sorted_lanes(g: Generator, dtype: str, shape: Shape, depth: int) -> Made:
    if is_float(dtype):
        a = g.whole(dtype, shape, depth, 64)
    else:
        a = g.make(dtype, shape, depth)
    how = g.pick(["", ", descending=True"])
    return g.put(f"tl.sort({a.name}{how})", dtype, shape)


@operation(1, lambda dtype, shape: is_int(dtype) and len(shape) == 1
           and shape[0] > 1)
def histogram(g: Generator, dtype: str, shape: Shape, depth: int) -> Made:
    of = g.pick([s for s in g.shapes if len(s) == 1] + [(64,)])
    mask = f", mask={g.mask(of, depth).name}" if g.chance(0.3) else ""
    return g.put(f"tl.histogram({g.index(of, shape[0], depth)}, {shape[0]}"
                 f"{mask}).to(tl.{dtype})", dtype, shape)


@operation(1, lambda dtype, shape: is_int(dtype) and not shape, "reductions")
def of_both_blocks(g: Generator, dtype: str, shape: Shape, depth: int) -> Made:
    """tl.cat may give its lanes in any order."""
    of = g.pick([s for s in g.shapes if len(s) == 1])
    a, b = (g.make(dtype, of, depth) for _ in range(2))
    op = g.pick(["tl.sum", "tl.max", "tl.xor_sum"])
    return g.put(f"{op}(tl.cat({a.name}, {b.name}, can_reorder=True), 0)"
                 f".to(tl.{dtype})", dtype, shape)


@operation(1, lambda dtype, shape: dtype in ("uint32", "int32") and shape)
def philox(g: Generator, dtype: str, shape: Shape, depth: int) -> Made:
    a = g.make("int32", shape, depth)
    return g.put(f"tl.randint({g.below(1000)}, {a.name}).to(tl.{dtype})",
                 dtype, shape)
