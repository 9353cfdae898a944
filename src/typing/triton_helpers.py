# triton_helpers.py - what kernels written by PyTorch's compiler call.
#
# Each public function is triton_helpers.NAME of
# torch._inductor.runtime, by its meaning, for launches without Python; under
# Python PyTorch's own are used.  NaN: maximum and minimum give it on, and it
# counts as the extreme of a row.
import triton
import triton.language as tl
from triton.language.extra import libdevice


@triton.jit
def promote_to_tensor(x):
    """A number as a block of one lane; a block as it is."""
    return x + tl.zeros((1,), tl.int1)


@triton.jit
def is_floating(x):
    """Whether x is of a float type, as a constexpr."""
    return promote_to_tensor(x).dtype.is_floating()


@triton.jit
def div_floor_integer(a, b):
    """Quotient of integers rounded down, as Python's //."""
    cut = a // b
    below = tl.where(a % b != 0, cut - 1, cut)
    return tl.where((a < 0) != (b < 0), below, cut)


@triton.jit
def remainder_integer(a, b):
    """Remainder with the sign of b, as Python's %."""
    rest = a % b
    return tl.where((rest != 0) & ((rest < 0) != (b < 0)), rest + b, rest)


@triton.jit
def minimum(a, b):
    """The smaller lane; NaN if one is."""
    first = a < b
    if is_floating(a):
        first |= a != a
    return tl.where(first, a, b)


@triton.jit
def maximum(a, b):
    """The larger lane; NaN if one is."""
    first = a > b
    if is_floating(a):
        first |= a != a
    return tl.where(first, a, b)


@triton.jit
def _times(a, b):
    return a * b


@triton.jit
def _or(a, b):
    return a | b


@triton.jit
def prod(input, axis):
    """Product along an axis."""
    return tl.reduce(input, axis, _times)


@triton.jit
def any(a, dim):
    """Inclusive or along an axis."""
    return tl.reduce(a, dim, _or)


@triton.jit
def min2(a, dim):
    """Smallest lane along an axis; NaN if one is."""
    return tl.reduce(a, dim, minimum)


@triton.jit
def max2(a, dim):
    """Largest lane along an axis; NaN if one is."""
    return tl.reduce(a, dim, maximum)


@triton.jit
def _first_of(better, a_value, a_index, b_value, b_index):
    same = a_value == b_value
    if is_floating(a_value):
        a_nan = a_value != a_value
        b_nan = b_value != b_value
        better |= a_nan & (b_nan == 0)
        same |= a_nan & b_nan
    better |= same & (a_index < b_index)
    return (tl.where(better, a_value, b_value),
            tl.where(better, a_index, b_index))


@triton.jit
def minimum_with_index(a_value, a_index, b_value, b_index):
    """The smaller value and its index; the lower index of equal ones."""
    return _first_of(a_value < b_value, a_value, a_index, b_value, b_index)


@triton.jit
def maximum_with_index(a_value, a_index, b_value, b_index):
    """The larger value and its index; the lower index of equal ones."""
    return _first_of(a_value > b_value, a_value, a_index, b_value, b_index)


@triton.jit
def min_with_index(value, index, dim):
    """Smallest lane along an axis, and its index."""
    return tl.reduce((value, index), dim, minimum_with_index)


@triton.jit
def max_with_index(value, index, dim):
    """Largest lane along an axis, and its index."""
    return tl.reduce((value, index), dim, maximum_with_index)


@triton.jit
def welford_reduce(value, mean, m2, weight, first_iteration):
    """Running mean, sum of squared deviations and count, with value added."""
    if first_iteration:
        new_weight = tl.full(weight.shape, 1, weight.dtype)
        new_mean = value
        new_m2 = tl.zeros_like(m2)
    else:
        new_weight = weight + 1
        off = value - mean
        new_mean = mean + off / new_weight
        new_m2 = m2 + off * (value - new_mean)
    return new_mean, new_m2, new_weight


@triton.jit
def welford_combine(mean_1, m2_1, weight_1, mean_2, m2_2, weight_2):
    """Mean, squares and count of two parts together."""
    off = mean_2 - mean_1
    weight = weight_1 + weight_2
    share = tl.where(weight == 0.0, 0.0, weight_2 / weight)
    return (mean_1 + off * share, m2_1 + m2_2 + off * off * weight_1 * share,
            weight)


@triton.jit
def welford(mean, m2, weight, dim):
    """Mean, squares and count along an axis."""
    return tl.reduce((mean, m2, weight), dim, welford_combine)


@triton.jit
def device_assert_then(cond, msg, r):
    """r, after asserting cond."""
    tl.device_assert(cond, msg)
    return r


@triton.jit
def randint64(seed, offset, low, high):
    """Random int64 lanes from low up to but not including high."""
    r0, r1, r2, r3 = tl.randint4x(seed, offset)
    wide = r0.to(tl.uint64) | (r1.to(tl.uint64) << 32)
    size = high - low
    return (wide % size.to(tl.uint64)).to(tl.int64) + low


@triton.jit
def bucketize_binary_search(values, boundaries_ptr,
                            BOUNDARIES_SIZE: tl.constexpr,
                            BOUNDARIES_UNDERLYING_NUMEL: tl.constexpr,
                            BOUNDARIES_STRIDE: tl.constexpr, boundary_indices,
                            indexing_dtype, right: tl.constexpr,
                            sorter_ptr=None,
                            SORTER_STRIDE: tl.constexpr = None,
                            sorter_indices=None):
    """For each value, the first boundary that is not below it (right: that is
    above it)."""
    low = tl.zeros(values.shape, indexing_dtype)
    high = tl.full(values.shape, BOUNDARIES_SIZE, indexing_dtype)
    left: tl.constexpr = BOUNDARIES_SIZE + 1
    span = left
    while span > 1:
        middle = (high + low) // 2
        inside = (middle < BOUNDARIES_SIZE) & (
            middle * BOUNDARIES_STRIDE + boundary_indices <
            BOUNDARIES_UNDERLYING_NUMEL)
        if sorter_ptr is None:
            at = middle
        else:
            at = tl.load(sorter_ptr + sorter_indices + SORTER_STRIDE * middle,
                         mask=inside, other=0)
        edge = tl.load(boundaries_ptr + boundary_indices +
                       BOUNDARIES_STRIDE * at, mask=inside, other=0)
        if right:
            above = values >= edge
        else:
            above = values > edge
        low = tl.where(above & inside, middle + 1, low)
        high = tl.where(above, high, middle)
        span = (span + 1) // 2
    return low


@triton.jit
def pack_value_flag(value, flag, DTYPE_VALUE_AS_UINT: tl.constexpr,
                    DTYPE_PACK: tl.constexpr):
    """A value in the upper bits, a flag below."""
    bits = value.to(DTYPE_VALUE_AS_UINT, bitcast=True).to(DTYPE_PACK)
    width: tl.constexpr = DTYPE_VALUE_AS_UINT.primitive_bitwidth
    return flag.to(DTYPE_PACK) | (bits << width)


@triton.jit
def unpack_value(pack, DTYPE_VALUE: tl.constexpr,
                 DTYPE_VALUE_AS_UINT: tl.constexpr):
    """The value of a pack."""
    width: tl.constexpr = DTYPE_VALUE_AS_UINT.primitive_bitwidth
    bits = (pack >> width).to(DTYPE_VALUE_AS_UINT)
    return bits.to(DTYPE_VALUE, bitcast=True)


@triton.jit
def unpack_flag(pack, DTYPE_FLAG: tl.constexpr):
    """The flag of a pack."""
    return pack.to(DTYPE_FLAG)


@triton.jit
def exclusive_scan_decoupled_lookback(scratch_base, block_value, index,
                                      combine_fn,
                                      DTYPE_VALUE_AS_UINT: tl.constexpr,
                                      DTYPE_PACK: tl.constexpr):
    """The combination of the values of all earlier programs, by looking back
    over what they have published (Merrill and Garland, 2016)."""
    kind: tl.constexpr = block_value.dtype
    own = pack_value_flag(block_value,
                          tl.full([], 1, DTYPE_VALUE_AS_UINT),
                          DTYPE_VALUE_AS_UINT, DTYPE_PACK)
    if index > 0:
        tl.atomic_xchg(scratch_base + index, own, sem="relaxed")
    prefix = tl.zeros([], kind)
    valid = False
    target = index - 1
    while target >= 0:
        flag = tl.full([], 0, DTYPE_VALUE_AS_UINT)
        pack = tl.full([], 0, DTYPE_PACK)
        while flag == 0:
            pack = tl.atomic_add(scratch_base + target,
                                 tl.full([], 0, DTYPE_PACK), sem="relaxed")
            flag = unpack_flag(pack, DTYPE_VALUE_AS_UINT)
        value = unpack_value(pack, kind, DTYPE_VALUE_AS_UINT)
        if valid:
            prefix = combine_fn(value, prefix)
        else:
            prefix = value
            valid = True
        if flag == 2:
            target = -1
        else:
            target = target - 1
    if valid:
        inclusive = combine_fn(prefix, block_value)
    else:
        inclusive = block_value
    done = pack_value_flag(inclusive, tl.full([], 2, DTYPE_VALUE_AS_UINT),
                           DTYPE_VALUE_AS_UINT, DTYPE_PACK)
    tl.atomic_xchg(scratch_base + index, done, sem="relaxed")
    return prefix


@triton.jit
def exclusive_scan_decoupled_lookback_64(scratch_base, block_value, index,
                                         combine_fn):
    """The same for values of 64 bits: three words each, a flag, the program's
    own value, and the combination up to it."""
    base = scratch_base + 3 * index
    own = block_value.to(tl.uint64, bitcast=True)
    if index > 0:
        tl.store(base + 1, own)
        tl.debug_barrier()
        tl.atomic_xchg(base, tl.full([], 1, tl.uint64), sem="release")
    prefix = tl.zeros([], block_value.dtype)
    valid = False
    target = index - 1
    while target >= 0:
        there = scratch_base + 3 * target
        flag = tl.full([], 0, tl.uint64)
        while flag == 0:
            flag = tl.atomic_add(there, tl.full([], 0, tl.uint64),
                                 sem="acquire")
        word = tl.load(there + flag.to(tl.int32))
        value = word.to(block_value.dtype, bitcast=True)
        if valid:
            prefix = combine_fn(value, prefix)
        else:
            prefix = value
            valid = True
        if flag == 2:
            target = -1
        else:
            target = target - 1
    if valid:
        inclusive = combine_fn(prefix, block_value)
    else:
        inclusive = block_value
    tl.store(base + 2, inclusive.to(tl.uint64, bitcast=True))
    tl.debug_barrier()
    tl.atomic_xchg(base, tl.full([], 2, tl.uint64), sem="release")
    return prefix


@triton.jit
def frexp(x):
    """Mantissa in [0.5, 1) and exponent of each lane."""
    up = libdevice.ilogb(x) + 1
    exponent = tl.where(x == 0, 0, up)
    return tl.where(x == 0, 0, libdevice.ldexp(x, -up)), exponent


@triton.jit
def select_one(x, mask, dim, keep_dims=False):
    """The only lane along an axis where mask holds."""
    bits: tl.constexpr = x.dtype.primitive_bitwidth
    if bits == 64:
        whole: tl.constexpr = tl.int64
    elif bits == 32:
        whole: tl.constexpr = tl.int32
    elif bits == 16:
        whole: tl.constexpr = tl.int16
    else:
        whole: tl.constexpr = tl.int8
    lanes = x.to(whole, bitcast=True)
    one = tl.sum(lanes * mask.to(whole), dim, keep_dims).to(whole)
    return one.to(x.dtype, bitcast=True)


@triton.jit
def _goes_first(x, at, other, other_at, descending: tl.constexpr,
                stable: tl.constexpr):
    if descending:
        first = x > other
        if is_floating(x):
            first |= (x != x) & (other == other)
    else:
        first = x < other
        if is_floating(x):
            first |= (x == x) & (other != other)
    same = x == other
    if is_floating(x):
        same |= (x != x) & (other != other)
    return first | (same & (at < other_at))


@triton.jit
def sort_with_index(x, idx, rnumel, dim: tl.constexpr = None,
                    stable: tl.constexpr = False,
                    descending: tl.constexpr = False):
    """Lanes of the last axis in order with their indices; lanes from rnumel
    on stay last.  Batcher's bitonic network over pairs of lanes."""
    last: tl.constexpr = len(x.shape) - 1
    n: tl.constexpr = x.shape[last]
    if last == 0:
        lane = tl.arange(0, n)
    else:
        lane = tl.arange(0, n)[None, :]
    lane = tl.broadcast_to(lane, x.shape)
    at = tl.broadcast_to(idx, x.shape)
    beyond = at.to(tl.int32)
    if rnumel is None:
        beyond = beyond < 0
    else:
        beyond = beyond >= rnumel
    beyond = beyond.to(tl.int32)
    for stage in tl.static_range(1, 21):
        for down in tl.static_range(stage):
            bit = 1 << (stage - 1 - down)
            if (1 << stage) <= n:
                partner = lane ^ bit
                other = tl.gather(x, partner, last)
                other_at = tl.gather(at, partner, last)
                other_beyond = tl.gather(beyond, partner, last)
                first = _goes_first(x, at, other, other_at, descending,
                                    stable)
                first = (beyond < other_beyond) | (
                    (beyond == other_beyond) & first)
                lower = (lane & bit) == 0
                upward = (lane & (1 << stage)) == 0
                keep = first == (lower == upward)
                x = tl.where(keep, x, other)
                at = tl.where(keep, at, other_at)
                beyond = tl.where(keep, beyond, other_beyond)
    return x, at


@triton.jit
def x_grid_barrier(sem):
    """Waits until every program of axis 0 is here; sem is an int32 that was 0
    before the first launch.  Its top bit flips when the last one arrives."""
    tl.debug_barrier()
    top = tl.full([], 0x80000000, tl.uint32)
    others = (tl.num_programs(0) - 1).to(tl.uint32)
    step = tl.full([], 1, tl.uint32)
    if tl.program_id(0) == 0:
        step = top - others
    word = sem.to(tl.pointer_type(tl.uint32), bitcast=True)
    before = tl.atomic_add(word, step, sem="release")
    flipped = False
    while not flipped:
        now = tl.atomic_add(word, tl.full([], 0, tl.uint32), sem="acquire")
        flipped = ((before ^ now) & top) != 0
    tl.debug_barrier()


@triton.jit
def gpu_barrier(sem):
    """As x_grid_barrier."""
    x_grid_barrier(sem)


@triton.jit
def if_mask(mask, val):
    """val, or None where there is no mask: `other` of a load."""
    return None if mask is None else val


@triton.jit
def exp(x, use_fast_math: tl.constexpr):
    """e to the x; the two ways of a GPU are one here."""
    return tl.exp(x)


@triton.jit
def online_softmax_reduce(lhs_max, lhs_sum, dim, use_fast_math: tl.constexpr):
    """(maximum, sum of exponentials) along dim of partial ones."""
    top = max2(lhs_max, dim)
    column = tl.expand_dims(top, dim)
    below = tl.where(column == float("-inf"), 0, lhs_max - column)
    return top, tl.sum(lhs_sum * exp(below, use_fast_math), dim)


@triton.jit
def _rescale(old_max, new_max, use_fast_math: tl.constexpr):
    """What a sum of exponentials is worth below a new maximum."""
    factor = exp(old_max - new_max, use_fast_math)
    return tl.where(new_max == float("-inf"), 1.0, factor)


@triton.jit
def online_softmax_combine_with_sum(lhs_max, lhs_sum, rhs_max, rhs_sum,
                                    use_fast_math: tl.constexpr):
    """Two partial softmaxes as one."""
    top = maximum(lhs_max, rhs_max)
    return top, (lhs_sum * _rescale(lhs_max, top, use_fast_math)
                 + rhs_sum * _rescale(rhs_max, top, use_fast_math))


@triton.jit
def online_softmax_combine(lhs_max, lhs_sum, rhs_max,
                           use_fast_math: tl.constexpr):
    """A partial softmax and a single value."""
    top = maximum(lhs_max, rhs_max)
    return top, (lhs_sum * _rescale(lhs_max, top, use_fast_math)
                 + _rescale(rhs_max, top, use_fast_math))


@triton.jit
def pow_integer(base, exponent):
    """base to the exponent, which is not negative; wraps."""
    bits: tl.constexpr = exponent.dtype.primitive_bitwidth
    left = exponent.to(tl.core.get_int_dtype(bits, False))
    power = tl.full(base.shape, 1, base.dtype)
    for _ in tl.static_range(bits):
        power = tl.where((left & 1) != 0, power * base, power)
        left = left >> 1
        base = base * base
    return power


@triton.jit
def fp8e4m3fn_to_float32(x):
    """Bits of fp8e4nv as fp32."""
    return x.to(tl.uint8).to(tl.float8e4nv, bitcast=True).to(tl.float32)


@triton.jit
def _in_order(a, b, c, d):
    """Four blocks, lane by lane by turns."""
    return tl.interleave(tl.interleave(a, c), tl.interleave(b, d))


@triton.jit
def rand4x(seed, offsets, BLOCK: tl.constexpr):
    """tl.rand of consecutive offsets, four from one counter."""
    at = offsets.to(tl.uint32)
    key = tl.min(seed + at * 0, axis=0)
    if BLOCK >= 4 and BLOCK % 4 == 0:
        quads = tl.min(at, axis=0) // 4 + tl.arange(0, BLOCK // 4)
        a, b, c, d = tl.rand4x(key, quads)
        return _in_order(a, b, c, d)
    else:
        return tl.rand(key, at)


@triton.jit
def randn4x(seed, offsets, BLOCK: tl.constexpr):
    """tl.randn of consecutive offsets, four from one counter."""
    at = offsets.to(tl.uint32)
    key = tl.min(seed + at * 0, axis=0)
    if BLOCK >= 4 and BLOCK % 4 == 0:
        quads = tl.min(at, axis=0) // 4 + tl.arange(0, BLOCK // 4)
        a, b, c, d = tl.randn4x(key, quads)
        return _in_order(a, b, c, d)
    else:
        return tl.randn(key, at)


@triton.jit
def rand_eager_kernel(seed, offset_blocks, tid, VEC: tl.constexpr):
    """The numbers that PyTorch's own kernels draw, by thread."""
    thread = tid.to(tl.uint64)
    counter = offset_blocks.to(tl.uint64) + (thread % VEC) // 4
    row = thread // VEC
    a, b, c, d = tl.philox(seed, counter.to(tl.uint32),
                           (counter >> 32).to(tl.uint32), row.to(tl.uint32),
                           (row >> 32).to(tl.uint32))
    lane = thread % 4
    low = tl.where(lane == 0, a, b)
    high = tl.where(lane == 2, c, d)
    drawn = tl.where(lane < 2, low, high).to(tl.float32)
    return 1.0 - (drawn * 2.3283064365386963e-10 + 1.1641532182693481e-10)


@triton.jit
def inline_asm_pack(x, pack: tl.constexpr):
    """One axis, with zeros between until pack divides the lanes."""
    lanes = x.ravel()
    for _ in tl.static_range(tl._log2(pack) - tl._log2(x.numel)):
        lanes = tl.interleave(lanes, tl.zeros_like(lanes))
    return lanes


@triton.jit
def inline_asm_unpack(x, orig, pack: tl.constexpr):
    """Undoes inline_asm_pack."""
    for _ in tl.static_range(tl._log2(pack) - tl._log2(orig.numel)):
        x, rest = tl.split(tl.reshape(x, [x.numel // 2, 2]))
    return tl.reshape(x, orig.shape)
