"""Writes the tables of docs/ptx.md: what the PTX interpreter runs.

    python3 tools/ptx.py [--check]

They are made from the rows of src/ptx/op.def and src/ir/asm.def, the shapes of
src/ptx/mma.c and the types of src/ptx/tile.c.  --check changes nothing and
fails when the page differs.
"""
import re
import sys
import textwrap

from page import between, options, publish, read, rows

BEGIN, END = '<!-- tables: make docs -->', '<!-- end of tables -->'


def arithmetic():
    inside = {'LD', 'ST', 'ATOM', 'RED', 'ACTIVEMASK', 'NANOSLEEP', 'MEMBAR',
              'BAR', 'FENCE'}
    names = re.findall(r'^ASM\((\w+), "([^"]*)"', read('src/ir/asm.def'), re.M)
    return [name for word, name in names if word not in inside]


def shapes():
    found = re.findall(r'^    \{(\d+), (\d+), (\d+), (?:TK_AT_|TKP_)(\w+), '
                       r'TK_AT_(\w+),', read('src/ptx/mma.c'), re.M)
    names = {'E4M3': 'e4m3, e5m2', 's8': 's8, u8'}
    for m, n, k, operand, sum_type in found:
        yield f'm{m}n{n}k{k}', names.get(operand, operand), sum_type


def wgmma_types():
    found = re.findall(r'\{(?:TK_AT_|TKP_)(\w+), TK_AT_(\w+), (\d+), \d+\}',
                       read('src/ptx/tile.c'))
    names = {'E4M3': 'e4m3, e5m2', 's8': 's8, u8'}
    for operand, sum_type, k in found:
        yield f'm64nNk{k}', names.get(operand, operand), sum_type


def tables():
    text = read('src/ptx/op.def')
    out = ['| instruction | what it does |', '| --- | --- |']
    for found in rows(text, 'OP'):
        out.append(f'| `{found[0]}` | {found[-1]} |')
    out += ['', 'Arithmetic: ' + ', '.join(f'`{n}`' for n in arithmetic()) +
            '.', '', '| accepted, does nothing | because |', '| --- | --- |']
    out += [f'| `{name}` | {doc} |' for name, doc in rows(text, 'NOTHING')]
    out += ['', '| refused | why |', '| --- | --- |']
    out += [f'| `{name}` | {why} |' for name, why in rows(text, 'REFUSED')]
    out += ['', '| `mma.sync` | A and B | C and D |', '| --- | --- | --- |']
    out += [f'| {shape} | {a} | {c} |' for shape, a, c in shapes()]
    out += ['', '| `wgmma`, N from 8 to 256 | A and B | D |',
            '| --- | --- | --- |']
    out += [f'| {shape} | {a} | {d} |' for shape, a, d in wgmma_types()]
    return '\n'.join(wrapped(line) for line in out)


def wrapped(line):
    """A paragraph in lines of 80 columns; rows of tables as they are."""
    if line.startswith('|'):
        return line
    return '\n'.join(textwrap.wrap(line, 79, break_on_hyphens=False))


def main():
    made = between(read('docs', 'ptx.md'), BEGIN, END, tables())
    return publish('ptx.md', made, options().check)


if __name__ == '__main__':
    sys.exit(main())
