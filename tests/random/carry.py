"""Packs an experiment with random kernels for a machine that has a GPU and
neither Triton nor tkdbg:

    PYTHON carry.py FOLDER --build BUILD --peer X.Y
        [--python X.Y | --wheel FILE] [--count N] [--seed FIRST]
        [--seeds SEED,SEED,...] [--written FILE] [--jobs N]
    PYTHON carry.py FOLDER --build BUILD --explain OUT/differ.npz

FOLDER gets carried.py, which compiles the kernels there and runs them; what
each must leave, by tkdbg's interpreter in the language of that version of
Triton (a row of tests/front/versions.txt); and what of Triton's wheel compiles
kernels, stripped and packed.  pip brings the wheel for the Python that is there
(--python), or it is FILE; without either, Triton must be installed there.
PYTHON needs NumPy alone.  --explain says what of a kernel that differs is
wrong, and shows the kernel.
"""
import argparse
import json
import lzma
import multiprocessing
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import carried  # noqa: E402
import run  # noqa: E402
import ways  # noqa: E402
sys.path.insert(0, os.path.join(ways.ROOT, 'tests', 'front'))
import versions  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
TRAVELS = 'carried.py', 'driver.py', 'launch.py', 'written.py'
PACKAGE = os.path.join(ways.ROOT, 'python', 'tkdbg')
REPLAY = os.path.join(PACKAGE, 'triton_replay.py')
# What of a wheel compiles for a GPU of NVIDIA.
KEPT = re.compile(r'(?!.*/(tests|tools/triton_to_gluon\w*|profiler)/)'
                  r'(triton/.*\.py|triton/_C/libtriton\.so|.*/METADATA'
                  r'|.*/entry_points\.txt'
                  r'|triton/backends/nvidia/bin/ptxas(-blackwell)?'
                  r'|.*/libdevice\.10\.bc)$')


# ---- Triton ------------------------------------------------------------------

def requirement(peer):
    """What pip calls that version of Triton: "triton==3.9.0"."""
    for row in versions.rows():
        if row.version == peer:
            return next(p for p in row.packages if p.startswith('triton=='))
    sys.exit(f'carry.py: tests/front/versions.txt has no Triton {peer}')


def wheel_of(options, folder):
    """The path of the wheel, or None."""
    if options.wheel or not options.python:
        return options.wheel
    glibc = [f'--platform=manylinux_2_{n}_x86_64' for n in (28, 27, 17)]
    subprocess.run(
        [sys.executable, '-m', 'pip', 'download', '-q', '--no-deps',
         '--only-binary=:all:', f'--python-version={options.python}', *glibc,
         '-d', folder, requirement(options.peer)], check=True)
    return os.path.join(folder, os.listdir(folder)[0])


def unpacked(wheel, folder):
    with zipfile.ZipFile(wheel) as z:
        for info in z.infolist():
            if KEPT.match(info.filename):
                path = z.extract(info, folder)
                if '/bin/' in path or path.endswith('.so'):
                    os.chmod(path, 0o755)
                    subprocess.run(['strip', path], check=True)


def pack_triton(wheel, path):
    """A wheel's compiler as an archive."""
    with tempfile.TemporaryDirectory() as folder:
        unpacked(wheel, folder)
        with lzma.open(path + '.part', 'wb', preset=6) as out, \
                tarfile.open(fileobj=out, mode='w') as tar:
            tar.add(folder, arcname='.')
    os.replace(path + '.part', path)


# ---- what is expected --------------------------------------------------------

def left_by(lib, kernel, version):
    """What tkdbg's interpreter leaves."""
    with ways.Launch(lib, kernel, version) as one:
        return one.of_source().run('interp')


def expectation(lib, kernel, version):
    """{output: digest}, or {'refused': why}."""
    try:
        return carried.digests(left_by(lib, kernel, version))
    except ways.Failed as e:
        lines = [line for line in str(e).split('\n') if line.strip()]
        return {'refused': lines[0][:300]}


def expectations(job):
    """Those of a file of kernels."""
    folder, version, chunk = job
    lib = ways._capi.load()
    return {k.title: expectation(lib, k, version)
            for k in carried.kernels_of(folder, chunk)}


def pack(options):
    os.makedirs(options.folder, exist_ok=True)
    for name in TRAVELS:
        shutil.copy(os.path.join(HERE, name), options.folder)
    shutil.copy(REPLAY, options.folder)
    shutil.copytree(os.path.join(PACKAGE, 'fuzz'),
                    os.path.join(options.folder, 'tkdbg', 'fuzz'),
                    ignore=shutil.ignore_patterns('__pycache__'),
                    dirs_exist_ok=True)
    if options.written:
        shutil.copy(options.written,
                    os.path.join(options.folder, carried.WRITTEN))
    archive = os.path.join(options.folder, carried.TRITON)
    with tempfile.TemporaryDirectory() as folder:
        wheel = wheel_of(options, folder)
        if wheel and not os.path.exists(archive):
            pack_triton(wheel, archive)
    seeds = options.seeds or [options.seed + i for i in range(options.count)]
    about = {'triton': options.peer, 'seeds': seeds, 'arch': options.arch}
    jobs = [(options.folder, options.peer, c)
            for c in carried.chunks(options.folder, about)]
    with multiprocessing.Pool(options.jobs) as pool:
        about['wanted'] = {}
        for found in pool.imap(expectations, jobs):
            about['wanted'].update(found)
    with lzma.open(os.path.join(options.folder, carried.ABOUT), 'wt',
                   encoding='utf-8') as f:
        json.dump(about, f)
    refused = {t: w['refused'] for t, w in about['wanted'].items()
               if 'refused' in w}
    for title, why in refused.items():
        print(f'{title}: refused by tkdbg: {why}')
    size = sum(e.stat().st_size for e in os.scandir(options.folder)
               if e.is_file())
    print(f'{options.folder}: {len(about["wanted"])} kernels for Triton '
          f'{options.peer}, {size / 1e6:.1f} MB')
    return 0


# ---- what differs ------------------------------------------------------------

def explain(options):
    """Says what is wrong of each kernel that differs."""
    lib, left = ways._capi.load(), {}
    about = carried.about(options.folder)
    with np.load(options.explain) as f:
        for key in f.files:
            title, name = key.rsplit('/', 1)
            left.setdefault(title, {})[name] = f[key]
    for title, results in left.items():
        kernel, = carried.titled(options.folder, title)
        found = run.difference(left_by(lib, kernel, about['triton']), results)
        print(f'{title}: {found}\n{kernel.describe()}\n', flush=True)
    print(f'{len(left)} kernels differ')
    return bool(left)


def main():
    p = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    p.add_argument('folder')
    p.add_argument('--build', required=True)
    p.add_argument('--peer', metavar='X.Y')
    p.add_argument('--python', metavar='X.Y')
    p.add_argument('--wheel', metavar='FILE')
    p.add_argument('--count', type=int, default=10000)
    p.add_argument('--seed', type=int, default=0)
    p.add_argument('--seeds', help='these, instead of some from the first on',
                   type=lambda text: [int(s) for s in text.split(',')])
    p.add_argument('--written', metavar='FILE')
    p.add_argument('--arch', type=int, default=90)
    p.add_argument('--jobs', type=int, default=os.cpu_count())
    p.add_argument('--explain', metavar='FILE')
    options = p.parse_args()
    if not (options.explain or options.peer):
        p.error('--peer names a version of Triton')
    os.environ['TKDBG_LIBRARY'] = os.path.join(
        os.path.abspath(options.build), 'libtkdbg.so')
    return explain(options) if options.explain else pack(options)


if __name__ == '__main__':
    sys.exit(main())
