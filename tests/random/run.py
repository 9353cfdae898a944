"""Runs random kernels in several ways and compares what they leave:

    python3 tests/random/run.py --build BUILD
        [--count N] [--seed FIRST] | [--seeds SEED,SEED,...] | [--written FILE]
        [--ways text,passes,ptx] [--jobs N] [--whole] [--show SEED]

Each is beside the interpreter; ways.py lists them.  A kernel that differs is
made as small as it can be, unless --whole is given, and shown; one that is
written is not.  Exit status: 1 if one differs.
"""
import argparse
import multiprocessing
import multiprocessing.pool
import os
import re
import sys

import numpy as np

import ways  # which knows where tkdbg is
import written
from tkdbg.fuzz import generate, kernel as kernels, shrink


def difference(wanted, left):
    """What is said of the first output that differs, or None."""
    for name, array in left.items():
        bits = f'u{array.itemsize}'
        at = np.flatnonzero(array.view(bits) != wanted[name].view(bits))
        if len(at):
            return (f'{name}[{at[0]}] is {array[at[0]]}, not '
                    f'{wanted[name][at[0]]}; {len(at)} of {len(array)} differ')
    return None


def failure(lib, kernel, names):
    """(way, what is wrong) of the first way in which it is, or None."""
    way = 'interp'
    try:
        wanted = dict(ways.runs(lib, kernel, way))[way]
        for way in names:
            for what, left in ways.runs(lib, kernel, way):
                found = difference(wanted, left)
                if found:
                    return way, f'{what}: {found}'
    except ways.Failed as e:
        return way, f'{way}: {first_of(str(e))}'
    return None


def first_of(report):
    """The first of several findings."""
    return '\n'.join(report.split('\n')[:9])


def kind(found):
    """What stays the same while a kernel becomes smaller: the way, and which
    finding it is."""
    finding = re.search(r'\[([a-z-]+)\]', found[1].split('\n')[0])
    return found[0], finding and finding[1]


def show(lib, kernel, names, found):
    """The report of one that fails, with the smallest kernel."""
    def fails(k):
        now = failure(lib, k, [found[0]] if found[0] in names else [])
        return now is not None and kind(now) == kind(found)
    small = shrink.shrink(kernel, fails)
    now = failure(lib, small, names) or found
    print(f'{kernel.title}: {now[1]}\n{small.describe()}', flush=True)


def check_seeds(options, seeds, at, failed):
    lib = ways._capi.load()
    made = written.kernels(options.written) if options.written else None
    for seed in seeds:
        at.value = seed
        kernel = made[seed] if made else generate.generate(seed)
        found = failure(lib, kernel, options.ways)
        if found and (options.whole or made):
            print(f'{kernel.title}: {found[1]}', flush=True)
        elif found:
            show(lib, kernel, options.ways, found)
        failed.value += found is not None


class Part:
    """Some of the seeds, in a process of its own."""

    def __init__(self, options, seeds):
        self.options, self.seeds, self.failed = options, seeds, 0
        self.begin()

    def begin(self):
        self.at, self.count = (multiprocessing.Value('q', 0)
                               for _ in range(2))
        self.process = multiprocessing.Process(
            target=check_seeds,
            args=(self.options, self.seeds, self.at, self.count))
        self.process.start()

    def end(self):
        """How many failed; the rest goes on after a seed that ends it."""
        self.process.join()
        self.failed += self.count.value
        if self.process.exitcode:
            print(f'seed {self.at.value}: the process ends '
                  f'({self.process.exitcode})', flush=True)
            self.failed += 1
            self.seeds = [s for s in self.seeds if s > self.at.value]
            self.begin()
            return self.end()
        return self.failed


def main():
    p = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    p.add_argument('--build', required=True)
    p.add_argument('--count', type=int, default=100)
    p.add_argument('--seed', type=int, default=0)
    p.add_argument('--seeds', help='these, instead of some from the first on',
                   type=lambda text: [int(s) for s in text.split(',')])
    p.add_argument('--written', metavar='FILE',
                   help='the kernels of a Markdown file instead')
    p.add_argument('--ways', default='text,passes,ptx',
                   type=lambda text: text.split(','))
    p.add_argument('--jobs', type=int, default=os.cpu_count())
    p.add_argument('--whole', action='store_true')
    p.add_argument('--show', type=int, help='print the kernel of that seed')
    options = p.parse_args()
    if options.show is not None:
        print(kernels.HEAD, generate.generate(options.show).describe(),
              sep='\n\n')
        return 0
    os.environ['TKDBG_LIBRARY'] = os.path.join(
        os.path.abspath(options.build), 'libtkdbg.so')
    seeds = options.seeds or range(options.seed,
                                   options.seed + options.count)
    if options.written:
        seeds = range(len(written.kernels(options.written)))
    parts = [Part(options, list(seeds[i::options.jobs]))
             for i in range(min(options.jobs, len(seeds)))]
    with multiprocessing.pool.ThreadPool(len(parts)) as waiting:
        failed = sum(waiting.map(Part.end, parts))
    print(f'{len(seeds)} kernels by interp, {", ".join(options.ways)}: '
          f'{failed} differ')
    return failed > 0


if __name__ == '__main__':
    sys.exit(main())
