"""Writes memory.spec and atomic.spec."""
from fractions import Fraction

from make_blocks import BlockFile, any_lanes, small
from make_elementwise import pick
from speclib import (BF16, E4NV, E5, F16, F32, F64, FLOATS, INTS, NAN, TYPES,
                     convert, f_add, lane, vector)

ME = 'make_memory.py'
I1, I8, U8, I16, U16, I32, U32, I64, U64 = INTS
LOADED = INTS + FLOATS + [E5, E4NV]


# ---- masks -------------------------------------------------------------------

def loads(f, t):
    lines = []
    for _ in range(6):
        p, x, m = any_lanes(f, t, 8), any_lanes(f, t, 8), any_lanes(f, I1, 8)
        got = [a if k else b for a, b, k in zip(p, x, m)]
        bare = [lane(t, a) if k else '?' for a, k in zip(p, m)]
        lines.append(f'{vector(t, p)} {vector(I1, m)} {vector(t, x)} -> '
                     f'{vector(t, got)} [{" ".join(bare)}] '
                     f'{vector(t, p[::-1])}')
    n = t.name
    f.block(f'load {n}', f'p *{n}[8], m i1[8], x {n}[8]',
            f'a {n}[8], b {n}[8], c {n}[8]',
            'i = tl.arange(0, 8)\na = tl.load(p + i, mask=m, other=x)\n'
            'b = tl.load(p + i, mask=m)\nc = tl.load(p + (7 - i))', lines,
            op='load')


def masked_zero(f, t):
    """Without other: left open; 0 in tkdbg."""
    lines = []
    for _ in range(3):
        p, m = any_lanes(f, t, 8), any_lanes(f, I1, 8)
        lines.append(f'{vector(t, p)} {vector(I1, m)} -> '
                     + vector(t, [a if k else 0 for a, k in zip(p, m)]))
    n = t.name
    f.block(f'masked-off lanes {n}', f'p *{n}[8], m i1[8]', f'a {n}[8]',
            'a = tl.load(p + tl.arange(0, 8), mask=m)', lines,
            op='load', note='open')


def stores(f, t):
    lines = []
    for _ in range(6):
        p, x, m = any_lanes(f, t, 8), any_lanes(f, t, 8), any_lanes(f, I1, 8)
        after = [b if k else a for a, b, k in zip(p, x, m)]
        lines.append(f'{vector(t, p)} {vector(t, x)} {vector(I1, m)} -> '
                     f'{vector(t, after)}')
    n = t.name
    f.block(f'store {n}', f'p *{n}[8], x {n}[8], m i1[8]', f'p *{n}[8]',
            'tl.store(p + tl.arange(0, 8), x, mask=m)', lines, op='store')


def stored_as(f, a, b, stored, **keys):
    lines = []
    for _ in range(4):
        x = small(f, a, 4)
        lines.append(f'{vector(b, [0] * 4)} {vector(a, x)} -> '
                     + vector(b, [stored(v) for v in x]))
    f.block(f'store {a.name} to {b.name}', f'p *{b.name}[4], x {a.name}[4]',
            f'p *{b.name}[4]', 'tl.store(p + tl.arange(0, 4), x)', lines,
            op='store converts', **keys)


def converting(f):
    """A store converts to the type of the memory, a scalar fills a block."""
    for a, b in ((F32, F16), (F32, BF16), (I32, I8), (I32, F32), (F16, F32),
                 (I64, I32), (U8, I16), (I32, I1), (F32, I32)):
        stored_as(f, a, b, lambda v: convert(v, a, b))
    # Before 3.9 a store to bools keeps the low byte.
    stored_as(f, I32, I1, lambda v: v & 0xff, triton='3.8')
    lines = []
    for _ in range(6):
        p, x = small(f, F32, 4), small(f, F32, 1)
        lines.append(f'{vector(F32, p)} {lane(F32, x[0])} -> '
                     f'{lane(F32, p[2])} {lane(F32, p[0])} '
                     f'{vector(F32, [x[0], p[1], x[0], x[0]])}')
    f.block('scalars', 'p *f32[4], x f32', 'a f32, b f32, p *f32[4]',
            'a = tl.load(p + 2)\nb = tl.load(p)\ntl.store(p, x)\n'
            'tl.store(p + 2 + tl.arange(0, 2), x)\n'
            'tl.store(p + 1, 3.0, mask=x != x)', lines, op='scalars')


# ---- windows -----------------------------------------------------------------

def window(p, rows, cols, o, q, pad):
    """4 x 4 lanes from (o, q) of a matrix 8 wide, of which rows x cols are
    inside."""
    return [p[r * 8 + c] if 0 <= r < rows and 0 <= c < cols else pad
            for r in range(o, o + 4) for c in range(q, q + 4)]


def put_window(p, x, rows, cols, o, q):
    out = list(p)
    for i in range(16):
        r, c = o + i // 4, q + i % 4
        if 0 <= r < rows and 0 <= c < cols:
            out[r * 8 + c] = x[i]
    return out


def draw_window(f):
    return (f.rng.randint(1, 4), f.rng.randint(1, 8), f.rng.randint(-3, 4),
            f.rng.randint(-3, 8))


POINTER = 'w = tl.make_block_ptr(p, (rows, cols), (8, 1), (o, q), (4, 4), ' \
    '(1, 0))\n'
DESC = 'w = tl.make_tensor_descriptor(p, [rows, cols], [8, 1], [4, 4])\n'


def block_pointers(f, t):
    lines, nan_lines, stored = [], [], []
    n = t.name
    for _ in range(6):
        p, x = any_lanes(f, t, 32), any_lanes(f, t, 16)
        at = draw_window(f)
        head = f'{vector(t, p)} ' + ' '.join(map(str, at))
        lines.append(f'{head} -> {vector(t, window(p, *at, 0))} '
                     + vector(t, window(p, *at, 0)))
        if t.is_float:
            nan_lines.append(f'{head} -> '
                             + vector(t, window(p, *at, t.encode(NAN))))
        stored.append(f'{head} {vector(t, x)} -> '
                      + vector(t, put_window(p, x, *at)))
    ins = f'p *{n}[32], rows i32, cols i32, o i32, q i32'
    f.block(f'block pointer {n}', ins, f'a {n}[4,4], b {n}[4,4]',
            POINTER + "a = tl.load(w, boundary_check=(0, 1), "
            "padding_option='zero')\n"
            'v = tl.make_block_ptr(p, (rows, cols), (8, 1), (o - 2, q + 1), '
            '(4, 4), (1, 0))\nv = tl.advance(v, (2, -1))\n'
            "b = tl.load(v, boundary_check=(1, 0), padding_option='zero')",
            lines, op='block pointer', triton='3.8')
    f.block(f'block pointer with nan {n}', ins, f'a {n}[4,4]',
            POINTER + "a = tl.load(w, boundary_check=(0, 1), "
            "padding_option='nan')", nan_lines, op='block pointer',
            triton='3.8')
    f.block(f'store by a block pointer {n}', f'{ins}, x {n}[4,4]',
            f'p *{n}[32]', POINTER
            + 'tl.store(w, x, boundary_check=(0, 1))', stored,
            op='block pointer', triton='3.8')


def descriptors(f, t):
    lines, stored = [], []
    n = t.name
    for _ in range(6):
        p, x = any_lanes(f, t, 32), any_lanes(f, t, 16)
        at = draw_window(f)
        head = f'{vector(t, p)} ' + ' '.join(map(str, at))
        lines.append(f'{head} -> {vector(t, window(p, *at, 0))} '
                     + vector(t, window(p, *at, 0)))
        stored.append(f'{head} {vector(t, x)} -> '
                      + vector(t, put_window(p, x, *at)))
    ins = f'p *{n}[32], rows i32, cols i32, o i32, q i32'
    f.block(f'descriptor {n}', ins, f'a {n}[4,4], b {n}[4,4]',
            DESC + 'a = w.load([o, q])\n'
            'b = tl.load_tensor_descriptor(w, [o, q])', lines, op='descriptor')
    f.block(f'store by a descriptor {n}', f'{ins}, x {n}[4,4]', f'p *{n}[32]',
            DESC + 'w.store([o, q], x)', stored, op='descriptor')


REDUCE = {'add': lambda t, a, b: t.wrap(a + b),
          'min': lambda t, a, b: min(a, b), 'max': lambda t, a, b: max(a, b),
          'and': lambda t, a, b: a & b, 'or': lambda t, a, b: a | b,
          'xor': lambda t, a, b: a ^ b}


def descriptor_atomics(f, t):
    for op, fn in REDUCE.items():
        lines = []
        for _ in range(4):
            p, x = any_lanes(f, t, 32), any_lanes(f, t, 16)
            at = draw_window(f)
            old = window(p, *at, 0)
            new = [fn(t, a, b) for a, b in zip(old, x)]
            lines.append(f'{vector(t, p)} {" ".join(map(str, at))} '
                         f'{vector(t, x)} -> '
                         + vector(t, put_window(p, new, *at)))
        f.block(f'descriptor {op} {t.name}',
                f'p *{t.name}[32], rows i32, cols i32, o i32, q i32, '
                f'x {t.name}[4,4]', f'p *{t.name}[32]',
                DESC + f'w.atomic_{op}([o, q], x)', lines,
                op=f'descriptor atomic_{op}')


def gather_scatter(f):
    got, put = [], []
    for _ in range(6):
        p = any_lanes(f, I32, 128)
        rows = f.rng.sample(range(16), 8)
        x = any_lanes(f, I32, 64)
        got.append(f'{vector(I32, p)} {vector(I32, rows)} -> '
                   + vector(I32, [p[r * 8 + c] for r in rows
                                  for c in range(8)]))
        after = list(p)
        for k, r in enumerate(rows):
            after[r * 8:r * 8 + 8] = x[k * 8:k * 8 + 8]
        put.append(f'{vector(I32, p)} {vector(I32, rows)} {vector(I32, x)} -> '
                   + vector(I32, after))
    make = 'w = tl.make_tensor_descriptor(p, [16, 8], [8, 1], [1, 8])\n'
    f.block('gather rows', 'p *i32[128], r i32[8]', 'a i32[8,8]',
            make + 'a = w.gather(r, 0)', got, op='descriptor gather')
    f.block('scatter rows', 'p *i32[128], r i32[8], x i32[8,8]',
            'p *i32[128]', make + 'w.scatter(x, r, 0)', put,
            op='descriptor scatter')


def memory():
    f = BlockFile('memory', 'loads, stores, block pointers, descriptors', ME)
    for t in LOADED:
        loads(f, t)
        stores(f, t)
    for t in I32, F32, F16:
        masked_zero(f, t)
    converting(f)
    for t in I32, F32, F64, I64, E5:
        block_pointers(f, t)
    for t in I32, F32, I64:
        descriptors(f, t)
    descriptor_atomics(f, U32)
    gather_scatter(f)
    f.text('''
== loads and stores
in: p *f32[8], q *i32[8], x f32[8], m i1[8], h f16[4]
! c = tl.load(x) => pointer
! c = tl.load(p, other=0.0) => mask
! c = tl.load(p + tl.arange(0, 8), mask=x) => mask
! c = tl.load(p + tl.arange(0, 8), mask=h > 0) => 8
! c = tl.load(p, mask=m) => mask
! c = tl.load(p, cache_modifier='.xx') => cache
! c = tl.load(p, eviction_policy='often') => eviction
! tl.store(x, x) => pointer
! tl.store(p, x) => scalar
! tl.store(p + tl.arange(0, 8), h) => 8
! tl.store(p + tl.arange(0, 8), x, mask=x) => mask
! tl.store(p, 1.0, cache_modifier='.ca') => cache
! c = tl.make_tensor_descriptor(p, [8], [1], [8]).load([0], '') => too many
! c = p + 1.5 => pointer
! c = p + q => pointer
! c = p * 2 => pointer

== block pointers
triton: 3.8
in: p *f32[8], x f32[8]
! w = tl.make_block_ptr(x, (8,), (1,), (0,), (8,), (0,)) => pointer
! w = tl.make_block_ptr(p, (8,), (1, 1), (0,), (8,), (0,)) => strides has 2
! w = tl.make_block_ptr(p, (8,), (1,), (0,), (8,), (1,)) => order
! tl.load(tl.make_block_ptr(p, (8,), (1,), (0,), (8,), (0,)), x > 0) => mask
! c = tl.advance(p, (1,)) => block pointer
! tl.advance(tl.make_block_ptr(p, (8,), (1,), (0,), (8,), (0,)), (1, 2)) => 1

== descriptors
in: p *f32[8], q *i32[8], x f32[8], y f32[4,4]
! w = tl.make_tensor_descriptor(p, [8], [1], [2]) => 16 bytes
! w = tl.make_tensor_descriptor(p, [8], [2], [8]) => 1
! w = tl.make_tensor_descriptor(p, [8, 8], [1], [8]) => shape has 2
! w = tl.make_tensor_descriptor(q, [8], [1], [8], 'nan') => nan
! w = tl.make_tensor_descriptor(x, [8], [1], [8]) => pointer
! c = tl.load_tensor_descriptor(p, [0]) => descriptor
! tl.store_tensor_descriptor(p, [0], x) => descriptor
! c = tl.make_tensor_descriptor(p, [8], [1], [8]).load([0, 0]) => 1
! tl.make_tensor_descriptor(p, [8], [1], [8]).store([0], y) => shape
! tl.make_tensor_descriptor(p, [8], [1], [8]).store([0, 0], x) => 1
! tl.make_tensor_descriptor(p, [8], [1], [8]).atomic_and([0], x) => fp32
! tl.make_tensor_descriptor(p, [8], [1], [8]).atomic_or([0], x) => fp32
! tl.make_tensor_descriptor(p, [8], [1], [8]).atomic_xor([0], x) => fp32
! tl.make_tensor_descriptor(p, [8], [1], [8]).atomic_min([0], x) => fp32
! tl.make_tensor_descriptor(p, [8], [1], [8]).atomic_max([0], x) => fp32
! tl.make_tensor_descriptor(p, [8], [1], [8]).atomic_add([0]) => value
! tl.make_tensor_descriptor(p, [8], [1], [8]).gather(x, 0) => need a
! tl.make_tensor_descriptor(p, [8], [1], [8]).scatter(x, x, 0) => need a
''')
    f.save()


# ---- atomics -----------------------------------------------------------------

def combine(op, t, a, b):
    if op == 'xchg':
        return b
    if op in ('max', 'min'):
        return pick(t, a, b, op == 'max', False)
    if op == 'add':
        return f_add(t, a, b) if t.is_float else t.wrap(a + b)
    return REDUCE[op](t, a, b)


def lanes_for(f, op, t, n):
    return small(f, t, n) if op == 'add' and t.is_float else any_lanes(f, t, n)


def one_atomic(f, op, t):
    lines, scalars = [], []
    for _ in range(6):
        p, x, m = (lanes_for(f, op, t, 4), lanes_for(f, op, t, 4),
                   any_lanes(f, I1, 4))
        after = [combine(op, t, a, b) if k else a
                 for a, b, k in zip(p, x, m)]
        old = [lane(t, a) if k else '?' for a, k in zip(p, m)]
        lines.append(f'{vector(t, p)} {vector(t, x)} {vector(I1, m)} -> '
                     f'[{" ".join(old)}] {vector(t, after)}')
        scalars.append(f'{vector(t, p)} {lane(t, x[0])} -> {lane(t, p[1])} '
                       + vector(t, [p[0], combine(op, t, p[1], x[0])] + p[2:]))
    n = t.name
    f.block(f'{op} {n}', f'p *{n}[4], x {n}[4], m i1[4]',
            f'a {n}[4], p *{n}[4]',
            f'a = tl.atomic_{op}(p + tl.arange(0, 4), x, mask=m)', lines,
            op=f'atomic_{op}')
    f.block(f'{op} {n} scalar', f'p *{n}[4], x {n}', f'a {n}, p *{n}[4]',
            f"a = tl.atomic_{op}(p + 1, x, sem='relaxed', scope='gpu')",
            scalars, op=f'atomic_{op}')


def compare_and_swap(f, t):
    lines = []
    for _ in range(8):
        p, x = any_lanes(f, t, 4), any_lanes(f, t, 4)
        c = [a if f.rng.getrandbits(1) else b
             for a, b in zip(p, any_lanes(f, t, 4))]
        after = [b if a == k else a for a, b, k in zip(p, x, c)]
        lines.append(f'{vector(t, p)} {vector(t, c)} {vector(t, x)} -> '
                     f'{vector(t, p)} {vector(t, after)}')
    n = t.name
    f.block(f'cas {n}', f'p *{n}[4], c {n}[4], x {n}[4]',
            f'a {n}[4], p *{n}[4]',
            'a = tl.atomic_cas(p + tl.arange(0, 4), c, x)', lines,
            op='atomic_cas')


def same_place(f):
    """Many lanes, one element: the old values come in any order."""
    for t in I32, U64, F32:
        lines = []
        for _ in range(4):
            p, x = small(f, t, 1), small(f, t, 8)
            s = p[0]
            for v in x:
                s = combine('add', t, s, v)
            lines.append(f'{vector(t, p)} {vector(t, x)} -> {vector(t, [s])}')
        f.block(f'add to one element {t.name}',
                f'p *{t.name}[1], x {t.name}[8]', f'p *{t.name}[1]',
                'tl.atomic_add(p + tl.arange(0, 8) * 0, x)', lines,
                op='atomic_add')
    lines = []
    for _ in range(6):
        p, x = small(f, I32, 1), small(f, I32, 8)
        old, s = [], p[0]
        for v in x:
            old.append(s)
            s += v
        lines.append(f'{vector(I32, p)} {vector(I32, x)} -> '
                     f'{vector(I32, old)}')
    f.block('order of lanes', 'p *i32[1], x i32[8]', 'a i32[8]',
            'a = tl.atomic_add(p + tl.arange(0, 8) * 0, x)', lines,
            op='atomic_add', note='open')


def atomics():
    f = BlockFile('atomic', 'atomic operations: old values, memory', ME)
    for t in I32, U32, I64, U64:
        for op in 'add', 'max', 'min', 'and', 'or', 'xor', 'xchg':
            one_atomic(f, op, t)
    for t in F16, BF16, F32, F64:
        one_atomic(f, 'add', t)
    for t in F32, F64:
        for op in 'max', 'min', 'xchg':
            one_atomic(f, op, t)
    for t in I32, I64, U32, U64, I16:
        compare_and_swap(f, t)
    same_place(f)
    f.text('''
== atomics
in: p *f16[4], q *i8[4], b *bf16[4], s *i16[4], x f16, i i32, f *f32[4]
! c = tl.atomic_max(p, x) => atomic_max
! c = tl.atomic_min(b, x) => atomic_min
! c = tl.atomic_add(q, i) => atomic_add
! c = tl.atomic_add(s, i) => atomic_add
! c = tl.atomic_and(s, i) => atomic_and
! c = tl.atomic_or(p, x) => atomic_or
! c = tl.atomic_xor(p, x) => atomic_xor
! c = tl.atomic_xchg(p, x) => atomic_xchg
! c = tl.atomic_add(x, x) => pointer
! c = tl.atomic_cas(q, 1, 2) => 16, 32
! c = tl.atomic_add(f, 1.0, sem='sometimes') => semantic
! c = tl.atomic_add(f, 1.0, scope='world') => scope

== maximum with NaN
op: atomic_max
in: p *f32[4], x f32[4]
out: p *f32[4]
    tl.atomic_max(p + tl.arange(0, 4), x)
--
[1.0 nan 0xffc00000 1.0] [nan inf -inf 0xffc00000] -> [nan nan -inf 1.0]
[1.0 nan -0.0 0.0] [2.0 -1.0 0.0 -0.0] -> [2.0 nan 0.0 0.0]

== minimum with NaN
op: atomic_min
in: p *f32[4], x f32[4]
out: p *f32[4]
    tl.atomic_min(p + tl.arange(0, 4), x)
--
[1.0 nan 0xffc00000 1.0] [nan inf -inf 0xffc00000] -> [1.0 inf nan nan]
[1.0 nan -0.0 0.0] [2.0 -1.0 0.0 -0.0] -> [1.0 -1.0 -0.0 -0.0]

== maximum of fp64 with NaN
op: atomic_max
in: p *f64[4], x f64[4]
out: p *f64[4]
    tl.atomic_max(p + tl.arange(0, 4), x)
--
[1.0 nan -inf -0.0] [nan inf -1.0 0.0] -> [nan nan -1.0 0.0]
''')
    f.save()


if __name__ == '__main__':
    assert Fraction and TYPES and U8 and U16
    memory()
    atomics()
