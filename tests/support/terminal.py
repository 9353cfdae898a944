"""Commands on a pseudo-terminal.

    python3 tests/support/terminal.py stderr COMMAND...
    python3 tests/support/terminal.py session LINES COMMAND...
    python3 tests/support/terminal.py missing

`stderr` gives the command a terminal for its standard error and writes what
came there, escape sequences as <ESC>.  `session` gives it one for everything
and types a line (they are separated by ';') at each prompt of the debugger;
^C stands for Ctrl-C soon after the line before it, '^C PATTERN' for Ctrl-C once
what comes after that line has the pattern.  The exit status is the command's.
`missing` says why there can be no pseudo-terminal here, and fails if there can.
"""
import codecs
import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time

PROMPT = '(tkdbg) '
INTERRUPT = '^C'  # in what is typed
CTRL_C = '\x03'
SECONDS = 60


def at_prompt(text):
    """Whether the debugger waits: for a command, or a line of a body."""
    return text.endswith(PROMPT) or re.search(r'\n>$', text)


def missing():
    """Why there can be no pseudo-terminal here; None if there can."""
    try:
        for fd in pty.openpty():
            os.close(fd)
    except OSError as e:
        return f'no pseudo-terminals here: {e.strerror or e}'
    return None


def editors(tkdbg):
    """The line editors of a tkdbg (its command) that are here.

    libedit loses keys that come between two lines, before it reads, as they do
    on a busy machine: EDITORS=all tries it as well."""
    found = []
    for name in 'readline', 'libedit':
        if found and os.environ.get('EDITORS') != 'all':
            print(f'SKIP {name}: EDITORS=all tries it')
            continue
        said = subprocess.run(
            [*tkdbg, 'doctor'], stdout=subprocess.PIPE,
            env=dict(os.environ, TKDBG_LINE_EDITOR=name)).stdout.decode()
        if re.search('^editing +ok', said, re.M):
            found.append(name)
        else:
            print(f'SKIP {name}: it is not here')
    return found


class Program:
    """A program on a pseudo-terminal of its own: what it writes there, and
    keys for it.  With hold, the terminal outlives the program."""

    def __init__(self, argv, env, folder=None, size=None, hold=False):
        self.master, self.slave = pty.openpty()
        if size:
            self.resize(*size)
        self.before = termios.tcgetattr(self.slave)  # its settings
        self.process = subprocess.Popen(
            argv, stdin=self.slave, stdout=self.slave, stderr=self.slave,
            env=env, cwd=folder, start_new_session=True,
            preexec_fn=self._control)
        if not hold:
            os.close(self.slave)
            self.slave = None
        self.decoder = codecs.getincrementaldecoder('utf-8')('replace')
        self.text = ''  # a caller may take off what it has seen

    @staticmethod
    def _control():
        """As a login gives it; a job in the background has SIGINT ignored."""
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)
        signal.signal(signal.SIGINT, signal.SIG_DFL)

    def resize(self, rows, columns):
        fcntl.ioctl(self.master, termios.TIOCSWINSZ,
                    struct.pack('HHHH', rows, columns, 0, 0))

    def read(self, seconds=0.1):
        """Adds what comes to the text; False when nothing can come any more."""
        if not select.select([self.master], [], [], seconds)[0]:
            return True
        try:
            data = os.read(self.master, 1 << 16)
        except OSError:  # nobody has the terminal open
            return False
        self.text += self.decoder.decode(data)
        return bool(data)

    def wait(self, come, seconds):
        """Reads until come(text); whether it came in time."""
        end = time.monotonic() + seconds
        while not come(self.text):
            if time.monotonic() > end or not self.read():
                return bool(come(self.text))
        return True

    def press(self, keys):
        os.write(self.master, keys.encode())

    def hang_up(self):
        os.close(self.master)
        self.master = None

    def end(self, seconds):
        """Its exit status; it must end by itself."""
        end = time.monotonic() + seconds
        while self.process.poll() is None:
            if time.monotonic() > end:
                self.kill()
                raise AssertionError('it does not end')
            if self.master is None or not self.read():
                time.sleep(0.05)
        return self.process.returncode

    def kill(self):
        if self.process.poll() is None:
            self.process.kill()
        return self.process.wait()

    def close(self):
        self.kill()
        for fd in self.master, self.slave:
            if fd is not None:
                os.close(fd)
        self.master = self.slave = None


class Typist:
    """Types each line at a prompt, and Ctrl-C where the lines say so."""

    def __init__(self, program, lines):
        self.program, self.left = program, list(lines)
        self.typed_at, self.awaited = 0, None

    def see(self, text):
        """text: all that came so far."""
        if self.awaited:
            if re.search(self.awaited, text[self.typed_at:], re.S):
                self.awaited = None
                self.program.press(CTRL_C)
        elif self.left and at_prompt(text):
            self.typed_at = len(text)
            self.program.press(self.left.pop(0) + '\n')
            if self.left and self.left[0].startswith(INTERRUPT):
                self.awaited = self.left.pop(0)[len(INTERRUPT):].strip()
                if not self.awaited:
                    time.sleep(0.3)
                    self.program.press(CTRL_C)


def session(argv, lines, env, folder='.'):
    """Text and exit status of the command, with a line typed at each prompt;
    it is killed when it takes too long."""
    program = Program(argv, env, folder)
    typist, seen = Typist(program, lines), 0
    end = time.monotonic() + SECONDS
    while program.read():
        if time.monotonic() > end:
            program.kill()
            break
        if len(program.text) > seen:
            seen = len(program.text)
            typist.see(program.text.replace('\r\n', '\n'))
    status = program.process.wait()
    program.close()
    return program.text.replace('\r', ''), status


def stderr(argv, env):
    """What the command wrote to a terminal, and its exit status."""
    master, slave = pty.openpty()
    p = subprocess.Popen(argv, stdout=subprocess.DEVNULL, stderr=slave, env=env)
    os.close(slave)
    text = b''
    while True:
        try:
            piece = os.read(master, 4096)
        except OSError:
            break
        if not piece:
            break
        text += piece
    os.close(master)
    return text.decode().replace('\033', '<ESC>'), p.wait()


def main():
    if sys.argv[1] == 'missing':
        why = missing()
        print(why or '')
        return 0 if why else 1
    env = {k: v for k, v in os.environ.items() if k != 'NO_COLOR'}
    if sys.argv[1] == 'stderr':
        text, status = stderr(sys.argv[2:],
                              dict(env, TERM='xterm', COLUMNS='80'))
        text = text.replace('\r\n', '\n').replace('\r', '\n')
    else:
        text, status = session(sys.argv[3:], sys.argv[2].split(';'),
                               dict(env, TERM='dumb'))
    sys.stdout.write(text)
    return status


if __name__ == '__main__':
    sys.exit(main())
