"""Loads, stores and atomic operations."""
from __future__ import annotations

from typing import TYPE_CHECKING

from . import values
from .kernel import Statement
from .values import Shape, Value

if TYPE_CHECKING:
    from .generate import Generator


def load(g: Generator, dtype: str, shape: Shape) -> Value:
    x = g.pointer(g.tensor(dtype, values.LENGTH, "any"), dtype)
    if not shape:
        return g.put(f"tl.load({x} + {g.index((), values.LENGTH)})", dtype,
                     shape)
    kind = g.below(8)
    if kind == 0 and len(shape) == 2:
        return through_window(g, x, dtype, shape)
    if fits_descriptor(g, dtype, shape) and g.chance(0.05):
        return through_descriptor(g, x, dtype, shape)
    where = values.linear(shape)
    if kind < 3:
        where = g.index(shape, values.LENGTH)
    elif kind == 3 and len(shape) == 2:
        where = (f"tl.arange(0, {shape[0]})[:, None] + "
                 f"tl.arange(0, {shape[1]})[None, :] * {shape[0]}")
    elif kind == 4:
        where = f"({where} + pid * {1 + g.below(64)}) & {values.LENGTH - 1}"
    how = g.pick([""] * 6 + [', cache_modifier=".cg"',
                             ', eviction_policy="evict_last"',
                             ", volatile=True"])
    if g.chance(0.4):
        other = g.pick(["0", "1", g.make(dtype, shape, 0).name])
        how = f", mask={g.mask(shape).name}, other={other}" + how
    return g.put(f"tl.load({x} + ({where}){how})", dtype, shape)


def fits_descriptor(g: Generator, dtype: str, shape: Shape) -> bool:
    """Rows of 16 bytes or more."""
    return "descriptors" in g.features and len(shape) in (1, 2) and (
        shape[-1] * values.BITS[dtype] >= 128)


def through_descriptor(g: Generator, x: str, dtype: str,
                       shape: Shape) -> Value:
    """Of a tensor whose end, or beginning, the block may cross; what is not
    there is 0.  Triton's copies end in a fault where a block begins within 16
    bytes of a row."""
    length = values.LENGTH
    sizes: list[int] = []
    for n in reversed(shape):
        wide = 16 * -(-g.pick([n, n // 2 + 1, 2 * n]) // 16)
        sizes.insert(0, min(wide, length) if len(sizes) == 0
                     else max(1, min(g.pick([n, n // 2 + 1, 2 * n]), length)))
        length //= sizes[0]
    strides = [sizes[1], 1] if len(shape) == 2 else [1]
    steps = [1] * (len(shape) - 1) + [128 // values.BITS[dtype]]
    at = [g.pick(["0", f"{k}", f"(pid & 1) * {k}", f"-{k}",
                  f"{n // 2 // k * k}"]) for n, k in zip(shape, steps)]
    return g.put(f"tl.make_tensor_descriptor({x}, {sizes}, {strides}, "
                 f'{list(shape)}).load([{", ".join(at)}])', dtype, shape)


def through_window(g: Generator, x: str, dtype: str, shape: Shape) -> Value:
    """A part of a matrix, with zeros for what is outside."""
    rows = g.pick([shape[0], max(1, shape[0] // 2 + 1), shape[0] * 2])
    columns = g.pick([shape[1], max(1, shape[1] // 2 + 1)])
    while rows * columns > values.LENGTH:
        rows //= 2
    down = g.pick(["0", "1", "(pid & 1)"])
    i = f"(tl.arange(0, {shape[0]})[:, None] + {down})"
    j = f"tl.arange(0, {shape[1]})[None, :]"
    return g.put(f"tl.load({x} + {i} * {columns} + {j}, "
                 f"mask=({i} < {rows}) & ({j} < {columns}), other=0)",
                 dtype, shape)


def store(g: Generator) -> None:
    """A value into a tensor of its own, each lane at a place of its own."""
    shape = g.some_shape() if g.chance(0.9) else ()
    dtype = g.some_dtype()
    v = g.make(dtype, shape, 3)
    n = values.lanes(shape)
    y = g.tensor(dtype, n * g.programs, "any", "y")
    g.kernel.outputs[y] = dtype
    if fits_descriptor(g, dtype, shape) and g.chance(0.1):
        sizes = [shape[0] * g.programs, *shape[1:]]
        strides, at = ([shape[1], 1], ", 0") if len(shape) == 2 else ([1], "")
        g.body.append(Statement(
            f"tl.make_tensor_descriptor({g.pointer(y, dtype)}, {sizes}, "
            f"{strides}, {list(shape)}).store([pid * {shape[0]}{at}], "
            f"{v.name})"))
        return
    where = values.linear(shape)
    if g.chance(0.3) and n > 1:
        where = f"((({where}) * {1 + 2 * g.below(8)} + {g.below(n)}) & {n - 1})"
    mask = f", mask={g.mask(shape).name}" if g.chance(0.3) else ""
    g.body.append(Statement(f"tl.store({g.pointer(y, dtype)} + pid * {n} + "
                            f"({where}), {v.name}{mask})"))


def atomic(g: Generator) -> None:
    """All lanes and programs to few places, and nobody looks at the result."""
    op = g.pick(["add", "add", "max", "min", "and", "or", "xor"])
    dtype = g.pick(["int32", "int64", "uint32", "uint64"])
    shape = g.some_shape()
    if op == "add" and "floats" in g.features and g.chance(0.3):
        dtype = g.pick(["float32", "float64"])
        v = g.whole(dtype, shape, 1, 16)
    else:
        v = g.make(dtype, shape, 1)
    z = g.tensor(dtype, 16, "small" if "float" in dtype else "any", "z")
    g.kernel.outputs[z] = dtype
    mask = f", mask={g.mask(shape).name}" if g.chance(0.3) else ""
    how = g.pick(["", ', sem="relaxed"', ', scope="gpu"', ', sem="acq_rel"'])
    g.body.append(Statement(f"tl.atomic_{op}({z} + {g.index(shape, 16)}, "
                            f"{v.name}{mask}{how})"))


def own_atomic(g: Generator) -> None:
    """Every lane at its own place, so that its result is defined."""
    op = g.pick(["add", "max", "xor", "xchg"])
    dtype = g.pick(["int32", "int64", "uint32"])
    shape = g.some_shape()
    v = g.make(dtype, shape, 1)
    n = values.lanes(shape)
    w = g.tensor(dtype, n * g.programs, "any", "w")
    g.kernel.outputs[w] = dtype
    g.put(f"tl.atomic_{op}({w} + pid * {n} + ({values.linear(shape)}), "
          f"{v.name})", dtype, shape)


def through_memory(g: Generator) -> None:
    """Lanes that go to memory come back in other threads."""
    dtype, shape = g.some_dtype(), g.some_shape()
    n = values.lanes(shape)
    v = g.make(dtype, shape, 2)
    w = g.tensor(dtype, n * g.programs, "any", "w")
    g.kernel.outputs[w] = dtype
    at = f"{g.pointer(w, dtype)} + pid * {n} + "
    g.body.append(Statement(f"tl.store({at}({values.linear(shape)}), "
                            f"{v.name})"))
    g.body.append(Statement("tl.debug_barrier()"))
    back = g.index(shape, n, 0)
    g.put(f"tl.load({at}{back})", dtype, shape)
