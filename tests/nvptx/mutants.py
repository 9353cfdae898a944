"""Puts each bug of src/nvptx/mutant.def into the code of codegen.py's kernels.

    python3 tests/nvptx/mutants.py --build BUILD [NAME ...]

BUILD is made with MUTANTS=1.  A bug is found when a kernel's results differ
from the interpreter's, or its run ends with a report.  Exit status: 1 if one
is not found.
"""
import argparse
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))
KERNELS = os.path.join(ROOT, 'tests', 'nvptx', 'codegen.py')


def all_mutants():
    with open(os.path.join(ROOT, 'src', 'nvptx', 'mutant.def')) as f:
        return re.findall(r'^MUTANT\(\w+, "([^"]+)"\)', f.read(), re.M)


def first_difference(tkdbg, wanted, mutant):
    """What is wrong first, or None: the run ends there."""
    run = subprocess.Popen(
        [tkdbg, 'run', '-q', '--engine', 'ptx', KERNELS],
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
        env={**os.environ, 'TKDBG_MUTANT': mutant})
    try:
        for line in wanted:
            got = run.stdout.readline()
            if got != line:
                case = line.rsplit(' ', 1)[0]
                return f'{case}: {"differs" if got else "ends with a report"}'
        return None
    finally:
        run.kill()
        run.communicate()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--build', default='build-mutants')
    parser.add_argument('names', nargs='*')
    args = parser.parse_args()
    tkdbg = os.path.join(os.path.abspath(args.build), 'tkdbg')
    wanted = subprocess.run([tkdbg, 'run', '-q', KERNELS], check=True,
                            stdout=subprocess.PIPE,
                            text=True).stdout.splitlines(keepends=True)
    missed = 0
    for name in args.names or all_mutants():
        found = first_difference(tkdbg, wanted, name)
        missed += found is None
        print(f'{name:36} {found or "NOT FOUND"}', flush=True)
    print(f'{missed} not found')
    return missed > 0


if __name__ == '__main__':
    sys.exit(main())
