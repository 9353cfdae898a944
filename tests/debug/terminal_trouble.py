"""What happens to a terminal must not break a session.

    python3 tests/debug/terminal_trouble.py --build build [--rounds 5]

The debugger runs on a pseudo-terminal, or with its input closed, and at
moments that a fixed seed chooses the terminal goes away, changes its size, or
Ctrl-C or SIGTERM comes: at the prompt, while a command runs, in the middle of
a long `continue`.  Each time it must end (or go on) with a sane exit status,
without a signal of its own, and leave the terminal and the history file whole.
"""
import argparse
import itertools
import os
import random
import signal
import subprocess
import sys
import tempfile
import termios
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, 'tests', 'support'))
import terminal  # noqa: E402

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


class Session(terminal.Program):
    """The debugger on a pseudo-terminal of its own."""

    def __init__(self, build, folder, editor):
        path = os.path.join(folder, 'k.py')
        with open(path, 'w') as f:
            f.write(LONG)
        argv = [os.path.join(os.path.abspath(build), 'tkdbg'), 'debug', path,
                '--kernel', 'k', '--arg', 'x=i32[64]:arange', '--arg',
                'n=300000000', '--grid', '2']
        env = dict(os.environ, HOME=folder, TERM='xterm', INPUTRC='/dev/null',
                   TKDBG_LINE_EDITOR=editor)
        super().__init__(argv, env, hold=True)

    def prompt(self):
        """Waits for a prompt behind what was seen so far."""
        if not self.wait(lambda text: terminal.PROMPT in text
                         or self.process.poll() is not None, WAIT) \
                or terminal.PROMPT not in self.text:
            raise AssertionError(f'no prompt: {self.text[-300:]!r}')
        self.text = self.text.split(terminal.PROMPT, 1)[1]


def pause(rng, most=0.3):
    time.sleep(rng.random() * most)


def busy(s, rng):
    """At the prompt, or somewhere in the middle of a long continue."""
    s.prompt()
    for command in rng.sample(['print i', 'step', 'info locals', 'help'], 2):
        s.press(command + '\n')
        s.prompt()
    if rng.random() < 0.6:
        s.press('continue\n')
    pause(rng)


def sane(status):
    if status < 0 and -status in BROKEN:
        raise AssertionError(f'it dies of signal {-status}')
    if status > 4 and status < 128:
        raise AssertionError(f'exit status {status}')


def hang_up(s, rng):
    busy(s, rng)
    s.hang_up()
    sane(s.end(WAIT))


def terminate(s, rng):
    busy(s, rng)
    s.process.send_signal(signal.SIGTERM)
    sane(s.end(WAIT))
    whole(s)


def whole(s):
    if termios.tcgetattr(s.slave) != s.before:
        raise AssertionError('the terminal is not as it was')


def leave(s):
    s.press('quit\n')
    sane(s.end(WAIT))
    whole(s)


def interrupt(s, rng):
    """Ctrl-C while it runs brings a prompt; at the prompt, another one."""
    s.prompt()
    s.press('print i\n')
    s.prompt()
    s.press('continue\n')
    pause(rng)
    s.press('\x03')
    s.prompt()
    s.press('print j')
    pause(rng, 0.05)
    s.press('\x03')
    s.prompt()
    s.press('reverse-step\n')
    pause(rng, 0.5)
    s.press('\x03')
    s.prompt()
    leave(s)


def resize(s, rng):
    s.prompt()
    for _ in range(5):
        s.resize(rng.randrange(1, 60), rng.randrange(1, 200))
        s.process.send_signal(signal.SIGWINCH)
        s.press(rng.choice(['print i\n', 'step\n', 'list\n']))
        pause(rng, 0.05)
    for _ in range(5):
        s.prompt()
    leave(s)


def end_of_file(s, rng):
    s.prompt()
    s.press('step\n')
    s.prompt()
    s.press('\x04')
    sane(s.end(WAIT))
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


def play(scene, build, editor, seed):
    with tempfile.TemporaryDirectory() as folder:
        s = Session(build, folder, editor)
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
    editors = []
    if missing:
        print(f'SKIP tests/debug/terminal_trouble.py: {missing}')
    else:
        editors = terminal.editors([os.path.join(os.path.abspath(args.build),
                                                 'tkdbg')])
    for seed, editor, scene in itertools.product(range(args.rounds), editors,
                                                 SCENES):
        wrong = play(scene, args.build, editor, seed)
        print(f'{"FAIL" if wrong else "ok"} {editor} {scene.__name__} {seed}'
              + (f': {wrong}' if wrong else ''), flush=True)
        failed += wrong is not None
    with tempfile.TemporaryDirectory() as folder:
        closed_input(args.build, folder)
    print('ok closed_input')
    return failed != 0


if __name__ == '__main__':
    sys.exit(main())
