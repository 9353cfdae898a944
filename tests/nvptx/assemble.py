"""make assemble: whether ptxas takes all that tkdbg compiles.

    python3 tests/nvptx/assemble.py --build build [--spec] [--jobs N] [FILE ...]

Every kernel that the scripts launch (the examples, if none is named) is
compiled to PTX for sm_80 and for sm_90, as `tkdbg compile` does; --spec takes
those of tests/language too, for sm_80.  Then ptxas assembles each, for its own
architecture and the later one.  Exit status: 1 if it refuses one.  $PYTHON is
a Python that has what the scripts need.
"""
import argparse
import collections
import glob
import multiprocessing.pool
import os
import re
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))
ARCHS = ('sm_80', 'sm_90')


def fill(command, cache, folder, build):
    """What it compiles lies in the cache then; gives its exit status.  A test
    program finds the plug-in where the system looks for libraries."""
    environment = dict(os.environ, TKDBG_CACHE_DIR=cache, TKDBG_PTXAS='',
                       LD_LIBRARY_PATH=build)
    return subprocess.run(command, cwd=folder, env=environment,
                          stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL).returncode


def refused(ptxas, path, folder):
    """(the PTX's architecture, ptxas's, what it says or None), for each."""
    with open(path, encoding='utf-8', errors='replace') as f:
        text = f.read()
    own = re.search(r'^\.target (\w+)', text, re.M)[1]
    ptx = os.path.join(folder, os.path.basename(path))
    with open(ptx, 'w', encoding='utf-8') as f:
        f.write(text[text.index('.version'):])  # behind the cache's own line
    for arch in ARCHS[ARCHS.index(own):]:
        made = subprocess.run([ptxas, f'-arch={arch}', ptx, '-o', ptx + '.o'],
                              capture_output=True, text=True)
        yield own, arch, made.stderr.strip() if made.returncode else None


def main():
    p = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    p.add_argument('--build', default='build')
    p.add_argument('--ptxas', default='ptxas')
    p.add_argument('--spec', action='store_true')
    p.add_argument('--jobs', type=int, default=os.cpu_count())
    p.add_argument('files', nargs='*')
    options = p.parse_args()
    build = os.path.abspath(options.build)
    python = os.environ.get('PYTHON') or 'python3'
    files = [os.path.abspath(f) for f in options.files]
    files = files or sorted(glob.glob(f'{ROOT}/examples/*.py'))
    counted, failed = collections.Counter(), 0
    with tempfile.TemporaryDirectory() as folder, \
            multiprocessing.pool.ThreadPool(options.jobs) as pool:
        cache = os.path.join(folder, 'cache')
        commands = [[f'{build}/tkdbg', 'compile', '-q', '--python', python,
                     '--emit', 'ptx', '--arch', arch, f]
                    for f in files for arch in ARCHS]
        for command, status in zip(commands, pool.map(
                lambda c: fill(c, cache, folder, build), commands)):
            if status:
                print(f'{" ".join(command)}: exit status {status}')
        if options.spec:
            status = fill([f'{build}/tests/language/test_spec', '--engine',
                           'ptx'], cache, ROOT, build)
            if status:
                print(f'tests/language: exit status {status}')
        paths = glob.glob(f'{cache}/*')
        for path, rows in zip(paths, pool.map(
                lambda f: list(refused(options.ptxas, f, folder)), paths)):
            for own, arch, why in rows:
                counted[own, arch, why is None] += 1
                if why:
                    failed += 1
                    print(f'{os.path.basename(path)} for {arch}: {why}')
    for (own, arch, ok), n in sorted(counted.items()):
        print(f'PTX for {own}, by ptxas for {arch}: {n} kernels '
              f'{"assembled" if ok else "refused"}')
    print(f'{len(files)} scripts{" and tests/language" * options.spec}: '
          f'{sum(counted.values()) - failed} assembled, {failed} refused')
    sys.exit(failed > 0 or not counted)


if __name__ == '__main__':
    main()
