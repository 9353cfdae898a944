"""Emitters of what is made of nothing, copied, or moved."""
from __future__ import annotations

from .builder import BITS, FLAG, INT32, Builder, code_of, emits
from .model import Op, Tile
from .statements import Slot



@emits("make_tensor_view", "make_partition_view", "make_strided_view",
       "make_gather_scatter_view", "make_list_view", "make_token",
       "join_tokens", "grid_dependency_control_wait",
       "grid_dependency_control_launch_dependents", "foreign_pointer_cast_")
def _nothing(b: Builder, op: Op) -> None:
    """Views are known by their types; everything runs in order."""


@emits("typed_const")
def _const(b, op):
    result, value = op.results[0], op.attributes["value"]
    if not isinstance(result.type, Tile):
        return  # a module, a text: what the front end alone uses
    type = b.type(result)
    if isinstance(value, tuple):
        b.set(result, _dense(b, type, result.type.dtype, value))
    elif not result.type.shape:
        b.constants[result] = value
    else:
        value = code_of(result.type.dtype, value)
        b.set(result, b.broadcast(b.constant(type.shaped(()), value),
                                  type.shape))


def _dense(b, type, dtype, value):
    """A tile of given numbers, by choosing among them lane by lane."""
    flat = list(value)
    while flat and isinstance(flat[0], tuple):
        flat = [x for row in flat for x in row]
    flat = [code_of(dtype, x) for x in flat]
    row = type.shaped((len(flat),))
    lanes = b.emit("arange", INT32.shaped(row.shape), start=0)
    made = b.constant(row, flat[0])
    for i, x in enumerate(flat[1:], 1):
        here = b.compare("eq", lanes, b.number(lanes, i))
        made = b.select(here, b.constant(row, x), made)
    return b.emit("copy", type, made)


@emits("make_dummy")
def _dummy(b, op):
    if isinstance(op.results[0].type, Tile):
        b.constants[op.results[0]] = 0


@emits("assign")
def _assign(b, op):
    value, result = op.operands["value"], op.results[0]
    if not isinstance(result.type, Tile):
        return
    to = b.new(result)
    b.move(to, b.slot(value))
    b.set(result, to)


@emits("assume_bounded")
def _bounded(b, op):
    x, result = b.slot(op.operands["x"]), op.results[0]
    lower = op.attributes["lower_bound"]
    is_argument = op.operands["x"] in b.kernel.block.params
    if lower is not None and not is_argument and (
            op.operands["x"].constant is None):
        b.promise(b.compare("ge", x, b.number(x, lower)),
                  "the length of an array is negative")
    b.set(result, x)


@emits("assume_div_by")
def _divisible(b, op):
    x, divisor = b.slot(op.operands["x"]), op.attributes["divisor"]
    number = b.cast(x, "int64") if "<" in x.type.element else x
    rest = b.binary("mod", number, b.number(number, divisor))
    b.promise(b.compare("eq", rest, b.number(number, 0)),
              f"assume_divisible_by: this is not a multiple of {divisor}")
    b.set(op.results[0], x)


@emits("tile_bid")
def _bid(b, op):
    b.set(op.results[0], b.emit("program_id", INT32,
                                axis=op.attributes["axis"]))


@emits("tile_num_blocks")
def _num_blocks(b, op):
    b.set(op.results[0], b.emit("num_programs", INT32,
                                axis=op.attributes["axis"]))


@emits("tile_arange")
def _arange(b, op):
    type = b.type(op.results[0])
    lanes = b.emit("arange", INT32.shaped(type.shape), start=0)
    b.set(op.results[0], b.cast(lanes, type.element))


@emits("tile_reshape", "tile_bitcast", "reinterpret_pointer",
       "foreign_pointer_cast", "address_space_cast")
def _copy(b, op):
    source = b.slot(next(iter(op.operands.values())))
    type = b.type(op.results[0])
    if "<" in type.element or "<" in source.type.element:
        if type.element != source.type.element:
            b.set(op.results[0], b.emit("cast", type, source))
            return
    b.set(op.results[0], source if type == source.type else
          b.emit("copy", type, source))


@emits("tile_broadcast")
def _broadcast(b, op):
    b.set(op.results[0], b.broadcast(b.slot(op.operands["x"]),
                                     b.type(op.results[0]).shape))


@emits("tile_permute")
def _permute(b, op):
    b.set(op.results[0], b.emit("permute", b.type(op.results[0]),
                                b.slot(op.operands["x"]),
                                axes=list(op.attributes["axes"])))


@emits("tile_cat")
def _cat(b, op):
    b.set(op.results[0], b.emit("cat", b.type(op.results[0]),
                                b.slot(op.operands["x"]),
                                b.slot(op.operands["y"]),
                                axis=op.attributes["axis"]))


def _inside(b, index, count):
    """Promises that a subtile lies in its tile."""
    fits = b.emit("binary", FLAG, b.compare("ge", index, b.number(index, 0)),
                  b.compare("lt", index, b.number(index, count)), op="and")
    b.promise(fits, "the index is outside of the tile")


@emits("tile_extract")
def _extract(b, op):
    made, shape = b.slot(op.operands["x"]), b.type(op.results[0]).shape
    for axis, (index, n) in enumerate(zip(op.operands["index"], shape)):
        whole = made.type.shape[axis]
        if whole == n:
            continue
        to = made.type.shaped((*made.type.shape[:axis], n,
                               *made.type.shape[axis + 1:]))
        if index.constant is not None:
            made = b.emit("slice", to, made, axis=axis,
                          start=index.constant * n, step=1)
            continue
        start = b.cast(b.slot(index), "int32")
        _inside(b, start, whole // n)
        start = b.binary("mul", start, b.number(start, n))
        made = b.emit("gather", to, made, _along(b, to.shape, axis, start),
                      axis=axis)
    b.set(op.results[0], made)


def _along(b, shape, axis, start):
    """start + i along an axis of a shape."""
    lanes = b.emit("arange", INT32.shaped((shape[axis],)), start=0)
    lanes = b.binary("add", lanes, start)
    row = [1] * len(shape)
    row[axis] = shape[axis]
    return b.broadcast(b.emit("copy", lanes.type.shaped(row), lanes), shape)


@emits("tile_insert")
def _insert(b, op):
    whole, part = b.slot(op.operands["x"]), b.slot(op.operands["value"])
    shape, made, inside = whole.type.shape, part, None
    for axis, index in enumerate(op.operands["index"]):
        n = part.type.shape[axis]
        if n == shape[axis]:
            continue
        start = b.cast(b.slot(index), "int32")
        if index.constant is None:
            _inside(b, start, shape[axis] // n)
        start = b.binary("mul", start, b.number(start, n))
        zero = b.number(start, 0)
        to = made.type.shaped((*made.type.shape[:axis], shape[axis],
                               *made.type.shape[axis + 1:]))
        lane = _along(b, to.shape, axis, b.binary("sub", zero, start))
        at = b.binary("and", lane, b.number(lane, n - 1))
        made = b.emit("gather", to, made, at, axis=axis)
        place = _along(b, shape, axis, b.binary("sub", zero, start))
        here = b.binary("and", b.compare("ge", place, b.number(place, 0)),
                        b.compare("lt", place, b.number(place, n)))
        inside = here if inside is None else b.binary("and", inside, here)
    b.set(op.results[0], made if inside is None else
          b.select(inside, made, whole))


@emits("tile_pack")
def _pack(b, op):
    """The bytes of lanes, the lowest first."""
    x, result = b.slot(op.operands["x"]), b.type(op.results[0])
    dtype = op.operands["x"].type.dtype
    if dtype == "float4_e2m1fn":
        pairs = b.emit("copy", x.type.shaped((result.shape[0], 2)), x)
        low, high = Slot(result), Slot(result)
        b.add("split", [low, high], [pairs], {})
        high = b.binary("shl", high, b.number(high, 4))
        b.set(op.results[0], b.binary("or", low, high))
        return
    size = BITS[x.type.element] // 8
    word = b.emit("copy", x.type.of(f"uint{size * 8}"), x)
    parts = [b.cast(b.binary("lshr", word, b.number(word, 8 * i))
                    if i else word, "uint8") for i in range(size)]
    while len(parts) > 1:  # each new axis is a bit of the byte's number
        half = len(parts) // 2
        parts = [b.emit("join", p.type.shaped((*p.type.shape, 2)), p, q)
                 for p, q in zip(parts[:half], parts[half:])]
    b.set(op.results[0], b.emit("copy", result, parts[0]))


@emits("tile_unpack")
def _unpack(b, op):
    x, result = b.slot(op.operands["x"]), b.type(op.results[0])
    if op.results[0].type.dtype == "float4_e2m1fn":
        low = b.binary("and", x, b.number(x, 15))
        high = b.binary("lshr", x, b.number(x, 4))
        both = b.emit("join", x.type.shaped((*x.type.shape, 2)), low, high)
        b.set(op.results[0], b.emit("copy", result, both))
        return
    size = BITS[result.element] // 8
    rows = b.emit("copy", x.type.shaped((result.shape[0], size)), x)
    parts = [rows]
    for _ in range(size.bit_length() - 1):  # halves: the lowest bytes first
        half = parts[0].type.shape[1] // 2
        parts = [b.emit("slice", p.type.shaped((result.shape[0], half)), p,
                        axis=1, start=half * k, step=1)
                 for p in parts for k in (0, 1)]
    word = f"uint{size * 8}"
    made = None
    for i, part in enumerate(parts):
        wide = b.cast(b.emit("copy", part.type.shaped(result.shape), part),
                      word)
        wide = b.binary("shl", wide, b.number(wide, 8 * i)) if i else wide
        made = wide if made is None else b.binary("or", made, wide)
    b.set(op.results[0], b.emit("copy", result, made))
