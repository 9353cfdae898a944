"""Writes a table of docs/ptx.md: of which kernels the PTX interpreter runs what
Triton's compiler prints, and how often that leaves what the interpreter does.

    python3 tools/ptx_coverage.py --tkdbg BUILD/tkdbg --venvs FOLDER
                                  [--acceptance FOLDER]
                                  [--launches [NAME=]FOLDER]...
                                  [--only TEXT] [--write]

Of each kernel that a script of examples/, or of --acceptance, launches, the
second launch is recorded, or the first if there is one only; --launches has
launch files that stand for themselves, such as those of a library's tests, and
what they are kernels of (libraries).  With --launches and without --acceptance
only these are counted.
Each Triton of TRITONS that an environment of --venvs has then compiles the
records for sm_80 and for sm_90, and `tkdbg diff --backend triton-ptx` runs that
beside the interpreter.  What does not agree is named, with the reason; the exit
status is 1 where less than BAR of what Triton compiles runs.
--write puts the counts into the page, where rows that were not counted this
time keep what they had.
"""
import argparse
import collections
import glob
import os
import re
import subprocess
import sys
import tempfile

from page import ROOT, between, publish, read

sys.path.insert(0, os.path.join(ROOT, 'tests', 'front'))
import versions  # noqa: E402

BEGIN = '<!-- coverage: make ptx-coverage -->'
END = '<!-- end of coverage -->'
HEAD = ('| kernels of | Triton | for | kernels | compiled | run | agree |\n'
        '| --- | --- | --- | --: | --: | --: | --: |')
TRITONS = '3.9', '3.6'
ARCHS = 'sm_90', 'sm_80'
BAR = 0.98
LIMIT = 300  # seconds that a script or a comparison may take
# How far a kernel comes; each is also all that stand before it.
STEPS = 'kernels', 'compiled', 'run', 'agree'


def run(command, **changes):
    """(exit status, all that was printed); 124: it took too long."""
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True,
                              timeout=LIMIT, env=dict(os.environ, **changes),
                              errors='replace', check=False)
    except subprocess.TimeoutExpired:
        return 124, 'it took too long'
    return done.returncode, done.stdout


def pythons_of(venvs):
    """{each version of TRITONS that can be had: its Python}."""
    found = {}
    for row in versions.rows():
        if row.version in TRITONS:
            python, why = versions.environment(row, venvs)
            if python:
                found[row.version] = python
            else:
                print(f'skipped: Triton {row.version}: {why}')
    return found


# ---- launches ----------------------------------------------------------------

def kernels_of(tkdbg, script):
    status, said = run([tkdbg, 'kernels', script])
    return re.findall(r'^(\w+)\(', said, re.M) if not status else []


def is_recorded(tkdbg, python, script, kernel, path):
    """Whether a launch of the kernel now is in that file."""
    for launch in '2', '1':
        run([tkdbg, 'run', '-q', '--triton', 'ours', '--python', python,
             '--kernel', kernel, '--launch', launch, '--record', path, script])
        if os.path.exists(path):
            return True
    return False


def recorded(tkdbg, python, scripts, folder, only):
    """Paths of launch files, one for each kernel that the scripts launch."""
    for script in sorted(glob.glob(os.path.join(scripts, '*.py'))):
        stem = os.path.splitext(os.path.basename(script))[0]
        for kernel in kernels_of(tkdbg, script):
            name = f'{stem}-{kernel}.safetensors'
            path = os.path.join(folder, name)
            if only in name and is_recorded(tkdbg, python, script, kernel,
                                            path):
                yield path


def launches(options, python, folder):
    """{what they are kernels of: their launch files}."""
    found = {}
    if options.acceptance or not options.launches:
        found['examples'] = list(recorded(
            options.tkdbg, python, os.path.join(ROOT, 'examples'), folder,
            options.only))
    if options.acceptance:
        found['acceptance scripts'] = list(recorded(
            options.tkdbg, python, options.acceptance, folder, options.only))
    for given in options.launches:
        name, _, where = given.rpartition('=')
        found[name or 'libraries'] = [
            path for path in sorted(glob.glob(os.path.join(where,
                                                           '*.safetensors')))
            if options.only in os.path.basename(path)]
    return {name: paths for name, paths in found.items() if paths}


# ---- what becomes of them ----------------------------------------------------

def step_of(tkdbg, python, arch, path):
    """(how far a launch comes, what was said)."""
    status, said = run([tkdbg, 'diff', '--backend', 'triton-ptx', '--arch',
                        arch, '--python', python, path],
                       TRITON_DEFAULT_FP_FUSION='1')
    if 'Triton did not compile' in said:
        return 'kernels', said
    if "'triton-ptx' beside the interpreter" not in said:
        return 'compiled', said
    return ('run' if status else 'agree'), said


def reason(said):
    """The line of a report that says why: of an exception, its last one."""
    lines = said.strip().split('\n')
    errors = [line for line in lines if re.search(r'Error\b|error:', line)]
    return (errors[-1] if errors else lines[0]).strip()[:150]


def count(options, python, version, arch, paths):
    """{step: how many come that far}."""
    counts = collections.Counter()
    for path in paths:
        step, said = step_of(options.tkdbg, python, arch, path)
        for name in STEPS[:STEPS.index(step) + 1]:
            counts[name] += 1
        if step != STEPS[-1]:
            print(f'{version} {arch} {os.path.basename(path)}: {step}: '
                  + reason(said), flush=True)
    return counts


# ---- the table ---------------------------------------------------------------

def key_of(row):
    """What a row speaks of: whose kernels, which Triton, for what."""
    return tuple(cell.strip() for cell in row.split('|')[1:4])


def written(made):
    page = read('docs', 'ptx.md')
    there = page.split(BEGIN)[1].split(END)[0].strip().split('\n')[2:]
    rows = {key_of(row): row for row in there + made}
    return publish('ptx.md', between(page, BEGIN, END, '\n'.join(
        [HEAD] + [rows[key] for key in sorted(rows)])), False)


def counted(options, pythons, folder):
    """Whether enough runs, of each row."""
    enough = True
    for name, paths in launches(options, next(iter(pythons.values())),
                                folder).items():
        for version, python in pythons.items():
            for arch in ARCHS:
                counts = count(options, python, version, arch, paths)
                row = (f'| {name} | {version} | {arch} | ' + ' | '.join(
                    str(counts[step]) for step in STEPS) + ' |')
                print(row, flush=True)
                enough &= counts['run'] >= BAR * counts['compiled']
                if options.write:
                    written([row])
    return enough


def main():
    p = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    p.add_argument('--tkdbg', required=True, type=os.path.abspath)
    p.add_argument('--venvs', required=True)
    p.add_argument('--acceptance', metavar='FOLDER')
    p.add_argument('--launches', metavar='[NAME=]FOLDER', action='append',
                   default=[])
    p.add_argument('--only', default='', metavar='TEXT')
    p.add_argument('--write', action='store_true')
    options = p.parse_args()
    pythons = pythons_of(options.venvs)
    if not pythons:
        return 0
    with tempfile.TemporaryDirectory(prefix='tkdbg-') as folder:
        return 0 if counted(options, pythons, folder) else 1


if __name__ == '__main__':
    sys.exit(main())
