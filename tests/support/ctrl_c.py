"""Ctrl-C at every command and every phase that can take long.

    python3 tests/support/ctrl_c.py [TEXT]     rows with TEXT in their name

Each row of ROWS is started, gets one SIGINT when it has begun, and must end
soon, with status 130, without a traceback of tkdbg's own and without leaving
a process or a file behind.  Each third one, or all of them with ROWS=all, is
then started again and gets two, 50 ms apart, which must end it however far the
first has come.

A busy machine makes everything slow: "begun" and "soon" are counted in the
processor's time of the process, unless a row waits for a text.  Children get
the default handler of SIGINT: they may be run where it is ignored.
"""
from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from typing import NamedTuple, Optional

import rows

SLOW = 4 if os.environ.get('SANITIZE') or 'asserts' in os.environ.get(
    'BUILD', '') else 1
SOON = 1.0 * SLOW    # seconds of the processor
LONGEST = 60.0       # that anything takes on a busy machine
APART = 0.05         # the two of a second press
HEAD = 'import triton\nimport triton.language as tl\n'
LANES = '    i = tl.arange(0, 64)\n    a = tl.load(x + i)\n'
BIG = 1 << 26

KERNEL = '@triton.jit\ndef k(x, n):\n' + LANES


def defs() -> str:
    """10 MB of kernels."""
    return HEAD + ''.join(
        f'@triton.jit\ndef k{i}(x, n, B: tl.constexpr):\n{LANES}'
        f'    tl.store(x + i, a + {i})\n' for i in range(75000))


def data() -> str:
    """A source of which a table of 40 MB is no kernel."""
    return 'X = [' + ',\n'.join(
        f'{i}, {i}.5, "abc"' for i in range(1500000)) + (
            f']\n{HEAD}{KERNEL}    tl.store(x + i, a)\n')


def statements(n: int) -> str:
    return HEAD + KERNEL + ''.join(
        f'    a = a * {i}.5 + n\n' for i in range(n)) + (
            '    tl.store(x + i, a)\n')


def unrolled() -> str:
    return HEAD + KERNEL + ('    for j in tl.static_range(60000):\n'
                            '        tl.store(x + i, tl.load(x + i) * j + n)\n')


def loop() -> str:
    return HEAD + KERNEL + ('    for j in range(n):\n'
                            '        a = a * 0.5 + j\n'
                            '    tl.store(x + i, a)\n')


SCRIPT = '''import time
import numpy as np, triton, triton.language as tl
@triton.jit
def k(x, y, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    a = tl.load(x + i % 16)
    for j in range(n):
        a = tl.exp(a * 0.5)
    tl.store(y + i % 16, a)
x = np.ones(16, np.float32)
y = np.zeros(16, np.float32)
'''
CAUGHT = SCRIPT + '''print("begun", flush=True)
try:
    k[(100000,)](x, y, 3000, B=1024)
except KeyboardInterrupt:
    print("caught")
    raise
'''
# the detectors take much longer than the run
FAILS = SCRIPT + '''k[(2000,)](x, y, 100, B=1024)
assert np.allclose(x, y)
'''
FILES = {
    'defs.py': defs, 'data.py': data, 'long.py': lambda: statements(300000),
    'statements.py': lambda: statements(20000), 'unrolled.py': unrolled,
    'loop.py': loop, 'slow.py': lambda: CAUGHT,
    'fails.py': lambda: FAILS,
    'sleeps.py': lambda: 'import time\nprint("begun", flush=True)\n'
                         'time.sleep(100)\n',
    'test_sleeps.py': lambda: SCRIPT + 'k[(1,)](x, y, 1, B=16)\n'
                      'def test_it():\n    print("begun", flush=True)\n'
                      '    time.sleep(100)\n'}


class Row(NamedTuple):
    name: str
    argv: list[str]
    begun: object = 0.3  # seconds of the processor, or a text that it writes
    statuses: tuple = (130, -signal.SIGINT)
    # a module of Python's; '': NumPy alone; LLVM: code for a GPU
    needs: Optional[str] = None
    more: float = 0.0    # seconds of the processor that others end in


def direct(command: str, file: str, *more: str, n: object = 3) -> list[str]:
    return ['tkdbg', command, file, '--kernel', 'k', '--arg', 'x=f32[64]:rand',
            '--arg', f'n={n}', *more]


def large(command: str, fill: str, *more: str) -> list[str]:
    return ['tkdbg', command, 'loop.py', '--arg', f'x=f32[{BIG}]:{fill}',
            '--arg', 'n=1', *more]


ENDLESS = 10 ** 12
LLVM = 'LLVM'
ROWS = [
    Row('kernels', ['tkdbg', 'kernels', 'defs.py']),
    Row('parsing', direct('run', 'data.py'), 0.2),
    Row('parsing a long kernel', direct('run', 'long.py'), 0.6),
    Row('ir', direct('ir', 'long.py'), 1.0),
    *(Row(f'compile {stage}', direct('compile', file, '--emit', stage), begun)
      for stage in ('ttir', 'axis', 'layouts', 'llir', 'ptx')
      for file, begun in (('statements.py', 0.5), ('unrolled.py', 1.5))),
    Row('run', direct('run', 'loop.py', n=ENDLESS)),
    Row('run --check', direct('run', 'loop.py', '--check=all', n=ENDLESS)),
    Row('lint', direct('run', 'unrolled.py', '--check=all'), 1.2),
    Row('run --explain', direct('run', 'loop.py', '--explain', 'x[3]',
                                n=ENDLESS)),
    Row('run --blame', direct('run', 'loop.py', '--blame', 'x[3]',
                              n=ENDLESS)),
    Row('run --jobs', direct('run', 'loop.py', '--jobs', '2', '--grid', '9',
                             n=ENDLESS)),
    Row('run --shard', direct('run', 'loop.py', '--shard', '0/2', '--grid',
                              '9', n=ENDLESS)),
    Row('run --engine ptx', direct('run', 'loop.py', '--engine', 'ptx',
                                   n=ENDLESS), needs=LLVM),
    Row('profile', direct('profile', 'loop.py', n=ENDLESS)),
    Row('diff', direct('diff', 'loop.py', n=ENDLESS), needs=LLVM),
    Row('diff of a long kernel', direct('diff', 'unrolled.py'), 1.5,
        needs=LLVM),
    Row('arguments', large('run', 'rand')),
    Row('arguments of normals', large('run', 'randn'), 1.0),
    Row('--save', large('run', 'ones', '--save', 'x=saved.npy'), 0.2),
    Row('--record', large('run', 'ones', '--record', 'r.safetensors'), 0.2),
    Row('gdbserver, waiting', direct('gdbserver', ':0', 'loop.py')[:3] +
        direct('gdbserver', 'loop.py')[2:], 'waiting for gdb'),
    Row('dap, waiting', ['tkdbg', 'dap', '--port', '0'], 'waiting for'),
    Row('dap of a file, waiting', ['tkdbg', 'dap', '--port', '0',
                                   *direct('run', 'loop.py')[2:]],
        'waiting for'),
    Row('debug, parsing', direct('debug', 'data.py'), 0.2),
    *(Row(f'{" ".join(words)} of a script', ['tkdbg', *words, 'slow.py'],
          'begun', needs='') for words in (
              ['run'], ['run', '--check'], ['why'], ['profile'], ['diff'])),
    *(Row(f'Python, beginning, after {begun:g} s',
          ['tkdbg', 'run', 'slow.py'], begun, needs='')
      for begun in (0.01, 0.02, 0.03, 0.04, 0.06, 0.1, 0.14)),
    Row('host code', ['tkdbg', 'why', 'sleeps.py'], 'begun', needs=''),
    Row('why, explaining', ['tkdbg', 'why', 'fails.py'],
        'AssertionError', needs=''),
    Row('a gdbserver of a script, waiting',
        ['tkdbg', 'gdbserver', ':0', 'slow.py'], 'waiting for gdb',
        needs=''),
    Row('a dap of a script, waiting',
        ['tkdbg', 'dap', '--port', '0', 'slow.py'], 'waiting for',
        needs=''),
    # pytest has a status of its own for it, and shows a traceback, for which
    # it may import much
    Row('pytest', ['tkdbg', 'why', '-m', 'pytest', '-sq', 'test_sleeps.py'],
        'begun', (2, 130, -signal.SIGINT), 'pytest', 2.0),
    Row('puzzles watch', ['tkdbg', 'puzzles', '--plain'], 'a01', needs=''),
    # it writes all its answers at the end
    Row('puzzles verify', ['tkdbg', 'puzzles', 'verify', '--all'], 0.15,
        needs=''),
]


def used(pid: int) -> float:
    """Seconds of the processor that a process has had; 0 once it is gone."""
    try:
        with open(f'/proc/{pid}/stat', encoding='ascii') as f:
            fields = f.read().rpartition(')')[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf('SC_CLK_TCK')


def is_running(pid: int) -> bool:
    return os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG |
                     os.WNOWAIT) is None


def others(session: int) -> list[int]:
    """The processes of a session, but for its leader and those that are
    ending."""
    found = []
    for name in filter(str.isdigit, os.listdir('/proc')):
        try:
            with open(f'/proc/{name}/stat', encoding='ascii') as f:
                state, _, _, of = f.read().rpartition(')')[2].split()[:4]
        except OSError:
            continue
        if int(of) == session and state not in 'ZX' and int(name) != session:
            found.append(int(name))
    return found


def text_of(folder: str) -> str:
    """What it has written by now."""
    said = ''
    for name in ('out', 'err'):
        with open(os.path.join(folder, name), encoding='utf-8',
                  errors='replace') as f:
            said += f.read()
    return said


def has_begun(row: Row, pid: int, folder: str) -> bool:
    if isinstance(row.begun, str):
        return row.begun in text_of(folder)
    return used(pid) >= row.begun


def default_handler() -> None:
    signal.signal(signal.SIGINT, signal.SIG_DFL)


class Failed(Exception):
    pass


class TooFast(Exception):
    """It was done, and well, before anybody could have pressed."""


def start(row: Row, folder: str) -> subprocess.Popen:
    """The process, once it has begun."""
    env = dict(os.environ, TMPDIR=os.path.join(folder, 'tmp'),
               TKDBG_CACHE_DIR=os.path.join(folder, 'cache'),
               PYTHONUNBUFFERED='1')
    with open(os.path.join(folder, 'out'), 'wb') as out, open(
            os.path.join(folder, 'err'), 'wb') as err:
        process = subprocess.Popen(
            row.argv, stdin=subprocess.PIPE, stdout=out, stderr=err, cwd=folder,
            env=env, start_new_session=True, preexec_fn=default_handler)
    end = time.monotonic() + LONGEST
    while is_running(process.pid) and time.monotonic() < end:
        if has_begun(row, process.pid, folder):
            return process
        time.sleep(0.01)
    ended = not is_running(process.pid)
    kill(process)
    if ended and process.returncode == 0:
        raise TooFast
    raise Failed(f'it did not begin (status {process.returncode})')


def kill(process: subprocess.Popen) -> None:
    for pid in (process.pid, *others(process.pid)):
        try:
            os.kill(pid, signal.SIGKILL)
        except OSError:
            pass
    process.wait()


def press(row: Row, folder: str, twice: bool) -> None:
    """Raises Failed if it does not end as it should."""
    process = start(row, folder)
    before, pressed = used(process.pid), time.monotonic()
    process.send_signal(signal.SIGINT)
    if twice:
        time.sleep(APART)
        if is_running(process.pid):
            process.send_signal(signal.SIGINT)
    end = pressed + LONGEST
    while is_running(process.pid) and time.monotonic() < end:
        time.sleep(0.01)
    took = used(process.pid) - before
    late = is_running(process.pid)
    waited = time.monotonic() - pressed
    if late:
        kill(process)
        raise Failed(f'it did not end in {LONGEST:g} s')
    status = process.wait()
    if status == 0 and waited < APART:
        raise TooFast
    soon = SOON + row.more
    if took > soon and waited > soon:
        raise Failed(f'it ended after {took:.2f} s of the processor')
    if status not in row.statuses:
        raise Failed(f'status {status}')
    look_for_rests(process.pid)
    look_at_text(folder, twice)
    left = os.listdir(os.path.join(folder, 'tmp'))
    if left and not twice:
        raise Failed(f'files are left: {left}')


def look_for_rests(session: int) -> None:
    end = time.monotonic() + SOON * 5
    while others(session) and time.monotonic() < end:
        time.sleep(0.01)
    rest = others(session)
    for pid in rest:
        os.kill(pid, signal.SIGKILL)
    if rest:
        raise Failed(f'{len(rest)} processes are left')


def look_at_text(folder: str, twice: bool) -> None:
    said = text_of(folder)
    if '/tkdbg/' in said and 'Traceback' in said:
        raise Failed('a traceback of tkdbg')
    for once in ('Traceback', 'KeyboardInterrupt$', 'caught',
                 '^tkdbg: .*launch, '):
        times = len(re.findall(once, said, re.M))
        if once == 'Traceback':  # a press can come while Python handles another
            times -= said.count('During handling of the above exception')
        if times > 1 and not twice:
            raise Failed(f'{once!r} comes {times} times')
    if not twice and 'tkdbg: why' in said:
        raise Failed('it was explained')


def has(module: str) -> bool:
    """Whether tkdbg's Python has a module; '': whether there is one; LLVM:
    whether there is tkdbg's plug-in."""
    if module == LLVM:
        folder = os.path.dirname(shutil.which('tkdbg') or '')
        return os.path.exists(os.path.join(folder, 'libtkdbg-nvptx.so'))
    text = f'import {module}' if module else 'pass'
    return subprocess.run(['tkdbg', 'run', '-c', text], check=False,
                          capture_output=True).returncode == 0


def prepare(folder: str) -> None:
    for name, make in FILES.items():
        with open(os.path.join(folder, name), 'w', encoding='utf-8') as f:
            f.write(make())
    os.mkdir(os.path.join(folder, 'tmp'))


def attempt(row: Row, folder: str, twice: bool) -> None:
    """Prints a line."""
    name = f'Ctrl-C{" twice" if twice else ""}: {row.name}'
    try:
        press(row, folder, twice)
        print(f'ok {name}', flush=True)
    except TooFast:
        print(f'skip {name.replace(":", ",")}: it ended before Ctrl-C')
    except Failed as e:
        print(f'not ok {name}: {e}')
        sys.stdout.write(text_of(folder)[-2000:])
        sys.stdout.flush()
    for left in os.listdir(os.path.join(folder, 'tmp')):
        subprocess.run(['rm', '-rf', os.path.join(folder, 'tmp', left)],
                       check=False)


def main(argv: list[str]) -> None:
    known: dict[str, bool] = {}
    with tempfile.TemporaryDirectory() as folder:
        prepare(folder)
        made = False
        twice = ROWS if argv else rows.some(ROWS, 3)
        for row in ROWS:
            if argv and argv[0] not in row.name:
                continue
            if row.needs is not None:
                wanted = [LLVM] if row.needs == LLVM else ['', row.needs]
                missing = [m for m in dict.fromkeys(wanted)
                           if not known.setdefault(m, has(m))]
                if missing:
                    what = missing[0] or 'Python with NumPy'
                    print(f'skip Ctrl-C, {row.name}: no {what}')
                    continue
            here = folder
            if row.name.startswith('puzzles'):
                here = os.path.join(folder, 'puzzles')
                if not made:
                    subprocess.run(['tkdbg', 'puzzles', 'init', here],
                                   check=True, capture_output=True)
                    os.mkdir(os.path.join(here, 'tmp'))
                    made = True
            attempt(row, here, False)
            if row in twice:
                attempt(row, here, True)


if __name__ == '__main__':
    main(sys.argv[1:])
