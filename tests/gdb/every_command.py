"""Every command of tkdbg's debugger, given through gdb's `monitor`.

    python3 tests/gdb/every_command.py --build build

The list is the table of commands itself, so that a new one is tested without
a word here.  Each answers something, the words that are its own among them,
and the launch stands where it stood: those that would move it say that this
is gdb's business.
"""
import argparse
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import clients  # noqa: E402

SERVE = ('gdbserver --stdio tests/gdb/kernels.py --kernel kernel --grid 3 '
         '--arg x_ptr=f32[24]:arange --arg y_ptr=f32[24]:zeros --arg n=24 '
         '--arg B=8 --arg DT=fp32')
# What a command needs behind it to do something here.
OPERANDS = {
    'break': '41', 'tbreak': '41', 'dprintf': '41, "x {pid}"', 'watch': 'pid',
    'rwatch': 'pid', 'awatch': 'pid', 'catch': 'finding', 'ignore': '1 1',
    'condition': '1 pid > 0', 'advance': '41', 'jump': '37', 'goto': '1',
    'restart': '1', 'print': 'pid', 'x': 'x_ptr', 'whatis': 'pid',
    'info': 'programs', 'stats': 'x_ptr', 'show': 'x_ptr', 'axis': 'offs',
    'layout': 'offs', 'diff': 'x_ptr', 'origin': 'offs[1]',
    'blame': 'x_ptr[1]', 'set': 'print elements 8', 'apply': '0 print pid',
    'alias': 'pp1 = print', 'unalias': 'pp1', 'define': 'own',
    'view': '/nowhere/v.html', 'document': 'own',
    'save': 'breakpoints /nowhere/b', 'source': '/nowhere', 'shell': 'true',
    'record': '/nowhere/r', 'save-transcript': '/nowhere/t', 'echo': 'text',
    'help': 'print', 'apropos': 'watch', 'program': '1'}
BEHIND = "That would move the launch behind gdb's back"
# What moves it.
MOVES = {'run', 'start', 'continue', 'step', 'next', 'stepi',
         'until', 'advance', 'return', 'jump', 'next-program',
         'reverse-step', 'reverse-next', 'reverse-continue', 'goto',
         'reverse-stepi', 'restart', 'detach'}
MAY_BE_SILENT = {'alias', 'unalias', 'define', 'document', 'shell', 'set',
                 'enable', 'disable', 'delete', 'display', 'undisplay',
                 'commands', 'clear', 'up', 'down', 'echo', 'apply'}


def commands():
    with open(os.path.join(ROOT, 'src/command/command.def'),
              encoding='utf-8') as f:
        return re.findall(r'^COMMAND\(\w+, "([^"]+)"', f.read(), re.M)


def hold(build, names):
    argv = ['gdb', '-nx', '-q', '-batch', '-ex', 'set confirm off', '-ex',
            f'target remote | {os.path.abspath(build)}/tkdbg {SERVE}',
            '-ex', 'next', '-ex', 'next']
    for name in names:
        argv += ['-ex', f'echo \\n<<< {name}\\n', '-ex',
                 f'monitor {name} {OPERANDS.get(name, "")}', '-ex',
                 'echo <<<<>\\n', '-ex', 'frame']
    done = subprocess.run([*argv, '-ex', 'kill'], cwd=ROOT, text=True,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, timeout=clients.SECONDS)
    return done.stdout


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('--build', default='build')
    options = parser.parse_args()
    if clients.is_missing(clients.Gdb()):
        print('SKIP tests/gdb/every_command.py: gdb is not installed')
        return 0
    names = commands()
    text, bad = hold(options.build, names), 0
    for name in names:
        found = re.search(rf'\n<<< {re.escape(name)}\n(.*?)<<<<>\n'
                          r'(.*?)(?=\n<<<|\Z)', text, re.S)
        answer, stands = found.groups() if found else ('', '')
        wrong = (not found and 'gdb has left' or
                 'kernels.py:36' not in stands and f'it stands at {stands}' or
                 not answer.strip() and name not in MAY_BE_SILENT and
                 'no answer' or
                 (BEHIND in answer) != (name in MOVES) and
                 'is it a move, or is it not?' or
                 'No command' in answer and 'it is not known')
        bad += bool(wrong)
        print(f'FAIL {name}: {wrong}\n{answer}' if wrong else f'ok {name}')
    return 1 if bad else 0


if __name__ == '__main__':
    sys.exit(main())
