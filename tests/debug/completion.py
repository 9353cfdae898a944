"""What Tab completes, on a pseudo-terminal.

    python3 tests/debug/completion.py --build build
"""
import argparse
import os
import re
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, 'tests', 'support'))
import terminal  # noqa: E402

LAUNCH = ['tests/debug/add.py', '--kernel', 'add', '--grid', '4',
          '--arg', 'x=i32[29]:arange', '--arg', 'y=i32[29]:zeros',
          '--arg', 'n=29', '--arg', 'B=8', '-ex', 'break 16', '-ex', 'continue']
WAIT = 10

# What is typed before Tab, what the line is after it.
CASES = [
    ('reverse-f', 'reverse-finish '),
    ('help reverse-f', 'help reverse-finish '),
    ('info che', 'info check'),
    ('info sett', 'info settings '),
    ('b sca', 'b scale '),
    ('b 16 if bou', None),
    ('b 16 if pi', None),
    ('b tests/debug/las', 'b tests/debug/last_writer.py '),
    ('source tests/debug/last', 'source tests/debug/last_writer.py '),
    ('source tests/debu', 'source tests/debug/'),
    ('set listz', None),
    ('set lists', 'set listsize '),
    ('set print el', 'set print elements '),
    ('set check una', None),
    ('set check unw', 'set check unwritten '),
    ('set check race,unw', 'set check race,unwritten '),
    ('catch at', 'catch atomic '),
    ('save br', 'save breakpoints '),
    ('show x --', 'show x --svg '),
    ('diff o pro', 'diff o program '),
    ('apply >1 backt', 'apply >1 backtrace '),
    ('long', 'longlist '),
    ('mys', 'mystery '),
]


class Session(terminal.Program):
    def __init__(self, build, folder, editor):
        argv = [os.path.join(os.path.abspath(build), 'tkdbg'), 'debug'] + LAUNCH
        env = dict(os.environ, TERM='dumb', HOME=folder, INPUTRC='/dev/null',
                   COLUMNS='80', TKDBG_LINE_EDITOR=editor)
        super().__init__(argv, env, ROOT)

    def until(self, pattern):
        """Reads until the text has the pattern; the text up to there."""
        self.wait(lambda text: re.search(pattern, text), WAIT)
        text, self.text = self.text, ''
        return text

    def complete(self, start):
        """The line that Tab makes of a start; an echo shows it."""
        self.press(start + '\t')
        time.sleep(0.05)
        self.press('\x05|\x01echo \n')
        text = self.until(r'\r\n[^\r\n]*\|\r?\n.*\(tkdbg\) $')
        found = re.search(r'\r\n([^\r\n]*)\|\r?\n', text)
        return found.group(1) if found else text


def try_editor(build, editor):
    """How many cases fail with it."""
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        s = Session(build, folder, editor)
        s.until(r'trip 0(.|\n)*\(tkdbg\) $')
        s.press('alias mystery = print o\n')
        s.until(r'\(tkdbg\) $')
        for start, want in CASES:
            got = s.complete(start)
            ok = got == (start if want is None else want)
            failed += not ok
            print('ok' if ok else f'FAIL (got {got!r})', editor, repr(start))
        s.press('quit\n')
        s.end(WAIT)
        s.close()
    return failed


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--build', default='build')
    args = parser.parse_args()
    missing = terminal.missing()
    if missing:
        print(f'SKIP tests/debug/completion.py: {missing}')
        return 0
    tkdbg = [os.path.join(os.path.abspath(args.build), 'tkdbg')]
    return sum(try_editor(args.build, editor)
               for editor in terminal.editors(tkdbg)) != 0


if __name__ == '__main__':
    sys.exit(main())
