"""Debugger transcripts: sessions with the output that they must give.

    python3 tests/debug/run.py --build build [--tables] [FILE ...]

A transcript (tests/debug/*.txt) begins with comments (#) and a line
'$ tkdbg debug ...'; what follows is the session: each line that begins with
the prompt is a command, the rest is what is printed.  '...' in it stands for
any characters of the line; alone on a line, for any lines.  A file may hold
several cases: a line '== NAME' begins each, and what stands before the first
is how the session of each begins.  Each session runs twice: with its commands
on a pipe, and on a pseudo-terminal.  --tables checks instead that each command,
setting and reason to stop has a transcript and stands in the manual.
"""
import argparse
import ast
import glob
import os
import re
import shlex
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, 'tests', 'support'))
import terminal  # noqa: E402
import transcript  # noqa: E402

PROMPTS = terminal.PROMPT, '>'


def parts(lines):
    """(name, lines) of each case; one without a name if there are none."""
    starts = [i for i, line in enumerate(lines) if line.startswith('== ')]
    if not starts:
        yield '', lines
    for i, end in zip(starts, starts[1:] + [len(lines)]):
        yield lines[i][3:], lines[:starts[0]] + lines[i + 1:end]


def read(path):
    """Yields (name, command line, expected lines, commands) of each case."""
    with open(path, encoding='utf-8') as f:
        lines = f.read().split('\n')
    start = next(i for i, line in enumerate(lines) if line.startswith('$ '))
    for name, expected in parts(lines[start + 1:]):
        commands = [line[len(p):] for line in expected for p in PROMPTS
                    if line.startswith(p)]
        yield name, shlex.split(lines[start][2:]), expected, commands


def on_pipe(argv, commands, folder, env):
    done = subprocess.run(argv, cwd=folder, env=env, timeout=terminal.SECONDS,
                          input='\n'.join(commands) + '\n', text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return transcript.plain(done.stdout)


def on_terminal(argv, commands, folder, env):
    """The same on a pseudo-terminal, a command at each prompt."""
    text, _ = terminal.session(argv, commands, env, folder)
    return transcript.plain(text)


class Skipped(str):
    """Why a case cannot run here."""


def check(path, build):
    """Yields (name, None or what is wrong) for each case, in both ways;
    Skipped for what cannot be."""
    env = dict(os.environ, TERM='dumb', COLUMNS='80', INPUTRC='/dev/null')
    no_terminal = terminal.missing()
    for name, argv, expected, commands in read(path):
        argv[0] = os.path.join(os.path.abspath(build), 'tkdbg')
        for how in on_pipe, on_terminal:
            label = ' '.join([os.path.relpath(path, ROOT), name]).rstrip()
            label += f' ({how.__name__})'
            if how is on_terminal and no_terminal:
                yield label, Skipped(no_terminal)
                continue
            with tempfile.TemporaryDirectory() as folder:
                env['HOME'] = folder
                os.symlink(os.path.join(ROOT, 'tests'),
                           os.path.join(folder, 'tests'))
                got = how(argv, commands, folder, env)
            wrong = transcript.compare(expected, 0, got)
            if not wrong and too_wide(got):
                wrong = 'wider than 80 columns:\n' + '\n'.join(too_wide(got))
            yield label, wrong


def literals(text):
    """The arguments of a row that are strings, in order; others are None."""
    found = re.findall(r'(?:"(?:[^"\\]|\\.)*"\s*)+|[A-Z_]+', text)
    return [ast.literal_eval(f'({a})') if a.startswith('"') else None
            for a in found]


def commands():
    """(name, other names, arguments, summary) of each command."""
    with open(os.path.join(ROOT, 'src/command/command.def')) as f:
        rows = f.read().split('\nCOMMAND(')[1:]
    for row in rows:
        _, name, others, args, _, _, summary, *_ = literals(row)
        yield name, others, args, summary


def rows():
    return {name: {name, *others.split()} for name, others, *_ in commands()}


# How a stop at the end begins; one after a step has no reason, Ctrl-C is not
# typed in transcripts, and scripts are for tests/cli/debugger.sh.
BEGINS = {'Launch ended': 'The launch has ended'}
UNSEEN = '', 'Interrupted', 'The script raised'


def unseen(files):
    """Reasons to stop that no transcript has."""
    with open(os.path.join(ROOT, 'include/tkdbg/stop.def')) as f:
        found = re.findall(r'^STOP\(\w+, "[^"]*", "([^"]*)"\)', f.read(), re.M)
    lines = [line for path in files for case in read(path) for line in case[2]]
    return [text for text in found if text not in UNSEEN and not any(
        re.match(re.escape(BEGINS.get(text, text)) + r'\b(?! \d+ at)|'
                 + re.escape(text) + ',', line) for line in lines)]


def settings():
    """(name, value, what it is) of each setting."""
    with open(os.path.join(ROOT, 'src/command/setting.def')) as f:
        rows = f.read().split('\nSETTING(')[1:]
    return [literals(row)[1:4] for row in rows]


def off_the_table():
    """The rows that docs/debugger.md should have and has not."""
    with open(os.path.join(ROOT, 'docs/debugger.md')) as f:
        lines = f.read().split('\n')
    wanted = [(f'{name} {args}', f' {others} | {summary}')
              for name, others, args, summary in commands()]
    wanted += [(f'set {name} {value}', f' {doc}')
               for name, value, doc in settings()]
    for usage, rest in wanted:
        row = '| `' + usage.rstrip().replace('|', '\\|') + f'` |{rest} |'
        if row not in lines:
            yield row


# What is as wide as a user wrote it, or his values are.
WIDE = re.compile(r"""=>|b\ |\ \ +\d+\ \ |\ +\d+\ \| | \ +\| | line\ \d+:\ """,
                  re.X)


def too_wide(text):
    """Lines of a session that are wider than a terminal of 80 columns; what
    follows the last command is no longer the debugger's."""
    lines = text[:text.rfind('\n' + terminal.PROMPT)].split('\n')
    return [line for line in lines if len(line) > 80
            and not line.startswith(PROMPTS) and not WIDE.match(line)]


def wide_help(build):
    argv = [os.path.join(os.path.abspath(build), 'tkdbg'), 'debug',
            'tests/debug/add.py', '--kernel', 'add', '--grid', '1', '--arg',
            'x=i32[8]', '--arg', 'y=i32[8]', '--arg', 'n=8', '--arg', 'B=8']
    lines = ['help'] + ['help ' + name for name in rows()] + ['quit']
    return too_wide(on_pipe(argv, lines, ROOT, dict(os.environ, COLUMNS='80')))


def unused(files):
    """The commands and settings that no transcript carries out."""
    lines = [line for path in files for case in read(path)
             for line in case[-1]]
    words = {re.split(r'[ /]', line + ' ')[0] for line in lines}
    yield from (name for name, names in rows().items()
                if not any(w in names or (len(w) > 2 and name.startswith(w))
                           for w in words))
    yield from (f'set {name}' for name, *_ in settings()
                if not any(line.startswith(f'set {name} ') for line in lines))


def say(what, wrong):
    """One line for a check of it all; whether it failed."""
    print(f'FAIL {what}: {" ".join(wrong)}' if wrong else f'ok {what}')
    return bool(wrong)


def check_tables(files, build):
    """How many of the checks of it all failed."""
    return sum([
        say('every command and setting has a transcript', list(unused(files))),
        say('every reason to stop has a transcript', unseen(files)),
        say('docs/debugger.md has every command and setting',
            list(off_the_table())),
        say('help fits a terminal', wide_help(build))])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--build', default='build')
    parser.add_argument('--tables', action='store_true')
    parser.add_argument('files', nargs='*')
    args = parser.parse_args()
    every = sorted(glob.glob(os.path.join(ROOT, 'tests', 'debug', '*.txt')))
    if args.tables:
        return check_tables(every, args.build) != 0
    failed = 0
    for path in args.files or every:
        for name, wrong in check(path, args.build):
            if isinstance(wrong, Skipped):
                print(f'SKIP {name}: {wrong}')
                continue
            print(f'{"FAIL" if wrong else "ok"} {name}')
            if wrong:
                failed += 1
                print(wrong)
    return failed != 0


if __name__ == '__main__':
    sys.exit(main())
