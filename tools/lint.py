"""Checks the layout of the sources, and of what they are built into.

    python3 tools/lint.py --build build

  columns     no line over 80 characters, no tab, no space at a line's end
              (Markdown: table rows, lines with a link and what a command
              printed may be longer)
  functions   half of the C functions have at most 12 lines, nine in ten at
              most 40
  files       no C file has more than 1500 lines
  format      clang-format changes nothing (skipped where it is not installed)
  python      every Python file compiles
  types       mypy finds nothing in python/tkdbg, and ruff nothing in Python's
              files, by the rules of pyproject.toml; skipped where they are not
              installed (tools/setup.sh --lint) or are of other versions than
              tools/lint-tools.txt names, which find other things
  layers      a room includes nothing but what the table in
              docs/architecture.md says that it may use
  links       nor does it use a symbol of another: by the objects of the build
  knots       files that need each other (by their symbols) are no more than
              tools/lint.txt allows
  prefixes    what the files of a room share with each other and with other
              rooms begins with a prefix of the room, by the table in
              docs/architecture.md; the public API's functions do not count
  private     members of a struct whose names end in _ are used in the files
              that implement it alone
  names       a static function's name stands in at most two C files, but for
              those in tools/lint.txt
  texts       texts are put together in arenas, buffers and diagnostics, which
              grow (src/base/env.h, diag.h): nothing else formats a va_list,
              and a text of the user's goes to no array, but in so many calls
              of a file as tools/lint.txt says
  bounds      no assertion compares with the size of an array, as a check of
              input would: releases have none
  package     the modules of python/tkdbg import downwards only, without knots
  typed       what is public in python/tkdbg has types (tools/pyrules.py)
  writes      no module of python/tkdbg writes what is another's, but so many
              attributes as tools/lint.txt says

tools/lint.txt may only shrink: what in it is no longer needed is named.
"""
import argparse
import collections
import os
import re
import shutil
import subprocess
import sys

import links
import pyknots
import pyrules

FOLDERS = ('src', 'include', 'interp', 'gdbstub', 'tests', 'examples',
           'python', 'tools', 'docs', 'puzzles', '.ci')
TOP = ('Makefile', 'README.md', 'CONTRIBUTING.md', 'CHANGELOG.md', 'setup.py',
       'pyproject.toml')
TEXT = '.c', '.h', '.def', '.py', '.sh', '.md', ''
VALUES = tuple(f'interp/{name}' for name in ('value.h', 'value.c', 'pool.h',
                                             'pool.c'))
PARSER = tuple(f'src/lang/{name}' for name in ('ast.h', 'parser.c',
                                               'parse_expr.c', 'parse_stmt.c',
                                               'parse_literal.c'))
PRIVATE = {'interp/value.h': VALUES, 'interp/pool.h': VALUES,
           'interp/symbolic.h': ('interp/symbolic.h', 'interp/symbolic.c'),
           'src/lang/ast.h': PARSER}
COMMON = 'tk_'  # the prefix that rooms at the bottom share
WIDTH, MEDIAN, NINTH, FILE_LINES = 80, 12, 40, 1500
SAME_NAME = 2


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
                printed = line in ('```console', '```text')
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


def switches():
    """A switch over instructions, or over their kinds, names every one: the
    compiler then says what a new one was forgotten in (-Wswitch-enum)."""
    for path in with_suffix('.c', '.h'):
        opened = {}  # indentation: whether the switch there has such cases
        for number, line in enumerate(read(path), 1):
            indent = len(line) - len(line.lstrip())
            word = line.lstrip()
            if re.match(r'(\}? ?(else )?if \(.*\) )?switch \(', word):
                opened[indent] = False
            elif re.match(r'case TK_(I|LANES|EFFECT)_', word):
                opened[indent] = True
            elif word.startswith('default:') and opened.get(indent):
                yield f'{path}:{number}: default: in a switch over instructions'


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


def tools():
    """{name: version} of the programs that check Python's files."""
    return dict(re.findall(r'^(\w+)==([\d.]+)$',
                           '\n'.join(read('tools/lint-tools.txt')), re.M))


def find_tool(name, version):
    """(program, None) or (None, why there is none)."""
    found = None
    for path in f'build-lint/bin/{name}', name:
        program = shutil.which(path)
        if not program:
            continue
        said = subprocess.run([program, '--version'], stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, text=True).stdout
        found = re.search(r'[\d.]*\d', said)
        if found and found.group() == version:
            return program, None
    return None, (f'{name} {found.group()} is installed, and not {version}'
                  if found else f'{name} is not installed')


def types():
    for name, argv in (('mypy', ['--no-error-summary']),
                       ('ruff', ['check', '--quiet', '--no-cache',
                                 '--output-format', 'concise'])):
        program, why = find_tool(name, tools()[name])
        if not program:
            print(f'lint: {name} skipped: {why}')
            continue
        done = subprocess.run([program, *argv], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True)
        yield from (f'{name}: {line}' for line in done.stdout.splitlines()
                    if line)
        if done.returncode and not done.stdout.strip():
            yield f'{name}: exit status {done.returncode}'


def private():
    for header, users in PRIVATE.items():
        names = set(re.findall(r'\b\w+_(?=[;,\[])', '\n'.join(read(header))))
        opened = re.compile(r'(?:\.|->)(%s)\b' % '|'.join(sorted(names)))
        for path in with_suffix('.c', '.h'):
            for number, line in enumerate(read(path), 1):
                for name in opened.findall(line) if path not in users else ():
                    yield f'{path}:{number}: {name} is private to {header}'


def rooms():
    """Folder of each room of the C sources, and those that it may use."""
    table = re.findall(r'^\| `((?:src|interp|gdbstub)[a-z/]*)/` '
                       r'\|.*\| ([^|]*) \|$',
                       '\n'.join(read('docs/architecture.md')), re.M)
    found = {folder.replace('src/', ''): (folder, uses)
             for folder, uses in table}
    return {name: (folder, {w for w in re.findall(r'[a-z/]+', uses)
                            if w in found} | {name, '.', 'tkdbg'})
            for name, (folder, uses) in found.items()}


def over_the_api():
    """Rooms that use what is not theirs through the public headers alone."""
    return {name.replace('src/', '') for name in
            re.findall(r'^\| `((?:src|interp|gdbstub)[a-z/]*)/` \|.*\| [^|]*'
                       r'the public API \|$',
                       '\n'.join(read('docs/architecture.md')), re.M)}


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


def public():
    """The functions that the public headers declare."""
    text = '\n'.join('\n'.join(read(path)) for path in with_suffix('.h')
                     if path.startswith('include/'))
    return set(re.findall(r'\b(tk_[a-z0-9_]+)\(', text))


def symbol_arrows(build):
    found = links.arrows(build)
    if not found:
        sys.exit(f'lint: {build} has no objects: make all')
    return found


def link_layers(build):
    known = {folder: (name, uses) for name, (folder, uses) in rooms().items()}
    interface, outer = public(), over_the_api()
    for (user, definer), names in sorted(symbol_arrows(build).items()):
        name, uses = known[os.path.dirname(user)]
        other = known[os.path.dirname(definer)][0]
        if other in uses:
            continue
        if name in outer:
            names = names - interface
        for symbol in sorted(names):
            yield f'{user}: {name} may not use {other}: {symbol} of {definer}'


def prefix_table():
    """[(folders, their prefixes)] by the table of prefixes; a name that is the
    prefix alone, without its last underscore, is right as well."""
    rows = re.findall(r'^\| ((?:`(?:src|interp|gdbstub)[a-z/]*/`(?:, )?)+) '
                      r'\| ((?:`\w+_`(?:, )?)+) \|$',
                      '\n'.join(read('docs/architecture.md')), re.M)
    return [(re.findall(r'`([^`]*)/`', folders),
             set(re.findall(r'`([^`]*)`', own))) for folders, own in rows]


NAMED_TYPE = re.compile(r'^(?:\} (\w+);|typedef (?:struct|enum|union) \w+ '
                        r'(\w+);|typedef [^{;]*\(\*(\w+)\)\()', re.M)


def shared_names(build):
    """(file, name) of what files take from each other: symbols of the objects,
    and types that headers declare."""
    for (_, definer), names in symbol_arrows(build).items():
        yield from ((definer, name) for name in names)
    for path in with_suffix('.h'):
        if path.startswith(links.TOPS):
            for names in NAMED_TYPE.findall('\n'.join(read(path))):
                yield path, ''.join(names)


def prefixes(build):
    rows, interface = prefix_table(), public()
    table = {folder: own for folders, own in rows for folder in folders}
    counts = collections.Counter(prefix for _, own in rows for prefix in own)
    for prefix, n in counts.items():
        if n > 1 and prefix != COMMON:
            yield f'docs/architecture.md: {n} rows have the prefix {prefix}'
    for path, name in sorted(set(shared_names(build))):
        own = table.get(os.path.dirname(path))
        if own is None:
            yield f'{path}: its room has no prefix in docs/architecture.md'
        elif name not in interface and not f'{name}_'.startswith(tuple(own)):
            yield f'{path}: {name} begins with no prefix of its room'


def allowed():
    """{(kind, name): number} of tools/lint.txt."""
    for line in read('tools/lint.txt'):
        found = re.fullmatch(r'(knot|name|text|bound|write) (.*) (\d+)', line)
        if found:
            yield found.group(1, 2), int(found.group(3))


def beyond(kind, found, least, covers):
    """Faults: of what is found ({name: (number, where)}) there is more than
    least, and than the entries of tools/lint.txt that cover it allow.  Notes
    say what the table allows in vain."""
    table = {name: n for (k, name), n in allowed() if k == kind}
    for name, (n, where) in sorted(found.items()):
        most = [m for entry, m in table.items() if covers(entry, name)]
        if n > max([least, *most]):
            yield f'{kind} {name} {n}: {" ".join(where)}'
    for entry, n in sorted(table.items()):
        now = max([0] + [m for name, (m, _) in found.items()
                         if covers(entry, name)])
        if now <= least:
            print(f'lint: tools/lint.txt: no longer needed: {kind} {entry}')
        elif now < n:
            print(f'lint: tools/lint.txt: {kind} {entry} {n} may be {now}')


def knot_sizes(build):
    """A knot goes by the rooms that its files are in; of several in the same
    rooms the largest counts.  What is allowed to rooms together is allowed to
    some of them."""
    found = {}
    for knot in links.knots(symbol_arrows(build)):
        name = ' '.join(sorted({os.path.dirname(f) for f in knot}))
        found.setdefault(name, (len(knot), knot))
    sizes = ', '.join(f'{n} in {name}' for name, (n, _) in found.items())
    print(f'lint: files that need each other: {sizes or "none"}')
    yield from beyond('knot', found, 1, lambda entry, name:
                      set(entry.split()) >= set(name.split()))


def static_names():
    found = collections.defaultdict(set)
    for path in with_suffix('.c'):
        if path.startswith(links.TOPS):
            for name in re.findall(r'^static (?:TK_PRINTF\(\d, \d\) )?'
                                   r'[^;={(]*?\b(\w+)\(',
                                   '\n'.join(read(path)), re.M):
                found[name].add(path)
    yield from beyond('name', {name: (len(where), sorted(where))
                               for name, where in found.items()},
                      SAME_NAME, lambda entry, name: entry == name)


CALL = re.compile(r'\b(v?sn?printf|strn?cpy|strn?cat) ?\(')
# A conversion of a text in a format.
TEXT_IN_FORMAT = re.compile(r'%[-0-9.*]*s')


def call_at(source, start):
    """The text of a call from its name on, up to its last parenthesis."""
    depth = 0
    for found in re.finditer(r'"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])*\'|[()]',
                             source[start:]):
        depth += {'(': 1, ')': -1}.get(found.group(), 0)
        if not depth and found.group() == ')':
            return source[start:start + found.end()]
    return source[start:]


def writes_text(name, call):
    """Whether the call puts a text of any length where there may be no room."""
    if name in ('snprintf', 'sprintf'):
        return bool(TEXT_IN_FORMAT.search(call))
    return True


def per_file(counts):
    """{file: (number, where)} of [(file, line)]."""
    found = collections.defaultdict(list)
    for path, number in counts:
        found[path].append(f'line {number}')
    return {path: (len(where), where) for path, where in found.items()}


def c_sources():
    for path in with_suffix('.c', '.h'):
        if path.startswith(links.TOPS):
            yield path, '\n'.join(read(path))


def texts():
    calls = [(path, source.count('\n', 0, m.start()) + 1)
             for path, source in c_sources() for m in CALL.finditer(source)
             if writes_text(m.group(1), call_at(source, m.start()))]
    yield from beyond('text', per_file(calls), 0,
                      lambda entry, name: entry == name)


def bounds():
    asserts = [(path, source.count('\n', 0, m.start()) + 1)
               for path, source in c_sources()
               for m in re.finditer(r'\bTK_ASSERT ?\(', source)
               if re.search(r'\bsizeof\b|TK_COUNT',
                            call_at(source, m.start()))]
    yield from beyond('bound', per_file(asserts), 0,
                      lambda entry, name: entry == name)


def writes():
    found = collections.defaultdict(list)
    for path, number, what in pyrules.writes():
        found[path].append(f'line {number}: {what}')
    yield from beyond('write', {path: (len(where), where)
                                for path, where in found.items()}, 0,
                      lambda entry, name: entry == name)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--build', default='build')
    build = os.path.abspath(parser.parse_args().build)
    os.chdir(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    checks = [columns, functions, files, switches, layout, python, types,
              private, layers, lambda: link_layers(build),
              lambda: knot_sizes(build), lambda: prefixes(build),
              static_names, texts, bounds, pyknots.faults,
              pyrules.annotations, writes]
    faults = 0
    for check in checks:
        for fault in check():
            faults += 1
            print(fault)
    print(f'lint: {faults or "no"} fault{"s" if faults != 1 else ""}')
    return 1 if faults else 0


if __name__ == '__main__':
    sys.exit(main())
