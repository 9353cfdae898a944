"""Writes math.spec: functions of floats.  Needs mpmath."""
from fractions import Fraction

import mpmath

from make_random import randint4, uniform
from speclib import (F32, F64, INF, INTS, NAN, NINF, File, as_number, boundary,
                     f_div, f_mul, is_special, lane, ordinary, vector)

ME = 'make_math.py'
mpmath.mp.prec = 1300  # enough for sin of the largest fp64


def to_mp(v):
    v = as_number(v)
    return mpmath.mpf(v.numerator) / v.denominator


def to_fraction(m):
    sign, man, exp, _ = m._mpf_
    v = Fraction(int(man)) * Fraction(2) ** int(exp)
    return -v if sign else v


def zero_like(v):
    return '-0' if v == '-0' else Fraction(0)


def exp_like(fn):
    def f(v):
        if v == NINF:
            return Fraction(0)
        return INF if v == INF else fn(to_mp(v))
    return f


def log_like(fn):
    def f(v):
        if v == INF:
            return INF
        if v == NINF or as_number(v) < 0:
            return NAN
        return NINF if as_number(v) == 0 else fn(to_mp(v))
    return f


def wave(fn, odd):
    def f(v):
        if v in (INF, NINF):
            return NAN
        if odd and as_number(v) == 0:
            return zero_like(v)
        return fn(to_mp(v))
    return f


def root(v):
    if v in ('-0', INF):
        return v
    return NAN if v == NINF or v < 0 else mpmath.sqrt(to_mp(v))


def inverse_root(v):
    if as_number(v) == 0 if v not in (INF, NINF) else False:
        return NINF if v == '-0' else INF
    if v == INF:
        return Fraction(0)
    return NAN if v == NINF or v < 0 else 1 / mpmath.sqrt(to_mp(v))


def error_function(v):
    if v in (INF, NINF):
        return Fraction(1 if v == INF else -1)
    if as_number(v) == 0:
        return zero_like(v)
    return mpmath.erf(to_mp(v)) if abs(v) < 30 else Fraction(1 if v > 0 else -1)


def power_of_e(x):
    if x < -2000:
        return Fraction(0)
    return INF if x > 2000 else mpmath.exp(x)


def power_of_two(x):
    if x < -2000:
        return Fraction(0)
    return INF if x > 2000 else mpmath.power(2, x)


FUNCTIONS = {
    'exp': (exp_like(power_of_e), 90), 'exp2': (exp_like(power_of_two), 130),
    'log': (log_like(mpmath.log), None),
    'log2': (log_like(lambda x: mpmath.log(x, 2)), None),
    'sin': (wave(mpmath.sin, True), 1000),
    'cos': (wave(mpmath.cos, False), 1000),
    'sqrt': (root, None), 'rsqrt': (inverse_root, None),
    'erf': (error_function, 4)}
# Where the language asks for less than tkdbg gives (see docs/semantics.md).
BOUND = {'sqrt': ' ulp=1 own=0', 'sqrt_rn': ''}


def apply(t, fn, x):
    v = t.decode(x)
    if v == NAN:
        return t.encode(NAN)
    r = fn(v)
    if isinstance(r, mpmath.mpf):
        r = to_fraction(r)
    if r == 0 and r != '-0' and v not in (INF, NINF, '-0') and v < 0:
        return t.encode(Fraction(0))
    return t.encode(r)


def arguments(f, t, limit, count):
    xs = list(boundary(t))
    while len(xs) < count:
        if limit and f.rng.random() < 0.8:
            v = Fraction(f.rng.randint(-limit * 2 ** 20, limit * 2 ** 20),
                         2 ** 20 * f.rng.choice([1, 7, 100]))
            xs.append(t.encode(v))
        else:
            x = f.rng.getrandbits(t.bits)
            if not is_special(t, x):
                xs.append(x)
    return xs


def unary(f, t, name, fn, limit, bound):
    xs = arguments(f, t, limit, 90 if t is F32 else 70)
    f.block(f'{name} {t.name}', f'a {t.name}', f'b {t.name}{bound}',
            f'b = tl.{name}(a)',
            [f'{lane(t, x)} -> {lane(t, apply(t, fn, x))}' for x in xs],
            op=name)


def quotient(f, t, name, call, bound):
    lines = []
    for i in range(80):
        x, y = (f.rng.choice(boundary(t)) if i % 3 == 0 else ordinary(t, f.rng)
                for _ in range(2))
        lines.append(f'{lane(t, x)} {lane(t, y)} -> {lane(t, f_div(t, x, y))}')
    f.block(f'{name} {t.name}', f'a {t.name}, b {t.name}',
            f'c {t.name}{bound}', f'c = {call}', lines, op=name)


def logistic(v):
    if v in (INF, NINF):
        return Fraction(1 if v == INF else 0)
    if abs(as_number(v)) > 2000:
        return Fraction(1 if v > 0 else 0)
    return 1 / (1 + mpmath.exp(-to_mp(v)))


def whole_quotient(f):
    for t in INTS[1:]:
        lines = []
        for _ in range(12):
            x, y = f.rng.randint(0, t.hi // 2), f.rng.randint(1, 100)
            lines.append(f'{x} {y} -> {-(-x // y)}')
        f.block(f'cdiv {t.name}', f'a {t.name}, b {t.name}', f'c {t.name}',
                'c = tl.cdiv(a, b)', lines, op='cdiv')


def rounded(m):
    return F32.encode(to_fraction(m) if isinstance(m, mpmath.mpf) else m)


def normals(u1, u2):
    """Box and Muller's two numbers; every step rounded to fp32."""
    least = F32.encode(Fraction(1, 10 ** 7))
    u1 = max(u1, least)  # both positive: codes are ordered as numbers
    log = rounded(mpmath.log(to_mp(F32.decode(u1))))
    two = F32.encode(Fraction(-2))
    radius = rounded(mpmath.sqrt(to_mp(F32.decode(f_mul(F32, two, log)))))
    turn = F32.encode(Fraction(6.283185307179586))
    angle = to_mp(F32.decode(f_mul(F32, turn, u2)))
    return (f_mul(F32, radius, rounded(mpmath.cos(angle))),
            f_mul(F32, radius, rounded(mpmath.sin(angle))))


def normal_numbers(f):
    lines, four, pairs = [], [], []
    for i in range(40):
        seed, at = f.rng.getrandbits(31), f.rng.getrandbits(31)
        u = [uniform(v) for v in randint4(seed, at)]
        w, x = normals(u[0], u[1])
        y, z = normals(u[2], u[3])
        lines.append(f'{seed} {at} -> {lane(F32, w)}')
        four.append(f'{seed} {at} -> ' + ' '.join(
            lane(F32, v) for v in (w, x, y, z)))
        pairs.append(f'{lane(F32, u[0])} {lane(F32, u[1])} -> {lane(F32, w)} '
                     + lane(F32, x))
    f.block('randn', 's i32, o i32', 'a f32 ulp=4', 'a = tl.randn(s, o)', lines,
            op='randn')
    f.block('randn4x', 's i32, o i32',
            'a f32 ulp=4, b f32 ulp=4, c f32 ulp=4, d f32 ulp=4',
            'a, b, c, d = tl.randn4x(s, o)', four, op='randn4x')
    f.block('pair_uniform_to_normal', 'u f32, v f32',
            'a f32 ulp=4, b f32 ulp=4',
            'a, b = tl.pair_uniform_to_normal(u, v)', pairs,
            op='pair_uniform_to_normal')


def softmax(f):
    lines = []
    for _ in range(20):
        xs = [ordinary(F32, f.rng) for _ in range(8)]
        e = [mpmath.exp(to_mp(F32.decode(x))) for x in xs]
        lines.append(f'{vector(F32, xs)} -> '
                     + vector(F32, [rounded(v / sum(e)) for v in e]))
    f.block('softmax', 'x f32[8]', 'y f32[8] ulp=64', 'y = tl.softmax(x)',
            lines, op='softmax')


def main():
    f = File('math', 'functions of floats', ME)
    for t in F32, F64:
        for name, (fn, limit) in FUNCTIONS.items():
            bound = BOUND.get(name, ' ulp=1')
            unary(f, t, name, fn, limit, bound if t is F32 else ' ulp=1')
        quotient(f, t, 'fdiv', 'tl.fdiv(a, b)',
                 ' ulp=2 own=0' if t is F32 else '')
    unary(f, F32, 'sqrt_rn', root, None, '')
    quotient(f, F32, 'div_rn', 'tl.div_rn(a, b)', '')
    # Three roundings and exp's: within a few units of the true value.
    xs = arguments(f, F32, 20, 60)
    f.block('sigmoid f32', 'a f32', 'b f32 ulp=4', 'b = tl.sigmoid(a)',
            [f'{lane(F32, x)} -> {lane(F32, apply(F32, logistic, x))}'
             for x in xs if is_special(F32, x) or abs(as_number(
                 F32.decode(x))) < 80], op='sigmoid')
    whole_quotient(f)
    normal_numbers(f)
    softmax(f)
    f.text('''
== functions of fp32 and fp64 alone
in: a f16, b bf16, c i32, d f64
! e = tl.exp(a) => fp16
! e = tl.exp2(b) => bf16
! e = tl.log(c) => int32
! e = tl.log2(a) => fp16
! e = tl.sin(b) => bf16
! e = tl.cos(c) => int32
! e = tl.sqrt(a) => fp16
! e = tl.rsqrt(b) => bf16
! e = tl.erf(c) => int32
! e = tl.sqrt_rn(d) => fp64
! e = tl.div_rn(d, d) => fp64
! e = tl.fdiv(c, c) => float
! e = tl.exp(a, b) => argument
! e = tl.exp() => x
''')
    f.save()


if __name__ == '__main__':
    main()
