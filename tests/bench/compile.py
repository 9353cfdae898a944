"""make bench-compile: how long kernels take from source to PTX.

    python3 tests/bench/compile.py --build build [--rounds 5] [--only TEXT]
        [--at-most 150] [FILE.py ...]

For each kernel of the files (the examples, if none is named): its first launch
is recorded, and `tkdbg compile --emit ptx` of that timed as a user sees it,
start of the process included; without ptxas, and with a cache that is empty
each time.  The best of the rounds counts, of the time that passes and of the
processor's, which other work on the machine changes less.  Fails if a kernel
takes longer than that many milliseconds.  $PYTHON is a Python with NumPy and
what else the files need; without it, python3.
"""
import argparse
import glob
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))


def kernels(tkdbg, path):
    text = subprocess.run([tkdbg, 'kernels', path], check=True, text=True,
                          stdout=subprocess.PIPE).stdout
    return [line.split('(')[0] for line in text.splitlines()]


def recorded(tkdbg, path, folder):
    """A launch file for each kernel of a script that it launches."""
    for kernel in kernels(tkdbg, path):
        script = os.path.splitext(os.path.basename(path))[0]
        launch = os.path.join(folder, f'{script}.{kernel}.safetensors')
        python = os.environ.get('PYTHON') or 'python3'
        subprocess.run(
            [tkdbg, 'run', '-q', '--python', python, '--kernel', kernel,
             '--record', launch, os.path.abspath(path)],
            cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        if os.path.exists(launch):
            yield f'{script}.{kernel}', launch


def processor_seconds():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def milliseconds(tkdbg, launch):
    """(that pass, of the processor)."""
    with tempfile.TemporaryDirectory() as cache:
        environment = dict(os.environ, TKDBG_CACHE_DIR=cache,
                           TKDBG_PTXAS='')
        begin, used = time.perf_counter(), processor_seconds()
        subprocess.run([tkdbg, 'compile', '--emit', 'ptx', launch], check=True,
                       env=environment, stdout=subprocess.DEVNULL)
        return ((time.perf_counter() - begin) * 1000,
                (processor_seconds() - used) * 1000)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--build', default='build')
    parser.add_argument('--rounds', type=int, default=5)
    parser.add_argument('--only', default='')
    parser.add_argument('--at-most', type=float, default=150)
    parser.add_argument('files', nargs='*')
    options = parser.parse_args()
    tkdbg = os.path.abspath(os.path.join(options.build, 'tkdbg'))
    files = options.files or sorted(glob.glob(f'{ROOT}/examples/*.py'))
    times = {}
    with tempfile.TemporaryDirectory() as folder:
        launches = [pair for path in files if options.only in path
                    for pair in recorded(tkdbg, path, folder)]
        for name, launch in launches:
            rounds = [milliseconds(tkdbg, launch)
                      for _ in range(options.rounds)]
            times[name] = [min(column) for column in zip(*rounds)]
    if not times:
        sys.exit(f'no kernel of the files is launched (--only {options.only})')
    for name in sorted(times, key=times.get, reverse=True):
        print('%8.1f ms, %6.1f ms of the processor  %s' % (*times[name], name))
    passed = [t[0] for t in times.values()]
    worst = max(passed)
    print(f'{len(times)} kernels: median {statistics.median(passed):.1f} ms, '
          f'worst {worst:.1f} ms, bar {options.at_most:g} ms')
    sys.exit(worst > options.at_most)


if __name__ == '__main__':
    main()
