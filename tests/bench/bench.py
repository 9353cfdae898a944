"""make bench: seven kernels under tkdbg, beside other engines.

    python3 tests/bench/bench.py --build build [--rounds 3] [--only TEXT]
        [--at-least 100]

The engines are tkdbg, Triton's own interpreter, and PyTorch on one thread
(or NumPy, without PyTorch).  Each is a process of its own; in every round
each kernel runs under each of them in turn, and the best time counts.  An
engine that is not installed is named and left out.  $PYTHON is the Python
that has them; without it, python3.
"""
import argparse
import math
import os
import subprocess
import sys
import time

import importlib.util

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
WORKER = os.path.join(HERE, 'kernels.py')
TITLES = {'tkdbg': 'tkdbg', 'triton': 'interpreter', 'torch': 'PyTorch',
          'numpy': 'NumPy'}


def cases():
    """Names and accepted errors, read from the worker without running it."""
    spec = importlib.util.spec_from_file_location('kernels', WORKER)
    module = importlib.util.module_from_spec(spec)
    argv, sys.argv = sys.argv, [WORKER, 'numpy']
    spec.loader.exec_module(module)
    sys.argv = argv
    return {name: limit for name, (_, limit) in module.CASES.items()}


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
                    '--triton', 'ours',
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

    def run(self, case):
        return self.ask(case)[:2]

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


def geometric_mean(values):
    return math.exp(sum(map(math.log, values)) / len(values))


class Table:
    """Kernel, time of tkdbg, and for each other engine its time and the
    ratio: how much faster tkdbg is than the interpreter, and how much slower
    than the library."""

    def __init__(self, engines):
        self.others = [e.name for e in engines if e.name != 'tkdbg']
        self.ratios = {name: [] for name in self.others}
        head = f'{"milliseconds":22}{"tkdbg":>9}'
        for name in self.others:
            head += f'{TITLES[name]:>13}{"ratio":>9}'
        print(head)

    def ratio(self, name, times):
        if name == 'triton':
            return times[name] / times['tkdbg']
        return times['tkdbg'] / times[name]

    def row(self, case, times):
        line = f'{case:22}{milliseconds(times["tkdbg"]):>9}'
        for name in self.others:
            ratio = self.ratio(name, times)
            self.ratios[name].append(ratio)
            line += f'{milliseconds(times[name]):>13}{ratio:>9.3g}'
        print(line, flush=True)

    def end(self):
        line = f'{"geometric mean":31}'
        for name in self.others:
            line += f'{"":13}{geometric_mean(self.ratios[name]):>9.3g}'
        print(line)


def measure(engines, case, limit, rounds):
    times = {e.name: math.inf for e in engines}
    for _ in range(rounds):
        for e in engines:
            seconds, error = e.run(case)
            if not error <= limit:
                sys.exit(f'{e.name}, {case}: the result is wrong by {error}')
            times[e.name] = min(times[e.name], seconds)
    return times


def direct_launch(build):
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
    print(f'direct launch of vector add, whole process: '
          f'{milliseconds(best)} ms')


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--build', default='build')
    parser.add_argument('--rounds', type=int, default=3)
    parser.add_argument('--only', default='', metavar='TEXT')
    parser.add_argument('--at-least', type=float, default=0, metavar='RATIO',
                        help='fail unless every kernel is that many times '
                        "faster than under Triton's interpreter")
    args = parser.parse_args()
    python = os.environ.get('PYTHON') or 'python3'
    engines = start_engines(python, args.build)
    if not engines or engines[0].name != 'tkdbg':
        sys.exit('bench: tkdbg does not run')
    table = Table(engines)
    for case, limit in cases().items():
        if args.only in case:
            table.row(case, measure(engines, case, limit, args.rounds))
    table.end()
    for e in engines:
        e.stop()
    direct_launch(args.build)
    worst = min(table.ratios.get('triton', [math.inf]))
    return 1 if worst < args.at_least else 0


if __name__ == '__main__':
    sys.exit(main())
