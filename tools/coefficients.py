"""Writes src/base/coefficients.h: polynomials and tables of functions.

    python3 tools/coefficients.py >src/base/coefficients.h; make format

Each is a Chebyshev fit (mpmath's chebyfit) of the function named, computed
with 200 bits and rounded to double, lowest power first.  Needs mpmath.
"""
from mpmath import (atanh, chebyfit, cos, erf, exp, linspace, log, mp, mpf, pi,
                    polyval, sin, sqrt, tanh)

mp.prec = 200
HALF_LN2 = log(mpf(2)) / 2 * mpf('1.0001')
LOG_END = ((sqrt(mpf(2)) - 1) / (sqrt(mpf(2)) + 1)) ** 2 * mpf('1.001')
QUARTER_PI = (pi / 4) ** 2 * mpf('1.001')


def of_square(f, limit):
    """f of the square root, with its limit at 0."""
    return lambda u: f(sqrt(u)) if u else limit


# name, function, interval, coefficients, what its error is relative to
FITS = [
    ('EXP', exp, (-HALF_LN2, HALF_LN2), 11, exp,
     'e^r'),
    ('EXP2', lambda r: mpf(2) ** r, (mpf('-0.5001'), mpf('0.5001')), 11,
     lambda r: mpf(2) ** r, '2^r'),
    ('LOG', of_square(lambda s: (atanh(s) * 2 / s - 2) / s ** 2, mpf(2) / 3),
     (mpf(0), LOG_END), 7, lambda u: 2 / u, '(2 atanh(s) - 2 s) / s^3, s^2'),
    ('SIN', of_square(lambda r: (sin(r) / r - 1) / r ** 2, mpf(-1) / 6),
     (mpf(0), QUARTER_PI), 5, lambda u: 1 / u, '(sin r - r) / r^3, r^2'),
    ('COS', of_square(lambda r: (cos(r) - 1 + r ** 2 / 2) / r ** 4,
                      mpf(1) / 24),
     (mpf(0), QUARTER_PI), 5, lambda u: 1 / u ** 2,
     '(cos r - 1 + r^2 / 2) / r^4, r^2'),
    ('ERF', of_square(lambda x: erf(x) / x, 2 / sqrt(pi)),
     (mpf(0), mpf(1)), 10, lambda u: 1, 'erf(x) / x, x^2'),
    ('ERF_TAIL', lambda t: erf(t + mpf('2.5')), (mpf('-1.5'), mpf('1.5')), 22,
     lambda t: 1, 'erf(t + 2.5)'),
    ('TANH', of_square(lambda x: (tanh(x) / x - 1) / x ** 2, mpf(-1) / 3),
     (mpf(0), mpf('0.36')), 10, lambda u: 1 / u,
     '(tanh x - x) / x^3, x^2'),
]


def worst_error(coefficients, f, ends, size):
    p = [mpf(c) for c in reversed(coefficients)]
    points = [x for x in linspace(*ends, 301) if x]
    return max(abs((polyval(p, x) - f(x)) / size(x)) for x in points)


def main():
    print('/* coefficients.h - polynomials and tables of '
          'functions.\n'
          ' * Made by tools/coefficients.py: do not edit.  Lowest power '
          'first; the error\n'
          ' * is relative to the function that the polynomial is part of.\n'
          ' */\n'
          '#ifndef TK_BASE_COEFFICIENTS_H\n'
          '#define TK_BASE_COEFFICIENTS_H')
    for name, f, ends, n, size, text in FITS:
        p = [float(c) for c in reversed(chebyfit(f, list(ends), n))]
        error = float(log(worst_error(p, f, ends, size), 2))
        print(f'\n/* {text}; error 2^{error:.1f} */\n'
              f'static const double TKM_{name}[{n}] = {{')
        for c in p:
            print(f'    {c.hex()},')
        print('};')
    print('\n/* erf(k / 16) as the sum of two doubles, and its slope there '
          '*/\nstatic const double TKM_ERF_AT[97][3] = {')
    for k in range(97):
        exact = erf(mpf(k) / 16)
        high = float(exact)
        slope = 2 / sqrt(pi) * exp(-(mpf(k) / 16) ** 2)
        print(f'    {{{high.hex()}, {float(exact - high).hex()}, '
              f'{float(slope).hex()}}},')
    print('};\n\n#endif')


main()
