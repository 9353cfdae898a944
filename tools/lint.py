"""Checks the layout of the sources.

  columns     no line over 80 characters, no tab, no space at a line's end
              (Markdown: table rows, lines with a link and what a command
              printed may be longer)
  functions   half of the C functions have at most 12 lines, nine in ten at
              most 40
  files       no C file has more than 1500 lines
  format      clang-format changes nothing (skipped where it is not installed)
  python      every Python file compiles
  layers      a room includes nothing but what the table in
              docs/architecture.md says that it may use
"""
import os
import re
import shutil
import subprocess
import sys

FOLDERS = ('src', 'include', 'interp', 'gdbstub', 'tests', 'examples',
           'python', 'tools', 'docs', 'puzzles', '.ci')
TOP = 'Makefile', 'README.md', 'CONTRIBUTING.md', 'CHANGELOG.md'
TEXT = '.c', '.h', '.def', '.py', '.sh', '.md', ''
WIDTH, MEDIAN, NINTH, FILE_LINES = 80, 12, 40, 1500


def sources():
    for top in TOP:
        if os.path.exists(top):
            yield top
    for folder in FOLDERS:
        for at, _, names in os.walk(folder):
            for name in sorted(names):
                if '__pycache__' not in at and '/seeds' not in at:
                    yield os.path.join(at, name)


def with_suffix(*suffixes):
    return [f for f in sources() if os.path.splitext(f)[1] in suffixes]


def read(path):
    with open(path, encoding='utf-8') as f:
        return f.read().split('\n')


def line_fault(path, line, printed):
    if '\t' in line and not path.startswith('Makefile'):
        return 'tab'
    if line != line.rstrip():
        return 'space at the end of the line'
    if len(line) <= WIDTH:
        return None
    if printed or (path.endswith('.md')
                   and (line.startswith('|') or '](' in line)):
        return None
    return f'{len(line)} columns'


def columns():
    for path in with_suffix(*TEXT):
        printed = False
        for number, line in enumerate(read(path), 1):
            if path.endswith('.md') and line.startswith('```'):
                printed = line == '```console'
            fault = line_fault(path, line, printed)
            if fault:
                yield f'{path}:{number}: {fault}'


def function_lengths(path):
    """(lines, first line) of each function: from the line on which its
    declaration begins to its closing brace, both in column 0."""
    start = None
    declaration = ''
    for number, line in enumerate(read(path), 1):
        if start is None:
            if re.match(r'[A-Za-z_]', line) and not line.endswith(';'):
                start, declaration = number, ''
            else:
                continue
        declaration += line if '{' not in declaration else ''
        if line.startswith('}') or (line.endswith(';')
                                    and '{' not in declaration):
            is_function = re.match(r'[^={]*\([^={]*\)\s*\{', declaration)
            if line == '}' and is_function:
                yield number - start + 1, start
            start = None
        elif start == number and line.endswith('}'):
            yield 1, start
            start = None


def functions():
    found = sorted((n, path, line) for path in with_suffix('.c', '.h')
                   for n, line in function_lengths(path))
    if not found:
        return
    lengths = [n for n, _, _ in found]
    median, ninth = lengths[len(found) // 2], lengths[len(found) * 9 // 10]
    print(f'lint: {len(found)} functions, median {median} lines, nine in ten '
          f'up to {ninth}, longest {lengths[-1]}')
    if median > MEDIAN:
        yield f'median length of functions is {median}, not {MEDIAN}'
    if ninth > NINTH:
        yield f'one function in ten has more than {ninth} lines:'
        for n, path, line in found[-len(found) // 10:]:
            yield f'{path}:{line}: {n} lines'


def files():
    for path in with_suffix('.c', '.h'):
        n = len(read(path)) - 1
        if n > FILE_LINES:
            yield f'{path}: {n} lines'


def layout():
    tool = shutil.which('clang-format')
    if not tool:
        print('lint: format skipped: clang-format is not installed')
        return
    p = subprocess.run([tool, '--dry-run', '-Werror'] +
                       with_suffix('.c', '.h'), stderr=subprocess.PIPE,
                       text=True)
    if p.returncode:
        found = re.findall(r'^(.*?):\d+:\d+: error:', p.stderr, re.M)
        for path in sorted(set(found)):
            yield f'{path}: {found.count(path)} places that clang-format moves'
        yield 'make format repairs this'


def python():
    for path in with_suffix('.py'):
        try:
            compile('\n'.join(read(path)), path, 'exec')
        except SyntaxError as e:
            yield f'{path}:{e.lineno}: {e.msg}'


def rooms():
    """Folder of each room of the C sources, and those that it may use."""
    table = re.findall(r'^\| `((?:src|interp)[a-z/]*)/` \|.*\| ([^|]*) \|$',
                       '\n'.join(read('docs/architecture.md')), re.M)
    found = {folder.replace('src/', ''): (folder, uses)
             for folder, uses in table}
    return {name: (folder, {w for w in re.findall(r'[a-z/]+', uses)
                            if w in found} | {name, '.', 'tkdbg'})
            for name, (folder, uses) in found.items()}


def layers():
    known = rooms()
    for name, (folder, uses) in known.items():
        for path in with_suffix('.c', '.h'):
            if os.path.dirname(path) != folder:
                continue
            for number, line in enumerate(read(path), 1):
                found = re.match(r'#include "([^"]*)"', line)
                used = os.path.dirname(found.group(1)) if found else ''
                if used and used not in uses:
                    yield f'{path}:{number}: {name} may not use {used}'


def main():
    os.chdir(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    faults = 0
    for check in columns, functions, files, layout, python, layers:
        for fault in check():
            faults += 1
            print(fault)
    print(f'lint: {faults or "no"} fault{"s" if faults != 1 else ""}')
    return 1 if faults else 0


if __name__ == '__main__':
    sys.exit(main())
