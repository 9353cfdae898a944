"""Writes the tests that are worked out by scripts, or says which are stale.

    python3 tools/generated.py           runs tests/language/make_*.py
    python3 tools/generated.py --check   in a copy: every file that a script
                                         writes must be what is checked in

Scripts that need mpmath are skipped by name where it is not installed.
"""
from __future__ import annotations

import argparse
import concurrent.futures
import filecmp
import glob
import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
FOLDER = os.path.join('tests', 'language')
READ = (FOLDER, 'src', 'include')  # by the scripts
WRITTEN = '.spec', '.case'


def scripts(root: str) -> list[str]:
    return sorted(glob.glob(os.path.join(root, FOLDER, 'make_*.py')))


def lacks(script: str) -> str | None:
    """The module that a script needs and this Python has not."""
    with open(script, encoding='utf-8') as f:
        wants = 'mpmath' in f.read()
    return 'mpmath' if wants and not importlib.util.find_spec('mpmath') \
        else None


def run(script: str) -> str | None:
    """What went wrong, if anything did."""
    done = subprocess.run([sys.executable, script], capture_output=True,
                          text=True)
    return done.stderr or f'status {done.returncode}' if done.returncode \
        else None


def run_all(root: str) -> list[str]:
    """Runs every script that can be run; the faults."""
    wanted = []
    for script in scripts(root):
        module = lacks(script)
        if module:
            print(f'skipped: {os.path.basename(script)}: {module} is not '
                  f'installed')
        else:
            wanted.append(script)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        said = list(pool.map(run, wanted))
    return [f'{os.path.basename(s)}: {text.strip()}'
            for s, text in zip(wanted, said) if text]


def texts(root: str) -> dict[str, float]:
    """{path below the root: when it was written} of what may be generated."""
    return {os.path.relpath(path, root): os.stat(path).st_mtime_ns
            for path in glob.glob(os.path.join(root, FOLDER, '*'))
            if path.endswith(WRITTEN)}


def check() -> list[str]:
    with tempfile.TemporaryDirectory() as copy:
        for folder in READ:
            shutil.copytree(os.path.join(ROOT, folder),
                            os.path.join(copy, folder))
        before = texts(copy)
        faults = run_all(copy)
        written = [path for path, when in texts(copy).items()
                   if before.get(path) != when]
        stale = [path for path in sorted(written)
                 if not os.path.exists(os.path.join(ROOT, path))
                 or not filecmp.cmp(os.path.join(ROOT, path),
                                    os.path.join(copy, path), False)]
    print(f'generated: {len(written)} files are written by scripts')
    faults += [f'{path}: not what its script writes: make generated'
               for path in stale]
    return faults if written else faults + ['no script has written anything']


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument('--check', action='store_true')
    faults = check() if parser.parse_args().check else run_all(ROOT)
    for fault in faults:
        print(fault)
    return 1 if faults else 0


if __name__ == '__main__':
    sys.exit(main())
