"""Runs the scripts that work out tests: tests/language/make_*.py.

    python3 tools/generated.py FOLDER   writes FOLDER/*.spec, as the build does
    python3 tools/generated.py --keep   writes what is checked in, again
    python3 tools/generated.py --check  what is checked in must be what its
                                        scripts write

Most scripts need Python alone: what they write is made in the build.  What the
others write is checked in, so that tests need no mpmath; where that is not
installed, --keep and --check skip these scripts by name.
"""
from __future__ import annotations

import argparse
import concurrent.futures
import filecmp
import glob
import importlib.util
import os
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
LANGUAGE = os.path.join(ROOT, 'tests', 'language')
MODULE = 'mpmath'


def scripts(kept: bool) -> list[str]:
    """Those whose files are checked in, or those that the build runs."""
    chosen = []
    for path in sorted(glob.glob(os.path.join(LANGUAGE, 'make_*.py'))):
        with open(path, encoding='utf-8') as f:
            if (MODULE in f.read()) == kept:
                chosen.append(path)
    return chosen


def run(script: str, folder: str) -> str | None:
    """What went wrong, if anything did."""
    done = subprocess.run([sys.executable, script, folder],
                          capture_output=True, text=True)
    if not done.returncode:
        return None
    said = done.stderr.strip() or f'status {done.returncode}'
    return f'{os.path.basename(script)}: {said}'


def write(chosen: list[str], folder: str) -> list[str]:
    """Runs scripts, which write into a folder; the faults."""
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        return list(filter(None, pool.map(lambda s: run(s, folder), chosen)))


def build(folder: str) -> list[str]:
    os.makedirs(folder, exist_ok=True)
    for old in glob.glob(os.path.join(folder, '*.spec')):
        os.remove(old)
    return write(scripts(kept=False), folder)


def check(chosen: list[str]) -> list[str]:
    with tempfile.TemporaryDirectory() as folder:
        faults = write(chosen, folder)
        written = sorted(os.listdir(folder))
        stale = [name for name in written
                 if not os.path.exists(os.path.join(LANGUAGE, name))
                 or not filecmp.cmp(os.path.join(LANGUAGE, name),
                                    os.path.join(folder, name), False)]
    print(f'generated: {len(written)} files that are checked in are written '
          f'by scripts')
    faults += [f'tests/language/{name}: not what its script writes: '
               f'make generated' for name in stale]
    return faults if written else faults + ['no script has written anything']


def kept(only_check: bool) -> list[str]:
    chosen = scripts(kept=True)
    if not importlib.util.find_spec(MODULE):
        for script in chosen:
            print(f'skipped: {os.path.basename(script)}: {MODULE} is not '
                  f'installed')
        return []
    return check(chosen) if only_check else write(chosen, LANGUAGE)


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument('folder', nargs='?')
    parser.add_argument('--keep', action='store_true')
    parser.add_argument('--check', action='store_true')
    options = parser.parse_args()
    if bool(options.folder) + options.keep + options.check != 1:
        parser.error('either a FOLDER, --keep or --check')
    faults = build(options.folder) if options.folder \
        else kept(options.check)
    for fault in faults:
        print(fault)
    return 1 if faults else 0


if __name__ == '__main__':
    sys.exit(main())
