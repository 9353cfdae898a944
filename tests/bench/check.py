"""make bench-check: what the detectors cost on the bench kernels.

    python3 tests/bench/check.py --build build [--rounds 3] [--only TEXT]
        [--each] [--at-most 3]

For each kernel, the large ones too: the time of a plain run, that of a run
under --check as a multiple of it, and the memory that --check takes, in MiB and
per byte of the kernel's tensors; with --each, a column for every detector
alone.  All are runs of one process; in every round each kernel runs in every
way in turn, and the best time counts.  It fails when --check costs more than
--at-most plain runs of a kernel.  $PYTHON is a Python with NumPy; without it,
python3.
"""
import argparse
import math
import os
import subprocess
import sys

from bench import (Engine, cases, chosen, geometric_mean, milliseconds,
                   read_cases)


def detectors(build):
    """Their names, from the command's own list."""
    text = subprocess.run([os.path.join(build, 'tkdbg'), 'run',
                           '--check=help'], check=True, text=True,
                          stdout=subprocess.PIPE).stdout
    return [line.split()[0] for line in text.splitlines()
            if 'always on' not in line]


def measure(engine, case, limit, ways, rounds):
    """For each way, the best time and the most memory; the tensors' bytes."""
    times = {way: math.inf for way in ways}
    peaks = {way: 0 for way in ways}
    for _ in range(rounds):
        for way in ways:
            answer = engine.ask(f'{case}|{way}')
            if not answer[1] <= limit:
                sys.exit(f'{case}, {way}: the result is wrong by {answer[1]}')
            times[way] = min(times[way], answer[0])
            peaks[way] = max(peaks[way], answer[2])
    return times, peaks, answer[3]


def kernels():
    """All but those of which only a curve is drawn."""
    large = read_cases('large', 'LARGE')
    return {**cases(), **{name: limit for name, limit in large.items()
                          if name.split()[0] not in ('grid', 'block')}}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--build', default='build')
    parser.add_argument('--rounds', type=int, default=3)
    parser.add_argument('--only', default='', metavar='TEXT')
    parser.add_argument('--each', action='store_true',
                        help='a column for every detector alone')
    parser.add_argument('--at-most', type=float, default=3,
                        metavar='RATIO', help='fail when --check costs more '
                        'than that many plain runs of a kernel')
    args = parser.parse_args()
    python = os.environ.get('PYTHON') or 'python3'
    wanted = chosen(kernels(), args.only)
    engine = Engine('tkdbg', python, args.build)
    if not engine.ready:
        sys.exit('bench: tkdbg does not run: ' + engine.why_not())
    each = detectors(args.build) if args.each else []
    ratios = {}
    print(f'{"":22}{"plain ms":>9}{"check":>8}{"MiB":>8}{"bytes":>8}'
          + ''.join(f'{name[:9]:>10}' for name in each))
    for case, limit in wanted.items():
        times, peaks, tensors = measure(engine, case, limit,
                                        ['', 'all'] + each, args.rounds)
        ratio = {way: times[way] / times[''] for way in times}
        shadow = peaks['all'] - peaks['']
        print(f'{case:22}{milliseconds(times[""]):>9}{ratio["all"]:>8.2f}'
              f'{shadow / 2**20:>8.1f}{shadow / tensors:>8.2f}'
              + ''.join(f'{ratio[name]:>10.2f}' for name in each), flush=True)
        ratios[case] = ratio['all']
    print(f'{"geometric mean":31}{geometric_mean(ratios.values()):>8.2f}')
    engine.stop()
    slow = [case for case, ratio in ratios.items() if ratio > args.at_most]
    if slow:
        print(f'more than {args.at_most:g} plain runs:', ', '.join(slow))
    return 1 if slow else 0


if __name__ == '__main__':
    sys.exit(main())
