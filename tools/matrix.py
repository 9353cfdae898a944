"""The bridge beside each pair of PyTorch and Triton of tests/matrix/pairs.txt.

    python3 tools/matrix.py [--build BUILD] [--venvs FOLDER] [--only TEXT]
                            [--acceptance FOLDER] [--write]

For each row: its virtual environment is made where it is missing (which
downloads up to 6 GB); tests/python run in it, then every script of examples/,
in one process, and of the acceptance folder, each by itself, with `--triton
installed` and `--triton ours`.  A pair that
cannot be had is skipped by name, and so is an environment that holds another
one.  --write puts the results into the table of
docs/compatibility.md, where rows that did not run keep what they had.
"""
import argparse
import contextlib
import datetime
import glob
import json
import os
import re
import subprocess
import sys

from page import ROOT, between, publish, read

PAIRS = os.path.join('tests', 'matrix', 'pairs.txt')
PAGE = 'compatibility.md'
BEGIN = '<!-- matrix: make bridge-matrix -->'
END = '<!-- end of matrix -->'
HEAD = ('| PyTorch | Triton | Python | tests passed | failed | skipped '
        '| examples | other scripts | on |\n'
        '|---|---|---|--:|--:|--:|--:|--:|---|')
NEVER = '| | | | | | | not run |'
CPU_INDEX = 'https://download.pytorch.org/whl/cpu'
NEEDED = ('numpy pytest ipython matplotlib pandas jsonschema setuptools '
          'wheel').split()
RUN_ALL = os.path.join('tests', 'support', 'run_all.py')
MODES = 'installed', 'ours'
LIMIT = 1200  # seconds that a script may take, or all examples in one process
ASK = ('import importlib.metadata as m, json, platform; '
       'print(m.version("torch"), m.version("triton"), '
       'platform.python_version())')


class Skip(Exception):
    """A row that cannot run, and why."""


class Row:
    """One pair: the name of its environment, its versions."""

    def __init__(self, name, torch, triton):
        self.name, self.torch, self.triton = name, torch, triton

    def __str__(self):
        return f'{self.name}: PyTorch {self.torch}, Triton {self.triton}'

    @property
    def key(self):
        return f'| {self.torch} | {self.triton} '


def pairs(text):
    """The rows of the table; ValueError for a line that is none."""
    found = []
    for number, line in enumerate(text.splitlines(), 1):
        fields = line.partition('#')[0].split()
        if fields and len(fields) != 3:
            raise ValueError(f'{PAIRS}:{number}: a row has three fields, the '
                             'name of the environment and the versions of '
                             f'PyTorch and Triton; this one has {len(fields)}')
        if fields:
            found.append(Row(*fields))
    names = [row.name for row in found]
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f'{PAIRS}: two rows are named {name}')
    return found


def run(argv, limit=None, **env):
    """(exit status, what it printed); status 124: it did not end."""
    try:
        done = subprocess.run(
            argv, cwd=ROOT, env={**os.environ, **env}, timeout=limit,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT)
    except subprocess.TimeoutExpired as e:
        return 124, (e.stdout or b'').decode('utf-8', 'replace') + (
            f'\nno end after {limit} s')
    except OSError as e:
        return 127, str(e)
    return done.returncode, done.stdout.decode('utf-8', 'replace')


# ---- environments -----------------------------------------------------------

def environment(row, venvs):
    """The Python of a row's environment, and its version."""
    folder = os.path.join(venvs, row.name)
    python = os.path.join(folder, 'bin', 'python')
    if not os.path.exists(python):
        make(row, folder, python)
    status, output = run([python, '-c', ASK])
    if status:
        raise Skip(f'{folder} has no PyTorch or no Triton: '
                   f'{last_line(output)}')
    torch, triton, version = output.split()
    # a wheel's local version is its platform's, where none is asked for
    if '+' not in row.torch:
        torch = torch.partition('+')[0]
    if (torch, triton) != (row.torch, row.triton):
        raise Skip(f'{folder} has PyTorch {torch} and Triton {triton}')
    return python, version


def make(row, folder, python):
    """Makes an environment; Skip: one of its packages cannot be had."""
    print(f'  {folder}: making it', flush=True)
    steps = [[sys.executable, '-m', 'venv', folder]]
    index = ['--extra-index-url', CPU_INDEX] if '+cpu' in row.torch else []
    # PyTorch asks for the Triton of its own release; ours comes after it.
    for packages in ([f'torch=={row.torch}', *NEEDED],
                     ['--no-deps', f'triton=={row.triton}']):
        steps.append([python, '-m', 'pip', 'install', '-q',
                      '--disable-pip-version-check', *index, *packages])
    for step in steps:
        status, output = run(step)
        if status:
            run(['rm', '-rf', folder])
            raise Skip(f'it cannot be installed: {last_line(output)}')


def last_line(output):
    """The last line of pip's output that says what is wrong."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    errors = [line for line in lines if line.startswith('ERROR')]
    return (errors or lines or ['it printed nothing'])[-1]


# ---- what runs --------------------------------------------------------------

def tests(python, build):
    """(passed, failed, skipped) of tests/python; what failed is printed."""
    status, output = run([sys.executable, 'tests/run.py', '--build', build,
                          'python'], PYTHON=python)
    counts = re.search(r'^(\d+) passed, (\d+) failed, (\d+) skipped$', output,
                       re.M)
    for line in re.findall(r'^(?:FAIL |  (?:ERROR|FAIL): ).*$', output, re.M):
        print(f'  {line.strip()}')
    if counts is None:
        print(output)
        return 0, 1, 0
    return tuple(map(int, counts.groups()))


def tkdbg(python, build, mode, script, *args):
    """A script under tkdbg, as run() has it."""
    return run([python, '-m', 'tkdbg', 'run', '-q', '--triton', mode, script,
                *args], LIMIT, PYTHONPATH=os.path.join(ROOT, 'python'),
               TKDBG_LIBRARY=os.path.join(build, 'libtkdbg.so'),
               MPLBACKEND='Agg')


def alone(python, build, mode, paths):
    """{script: what is wrong} of scripts, each in a process of its own."""
    wrong = {}
    for path in paths:
        status, output = tkdbg(python, build, mode, path)
        if status:
            wrong[path] = f'exit status {status}: {last_line(output)}'
    return wrong


def together(python, build, mode, paths):
    """The same of scripts in one process, one after the other."""
    _, output = tkdbg(python, build, mode, RUN_ALL, *paths)
    ended = {}
    for line in output.splitlines():
        with contextlib.suppress(ValueError):
            path, _, error = json.loads(line)
            ended[path] = error
    return {path: last_line(ended.get(path, f'it did not run: {output}'))
            for path in paths if ended.get(path, output) is not None}


def scripts(python, build, paths, way):
    """How many runs of scripts succeed, of how many; the others are
    printed."""
    count = len(paths) * len(MODES)
    for mode in MODES:
        wrong = way(python, build, mode, paths)
        for path, why in wrong.items():
            print(f'  {path} --triton {mode}: {why}')
        count -= len(wrong)
    return f'{count}/{len(paths) * len(MODES)}' if paths else ''


def measure(row, args):
    """A row of the table, and whether all of it is as it should be."""
    python, version = environment(row, args.venvs)
    passed, failed, skipped = tests(python, args.build)
    found = [scripts(python, args.build, sorted(glob.glob(os.path.join(
        ROOT, folder or 'no folder', '*.py'))), way) for folder, way in (
            ('examples', together), (args.acceptance, alone))]
    line = (f'{row.key}| {version} | {passed} | {failed} | {skipped} | '
            f'{found[0]} | {found[1]} | {datetime.date.today()} |')
    right = not failed and all(len(set(f.split('/'))) < 2 for f in found)
    return line, right


# ---- the page ---------------------------------------------------------------

def merged(page, rows, made):
    """The page with the rows that ran; the others keep what they had."""
    old = page.split(BEGIN)[1].split(END)[0].splitlines()
    lines = []
    for row in rows:
        kept = next((line for line in old if line.startswith(row.key)),
                    row.key + NEVER)
        lines.append(made.get(row.name, kept))
    return between(page, BEGIN, END, '\n'.join([HEAD, *lines]))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--build', type=os.path.abspath, default='build')
    parser.add_argument('--venvs', type=os.path.abspath)
    parser.add_argument('--acceptance', type=os.path.abspath)
    parser.add_argument('--only', default='', help='rows with this name')
    parser.add_argument('--write', action='store_true')
    args = parser.parse_args()
    args.venvs = args.venvs or os.path.join(args.build, 'venvs')
    rows = pairs(read(PAIRS))
    chosen = [row for row in rows if args.only in ('', row.name)]
    if not chosen:
        parser.error(f'no row is named {args.only}: '
                     + ' '.join(row.name for row in rows))
    made, wrong, skipped = {}, 0, 0
    for row in chosen:
        print(row, flush=True)
        try:
            made[row.name], right = measure(row, args)
        except Skip as e:
            skipped += 1
            print(f'SKIP {row.name}: {e}', flush=True)
            continue
        wrong += not right
        print(made[row.name], flush=True)
    if args.write:
        publish(PAGE, merged(read('docs', PAGE), rows, made), False)
    print(f'{len(made) - wrong} rows right, {wrong} wrong, {skipped} skipped')
    return 1 if wrong or not made else 0


if __name__ == '__main__':
    sys.exit(main())
