"""make bench-scale: what large launches cost, and many, and parts of one.

    python3 tests/bench/scale.py --build BUILD [--document FILE] [--small]

Three things grow: the elements of a tensor, the programs of a launch, and the
launches of a script.  Each runs in half its size and in full, in a process of
its own; a cost that is linear doubles.  Then one launch runs in one process and
in parts (--shard), one for each processor at the same time.

Fails where twice as much takes more than MOST times as long.  --small takes a
hundredth of each, for a look at what this does.
"""
import argparse
import os
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path[:0] = [HERE, os.path.join(ROOT, 'tools')]
import bench  # noqa: E402
import page  # noqa: E402

MOST = 2.6  # times the cost of half of it
BEGIN, END = '<!-- scale -->', '<!-- /scale -->'

KERNELS = '''
import triton
import triton.language as tl


@triton.jit
def add_one(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = at < n
    tl.store(y_ptr + at, tl.load(x_ptr + at, mask=mask) + 1, mask=mask)
'''
LAUNCHES = KERNELS + '''

import sys
import numpy as np
x, y = np.zeros(32, np.int8), np.zeros(32, np.int8)
for _ in range(int(sys.argv[1])):
    add_one[(1,)](x, y, 32, BLOCK=32)
assert (y == 1).all()
'''


def run(argv):
    """(seconds, most bytes that it held) of a process, which must end well."""
    start = time.perf_counter()
    child = subprocess.Popen(argv, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        sys.exit(f'{" ".join(argv)}\nended with {child.returncode}')
    return time.perf_counter() - start, usage.ru_maxrss * 1024


def elements(tkdbg, folder, n, block):
    """A launch over n bytes, in programs of `block` lanes."""
    path = os.path.join(folder, 'kernels.py')
    return [tkdbg, 'run', '-q', path, '--kernel', 'add_one', '--jobs', '1',
            '--grid', str(-(-n // block)), '--arg', f'x_ptr=i8[{n}]',
            '--arg', f'y_ptr=i8[{n}]', '--arg', f'n={n}',
            '--arg', f'BLOCK={block}']


def launches(tkdbg, folder, n):
    return [tkdbg, 'run', '-q', '--triton', 'ours',
            '--python', os.environ.get('PYTHON') or sys.executable,
            os.path.join(folder, 'launches.py'), str(n)]


def growth(tkdbg, folder, part, say):
    """Whether every cost is linear."""
    known = {
        'elements of a tensor': (
            2**31 // part, lambda n: elements(tkdbg, folder, n, 1 << 14)),
        'programs of 32 lanes': (
            10**7 // part, lambda n: elements(tkdbg, folder, 32 * n, 32)),
        'launches of a script': (
            10**5 // part, lambda n: launches(tkdbg, folder, n))}
    good = True
    say(f'{"":22}{"":>11}   seconds   of half    MiB   of half')
    for name, (n, argv) in known.items():
        half, least = run(argv(n // 2))
        full, most = run(argv(n))
        good &= full <= MOST * half
        say(f'{name:22}{n:>11}{full:>10.2f}{half:>10.2f}'
            f'{most / 2**20:>7.0f}{least / 2**20:>10.0f}')
    return good


def in_parts(tkdbg, folder, part, say):
    """One launch in as many parts as there are processors."""
    n = len(os.sched_getaffinity(0))
    length = 1 << (13 if part == 1 else 10)
    heads = 4 * n  # for each part as many
    argv = [tkdbg, 'run', bench.WORKER, '--kernel', 'attention_kernel',
            '--jobs', '1', '--grid', f'{length // 64},{heads}']
    for name in 'qkvo':
        argv += ['--arg', f'{name}_ptr=f32[{heads},{length},64]']
    for argument in f'n_ctx={length}', 'scale=0.125', 'BLOCK=64', 'D=64':
        argv += ['--arg', argument]
    start = time.perf_counter()
    programs = bench.launch_seconds(argv)
    alone = time.perf_counter() - start
    start = time.perf_counter()
    stores = [os.path.join(folder, f'{i}.stores') for i in range(n)]
    running = [subprocess.Popen([*argv, '--shard', f'{i}/{n}', '--stores', to],
                                text=True, stderr=subprocess.PIPE)
               for i, to in enumerate(stores)]
    told = [child.communicate()[1] for child in running]
    if any(child.returncode for child in running):
        sys.exit('a part has failed: ' + ''.join(told))
    together = time.perf_counter() - start
    longest = max(map(bench.told_seconds, told))
    merging, _ = run([tkdbg, 'merge', *stores])
    say(f'attention of {heads} heads, {length} by 64: {alone:.2f} s alone;')
    say(f'  in {n} parts {alone / together:.1f} times faster, '
        f'the programs alone {programs / longest:.1f};')
    say(f'  {merging:.2f} s to join what they stored')


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--build', default='build')
    parser.add_argument('--document', metavar='FILE')
    parser.add_argument('--small', action='store_true')
    args = parser.parse_args()
    tkdbg = os.path.abspath(os.path.join(args.build, 'tkdbg'))
    part, lines = 100 if args.small else 1, []

    def say(line):
        print(line, flush=True)
        lines.append(line.rstrip())
    say(bench.machine(f'{len(os.sched_getaffinity(0))} cores'))
    with tempfile.TemporaryDirectory() as folder:
        for name, text in ('kernels', KERNELS), ('launches', LAUNCHES):
            with open(os.path.join(folder, name + '.py'), 'w') as f:
                f.write(text)
        good = growth(tkdbg, folder, part, say)
        in_parts(tkdbg, folder, part, say)
    if args.document:
        page.write_between(args.document, BEGIN, END, ['```', *lines, '```'])
    return 0 if good else 1


if __name__ == '__main__':
    sys.exit(main())
