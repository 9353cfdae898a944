"""Writes libdevice_values.case: one value of every function of libdevice.

    python3 tests/language/make_libdevice_cases.py tests/language

What is expected is worked out by Python's integers and by mpmath, not by
tkdbg.  fp32 results are printed and must be the correctly rounded ones; fp64
results must be within 2^-49 of the exact one.  Needs mpmath.
"""
import os
import re
import struct

from mpmath import (acos, acosh, asin, asinh, atan, atan2, atanh, besseli,
                    besselj, bessely, cbrt, cos, cosh, cospi, erf, erfc,
                    erfinv, exp, expm1, gamma, hypot, log, log10, log1p,
                    loggamma, mp, mpf, ncdf, sin, sinh, sinpi, sqrt, tan,
                    tanh)

from speclib import into

mp.prec = 200
HERE = os.path.dirname(os.path.abspath(__file__))
TABLE = os.path.join(HERE, '..', '..', 'src', 'ir', 'libdevice.def')


def fp32(x):
    return struct.unpack('<f', struct.pack('<f', float(x)))[0]


def as_int(bits, n):
    return bits - (1 << n) if bits >> (n - 1) else bits


X, Y, Z, W = (mpf(v) for v in ('0.625', '0.375', '0.8125', '-1.25'))
F1 = {
    'exp': exp, 'exp2': lambda x: mpf(2) ** x, 'exp10': lambda x: 10 ** x,
    'expm1': expm1, 'log': log, 'log2': lambda x: log(x) / log(2),
    'log10': log10, 'log1p': log1p, 'cbrt': cbrt,
    'rcbrt': lambda x: 1 / cbrt(x), 'sqrt': sqrt,
    'rsqrt': lambda x: 1 / sqrt(x), 'sin': sin, 'cos': cos, 'tan': tan,
    'sinpi': sinpi, 'cospi': cospi, 'asin': asin, 'acos': acos, 'atan': atan,
    'sinh': sinh, 'cosh': cosh, 'tanh': tanh, 'asinh': asinh,
    'acosh': lambda x: acosh(x + 2), 'atanh': atanh, 'erf': erf, 'erfc': erfc,
    'erfcx': lambda x: exp(x * x) * erfc(x), 'erfinv': erfinv,
    'erfcinv': lambda x: erfinv(1 - x), 'normcdf': ncdf,
    'normcdfinv': lambda x: sqrt(mpf(2)) * erfinv(2 * x - 1),
    'lgamma': loggamma, 'tgamma': gamma, 'j0': lambda x: besselj(0, x),
    'j1': lambda x: besselj(1, x), 'y0': lambda x: bessely(0, x),
    'y1': lambda x: bessely(1, x),
    'cyl_bessel_i0': lambda x: besseli(0, x),
    'cyl_bessel_i1': lambda x: besseli(1, x), 'abs': abs,
    'rcp_rn': lambda x: 1 / x, 'sqrt_rn': sqrt,
}
F2 = {
    'pow': lambda x, y: x ** y, 'atan2': atan2, 'hypot': hypot,
    'rhypot': lambda x, y: 1 / hypot(x, y), 'fmod': lambda x, y: mpf('0.25'),
    'remainder': lambda x, y: mpf('-0.125'), 'fdim': lambda x, y: x - y,
    'add_rn': lambda x, y: x + y, 'sub_rn': lambda x, y: x - y,
    'mul_rn': lambda x, y: x * y, 'div_rn': lambda x, y: x / y,
    'copysign': lambda x, y: x,
}
F3 = {
    'fma': lambda x, y, z: x * y + z, 'fma_rn': lambda x, y, z: x * y + z,
    'norm3d': lambda *v: sqrt(sum(x * x for x in v)),
    'rnorm3d': lambda *v: 1 / sqrt(sum(x * x for x in v)),
}
F4 = {
    'norm4d': lambda *v: sqrt(sum(x * x for x in v)),
    'rnorm4d': lambda *v: 1 / sqrt(sum(x * x for x in v)),
}

# name, arguments as written, what is printed
EXACT = [
    ('clz', '0x00f0', 24), ('popc', '0x00f7', 7), ('ffs', '0x00f0', 5),
    ('brev', '1', as_int(1 << 31, 32)),
    ('byte_perm', '0x33221100, 0x77665544, 0x7531', 0x77553311),
    ('mulhi', '0x40000000, 12', 3), ('mul24', '0x01000003, 5', 15),
    ('sad', '-3, 4, tl.full([], 5, tl.uint32)', 12),
    ('hadd', '-3, 4', 0), ('rhadd', '-3, 4', 1), ('abs', '-7', 7),
    ('floor', '-1.5', -2.0), ('ceil', '-1.5', -1.0), ('trunc', '-1.5', -1.0),
    ('round', '2.5', 3.0), ('rint', '2.5', 2.0), ('nearbyint', '3.5', 4.0),
    ('llrint', '2.5', 2), ('llround', '2.5', 3),
    ('isnan', 'float("nan")', True), ('isinf', 'float("-inf")', True),
    ('finitef', 'float("inf")', False), ('isfinited', 'd(1.0)', True),
    ('signbit', '-2.0', 1), ('copysign', '3.0, -1.0', -3.0),
    ('nextafter', '1.0, 2.0', fp32(1 + 2 ** -23)), ('ilogb', '10.0', 3),
    ('logb', '10.0', 3.0), ('ldexp', '0.75, 4', 12.0),
    ('scalbn', '0.75, -2', 0.1875), ('saturatef', '1.5', 1.0),
    ('rsqrt_rn', '4.0', 0.5), ('rcp64h', 'd(4.0)', 0.25),
    ('int2double_rn', '-5', -5.0),
    ('uint2double_rn', 'tl.full([], 5, tl.uint32)', 5.0),
    ('hiloint2double', '0x3ff80000, 0', 1.5),
    ('double2loint', 'd(1.5)', 0), ('double2hiint', 'd(1.5)', 0x3ff80000),
    ('int_as_float', '0x3fc00000', 1.5), ('float_as_int', '1.5', 0x3fc00000),
    ('uint_as_float', 'tl.full([], 0x3fc00000, tl.uint32)', 1.5),
    ('float_as_uint', '1.5', 0x3fc00000),
    ('longlong_as_double', 'tl.full([], 0x3ff8000000000000, tl.int64)', 1.5),
    ('double_as_longlong', 'd(1.5)', 0x3ff8000000000000),
    ('fast_dividef', '3.0, 2.0', 1.5), ('fast_sinf', '0.0', 0.0),
    ('fast_cosf', '0.0', 1.0), ('fast_tanf', '0.0', 0.0),
    ('fast_tanhf', '0.0', 0.0), ('fast_expf', '0.0', 1.0),
    ('fast_exp10f', '2.0', 100.0), ('fast_logf', '1.0', 0.0),
    ('fast_log2f', '8.0', 3.0), ('fast_log10f', '1000.0', 3.0),
    ('fast_powf', '2.0, 3.0', 8.0),
]


def directed():
    """Rows of functions with a rounding direction, from exact bounds."""
    one, below = fp32(1.0), fp32(1 - 2 ** -24)
    third, up = fp32(0.33333331346511841), fp32(0.3333333432674408)
    four = {
        'add': ('1.0, -1e-20', (one, below, below, one)),
        'sub': ('1.0, 1e-20', (one, below, below, one)),
        'mul': ('0.99999994, 0.99999994',
                (fp32(1 - 2 ** -23), fp32(1 - 2 ** -23), fp32(1 - 2 ** -23),
                 below)),
        'div': ('1.0, 3.0', (up, third, third, up)),
        'rcp': ('3.0', (up, third, third, up)),
        'fma': ('1.0, 1.0, -1e-20', (one, below, below, one)),
        'sqrt': ('0.99999994', (below, below, below, one)),
        'double2float': ('d(1.0) / d(3.0)', (up, third, third, up)),
    }
    for kind in ('float2int', 'double2int', 'float2uint', 'double2uint',
                 'float2ll', 'double2ll', 'float2ull', 'double2ull'):
        arg = 'd(2.5)' if kind.startswith('double') else '2.5'
        four[kind] = (arg, (2, 2, 2, 3))
    odd = (1 << 24) + 1
    halves = (float(odd - 1), float(odd - 1), float(odd - 1), float(odd + 1))
    four['int2float'] = (str(odd), halves)
    four['uint2float'] = (f'tl.full([], {odd}, tl.uint32)', halves)
    four['ll2float'] = (f'tl.full([], {odd}, tl.int64)', halves)
    four['ull2float'] = (f'tl.full([], {odd}, tl.uint64)', halves)
    odd = (1 << 53) + 1
    halves = (float(odd - 1), float(odd - 1), float(odd - 1), float(odd + 1))
    four['ll2double'] = (f'tl.full([], {odd}, tl.int64)', halves)
    four['ull2double'] = (f'tl.full([], {odd}, tl.uint64)', halves)
    for name, (args, values) in four.items():
        for direction, value in zip(('rn', 'rz', 'rd', 'ru'), values):
            yield f'{name}_{direction}', args, value


def literal(value):
    if isinstance(value, bool) or isinstance(value, int):
        return str(value)
    return f'd({float(value)!r})'


def case(name, checks):
    body = '\n'.join(f'    tl.device_assert({c})' for c in checks)
    return (f'== libdevice.{name}\nlaunch: 1\nL = tl.extra.libdevice\n'
            '@triton.jit\ndef d(x: tl.constexpr):\n'
            '    return tl.full([], x, tl.float64)\n'
            f'@triton.jit\ndef k():\n{body}\n    print("right")\n--\n'
            '(0, 0, 0) right\n')


def float_checks(name, fn, n):
    """fp32: the nearest; fp64: within 2^-49."""
    v = [X, Y, Z, W][:n]
    exact = fn(*v)
    shift = '+ 2' if name == 'acosh' else ''
    f32 = ', '.join(f'{float(x)}{shift}' for x in v)
    f64 = ', '.join(f'd({float(x)}{shift})' for x in v)
    yield f'L.{name}({f32}) == {fp32(exact)!r}'
    yield (f'tl.abs(L.{name}({f64}) - {literal(exact)}) <= '
           f'd({float(abs(exact)) * 2.0 ** -49!r})')


def main():
    checks = {}
    for table, n in ((F1, 1), (F2, 2), (F3, 3), (F4, 4)):
        for name, fn in table.items():
            checks.setdefault(name, []).extend(float_checks(name, fn, n))
    for name, args, value in [*EXACT, *directed()]:
        checks.setdefault(name, []).append(
            f'L.{name}({args}) == {literal(value)}')
    for name, v in (('jn', besselj(2, X)), ('yn', bessely(2, X))):
        checks[name] = [f'L.{name}(2, {float(X)}) == {fp32(v)!r}']
    names = re.findall(r'^LIBDEVICE\((\w+),', open(TABLE).read(), re.M)
    missing = sorted(set(names) - set(checks))
    assert not missing and set(checks) <= set(names), (
        missing, set(checks) - set(names))
    with open(into('libdevice_values.case'), 'w') as f:
        for name in names:
            f.write(case(name, checks[name]))


main()
