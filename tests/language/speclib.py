"""Number formats and the text of a specification file, for the make_*.py.

Everything here is exact: integers and fractions, no floating point of the
machine.  Sources: IEEE 754-2019; OCP 8-bit floating point 1.0 (e4m3fn, e5m2);
Triton's documentation of its element types.  Nothing here calls tkdbg.
"""
import os
import random
import sys
from fractions import Fraction

NAN, INF, NINF = 'nan', 'inf', '-inf'


class Int:
    """Integers: i1 u8 i8 ... u64 i64."""
    is_float = False

    def __init__(self, name):
        self.name, self.bits = name, int(name[1:])
        self.signed = name[0] == 'i' and self.bits > 1
        self.kind = 0 if self.bits == 1 else 1
        self.lo = -(1 << self.bits - 1) if self.signed else 0
        self.hi = self.lo + (1 << self.bits) - 1

    def wrap(self, n):
        n &= (1 << self.bits) - 1
        return n - (1 << self.bits) if self.signed and n > self.hi else n

    def text(self, n):
        return str(n)


class Float:
    """Floats.  A value is a Fraction, 'nan', 'inf', '-inf', or '-0'.

    special: 'ieee' infinities and NaNs in the last exponent; 'fn' NaN where
    all bits but the sign are set; 'fnuz' NaN is the code of -0; 'none'.
    """
    is_float, signed, kind = True, True, 2

    def __init__(self, name, ebits, mbits, bias, special='ieee'):
        self.name, self.ebits, self.mbits = name, ebits, mbits
        self.bias, self.special = bias, special
        self.bits = 1 + ebits + mbits
        self.sign = 1 << self.bits - 1
        top = self.sign - 1
        if special == 'ieee':
            self.inf = (1 << ebits) - 1 << mbits
            self.max_code = self.inf - 1
        else:
            self.max_code = top - 1 if special == 'fn' else top
        self.max = self.decode(self.max_code)

    def decode(self, code):
        s, mag = code & self.sign, code & self.sign - 1
        if self.special == 'fnuz' and code == self.sign:
            return NAN
        if self.special == 'fn' and mag == self.sign - 1:
            return NAN
        if self.special == 'ieee' and mag >= self.inf:
            return NAN if mag > self.inf else NINF if s else INF
        e, m = mag >> self.mbits, mag & (1 << self.mbits) - 1
        if e:
            m |= 1 << self.mbits
        v = Fraction(m) * Fraction(2) ** ((e or 1) - self.bias - self.mbits)
        if not v:
            return '-0' if s else v
        return -v if s else v

    def nan_code(self):
        if self.special == 'fnuz':
            return self.sign
        if self.special == 'fn':
            return self.sign - 1
        return self.inf | 1 << self.mbits - 1

    def ulp(self, v):
        """The spacing of numbers at v > 0."""
        e = 1 - self.bias
        while Fraction(2) ** (e + 1) <= v:
            e += 1
        return Fraction(2) ** (e - self.mbits)

    def round(self, v, mode='rn'):
        """The code of a finite v; what is too large is None."""
        a, s = abs(v), self.sign if v < 0 else 0
        if not a:
            return 0
        n, d = a.numerator, a.denominator
        e = max(n.bit_length() - d.bit_length() - 1, 1 - self.bias)
        if Fraction(2) ** (e + 1) <= a:
            e += 1
        q = a / Fraction(2) ** (e - self.mbits)
        w, rest = q.numerator // q.denominator, q % 1
        half = Fraction(1, 2)
        if mode == 'rn' and (rest > half or rest == half and w & 1):
            w += 1
        if mode == 'ra' and rest >= half:
            w += 1
        code = (e - 1 + self.bias << self.mbits) + w
        if w < 1 << self.mbits and e == 1 - self.bias:
            code = w
        if code > self.max_code:
            return None
        if not code and self.special == 'fnuz':
            return 0
        return code | s

    def encode(self, v, mode='rn', saturate=False):
        """The code of any value; saturate: infinity is the largest number."""
        if v == NAN:
            return self.nan_code() if self.special != 'none' else None
        if v == '-0':
            return 0 if self.special == 'fnuz' else self.sign
        s = self.sign if v == NINF or v not in (INF, NINF) and v < 0 else 0
        code = None if v in (INF, NINF) else self.round(v, mode)
        if code is not None:
            return code
        if saturate or self.special != 'ieee':
            return self.max_code | s
        if mode == 'rtz' and v not in (INF, NINF):
            return self.max_code | s
        return self.inf | s

    def text(self, code):
        v = self.decode(code)
        if v in (NAN, INF, NINF):
            return v
        if v == '-0':
            return '-0.0'
        if self.name in ('f16', 'bf16', 'f32', 'f64'):
            if v.denominator <= 8 and abs(v) < 100000:
                t = repr(float(v))
                if len(t) <= 8:
                    return t
        return '0x%0*x' % (self.bits // 4, code)


F16 = Float('f16', 5, 10, 15)
BF16 = Float('bf16', 8, 7, 127)
F32 = Float('f32', 8, 23, 127)
F64 = Float('f64', 11, 52, 1023)
E5 = Float('e5', 5, 2, 15)
E4NV = Float('e4nv', 4, 3, 7, 'fn')
E4B8 = Float('e4b8', 4, 3, 8, 'fnuz')
E4B15 = Float('e4b15', 4, 3, 15, 'none')
E5B16 = Float('e5b16', 5, 2, 16, 'fnuz')
INTS = [Int(n) for n in 'i1 i8 u8 i16 u16 i32 u32 i64 u64'.split()]
FLOATS = [F16, BF16, F32, F64]
FP8 = [E4NV, E4B8, E4B15, E5, E5B16]
TYPES = {t.name: t for t in INTS + FLOATS + FP8}
TL = {'i1': 'int1', 'f16': 'float16', 'bf16': 'bfloat16', 'f32': 'float32',
      'f64': 'float64', 'e4nv': 'float8e4nv', 'e4b8': 'float8e4b8',
      'e4b15': 'float8e4b15', 'e5': 'float8e5', 'e5b16': 'float8e5b16',
      **{s + b: n + b for s, n in (('i', 'int'), ('u', 'uint'))
         for b in ('8', '16', '32', '64')}}


# ---- promotion, as Triton documents it ------------------------------------

def int_promote(a, b):
    if a.signed == b.signed:
        return a if a.bits > b.bits else b
    unsigned, other = (b, a) if a.signed else (a, b)
    return unsigned if unsigned.bits >= other.bits else other


def promote(a, b, div=False):
    """Result type of two tensors; None when it is refused."""
    for t in F64, F32:
        if t in (a, b):
            return t
    if F16 in (a, b):
        return F32 if div else F16
    if BF16 in (a, b):
        return BF16 if a is b and not div else F32
    if a.is_float and b.is_float:
        return a if a is b else F16
    if a.is_float or b.is_float:
        return None
    if div and a.signed != b.signed:
        return None
    return int_promote(a, b)


# ---- values -----------------------------------------------------------------

def value(t, x):
    """The value of lane x: an integer, or what Float.decode gives."""
    return t.decode(x) if t.is_float else x


def as_number(v):
    return Fraction(0) if v == '-0' else v


def convert(x, a, b, mode='rn', saturate=False):
    """Lane x of type a as type b, where the result is defined."""
    v = value(a, x)
    if b.is_float:
        if not a.is_float:
            v = Fraction(v)
        return b.encode(v, mode, saturate)
    if b.bits == 1:
        return int(v not in (0, '-0'))
    if a.is_float:
        n = as_number(v)
        return int(n) if n >= 0 else -int(-n)
    return b.wrap(v)


def negative(v):
    return v in ('-0', NINF) or v not in (NAN, INF) and v < 0


def f_add(t, x, y):
    a, b = t.decode(x), t.decode(y)
    if NAN in (a, b) or {a, b} == {INF, NINF}:
        return t.encode(NAN)
    for v in a, b:
        if v in (INF, NINF):
            return t.encode(v)
    if a == b == '-0':
        return t.encode('-0')
    return t.encode(as_number(a) + as_number(b))


def f_neg(t, x):
    return x ^ t.sign


def f_mul(t, x, y):
    a, b = t.decode(x), t.decode(y)
    if NAN in (a, b):
        return t.encode(NAN)
    s = negative(a) != negative(b)
    inf = [v for v in (a, b) if v in (INF, NINF)]
    if inf:
        if 0 in (as_number(a), as_number(b)):
            return t.encode(NAN)
        return t.encode(NINF if s else INF)
    r = abs(as_number(a)) * abs(as_number(b))
    return signed(t, r, s)


def signed(t, r, s):
    code = t.encode(r)
    return code | t.sign if s else code


def f_div(t, x, y):
    a, b = t.decode(x), t.decode(y)
    if NAN in (a, b):
        return t.encode(NAN)
    s = negative(a) != negative(b)
    if b in (INF, NINF):
        return t.encode(NAN) if a in (INF, NINF) else signed(t, Fraction(0), s)
    if a in (INF, NINF):
        return t.encode(NINF if s else INF)
    if as_number(b) == 0:
        return t.encode(NAN if as_number(a) == 0 else NINF if s else INF)
    return signed(t, abs(as_number(a)) / abs(as_number(b)), s)


def f_mod(t, x, y):
    """The remainder of division truncated toward zero, as C's fmod."""
    a, b = t.decode(x), t.decode(y)
    if NAN in (a, b) or a in (INF, NINF) or as_number(b) == 0:
        return t.encode(NAN)
    if b in (INF, NINF):
        return x
    r = abs(as_number(a)) % abs(as_number(b))
    return signed(t, r, negative(a))


def f_fma(t, x, y, z):
    a, b, c = t.decode(x), t.decode(y), t.decode(z)
    if NAN in (a, b, c):
        return t.encode(NAN)
    if INF in (a, b, c) or NINF in (a, b, c):
        p = t.decode(f_mul(t, x, y))
        if p == NAN or {p, c} == {INF, NINF}:
            return t.encode(NAN)
        return t.encode(p if p in (INF, NINF) else c)
    s = negative(a) != negative(b)
    p = abs(as_number(a)) * abs(as_number(b))
    r = (-p if s else p) + as_number(c)
    if r == 0:
        both = (s if p == 0 else None)
        zero = both is not None and both and c == '-0'
        return t.encode('-0' if zero else Fraction(0))
    return t.encode(r)


def f_cmp(t, x, y):
    """-1, 0, 1, or None when a NaN makes them unordered."""
    a, b = t.decode(x), t.decode(y)
    if NAN in (a, b):
        return None
    order = {NINF: (-1, 0), INF: (1, 0)}
    a = order.get(a, (0, as_number(a) if a not in order else 0))
    b = order.get(b, (0, as_number(b) if b not in order else 0))
    return (a > b) - (a < b)


def boundary(t):
    """Lanes that are likely to go wrong."""
    if not t.is_float:
        if t.bits == 1:
            return [0, 1]
        out = {t.lo, t.lo + 1, 0, 1, 2, 3, 7, 10, t.hi // 2, t.hi // 2 + 1,
               t.hi - 1, t.hi, 100, 85}
        if t.signed:
            out |= {-1, -2, -3, -7, -100}
        return sorted(out)
    m = t.mbits
    one = t.bias << m
    codes = {0, 1, 2, (1 << m) - 1, 1 << m, one - 1, one, one + 1,
             one + (1 << m - 1), one + (1 << m), one + (2 << m) + 1,
             t.max_code, t.max_code - 1, one + (m << m), one + (m + 1 << m),
             (t.bias - m << m), (t.bias - 1 << m) + 1}
    if t.special == 'ieee':
        codes |= {t.inf, t.inf | 1 << m - 1}
    codes = {c for c in codes if 0 <= c < t.sign}
    codes |= {c | t.sign for c in codes}
    return sorted(codes)


def is_special(t, x):
    return t.is_float and t.decode(x) in (NAN, INF, NINF)


def ordinary(t, rng):
    """A lane of no particular importance."""
    if not t.is_float:
        if rng.random() < 0.5 and t.bits > 8:
            return rng.randint(-99 if t.signed else 0, 99)
        return rng.randint(t.lo, t.hi)
    m = rng.getrandbits(t.mbits)
    span = min(6, t.bias - 1)
    e = t.bias + rng.randint(-span, span)
    return e << t.mbits | m | (t.sign if rng.random() < 0.5 else 0)


# ---- text -------------------------------------------------------------------

def lane(t, x):
    return t.text(x)


def vector(t, xs):
    """[1 2 3]; a run of equal lanes is written as lane*count."""
    out, i = [], 0
    texts = [lane(t, x) for x in xs]
    while i < len(texts):
        n = 1
        while i + n < len(texts) and texts[i + n] == texts[i]:
            n += 1
        out += [f'{texts[i]}*{n}'] if n > 2 else texts[i:i + n]
        i += n
    return '[' + ' '.join(out) + ']'


def into(name):
    """The path of a file in the folder that a script is given."""
    if len(sys.argv) != 2:
        sys.exit(f'usage: {os.path.basename(sys.argv[0])} FOLDER')
    return os.path.join(sys.argv[1], name)


class File:
    """Writes NAME.spec into the folder that a script is given."""

    def __init__(self, name, about, maker):
        self.path = into(name + '.spec')
        self.lines = [f'# {name}.spec - {about}', f'# Made by {maker}.']
        self.rng = random.Random(name)

    def block(self, title, ins, outs, body, lines, **keys):
        if not lines:
            return
        put = self.lines.append
        put('')
        put(f'== {title}')
        for key, text in keys.items():
            put(f'{key}: {text}')
        if ins:
            put(f'in: {ins}')
        if outs:
            put(f'out: {outs}')
        for text in body.strip('\n').split('\n'):
            put('    ' + text if text else '')
        put('--')
        self.lines += lines

    def text(self, text):
        self.lines += [''] + text.strip('\n').split('\n')

    def save(self):
        with open(self.path, 'w', encoding='ascii') as f:
            f.write('\n'.join(self.lines) + '\n')
