"""Sessions with gdb and lldb: what they print when tkdbg serves them.

    python3 tests/gdb/run.py --build build [--update] [FILE ...]

A file (tests/gdb/*.txt) begins with comments (#) and a line '$ tkdbg gdbserver
...', without an address; a line '== NAME' begins each case, which may have a
'$' line of its own.  Lines that begin with '(gdb) ' are typed, and those that
begin with '> ' where gdb wants more; the others are what gdb prints behind its
greeting.  '...' stands for any characters of a line, or alone on a line for
any lines.  In files whose name begins with mi_, gdb speaks its machine
interface, and only what it prints is compared; with extended_, it connects to
an extended-remote target; with lldb_, it is lldb, and '(lldb) '; with lent_,
it gets the launch from our own debugger, whose lines begin with '(tkdbg) ';
with arm_, it is gdb-multiarch; with both_, the line '$ tkdbg gdb ...' starts
it.  In docs/*.md, a block fenced as ```gdb or ```lldb is a case.

--update writes what is printed into the files, to be read before it is kept.
"""
import argparse
import glob
import os
import re
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, 'tests', 'support'))
import clients  # noqa: E402
import transcript  # noqa: E402

MORE = '> '
PAGES = 'gdb.md', 'gdb-tutorial.md'
WIDTH = 80  # of a page's lines


class Case:
    """A session: what serves it, what is typed, and what must be printed."""

    def __init__(self, path, name, serve, lines, kind):
        self.path, self.name, self.serve, self.lines = path, name, serve, lines
        self.kind, self.client = kind, clients.client_of(kind)
        self.expected = [line for line in lines
                         if not line.startswith(('$ ', MORE))]

    @property
    def prompt(self):
        return self.client.prompt

    @property
    def typed(self):
        if self.kind == 'lent':
            return [x for x in self.lines if x.startswith(self.prompt)]
        return [line.partition(' ')[2] for line in self.lines
                if line.startswith((self.prompt, MORE))]


def blocks(path, lines):
    """The cases of a page, and the line that each begins in."""
    for start, line in enumerate(lines, 1):
        if line in ('```gdb', '```lldb'):
            end, first = lines.index('```', start), start + 1
            while lines[first].startswith('> '):
                first += 1
            serve = ' '.join(part[2:].rstrip('\\').strip()
                             for part in lines[start:first])
            yield first, Case(path, f'line {start}', serve, lines[first:end],
                              line[3:])


def read(path):
    """The lines before the first case, and the cases."""
    with open(path, encoding='utf-8') as f:
        lines = f.read().rstrip('\n').split('\n')
    if path.endswith('.md'):
        return lines, [case for _, case in blocks(path, lines)]
    starts = [i for i, line in enumerate(lines) if line.startswith('== ')]
    head = lines[:starts[0]]

    def served(some, before):
        found = [line[2:] for line in some if line.startswith('$ ')]
        return found[0] if found else before
    kind = os.path.basename(path).partition('_')[0]
    always, cases = served(head, ''), []
    for i, end in zip(starts, starts[1:] + [len(lines)]):
        own = lines[i + 1:end]
        cases.append(Case(path, lines[i][3:], served(own, always), own, kind))
    return head, cases


def session(case, build):
    """The lines that a session prints, with what was typed."""
    program, *rest = case.serve.split(' ', 2)

    def serve(where):
        return f'{os.path.abspath(build)}/tkdbg {rest[0]} {where} {rest[1]}'
    with tempfile.TemporaryDirectory() as folder:
        env = dict(os.environ, HOME=folder, TERM='dumb', LC_ALL='C.UTF-8')
        text = case.client.hold(case.typed, serve, folder, env, ROOT)
    text = transcript.plain(text)
    # Where this tree lies, and where a host program has its memory.
    text = re.sub(r'0x(0000)?[5-7][0-9a-f]{11}\b', '0xHOST', text)
    text = text.replace(ROOT, 'ROOT')
    if case.path.endswith('.md'):
        text = text.expandtabs()
    return case.client.tidy(text)


def check(case, build):
    """None, or what is wrong."""
    try:
        got = session(case, build)
    except subprocess.TimeoutExpired as e:
        return f'did not end: {(e.stdout or b"").decode()[-2000:]}'
    expected = case.expected
    if case.kind == 'mi':
        expected = [x for x in expected if not x.startswith(case.prompt)]
    return transcript.compare(expected, 0, '\n'.join(got) + '\n')


def with_second_prompt(case, got):
    """The lines with those that stood behind a command put back."""
    for i, line in enumerate(case.lines):
        if line.startswith(MORE):
            before = max(k for k, x in enumerate(case.lines[:i])
                         if x.startswith(case.prompt))
            at = got.index(case.lines[before]) + i - before
            got = [*got[:at], line, *got[at:]]
    return got


def update_page(path, lines, build):
    for start, case in reversed(list(blocks(path, lines))):
        end = lines.index('```', start)
        lines[start:end] = [
            line if len(line) <= WIDTH else line[:WIDTH - 3] + '...'
            for line in session(case, build)]
    with open(path, 'w', encoding='utf-8') as f:
        f.write('\n'.join(lines) + '\n')


def update(path, build):
    head, cases = read(path)
    if path.endswith('.md'):
        update_page(path, head, build)
        return
    out = head[:]
    for case in cases:
        out.append(f'== {case.name}')
        out += [line for line in case.lines if line.startswith('$ ')]
        if case.kind == 'mi':
            out += [line for line in case.lines
                    if line.startswith(case.prompt)]
        out += with_second_prompt(case, session(case, build))
    with open(path, 'w', encoding='utf-8') as f:
        f.write('\n'.join(out) + '\n')


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('--build', default='build')
    parser.add_argument('--update', action='store_true')
    parser.add_argument('files', nargs='*')
    options = parser.parse_args()
    bad = 0
    for path in options.files or sorted(
            glob.glob(os.path.join(ROOT, 'tests/gdb/*.txt')) +
            [os.path.join(ROOT, 'docs', page) for page in PAGES]):
        name = os.path.relpath(path, ROOT)
        cases = read(path)[1]
        absent = {case.client.program for case in cases
                  if clients.is_missing(case.client)}
        for program in sorted(absent):
            print(f'SKIP {name}: {program} is not installed')
        if options.update and not absent:
            update(path, options.build)
            continue
        for case in cases:
            if case.client.program in absent:
                continue
            wrong = check(case, options.build)
            bad += wrong is not None
            print(f'FAIL {name} {case.name}\n{wrong}' if wrong
                  else f'ok {name} {case.name}')
    return 1 if bad else 0


if __name__ == '__main__':
    sys.exit(main())
