"""Writes the table of docs/compile.md: what of which instruction is refused.

    python3 tools/refusals.py [--check]

It is made from the rows of src/nvptx/refuse.def and the instructions of
src/ir/inst.def, each of which src/nvptx/lower.def must lower.  --check changes
nothing and fails when the page differs.
"""
import re
import sys

from page import between, options, publish, read, rows

BEGIN, END = '<!-- refusals: make docs -->', '<!-- end of refusals -->'
MOST = 5


def table():
    text = re.sub(r'"\s*"', '', read('src/nvptx/refuse.def'))
    made = list(rows(text, 'REFUSE'))
    insts = re.findall(r'^INST\((\w+), "(\w+)"', read('src/ir/inst.def'), re.M)
    lowered = re.findall(r'^LOWER\w*\((\w+),', read('src/nvptx/lower.def'),
                         re.M)
    for name, _ in insts:
        if name not in lowered:
            sys.exit(f'lower.def has no row for {name}')
    known = [name for _, name in insts]
    for names, _, _ in made:
        for name in names.split():
            if name not in known:
                sys.exit(f"refuse.def: inst.def has no instruction '{name}'")
    if not 0 < len(made) <= MOST:
        sys.exit(f'refuse.def has {len(made)} rows, and {MOST} at most are '
                 'allowed')
    out = ['| instruction | what is refused | why |', '|---|---|---|']
    for names, what, why in made:
        listed = sorted(names.split(), key=known.index)
        out.append('| %s | %s | %s |' % (
            ', '.join(f'`{n}`' for n in listed), what, why))
    return '\n'.join(out)


def main():
    made = between(read('docs', 'compile.md'), BEGIN, END, table())
    return publish('compile.md', made, options().check)


if __name__ == '__main__':
    sys.exit(main())
