"""Commands on a pseudo-terminal.

    python3 tests/support/terminal.py stderr COMMAND...
    python3 tests/support/terminal.py session LINES COMMAND...

`stderr` gives the command a terminal for its standard error and writes what
came there, escape sequences as <ESC>.  `session` gives it one for everything
and types a line (they are separated by ';') at each prompt of the debugger;
^C stands for Ctrl-C soon after the line before it.  The exit status is the
command's.
"""
import os
import pty
import re
import select
import subprocess
import sys
import time

PROMPT = '(tkdbg) '
INTERRUPT = '^C'
SECONDS = 60


def at_prompt(text):
    """Whether the debugger waits: for a command, or a line of a body."""
    return text.endswith(PROMPT) or re.search(r'\n>$', text)


def type_next(fd, left):
    os.write(fd, left.pop(0).encode() + b'\n')
    if left and left[0] == INTERRUPT:
        left.pop(0)
        time.sleep(0.3)
        os.write(fd, b'\x03')


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
        os.chdir(folder)
        os.execvpe(argv[0], argv, env)
    text, left, end = '', list(lines), time.monotonic() + SECONDS
    while time.monotonic() < end:
        data = received(fd)
        if data == b'':
            break
        text += (data or b'').decode('utf-8', 'replace').replace('\r\n', '\n')
        if data and left and at_prompt(text):
            type_next(fd, left)
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
