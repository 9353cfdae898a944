"""Writes signatures.spec: no operation takes an argument it does not name.

Names come from src/spec/op.def, libdevice.def and prelude.py; run this again
when a row is added there.  --check fails when the file is out of date.
"""
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
SRC = os.path.join(HERE, '..', '..', 'src')
PATH = os.path.join(HERE, 'signatures.spec')


def read(name):
    with open(os.path.join(SRC, name), encoding='utf-8') as f:
        return f.read()


def names():
    rows = re.findall(r'^OP\("([\w.]+)"', read('spec/op.def'), re.M)
    rows += ['tl.' + n for n in re.findall(r'^def ([a-z]\w*)\(',
                                           read('spec/prelude.py'), re.M)]
    device = re.findall(r'^ *LIBDEVICE\((\w+)', read('ir/libdevice.def'), re.M)
    rows += ['tl.extra.libdevice.' + n for n in device if n != 'id']
    # PyTorch's helpers are no part of the language.
    # Neither are those of a debugger's expressions, nor the methods of
    # keywords: only functions that Python runs have a dictionary of them.
    return [n for n in rows
            if not n.startswith(('triton_helpers.', 'expression.', 'dict.'))]


def spelled(name):
    if name.startswith('dtype.'):
        of_block = name.endswith('get_block_shapes')
        of = 'tl.block_type(tl.int8, [4])' if of_block else 'tl.int8'
        return f'{of}.{name[6:]}'
    if name.startswith(('int.', 'str.')):
        return ("(7)." if name.startswith('int.') else "'a'.") + name[4:]
    return name.replace('builtins.', '')


def text():
    lines = ['# signatures.spec - an argument that an operation does not name',
             '# Made by make_signatures.py.', '',
             '== no such parameter', 'op: signatures', 'in: x i32']
    lines += [f'! y = {spelled(n)}(no_such=1) => no parameter no_such'
              for n in names()]
    return '\n'.join(lines) + '\n'


def main():
    if '--check' in sys.argv:
        with open(PATH, encoding='ascii') as f:
            same = f.read() == text()
        if not same:
            print('tests/language/signatures.spec is out of date: '
                  'run python3 tests/language/make_signatures.py')
        return 0 if same else 1
    with open(PATH, 'w', encoding='ascii') as f:
        f.write(text())
    return 0


if __name__ == '__main__':
    sys.exit(main())
