"""Products of matrices."""
from __future__ import annotations

from typing import TYPE_CHECKING

from .operation import Operations
from .values import Shape

if TYPE_CHECKING:
    from .generate import Generator
    from .values import Made

operation = Operations("dots")


DOTS = {"float32": ["float16", "bfloat16", "float32", "float8e5"],
        "int32": ["int8"], "float64": ["float64"]}


@operation(6, lambda dtype, shape: dtype in DOTS and len(shape) == 2
           and min(shape) >= 16)
def product(g: Generator, dtype: str, shape: Shape, depth: int) -> Made:
    of = g.pick([d for d in DOTS[dtype] if "fp8" in g.features or
                 d != "float8e5"])
    k = g.pick([16, 32, 64] if of in ("float16", "bfloat16", "float32",
                                      "float64") else [32, 64])
    if max(shape) * k > 4096:
        return None
    eight = of == "float8e5"
    made = "float16" if eight else of
    sides = []
    for side in ((shape[0], k), (k, shape[1])):
        turned = g.chance(0.4)
        v = g.whole(made, side[::-1] if turned else side, depth, 8)
        text = f"tl.trans({v.name})" if turned else v.name
        sides.append(text + (".to(tl.float8e5)" if eight else ""))
    acc = ""
    if g.chance(0.4):
        kind = g.make("int32", shape, depth) if of == "int8" else \
            g.whole(dtype, shape, depth, 1024)
        acc = f", {kind.name}"
    how = ""
    if of in ("int8", "float64"):
        how = f", out_dtype=tl.{dtype}"
    elif of == "float32" and g.chance(0.5):
        how = ', input_precision="ieee"'
    return g.put(f'tl.dot({", ".join(sides)}{acc}{how})', dtype, shape)
