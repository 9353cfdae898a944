"""Writes reduce.spec, scan.spec, shape.spec and dot.spec."""
from fractions import Fraction

from make_elementwise import pick
from speclib import (BF16, E4NV, E5, F16, F32, F64, FLOATS, INTS, NAN, NINF,
                     TL, TYPES, File, Float, as_number, convert, f_add, f_cmp,
                     f_mul, lane, ordinary, vector)

ME = 'make_blocks.py'
I1, I8, U8, I16, U16, I32, U32, I64, U64 = INTS
SOME = [I8, U8, I16, U16, I32, U32, I64, U64] + FLOATS


def small(f, t, n):
    """Lanes whose sums are exact in any order."""
    if t.is_float:
        top = 8 if t is BF16 else 60
        return [t.encode(Fraction(f.rng.randint(-top, top))) for _ in range(n)]
    return [f.rng.randint(max(t.lo, -100), min(t.hi, 100)) for _ in range(n)]


def any_lanes(f, t, n):
    if t.is_float:
        return [ordinary(t, f.rng) for _ in range(n)]
    return [f.rng.randint(t.lo, t.hi) for _ in range(n)]


def add(t, x, y):
    return f_add(t, x, y) if t.is_float else t.wrap(x + y)


def mul(t, x, y):
    return f_mul(t, x, y) if t.is_float else t.wrap(x * y)


def total(t, xs):
    r = xs[0]
    for x in xs[1:]:
        r = add(t, r, x)
    return r


def sum_type(t):
    if t.is_float or t.bits >= 32:
        return t
    return I32 if t.signed else U32


def max_type(t):
    if t.bits >= 32:
        return t
    return F32 if t.is_float else I32


def cast_all(xs, a, b):
    return [convert(x, a, b) for x in xs]


# ---- reductions --------------------------------------------------------------

def sums(f, t, n=8):
    s = sum_type(t)
    lines = []
    for _ in range(12):
        xs = small(f, t, n)
        lines.append(f'{vector(t, xs)} -> '
                     f'{lane(s, total(s, cast_all(xs, t, s)))}')
    f.block(f'sum {t.name}', f'x {t.name}[{n}]', f's {s.name}',
            's = tl.sum(x, axis=0)', lines, op='sum')


def extremes(f, t, n=8):
    r = max_type(t)
    lines = []
    for k in range(16):
        xs = any_lanes(f, t, n)
        if k % 3 == 0:
            xs[f.rng.randrange(n)] = xs[f.rng.randrange(n)]
        if t.is_float and k % 4 == 1:
            for _ in range(f.rng.choice([1, 3, n - 1])):
                xs[f.rng.randrange(n)] = t.encode(NAN)
        if t.is_float and k % 4 == 3:
            xs[0], xs[n - 1] = t.encode('-0'), 0
        if t.is_float and k == 14:
            xs = [t.encode(NAN)] * n
        ys = cast_all(xs, t, r)
        big = little = ys[0]
        for y in ys[1:]:
            big = pick(r, big, y, True, False)
            little = pick(r, little, y, False, False)
        lines.append(f'{vector(t, xs)} -> {lane(r, big)} {lane(r, little)}')
    f.block(f'max and min {t.name}', f'x {t.name}[{n}]',
            f'big {r.name}, little {r.name}',
            'big = tl.max(x, axis=0)\nlittle = tl.min(x, 0)', lines,
            op='max, min')


def order(t, x, y):
    return f_cmp(t, x, y) if t.is_float else (x > y) - (x < y)


def winners(f, t, n=16, **keys):
    """argmax and argmin; ties go to the left."""
    v = F32 if t is BF16 and keys else t
    lines = []
    for k in range(14):
        pool = any_lanes(f, t, 4 if k % 2 else n)
        xs = [f.rng.choice(pool) for _ in range(n)]
        top = low = 0
        for i in range(n):
            if order(t, xs[i], xs[top]) > 0:
                top = i
            if order(t, xs[i], xs[low]) < 0:
                low = i
        lines.append(f'{vector(t, xs)} -> {top} {low} '
                     f'{lane(v, convert(xs[top], t, v))} {top} '
                     f'{lane(v, convert(xs[low], t, v))} {low}')
    f.block(f'argmax and argmin {t.name}', f'x {t.name}[{n}]',
            f'i i32, j i32, v {v.name}, vi i32, w {v.name}, wi i32',
            'i = tl.argmax(x, axis=0)\nj = tl.argmin(x, axis=0)\n'
            'v, vi = tl.max(x, 0, return_indices=True)\n'
            'w, wi = tl.min(x, 0, return_indices=True)', lines,
            op='argmax, argmin', **keys)
    if t is BF16 and not keys:
        winners(f, t, n, triton='3.8')


def bits(f, t, n=8):
    lines = []
    for _ in range(8):
        xs = any_lanes(f, t, n)
        a = b = 0
        for x in xs:
            a, b = t.wrap(a ^ x), t.wrap(b | x)
        lines.append(f'{vector(t, xs)} -> {lane(t, a)} {lane(t, b)}')
    f.block(f'xor_sum and reduce_or {t.name}', f'x {t.name}[{n}]',
            f'a {t.name}, b {t.name}',
            'a = tl.xor_sum(x, axis=0)\nb = tl.reduce_or(x, axis=0)', lines,
            op='xor_sum, reduce_or')


def matrices(f):
    """Axes of a matrix, and keep_dims."""
    for t in I32, F32, F16, I8:
        s, lines = sum_type(t), []
        for _ in range(8):
            xs = small(f, t, 32)
            ys = cast_all(xs, t, s)
            rows = [total(s, ys[i * 8:i * 8 + 8]) for i in range(4)]
            cols = [total(s, ys[j::8]) for j in range(8)]
            lines.append(f'{vector(t, xs)} -> {vector(s, rows)} '
                         f'{vector(s, cols)} {vector(s, rows)} '
                         f'{lane(s, total(s, ys))}')
        f.block(f'axes {t.name}', f'x {t.name}[4,8]',
                f'r {s.name}[4], c {s.name}[8], k {s.name}[4,1], a {s.name}',
                'r = tl.sum(x, axis=1)\nc = tl.sum(x, axis=0)\n'
                'k = tl.sum(x, axis=-1, keep_dims=True)\na = tl.sum(x)',
                lines, op='sum, axes')
    for t, d in (I8, I64), (F16, F32), (BF16, F32), (I32, F32), (U8, I16):
        lines = []
        for _ in range(8):
            xs = small(f, t, 8)
            lines.append(f'{vector(t, xs)} -> '
                         f'{lane(d, total(d, cast_all(xs, t, d)))}')
        f.block(f'sum {t.name} as {d.name}', f'x {t.name}[8]', f's {d.name}',
                f's = tl.sum(x, axis=0, dtype=tl.{TL[d.name]})', lines,
                op='sum, dtype')


def user_functions(f):
    lines = []
    for _ in range(12):
        xs = any_lanes(f, I32, 8)
        m = 1
        for x in xs:
            m = I32.wrap(m * x)
        lines.append(f'{vector(I32, xs)} -> {m}')
    f.block('reduce by a function', 'x i32[8]', 'r i32', '''@triton.jit
def combine(a, b):
    return a * b
kernel:
r = tl.reduce(x, 0, combine)''', lines, op='reduce')
    lines = []
    for _ in range(12):
        xs, ys = small(f, I32, 8), small(f, F32, 8)
        k = max(range(8), key=lambda i: (xs[i], -i))
        if xs.count(xs[k]) > 1:
            continue
        lines.append(f'{vector(I32, xs)} {vector(F32, ys)} -> {xs[k]} '
                     f'{lane(F32, ys[k])}')
    f.block('reduce of a tuple', 'x i32[8], y f32[8]', 'r i32, s f32',
            '''@triton.jit
def combine(a, b, c, d):
    first = a > c
    return tl.where(first, a, c), tl.where(first, b, d)
kernel:
r, s = tl.reduce((x, y), 0, combine)''', lines, op='reduce')


def reductions():
    f = BlockFile('reduce', 'reductions', ME)
    for t in SOME:
        sums(f, t)
        extremes(f, t)
        winners(f, t)
        if not t.is_float:
            bits(f, t)
    for t in I32, F32:
        sums(f, t, 64)
        extremes(f, t, 64)
    matrices(f)
    user_functions(f)
    ordered(f)
    f.text('''
== reductions
in: x f32[8], y f32[4,8], i i32[8]
! c = tl.sum(x, axis=1) => axis
! c = tl.sum(y, axis=2) => axis
! c = tl.max(y, axis=-3) => axis
! c = tl.min(y, axis=7) => axis
! c = tl.argmax(y, axis=2) => axis
! c = tl.argmin(y, axis=2) => axis
! c = tl.xor_sum(x, axis=0) => integers
! c = tl.reduce_or(x, axis=0) => integers
! c = tl.reduce(x, 0, 3) => function
! c = tl.sum(x, axis=x) => axis
''')
    f.save()


class BlockFile(File):
    """Bodies whose helper functions stand before "kernel:"."""

    def block(self, title, ins, outs, body, lines, **keys):
        super().block(title, ins, outs, body, lines, **keys)
        if '\nkernel:\n' not in body:
            return
        at = max(i for i, s in enumerate(self.lines) if s == f'== {title}')
        inside = False
        for i in range(at, len(self.lines)):
            s = self.lines[i]
            inside |= s.startswith('    @triton.jit')
            if s == '--':
                break
            if inside:
                self.lines[i] = s[4:]
            inside &= s != '    kernel:'


def halves(t, xs, fn):
    """Lane i with lane i + n/2, and so on: tkdbg's order."""
    while len(xs) > 1:
        n = len(xs) // 2
        xs = [fn(t, xs[i], xs[i + n]) for i in range(n)]
    return xs[0]


def ordered(f):
    """Sums that depend on the order; the language leaves it open."""
    for t in F16, BF16, F32, F64:
        lines = []
        for _ in range(10):
            xs = any_lanes(f, t, 16)
            lines.append(f'{vector(t, xs)} -> {lane(t, halves(t, xs, add))}')
        f.block(f'order of a sum {t.name}', f'x {t.name}[16]', f's {t.name}',
                's = tl.sum(x, axis=0)', lines, op='sum', note='open')


# ---- scans -------------------------------------------------------------------

def running(t, xs, fn, reverse=False):
    xs = xs[::-1] if reverse else xs
    out = [xs[0]]
    for x in xs[1:]:
        out.append(fn(t, out[-1], x))
    return out[::-1] if reverse else out


def cumulative(f, t, s, p, **keys):
    """Sums of type s, products of type p."""
    lines = []
    for _ in range(8):
        xs = small(f, t, 8)
        ys = cast_all(xs, t, s)
        lines.append(f'{vector(t, xs)} -> {vector(s, running(s, ys, add))}'
                     f' {vector(s, running(s, ys, add, True))}')
    f.block(f'cumsum {t.name}', f'x {t.name}[8]',
            f'a {s.name}[8], b {s.name}[8]',
            'a = tl.cumsum(x, axis=0)\nb = tl.cumsum(x, 0, reverse=True)',
            lines, op='cumsum', **keys)
    lines = []
    for _ in range(6):
        xs = [v if not t.is_float else t.encode(Fraction(
            f.rng.choice([1, 2, -1, Fraction(1, 2), -2])))
            for v in small(f, t, 8)]
        ys = cast_all(xs, t, p)
        lines.append(f'{vector(t, xs)} -> {vector(p, running(p, ys, mul))}'
                     f' {vector(p, running(p, ys, mul, True))}')
    f.block(f'cumprod {t.name}', f'x {t.name}[8]',
            f'a {p.name}[8], b {p.name}[8]',
            'a = tl.cumprod(x, axis=0)\nb = tl.cumprod(x, 0, reverse=True)',
            lines, op='cumprod', **keys)


def scans():
    f = BlockFile('scan', 'scans, sorting, histograms', ME)
    for t in SOME:
        cumulative(f, t, sum_type(t), sum_type(t))
        if t is BF16:
            cumulative(f, t, F32, F32, triton='3.8')
        elif t is not sum_type(t):
            cumulative(f, t, sum_type(t), t, triton='3.8')
        sorting(f, t)
    matrix_scans(f)
    affine(f)
    histograms(f)
    f.text('''
== scans and sorting
in: x f32[8], y f32[4,8], i i32[8], h i8[8], m i32[2,4]
! c = tl.cumsum(x, axis=1) => axis
! c = tl.cumprod(y, axis=2) => axis
! c = tl.associative_scan(y, 3, 5) => axis
! c = tl.sort(y, dim=0) => dim
! c = tl.topk(y, 2, dim=0) => dim
! c = tl.histogram(x, 8) => integer
! c = tl.histogram(m, 8) => 1
! c = tl.flip(y, 2) => invalid axis 2
''')
    f.save()


def key(t):
    return lambda x: as_key(t, x)


def as_key(t, x):
    if not t.is_float:
        return x
    v = t.decode(x)
    return as_number(v)


def sorting(f, t):
    lines, m = [], max_type(t)  # topk merges by tl.max, which widens
    for k in range(8):
        xs = any_lanes(f, t, 8)
        if k % 2:
            xs = [f.rng.choice(xs) for _ in range(8)]
        up = sorted(xs, key=key(t))
        best = cast_all(up[::-1][:4], t, m)
        lines.append(f'{vector(t, xs)} -> {vector(t, up)} '
                     f'{vector(t, up[::-1])} {vector(m, best)} '
                     f'{vector(t, xs[::-1])}')
    f.block(f'sort {t.name}', f'x {t.name}[8]',
            f'a {t.name}[8], b {t.name}[8], c {m.name}[4], d {t.name}[8]',
            'a = tl.sort(x)\nb = tl.sort(x, descending=True)\n'
            'c = tl.topk(x, 4)\nd = tl.flip(x, 0)', lines,
            op='sort, topk, flip')


def matrix_scans(f):
    lines = []
    for _ in range(8):
        xs = small(f, I32, 32)
        rows = [xs[i * 8:i * 8 + 8] for i in range(4)]
        a = [v for r in rows for v in running(I32, r, add)]
        cols = [running(I32, xs[j::8], add) for j in range(8)]
        b = [cols[j][i] for i in range(4) for j in range(8)]
        c = [v for r in rows for v in sorted(r)]
        d = [v for r in rows[::-1] for v in r]
        lines.append(' '.join([vector(I32, xs), '->'] + [
            vector(I32, v) for v in (a, b, c, d)]))
    f.block('axes of a matrix', 'x i32[4,8]',
            'a i32[4,8], b i32[4,8], c i32[4,8], d i32[4,8]',
            'a = tl.cumsum(x, axis=1)\nb = tl.cumsum(x, axis=0)\n'
            'c = tl.sort(x)\nd = tl.flip(x, 0)', lines, op='axes')


def affine(f):
    """x -> a x + b: a combination in which the order of operands counts."""
    lines = []
    for _ in range(12):
        a, b = small(f, I32, 8), small(f, I32, 8)
        p, q = [a[0]], [b[0]]
        for u, v in zip(a[1:], b[1:]):
            p.append(I32.wrap(p[-1] * u))
            q.append(I32.wrap(q[-1] * u + v))
        lines.append(' '.join([vector(I32, a), vector(I32, b), '->',
                               vector(I32, p), vector(I32, q)]))
    f.block('scan of a tuple', 'x i32[8], y i32[8]', 'p i32[8], q i32[8]',
            '''@triton.jit
def combine(a, b, c, d):
    return a * c, b * c + d
kernel:
p, q = tl.associative_scan((x, y), 0, combine)''', lines,
            op='associative_scan')
    lines = []
    for _ in range(12):
        xs = any_lanes(f, I32, 16)
        lines.append(f'{vector(I32, xs)} -> '
                     + vector(I32, running(I32, xs, lambda t, x, y: max(x, y)))
                     + ' ' + vector(I32, running(
                         I32, xs, lambda t, x, y: max(x, y), True)))
    f.block('scan by a function', 'x i32[16]', 'a i32[16], b i32[16]',
            '''@triton.jit
def combine(a, b):
    return tl.maximum(a, b)
kernel:
a = tl.associative_scan(x, 0, combine)
b = tl.associative_scan(x, 0, combine, reverse=True)''', lines,
            op='associative_scan')


def histograms(f):
    for t in I32, U32:
        lines = []
        for _ in range(12):
            xs = [f.rng.randrange(8) for _ in range(32)]
            m = [f.rng.getrandbits(1) for _ in range(32)]
            a = [xs.count(i) for i in range(8)]
            b = [sum(1 for x, k in zip(xs, m) if k and x == i)
                 for i in range(8)]
            lines.append(f'{vector(t, xs)} {vector(I1, m)} -> '
                         f'{vector(I32, a)} {vector(I32, b)}')
        f.block(f'histogram {t.name}', f'x {t.name}[32], m i1[32]',
                'a i32[8], b i32[8]',
                'a = tl.histogram(x, 8)\nb = tl.histogram(x, 8, mask=m)',
                lines, op='histogram')


# ---- shapes ------------------------------------------------------------------

def shapes():
    f = BlockFile('shape', 'blocks put together, taken apart, turned', ME)
    for t in (I1, I8, U16, I32, I64, F16, BF16, F32, F64):
        pairs(f, t)
        turns(f, t)
        gathers(f, t)
    for t in I8, I32, U64:
        cats(f, t)
    f.text('''
== shapes
in: x f32[8], y f32[4,8], z f32[4], i i32[8], s f32
! c = tl.reshape(x, (4, 4)) => 16
! c = x.view(3) => 3
! c = tl.broadcast_to(x, (4, 16)) => broadcast
! c = tl.broadcast(x, z) => 8
! c = x + z => 8
! c = tl.expand_dims(x, 3) => axis
! c = tl.unsqueeze(x, 4) => axis
! c = tl.unsqueeze(x, -3) => axis
! c = x.unsqueeze(0) => no attribute unsqueeze
! c = tl.permute(y, 0) => permut
! c = tl.permute(y, (0, 0)) => permut
! c = tl.trans(y, 0, 2) => invalid axis 2
! c = tl.join(x, z) => shape
! c = tl.interleave(y, z) => shape
! c = tl.split(y) => 2
! c = tl.cat(x, y, can_reorder=True) => 1
! c = tl.gather(y, i, 0) => rank
! c = tl.gather(x, x, 0) => int
! c = tl.arange(0, 3) => power of 2
! c = tl.arange(4, 4) => greater
! c = tl.arange(0, i) => constexpr
! c = tl.zeros((3,), tl.float32) => power of 2
! c = tl.full((2097152,), 0, tl.int8) => 1048576
! c = tl.full((4,), x, tl.int8) => one value
! c = tl.zeros_like(3.0, 4) => argument
! c = tl.squeeze(y, 0) => static
! c = y.squeeze(0) => no attribute squeeze
! c = x.item() => 8
! c = y[0] => index
! c = y[0, :] => index
! c = y[1:2, :] => index
''')
    f.save()


def pairs(f, t):
    lines = []
    for _ in range(5):
        a, b = any_lanes(f, t, 4), any_lanes(f, t, 4)
        mixed = [v for p in zip(a, b) for v in p]
        lines.append(' '.join([vector(t, a), vector(t, b), '->'] + [
            vector(t, v) for v in (mixed, mixed, a, b, b + a)]))
    n = t.name
    f.block(f'two blocks {n}', f'x {n}[4], y {n}[4]',
            f'j {n}[4,2], i {n}[8], p {n}[4], q {n}[4], c {n}[8]',
            'j = tl.join(x, y)\ni = tl.interleave(x, y)\np, q = tl.split(j)\n'
            'halves = tl.join(y, x).permute(1, 0)\nc = halves.reshape(8)',
            lines, op='join, interleave, split')


def cats(f, t):
    lines = []
    for _ in range(6):
        a, b = any_lanes(f, t, 4), any_lanes(f, t, 4)
        lines.append(f'{vector(t, a)} {vector(t, b)} -> '
                     + vector(t, sorted(a + b)))
    f.block(f'cat {t.name}', f'x {t.name}[4], y {t.name}[4]',
            f'c {t.name}[8]',
            'c = tl.sort(tl.cat(x, y, can_reorder=True))', lines, op='cat')


def turns(f, t):
    lines = []
    for _ in range(5):
        x = any_lanes(f, t, 8)
        turned = [x[j * 4 + i] for i in range(4) for j in range(2)]
        cube = [x[i * 4 + k * 2 + j] for k in range(2) for i in range(2)
                for j in range(2)]
        wide = [v for i in range(2) for v in x[i * 4:i * 4 + 4] * 2]
        lines.append(' '.join([vector(t, x), '->'] + [
            vector(t, v) for v in (turned, turned, cube, x, x, wide, x)]))
    n = t.name
    f.block(f'turns {n}', f'x {n}[2,4]',
            f'a {n}[4,2], b {n}[4,2], c {n}[2,2,2], d {n}[8], e {n}[4,1,2], '
            f'g {n}[2,2,4], h {n}[8]',
            'a = tl.trans(x)\nb = tl.permute(x, 1, 0)\n'
            'c = x.reshape(2, 2, 2).permute(1, 0, 2)\nd = tl.ravel(x)\n'
            'e = x.view(4, 2)[:, None, :]\n'
            'g = tl.broadcast_to(tl.expand_dims(x, 1), (2, 2, 4))\n'
            'h = tl.reshape(x, 8)', lines,
            op='trans, permute, reshape, broadcast')


def gathers(f, t):
    lines = []
    for _ in range(5):
        x = any_lanes(f, t, 8)
        i = [f.rng.randrange(8) for _ in range(4)]
        lines.append(f'{vector(t, x)} {vector(I32, i)} -> '
                     f'{vector(t, [x[k] for k in i])}')
    n = t.name
    f.block(f'gather {n}', f'x {n}[8], i i32[4]', f'c {n}[4]',
            'c = tl.gather(x, i, 0)', lines, op='gather')
    lines = []
    for _ in range(4):
        x = any_lanes(f, t, 16)
        i = [f.rng.randrange(4) for _ in range(8)]
        c = [x[i[r * 4 + k] * 4 + k] for r in range(2) for k in range(4)]
        lines.append(f'{vector(t, x)} {vector(I32, i)} -> {vector(t, c)}')
    f.block(f'gather rows {n}', f'x {n}[4,4], i i32[2,4]', f'c {n}[2,4]',
            'c = tl.gather(x, i, 0)', lines, op='gather')


# ---- products ----------------------------------------------------------------

def left(i, k, s):
    return (i * 5 + k * 3 + s) % 7 - 3


def right(k, j, s):
    return (k * 11 + j * 2 + s) % 7 - 3


A = '((({i} * 5 + {k} * 3 + s) % 7 - 3)'
DOT = '''i = tl.arange(0, 16)
j = tl.arange(0, 16)
k = tl.arange(0, 32)
a = ((i[:, None] * 5 + k[None, :] * 3 + s) % 7 - 3).to(tl.float32).to(tl.{t})
b = ((k[:, None] * 11 + j[None, :] * 2 + s) % 7 - 3).to(tl.float32).to(tl.{t})
{dot}
c = tl.sum(tl.where(i[:, None] == r, d, 0), axis=0)'''


def row(s, r, start=0):
    return [start + sum(left(r, k, s) * right(k, j, s) for k in range(32))
            for j in range(16)]


def product(f, t, out, dot, title, start=0):
    lines = []
    for _ in range(10):
        s, r = f.rng.randrange(100), f.rng.randrange(16)
        want = [out.encode(Fraction(v)) if out.is_float else v
                for v in row(s, r, start)]
        lines.append(f'{s} {r} -> {vector(out, want)}')
    f.block(title, 's i32, r i32', f'c {out.name}[16]',
            DOT.format(t=TL[t.name], dot=dot), lines, op='dot')


E2M1 = Float('e2m1', 2, 1, 1, 'none')


def packed_fours(f):
    """Every byte as two e2m1 numbers, the low half first."""
    def four(code):
        v = E2M1.decode(code)  # a sum with other zeros loses the sign
        return lane(F32, F32.encode(Fraction(0) if v == '-0' else v))
    lines = [f'{b} [0] -> {four(b & 15)} {four(b >> 4)}' for b in range(256)]
    f.block('e2m1', 'b u8, p *i32[1]', 'lo f32, hi f32',
            '''a = tl.full((16, 16), 0, tl.uint8) + b
k = tl.arange(0, 32)
eye = (k[:, None] == k[None, :]).to(tl.float32).to(tl.bfloat16)
c = tl.dot_scaled(a, None, 'e2m1', eye, None, 'bf16')
i = tl.arange(0, 16)[:, None]
lo = tl.sum(tl.where((i == 0) & (k[None, :] == 0), c, 0.0))
hi = tl.sum(tl.where((i == 0) & (k[None, :] == 1), c, 0.0))''', lines,
            op='dot_scaled')


SQUARE = '''i = tl.arange(0, 16)
d = ((i[:, None] * 5 + i[None, :] * 3 + s) % 7 - 3).to(tl.float32)
e = d + 0
d = tl.dot({left}, {right}, d, input_precision='ieee')
c = tl.sum(tl.where(i[:, None] == r, d, 0), axis=0)'''


def accumulators_that_are_factors(f):
    """What is added to is multiplied as well, and then assigned."""
    for a, b in 'de', 'ed', 'dd':
        lines = []
        for _ in range(4):
            s, r = f.rng.randrange(100), f.rng.randrange(16)
            want = [left(r, j, s) + sum(left(r, k, s) * left(k, j, s)
                                        for k in range(16))
                    for j in range(16)]
            want = [F32.encode(Fraction(v)) for v in want]
            lines.append(f'{s} {r} -> {vector(F32, want)}')
        f.block(f'dot({a}, {b}, d)', 's i32, r i32', 'c f32[16]',
                SQUARE.format(left=a, right=b), lines, op='dot')


def dots():
    f = BlockFile('dot', 'matrix products', ME)
    for t in I8, F16, BF16, F32, F64, E5, E4NV:
        out = I32 if t is I8 else F64 if t is F64 else F32
        product(f, t, out, 'd = tl.dot(a, b)', f'{t.name}')
        zero = f'tl.full((16, 16), 5, tl.{TL[out.name]})'
        product(f, t, out, f'd = tl.dot(a, b, acc={zero}, '
                f'out_dtype=tl.{TL[out.name]})',
                f'{t.name} with acc', 5)
    product(f, F16, F16, 'd = tl.dot(a, b, out_dtype=tl.float16)',
            'f16 into f16')
    for p in 'ieee', 'tf32', 'tf32x3':
        product(f, F32, F32, f"d = tl.dot(a, b, input_precision='{p}')",
                f'f32 {p}')
    packed_fours(f)
    for t in F16, F32:
        body = 'a3 = a[None, :, :].broadcast_to(2, 16, 32)\n' \
            'b3 = b[None, :, :].broadcast_to(2, 32, 16)\n' \
            'd = tl.sum(tl.dot(a3, b3), axis=0) / 2'
        product(f, t, F32, body, f'{t.name} batches')
    accumulators_that_are_factors(f)
    f.text('''
== dot
in: a f32[16,16], b f16[16,16], c f32[16], d i32[16,16], e f32[32,16]
! x = tl.dot(a, b) => dtype
! x = tl.dot(a, c) => 1
! x = tl.dot(d, d) => int32
! x = tl.dot(a, e) => 32
! x = tl.dot(a, a, acc=b) => acc
! x = tl.dot(a, a, input_precision='half') => input_precision
! x = tl.dot(a, a, out_dtype=tl.bfloat16) => bfloat16
! x = tl.dot(a, 3.0) => tl.dot takes
! x = a @ a => tl.dot

== dot of integers
in: g i8[32,32], u u8[32,32]
! x = tl.dot(u, u) => uint8

== dot does not look at its accumulator's type
triton: 3.7
in: g i8[32,32]
! x = tl.dot(g, g, acc=tl.zeros((32, 32), tl.int32)) => out_dtype

== dot has its accumulator's type
in: g i8[32,32], h f16[16,16]
out: x i32[32,32], y f16[16,16]
    x = tl.dot(g, g, acc=tl.zeros((32, 32), tl.int32))
    y = tl.dot(h, h, acc=tl.zeros((16, 16), tl.float16))
--
[1*1024] [1*256] -> [32*1024] [16*256]
''')
    f.save()


if __name__ == '__main__':
    assert NINF and TYPES and FLOATS
    reductions()
    scans()
    shapes()
    dots()
