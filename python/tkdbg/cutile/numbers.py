"""Emitters of conversions, arithmetic and products."""
from __future__ import annotations

import math

from .builder import BITS, Builder, emits, is_float, is_signed
from .model import Refused, Tile, Value
from .statements import Slot



def _to_odd(b, x):
    """As fp32; a number between two of fp32 becomes the odd one of them, so
    that it is rounded again as if it had not been."""
    if x.type.element != "fp64":
        return b.cast(x, "fp32")
    cut = b.emit("extern", x.type.of("fp32"), x,
                 function="double2float_rz", overload=0)
    bits = b.emit("copy", x.type.of("uint32"), cut)
    rest = b.compare("ne", b.cast(cut, "fp64"), x)
    odd = b.binary("or", bits, b.cast(rest, "uint32"))
    return b.emit("copy", cut.type, odd)


def _to_tf32(b, x, mode):
    """Rounded to 10 bits of mantissa."""
    x = _to_odd(b, x)
    bits = b.emit("copy", x.type.of("uint32"), x)
    up = {"zero": 0, "nearest_away": 0x1000}.get(mode, 0xFFF)
    moved = b.binary("add", bits, b.number(bits, up))
    if mode in (None, "nearest_even"):
        odd = b.binary("and", b.binary("lshr", bits, b.number(bits, 13)),
                       b.number(bits, 1))
        moved = b.binary("add", moved, odd)
    cut = b.binary("and", moved, b.number(bits, 0xFFFFE000))
    rounded = b.emit("copy", x.type, cut)
    size = b.binary("and", bits, b.number(bits, 0x7F800000))
    finite = b.compare("ne", size, b.number(bits, 0x7F800000))
    return b.select(finite, rounded, x)


def _to_exponent(b, x, mode):
    """The exponent of e8m0: of the power of two below, or above; without the
    sign; of infinity, as of NaN, 255."""
    x = _to_odd(b, x)
    bits = b.emit("copy", x.type.of("uint32"), x)
    size = b.binary("and", bits, b.number(bits, 0x7FFFFFFF))
    made = b.binary("lshr", size, b.number(bits, 23))
    if mode == "positive_inf":
        rest = b.binary("and", bits, b.number(bits, 0x7FFFFF))
        least = b.compare("eq", made, b.number(bits, 0))
        most = b.select(least, b.number(bits, 0x400000), b.number(bits, 0))
        above = b.binary("and", b.compare("gt", rest, most),
                         b.compare("lt", made, b.number(bits, 255)))
        made = b.binary("add", made, b.cast(above, "uint32"))
    return b.cast(made, "uint8")


# between two numbers of e2m1, from the least: ">" where a tie goes down
_BETWEEN = (("gt", 0.25), ("ge", 0.75), ("gt", 1.25), ("ge", 1.75),
            ("gt", 2.5), ("ge", 3.5), ("gt", 5.0))


def _to_e2m1(b, x, mode):
    """The four bits of the nearest number; 6 for what is larger, and NaN."""
    x = _to_odd(b, x)
    size = b.emit("unary", x.type, x, op="abs")
    bits = b.emit("copy", x.type.of("uint32"), x)
    sign = b.binary("lshr", bits, b.number(bits, 31))
    made = b.binary("shl", sign, b.number(bits, 3))
    for than, least in _BETWEEN:
        above = b.compare(than, size, b.number(size, least))
        made = b.binary("add", made, b.cast(above, "uint32"))
    nan = b.compare("ne", x, x)
    return b.cast(b.select(nan, b.number(bits, 7), made), "uint8")


def _to_e5m3(b, x, mode):
    raise Refused("a conversion to float8_e5m3fnu is not supported")


_TO = {"tfloat32": _to_tf32, "float8_e8m0fnu": _to_exponent,
       "float8_e5m3fnu": _to_e5m3, "float4_e2m1fn": _to_e2m1}


def _from_exponent(b, x):
    """An exponent with bias 127, e8m0, as fp32."""
    wide = b.cast(x, "uint32")
    bits = b.binary("shl", wide, b.number(wide, 23))
    least = b.compare("eq", wide, b.number(wide, 0))
    bits = b.select(least, b.number(wide, 0x400000), bits)
    nan = b.compare("eq", wide, b.number(wide, 255))
    bits = b.select(nan, b.number(wide, 0x7FC00000), bits)
    return b.emit("copy", x.type.of("fp32"), bits)


def _from_e2m1(b, x):
    """Four bits, e2m1, as fp32."""
    made = b.constant(x.type.of("fp32"), 0.0)
    code = b.binary("and", x, b.number(x, 7))
    for i, v in enumerate((0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0), 1):
        made = b.select(b.compare("eq", code, b.number(x, i)),
                        b.number(made, v), made)
    negative = b.compare("ne", b.binary("and", x, b.number(x, 8)),
                         b.number(x, 0))
    return b.select(negative, b.emit("unary", made.type, made, op="neg"), made)


def _from_e5m3(b, x):
    """Five bits of an exponent with bias 15 and three behind the point, as
    fp32, whose bias is larger by 112; 255 is NaN."""
    wide = b.cast(x, "uint32")
    bits = b.binary("shl", wide, b.number(wide, 20))
    made = b.emit("copy", x.type.of("fp32"), bits)
    made = b.binary("mul", made, b.number(made, 2.0 ** 112))
    nan = b.compare("eq", wide, b.number(wide, 255))
    return b.select(nan, b.number(made, math.nan), made)


_NARROW = {"float8_e8m0fnu": _from_exponent, "float8_e5m3fnu": _from_e5m3,
           "float4_e2m1fn": _from_e2m1}


def as_float(b: Builder, value: Value) -> Slot:
    """A value whose element type is a number in the form."""
    x = b.slot(value)
    assert isinstance(value.type, Tile)
    narrow = _NARROW.get(value.type.dtype)
    return narrow(b, x) if narrow else x


@emits("tile_astype")
def _astype(b, op):
    result = op.results[0]
    x, to = as_float(b, op.operands["x"]), b.type(result)
    mode = op.attributes.get("rounding_mode")
    special = _TO.get(result.type.dtype)
    if op.operands["x"].type.dtype == result.type.dtype:
        made = b.slot(op.operands["x"])
    elif special is not None:
        made = special(b, x, mode)
    elif to.element == "int1" and x.type.element != "int1":
        made = b.compare("ne", x, b.number(x, 0))
    elif is_float(x.type.element) and is_float(to.element):
        made = _round(b, x, to.element, mode)
    else:
        made = b.cast(x, to.element)
    b.set(result, made)


def _round(b, x, to, mode):
    """A float as another; what cuda.tile has other modes for, and is not
    below, is exact."""
    way = _DIRECTED.get(mode)
    if (x.type.element, to) == ("fp64", "fp32") and way:
        return b.emit("extern", x.type.of(to), x,
                      function=f"double2float_{way}", overload=0)
    if mode == "zero" and BITS[x.type.element] >= BITS[to]:
        return b.cast(x, to, rounding="zero")
    nearest = b.cast(x, to)
    if (x.type.element, to) != ("bf16", "fp16") or mode in (None,
                                                            "nearest_even"):
        return nearest
    wide = b.cast(x, "fp32")
    below = b.cast(wide, to, rounding="zero")
    bits = b.emit("copy", x.type.of("uint16"), below)
    above = b.emit("copy", below.type,  # in size
                   b.binary("add", bits, b.number(bits, 1)))
    low, high = b.cast(below, "fp32"), b.cast(above, "fp32")
    if way:
        beyond = b.compare("lt" if way == "ru" else "gt", low, wide)
        return b.select(beyond, above, below)
    tie = b.compare("eq", b.binary("sub", wide, low),
                    b.binary("sub", high, wide))
    return b.select(tie, above, nearest)


# ---- arithmetic -----------------------------------------------------------


def _flush(b, x, does):
    """Subnormal numbers of fp32 as zeros with their signs."""
    if not does or x.type.element != "fp32":
        return x
    size = b.emit("unary", x.type, x, op="abs")
    tiny = b.compare("lt", size, b.number(x, 2.0 ** -126))
    return b.select(tiny, b.binary("mul", x, b.number(x, 0.0)), x)


@emits("raw_cmp")
def _compare(b, op):
    b.set(op.results[0], b.compare(op.attributes["fn"],
                                   b.slot(op.operands["lhs"]),
                                   b.slot(op.operands["rhs"])))


@emits("raw_binary_bitwise")
def _bitwise(b, op):
    b.set(op.results[0], b.binary(op.attributes["fn"].rstrip("_"),
                                  b.slot(op.operands["lhs"]),
                                  b.slot(op.operands["rhs"])))


@emits("raw_bitwise_shift")
def _shift(b, op):
    x = b.slot(op.operands["lhs"])
    right = "shr" if is_signed(x.type.element) else "lshr"
    b.set(op.results[0], b.binary(
        "shl" if op.attributes["fn"] == "lshift" else right, x,
        b.slot(op.operands["rhs"])))


_PLAIN = {"add": "add", "sub": "sub", "mul": "mul", "truediv": "div",
          "c_mod": "mod", "min": "min", "max": "max"}
_DIRECTED = {"zero": "rz", "negative_inf": "rd", "positive_inf": "ru"}
_LIBRARY = {"add": "add", "sub": "sub", "mul": "mul", "truediv": "div"}


@emits("raw_binary_arith")
def _arithmetic(b, op):
    x, y = b.slot(op.operands["lhs"]), b.slot(op.operands["rhs"])
    ftz = op.attributes.get("flush_to_zero", False)
    x, y = _flush(b, x, ftz), _flush(b, y, ftz)
    made = _binary(b, op, x, y)
    b.set(op.results[0], _flush(b, made, ftz))


def _binary(b, op, x, y):
    fn, floats = op.attributes["fn"], is_float(x.type.element)
    way = _DIRECTED.get(op.attributes.get("rounding_mode"))
    if floats and way and fn in _LIBRARY:
        return external(b, f"{_LIBRARY[fn]}_{way}", x, y)
    if fn in ("min", "max") and floats and op.attributes.get(
            "propagate_nan"):
        return b.binary(fn + "_nan", x, y)
    if fn in _PLAIN:
        return b.binary(_PLAIN[fn], x, y)
    if fn in ("pow", "atan2"):
        return external(b, fn, x, y)
    if fn == "floordiv" and floats:
        return _unary_float(b, "floor", b.binary("div", x, y))
    if fn in ("floordiv", "cdiv"):
        return _whole_quotient(b, fn, x, y)
    raise Refused(f"the operation '{fn}' of cuda.tile {b.kernel.version} is "
                  "not known")


def _whole_quotient(b, fn, x, y):
    """A quotient of integers rounded down, or up."""
    q = b.binary("div", x, y)
    if not is_signed(x.type.element) and fn == "floordiv":
        return q
    rest = b.compare("ne", b.binary("mul", q, y), x)
    one = b.number(x, 1)
    if not is_signed(x.type.element):
        return b.select(rest, b.binary("add", q, one), q)
    zero = b.number(x, 0)
    signs = b.compare("ne" if fn == "floordiv" else "eq",
                      b.compare("lt", x, zero), b.compare("lt", y, zero))
    fix = b.binary("sub" if fn == "floordiv" else "add", q, one)
    return b.select(b.binary("and", rest, signs), fix, q)


_OVERLOADS = {"pow": 2}  # the first of two floats; 0 for the others


def external(b: Builder, function: str, *args: Slot) -> Slot:
    """A function of libdevice, which has fp32 and fp64."""
    own = args[0].type.element
    at = "fp64" if own == "fp64" else "fp32"
    wide = [b.cast(a, at) if is_float(a.type.element) else a for a in args]
    made = b.emit("extern", wide[0].type, *wide, function=function,
                  overload=_OVERLOADS.get(function, 0) + (at == "fp64"))
    return b.cast(made, own)


@emits("raw_fpowi")
def _powi(b, op):
    base, n = b.slot(op.operands["base"]), b.slot(op.operands["exponent"])
    b.set(op.results[0], external(b, "pow", base,
                                  b.cast(n, "fp64" if base.type.element ==
                                         "fp64" else "fp32")))


@emits("raw_where")
def _where_(b, op):
    b.set(op.results[0], b.select(b.slot(op.operands["cond"]),
                                  b.slot(op.operands["x"]),
                                  b.slot(op.operands["y"])))


def _unary_float(b, fn, x):
    at = "fp64" if x.type.element == "fp64" else "fp32"
    wide = b.cast(x, at)
    return b.cast(b.emit("unary", wide.type, wide, op=fn), x.type.element)


@emits("unaryop")
def _unary(b, op):
    x, fn = b.slot(op.operands["operand"]), op.attributes["fn"]
    ftz = op.attributes.get("flush_to_zero", False)
    way = _DIRECTED.get(op.attributes.get("rounding_mode"))
    x = _flush(b, x, ftz)
    if fn in ("invert", "bitwise_not"):
        made = b.emit("unary", x.type, x, op="not")
    elif fn in ("abs", "neg"):
        unsigned = not is_float(x.type.element) and not is_signed(
            x.type.element)
        made = (x if fn == "abs" and unsigned else
                b.emit("unary", x.type, x, op=fn))
    elif fn == "sqrt" and way:
        made = external(b, f"sqrt_{way}", x)
    elif fn in ("tan", "sinh", "cosh", "tanh"):
        made = external(b, fn, x)
    else:
        made = _unary_float(b, fn, x)
    b.set(op.results[0], _flush(b, made, ftz))


@emits("fma")
def _fma(b, op):
    b.set(op.results[0], b.emit(
        "fma", b.type(op.results[0]),
        *(b.slot(op.operands[k]) for k in ("lhs", "rhs", "acc"))))


# ---- products -------------------------------------------------------------


def _three(b, slot):
    """A batch of matrices with one axis for the batch."""
    shape = slot.type.shape
    if len(shape) <= 3:
        return slot
    return b.emit("copy", slot.type.shaped((math.prod(shape[:-2]),
                                            *shape[-2:])), slot)


def _product(b, x, y, acc):
    own = acc.type
    wide = "fp32" if own.element == "bf16" else own.element
    acc = b.cast(acc, wide)
    made = b.emit("dot", _three(b, acc).type, _three(b, x), _three(b, y),
                  ("accumulator", _three(b, acc)))
    if made.type.shape != own.shape:
        made = b.emit("copy", made.type.shaped(own.shape), made)
    return b.cast(made, own.element)


@emits("tile_mma")
def _mma(b, op):
    x, y, acc = (b.slot(op.operands[k]) for k in ("x", "y", "acc"))
    b.set(op.results[0], _product(b, x, y, acc))


@emits("tile_mma_scaled")
def _mma_scaled(b, op):
    sides: list[Slot] = []
    for name, axis in (("x", -1), ("y", -2)):
        wide = b.cast(as_float(b, op.operands[name]), "fp32")
        scale = b.cast(as_float(b, op.operands[name + "_scale"]), "fp32")
        sides.append(b.binary("mul", wide, _spread(
            b, scale, axis % len(wide.type.shape), wide.type.shape)))
    x, y = sides
    b.set(op.results[0], _product(b, x, y, b.slot(op.operands["acc"])))


def _spread(b, scale, axis, shape):
    """Each lane repeated along an axis, up to a shape."""
    own = scale.type.shape
    group = shape[axis] // own[axis]
    with_one = (*own[:axis + 1], 1, *own[axis + 1:])
    wide = (*own[:axis + 1], group, *own[axis + 1:])
    made = b.emit("copy", scale.type.shaped(with_one), scale)
    return b.emit("copy", scale.type.shaped(shape), b.broadcast(made, wide))
