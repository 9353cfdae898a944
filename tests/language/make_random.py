"""Writes random.spec: Philox 4x32 with ten rounds, and what is built on it.

Source: Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC 2011;
the counter and key layout is that of Triton's documentation of tl.randint4x.
"""
import struct

from speclib import F32, File

ME = 'make_random.py'
LOW = 0xffffffff


def philox(counter, key, rounds=10):
    c, k = list(counter), list(key)
    for _ in range(rounds):
        a, b = 0xd2511f53 * c[0], 0xcd9e8d57 * c[2]
        c = [b >> 32 ^ c[1] ^ k[0], b & LOW, a >> 32 ^ c[3] ^ k[1], a & LOW]
        k = [k[0] + 0x9e3779b9 & LOW, k[1] + 0xbb67ae85 & LOW]
    return c


def randint4(seed, offset, rounds=10):
    return philox((offset & LOW, offset >> 32, 0, 0),
                  (seed & LOW, seed >> 32 & LOW), rounds)


def to_f32(x):
    return struct.unpack('<f', struct.pack('<f', x))[0]


def uniform(n):
    """fp32: the integer as int32, folded, times an fp32 constant."""
    s = n - (1 << 32) if n >> 31 else n
    s = -s - 1 if s < 0 else s
    # A double holds the product of two fp32 exactly: one rounding.
    r = to_f32(to_f32(float(s)) * to_f32(4.6566127342e-10))
    return struct.unpack('<I', struct.pack('<f', r))[0]


def offsets(f, bits):
    return [0, 1, 2, 3, (1 << bits - 1) - 1] + [
        f.rng.getrandbits(bits - 1) for _ in range(15)]


def main():
    f = File('random', 'Philox and uniform numbers', ME)
    assert philox((0, 0, 0, 0), (0, 0))[0] == 0x6627e8d5  # Random123's vector
    assert philox((LOW,) * 4, (LOW,) * 2)[0] == 0x408f276d
    seeds = [0, 5, 42, 2 ** 31 - 1, 2 ** 32 + 7, 2 ** 63 - 1]
    for seed in seeds:
        for t, bits in ('i32', 32), ('i64', 64):
            lines = []
            for o in offsets(f, bits):
                r = randint4(seed, o)
                lines.append(f'{o} -> ' + ' '.join(map(str, r)) + ' '
                             + F32.text(uniform(r[0])))
            f.block(f'seed {seed}, offsets {t}', f'o {t}',
                    'a u32, b u32, c u32, d u32, r f32',
                    f'a, b, c, d = tl.randint4x({seed}, o)\n'
                    f'r = tl.rand({seed}, o)', lines, op=f'randint4x {t}')
    lines = []
    for _ in range(40):
        s, o = f.rng.getrandbits(62), f.rng.getrandbits(31)
        r = randint4(s, o)
        lines.append(f'{s} {o} -> {r[0]} ' + ' '.join(
            F32.text(uniform(x)) for x in r))
    f.block('a seed for each lane', 's i64, o i32',
            'n u32, a f32, b f32, c f32, d f32',
            'n = tl.randint(s, o)\na, b, c, d = tl.rand4x(s, o)', lines,
            op='rand4x')
    lines = []
    for _ in range(20):
        s, o = f.rng.getrandbits(31), f.rng.getrandbits(31)
        lines.append(f'{s} {o} -> {randint4(s, o, 7)[0]}')
    f.block('seven rounds', 's i32, o i32', 'n u32',
            'n = tl.randint(s, o, 7)', lines, op='randint')
    lines = []
    for _ in range(20):
        c = [f.rng.getrandbits(32) for _ in range(4)]
        s = f.rng.getrandbits(63)
        r = philox(c, (s & LOW, s >> 32))
        lines.append(f'{s} ' + ' '.join(map(str, c)) + ' -> '
                     + ' '.join(map(str, r)))
    f.block('philox', 's i64, a u32, b u32, c u32, d u32',
            'w u32, x u32, y u32, z u32',
            'w, x, y, z = tl.philox(s, a, b, c, d)', lines, op='philox')
    lines = [f'{n} -> {F32.text(uniform(n))}' for n in
             [0, 1, LOW, 2 ** 31, 2 ** 31 - 1]
             + [f.rng.getrandbits(32) for _ in range(25)]]
    f.block('uniform', 'n u32', 'r f32', 'r = tl.uint_to_uniform_float(n)',
            lines, op='uint_to_uniform_float')
    f.text('''
== random numbers need integers
in: a f32, o i32
! b = tl.rand(o) => offset
! b = tl.randint(o, o, o, o) => argument
! b = tl.rand4x(o) => offset
! b = tl.randint4x(o) => offset
! b = tl.randn(o) => offset
! b = tl.randn4x(o) => offset
! b = tl.philox(o, o, o, o) => c3
! b = tl.uint_to_uniform_float() => x
! b = tl.pair_uniform_to_normal(a) => u2
''')
    f.save()


if __name__ == '__main__':
    main()
