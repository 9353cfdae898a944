# prelude.py - operations written in the language itself.
#
# Each public function is tl.NAME (and x.NAME when it takes a tensor first).  A
# function that Triton changed has another beside it, whose name ends in
# _since_ and the number of the version, 309 for 3.9: the newest one that the
# version has is meant.  Meaning follows Triton's documentation; Philox follows
# Salmon et al., "Parallel random numbers: as easy as 1, 2, 3" (SC 2011), with
# ten rounds.
import triton
import triton.language as tl


@triton.jit
def cdiv(x, div):
    """Quotient rounded up (both positive)."""
    return (x + (div - 1)) // div


@triton.jit
def _combine_lanes(combine: tl.constexpr, lanes):
    """A function of scalars for each lane of two operands."""
    return tl.map_elementwise(combine, *lanes)


@triton.jit
def _round_to_tf32(x):
    """Ten bits of fraction, of two equally near ones the even one, as the
    hardware loads through a descriptor that rounds."""
    bits = x.to(tl.uint32, bitcast=True)
    finite = (bits & 0x7f800000) != 0x7f800000
    rest = tl.where(finite, bits, 0)
    near = (rest + ((rest >> 13) & 1) + 0xfff) & 0xffffe000
    return tl.where(finite, near, bits).to(tl.float32, bitcast=True)


@triton.jit
def sigmoid(x):
    """1 / (1 + exp(-x))."""
    return 1 / (1 + tl.exp(-x))


@triton.jit
def softmax(x, dim=None, keep_dims=False, ieee_rounding=False):
    """exp(x - max) normalised to sum 1 along dim (0)."""
    axis: tl.constexpr = 0 if dim is None else dim
    shifted = x - tl.max(x, axis, keep_dims=keep_dims)
    powers = tl.exp(shifted)
    total = tl.sum(powers, axis, keep_dims=keep_dims)
    return tl.fdiv(powers, total, ieee_rounding)


@triton.jit
def softmax_since_309(x, dim=None, *, keep_dims=None, ieee_rounding=False):
    """exp(x - max) normalised to sum 1 along dim (0)."""
    axis: tl.constexpr = 0 if dim is None else dim
    shifted = x - tl.max(x, axis, keep_dims=True)
    powers = tl.exp(shifted)
    total = tl.sum(powers, axis, keep_dims=True)
    return tl.fdiv(powers, total, ieee_rounding)


@triton.jit
def squeeze(x, dim: tl.constexpr):
    """Drops the axis dim, which must have size 1."""
    tl.static_assert(x.shape[dim] == 1)
    return x.reshape(x.shape[:dim] + x.shape[dim + 1:])


@triton.jit
def squeeze_since_309(x, dim: tl.constexpr):
    """Drops the axis dim, which must have size 1."""
    tl.static_assert(-len(x.shape) <= dim and dim < len(x.shape),
                     "the axis is not one of the block's")
    axis: tl.constexpr = dim + len(x.shape) if dim < 0 else dim
    tl.static_assert(x.shape[axis] == 1)
    return x.reshape(x.shape[:axis] + x.shape[axis + 1:])


@triton.jit
def unsqueeze(x, dim: tl.constexpr):
    """Adds an axis of size 1, which becomes the axis dim."""
    return x.reshape(x.shape[:dim] + (1,) + x.shape[dim:])


@triton.jit
def unsqueeze_since_309(x, dim: tl.constexpr):
    """Adds an axis of size 1, which becomes the axis dim."""
    n: tl.constexpr = len(x.shape) + 1
    tl.static_assert(-n <= dim and dim < n,
                     "the result has no such axis")
    axis: tl.constexpr = dim + n if dim < 0 else dim
    return x.reshape(x.shape[:axis] + (1,) + x.shape[axis:])


@triton.jit
def _all_hold(x):
    """Whether every lane holds."""
    if len(x.shape) == 0:
        return x
    else:
        return tl.min(tl.ravel(x).to(tl.int32), 0) != 0


@triton.jit
def atomic_poll(pointer, expected_value, sem=None, scope=None,
                timeout_ns=None):
    """Waits until memory holds expected_value; False where time ran out."""
    element: tl.constexpr = pointer.dtype.element_ty
    tl.static_assert(element.is_int() and element.primitive_bitwidth >= 16,
                     "atomic_poll takes integers of 16, 32 or 64 bits")
    expected = tl.to_tensor(expected_value).to(element)
    began = tl.extra.cuda.globaltimer()
    seen = tl.atomic_load(pointer, sem=sem, scope=scope) == expected
    if timeout_ns is None:
        while tl.condition(not _all_hold(seen)):
            seen |= tl.atomic_load(pointer, sem=sem, scope=scope) == expected
    else:
        left = tl.to_tensor(timeout_ns)
        tl.static_assert(left.dtype.is_int() and len(left.shape) == 0,
                         "timeout_ns is a whole number")
        end = began + left
        while tl.condition(not _all_hold(seen)
                           and tl.extra.cuda.globaltimer() < end):
            seen |= tl.atomic_load(pointer, sem=sem, scope=scope) == expected
    return seen


@triton.jit
def swizzle2d(i, j, size_i, size_j, size_g):
    """Re-numbers a size_i x size_j grid so that size_g rows go together."""
    flat = i * size_j + j
    per_group = size_g * size_j
    first_row = (flat // per_group) * size_g
    rows = tl.minimum(size_i - first_row, size_g)
    within = flat % per_group
    return first_row + within % rows, within // rows


@triton.jit
def philox_impl(c0, c1, c2, c3, k0, k1, n_rounds: tl.constexpr = 10):
    """The counter after n_rounds of Philox 4x32 or 4x64."""
    wide: tl.constexpr = c0.dtype.primitive_bitwidth == 64
    mul_a: tl.constexpr = 0xD2E7470EE14C6C93 if wide else 0xD2511F53
    mul_b: tl.constexpr = 0xCA5A826395121157 if wide else 0xCD9E8D57
    add_a: tl.constexpr = 0x9E3779B97F4A7C15 if wide else 0x9E3779B9
    add_b: tl.constexpr = 0xBB67AE8584CAA73B if wide else 0xBB67AE85
    for _ in tl.static_range(n_rounds):
        low_a = c0 * mul_a
        low_b = c2 * mul_b
        high_a = tl.umulhi(c0, tl.full([], mul_a, c0.dtype))
        high_b = tl.umulhi(c2, tl.full([], mul_b, c0.dtype))
        c0 = high_b ^ c1 ^ k0
        c2 = high_a ^ c3 ^ k1
        c1 = low_b
        c3 = low_a
        k0 = k0 + add_a
        k1 = k1 + add_b
    return c0, c1, c2, c3


@triton.jit
def philox(seed, c0, c1, c2, c3, n_rounds: tl.constexpr = 10):
    """Philox of four counters with the key split out of seed."""
    given = tl.to_tensor(seed)
    tl.static_assert(given.dtype.is_int(), "the seed must be an integer")
    key = given.to(tl.uint64)
    c0 = tl.to_tensor(c0)
    c1 = tl.to_tensor(c1)
    c2 = tl.to_tensor(c2)
    c3 = tl.to_tensor(c3)
    if c0.dtype.primitive_bitwidth == 32:
        lo = (key & 0xFFFFFFFF).to(tl.uint32)
        hi = (key >> 32).to(tl.uint32)
        return philox_impl(c0.to(tl.uint32, bitcast=True),
                           c1.to(tl.uint32, bitcast=True),
                           c2.to(tl.uint32, bitcast=True),
                           c3.to(tl.uint32, bitcast=True), lo, hi, n_rounds)
    else:
        return philox_impl(c0.to(tl.uint64, bitcast=True),
                           c1.to(tl.uint64, bitcast=True),
                           c2.to(tl.uint64, bitcast=True),
                           c3.to(tl.uint64, bitcast=True), key,
                           key * 0, n_rounds)


@triton.jit
def randint4x(seed, offset, n_rounds: tl.constexpr = 10):
    """Four blocks of random uint32, one per lane of offset."""
    tl.static_assert(isinstance(offset, tl.tensor), "offset must be a tensor")
    lo = offset.to(tl.uint32)
    none = lo * 0
    if offset.dtype.primitive_bitwidth > 32:
        return philox(seed, lo, (offset >> 32).to(tl.uint32), none, none,
                      n_rounds)
    else:
        return philox(seed, lo, none, none, none, n_rounds)


@triton.jit
def randint(seed, offset, n_rounds: tl.constexpr = 10):
    """A block of random uint32, one per lane of offset."""
    a, b, c, d = randint4x(seed, offset, n_rounds)
    return a


@triton.jit
def uint_to_uniform_float(x):
    """A random integer as fp32 in [0, 1)."""
    if x.dtype.primitive_bitwidth == 64:
        wide = x.to(tl.int64, bitcast=True)
        folded = tl.where(wide < 0, -wide - 1, wide)
        return folded * 1.0842020432385337e-19
    else:
        narrow = x.to(tl.int32, bitcast=True)
        positive = tl.where(narrow < 0, -narrow - 1, narrow)
        return positive * 4.6566127342e-10


@triton.jit
def rand(seed, offset, n_rounds: tl.constexpr = 10):
    """A block of fp32, uniform in [0, 1)."""
    return uint_to_uniform_float(randint(seed, offset, n_rounds))


@triton.jit
def rand4x(seed, offsets, n_rounds: tl.constexpr = 10):
    """Four blocks of fp32, uniform in [0, 1)."""
    a, b, c, d = randint4x(seed, offsets, n_rounds)
    return (uint_to_uniform_float(a), uint_to_uniform_float(b),
            uint_to_uniform_float(c), uint_to_uniform_float(d))


@triton.jit
def pair_uniform_to_normal(u1, u2):
    """Two normal variables from two uniform ones (Box and Muller)."""
    radius = tl.sqrt(-2.0 * tl.log(tl.maximum(1.0e-7, u1)))
    angle = 6.283185307179586 * u2
    return radius * tl.cos(angle), radius * tl.sin(angle)


@triton.jit
def randn(seed, offset, n_rounds: tl.constexpr = 10):
    """A block of fp32, normal with mean 0 and variance 1."""
    a, b, c, d = randint4x(seed, offset, n_rounds)
    x, y = pair_uniform_to_normal(uint_to_uniform_float(a),
                                  uint_to_uniform_float(b))
    return x


@triton.jit
def randn4x(seed, offset, n_rounds: tl.constexpr = 10):
    """Four blocks of fp32, normal with mean 0 and variance 1."""
    a, b, c, d = rand4x(seed, offset, n_rounds)
    w, x = pair_uniform_to_normal(a, b)
    y, z = pair_uniform_to_normal(c, d)
    return w, x, y, z


@triton.jit
def bitonic_merge(x, dim: tl.constexpr = None, descending: tl.constexpr = 0):
    """Sorts the last axis, whose lanes rise and then fall (or the reverse)."""
    last: tl.constexpr = len(x.shape) - 1
    tl.static_assert(dim is None or dim == last,
                     "only minor dimension is currently supported")
    lanes: tl.constexpr = x.shape[last]
    y = x
    for stage in tl.static_range(tl._log2(lanes)):
        # The halves of ever shorter rows are compared lane by lane.
        y = y.reshape([(x.numel // lanes) << stage, 2, lanes >> (stage + 1)])
        other = tl.flip(y, 1)
        right = tl.arange(0, 2)[None, :, None]
        y = tl.where((y > other) != (descending ^ right), other, y)
    return y.reshape(x.shape)


@triton.jit
def sort_impl(x, k: tl.constexpr = None, dim: tl.constexpr = None,
              descending: tl.constexpr = 0):
    """Sorts the last axis; with k only the first k lanes are kept."""
    if k is None:
        return tl.sort(x, dim, descending)
    else:
        tl.static_assert(descending, "with k the order is descending")
        return tl.topk(x, k, dim)


@triton.jit
def sort_impl_since_308(x, k: tl.constexpr = None, dim: tl.constexpr = None,
                        descending: tl.constexpr = 0):
    """Sorts the last axis; with k only the first k lanes are kept."""
    if k is None:
        return tl.sort(x, dim, descending)
    else:
        return tl.topk(x, k, dim, descending)


@triton.jit
def get_int_dtype(bitwidth: tl.constexpr, signed: tl.constexpr):
    """The integer type of so many bits."""
    if bitwidth == 1:
        return tl.int1
    elif bitwidth == 8:
        return tl.int8 if signed else tl.uint8
    elif bitwidth == 16:
        return tl.int16 if signed else tl.uint16
    elif bitwidth == 32:
        return tl.int32 if signed else tl.uint32
    else:
        tl.static_assert(bitwidth == 64, "no integer has so many bits")
        return tl.int64 if signed else tl.uint64


@triton.jit
def _get_int_dtype(bitwidth: tl.constexpr, signed: tl.constexpr):
    """As get_int_dtype."""
    return get_int_dtype(bitwidth, signed)


@triton.jit
def _unwrap_if_constexpr(x):
    """x: kernels see constexprs as their values."""
    return x


@triton.jit
def _promote_bfloat16_to_float32(t):
    """bf16 as fp32; anything else as it is."""
    if t.dtype == tl.bfloat16:
        return t.to(tl.float32)
    else:
        return t


@triton.jit
def _pick_sum_dtype(in_dtype: tl.constexpr, dtype: tl.constexpr):
    """The type that a sum is made in, None for in_dtype itself."""
    if dtype is not None:
        return dtype
    elif in_dtype.is_int() and in_dtype.primitive_bitwidth < 32:
        return tl.int32 if in_dtype.is_int_signed() else tl.uint32
    else:
        return None


@triton.jit
def _pick_sum_dtype_since_309(in_dtype: tl.constexpr, dtype: tl.constexpr):
    """The type that a sum is made in."""
    if dtype is not None:
        return dtype
    elif in_dtype.is_int() and in_dtype.primitive_bitwidth < 32:
        return tl.int32 if in_dtype.is_int_signed() else tl.uint32
    else:
        return in_dtype


@triton.jit
def _sum_combine(a, b):
    """The sum, for tl.reduce."""
    return a + b


@triton.jit
def _prod_combine(a, b):
    """The product, for tl.reduce."""
    return a * b


@triton.jit
def _or_combine(x, y):
    """Inclusive or, for tl.reduce."""
    return x | y


@triton.jit
def _xor_combine(a, b):
    """Exclusive or, for tl.reduce."""
    return a ^ b


@triton.jit
def _elementwise_max(a, b):
    """The larger, for tl.reduce."""
    return tl.maximum(a, b)


@triton.jit
def _elementwise_min(a, b):
    """The smaller, for tl.reduce."""
    return tl.minimum(a, b)


@triton.jit
def _argmax_combine(value1, index1, value2, index2,
                    tie_break_left: tl.constexpr):
    """The larger of two values with its index."""
    first = value1 > value2
    if tie_break_left:
        first = first | ((value1 == value2) & (index1 < index2))
    return (tl.where(first, value1, value2), tl.where(first, index1, index2))


@triton.jit
def _argmin_combine(value1, index1, value2, index2,
                    tie_break_left: tl.constexpr):
    """The smaller of two values with its index."""
    first = value1 < value2
    if tie_break_left:
        first = first | ((value1 == value2) & (index1 < index2))
    return (tl.where(first, value1, value2), tl.where(first, index1, index2))


@triton.jit
def _argmax_combine_tie_break_left(value1, index1, value2, index2):
    """Of equal values the one with the smaller index."""
    return _argmax_combine(value1, index1, value2, index2, True)


@triton.jit
def _argmax_combine_tie_break_fast(value1, index1, value2, index2):
    """Of equal values the second."""
    return _argmax_combine(value1, index1, value2, index2, False)


@triton.jit
def _argmin_combine_tie_break_left(value1, index1, value2, index2):
    """Of equal values the one with the smaller index."""
    return _argmin_combine(value1, index1, value2, index2, True)


@triton.jit
def _argmin_combine_tie_break_fast(value1, index1, value2, index2):
    """Of equal values the second."""
    return _argmin_combine(value1, index1, value2, index2, False)
