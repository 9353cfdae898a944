"""Writes open.spec: what Triton leaves open and tkdbg defines.

The rules are those of docs/semantics.md: PTX's where it has one.
"""
from fractions import Fraction

from speclib import (F16, F32, F64, INF, INTS, NAN, NINF, TL, File, as_number,
                     lane, value)

ME = 'make_open.py'


def division(f, t):
    ones = t.wrap(-1)
    xs = sorted({t.lo, t.lo + 1, 0, 1, 7, t.hi})
    lines = [f'q {x} 0 -> {ones}' for x in xs]
    lines += [f'r {x} 0 -> {x}' for x in xs]
    if t.signed:
        lines += [f'q {t.lo} -1 -> {t.lo}', f'r {t.lo} -1 -> 0']
    f.block(f'division {t.name}', f'a {t.name}, b {t.name}',
            f'q {t.name}, r {t.name}', 'q = a // b\nr = a % b', lines,
            note='open')


def shifts(f, t):
    lines = []
    far = sorted({t.bits, t.bits + 1, min(t.hi, 100), t.hi})
    for x in (t.lo, t.lo + 1, 1, t.hi):
        for n in far:
            if not t.bits <= n <= t.hi:
                continue
            lines.append(f'left {x} {n} -> 0')
            lines.append(f'right {x} {n} -> {-1 if x < 0 else 0}')
    f.block(f'shifts {t.name}', f'a {t.name}, b {t.name}',
            f'left {t.name}, right {t.name}', 'left = a << b\nright = a >> b',
            lines, note='open')


def saturated(v, t):
    """As PTX's cvt; there is none to 8 bits, which keep a 16-bit result's."""
    bits = max(t.bits, 16)
    lo = -(1 << bits - 1) if t.signed else 0
    hi = lo + (1 << bits) - 1
    if v == NAN:
        return 0
    if v in (INF, NINF):
        n = hi if v == INF else lo
    else:
        v = as_number(v)
        n = int(v) if v >= 0 else -int(-v)
    return t.wrap(min(max(n, lo), hi))


def conversions(f, t):
    ends = [Fraction(2) ** k for k in (7, 8, 15, 16, 31, 32, 63, 64)]
    points = [s * (e + d) for e in ends for s in (1, -1) for d in (0, -1, 1)]
    points += [Fraction(300), Fraction(-300), Fraction(-1), Fraction(10) ** 30]
    codes = [t.encode(v) for v in (NAN, INF, NINF)]
    codes += [t.encode(p) for p in points if abs(p) <= t.max]
    codes = sorted(set(codes))
    ints = INTS[1:]
    lines = [f'to_{i.name} {lane(t, c)} -> {saturated(value(t, c), i)}'
             for i in ints for c in codes]
    f.block(f'{t.name} to integers', f'a {t.name}',
            ', '.join(f'to_{i.name} {i.name}' for i in ints),
            '\n'.join(f'to_{i.name} = a.to(tl.{TL[i.name]})' for i in ints),
            lines, note='open')


def main():
    f = File('open', 'what Triton leaves open and tkdbg defines', ME)
    for t in INTS[1:]:
        division(f, t)
        shifts(f, t)
    for t in F16, F32, F64:
        conversions(f, t)
    f.save()


if __name__ == '__main__':
    main()
