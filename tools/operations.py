"""Writes docs/operations.md: every operation with an example that is run.

    python3 tools/operations.py [--check] [--library build/libtkdbg.so]

The examples stand in docs/operations.txt; what they print is put beside them.
libdevice's functions are called with small arguments.  --check changes nothing
and fails when the page differs or an operation has no example.
"""
import ctypes
import itertools
import os
import re
import sys
import textwrap

from page import ROOT, options, publish
from promotion import Library

EXAMPLES = os.path.join(ROOT, 'docs', 'operations.txt')
HEAD = '''# Operations

Every operation of the language that tkdbg knows, written by
`tools/operations.py` from the table in the library and the examples in
`docs/operations.txt`; `make docs` writes it again, and a test fails when it is
out of date. Each example is run: below it stands what it prints. In them `x`
points to 16 numbers of fp32 and `n` to 16 of int32: 0, 1, 2 and so on.

`tkdbg help ops` lists the operations in the terminal;
[semantics.md](semantics.md) says what they mean.
'''
GROUPS = [('tl.', 'triton.language'), ('triton.', 'triton'),
          ('dtype.', 'Methods of types'), ('builtins.', "Python's own")]


def read_examples():
    """name: source"""
    out, name = {}, None
    with open(EXAMPLES, encoding='utf-8') as f:
        for line in f:
            if line.startswith('== '):
                name = line[3:].strip()
                out[name] = ''
            elif name:
                out[name] += line
    return out


def operations(lib):
    """(name, signature, doc) of each that a kernel can call."""
    for f in 'tk_builtin_name', 'tk_builtin_signature', 'tk_builtin_doc':
        getattr(lib.lib, f).restype = ctypes.c_char_p
    for i in itertools.count():
        index = ctypes.c_size_t(i)
        name = lib.lib.tk_builtin_name(index)
        if not name:
            return
        if not name.startswith((b'triton_helpers.', b'expression.',
                                b'dict.')):
            yield (name.decode(), lib.lib.tk_builtin_signature(index).decode(),
                   lib.lib.tk_builtin_doc(index).decode())


def prelude():
    """name: (signature, doc) of what is written in the language itself."""
    path = os.path.join(ROOT, 'src/typing/prelude.py')
    with open(path, encoding='utf-8') as f:
        found = re.findall(r'^def (\w+)\((.*?)\):\n    """(.*?)"""', f.read(),
                           re.M | re.S)
    return {f'tl.{n}': (' '.join(s.replace(': tl.constexpr', '').split()), d)
            for n, s, d in found}


def run(lib, example):
    """What the example prints, without the program's number."""
    helpers, mark, body = example.rpartition('kernel:\n')
    text = ('import triton\nimport triton.language as tl\n'
            'from triton.language.extra import libdevice\n' + helpers
            + '@triton.jit\ndef k(x, n):\n' + body).encode()
    s = lib.session()
    lib.text = ''
    m, f, n = (ctypes.c_void_p() for _ in range(3))
    c = lib.lib
    bad = (c.tk_module_open(s, b'k.py', text, ctypes.c_size_t(len(text)),
                            ctypes.byref(m))
           or c.tk_function_named(m, b'k', ctypes.byref(f))
           or c.tk_launch_new(s, f, ctypes.byref(n))
           or c.tk_launch_grid_text(n, b'1')
           or c.tk_launch_arg_text(n, b'x=f32[16]:arange')
           or c.tk_launch_arg_text(n, b'n=i32[16]:arange')
           or c.tk_launch_run(n, None, None))
    c.tk_report.restype = ctypes.c_char_p
    report = c.tk_report(s, False).decode() if bad else ''
    c.tk_session_free(s)
    return re.sub(r'^\(0, 0, 0\) ', '', lib.text, flags=re.M), report


KINDS = {'f': 'tl.full((1,), 0.5, tl.float32)',
         'd': 'tl.full((1,), 0.5, tl.float64)',
         'i': 'tl.full((1,), 5, tl.int32)', 'u': 'tl.full((1,), 5, tl.uint32)',
         'l': 'tl.full((1,), 5, tl.int64)',
         'q': 'tl.full((1,), 5, tl.uint64)'}


def device_example(lib, name, count):
    """A call that the function accepts: fp32 if it takes that."""
    for kinds in itertools.product(KINDS, repeat=count):
        source = ''.join(f'    {v} = {KINDS[k]}\n'
                         for v, k in zip('abcd', kinds))
        source += f'    print({name}({", ".join("abcd"[:count])}))\n'
        printed, report = run(lib, source)
        if not report:
            return source
    return None


# They are for classes of the host program, which an example here lacks.
NEED_A_CLASS = 'tl.aggregate_replace', 'builtins.NotImplemented'


def entry(lib, name, signature, doc, examples, missing):
    shown = name.removeprefix('builtins.').removeprefix('dtype.')
    out = ['', f'### `{name}`', '', '```python', f'{shown}({signature})',
           '```', ''] + textwrap.wrap(
               doc[0].upper() + doc[1:] + '.', 80,
               break_on_hyphens=False) + ['']
    example = examples.get(name)
    if example is None and name.startswith('libdevice.'):
        count = len(signature.split(',')) if signature else 0
        example = device_example(lib, name, count)
    if example is None and name in NEED_A_CLASS:
        return out[:-1]
    if example is None:
        missing.append(f'{name}: no example: add "== {name}" and a kernel '
                       'that prints to docs/operations.txt')
        return []
    printed, report = run(lib, example)
    if report:
        missing.append(f'{name}: its example in docs/operations.txt fails:\n'
                       + report)
    body = re.sub(r'^    ', '', example.rpartition('kernel:\n')[2], flags=re.M)
    helpers = example.rpartition('kernel:\n')[0]
    out += ['```python'] + (helpers + body).rstrip('\n').split('\n')
    out += ['```', '', '```text']
    out += [s.rstrip() for s in printed.rstrip('\n').split('\n')] + ['```']
    return out


def shorten(signature, room=40):
    """A signature on lines that have room for the name."""
    lines, line = [], ''
    for part in signature.split(', '):
        if len(line) + len(part) > room and line:
            lines.append(line + ',')
            line = '    ' + part
        else:
            line = f'{line}, {part}' if line else part
    return '\n'.join(lines + [line])


def page(lib, missing):
    examples, written = read_examples(), prelude()
    out = [HEAD.rstrip('\n')]
    rows = list(operations(lib))
    known = {name for name, _, _ in rows}
    missing += [f'{n}: an example of no operation' for n in examples
                if n not in known]
    groups = GROUPS + [('libdevice.', 'libdevice')]
    for prefix, title in groups:
        out += ['', f'## {title}']
        for name, signature, doc in rows:
            hidden = '._' in name and name not in examples
            if name.startswith(prefix) and not hidden:
                signature, doc = written.get(name, (signature, doc))
                out += entry(lib, name, shorten(signature), doc.rstrip('.'),
                             examples, missing)
    return '\n'.join(out) + '\n'


def main():
    o = options()
    missing = []
    text = page(Library(o.library), missing)
    for m in missing:
        print(m)
    return publish('operations.md', text, o.check) or bool(missing)


if __name__ == '__main__':
    sys.exit(main())
