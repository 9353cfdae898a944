"""Operations that move lanes: other shapes, other places."""
from __future__ import annotations

from typing import TYPE_CHECKING

from . import values
from .operation import Operations, both, is_block, is_number
from .kernel import Statement
from .values import Shape

if TYPE_CHECKING:
    from .generate import Generator
    from .values import Made

operation = Operations("shapes")


@operation(3, is_block)
def reshaped(g: Generator, dtype: str, shape: Shape, depth: int) -> Made:
    same = [s for s in g.shapes if values.lanes(s) == values.lanes(shape)
            and s != shape]
    if not same:
        return None
    a = g.make(dtype, g.pick(same), depth)
    return g.put(f"tl.reshape({a.name}, {values.shown(shape)})", dtype,
                 shape)


@operation(3, lambda dtype, shape: len(shape) > 1)
def permuted(g: Generator, dtype: str, shape: Shape, depth: int) -> Made:
    axes = list(range(len(shape)))
    for i in range(len(axes) - 1, 0, -1):
        j = g.below(i + 1)
        axes[i], axes[j] = axes[j], axes[i]
    before = [0] * len(shape)
    for i, axis in enumerate(axes):
        before[axis] = shape[i]
    a = g.make(dtype, tuple(before), depth)
    if len(shape) == 2 and axes == [1, 0] and g.chance(0.5):
        return g.put(f"tl.trans({a.name})", dtype, shape)
    return g.put(f"tl.permute({a.name}, {values.shown(axes)})", dtype,
                 shape)


@operation(2, is_block)
def broadcast(g: Generator, dtype: str, shape: Shape, depth: int) -> Made:
    if g.chance(0.2):
        a = g.make(dtype, (), depth)
        return g.put(f"tl.broadcast_to({a.name}, {values.shown(shape)})",
                     dtype, shape)
    axis = g.below(len(shape))
    a = g.make(dtype, tuple(1 if i == axis else n
                            for i, n in enumerate(shape)), depth)
    return g.put(f"tl.broadcast_to({a.name}, {values.shown(shape)})", dtype,
                 shape)


@operation(3, lambda dtype, shape: len(shape) > 1 and 1 in shape)
def expanded(g: Generator, dtype: str, shape: Shape, depth: int) -> Made:
    axis = g.pick([i for i, n in enumerate(shape) if n == 1])
    a = g.make(dtype, shape[:axis] + shape[axis + 1:], depth)
    if g.chance(0.5):
        return g.put(f"tl.expand_dims({a.name}, {axis})", dtype, shape)
    at = ", ".join("None" if i == axis else ":" for i in range(len(shape)))
    return g.put(f"{a.name}[{at}]", dtype, shape)


@operation(2, lambda dtype, shape: shape and shape[-1] == 2)
def joined(g: Generator, dtype: str, shape: Shape, depth: int) -> Made:
    a, b = (g.make(dtype, shape[:-1], depth) for _ in range(2))
    if not shape[:-1]:
        return None
    return g.put(f"tl.join({a.name}, {b.name})", dtype, shape)


@operation(1, lambda dtype, shape: shape and shape[-1] > 1)
def interleaved(g: Generator, dtype: str, shape: Shape, depth: int) -> Made:
    half = shape[:-1] + (shape[-1] // 2,)
    a, b = (g.make(dtype, half, depth) for _ in range(2))
    return g.put(f"tl.interleave({a.name}, {b.name})", dtype, shape)


@operation(1, is_block)
def split(g: Generator, dtype: str, shape: Shape, depth: int) -> Made:
    if values.lanes(shape) * 2 > values.MOST or len(shape) > 2:
        return None
    a = g.make(dtype, shape + (2,), depth)
    left, right = (values.Value(g.new_name(), dtype, shape)
                   for _ in range(2))
    g.body.append(Statement(f"{left.name}, {right.name} = tl.split({a.name})",
                            {v.name: values.plain(dtype, shape)
                             for v in (left, right)}))
    g.scopes[-1] += [left, right]
    return g.pick([left, right])


@operation(1, both(is_number, is_block))
def flipped(g: Generator, dtype: str, shape: Shape, depth: int) -> Made:
    if shape == (1,):  # Triton 3.6 does not compile it
        return None
    a = g.make(dtype, shape, depth)
    return g.put(f"tl.flip({a.name}, {g.below(len(shape))})", dtype, shape)


@operation(2, both(is_number, is_block))
def gathered(g: Generator, dtype: str, shape: Shape, depth: int) -> Made:
    axis = g.below(len(shape))
    if shape[axis] < 2 and len(shape) == 1:
        return None
    a = g.make(dtype, shape, depth)
    return g.put(f"tl.gather({a.name}, {g.index(shape, shape[axis], depth)}, "
                 f"{axis})", dtype, shape)
