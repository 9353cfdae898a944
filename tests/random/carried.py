"""Compiles the random kernels of a folder that carry.py packed, by the Triton
in it, runs them on the GPU of this machine and says which leave other bits than
tkdbg's interpreter:

    python3 FOLDER/carried.py [--out FOLDER] [--minutes N] [--jobs N]
                              [--share I/N] [--patience SECONDS]

It needs NumPy, the CUDA driver and the Python that Triton's wheel was for, or a
Triton that is installed where the folder has none.  OUT gets table.md, which is
printed too, and differ.npz: what the kernels that differ left, for `carry.py
FOLDER --explain`.  Such a kernel runs once more, with machine code that ptxas
has not optimised.  No kernel is begun after that many minutes; those that were
not are counted.  --share takes every N-th group of kernels, from the I-th on;
--patience is how long one may be compiled, or run.  Exit status: 1 if one
differs.
"""
import argparse
import collections
import hashlib
import json
import lzma
import multiprocessing.pool
import os
import re
import signal
import subprocess
import sys
import tarfile
import tempfile
import time

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import driver as gpu  # noqa: E402
import launch as launches  # noqa: E402  it says where tkdbg.fuzz is
from tkdbg.fuzz import generate, kernel as kernels  # noqa: E402
import written  # noqa: E402

TRITON, ABOUT, WRITTEN = 'triton.tar.xz', 'about.json.xz', 'written.md'
CHUNK = 25  # kernels that one process compiles and runs


class NoGpu(Exception):
    """No kernel can be run; with why."""


# ---- what is in the folder ---------------------------------------------------

def about(folder):
    with lzma.open(os.path.join(folder, ABOUT), 'rt', encoding='utf-8') as f:
        return json.load(f)


def chunks(folder, known):
    """What tells which kernels a process takes: seeds, or none for those that
    are written."""
    seeds = known['seeds']
    out = [seeds[i:i + CHUNK] for i in range(0, len(seeds), CHUNK)]
    if os.path.exists(os.path.join(folder, WRITTEN)):
        out.insert(0, [])
    return out


def kernels_of(folder, chunk):
    if not chunk:
        return written.kernels(os.path.join(folder, WRITTEN))
    return [generate.generate(s) for s in chunk]


def titled(folder, title):
    """The kernels, one, of that title."""
    seed = re.fullmatch(r'seed (\d+)', title)
    found = kernels_of(folder, [int(seed[1])] if seed else [])
    return [k for k in found if k.title == title]


def digests(results):
    """What stands for the bits of a kernel's results."""
    return {name: hashlib.sha256(a.tobytes()).hexdigest()[:20]
            for name, a in results.items()}


# ---- one kernel --------------------------------------------------------------

class Compiler:
    """The Triton of this process, for a GPU that it need not see."""

    def __init__(self, known):
        import triton
        import triton_replay
        from triton.backends.nvidia import compiler as nvidia
        self.nvidia, self.arch = nvidia, known['arch']
        if not triton.__version__.startswith(known['triton'] + '.'):
            sys.exit(f'Triton {triton.__version__} is here, not '
                     f'{known["triton"]}')
        self.replay = triton_replay
        self.triton = triton
        triton.runtime.driver.set_active(triton_replay.driver_of(
            triton, known['arch']))

    def argument(self, value):
        """What the compiler looks at in an argument."""
        if not isinstance(value, kernels.Tensor):
            return value
        return self.replay.Addressed(1 << 20, value.dtype, [value.length],
                                     [1])

    def __call__(self, kernel, function):
        made = function.warmup(
            grid=kernel.grid, **kernel.options,
            **{n: self.argument(v) for n, v in kernel.args.items()})
        made = made.result() if hasattr(made, 'result') else made
        params = self.replay.parameters(made, self.triton)
        entry = re.search(r'\.entry \w+\((.*?)\)', made.asm['ptx'], re.S)[1]
        if entry.count('.param') != len(params) + 2:
            raise ValueError(f'other parameters than {params} and two')
        return made, params

    def unoptimised(self, made, folder):
        """The machine code that ptxas makes of the same PTX with -O0."""
        source, out = (os.path.join(folder, n) for n in ('k.ptx', 'k.cubin'))
        with open(source, 'w', encoding='utf-8') as f:
            f.write(made.asm['ptx'])
        fused = getattr(made.metadata, 'enable_fp_fusion', True)
        arch = self.nvidia.sm_arch_from_capability(self.arch)
        subprocess.run(
            [self.nvidia.get_ptxas(self.arch).path, '--opt-level', '0',
             *([] if fused else ['--fmad=false']),
             '--gpu-name=' + arch,
             source, '-o', out], check=True)
        with open(out, 'rb') as f:
            return f.read()


def left_by(driver, kernel, made, params, code=None):
    """{output: array} after a launch of its code, or of the code given.  Behind
    the arguments stand two addresses: of memory for descriptors, and of a
    profile's."""
    arrays, meta = kernel.arrays(), made.metadata
    values = {name: driver.copied(a) if isinstance(a, np.ndarray)
              else driver.number(a) for name, a in arrays.items()}
    size = (getattr(meta, 'global_scratch_size', 0) or 0) * int(
        np.prod(kernel.grid))
    scratch = driver.copied(np.zeros(max(1, size), np.uint8))
    driver.launch(code or made.asm['cubin'], meta.name.encode(), kernel.grid,
                  32 * meta.num_warps, meta.shared,
                  [*(values[p] for p in params), scratch, driver.address(0)])
    for name, a in arrays.items():
        if isinstance(a, np.ndarray):
            driver.take_back(values[name], a)
    driver.free(scratch)
    return kernel.results(arrays)


class Log:
    """Says of a kernel what is done with it, a line of JSON each: whoever ends
    the process, the last line says what it was at."""

    def __init__(self, path, patience):
        self.path, self.patience = path, patience
        self.file = open(path, 'a', encoding='utf-8', buffering=1)

    def say(self, at, kernel, says, **more):
        signal.alarm(self.patience)
        self.file.write(json.dumps(dict(
            at=at, title=kernel.title, says=says, **more)) + '\n')

    def keep(self, at, kernel, results):
        np.savez_compressed(f'{self.path}.{at}.npz', **{
            f'{kernel.title}/{n}': a for n, a in results.items()})


def run_one(log, driver, compiler, at, kernel, function, wanted):
    if 'refused' in wanted:
        return log.say(at, kernel, 'refused by tkdbg', why=wanted['refused'])
    log.say(at, kernel, 'compiles')
    try:
        made, params = compiler(kernel, function)
    except Exception as e:
        return log.say(at, kernel, 'not compiled', why=first_line(e))
    log.say(at, kernel, 'runs')
    results = left_by(driver, kernel, made, params)
    found = digests(results)
    wrong = [name for name in found if found[name] != wanted[name]]
    if not wrong:
        return log.say(at, kernel, 'same')
    log.keep(at, kernel, results)
    log.say(at, kernel, 'differs', wrong=wrong)
    return log.say(at, kernel, 'differs', wrong=wrong, slowly=who_is_wrong(
        driver, compiler, kernel, made, params, wanted))


def who_is_wrong(driver, compiler, kernel, made, params, wanted):
    """What of ptxas's optimisation there is in a difference."""
    with tempfile.TemporaryDirectory() as folder:
        try:
            code = compiler.unoptimised(made, folder)
        except Exception as e:
            return f'-O0: {first_line(e)}'
    found = digests(left_by(driver, kernel, made, params, code))
    wrong = [name for name in found if found[name] != wanted[name]]
    return ('ptxas -O0: ' + ('differs in ' + ', '.join(wrong) if wrong
                             else 'the same bits as the interpreter'))


def first_line(error):
    error = error.__cause__ or error
    lines = [line for line in str(error).split('\n') if line.strip()]
    return f'{type(error).__name__}: {lines[0][:200] if lines else ""}'


def run_chunk(options, known):
    """The kernels of a chunk from the first-th on, in this process."""
    log, driver = Log(options.out, options.patience), gpu.Driver()
    compiler = Compiler(known)
    chunk = kernels_of(HERE, options.chunk)
    with tempfile.TemporaryDirectory() as folder:
        os.environ['TRITON_CACHE_DIR'] = os.path.join(folder, 'cache')
        for at, kernel in enumerate(chunk):
            if at >= options.first:
                module = launches.loaded([kernel], folder)
                run_one(log, driver, compiler, at, kernel,
                        getattr(module, kernel.name),
                        known['wanted'][kernel.title])


# ---- all of them -------------------------------------------------------------

def answers_of(out):
    """The last word on each kernel that was begun."""
    if not os.path.exists(out):
        return []
    with open(out, encoding='utf-8') as f:
        lines = [json.loads(line) for line in f]
    return list({a['at']: a for a in lines}.values())


def ended(done):
    """Why a process that ran kernels ended."""
    if done.returncode == -signal.SIGALRM:
        return 'no end in time (--patience)'
    lines = done.stderr.decode(errors='replace').strip().split('\n')
    return lines[-1] or f'its process ended ({done.returncode})'


def finish_last(out, last, done):
    """Whoever was at work when the process ended has failed."""
    says = {'compiles': 'not compiled', 'runs': 'fails'}.get(last['says'])
    if says:
        with open(out, 'a', encoding='utf-8') as f:
            f.write(json.dumps(dict(last, says=says, why=ended(done))) + '\n')


def run_apart(chunk, options, triton):
    """The answers of a chunk's kernels, which run in another process; where
    one ends that, the rest runs in one more."""
    out = os.path.join(options.out, f'{chunk[0] if chunk else "written"}.json')
    environment = dict(os.environ, TRITON_DEFAULT_FP_FUSION='1')
    if triton:
        environment['PYTHONPATH'] = triton
    while time.time() < options.until:
        before = answers_of(out)
        done = subprocess.run(
            [sys.executable, os.path.abspath(__file__),
             '--chunk=' + ','.join(map(str, chunk)), '--first',
             str(len(before)),
             '--out', out, '--patience', str(options.patience)],
            check=False, stderr=subprocess.PIPE, env=environment)
        if done.returncode == 0:
            break
        answers = answers_of(out)
        if len(answers) == len(before):
            raise NoGpu(ended(done))
        finish_last(out, answers[-1], done)
    return answers_of(out)


def put_results(options, known, answers, total):
    """Prints and writes the table; keeps what differs."""
    counts = collections.Counter(a['says'] for a in answers)
    lines = [f'Triton {known["triton"]} for sm_{known["arch"]} on '
             f'{gpu.Driver().described()}, {options.seconds:.0f} s', '',
             '| kernels | same bits | differ | fail on the GPU '
             '| not compiled | refused by tkdbg | not run |',
             '|--:|--:|--:|--:|--:|--:|--:|',
             f'| {total} | {counts["same"]} | {counts["differs"]} '
             f'| {counts["fails"]} | {counts["not compiled"]} '
             f'| {counts["refused by tkdbg"]} | {total - len(answers)} |', '']
    lines += [f'{a["title"]}: {a["says"]}: '
              + (a.get('why') or '; '.join(
                  ['in ' + ', '.join(a['wrong']), *filter(
                      None, [a.get('slowly')])]))
              for a in answers if a['says'] != 'same']
    print('\n'.join(lines), flush=True)
    with open(os.path.join(options.out, 'table.md'), 'w',
              encoding='utf-8') as f:
        f.write('\n'.join(lines) + '\n')
    arrays = {}
    for name in os.listdir(options.out):
        if '.json.' in name:
            with np.load(os.path.join(options.out, name)) as f:
                arrays.update({key: f[key] for key in f.files})
    np.savez_compressed(os.path.join(options.out, 'differ.npz'), **arrays)
    return counts['differs'] + counts['fails']


def unpacked(folder):
    """Puts the Triton that was carried along there, if one was."""
    path = os.path.join(HERE, TRITON)
    if not os.path.exists(path):
        return False
    with lzma.open(path) as f, tarfile.open(fileobj=f) as tar:
        tar.extractall(folder)
    return True


def run_all(options, known):
    began, (at, step) = time.time(), map(int, options.share.split('/'))
    options.until = began + 60 * options.minutes
    os.makedirs(options.out, exist_ok=True)
    chosen = chunks(HERE, known)[at::step]
    total = sum(len(c or kernels_of(HERE, c)) for c in chosen)
    with tempfile.TemporaryDirectory() as triton:
        if not unpacked(triton):
            triton = ''
        with multiprocessing.pool.ThreadPool(options.jobs) as pool:
            found = pool.map(lambda c: run_apart(c, options, triton), chosen,
                             chunksize=1)
    options.seconds = time.time() - began
    answers = [a for part in found for a in part]
    return put_results(options, known, answers, total)


def main():
    p = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    p.add_argument('--jobs', type=int, default=os.cpu_count())
    p.add_argument('--out', default=os.path.join(HERE, 'out'))
    p.add_argument('--minutes', type=float, default=9)
    p.add_argument('--share', default='0/1')
    p.add_argument('--patience', type=int, default=60)
    p.add_argument('--chunk', help='one, in this process',
                   type=lambda text: [int(s) for s in text.split(',') if s])
    p.add_argument('--first', type=int, default=0)
    options = p.parse_args()
    known = about(HERE)
    if options.chunk is not None:
        run_chunk(options, known)
        return 0
    try:
        return bool(run_all(options, known))
    except NoGpu as e:
        sys.exit(f'carried.py: no kernel can be run here: {e}')


if __name__ == '__main__':
    sys.exit(main())
