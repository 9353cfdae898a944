"""Writes unary.spec, cast.spec, bitcast.spec, select.spec and literal.spec."""
from fractions import Fraction

from speclib import (BF16, E4B15, E5, F16, F32, F64, FLOATS, FP8, INF, INTS,
                     NAN, NINF, TL, TYPES, File, as_number, boundary, convert,
                     f_add, f_cmp, f_div, f_mul, is_special, lane, ordinary,
                     promote, value)

ME = 'make_elementwise.py'
I1, I32 = INTS[0], TYPES['i32']


def lanes_of(f, t, count):
    """Boundaries first, then whatever."""
    out = list(boundary(t))
    if len(out) > count:
        out = f.rng.sample(out, count)
    while len(out) < count and (t.is_float or t.hi - t.lo + 1 > len(out)):
        x = ordinary(t, f.rng)
        if x not in out:
            out.append(x)
    return out


# ---- unary ------------------------------------------------------------------

def negate(t, x):
    """The other sign, of zeros too (before Triton 3.8: 0 - x)."""
    return f_add(t, t.sign, x ^ t.sign) if t.is_float else t.wrap(-x)


def to_whole(t, x, up):
    v = value(t, x)
    if v in (NAN, INF, NINF, '-0'):
        return t.encode(v)
    r = -(-v // 1) if up else v // 1
    if r == 0 and (v < 0):
        return t.encode('-0')
    return t.encode(Fraction(r))


def unary():
    f = File('unary', 'one operand', ME)
    for t in INTS + FLOATS:
        ops = {'neg': ('-a', t, lambda x: negate(t, x))}
        if t.is_float:
            ops['absolute'] = ('tl.abs(a)', t, lambda x: x & ~t.sign)
        else:
            ops['inv'] = ('~a', t, lambda x: t.wrap(~x))
            ops['absolute'] = ('tl.abs(a)', t, lambda x: t.wrap(abs(x)))
        if t is I1:
            ops['no'] = ('not a', I1, lambda x: 1 - x)
        if t in (F32, F64):
            ops['down'] = ('tl.floor(a)', t, lambda x: to_whole(t, x, False))
            ops['up'] = ('tl.ceil(a)', t, lambda x: to_whole(t, x, True))
        lines = []
        for name, (_, r, fn) in ops.items():
            lines += [f'{name} {lane(t, x)} -> {lane(r, fn(x))}'
                      for x in lanes_of(f, t, 30)]
        f.block(t.name, f'a {t.name}',
                ', '.join(f'{n} {r.name}' for n, (_, r, _) in ops.items()),
                '\n'.join(f'{n} = {e}' for n, (e, _, _) in ops.items()), lines)
    f.text('''
== not
in: a i32, p *i32[4]
! c = not a => bitcast
! c = ~p => unary
! c = +a => unary operator +
! c = -p => unary

== floats have no ~
in: a f32
! c = ~a => unary operator ~

== floor and ceil
in: a f16, b bf16, i i32
! c = tl.floor(a) => fp16
! c = tl.ceil(b) => bf16
! c = tl.floor(i) => int32
''')
    f.save()


# ---- casts ------------------------------------------------------------------

def defined(a, b, x):
    """Whether the language says what x becomes."""
    if not a.is_float or b.is_float or b is I1:
        return True
    v = value(a, x)
    if v in (NAN, INF, NINF):
        return False
    n = as_number(v)
    return b.lo <= (int(n) if n >= 0 else -int(-n)) <= b.hi


def saturates(b):
    """cvt.rn.satfinite: fp8 of NVIDIA takes infinity to the largest."""
    return b.name in ('e4nv', 'e5')


def to_e4b15(a, x):
    """Triton's software: to fp16 toward zero, limited to 1.75, half up."""
    half = convert(x, a, F16, 'rtz')
    mag = half & 0x7fff
    mag = 0x3f00 if F16.decode(mag) == NAN else min(mag, 0x3f00)
    return (mag * 2 + 0x80 >> 8) | (half >> 8 & 0x80)


def cast(x, a, b, mode='rn'):
    if b is E4B15:
        return to_e4b15(a, x)
    v = value(a, x)
    if b.name in ('e4b8', 'e5b16') and v in (INF, NINF):
        return b.nan_code()
    if mode == 'rtz' and b is E5 and v in (INF, NINF):
        return b.encode(v)
    return convert(x, a, b, mode, b.is_float and saturates(b))


def near_ties(f, a, b, count):
    """Lanes of float a just at and beside the midpoints of float b."""
    out = []
    while len(out) < count:
        code = f.rng.randrange(b.max_code)
        if f.rng.random() < 0.3:
            code = f.rng.randrange(1 << b.mbits + 1)
        lo, hi = b.decode(code), b.decode(code + 1)
        if hi in (NAN, INF):
            continue
        mid = a.encode((as_number(lo) + as_number(hi)) / 2)
        x = mid + f.rng.choice([-1, 0, 0, 1])
        x |= a.sign * f.rng.getrandbits(1)
        if 0 <= x < 1 << a.bits and not is_special(a, x):
            out.append(x)
    return out


def int_ties(f, a, b, count):
    """Integers at and beside the midpoints of float b."""
    out = []
    while len(out) < count:
        e = f.rng.randrange(b.mbits + 2, a.bits - a.signed)
        if e == a.bits - a.signed or e >= b.bias:
            e = b.mbits + 2
        step = 1 << e - b.mbits - 1
        x = (1 << e) + (2 * f.rng.getrandbits(b.mbits) + 1) * step
        x += f.rng.choice([-1, 0, 0, 1])
        if a.signed and f.rng.getrandbits(1):
            x = -x
        if a.lo <= x <= a.hi:
            out.append(x)
    return out


def cast_lanes(f, a, b, count):
    xs = [x for x in lanes_of(f, a, count) if defined(a, b, x)]
    if a.is_float and b.is_float and b.bits < a.bits:
        xs += near_ties(f, a, b, count)
        top = a.encode(b.max) if a.encode(b.max) is not None else a.max_code
        xs += [x for x in (top, top + 1, top + 2) if not is_special(a, x)]
    if not a.is_float and b in FLOATS and a.bits > b.mbits + 1:
        xs += int_ties(f, a, b, 8)
    if a.is_float and not b.is_float and b is not I1:
        for edge in b.lo, b.hi:
            x = a.encode(Fraction(edge))
            xs += [y for y in (x - 1, x, x + 1)
                   if 0 <= y < 1 << a.bits and defined(a, b, y)]
    return sorted(set(xs))


def casts():
    f = File('cast', 'every conversion of one type to another', ME)
    usual = INTS + FLOATS
    for a in usual + FP8:
        for group in (usual, FP8):
            outs, lines = [], []
            for b in group:
                if a is b or a is E4B15 and b not in (F16, F32):
                    continue
                if a in FP8 and (b not in FLOATS or b is F64):
                    continue  # refused
                if b in FP8 and a not in (F16, BF16, F32):
                    continue
                if b is E4B15 and a is BF16:
                    continue
                outs.append(b)
                xs = range(256) if a in FP8 else cast_lanes(f, a, b, 16)
                lines += [f'to_{b.name} {lane(a, x)} -> '
                          f'{lane(b, cast(x, a, b))}' for x in xs]
            emit(f, a, outs, lines, '')
    for a, b in ((F32, F16), (F32, BF16), (F32, E5)):
        xs = cast_lanes(f, a, b, 24)
        emit(f, a, [b], [f'to_{b.name} {lane(a, x)} -> '
                         f'{lane(b, cast(x, a, b, "rtz"))}' for x in xs],
             ", fp_downcast_rounding='rtz'")
    f.text('''
== rounding is for casts that lose bits
in: a f32, h f16, b bf16, i i32
! c = a.to(tl.int32, fp_downcast_rounding='rtz') => fp_downcast_rounding
! c = a.to(tl.float64, fp_downcast_rounding='rtz') => fp_downcast_rounding
! c = h.to(tl.bfloat16, fp_downcast_rounding='rtne') => fp_downcast_rounding
! c = i.to(tl.float16, fp_downcast_rounding='rtz') => fp_downcast_rounding
! c = a.to(tl.float16, fp_downcast_rounding='rtn') => rounding mode

== integers and 8-bit floats do not convert
in: a i32, b e5, c e4nv
! d = a.to(tl.float8e5) => cannot cast
! d = a.to(tl.float8e4nv) => cannot cast
! d = b.to(tl.int32) => cannot cast
! d = c.to(tl.int1) => cannot cast

== what no target of NVIDIA converts
in: a e5, b e4nv, c f64, d f16, e bf16, f f32
! y = a.to(tl.float8e4nv) => no conversion
! y = b.to(tl.float8e5) => no conversion
! y = a.to(tl.float64) => cast to tl.float32 first
! y = b.to(tl.float64) => cast to tl.float32 first
! y = c.to(tl.float8e5) => cast to tl.float32 first
! y = c.to(tl.float16, fp_downcast_rounding='rtz') => toward zero
! y = c.to(tl.float32, fp_downcast_rounding='rtz') => toward zero
! y = d.to(tl.float8e5, fp_downcast_rounding='rtz') => toward zero
! y = e.to(tl.float8e4nv, fp_downcast_rounding='rtz') => toward zero
! y = f.to(tl.float8e4nv, fp_downcast_rounding='rtz') => toward zero

== pointers
in: p *f32[4]
! c = p.to(tl.int32) => cannot cast
! c = p.to(tl.float32) => cannot cast

== fp8e4b15 comes from fp16 and fp32 alone
in: a bf16, b f64
! c = a.to(tl.float8e4b15) => fp8e4b15
! c = b.to(tl.float8e4b15) => fp8e4b15
''')
    f.save()


def emit(f, a, outs, lines, how):
    if outs:
        if len(outs) == 1:
            lines = [x.split(' ', 1)[1] for x in lines]
        f.block(f'{a.name} to ' + ('others' if len(outs) > 1 else outs[0].name)
                + (' toward zero' if how else ''),
                f'a {a.name}', ', '.join(f'to_{b.name} {b.name}' for b in outs),
                '\n'.join(f'to_{b.name} = a.to(tl.{TL[b.name]}{how})'
                          for b in outs), lines)


# ---- bitcasts ----------------------------------------------------------------

def pattern(t, x):
    return x if t.is_float else x & (1 << t.bits) - 1


def from_pattern(t, x):
    return x if t.is_float else t.wrap(x)


def bits_text(t, x):
    """Bits, so that a NaN's payload counts."""
    return '0x%0*x' % (t.bits // 4, x) if t.is_float else lane(t, x)


def bitcasts():
    f = File('bitcast', 'the same bits as another type', ME)
    for a in INTS[1:] + FLOATS + FP8:
        outs, lines = [], []
        for b in INTS[1:] + FLOATS + FP8:
            if a is b or a.bits != b.bits:
                continue
            outs.append(b)
            for x in lanes_of(f, a, 10):
                lines.append(f'as_{b.name} {bits_text(a, x)} -> ' + bits_text(
                    b, from_pattern(b, pattern(a, x))))
        if len(outs) == 1:
            lines = [x.split(' ', 1)[1] for x in lines]
        f.block(a.name, f'a {a.name}',
                ', '.join(f'as_{b.name} {b.name}' for b in outs),
                '\n'.join(f'as_{b.name} = a.to(tl.{TL[b.name]}, bitcast=True)'
                          for b in outs), lines)
    f.text('''
== widths must be equal
in: a i32, b f16, c i1
! d = a.to(tl.float16, bitcast=True) => bitcast
! d = b.to(tl.float32, bitcast=True) => bitcast
! d = c.to(tl.int8, bitcast=True) => bitcast
! d = tl.cast(a, tl.int64, bitcast=True) => bitcast
''')
    f.save()


# ---- where, maximum, minimum, clamp ------------------------------------------

def pick(t, x, y, larger, nan_wins):
    if t.is_float:
        a, b = t.decode(x), t.decode(y)
        if NAN in (a, b):
            if nan_wins or a == b:
                return t.encode(NAN)
            return y if a == NAN else x
        c = f_cmp(t, x, y)
        if c == 0 and x != y:  # -0 is below +0
            return min(x, y) if larger else max(x, y)
    else:
        c = (x > y) - (x < y)
    return (x if c > 0 else y) if larger else (x if c < 0 else y)


def minmax_type(a, b, old=False):
    """old: before 3.9, which does not widen bf16."""
    if old:
        a, b = (F32 if t is BF16 else t for t in (a, b))
    return promote(a, b)


def draw(f, t):
    return f.rng.choice(boundary(t)) if f.rng.random() < 0.7 \
        else ordinary(t, f.rng)


def select():
    f = File('select', 'where, maximum, minimum, clamp', ME)
    types = INTS + FLOATS
    for a in types:
        for b in types:
            near = a is b or (types.index(a) + types.index(b)) % 3 == 0
            if near or {a, b} == {F16, BF16}:
                minmax(f, a, b, 10 if a is b else 4)
            if minmax_type(a, b) is not minmax_type(a, b, True):
                minmax(f, a, b, 10 if a is b else 4, triton='3.8')
    for t in (F16, BF16, F32, F64):
        clamp(f, t)
    clamp(f, BF16, triton='3.8')
    for t in types:
        fma(f, t) if t.is_float else umulhi(f, t)
    f.text('''
== clamp is for floats
triton: 3.8
in: a i32
! c = tl.clamp(a, a, a) => float

== clamp of integers
in: a i32, b u8, c i64
out: d i32, e u8, f i64, g i32
    d = tl.clamp(a, 3, 7)
    e = tl.clamp(b, 3, 7)
    f = tl.clamp(a, c, 7)
    g = tl.clamp(a, 7, 3)
--
1 200 5 -> 3 7 5 3
-9 4 -20 -> 3 4 -9 3
9 1 9 -> 7 3 7 3

== numbers of one operand
in: a i32, b f32
! c = tl.umulhi(b, b) => fp32
! c = tl.maximum(a) => y

== umulhi is for 32 and 64 bits
in: a i8, b u16
! c = tl.umulhi(a, a) => int8
! c = tl.umulhi(b, b) => uint16

== where
in: p *f32[4], c i1, x f32, q *i32[4]
! d = tl.where(c, p, x) => pointer
! d = tl.where(c, p, q) => pointer
! d = tl.where(c, x) => y
''')
    f.save()


def minmax(f, a, b, count, **keys):
    t, w = minmax_type(a, b, bool(keys)), promote(a, b)
    ops = {'largest': 'tl.maximum(a, b)', 'smallest': 'tl.minimum(a, b)'}
    if t.is_float:
        ops['largest_nan'] = 'tl.maximum(a, b, tl.PropagateNan.ALL)'
        ops['smallest_nan'] = 'tl.minimum(a, b, tl.PropagateNan.ALL)'
    lines = []
    for op in ops:
        for _ in range(count):
            x, y = draw(f, a), draw(f, b)
            r = pick(t, convert(x, a, t), convert(y, b, t), 'larg' in op,
                     'nan' in op)
            lines.append(f'{op} {lane(a, x)} {lane(b, y)} 0 -> {lane(t, r)}')
    outs = [f'{op} {t.name}' for op in ops] + [f'chosen {w.name}']
    ops['chosen'] = 'tl.where(c, a, b)'
    for _ in range(count):
        x, y, c = draw(f, a), draw(f, b), f.rng.getrandbits(1)
        r = convert(x if c else y, a if c else b, w)
        lines.append(f'chosen {lane(a, x)} {lane(b, y)} {c} -> {lane(w, r)}')
    f.block(f'{a.name} with {b.name}', f'a {a.name}, b {b.name}, c i1',
            ', '.join(outs), '\n'.join(f'{n} = {e}' for n, e in ops.items()),
            lines, **keys)


def clamp(f, t, **keys):
    r = F32 if t is BF16 and keys else t
    lines = []
    for i in range(40):
        x, lo, hi = (ordinary(t, f.rng) for _ in range(3))
        if i % 2:
            x = f.rng.choice(boundary(t))
        if f_cmp(t, lo, hi) > 0:
            lo, hi = hi, lo
        x2, lo2, hi2 = (convert(v, t, r) for v in (x, lo, hi))
        for op, wins in (('limited', False), ('limited_nan', True)):
            if r.decode(x2) == NAN:
                # without propagation the number that is left: the lower bound
                v = r.encode(NAN) if wins else lo2
            else:
                v = pick(r, pick(r, x2, lo2, True, False), hi2, False, False)
            lines.append(f'{op} {lane(t, x)} {lane(t, lo)} {lane(t, hi)} -> '
                         f'{lane(r, v)}')
    f.block(f'clamp {t.name}', f'a {t.name}, lo {t.name}, hi {t.name}',
            f'limited {r.name}, limited_nan {r.name}',
            'limited = tl.clamp(a, lo, hi)\n'
            'limited_nan = tl.clamp(a, lo, hi, tl.PropagateNan.ALL)', lines,
            **keys)


def fma(f, t):
    from speclib import f_fma
    lines = []
    for i in range(30):
        x, y, z = (ordinary(t, f.rng) for _ in range(3))
        if i % 5 == 0:
            x = f.rng.choice(boundary(t))
        if i % 5 == 1 and t.decode(f_mul(t, x, y)) not in (NAN, INF, NINF):
            z = f_mul(t, x, y) ^ t.sign  # what the product loses
        lines.append(f'{lane(t, x)} {lane(t, y)} {lane(t, z)} -> '
                     f'{lane(t, f_fma(t, x, y, z))}')
    f.block(f'fma {t.name}', f'a {t.name}, b {t.name}, c {t.name}',
            f'd {t.name}', 'd = tl.fma(a, b, c)', lines, op='fma')


def umulhi(f, t):
    if t.bits < 32:
        return
    lines = []
    for _ in range(20):
        x, y = draw(f, t), draw(f, t)
        r = t.wrap(pattern(t, x) * pattern(t, y) >> t.bits)
        lines.append(f'{lane(t, x)} {lane(t, y)} -> {lane(t, r)}')
    f.block(f'umulhi {t.name}', f'a {t.name}, b {t.name}', f'c {t.name}',
            'c = tl.umulhi(a, b)', lines, op='umulhi')


# ---- literals ----------------------------------------------------------------

def literal_tensor(text):
    """The type of a literal that becomes a tensor by itself."""
    if text in ('True', 'False'):
        return I1
    v = literal_value(text)
    if isinstance(v, int):
        for n in 'i32', 'u32', 'i64', 'u64':
            if TYPES[n].lo <= v <= TYPES[n].hi:
                return TYPES[n]
    small = v != 0 and abs(v) < Fraction(1, 2 ** 126)
    return F64 if small else F32


def literal_value(text):
    if text in ('True', 'False'):
        return int(text == 'True')
    if '.' in text or 'e' in text:
        return Fraction(float(text))  # Python's own number: a double
    return int(text)


def beside(t, text, div):
    """The type of tensor t with a literal of + - * and the like."""
    k = literal_tensor(text)
    if k.kind <= t.kind:
        return F32 if div and t in (F16, BF16) else t
    return promote(t, k, div)


def as_lane(t, text):
    v = literal_value(text)
    return t.encode(Fraction(v)) if t.is_float else int(v)


def older_ops(t, text):
    """Before 3.9 a number is a tensor here, which promotes."""
    k = literal_tensor(text)
    m, mm = promote(t, k), minmax_type(t, k, True)
    return {'less': (f'a < {text}', m, I1),
            'atleast': (f'tl.maximum(a, {text})', mm, mm)}


def literal_ops(t, text):
    """name: (expression, type computed in, result type)"""
    p = beside(t, text, False)
    ops = {'plus': (f'a + {text}', p, p), 'from_': (f'{text} - a', p, p),
           'times': (f'a * {text}', p, p), 'less': (f'a < {text}', p, I1)}
    ops['atleast'] = (f'tl.maximum(a, {text})', p, p)
    ops['either'] = (f'tl.where(a == a, {text}, a)', p, p)
    if p.is_float:
        q = beside(t, text, True)
        ops['over'] = (f'a / {text}', q, q)
    return ops


def literal_result(name, t, x, y):
    if name == 'less':
        c = f_cmp(t, x, y) if t.is_float else (x > y) - (x < y)
        return int(c is not None and c < 0)
    if name == 'atleast':
        return pick(t, x, y, True, False)
    if name == 'either':
        return y
    if name == 'over':
        return f_div(t, x, y)
    if t.is_float:
        return {'plus': lambda: f_add(t, x, y), 'times': lambda: f_mul(t, x, y),
                'from_': lambda: f_add(t, y, x ^ t.sign)}[name]()
    return t.wrap({'plus': x + y, 'times': x * y, 'from_': y - x}[name])


def literals():
    f = File('literal', 'numbers in the source beside a tensor', ME)
    texts = ['3', '-2', '100', '300', '70000', '3000000000', '5000000000',
             '0.5', '-1.25', '0.1', '1e-40', 'True']
    for t in INTS + FLOATS:
        for text in texts:
            one_literal(f, t, text, literal_ops(t, text))
            if t is not I1:
                one_literal(f, t, text, older_ops(t, text), triton='3.8')
    f.text('''
== a literal must fit the type
in: a i8, b u8, c u32, h i16
! d = a + 200 => out of range
! d = a * -129 => out of range
! d = b + 256 => out of range
! d = b - -1 => negative
! d = c + -1 => negative
! d = h & 65536 => out of range
! d = a < 200 => out of range
! d = b == 256 => out of range
! d = c != -1 => negative
! d = tl.maximum(b, -1) => negative
! d = tl.minimum(a, 300) => out of range

== // of a float
in: a i32, b f16
! d = a // 2.0 => for integers
! d = b // 2 => for integers
''')
    f.save()


def one_literal(f, t, text, ops, **keys):
    v = literal_value(text)
    p = beside(t, text, False)
    fits = p.is_float or p.lo <= v <= p.hi
    if not fits:
        return
    outs, body, lines = [], [], []
    for name, (expr, w, r) in ops.items():
        if t is I1 and name != 'plus':
            continue
        own = ' ulp=2 own=0' if name == 'over' and r is F32 else ''
        outs.append(f'{name} {r.name}{own}')
        body.append(f'{name} = {expr}')
        xs = [x for x in lanes_of(f, t, 9) if not is_special(t, x)][:3]
        for x in xs:
            k = literal_tensor(text) if keys else w
            y = convert(as_lane(k, text), k, w)
            lines.append(f'{name} {lane(t, x)} -> ' + lane(
                r, literal_result(name, w, convert(x, t, w), y)))
    if len(outs) == 1:
        lines = [x.split(' ', 1)[1] for x in lines]
    f.block(f'{t.name} with {text}', f'a {t.name}', ', '.join(outs),
            '\n'.join(body), lines, op='literal', **keys)


if __name__ == '__main__':
    unary()
    casts()
    bitcasts()
    select()
    literals()
