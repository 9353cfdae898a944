"""Ctrl-C ends a server whose run is over, while its client may run it again.

    python3 tests/gdb/interrupted.py --build build
"""
import argparse
import os
import signal
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
from remote import KERNEL, SCRIPT, Remote  # noqa: E402

SECONDS = 60


def wrong(build, words):
    """What is wrong with such a run; None."""
    argv = [f'{os.path.abspath(build)}/tkdbg', 'gdbserver', '--stdio', *words]
    with Remote(argv, cwd=os.path.dirname(os.path.dirname(HERE)),
                stderr=subprocess.PIPE) as client:
        client.ask('!')
        client.ask('?')
        if not client.ask('vCont;c').startswith('W00'):
            return 'it did not run to its end'
        client.server.send_signal(signal.SIGINT)
        try:
            said = client.server.communicate(timeout=SECONDS)[1].decode()
        except subprocess.TimeoutExpired:
            return 'Ctrl-C does not end it'
    return said if client.server.returncode or 'Traceback' in said else None


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('--build', default='build')
    options = parser.parse_args()
    bad = 0
    for words in KERNEL, SCRIPT:
        why = wrong(options.build, words)
        bad += why is not None
        print(f'FAIL {words[0]}: {why}' if why else f'ok {words[0]}')
    return 1 if bad else 0


if __name__ == '__main__':
    sys.exit(main())
