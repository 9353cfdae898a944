"""Operations that give each lane of its own lanes alone, and conversions."""
from __future__ import annotations

from typing import TYPE_CHECKING

from . import values
from .operation import (Operations, is_float, is_int, is_mask, is_number,
                        operand, other_int)
from .values import Shape

if TYPE_CHECKING:
    from .generate import Generator
    from .values import Made

operation = Operations()


@operation(8, is_int)
def arithmetic(g: Generator, dtype: str, shape: Shape, depth: int) -> Made:
    a = g.make(other_int(g, dtype), shape, depth)
    op = g.pick(["+", "-", "*", "&", "|", "^", "+", "*"])
    b = operand(g, a.dtype, shape, depth) if g.chance(0.8) else \
        g.make(other_int(g, dtype), shape, depth).name
    if g.chance(0.1):
        return g.put(f"({b} {op} {a.name}).to(tl.{dtype})", dtype, shape)
    return g.put(f"({a.name} {op} {b}).to(tl.{dtype})", dtype, shape)


@operation(3, is_int)
def shifts(g: Generator, dtype: str, shape: Shape, depth: int) -> Made:
    a, b = (g.make(dtype, shape, depth) for _ in range(2))
    by = f"({b.name} & {values.BITS[dtype] - 1})"
    return g.put(f'({a.name} {g.pick(["<<", ">>"])} {by}).to(tl.{dtype})',
                 dtype, shape)


@operation(3, is_int)
def quotients(g: Generator, dtype: str, shape: Shape, depth: int) -> Made:
    a, b = (g.make(dtype, shape, depth) for _ in range(2))
    by = f"({b.name} | 1)" if dtype[0] == "u" else g.pick(
        [f"(({b.name} & 63) | 1)", f"(({b.name} & 7) + 1)", "3", "16", "7"])
    return g.put(f'({a.name} {g.pick(["//", "%"])} {by}).to(tl.{dtype})',
                 dtype, shape)


@operation(3, is_int)
def one_integer(g: Generator, dtype: str, shape: Shape, depth: int) -> Made:
    a = g.make(other_int(g, dtype), shape, depth)
    text = g.pick(["~{}", "-{}", "tl.abs({})", "({} + 1)", "({} * {})"])
    return g.put(f"({text.format(a.name, a.name)}).to(tl.{dtype})", dtype,
                 shape)


@operation(1, lambda dtype, shape: dtype in ("int32", "uint32", "int64",
                                             "uint64"))
def high_product(g: Generator, dtype: str, shape: Shape, depth: int) -> Made:
    a, b = (g.make(dtype, shape, depth) for _ in range(2))
    return g.put(f"tl.umulhi({a.name}, {b.name}).to(tl.{dtype})", dtype,
                 shape)


@operation(3, is_number)
def extremes(g: Generator, dtype: str, shape: Shape, depth: int) -> Made:
    a = g.make(dtype, shape, depth)
    b = g.make(dtype, shape, depth)
    op = g.pick(["minimum", "maximum"])
    return g.put(f"tl.{op}({a.name}, {b.name}).to(tl.{dtype})", dtype, shape)


@operation(6, is_float)
def float_arithmetic(g: Generator, dtype: str, shape: Shape,
                     depth: int) -> Made:
    a = g.make(dtype, shape, depth)
    b = operand(g, dtype, shape, depth)
    return g.put(f'({a.name} {g.pick("+-*")} {b}).to(tl.{dtype})', dtype,
                 shape)


@operation(2, is_float)
def one_float(g: Generator, dtype: str, shape: Shape, depth: int) -> Made:
    a = g.make(dtype, shape, depth)
    text = g.pick(["(-{0})", "tl.abs({0})", "({0} * 0.5)", "({0} + 1)"])
    return g.put(f"{text.format(a.name)}.to(tl.{dtype})", dtype, shape)


@operation(2, lambda dtype, shape: dtype in ("float32", "float64"))
def fused(g: Generator, dtype: str, shape: Shape, depth: int) -> Made:
    a, b, c = (g.make(dtype, shape, depth) for _ in range(3))
    return g.put(f"tl.fma({a.name}, {b.name}, {c.name})", dtype, shape)


@operation(2, lambda dtype, shape: dtype == "float32")
def rounded_functions(g: Generator, dtype: str, shape: Shape,
                      depth: int) -> Made:
    a = g.make(dtype, shape, depth)
    if g.chance(0.4):
        return g.put(f"tl.sqrt_rn(tl.abs({a.name}))", dtype, shape)
    b = g.make(dtype, shape, depth)
    return g.put(f"tl.div_rn({a.name}, {b.name})", dtype, shape)


@operation(1, lambda dtype, shape: dtype in ("float32", "float64"))
def steps(g: Generator, dtype: str, shape: Shape, depth: int) -> Made:
    a = g.whole(dtype, shape, depth, 256)
    return g.put(f'tl.{g.pick(["floor", "ceil"])}({a.name} * 0.25)', dtype,
                 shape)


@operation(4, is_number)
def choice(g: Generator, dtype: str, shape: Shape, depth: int) -> Made:
    c = g.mask(shape, depth)
    a = g.make(dtype, shape, depth)
    b = operand(g, dtype, shape, depth)
    return g.put(f"tl.where({c.name}, {a.name}, {b}).to(tl.{dtype})", dtype,
                 shape)


@operation(5, is_mask)
def comparison(g: Generator, dtype: str, shape: Shape, depth: int) -> Made:
    d = g.some_dtype()
    a = g.make(d, shape, depth)
    b = operand(g, d, shape, depth)
    op = g.pick(["<", "<=", ">", ">=", "==", "!="])
    return g.put(f"{a.name} {op} {b}", "int1", shape)


@operation(2, is_mask)
def logic(g: Generator, dtype: str, shape: Shape, depth: int) -> Made:
    a, b = (g.mask(shape, depth) for _ in range(2))
    return g.put(g.pick([f"{a.name} & {b.name}", f"{a.name} | {b.name}",
                         f"{a.name} ^ {b.name}", f"~{a.name}"]), "int1",
                 shape)


@operation(4, is_number)
def converted(g: Generator, dtype: str, shape: Shape, depth: int) -> Made:
    wide = values.INTS + (values.FLOATS if is_float(dtype) else [])
    a = g.make(g.pick(wide + ["int1"]), shape, depth)
    return g.put(f"{a.name}.to(tl.{dtype})", dtype, shape)


@operation(1, is_int, "floats")
def cut_float(g: Generator, dtype: str, shape: Shape, depth: int) -> Made:
    """A whole float, or one with a half, to an integer."""
    d = g.pick(["float16", "bfloat16", "float32", "float64"])
    bound = 64
    a = g.whole(d, shape, depth, bound)
    size = f"tl.abs({a.name})" if dtype[0] == "u" else a.name
    half = g.pick(["", " * 0.5", " + 0.25"])
    return g.put(f"({size}{half}).to(tl.{dtype})", dtype, shape)


BITCASTS = {"float32": "int32", "float64": "int64", "float16": "int16",
            "uint32": "int32", "int32": "uint32", "int16": "uint16",
            "bfloat16": "uint16", "uint64": "int64", "int8": "uint8"}


@operation(1, lambda dtype, shape: dtype in BITCASTS)
def same_bits(g: Generator, dtype: str, shape: Shape, depth: int) -> Made:
    a = g.make(BITCASTS[dtype], shape, depth)
    return g.put(f"{a.name}.to(tl.{dtype}, bitcast=True)", dtype, shape)


@operation(1, lambda dtype, shape: dtype in ("int32", "int64"), "floats")
def bits_of_float(g: Generator, dtype: str, shape: Shape, depth: int) -> Made:
    """Of one that is not NaN."""
    a = g.whole(dtype.replace("int", "float"), shape, depth, 1024)
    return g.put(f"({a.name} * 0.375).to(tl.{dtype}, bitcast=True)", dtype,
                 shape)


@operation(1, lambda dtype, shape: dtype in ("float16", "bfloat16",
                                             "float32"), "floats fp8")
def eight_bits(g: Generator, dtype: str, shape: Shape, depth: int) -> Made:
    """To a float of eight bits, and back."""
    a = g.whole(g.pick(["float16", "float32", "bfloat16"]), shape, depth, 64)
    eight = g.pick(["float8e5"] + ["float8e4nv"] * (
        "fp8e4nv" in g.features))
    return g.put(f"({a.name} * 0.375).to(tl.{eight}).to(tl.{dtype})", dtype,
                 shape)
