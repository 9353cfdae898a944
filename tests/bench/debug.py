"""make bench-debug: what the debugger costs, beside the plain run.

    python3 tests/bench/debug.py --build build [--rounds 5]

Processor time of whole processes, the best of some rounds in which plain and
debugged runs follow each other.  `never` is a run with time travel and a
breakpoint that is not reached, `hit` one with a condition tested at a
statement of the innermost loop; `step` and `back` are one `next` and one
`reverse-step`, at the beginning and at the end.
"""
import argparse
import os
import resource
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
KERNELS = os.path.join(HERE, 'kernels.py')
LOOP = '''import triton
import triton.language as tl


@triton.jit
def k(x, n):
    i = tl.arange(0, 16)
    s = 0
    for j in range(n):
        v = tl.load(x + i)
        s += 1
        tl.store(x + i, v + s)
    if s < 0:
        tl.store(x, 1)
'''
# Name, kernel, grid, arguments, line never reached or None, condition.
CASES = [
    ('matmul 512^3', 'matmul_kernel', '8,8',
     'a_ptr=f16[512,512]:rand b_ptr=f16[512,512]:rand c_ptr=f32[512,512]:zeros'
     ' M=512 N=512 K=512 BLOCK_M=64 BLOCK_N=64 BLOCK_K=32',
     None, 'op tl.dot if K < 0'),
    ('attention', 'attention_kernel', '8,4',
     'q_ptr=f32[4,512,64]:rand k_ptr=f32[4,512,64]:rand'
     ' v_ptr=f32[4,512,64]:rand o_ptr=f32[4,512,64]:zeros n_ctx=512'
     ' scale=0.125 BLOCK=64 D=64', None, 'op tl.dot if n_ctx < 0'),
    ('1.2 * 10^6 statements', 'k', '1', 'x=i32[16]:arange n=400000', '14',
     '11 if s < 0'),
    ('10^5 statements', 'k', '1', 'x=i32[16]:arange n=33000', '14',
     '11 if s < 0'),
]
STEPS = 10


def seconds(argv):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(argv, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        sys.exit(f'{" ".join(argv)}:\n{done.stdout}')
    return (after.ru_utime + after.ru_stime - before.ru_utime
            - before.ru_stime)


def debugged(tkdbg, run, *commands):
    argv = [tkdbg, 'debug', *run]
    for command in commands:
        argv += ['-ex', command]
    return argv


def runs(tkdbg, run, never, condition):
    """The command lines of a case by name."""
    def at(*commands):
        return debugged(tkdbg, run, *commands)
    end = 'goto 1000000000'
    return {
        'plain': [tkdbg, 'run', '-q', *run],
        'never': at(f'break {never}' if never else 'when', 'continue'),
        'hit': at(f'break {condition}', 'continue'),
        'start': at('detach'), 'stepped': at(*['next'] * STEPS, 'detach'),
        'end': at(end, 'continue'),
        'back': at(end, *['reverse-step'] * STEPS, 'detach'),
    }


def measure(tkdbg, run, never, condition, rounds):
    """The least seconds of each command line, taken in turn."""
    best = {}
    for _ in range(rounds):
        for what, argv in runs(tkdbg, run, never, condition).items():
            best[what] = min(best.get(what, 1e9), seconds(argv))
    return best


def row(name, best):
    def ms(what, without):
        return max(best[what] - best[without], 0) * 1e3 / STEPS
    plain = best['plain']
    return (f'{name:24}{plain * 1e3:6.0f} ms{best["never"] / plain:8.2f}'
            f'{best["hit"] / plain:8.2f}{ms("stepped", "start"):7.2f} ms'
            f'{ms("back", "end"):11.2f} ms')


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--build', default='build')
    parser.add_argument('--rounds', type=int, default=5)
    args = parser.parse_args()
    tkdbg = os.path.join(os.path.abspath(args.build), 'tkdbg')
    print(f'{"":24}{"plain":>9}{"never":>8}{"hit":>8}{"next":>10}'
          f'{"reverse-step":>14}')
    with tempfile.TemporaryDirectory() as folder:
        loop = os.path.join(folder, 'k.py')
        with open(loop, 'w') as f:
            f.write(LOOP)
        for name, kernel, grid, given, never, condition in CASES:
            run = [loop if kernel == 'k' else KERNELS, '--kernel', kernel,
                   '--grid', grid]
            for arg in given.split():
                run += ['--arg', arg]
            best = measure(tkdbg, run, never, condition, args.rounds)
            print(row(name, best), flush=True)
    return 0


if __name__ == '__main__':
    sys.exit(main())
