# prelude.py - operations written in the language itself.
#
# Each public function is tl.NAME (and x.NAME when it takes a tensor first).
# Meaning follows Triton 3.6's documentation; Philox follows Salmon et al.,
# "Parallel random numbers: as easy as 1, 2, 3" (SC 2011), with ten rounds.
import triton
import triton.language as tl


@triton.jit
def cdiv(x, div):
    """Quotient rounded up (both positive)."""
    return (x + div - 1) // div


@triton.jit
def sigmoid(x):
    """1 / (1 + exp(-x))."""
    return 1 / (1 + tl.exp(-x))


@triton.jit
def softmax(x, dim=None, keep_dims=False, ieee_rounding=False):
    """exp(x - max) normalised to sum 1 along dim (0)."""
    axis: tl.constexpr = 0 if dim is None else dim
    shifted = x - tl.max(x, axis, keep_dims=True)
    powers = tl.exp(shifted)
    return tl.fdiv(powers, tl.sum(powers, axis, keep_dims=True), ieee_rounding)


@triton.jit
def squeeze(x, dim: tl.constexpr):
    """Drops the axis dim, which must have size 1."""
    tl.static_assert(x.shape[dim] == 1)
    return x.reshape(x.shape[:dim] + x.shape[dim + 1:])


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
    key = tl.to_tensor(seed).to(tl.uint64)
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
    where = tl.to_tensor(offset)
    lo = where.to(tl.uint32)
    none = lo * 0
    if where.dtype.primitive_bitwidth > 32:
        return philox(seed, lo, (where >> 32).to(tl.uint32), none, none,
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
