"""make sweep-bits: whoever watches a launch, it leaves the same bits.

    python3 tests/bits/sweep.py --build BUILD [--random N] [--seed FIRST]
        [--only TEXT] [--what examples,bench,large,random]
        [--jobs N]

Every launch of the examples, the kernels of `make bench` in a small size, and N
random kernels (tests/random) run plainly, where index blocks are symbolic,
lane-wise operations are run together and tiles are copied in rows; and again in
each of these ways, where little or nothing of that happens.  Memory afterwards
must be the same, byte for byte.

batched   neighbouring programs run at once, however few they are
concrete  no block is symbolic
check     all detectors watch
debug     a debugger steps, goes back and goes on, with its history
watch     a debugger looks at every statement, for a watchpoint
profile   operations are timed
shard     a part of the programs, which is all of them, notes its stores
jobs      two threads
threads   three of them, each with batches however few there are
exact     products are summed in order (large.py's kernels and random ones,
          whose sums are exact)
"""
import argparse
import collections
import concurrent.futures
import ctypes
import glob
import json
import os
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
TESTS = os.path.dirname(HERE)
ROOT = os.path.dirname(TESTS)
for _folder in ('python', 'tests/random', 'tests/bench'):
    sys.path.insert(0, os.path.join(ROOT, _folder))
from tkdbg import _capi  # noqa: E402

USAGE = 2


# ---- what is run ------------------------------------------------------------

def run_tkdbg(options, *args):
    subprocess.run([os.path.join(options.build, 'tkdbg'), 'run', '-q', *args],
                   check=True, stdout=subprocess.DEVNULL)


def collected(options, folder, script):
    """The launches of a script, as (name, file)."""
    name = os.path.basename(script)
    into = os.path.join(folder, name)
    os.makedirs(into)
    run_tkdbg(options, '--triton', 'ours', '--python', sys.executable,
              os.path.join(HERE, 'collect.py'), into, script)
    for i in range(len(os.listdir(into))):
        yield f'{name}, launch {i + 1}', f'{into}/{i}.safetensors'


def examples(options, folder):
    for script in sorted(glob.glob(os.path.join(ROOT, 'examples', '*.py'))):
        if options.only in os.path.basename(script):
            yield from collected(options, folder, script)


def bench(options, folder):
    """Those of kernels.py as `make bench-counts` runs them."""
    import counts
    for name, kernel, grid, arguments in counts.CASES:
        path = os.path.join(folder, name)
        if options.only not in name:
            continue
        args = [x for a in arguments.split() for x in ('--arg', a)]
        run_tkdbg(options, counts.KERNELS, '--kernel', kernel, '--grid', grid,
                  *args, '--record', path)
        yield f'bench, {name}', path


def large(options, folder):
    if options.only in 'launches.py':
        yield from collected(options, folder,
                             os.path.join(HERE, 'launches.py'))


def random(options, folder):
    """Random kernels."""
    import ways
    from tkdbg.fuzz import generate
    for seed in range(options.seed, options.seed + options.random):
        path = os.path.join(folder, f'{seed}')
        try:
            with ways.Launch(options.lib, generate.generate(seed)) as launch:
                launch.of_source()
                launch.check(options.lib.tk_launch_compile(launch.launch))
                launch.check(options.lib.tk_launch_record(launch.launch,
                                                          path.encode()))
        except ways.Failed:  # Triton's newest version refuses some
            continue
        yield f'random kernel {seed}', path


SOURCES = {'examples': examples, 'bench': bench, 'large': large,
           'random': random}


# ---- ways to run it ---------------------------------------------------------

class Refused(Exception):
    """This way cannot run the launch."""


def plain(run):
    return {}


def concrete(run):
    os.environ['TKDBG_CONCRETE'] = '1'
    return {}


def batched(run):
    os.environ['TKDBG_BATCHED'] = '1'
    return {}


def check(run):
    run.call('tk_session_check', run.session, b'all', ctypes.byref(
        _capi.CheckOptions(assume_written=True, collect=True)))
    return {}


def debugged(run, *commands):
    lines = (ctypes.c_char_p * len(commands))(*commands)
    run.call('tk_console_new', run.session, ctypes.byref(_capi.ConsoleOptions(
        commands=lines, ncommands=len(commands), stop_at_start=True,
        no_init=True)), ctypes.byref(ctypes.c_void_p()))
    return {}


def debug(run):
    return debugged(run, b'next 30', b'reverse-step 12', b'step 5',
                    b'reverse-next 3', b'continue')


def watch(run):
    """No kernel has so many programs: every statement is looked at."""
    return debugged(run, b'watch tl.program_id(0) > 2000000000', b'continue')


def profile(run):
    run.call('tk_profile_new', run.session, ctypes.byref(ctypes.c_void_p()))
    return {}


def shard(run):
    return {'shard': b'0/1', 'stores': run.path.encode() + b'.stores'}


def jobs(run):
    return {'jobs': 2}


def threads(run):
    os.environ['TKDBG_BATCHED'] = '1'
    return {'jobs': 3}


def exact(run):
    return {'dot': b'exact'}


ALWAYS = (batched, concrete, check, debug, watch, profile, shard, jobs,
          threads)


class Run:
    """A launch file, run once in a session of its own."""

    def __init__(self, lib, path):
        self.lib, self.path = lib, path

    def call(self, function, *args):
        status = getattr(self.lib, function)(*args)
        if status:
            said = _capi.text(self.lib.tk_report(self.session, False))
            raise (Refused if status == USAGE else RuntimeError)(said)

    def left(self, way):
        """{entry: bytes} of what memory holds afterwards."""
        after = self.path + '.after'
        launch = ctypes.c_void_p()
        self.session = self.lib.tk_session_new()
        try:
            self.call('tk_launch_replay', self.session, self.path.encode(),
                      ctypes.byref(launch))
            options = _capi.RunOptions(**way(self))
            self.call('tk_launch_run', launch, ctypes.byref(options), None)
            self.call('tk_launch_record', launch, after.encode())
        finally:
            os.environ.pop('TKDBG_CONCRETE', None)
            os.environ.pop('TKDBG_BATCHED', None)
            self.lib.tk_session_free(self.session)
        return entries(after)


def entries(path):
    with open(path, 'rb') as f:
        data = f.read()
    start = 8 + int.from_bytes(data[:8], 'little')
    header = json.loads(data[8:start])
    header.pop('__metadata__')
    return {name: data[start + e['data_offsets'][0]:
                       start + e['data_offsets'][1]]
            for name, e in header.items()}


def difference(wanted, left):
    for name, data in wanted.items():
        if data != left[name]:
            at = next(i for i, (a, b) in enumerate(zip(data, left[name]))
                      if a != b)
            count = sum(a != b for a, b in zip(data, left[name]))
            return f'{name}: byte {at} differs, {count} of {len(data)} in all'
    return None


def sweep(name, path, library, ways):
    """[(way, '' or what is wrong, or None: it cannot run so)]."""
    os.environ['TKDBG_LIBRARY'] = library
    run = Run(_capi.load(), path)
    wanted, found = run.left(plain), []
    for way in ways:
        try:
            wrong = difference(wanted, run.left(way)) or ''
        except Refused:
            wrong = None
        except RuntimeError as e:
            wrong = str(e).strip()
        found.append((way.__name__, wrong))
    return found


def answers(jobs, asked):
    """(name, what sweep finds) of each that is asked."""
    again = []
    with concurrent.futures.ProcessPoolExecutor(jobs, initializer=silence) as p:
        begun = [(args, p.submit(sweep, *args)) for args in asked]
        for args, answer in begun:
            try:
                yield args[0], answer.result()
            except concurrent.futures.process.BrokenProcessPool:
                again.append(args)
    for args in again:  # one of these ended its process, alone it tells which
        with concurrent.futures.ProcessPoolExecutor(
                1, initializer=silence) as p:
            try:
                yield args[0], p.submit(sweep, *args).result()
            except concurrent.futures.process.BrokenProcessPool:
                yield args[0], [('in some way', 'the process ends')]


def silence():
    """What kernels and the debugger print is not looked at."""
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)


def main():
    p = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    p.add_argument('--build', required=True)
    p.add_argument('--random', type=int, default=1000)
    p.add_argument('--seed', type=int, default=0)
    p.add_argument('--only', default='', metavar='TEXT')
    p.add_argument('--what', default=','.join(SOURCES),
                   type=lambda text: text.split(','))
    p.add_argument('--jobs', type=int, default=os.cpu_count())
    options = p.parse_args()
    library = os.path.join(os.path.abspath(options.build), 'libtkdbg.so')
    os.environ['TKDBG_LIBRARY'] = library
    options.lib = _capi.load()
    failed, runs, refused = 0, collections.Counter(), collections.Counter()
    folder = tempfile.mkdtemp()
    asked = []
    for what in options.what:
        ways = ALWAYS + ((exact, ) if what in ('large', 'random') else ())
        asked += [(name, path, library, ways)
                  for name, path in SOURCES[what](options, folder)]
    for name, found in answers(options.jobs, asked):
        for way, wrong in found:
            (refused if wrong is None else runs)[way] += 1
            if wrong:
                failed += 1
                print(f'{name}, {way}: {wrong}', flush=True)
    shutil.rmtree(folder)
    print(f'{len(asked)} launches, as nobody watches and in these ways: '
          + ', '.join(f'{way} {n}' for way, n in runs.items())
          + f'; {failed} differ')
    for way, n in refused.items():
        print(f'{way}: {n} launches cannot run so')
    return 1 if failed or not asked else 0


if __name__ == '__main__':
    sys.exit(main())
