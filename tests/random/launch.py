"""Launches random kernels and writes what they leave:

    tkdbg run [--engine ENGINE] launch.py OUT.npz [--first SEED] [--count N]
    python3 launch.py OUT.npz ...            with Triton, on a GPU
    TRITON_INTERPRET=1 python3 launch.py OUT.npz --device cpu ...

--jobs N shares the seeds between processes, each in a file of its own,
OUT.0.npz and so on; under tkdbg start the command N times with --part I/N
instead.  compare.py compares such files.
"""
import argparse
import importlib.util
import os
import subprocess
import sys
import tempfile

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
# Where this file was carried to, the generator is beside it.
sys.path += [HERE, os.path.join(HERE, '..', '..', 'python')]
from tkdbg.fuzz import generate, kernel as kernels  # noqa: E402

CHUNK = 50  # kernels of a module


def loaded(chunk, folder):
    """The module of some kernels; Triton reads their source from its file."""
    name = f'random_{chunk[0].seed}'
    path = os.path.join(folder, name + '.py')
    with open(path, 'w', encoding='utf-8') as f:
        f.write('\n\n'.join([kernels.HEAD] + [k.text() for k in chunk]))
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def on_device(value, device):
    if device == 'host' or not isinstance(value, np.ndarray):
        return value
    import torch
    return torch.from_numpy(value).to(device)


def left_by(kernel, function, device):
    """{output: array} after a launch."""
    if device == 'cuda':  # descriptors lie in memory of the launch's own
        import torch
        import triton
        triton.set_allocator(lambda size, align, stream: torch.empty(
            size, dtype=torch.int8, device=device))
    arrays = kernel.arrays()
    args = {name: on_device(a, device) for name, a in arrays.items()}
    options = dict(kernel.options)
    if device == 'cpu':  # Triton's interpreter has no such options
        options = {}
    function[kernel.grid](**args, **options)
    for name in kernel.outputs:
        if device != 'host':
            arrays[name] = args[name].cpu().numpy()
    return kernel.results(arrays)


def write(path, seeds, device):
    out, failed = {}, 0
    with tempfile.TemporaryDirectory() as folder:
        for at in range(0, len(seeds), CHUNK):
            chunk = [generate.generate(s) for s in seeds[at:at + CHUNK]]
            module = loaded(chunk, folder)
            for k in chunk:
                try:
                    left = left_by(k, getattr(module, k.name), device)
                except Exception as e:
                    why = f'{type(e).__name__}: {e.__cause__ or e}'
                    left, failed = {'failed': np.array(why[:2000])}, failed + 1
                out.update({f'{k.seed}/{n}': a for n, a in left.items()})
                if 'CUDA error' in str(left.get('failed', '')):
                    np.savez_compressed(path, **out)
                    sys.exit(f'{path}: {left["failed"]}')
    np.savez_compressed(path, **out)
    print(f'{path}: {len(seeds)} kernels, {failed} failed', flush=True)


def main():
    p = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    p.add_argument('out')
    p.add_argument('--first', type=int, default=0)
    p.add_argument('--count', type=int, default=100)
    p.add_argument('--device', choices=('host', 'cuda', 'cpu'),
                   default='host' if is_tkdbg() else 'cuda')
    p.add_argument('--part', default='0/1')
    p.add_argument('--jobs', type=int, default=1)
    options = p.parse_args()
    if options.jobs > 1:
        return in_parts(sys.argv[1:], options.jobs, options.out)
    part, parts = map(int, options.part.split('/'))
    write(options.out, range(options.first + part,
                             options.first + options.count, parts),
          options.device)
    return 0


def is_tkdbg():
    import triton
    return 'tkdbg' in (triton.__file__ or 'tkdbg')


def in_parts(arguments, jobs, out):
    base, started = out.removesuffix('.npz'), []
    for i in range(jobs):
        started.append(subprocess.Popen(
            [sys.executable, os.path.abspath(__file__), f'{base}.{i}.npz']
            + [a for a in arguments if a != out]
            + ['--jobs', '1', '--part', f'{i}/{jobs}']))
    return max(p.wait() for p in started)


if __name__ == '__main__':
    sys.exit(main())
