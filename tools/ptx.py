"""Writes the tables of docs/ptx.md: what the PTX interpreter runs.

    python3 tools/ptx.py [--check]

They are made from the rows of src/ptx/op.def, src/ir/asm.def and the shapes of
src/ptx/mma.c.  --check changes nothing and fails when the page differs.
"""
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PAGE = os.path.join(ROOT, 'docs', 'ptx.md')
BEGIN, END = '<!-- tables: make docs -->', '<!-- end of tables -->'


def read(*path):
    with open(os.path.join(ROOT, *path), encoding='utf-8') as f:
        return f.read()


def rows(text, macro):
    """The strings of each row of a table, and its first word."""
    for found in re.finditer(r'^%s\((.*?)\)$' % macro, text, re.M | re.S):
        yield re.findall(r'"([^"]*)"', found.group(1))


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
    return '\n'.join(wrapped(line) for line in out)


def wrapped(line):
    """A paragraph in lines of 80 columns; rows of tables as they are."""
    import textwrap
    if line.startswith('|'):
        return line
    return '\n'.join(textwrap.wrap(line, 79, break_on_hyphens=False))


def main():
    page = read('docs', 'ptx.md')
    head, rest = page.split(BEGIN)
    made = f'{head}{BEGIN}\n{tables()}\n{END}{rest.split(END)[1]}'
    if '--check' not in sys.argv:
        with open(PAGE, 'w', encoding='utf-8') as f:
            f.write(made)
    elif made != page:
        print('docs/ptx.md differs from op.def: run "make docs"')
        return 1
    return 0


if __name__ == '__main__':
    sys.exit(main())
