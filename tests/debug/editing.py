"""Keys at the debugger's prompt, on a pseudo-terminal.

    python3 tests/debug/editing.py [--build build | --tkdbg COMMAND]

By each line editor there is here, or, of a command, by the one that it takes.
"""
import argparse
import os
import re
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))), 'support'))
import terminal  # noqa: E402

WAIT = 20
# What readline says of text that is pasted.
PASTE = re.compile(r'\x1b\[\?2004[hl]\r?')
KERNEL = '''import triton
import triton.language as tl


@triton.jit
def copy(x, y, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(y + i, tl.load(x + i))
'''
LAUNCH = ['--kernel', 'copy', '--grid', '1', '--arg', 'x=i32[8]:arange',
          '--arg', 'y=i32[8]:zeros', '--arg', 'B=8']

# What is pressed, and what must come.  The line ends in a number, which echo
# prints: so that what comes of the keys themselves is not taken for it.
CASES = [
    ('left arrow', 'echo a3\x1b[D1\x1b[D-\n', 'a-13'),
    ('other left arrow', 'echo a3\x1bOD1\n', 'a13'),
    ('right arrow', 'echo a\x1b[D\x1b[C4\n', 'a4'),
    ('Home and End', 'cho 5\x1b[He\x1b[F6\n', '56'),
    ('other Home and End', 'cho 5\x1bOHe\x1bOF7\n', '57'),
    ('Delete', 'echo 5X9\x1b[D\x1b[D\x1b[3~\n', '59'),
    ('Backspace', 'echo 6X\x7f1\n', '61'),
    ('Ctrl-A and Ctrl-E', 'cho 6\x01e\x052\n', '62'),
    ('Ctrl-W', 'echo 6 no\x173\n', '6 3'),
    ('Ctrl-U', 'nonsense\x15echo 64\n', '64'),
    ('Ctrl-K and Ctrl-Y', 'echo 6k5\x1b[D\x1b[D\x0b5\x19\n', '65k5'),
    ('Ctrl-Left', 'echo 1 2\x1b[1;5D7\n', '1 72'),
    ('up arrow', '\x1b[A\n', '1 72'),
    ('up and down arrows', '\x1b[A\x1b[A\x1b[B9\n', '1 729'),
    ('Ctrl-R', '\x12ho 64\r', '64'),
    ('letters of two bytes', 'echo gr\u00fcn\x7f\u00df7\n', 'gr\u00fc\u00df7'),
    ('a word is completed', 'help reverse-f\t|1\x01echo \n',
     'help reverse-finish |1'),
    ('Ctrl-C drops the line', 'nonsense\x03echo 68\n', '68'),
    ('Ctrl-C after a wide line', 'n' * 200 + '\x03echo 69\n', '69'),
    ('a wide line', 'echo ' + 'w' * 200 + '70\n', 'w' * 200 + '70'),
]


class Session(terminal.Program):
    def __init__(self, argv, folder, editor):
        path = os.path.join(folder, 'copy.py')
        with open(path, 'w', encoding='utf-8') as f:
            f.write(KERNEL)
        env = dict(os.environ, TERM='xterm', HOME=folder, INPUTRC='/dev/null',
                   LC_ALL='C.UTF-8')
        if editor:
            env['TKDBG_LINE_EDITOR'] = editor
        super().__init__([*argv, 'debug', path, *LAUNCH], env, folder,
                         size=(24, 80))

    def until(self, pattern):
        """Reads until the text has the pattern; whether it came."""
        found = self.wait(lambda text: re.search(pattern, PASTE.sub('', text)),
                          WAIT)
        self.seen, self.text = self.text, ''
        return found

    def try_keys(self, keys, want):
        self.press(keys)
        return self.until(r'\n' + re.escape(want) + r'\r*\n\(tkdbg\) $')


def lists(s):
    s.press('info \t\t')
    if not s.until(r'settings(.|\n)*watchpoints(.|\n)*info $'):
        return False
    return s.try_keys('\x15echo 71\n', '71')


def resizes(s):
    """What does not fit any more is drawn anew."""
    s.press('echo ' + 'v' * 60)
    s.until('v$')
    s.resize(24, 40)
    s.press('72\n')
    return s.until(r'\n' + 'v' * 60 + r'72\r*\n\(tkdbg\) $')


def keeps(s, folder):
    """The file of the history has lines as they were typed, once."""
    with open(os.path.join(folder, '.tkdbg_history'), encoding='utf-8') as f:
        lines = f.read().split('\n')
    return lines[-1] == '' and lines.count('echo 64') == 2 \
        and 'echo gr\u00fc\u00df7' in lines and 'nonsense' not in lines


def ends(s):
    s.press('\x04')
    return s.end(WAIT) is not None


def remembers(argv, folder, editor):
    """Another session has the lines of the one before."""
    with open(os.path.join(folder, '.tkdbg_history'), 'a',
              encoding='utf-8') as f:
        f.write(''.join(f'echo old {i}\n' for i in range(1500)))
    s = Session(argv, folder, editor)
    s.until(r'\(tkdbg\) $')
    good = s.try_keys('\x1b[A\n', 'old 1499')
    ends(s)
    s.close()
    with open(os.path.join(folder, '.tkdbg_history'), encoding='utf-8') as f:
        return good and len(f.read().split('\n')) == 1002


def stops(argv, folder, editor):
    """Ctrl-Z at the prompt, and back to it: keys that come before it is drawn
    again are the shell's."""
    shell = ['bash', '--norc', '-c', 'set -m; "$@"; echo stopped; fg', 'bash']
    s = Session([*shell, *argv], folder, editor)
    s.until(r'\(tkdbg\) $')
    s.press('echo ')
    s.until('echo $')
    s.press('\x1a')
    good = s.wait(lambda text: re.search(  # readline draws only its mode
        r'stopped(.|\n)*(\x1b\[\?2004h|echo )$', text), WAIT)
    good = good and s.try_keys('73\n', '73')
    ends(s)
    s.close()
    return good


def try_editor(argv, editor):
    """What fails of it."""
    with tempfile.TemporaryDirectory() as folder:
        s = Session(argv, folder, editor)
        s.until(r'\(tkdbg\) $')
        for name, keys, want in CASES:
            yield name, s.try_keys(keys, want), s.seen
        for check in lists, resizes:
            yield check.__name__, check(s), s.seen
        yield 'ends', ends(s), s.text
        yield 'keeps', keeps(s, folder), ''
        s.close()
        for again in remembers, stops:
            yield again.__name__, again(argv, folder, editor), ''


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--build', default='build')
    parser.add_argument('--tkdbg')
    args = parser.parse_args()
    failed, missing = 0, terminal.missing()
    if missing:
        print(f'SKIP tests/debug/editing.py: {missing}')
        return 0
    argv = [args.tkdbg or os.path.join(os.path.abspath(args.build), 'tkdbg')]
    for editor in [''] if args.tkdbg else terminal.editors(argv):
        for name, good, seen in try_editor(argv, editor):
            print('ok' if good else f'FAIL (came {seen!r})', editor, name,
                  flush=True)
            failed += not good
    return failed != 0


if __name__ == '__main__':
    sys.exit(main())
