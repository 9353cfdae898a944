"""Every operation has a specification, an example and an error test.

    python3 tools/gate.py [--build build]

Rows of src/typing/op.def and functions of src/typing/prelude.py.  A row is
specified when its name stands in a kernel of tests/language/*.spec, there or in
the build (or in a case of tests/language/*.case that prints); has an example
when docs/operations.txt does; has an error test when a "!" line of a .spec
file, or a case that must fail, names it.  libdevice's functions are checked by
their table: every row by tests/accuracy, called in docs/operations.md, refused
in signatures.spec.
"""
import argparse
import glob
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(ROOT, 'tests', 'language'))
import make_signatures  # noqa: E402


def read(path):
    with open(path, encoding='utf-8') as f:
        return f.read()


def specifications(build):
    written = glob.glob(os.path.join(build, 'tests/language/*.spec'))
    if not written:
        sys.exit(f'{build} has no specifications: make spec-files')
    return written + glob.glob(os.path.join(ROOT, 'tests/language/*.spec'))


def texts(build):
    """(kernels that run, statements and cases that must be refused)"""
    runs, fails = [], []
    for path in specifications(build):
        for line in read(path).split('\n'):
            (fails if line.startswith('! ') else runs).append(line)
    for path in glob.glob(os.path.join(ROOT, 'tests/language/*.case')):
        for case in re.split(r'^== ', read(path), flags=re.M)[1:]:
            (fails if '\n!!\n' in case else runs).append(case)
    return '\n'.join(runs), '\n'.join(fails)


def pattern(name):
    """How a kernel writes the operation: tl.f(...), x.f(...), f(...)."""
    room, _, last = name.partition('.')
    if room == 'builtins':
        return r'(?<![\w.])' + last + r'\('
    if room in ('dtype', 'int', 'str'):
        return r'\.' + last + r'\('
    if room == 'triton':
        return re.escape(name) + r'\b'
    last = re.escape(last)
    return (r'\btl\.(?:math\.|core\.)?' + last + r'\b|\.'
            + last.replace('descriptor_', '') + r'\(')


def faults(build):
    runs, fails = texts(build)
    examples = set(re.findall(r'^== (\S+)$', read(os.path.join(
        ROOT, 'docs', 'operations.txt')), re.M))
    for name in make_signatures.names():
        if name.startswith('tl.extra.libdevice.') or '._' in name:
            continue  # tl._x is no name for kernels
        if not re.search(pattern(name), runs):
            yield (f'{name}: no spec case: add a kernel that uses it to a file '
                   'of tests/language (README.md there says how)')
        if name not in examples:
            yield (f'{name}: no example: add "== {name}" and a kernel that '
                   'prints to docs/operations.txt, then "make docs"')
        if not re.search(pattern(name), fails):
            yield (f'{name}: no error test: tests/language/'
                   'make_signatures.py writes none')


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--build', default=os.path.join(ROOT, 'build'))
    found = list(faults(parser.parse_args().build))
    for line in found:
        print(line)
    print(f'gate: {len(found) or "no"} faults')
    return 1 if found else 0


if __name__ == '__main__':
    sys.exit(main())
