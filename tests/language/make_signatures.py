"""Writes signatures.spec: no operation takes an argument it does not name.

Names come from src/typing/op.def, libdevice.def and prelude.py.
"""
import os
import re

from speclib import into

HERE = os.path.dirname(os.path.abspath(__file__))
SRC = os.path.join(HERE, '..', '..', 'src')


def read(name):
    with open(os.path.join(SRC, name), encoding='utf-8') as f:
        return f.read()


def names():
    rows = re.findall(r'^OP\("([\w.]+)"', read('typing/op.def'), re.M)
    rows += ['tl.' + n for n in re.findall(r'^def ([a-z]\w*)\(',
                                           read('typing/prelude.py'), re.M)]
    device = re.findall(r'^ *LIBDEVICE\((\w+)', read('ir/libdevice.def'), re.M)
    rows += ['tl.extra.libdevice.' + n for n in device if n != 'id']
    # PyTorch's helpers are no part of the language.
    # Neither are those of a debugger's expressions, nor the methods of
    # keywords: only functions that Python runs have a dictionary of them.
    # aggregate_replace takes the names of an aggregate's fields.
    return [n for n in rows
            if not n.startswith(('triton_helpers.', 'expression.', 'dict.'))
            and '_since_' not in n
            and n not in ('tl.aggregate_replace', 'builtins.NotImplemented')]


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


if __name__ == '__main__':
    with open(into('signatures.spec'), 'w', encoding='ascii') as out:
        out.write(text())
