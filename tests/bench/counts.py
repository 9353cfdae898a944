"""make bench-counts: how many instructions small kernels take.

    python3 tests/bench/counts.py --build build [--record]

Each kernel runs, plainly and under all detectors, in `valgrind
--tool=callgrind`, which counts what the programs of a launch execute, whatever
else the machine does.  counts.txt says how many there were; one that grew by
more than 5 percent fails, until the commit that makes it grow records the new
number (--record).

The numbers hold for the compiler that counts.txt names and for processors
with AVX2: valgrind shows programs no wider vectors.  With another compiler,
on another processor or without valgrind nothing is compared, and that is said.
"""
import argparse
import os
import re
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
KERNELS = os.path.join(HERE, 'kernels.py')
COUNTS = os.path.join(HERE, 'counts.txt')
MOST = 1.05

# Name, kernel, grid, arguments.  Products are summed in order: OpenBLAS is not
# what is counted.
CASES = [
    ('add', 'add_kernel', '97',
     'x_ptr=f32[98432]:rand y_ptr=f32[98432]:rand output_ptr=f32[98432]:zeros '
     'n=98432 BLOCK=1024'),
    ('small-programs', 'add_kernel', '4096',
     'x_ptr=f32[131072]:rand y_ptr=f32[131072]:rand '
     'output_ptr=f32[131072]:zeros n=131072 BLOCK=32'),
    ('softmax', 'softmax_kernel', '200',
     'x_ptr=f32[200,781]:rand y_ptr=f32[200,781]:zeros n_cols=781 BLOCK=1024'),
    ('layer-norm', 'layer_norm_kernel', '64',
     'x_ptr=f32[64,3000]:rand y_ptr=f32[64,3000]:zeros w_ptr=f32[3000]:rand '
     'b_ptr=f32[3000]:rand n_cols=3000 eps=1e-5 BLOCK=1024'),
    ('matmul', 'matmul_kernel', '4,4',
     'a_ptr=f16[128,128]:rand b_ptr=f16[128,128]:rand c_ptr=f32[128,128]:zeros '
     'M=128 N=128 K=128 BLOCK_M=32 BLOCK_N=32 BLOCK_K=32'),
    ('attention', 'attention_kernel', '4,1',
     'q_ptr=f32[1,128,32]:rand k_ptr=f32[1,128,32]:rand '
     'v_ptr=f32[1,128,32]:rand o_ptr=f32[1,128,32]:zeros n_ctx=128 '
     'scale=0.125 BLOCK=32 D=32'),
    ('abs-max', 'abs_max_kernel', '256',
     'x_ptr=f32[262144]:rand out_ptr=f32[1]:zeros n=262144 BLOCK=1024'),
]


def compiler():
    cc = os.environ.get('CC', 'cc').split()[-1]
    done = subprocess.run([cc, '-dumpfullversion'], stdout=subprocess.PIPE,
                          text=True)
    return f'{cc} {done.stdout.strip()}'


def count(build, checks, kernel, grid, arguments):
    argv = ['valgrind', '--tool=callgrind', '--callgrind-out-file=/dev/null',
            '--toggle-collect=tki_programs_run', os.path.join(build, 'tkdbg'),
            'run', '-q', '--jobs', '1', '--dot', 'exact', *checks, KERNELS,
            '--kernel', kernel, '--grid', grid]
    for a in arguments.split():
        argv += ['--arg', a]
    done = subprocess.run(argv, stderr=subprocess.PIPE, text=True)
    found = re.search(r'Collected : (\d+)', done.stderr)
    if done.returncode or not found:
        sys.exit(f'{kernel}:\n{done.stderr}')
    return int(found.group(1))


def read_counts():
    with open(COUNTS) as f:
        lines = [line.rsplit(' ', 1) for line in f.read().splitlines()]
    return {name: value for name, value in lines}


def why_not(known):
    """Why nothing can be compared, or None."""
    if not shutil.which('valgrind'):
        return 'valgrind is not installed'
    with open('/proc/cpuinfo') as f:
        if ' avx2 ' not in f.read():
            return 'the processor has no AVX2'
    if known and known['compiler'] != compiler().split()[-1]:
        return (f'the counts are of {known["compiler"]}, this is '
                f'{compiler()}')
    return None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--build', default='build')
    parser.add_argument('--record', action='store_true')
    args = parser.parse_args()
    known = {} if args.record else read_counts()
    reason = why_not(known)
    if reason:
        print(f'skipped: bench-counts: {reason}')
        return 0
    found = {}
    for name, *rest in CASES:
        found[name] = count(args.build, [], *rest)
        found[name + '--check'] = count(args.build, ['--check'], *rest)
    if args.record:
        with open(COUNTS, 'w') as f:
            f.write(f'compiler {compiler().split()[-1]}\n')
            f.writelines(f'{name} {n}\n' for name, n in found.items())
    grown = 0
    for name, n in found.items():
        change = n / int(known.get(name, n)) - 1
        grown += change > MOST - 1
        print(f'{name:24}{n:>12}{change:>+8.1%}')
    if grown:
        print('bench-counts: more than 5 % more instructions; if that is '
              'meant, `make bench-counts RECORD=1` and say why in the commit')
    return 1 if grown else 0


if __name__ == '__main__':
    sys.exit(main())
