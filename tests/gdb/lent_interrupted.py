"""Ctrl-C takes back a launch that our own debugger has lent to gdb.

    python3 tests/gdb/lent_interrupted.py --build build

It comes while nobody is connected, while the client looks at a stop, and while
the launch runs for it: each time the prompt is there again, the client's
connection is closed, and none of the many commands that follow is interrupted
by the same Ctrl-C.
"""
import argparse
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time

SECONDS = 60
COMMANDS = 2000
KERNEL = '''import triton
import triton.language as tl


@triton.jit
def spins(x_ptr, n):
    i = tl.arange(0, 64)
    for j in range(n):
        tl.store(x_ptr + i, j)
'''
SCRIPT = '''
import numpy as np

spins[(1,)](np.zeros(64, np.int32), 100000000)
'''
DESCRIBED = '--kernel', 'spins', '--arg', 'x_ptr=i32[64]', '--arg', \
    'n=100000000'


def packet(text):
    return b'$%s#%02x' % (text.encode(), sum(text.encode()) % 256)


def client(port, packets):
    """A connection over which these packets were sent, each answered."""
    wire = socket.create_connection(('127.0.0.1', port), SECONDS)
    for text in packets:
        wire.sendall(packet(text))
        if text.startswith('vCont'):
            time.sleep(0.3)  # it runs: no answer yet
        else:
            assert wire.recv(4096)
    return wire


def interrupt(argv, packets):
    """What the debugger printed when Ctrl-C came."""
    p = subprocess.Popen([*argv], stdin=subprocess.PIPE, text=True,
                         stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    with p:
        p.stdin.write('gdb\n' + 'echo back again\n' * COMMANDS + 'quit\n')
        p.stdin.close()
        text, wire = '', None
        for line in p.stdout:
            text += line
            if found := re.search(r'target remote :(\d+)', line):
                wire = packets and client(int(found[1]), packets)
                p.send_signal(signal.SIGINT)
        if wire:
            while wire.recv(4096):
                pass
            wire.close()
    return text


def cases(folder):
    path = os.path.join(folder, 'k.py'), os.path.join(folder, 'script.py')
    for name, text in zip(path, (KERNEL, KERNEL + SCRIPT)):
        with open(name, 'w', encoding='utf-8') as f:
            f.write(text)
    for kind, how in (('described', [path[0], *DESCRIBED]),
                      ('script', [path[1]])):
        yield f'{kind}, nobody has connected', how, ()
        yield f'{kind}, at a stop', how, ['?']
        yield f'{kind}, while it runs', how, ['?', 'vCont;c']


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--build', default='build')
    tkdbg = os.path.join(os.path.abspath(parser.parse_args().build), 'tkdbg')
    bad = 0
    with tempfile.TemporaryDirectory() as folder:
        for name, how, packets in cases(folder):
            text = interrupt([tkdbg, 'debug', *how], packets)
            said = 'gdb has left' if packets else 'No gdb has connected'
            ok = said in text and text.count('\nback again\n') == COMMANDS
            bad += not ok
            print(f'ok {name}' if ok else f'FAIL {name}\n{text[:2000]}')
    return 1 if bad else 0


if __name__ == '__main__':
    sys.exit(main())
