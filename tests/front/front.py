#!/usr/bin/env python3
"""Compares what Triton's compiler takes with what tkdbg takes.

    python3 tests/front/front.py --tkdbg BUILD/tkdbg --python PYTHON
                                 [--version X.Y] [--step N] [--only TEXT]
                                 [--record]

PYTHON has Triton 3.6 or later, PyTorch and NumPy; no GPU is needed.  Each
kernel of kernels.py is given to both, to tkdbg with --triton-version X.Y:
that of PYTHON's Triton, unless another is given.  Where Triton's front end
takes what tkdbg refuses, the whole compiler is asked: much passes the one and
not the other.
What is left and stands neither in known.txt nor in the version's own list,
known-X.Y.txt, is printed; exit status 1.
--step N takes each Nth kernel, --only those with TEXT in their label.
--record writes Triton's answers to the kernels of the gate into the column
of the version in answers.txt.
"""
import argparse
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import kernels  # noqa: E402

CHUNK = 400
GATE_STEP = 29  # of all kernels, each so many-th is in the gate
WHOLE = ('call: ', 'loop: ', 'window: ', 'combine: ', 'rule: ')  # all of which


def known(version, name='known'):
    """[(pattern of a label, reason)] of the differences that are wanted, of
    all versions and of this one."""
    lines = []
    for file in (f'{name}.txt', f'{name}-{version}.txt'):
        path = os.path.join(HERE, file)
        if os.path.exists(path):
            with open(path, encoding='utf-8') as f:
                lines += [line.rstrip('\n') for line in f if line.strip()
                          and not line.startswith('#')]
    return [(re.compile(pattern), reason) for pattern, reason in
            (line.split('  ', 1) for line in lines)]


def is_known(label, differences):
    return any(p.match(label) for p, _ in differences)


def gate():
    return [case for i, case in enumerate(kernels.cases())
            if i % GATE_STEP == 0
            or case.label.startswith(WHOLE)]


def table():
    """(versions, {label: a mark for each}) of answers.txt: + for a kernel
    that the version's Triton takes, - for one that it refuses."""
    with open(os.path.join(HERE, 'answers.txt'), encoding='utf-8') as f:
        versions = f.readline().split()
        lines = [line.rstrip('\n') for line in f]
    return versions, {label: marks for marks, _, label in
                      (line.partition(' ') for line in lines)}


def recorded(version):
    """Triton's answers by label: whether it takes the kernel."""
    versions, marks = table()
    at = versions.index(version)
    return {label: mark[at] == '+' for label, mark in marks.items()}


def record(version, answers):
    """Writes a version's answers into its column."""
    versions, marks = table()
    if version not in versions:
        versions.append(version)
    at = versions.index(version)
    with open(os.path.join(HERE, 'answers.txt'), 'w', encoding='utf-8') as f:
        f.write(' '.join(versions) + '\n')
        for label, (theirs, _) in answers.items():
            mark = list(marks.get(label, '').ljust(len(versions), '?'))
            mark[at] = '+' if theirs[0] else '-'
            f.write(f'{"".join(mark)} {label}\n')


def version_of(python):
    """The version of a Python's Triton, as --triton-version has it."""
    said = subprocess.run(
        [python, '-c', 'import importlib.metadata as m; '
         'print(m.version("triton"))'], stdout=subprocess.PIPE, check=True,
        universal_newlines=True).stdout
    return '.'.join(said.split('.')[:2])


def read(path):
    """{name: (took, reason)}; of two lines on a name the later holds."""
    said = {}
    with open(path, encoding='utf-8') as f:
        for line in f:
            name, word, *why = line.rstrip('\n').split(' ', 2)
            said[name] = (word == 'ok', why[0] if why else word)
    return said


def run_all(command, out):
    """The answers that a command leaves in a file; started again when a kernel
    ends the process."""
    for _ in range(200):
        done = subprocess.run(command, stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL, timeout=1200,
                              check=False)
        if done.returncode == 0:
            break
    return read(out)


def run_theirs(python, path, wholly=()):
    out = path + ('.whole' if wholly else '.theirs')
    return run_all([python, os.path.join(HERE, 'theirs.py'), path, out,
                    *wholly], out)


def run_ours(options, path):
    out = path + '.ours'
    return run_all([options.tkdbg, 'run', '--python', options.python,
                    '--triton', 'ours', '--triton-version', options.version,
                    os.path.join(HERE, 'ours.py'), path, out], out)


def compare(chunk, options, folder):
    """{label: (Triton's answer, tkdbg's)} of some cases."""
    path = os.path.join(folder, 'kernels.py')
    for name in os.listdir(folder):
        os.remove(os.path.join(folder, name))
    with open(path, 'w', encoding='utf-8') as f:
        f.write(kernels.module(chunk))
    ours, theirs = run_ours(options, path), run_theirs(options.python, path)
    doubtful = [n for n in ours if theirs[n][0] and not ours[n][0]]
    if doubtful:
        theirs.update(run_theirs(options.python, path, doubtful))
    return {case.label: (theirs[f'k{i}'], ours[f'k{i}'])
            for i, case in enumerate(chunk)}


def put_differences(answers, wanted):
    """Prints those that are not known, and says how many there are."""
    unknown = 0
    for label, (theirs, ours) in answers.items():
        if theirs[0] == ours[0] or is_known(label, wanted):
            continue
        unknown += 1
        who, why = ('Triton', theirs) if ours[0] else ('tkdbg', ours)
        print(f'{label}\n    {who} refuses it: {why[1]}', flush=True)
    return unknown


def main():
    p = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    p.add_argument('--tkdbg', required=True)
    p.add_argument('--python', required=True)
    p.add_argument('--version')
    p.add_argument('--step', type=int, default=1)
    p.add_argument('--only', default='')
    p.add_argument('--record', action='store_true')
    options = p.parse_args()
    options.version = options.version or version_of(options.python)
    chosen = gate() if options.record else list(kernels.cases())[
        ::options.step]
    chosen = [c for c in chosen if options.only in c.label]
    answers, wanted, unknown = {}, known(options.version), 0
    with tempfile.TemporaryDirectory() as folder:
        for at in range(0, len(chosen), CHUNK):
            found = compare(chosen[at:at + CHUNK], options, folder)
            answers.update(found)
            unknown += put_differences(found, wanted)
    if options.record:
        record(options.version, answers)
    print(f'Triton {options.version}: {len(answers)} kernels, '
          f'{unknown} differences that are not known')
    return 1 if unknown else 0


if __name__ == '__main__':
    sys.exit(main())
