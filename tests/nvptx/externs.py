"""Writes a script that calls every overload of every function of libdevice.

    python3 tests/nvptx/externs.py >k.py
    tkdbg diff --backend ptx --rtol 1e-5 --atol 1e-6 k.py

The overloads are those of src/ir/libdevice.def.  The arguments are small
numbers that every function takes; the bounds let pass what libdevice rounds in
another way, and nothing that a different function or type would give.
"""
import os
import re

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))
TABLE = os.path.join(ROOT, 'src', 'ir', 'libdevice.def')
TYPES = {'b': 'bool', 'i': 'int32', 'u': 'uint32', 'l': 'int64', 'q': 'uint64',
         'f': 'float32', 'F': 'float32', 'd': 'float64'}
FLOATS = re.compile(r'(?:FLOATS|QUICK|DIRECTED)(\d)\(')
LANES = re.compile(r'(?:LANE|ROUND)(\d)\(\w+,((?:\s*\w+,)+)')
EACH = 24  # calls of a kernel


def overloads():
    """(function, type of its result, types of its arguments), of each."""
    with open(TABLE, encoding='utf-8') as f:
        text = f.read()
    for row in re.split(r'^LIBDEVICE\(', text, flags=re.M)[1:]:
        name = row[:row.index(',')]
        for n in FLOATS.findall(row):
            for t in 'fd':
                yield name, t, t * int(n)
        for n, types in LANES.findall(row):
            types = [t for t in types.replace(',', ' ').split() if t in TYPES]
            yield name, types[0], ''.join(types[1:1 + int(n)])


def main():
    calls = sorted(set(overloads()), key=lambda c: (c[1], c[0], c[2]))
    print('import numpy as np\nimport triton\nimport triton.language as tl')
    print('from triton.language.extra import libdevice as L\n\n')
    for t, like in sorted(TYPES.items()):
        if t not in 'bF':
            size = 12.5 if t in 'fd' else 14
            print(f'{t} = ((np.arange(256) * 37 % 101 + 1) / {size})'
                  f'.astype(np.{like})')
    for at in range(0, len(calls), EACH):
        some = calls[at:at + EACH]
        outs = sorted({r for _, r, _ in some})
        print(f'\n\n@triton.jit\ndef k{at}(f, d, i, u, l, q, '
              f'{", ".join("y" + r for r in outs)}):')
        print('    at = tl.arange(0, 64)')
        for n, (name, result, types) in enumerate(some):
            args = ', '.join(f'tl.load({t.lower()} + {64 * k} + at)'
                             for k, t in enumerate(types))
            print(f'    tl.store(y{result} + {64 * n} + at, L.{name}({args}))')
        made = ', '.join(f'np.zeros({64 * EACH}, np.{TYPES[r]})' for r in outs)
        print(f'\n\nk{at}[(1, )](f, d, i, u, l, q, {made})')


main()
