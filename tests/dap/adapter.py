"""What sessions begin with: adapters of the build that is tested, and places
in kernels.py."""
import functools
import os
import socket
import subprocess
import sys
import tempfile
import time
import unittest

import client

BUILD = 'build'
HERE = os.path.dirname(os.path.abspath(__file__))
KERNELS = os.path.join(HERE, 'kernels.py')
SCRIPT = os.path.join(HERE, 'script.py')
ADD = {'program': KERNELS, 'kernel': 'add', 'grid': 4,
       'kernelArgs': {'x': 'f32[30]:arange', 'y': 'f32[30]:zeros', 'n': 30,
                      'B': 8}}
_running = []


def line(text, path=KERNELS):
    """The number of the line with the text."""
    with open(path, encoding='utf-8') as f:
        found = [i for i, x in enumerate(f, 1) if text in x]
    assert len(found) == 1, (text, found)
    return found[0]


def environment():
    return dict(os.environ, LC_ALL='C.UTF-8', NO_COLOR='1',
                TKDBG_PYTHONPATH=os.path.join(HERE, '..', '..', 'python'))


def started(*words, **how):
    """A client that is initialized, of an adapter at its standard streams."""
    c, p = client.start(os.path.join(BUILD, 'tkdbg'), *words,
                        env=environment(), **how)
    c.process = p
    _running.append(p)
    return c


def initialized(*words, **more):
    c = started(*words)
    c.initialize(**more)
    return c


def stopped(launch, *lines, **more):
    """A client and where it stops first: in these lines, or on entry."""
    c = initialized(**more)
    if not lines:
        launch = dict(launch, stopOnEntry=True)
    c.begin(launch, [(KERNELS, list(lines))])
    return c, c.stopped()


def finish(c, status=0):
    """Lets it run to its end, and sees it off."""
    c.request('setBreakpoints', source={'path': KERNELS}, breakpoints=[])
    c.request('continue', threadId=c.thread)
    leave(c, status)


def leave(c, status=0):
    """It has been told to run to its end."""
    code = c.event('exited')['exitCode']
    c.event('terminated')
    c.request('disconnect')
    c.closes()
    c.process.wait(20)
    assert code == status == c.process.returncode, (
        code, c.process.returncode, dict(c.output))


class Listening:
    """An adapter that listens at a port: clients by connect()."""

    def __init__(self, *words):
        folder = tempfile.mkdtemp()
        path = os.path.join(folder, 'port')
        self.process = subprocess.Popen(
            [os.path.join(BUILD, 'tkdbg'), 'dap', '--port', '0', '--port-file',
             path, *words], env=environment(), stdout=subprocess.PIPE,
            stderr=subprocess.PIPE)
        _running.append(self.process)
        end = time.monotonic() + 20
        while not os.path.exists(path):
            assert time.monotonic() < end and self.process.poll() is None, (
                self.process.stderr.read())
            time.sleep(0.01)
        with open(path) as f:
            self.port = int(f.read())

    def connect(self):
        s = socket.create_connection(('127.0.0.1', self.port))
        stream = s.makefile('rwb')
        c = client.Client(stream, stream)
        c.socket, c.process = s, self.process
        return c


def end_all():
    while _running:
        p = _running.pop()
        if p.poll() is None:
            p.kill()
        p.wait()
        for stream in (p.stdin, p.stdout, p.stderr):
            if stream:
                try:
                    stream.close()
                except OSError:
                    pass


@functools.lru_cache(None)
def python():
    """The Python that scripts run under: one with NumPy."""
    find = 'import sys, importlib.util as u; sys.exit(not u.find_spec("numpy"))'
    for name in os.environ.get('PYTHON'), sys.executable, '/usr/bin/python3':
        if name and subprocess.run([name, '-c', find]).returncode == 0:
            return name
    raise unittest.SkipTest('no Python with NumPy')
