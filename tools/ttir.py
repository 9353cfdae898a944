"""Writes the table of docs/ttir.md: the operations of Triton's IR that are
read, from the rows of src/ttir/ttir.def.

    python3 tools/ttir.py [--check]

--check changes nothing and fails when the page differs.
"""
import re
import sys
import textwrap

from page import between, options, publish, read

BEGIN, END = '<!-- tables: make docs -->', '<!-- end of tables -->'


def table():
    text = read('src/ttir/ttir.def')
    names = re.findall(r'^(?:OP|IGNORED)\("([^"]*)"', text, re.M)
    dialects = {}
    for name in names:
        dialect, operation = name.split('.', 1)
        dialects.setdefault(dialect, []).append(f'`{operation}`')
    lines = [f'- `{dialect}`: ' + ', '.join(sorted(operations))
             for dialect, operations in sorted(dialects.items())]
    return '\n'.join('\n'.join(textwrap.wrap(
        line, 79, subsequent_indent='  ', break_on_hyphens=False))
                     for line in lines)


def main():
    made = between(read('docs', 'ttir.md'), BEGIN, END, table())
    return publish('ttir.md', made, options().check)


if __name__ == '__main__':
    sys.exit(main())
