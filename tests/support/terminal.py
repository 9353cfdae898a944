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
import os
import pty
import re
import select
import signal
import subprocess
import sys
import time

PROMPT = '(tkdbg) '
INTERRUPT = '^C'
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


class Typist:
    """Types each line at a prompt, and Ctrl-C where the lines say so."""

    def __init__(self, fd, lines):
        self.fd, self.left = fd, list(lines)
        self.typed_at, self.awaited = 0, None

    def see(self, text):
        """text: all that came so far."""
        if self.awaited:
            if re.search(self.awaited, text[self.typed_at:], re.S):
                self.awaited = None
                self.press_interrupt()
        elif self.left and at_prompt(text):
            self.typed_at = len(text)
            os.write(self.fd, self.left.pop(0).encode() + b'\n')
            if self.left and self.left[0].startswith(INTERRUPT):
                self.awaited = self.left.pop(0)[len(INTERRUPT):].strip()
                if not self.awaited:
                    time.sleep(0.3)
                    self.press_interrupt()

    def press_interrupt(self):
        os.write(self.fd, b'\x03')


def received(fd):
    """What came, b'' at the end; None if nothing came for a while."""
    if not select.select([fd], [], [], 0.1)[0]:
        return None
    try:
        return os.read(fd, 4096)
    except OSError:
        return b''


def session(argv, lines, env, folder='.'):
    """Text and exit status of the command, with a line typed at each prompt;
    it is killed when it takes too long."""
    pid, fd = pty.fork()
    if pid == 0:
        # As a login gives it; a job in the background has it ignored.
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.chdir(folder)
        os.execvpe(argv[0], argv, env)
    text, typist = '', Typist(fd, lines)
    end = time.monotonic() + SECONDS
    while time.monotonic() < end:
        data = received(fd)
        if data == b'':
            break
        text += (data or b'').decode('utf-8', 'replace').replace('\r\n', '\n')
        if data:
            typist.see(text)
    else:
        os.kill(pid, 9)
    os.close(fd)
    status = os.waitpid(pid, 0)[1]
    return text.replace('\r', ''), os.waitstatus_to_exitcode(status)


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
