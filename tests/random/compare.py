"""compare.py LEFT.npz [LEFT.npz ...] -- RIGHT.npz [RIGHT.npz ...]

Compares what launch.py wrote in two runs; names each kernel that differs, and
its first element that does.  Exit status: 1 if one differs.
"""
import sys

import numpy as np


def read(paths):
    out = {}
    for path in paths:
        with np.load(path) as f:
            out.update({key: f[key] for key in f.files})
    return out


def by_seed(results):
    out = {}
    for key, array in results.items():
        seed, name = key.split('/')
        out.setdefault(int(seed), {})[name] = array
    return out


def difference(a, b):
    """What is said of two results of a kernel, or None."""
    for side, results in (('left', a), ('right', b)):
        if 'failed' in results:
            return f'{side} failed: {results["failed"]}'
    for name in a:
        if a[name].tobytes() == b[name].tobytes():
            continue
        x, y = (np.frombuffer(r[name].tobytes(), f'u{r[name].itemsize}')
                for r in (a, b))
        at = np.flatnonzero(x != y)
        return (f'{name}[{at[0]}] is {a[name][at[0]]} and {b[name][at[0]]}, '
                f'{len(at)} of {len(x)} elements differ')
    return None


def main():
    at = sys.argv.index('--')
    left, right = (by_seed(read(paths)) for paths in (
        sys.argv[1:at], sys.argv[at + 1:]))
    both = sorted(set(left) & set(right))
    found = {s: difference(left[s], right[s]) for s in both}
    found = {s: why for s, why in found.items() if why}
    for seed, why in found.items():
        print(f'{seed}: {why}')
    print(f'{len(both)} kernels, {len(found)} differ; '
          f'{len(set(left) ^ set(right))} are on one side alone')
    return bool(found)


if __name__ == '__main__':
    sys.exit(main())
