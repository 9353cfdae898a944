"""What happens to a terminal must not break a session.

    python3 tests/debug/robust.py --build build [--rounds 5]

The debugger runs on a pseudo-terminal, or with its input closed, and at
moments that a fixed seed chooses the terminal goes away, changes its size, or
Ctrl-C or SIGTERM comes: at the prompt, while a command runs, in the middle of
a long `continue`.  Each time it must end (or go on) with a sane exit status,
without a signal of its own, and leave the terminal and the history file whole.
"""
import argparse
import fcntl
import os
import pty
import random
import select
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, 'tests', 'support'))
import terminal  # noqa: E402

PROMPT = b'(tkdbg) '
WAIT = 20
BROKEN = {signal.SIGSEGV, signal.SIGABRT, signal.SIGBUS, signal.SIGILL,
          signal.SIGFPE}
LONG = '''import triton
import triton.language as tl


@triton.jit
def k(x, n):
    i = tl.arange(0, 64)
    for j in range(n):
        v = tl.load(x + i)
        tl.store(x + i, v + j)
'''


class Session:
    """The debugger on a pseudo-terminal of its own."""

    def __init__(self, build, folder):
        path = os.path.join(folder, 'k.py')
        with open(path, 'w') as f:
            f.write(LONG)
        argv = [os.path.join(os.path.abspath(build), 'tkdbg'), 'debug', path,
                '--kernel', 'k', '--arg', 'x=i32[64]:arange', '--arg',
                'n=300000000', '--grid', '2']
        env = dict(os.environ, HOME=folder, TERM='xterm', INPUTRC='/dev/null')
        self.master, self.slave = pty.openpty()
        self.before = termios.tcgetattr(self.slave)
        self.process = subprocess.Popen(
            argv, stdin=self.slave, stdout=self.slave, stderr=self.slave,
            env=env, start_new_session=True, preexec_fn=self.control)
        self.text = b''

    def control(self):
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)

    def read(self, seconds):
        if select.select([self.master], [], [], seconds)[0]:
            try:
                self.text += os.read(self.master, 4096)
            except OSError:
                pass

    def prompt(self):
        """Waits for a prompt behind what was seen so far."""
        end = time.monotonic() + WAIT
        while PROMPT not in self.text:
            if time.monotonic() > end or self.process.poll() is not None:
                raise AssertionError(f'no prompt: {self.text[-300:]!r}')
            self.read(0.2)
        self.text = self.text.split(PROMPT, 1)[1]

    def send(self, text):
        os.write(self.master, text.encode())

    def hang_up(self):
        os.close(self.master)
        self.master = None

    def end(self):
        """Its exit status; it must end by itself."""
        end = time.monotonic() + WAIT
        while self.process.poll() is None and time.monotonic() < end:
            if self.master is None:
                time.sleep(0.05)
            else:
                self.read(0.1)
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
            raise AssertionError('it hangs')
        return self.process.returncode

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        for fd in self.master, self.slave:
            if fd is not None:
                os.close(fd)


def pause(rng, most=0.3):
    time.sleep(rng.random() * most)


def busy(s, rng):
    """At the prompt, or somewhere in the middle of a long continue."""
    s.prompt()
    for command in rng.sample(['print i', 'step', 'info locals', 'help'], 2):
        s.send(command + '\n')
        s.prompt()
    if rng.random() < 0.6:
        s.send('continue\n')
    pause(rng)


def sane(status):
    if status < 0 and -status in BROKEN:
        raise AssertionError(f'it dies of signal {-status}')
    if status > 4 and status < 128:
        raise AssertionError(f'exit status {status}')


def hang_up(s, rng):
    busy(s, rng)
    s.hang_up()
    sane(s.end())


def terminate(s, rng):
    busy(s, rng)
    s.process.send_signal(signal.SIGTERM)
    sane(s.end())
    whole(s)


def whole(s):
    if termios.tcgetattr(s.slave) != s.before:
        raise AssertionError('the terminal is not as it was')


def leave(s):
    s.send('quit\n')
    sane(s.end())
    whole(s)


def interrupt(s, rng):
    """Ctrl-C while it runs brings a prompt; at the prompt, another one."""
    s.prompt()
    s.send('print i\n')
    s.prompt()
    s.send('continue\n')
    pause(rng)
    s.send('\x03')
    s.prompt()
    s.send('print j')
    pause(rng, 0.05)
    s.send('\x03')
    s.prompt()
    s.send('reverse-step\n')
    pause(rng, 0.5)
    s.send('\x03')
    s.prompt()
    leave(s)


def resize(s, rng):
    s.prompt()
    for _ in range(5):
        size = struct.pack('HHHH', rng.randrange(1, 60), rng.randrange(1, 200),
                           0, 0)
        fcntl.ioctl(s.master, termios.TIOCSWINSZ, size)
        s.process.send_signal(signal.SIGWINCH)
        s.send(rng.choice(['print i\n', 'step\n', 'list\n']))
        pause(rng, 0.05)
    for _ in range(5):
        s.prompt()
    leave(s)


def end_of_file(s, rng):
    s.prompt()
    s.send('step\n')
    s.prompt()
    s.send('\x04')
    sane(s.end())
    whole(s)


def history(folder, name):
    """What was typed is there, a line each."""
    path = os.path.join(folder, '.tkdbg_history')
    if name in ('interrupt', 'resize', 'end_of_file'):
        with open(path, encoding='utf-8') as f:
            lines = f.read().split('\n')
        if not lines or any('\0' in line for line in lines):
            raise AssertionError(f'the history is broken: {lines}')


def closed_input(build, folder):
    """Without any input it ends."""
    path = os.path.join(folder, 'k.py')
    with open(path, 'w') as f:
        f.write(LONG)
    argv = [os.path.join(os.path.abspath(build), 'tkdbg'), 'debug', path,
            '--kernel', 'k', '--arg', 'x=i32[64]:arange', '--arg', 'n=3']
    done = subprocess.run(['sh', '-c', 'exec "$@" <&-', 'sh', *argv],
                          timeout=WAIT, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT)
    sane(done.returncode)


SCENES = [hang_up, terminate, interrupt, resize, end_of_file]


def play(scene, build, seed):
    with tempfile.TemporaryDirectory() as folder:
        s = Session(build, folder)
        try:
            scene(s, random.Random(seed))
            history(folder, scene.__name__)
        except (AssertionError, OSError) as e:
            return str(e) or type(e).__name__
        finally:
            s.close()
    return None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--build', default='build')
    parser.add_argument('--rounds', type=int, default=3)
    args = parser.parse_args()
    failed, missing = 0, terminal.missing()
    if missing:
        print(f'SKIP tests/debug/robust.py: {missing}')
        args.rounds = 0
    for seed in range(args.rounds):
        for scene in SCENES:
            wrong = play(scene, args.build, seed)
            print(f'{"FAIL" if wrong else "ok"} {scene.__name__} {seed}'
                  + (f': {wrong}' if wrong else ''), flush=True)
            failed += wrong is not None
    with tempfile.TemporaryDirectory() as folder:
        closed_input(args.build, folder)
    print('ok closed_input')
    return failed != 0


if __name__ == '__main__':
    sys.exit(main())
