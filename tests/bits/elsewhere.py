"""Whether a launch leaves the same bits on another processor:

    python3 elsewhere.py write FOLDER --build BUILD [--random N] [--only TEXT]
    python3 elsewhere.py run FOLDER INTO --build BUILD
    python3 elsewhere.py compare ONE OTHER

write makes launch files, which say all of a launch: those of the examples, the
kernels of `make bench`, and N random ones.  run runs them with products in
their documented order (--dot exact) and writes a digest of the memory that
each leaves; on each processor once.  Which NaN an operation gives is open
(docs/semantics.md), and processors differ about its sign: all NaNs of a type
count as one.  compare prints which differ; the exit
status is 1 if one does.
"""
import argparse
import hashlib
import json
import os
import sys

import numpy as np

import sweep


def write(options):
    os.makedirs(options.folder, exist_ok=True)
    names = {name: os.path.relpath(path, options.folder)
             for source in sweep.SOURCES.values()
             for name, path in source(options, options.folder)}
    with open(os.path.join(options.folder, 'launches.json'), 'w',
              encoding='utf-8') as f:
        json.dump(names, f)
    print(f'{len(names)} launches are written')


# Of the types that have NaNs, as files name them: what numbers they are read
# as, and infinity in these.
FLOATS = {'F64': (np.uint64, 0x7ff << 52), 'F32': (np.uint32, 0xff << 23),
          'F16': (np.uint16, 0x1f << 10), 'BF16': (np.uint16, 0xff << 7)}


def types(path):
    """{entry: type} of a launch file."""
    with open(path, 'rb') as f:
        header = json.loads(f.read(int.from_bytes(f.read(8), 'little')))
    return {name: e['dtype'] for name, e in header.items()
            if name != '__metadata__'}


def with_one_nan(data, name):
    """data, of a type."""
    if name not in FLOATS:
        return data
    number, infinity = FLOATS[name]
    bits = np.frombuffer(data, number).copy()
    bits[bits << number(1) > number(infinity) << number(1)] = infinity + 1
    return bits.tobytes()


def digest(run):
    """Of what memory holds, or what is said where the launch fails."""
    try:
        left = run.left(sweep.exact)
    except (sweep.Refused, RuntimeError) as e:
        return str(e)
    total, names = hashlib.sha256(), types(run.path + '.after')
    for name in sorted(left):
        total.update(name.encode() + b'\0')
        total.update(with_one_nan(left[name], names[name]))
    return total.hexdigest()


def run(options):
    with open(os.path.join(options.folder, 'launches.json'),
              encoding='utf-8') as f:
        names = json.load(f)
    found = {name: digest(sweep.Run(options.lib,
                                    os.path.join(options.folder, path)))
             for name, path in names.items()}
    with open(options.into, 'w', encoding='utf-8') as f:
        json.dump(found, f, indent=0)
    print(f'{len(found)} launches have run')


def compare(options):
    both = []
    for path in options.one, options.other:
        with open(path, encoding='utf-8') as f:
            both.append(json.load(f))
    one, other = both
    names = sorted(one.keys() | other.keys())
    bad = [n for n in names if one.get(n) != other.get(n)]
    for name in bad:
        print(f'differs: {name}')
        for text in one.get(name), other.get(name):
            print(f'  {text}')
    print(f'{len(names)} launches; {len(bad)} differ')
    return 1 if bad or not names else 0


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--build', default='build')
    parser.add_argument('--random', type=int, default=200)
    parser.add_argument('--seed', type=int, default=0)
    parser.add_argument('--only', default='')
    commands = parser.add_subparsers(dest='command', required=True)
    commands.add_parser('write').add_argument('folder')
    running = commands.add_parser('run')
    running.add_argument('folder')
    running.add_argument('into')
    comparing = commands.add_parser('compare')
    comparing.add_argument('one')
    comparing.add_argument('other')
    options = parser.parse_args()
    if options.command == 'compare':
        return compare(options)
    options.build = os.path.abspath(options.build)
    os.environ['TKDBG_LIBRARY'] = os.path.join(options.build, 'libtkdbg.so')
    options.lib = sweep._capi.load()
    return {'write': write, 'run': run}[options.command](options)


if __name__ == '__main__':
    sys.exit(main())
