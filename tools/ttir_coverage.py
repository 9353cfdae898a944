"""Runs what the installed Triton makes of kernels before it assigns layouts.

    python3 tools/ttir_coverage.py --tkdbg PATH [--python PATH] SCRIPT ...

A launch of each script is recorded; that Python's Triton compiles it, and
tkdbg runs the source and the TTIR: what they leave in memory must be the same
bits.  Fails when one is not read, or differs.
"""
import argparse
import json
import os
import struct
import subprocess
import sys
import tempfile

REPLAY = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..',
                      'python', 'tkdbg', 'triton_replay.py')


class Skip(Exception):
    """Why there is no TTIR to run."""


def run(argv, what):
    done = subprocess.run(argv, capture_output=True, text=True, timeout=300)
    if done.returncode:
        raise Skip(f'{what}: ' + (done.stderr + done.stdout).strip()[-300:])


def tensors(path):
    with open(path, 'rb') as f:
        size, = struct.unpack('<Q', f.read(8))
        meta = json.loads(json.loads(f.read(size))['__metadata__']['tkdbg'])
    return [a['name'] for a in meta['args'] if a['kind'] == 'tensor']


def compiled(args, launch, folder):
    """The path of the launch's TTIR."""
    code, path = os.path.join(folder, 'code'), os.path.join(folder, 'k.ttir')
    with open(launch, 'rb') as f, open(code, 'wb') as to:
        to.write(f.read())
    run([args.python, REPLAY, code, '--ptx', 'sm_80'], 'Triton')
    with open(code, encoding='utf-8') as f, open(path, 'w',
                                                 encoding='utf-8') as to:
        to.write(json.load(f)['ttir'])
    return path


def result(args, launch, folder, extra, names):
    saved = [os.path.join(folder, f'{i}.npy') for i in range(len(names))]
    save = [word for name, path in zip(names, saved)
            for word in ('--save', f'{name}={path}')]
    done = subprocess.run([args.tkdbg, 'replay', launch, *extra, *save],
                          capture_output=True, text=True, timeout=300)
    if done.returncode:
        return done.stderr.strip()[:300]
    return [open(path, 'rb').read() for path in saved]


def examine(args, script, folder):
    """What is wrong with a script's TTIR; '': nothing."""
    launch = os.path.join(folder, 'launch.tkl')
    run([args.tkdbg, 'run', '-q', '--python', args.python, '--record', launch,
         script], 'recording')
    names = tensors(launch)
    source = result(args, launch, folder, [], names)
    if isinstance(source, str):
        raise Skip(f'the source: {source}')
    ir = result(args, launch, folder,
                ['--ir', compiled(args, launch, folder)], names)
    if isinstance(ir, str):
        return ir
    return '' if ir == source else 'other bits than the source'


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--tkdbg', required=True)
    parser.add_argument('--python', default=sys.executable)
    parser.add_argument('scripts', nargs='+')
    args = parser.parse_args()
    same = wrong = 0
    for script in args.scripts:
        name = os.path.basename(script)
        with tempfile.TemporaryDirectory() as folder:
            try:
                why = examine(args, script, folder)
            except (Skip, subprocess.TimeoutExpired) as e:
                print(f'{name}: skipped: {e}')
                continue
        same += not why
        wrong += bool(why)
        if why:
            print(f'{name}: {why}')
    print(f'{same} of {same + wrong} leave the same bits')
    return wrong > 0


if __name__ == '__main__':
    sys.exit(main())
