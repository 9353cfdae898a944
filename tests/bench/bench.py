"""make bench: kernels under tkdbg, beside other engines.

    python3 tests/bench/bench.py --build build [--rounds 3] [--only TEXT]
        [--at-least 100] [--processor] [--document docs/performance.md]

Seven kernels run beside all engines, and those of large.py beside PyTorch
alone; then come two curves, of cost over grid and over block.  --processor
measures processor time, which depends less on what else the machine does.
--document writes all of it into a file, between the lines that say so.

The engines are tkdbg, Triton's own interpreter, and PyTorch on one thread
(or NumPy, without PyTorch).  Each is a process of its own; in every round
each kernel runs under each of them in turn, and the best time counts.  An
engine that is not installed is named and left out.  $PYTHON is the Python
that has them; without it, python3.
"""
import argparse
import importlib
import math
import os
import re
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.append(os.path.join(ROOT, 'tools'))
import page  # noqa: E402

WORKER = os.path.join(HERE, 'kernels.py')
TITLES = {'tkdbg': 'tkdbg', 'triton': 'interpreter', 'torch': 'PyTorch',
          'numpy': 'NumPy'}


def read_cases(module, table):
    """Names and accepted errors, read from the worker without running it."""
    argv, sys.argv = sys.argv, [WORKER, 'numpy']
    found = getattr(importlib.import_module(module), table)
    sys.argv = argv
    return {name: limit for name, (_, limit) in found.items()}


def cases():
    return read_cases('kernels', 'CASES')


class Engine:
    """A worker process."""

    def __init__(self, name, python, build):
        self.name = name
        one = {v: '1' for v in ('OMP_NUM_THREADS', 'MKL_NUM_THREADS',
                                'OPENBLAS_NUM_THREADS')}
        env = dict(os.environ, **one)
        argv = [python, WORKER, name]
        if name == 'tkdbg':
            argv = [os.path.join(build, 'tkdbg'), 'run', '-q',
                    '--triton', 'ours', '--jobs', '1',
                    '--lenient-device', '--python', python, WORKER, name]
        if name == 'triton':
            env['TRITON_INTERPRET'] = '1'
        self.process = subprocess.Popen(
            argv, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True)
        self.ready = self.process.stdout.readline() == 'ready\n'

    def why_not(self):
        lines = self.process.communicate()[1].strip().split('\n')
        return lines[-1] or 'it does not start'

    def ask(self, line):
        """What the worker answers: see kernels.py."""
        self.process.stdin.write(line + '\n')
        self.process.stdin.flush()
        answer = self.process.stdout.readline().split()
        if not answer:
            raise RuntimeError(f'{self.name}, {line}:\n'
                               + self.process.communicate()[1])
        return [float(x) for x in answer]

    def stop(self):
        self.process.communicate()


def start_engines(python, build):
    engines = []
    for name in 'tkdbg', 'triton', 'torch', 'numpy':
        if name == 'numpy' and any(e.name == 'torch' for e in engines):
            continue
        engine = Engine(name, python, build)
        if engine.ready:
            engines.append(engine)
        else:
            print(f'skipped: {TITLES[name]}: {engine.why_not()}')
    return engines


def milliseconds(seconds):
    ms = seconds * 1e3
    return f'{ms:.0f}' if ms >= 100 else f'{ms:.3g}'


def short(ratio):
    return f'{ratio:.0f}' if ratio >= 1000 else f'{ratio:.3g}'


def geometric_mean(values):
    values = list(values)
    return math.exp(sum(map(math.log, values)) / len(values))


class Table:
    """Kernel, time of tkdbg, and for each other engine its time and the
    ratio: how much faster tkdbg is than the interpreter, and how much slower
    than the library."""

    def __init__(self, engines, say):
        self.say = say
        self.others = [e.name for e in engines if e.name != 'tkdbg']
        self.ratios = {name: [] for name in self.others}
        head = f'{"milliseconds":22}{"tkdbg":>8}{"spread":>7}'
        for name in self.others:
            head += f'{TITLES[name]:>12}{"ratio":>8}'
        say(head)

    def ratio(self, name, times):
        if name == 'triton':
            return times[name] / times['tkdbg']
        return times['tkdbg'] / times[name]

    def row(self, case, times, spread):
        line = f'{case:22}{milliseconds(times["tkdbg"]):>8}{spread:>6.0%} '
        for name in self.others:
            ratio = self.ratio(name, times)
            self.ratios[name].append(ratio)
            line += f'{milliseconds(times[name]):>12}{short(ratio):>8}'
        self.say(line)

    def end(self):
        """The means, if there is a row."""
        if not any(self.ratios.values()):
            return
        line = f'{"geometric mean":37}'
        for name in self.others:
            line += f'{"":12}{short(geometric_mean(self.ratios[name])):>8}'
        self.say(line)


def measure(engines, case, limit, rounds, processor=False):
    """The best times, and by how much tkdbg's worst round is above its best."""
    times = {e.name: [] for e in engines}
    for _ in range(rounds):
        for e in engines:
            seconds, error = e.ask(case + '|' * processor)[:2]
            if not error <= limit:
                sys.exit(f'{e.name}, {case}: the result is wrong by {error}')
            times[e.name].append(seconds)
    ours = times['tkdbg']
    return ({name: min(t) for name, t in times.items()},
            max(ours) / min(ours) - 1)


def chosen(known, text):
    """The cases with a text in their names; ends the bench if there is none."""
    found = {name: limit for name, limit in known.items() if text in name}
    if not found:
        sys.exit(f"bench: no kernel has '{text}' in its name; there are:\n  "
                 + '\n  '.join(known))
    return found


def run_table(engines, wanted, args, say):
    table = Table(engines, say if wanted else lambda line: None)
    for case, limit in wanted.items():
        table.row(case, *measure(engines, case, limit, args.rounds,
                                 args.processor))
    return table


def curve(engine, kind, wanted, args, say):
    """Nanoseconds for each lane, or microseconds for each program."""
    cells = []
    if not wanted:
        return
    for case, limit in wanted.items():
        power = int(case.split('^')[1])
        times, _ = measure([engine], case, limit, args.rounds, args.processor)
        unit = 1e6 if kind == 'grid' else 1e9
        cells.append(f'2^{power}: {times["tkdbg"] * unit / 2**power:.3g}')
    what = 'us a program' if kind == 'grid' else 'ns a lane'
    say(f'{kind}, {what}')
    for i in range(0, len(cells), 4):
        say('  ' + '  '.join(cells[i:i + 4]))


def processor():
    """The name of this machine's."""
    model = 'unknown processor'
    if os.path.exists('/proc/cpuinfo'):
        with open('/proc/cpuinfo') as f:
            model = next((line.split(':')[1].strip() for line in f
                          if line.startswith('model name')), model)
    return model


def machine(cores='one core'):
    """The processor, and what else may be running on it."""
    load = os.getloadavg()[0]
    loaded = f'LOADED: {load:.1f} others' if load > 1.5 else 'quiet'
    return f'{processor()}, {cores}, {loaded}; {time.strftime("%Y-%m-%d")}'


def versions(python):
    """Of what the engines are made of, where it is installed."""
    code = ("import importlib.metadata as m\nfor n in 'numpy','torch',"
            "'triton':\n try: print(n, m.version(n))\n except Exception: pass")
    done = subprocess.run([python, '-c', code], stdout=subprocess.PIPE,
                          text=True)
    return ', '.join(done.stdout.split('\n')[:-1])


# Launches that take long enough for threads: options of tkdbg run.
LONG = {
    'softmax 65536x781': (
        'softmax_kernel', 65536, 'x_ptr=f32[65536,781]', 'n_cols=781',
        'y_ptr=f32[65536,781]', 'BLOCK=1024'),
    'matmul 2048x2048x2048': (
        'matmul_kernel', '32,32', 'a_ptr=f16[2048,2048]',
        'b_ptr=f16[2048,2048]', 'c_ptr=f32[2048,2048]', 'M=2048', 'N=2048',
        'K=2048', 'BLOCK_M=64', 'BLOCK_N=64', 'BLOCK_K=64'),
    'attention 32x2048x64': (
        'attention_kernel', '32,32', 'q_ptr=f32[32,2048,64]',
        'k_ptr=f32[32,2048,64]', 'v_ptr=f32[32,2048,64]',
        'o_ptr=f32[32,2048,64]', 'n_ctx=2048', 'scale=0.125', 'BLOCK=64',
        'D=64'),
    'add, 2^20 programs of 32': (
        'add_kernel', 1 << 20, 'x_ptr=f32[33554432]', 'y_ptr=f32[33554432]',
        'output_ptr=f32[33554432]', 'n=33554432', 'BLOCK=32'),
}


def told_seconds(summary):
    """What a launch took, as its summary says."""
    took, unit = re.search(r'programs in ([0-9.]+) (m?s) ', summary).groups()
    return float(took) / (1000 if unit == 'ms' else 1)


def launch_seconds(argv):
    """What the launch of a process took."""
    done = subprocess.run(argv, check=True, text=True, stderr=subprocess.PIPE)
    return told_seconds(done.stderr)


def threads(build, say):
    """How much faster launches are on threads than on one."""
    most = len(os.sched_getaffinity(0))
    jobs = ['1'] + [str(1 << i) for i in range(1, 9) if 1 << i <= most]
    jobs += ['auto']
    say('launches on threads: milliseconds on one, and how many times faster')
    say('  by --jobs ' + ', '.join(jobs[1:]))
    for name, (kernel, grid, *arguments) in LONG.items():
        argv = [os.path.join(build, 'tkdbg'), 'run', WORKER, '--kernel',
                kernel, '--grid', str(grid)]
        for argument in arguments:
            argv += ['--arg', argument]
        best = dict.fromkeys(jobs, math.inf)
        for _ in range(3):
            for n in jobs:
                best[n] = min(best[n], launch_seconds(argv + ['--jobs', n]))
        say(f'  {name}: {milliseconds(best["1"])}; ' + ', '.join(
            f'{best["1"] / best[n]:.1f}' for n in jobs[1:]))


def direct_launch(build, say):
    """The whole process of a small direct launch."""
    argv = [os.path.join(build, 'tkdbg'), 'run', '-q',
            os.path.join(ROOT, 'examples/vector_add.py'), '--kernel',
            'add_kernel', '--grid', '97', '--arg', 'x_ptr=f32[98432]:rand(0)',
            '--arg', 'y_ptr=f32[98432]:rand(1)', '--arg',
            'output_ptr=f32[98432]:empty', '--arg', 'n_elements=98432',
            '--arg', 'BLOCK_SIZE=1024']
    best = math.inf
    for _ in range(10):
        start = time.perf_counter()
        subprocess.run(argv, check=True)
        best = min(best, time.perf_counter() - start)
    say(f'direct launch of vector add, whole process: '
        f'{milliseconds(best)} ms')


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--build', default='build')
    parser.add_argument('--rounds', type=int, default=3)
    parser.add_argument('--only', default='', metavar='TEXT')
    parser.add_argument('--at-least', type=float, default=0, metavar='RATIO',
                        help='fail unless every kernel is that many times '
                        "faster than under Triton's interpreter")
    parser.add_argument('--processor', action='store_true',
                        help='measure processor time')
    parser.add_argument('--document', metavar='FILE')
    args = parser.parse_args()
    python = os.environ.get('PYTHON') or 'python3'
    wanted = {kind: {} for kind in ('small', 'large', 'grid', 'block')}
    known = {**cases(), **read_cases('large', 'LARGE')}
    for name, limit in chosen(known, args.only).items():
        first = 'small' if name in cases() else name.split()[0]
        wanted[first if first in wanted else 'large'][name] = limit
    lines = []

    def say(line):
        print(line, flush=True)
        lines.append(line)

    say(machine())
    say(versions(python))
    say('')
    engines = start_engines(python, args.build)
    if not engines or engines[0].name != 'tkdbg':
        sys.exit('bench: tkdbg does not run')
    table = run_table(engines, wanted['small'], args, say)
    table.end()
    say('')
    for e in [e for e in engines if e.name == 'triton']:
        e.stop()
        engines.remove(e)
    run_table(engines, wanted['large'], args, say)
    for kind in 'grid', 'block':
        curve(engines[0], kind, wanted[kind], args, say)
    for e in engines:
        e.stop()
    direct_launch(args.build, say)
    threads(args.build, say)
    if args.document:
        page.write_between(args.document, '<!-- measured -->',
                           '<!-- /measured -->', ['```', *lines, '```'])
    worst = min(table.ratios.get('triton') or [math.inf])
    return 1 if worst < args.at_least else 0


if __name__ == '__main__':
    sys.exit(main())
