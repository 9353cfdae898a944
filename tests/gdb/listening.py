"""Where the server listens, and until when: clients that leave, sockets that
are files, signals.

    python3 tests/gdb/listening.py --build build
"""
import argparse
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import remote  # noqa: E402
from remote import KERNEL, SCRIPT  # noqa: E402

SECONDS = 60
PRINTED = {KERNEL: '(0, 0, 0) total 2', SCRIPT: 'ends [7 7 7 7]'}


class Server:
    """A server at a socket that is a file."""

    def __init__(self, build, path, words, *options):
        self.path = path
        self.process = subprocess.Popen(
            [f'{os.path.abspath(build)}/tkdbg', 'gdbserver', *options,
             'unix:' + path, *words],
            cwd=os.path.dirname(os.path.dirname(HERE)),
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True)
        self.said = ''

    def listens(self):
        """Whether a process listens there: before listen(), the file of the
        socket is there already, and connections are refused."""
        with open('/proc/net/unix', encoding='utf-8') as f:
            rows = [line.split() for line in f]
        accepts = 1 << 16  # __SO_ACCEPTCON, among the flags
        return any(row[-1] == self.path and int(row[3], 16) & accepts
                   for row in rows[1:])

    def __enter__(self):
        end = time.monotonic() + SECONDS
        while not self.listens() and time.monotonic() < end:
            if self.process.poll() is not None:
                break
            time.sleep(0.01)
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.communicate()

    def client(self):
        plug = socket.socket(socket.AF_UNIX)
        plug.settimeout(SECONDS)
        plug.connect(self.path)
        return remote.Client(plug.makefile('wb'), plug.makefile('rb'), plug)

    def end(self):
        """How it ends by itself, and what it has said."""
        self.said, _ = self.process.communicate(timeout=SECONDS)
        return self.process.returncode


def refuses(server):
    try:
        server.client().close()
    except OSError:
        return True
    return False


def check_once(build, path):
    """The only client detaches, vanishes, or kills."""
    for words, printed in PRINTED.items():
        for leave in 'D;1', None:
            with Server(build, path, words, '--once') as s, s.client() as c:
                c.ask('?')
                assert refuses(s), 'a second client may connect'
                if leave:
                    c.ask(leave)
                c.close()
                assert s.end() == 0 and printed in s.said, s.said
    with Server(build, path, KERNEL, '--once', '--multi') as s:
        with s.client() as c:
            c.ask('!')
            c.ask('?')
            assert c.ask('vKill;1') == 'OK'
        assert s.end() == 0 and PRINTED[KERNEL] not in s.said, s.said


def check_multi(build, path):
    """One client after another, also behind the end of the run."""
    for words, printed in PRINTED.items():
        with Server(build, path, words, '--multi') as s:
            with s.client() as c:
                assert c.ask('qAttached') == '1', 'quitting would kill'
                c.ask('?')
            with s.client() as c:
                c.ask('!')
                assert c.ask('?').startswith('T05'), 'it does not stand'
                assert c.ask('vKill;1') == 'OK'
            with s.client() as c:
                c.ask('!')
                why = c.ask('?')
                assert why.startswith('W'), f'it is not killed: {why}'
                assert c.ask('vRun;').startswith('T05')
                assert c.ask('D;1') == 'OK'
            assert s.end() == 0 and printed in s.said, s.said


def check_signals(build, path):
    for words in PRINTED:
        for number in signal.SIGHUP, signal.SIGINT, signal.SIGTERM:
            with Server(build, path, words) as s:
                while 'waiting for gdb' not in s.process.stdout.readline():
                    assert s.process.poll() is None, s.end()
                assert os.path.exists(path)
                s.process.send_signal(number)
                status = s.end()
                assert not os.path.exists(path), f'{number!r}: it is left'
                assert number == signal.SIGINT or status == -number, status


def check_files(build, path):
    """A socket that is left over is replaced, another file is not."""
    with Server(build, path, KERNEL) as s:
        s.process.kill()
        s.end()
        assert os.path.exists(path), 'there is nothing to be replaced'
    with Server(build, path, KERNEL) as s:
        with Server(build, path, KERNEL) as second:
            assert second.end() == 2, 'two servers'
            assert 'another server listens there' in second.said, second.said
        with s.client() as c:
            c.ask('?')
            assert c.ask('D;1') == 'OK', 'it has lost its socket'
        assert s.end() == 0 and not os.path.exists(path)
    with open(path, 'w', encoding='utf-8') as f:
        f.write('mine')
    with Server(build, path, KERNEL) as s:
        assert s.end() == 2 and 'is not a socket' in s.said, s.said
    with open(path, encoding='utf-8') as f:
        assert f.read() == 'mine', 'the file is changed'


def check_forks(build, path):
    """A child that a script forks, and ends, leaves the socket alone."""
    script = path + '.py'
    with open(script, 'w', encoding='utf-8') as f:
        f.write('import os, signal, sys\n'
                'for end in (lambda: sys.exit(),\n'
                '            lambda: os.kill(os.getpid(), signal.SIGTERM)):\n'
                '    child = os.fork()\n'
                '    if not child:\n'
                '        end()\n'
                '    os.waitpid(child, 0)\n'
                f'print("left", os.path.exists({path!r}))\n')
    with Server(build, path, (script,)) as s:
        assert s.end() == 0 and 'left True' in s.said, s.said


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('--build', default='build')
    options = parser.parse_args()
    bad = 0
    for check in (check_once, check_multi, check_signals, check_files,
                  check_forks):
        with tempfile.TemporaryDirectory() as folder:
            try:
                check(options.build, os.path.join(folder, 's'))
                print('ok', check.__name__)
            except (AssertionError, OSError, subprocess.TimeoutExpired) as e:
                bad += 1
                print('FAIL', check.__name__, repr(e))
    return 1 if bad else 0


if __name__ == '__main__':
    sys.exit(main())
