"""Puts each bug of src/nvptx/mutant.def into the code of codegen.py's kernels.

    python3 tests/nvptx/mutants.py --build BUILD [NAME ...]

BUILD is made with MUTANTS=1.  `tkdbg diff --explain` must find each, and tell
the line that mutant.def says.  Exit status: 1 if one is not found there.
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
    """{name: (the GPU, a part of the line that is wrong)}"""
    with open(os.path.join(ROOT, 'src', 'nvptx', 'mutant.def')) as f:
        return {name: (arch, line) for name, arch, line in re.findall(
            r'^MUTANT\(\w+, "([^"]+)",\s+"(\w+)",\s+"([^"]*)"\)', f.read(),
            re.M)}


def explained(lines):
    """(number, line) of the first operation that differs, by more than the
    order of a sum explains, or else of the first place in the kernel that a
    report names; None: there is neither."""
    report = None
    for line in lines:
        if 'the first operation that differs' in line:
            found = re.match(r' +(\d+) \| (.*)', next(lines, ''))
            cause = [next(lines, ''), next(lines, '')][1]
            if found and 'cause: order:' not in cause:
                return found.groups()
        if re.search(r'codegen\.py:\d+:\d+: the kernel is here', line):
            found = re.match(r' +(\d+) \| +(.*)', next(lines, ''))
            report = report or (found and found.groups())
    return report


def found_by_diff(tkdbg, mutant, arch):
    run = subprocess.Popen(
        [tkdbg, 'diff', '-q', '--color', 'never', '--backend', 'ptx',
         '--arch', arch, '--explain', KERNELS], stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, text=True,
        env={**os.environ, 'TKDBG_MUTANT': mutant})
    try:
        return explained(iter(run.stdout.readline, ''))
    finally:
        run.kill()
        run.communicate()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--build', default='build-mutants')
    parser.add_argument('names', nargs='*')
    args = parser.parse_args()
    tkdbg = os.path.join(os.path.abspath(args.build), 'tkdbg')
    mutants, missed = all_mutants(), 0
    for name in args.names or mutants:
        arch, line = mutants[name]
        found = found_by_diff(tkdbg, name, arch)
        right = found is not None and line in found[1]
        missed += not right
        print(f'{name:36} {"line %s: %s" % found if found else "NOT FOUND"}'
              f'{"" if right or not found else "  WRONG LINE"}', flush=True)
    print(f'{missed} of {len(args.names or mutants)} not found at their line')
    return missed > 0


if __name__ == '__main__':
    sys.exit(main())
