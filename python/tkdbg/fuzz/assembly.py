"""Inline assembly."""
from __future__ import annotations

from typing import TYPE_CHECKING

from . import values
from .operation import Operations
from .values import Shape

if TYPE_CHECKING:
    from .generate import Generator
    from .values import Made

operation = Operations("assembly")


# Text, how many operands.
ASSEMBLY = [
    ("lop3.b32 $0, $1, $2, $3, 0x96;", 3),
    ("lop3.b32 $0, $1, $2, $3, 0xca;", 3),
    ("mad.lo.s32 $0, $1, $2, $3;", 3), ("prmt.b32 $0, $1, $2, 0x4150;", 2),
    ("prmt.b32 $0, $1, $2, 0x9c32;", 2), ("bfe.s32 $0, $1, 5, 9;", 1),
    ("bfi.b32 $0, $1, $2, 3, 11;", 2), ("popc.b32 $0, $1;", 1),
    ("brev.b32 $0, $1;", 1), ("clz.b32 $0, $1;", 1), ("bfind.s32 $0, $1;", 1),
    ("shf.l.wrap.b32 $0, $1, $2, $3;", 3), ("sad.s32 $0, $1, $2, $3;", 3),
    ("dp4a.s32.u32 $0, $1, $2, $3;", 3), ("mul.hi.s32 $0, $1, $2;", 2),
    ("{ .reg .pred p; setp.lt.s32 p, $1, $2; selp.b32 $0, $3, $1, p; }", 3),
    ("{ .reg .b32 t; mul.lo.s32 t, $1, $2; xor.b32 $0, t, $1; }", 2)]


@operation(1.5, lambda dtype, shape: shape and dtype in ("int32", "uint32"))
def assembly(g: Generator, dtype: str, shape: Shape, depth: int) -> Made:
    text, count = g.pick(ASSEMBLY)
    return in_assembly(g, text, count, "r", 1, dtype, shape, depth)


@operation(0.7, lambda dtype, shape: shape and dtype in (
    "int8", "uint8", "int16", "uint16"))
def packed_assembly(g: Generator, dtype: str, shape: Shape, depth: int) -> Made:
    """A register of two or four lanes."""
    pack = 32 // values.BITS[dtype]
    if values.lanes(shape) < 512:  # less than a register in some thread
        pack = 1
    text, count = g.pick([("lop3.b32 $0, $1, $2, $3, 0xd8;", 3),
                          ("xor.b32 $0, $1, $2;", 2), ("not.b32 $0, $1;", 1)])
    return in_assembly(g, text, count, "r", pack, dtype, shape, depth)


@operation(0.7, lambda dtype, shape: shape and dtype == "float32")
def float_assembly(g: Generator, dtype: str, shape: Shape, depth: int) -> Made:
    text, count = g.pick([("fma.rn.f32 $0, $1, $2, $3;", 3),
                          ("max.f32 $0, $1, $2;", 2),
                          ("neg.f32 $0, $1;", 1)])
    return in_assembly(g, text, count, "f", 1, dtype, shape, depth)


def in_assembly(g: Generator, text: str, count: int, letter: str, pack: int,
                dtype: str, shape: Shape, depth: int) -> Made:
    args = [g.make(dtype, shape, depth).name for _ in range(count)]
    bounds = ",".join(["=" + letter] + [letter] * count)
    return g.put(f'tl.inline_asm_elementwise("{text}", "{bounds}", '
                 f'[{", ".join(args)}], tl.{dtype}, True, {pack})', dtype,
                 shape)
