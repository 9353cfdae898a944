"""What Tab completes, on a pseudo-terminal.

    python3 tests/debug/completion.py --build build
"""
import argparse
import os
import pty
import re
import select
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


class Session:
    def __init__(self, build, folder):
        argv = [os.path.join(os.path.abspath(build), 'tkdbg'), 'debug'] + LAUNCH
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.environ.update(TERM='dumb', HOME=folder, INPUTRC='/dev/null',
                              COLUMNS='80')
            os.chdir(ROOT)
            os.execv(argv[0], argv)
        self.text = ''

    def wait(self, pattern):
        """Reads until the text has the pattern; the text up to there."""
        end = time.monotonic() + WAIT
        while not re.search(pattern, self.text):
            if time.monotonic() > end:
                break
            if select.select([self.fd], [], [], 0.1)[0]:
                self.text += os.read(self.fd, 4096).decode('utf-8', 'replace')
        text, self.text = self.text, ''
        return text

    def type(self, keys):
        os.write(self.fd, keys.encode())

    def complete(self, start):
        """The line that Tab makes of a start; an echo shows it."""
        self.type(start + '\t')
        time.sleep(0.05)
        self.type('\x05|\x01echo \n')
        text = self.wait(r'\r\n[^\r\n]*\|\r?\n.*\(tkdbg\) $')
        found = re.search(r'\r\n([^\r\n]*)\|\r?\n', text)
        return found.group(1) if found else text


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--build', default='build')
    args = parser.parse_args()
    failed, missing = 0, terminal.missing()
    if missing:
        print(f'SKIP tests/debug/completion.py: {missing}')
        return 0
    with tempfile.TemporaryDirectory() as folder:
        s = Session(args.build, folder)
        s.wait(r'trip 0(.|\n)*\(tkdbg\) $')
        s.type('alias mystery = print o\n')
        s.wait(r'\(tkdbg\) $')
        for start, want in CASES:
            got = s.complete(start)
            ok = got == (start if want is None else want)
            failed += not ok
            print('ok' if ok else f'FAIL (got {got!r})', repr(start))
        s.type('quit\n')
        os.close(s.fd)
        os.waitpid(s.pid, 0)
    return failed != 0


if __name__ == '__main__':
    sys.exit(main())
