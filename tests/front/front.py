#!/usr/bin/env python3
"""Compares what Triton's compiler takes with what tkdbg takes.

    python3 tests/front/front.py --tkdbg BUILD/tkdbg --python PYTHON
                                 [--step N] [--only TEXT] [--record]

PYTHON has Triton 3.6, PyTorch and NumPy; no GPU is needed.  Each kernel of
kernels.py is given to both.  Where Triton's front end takes what tkdbg
refuses, the whole compiler is asked: much passes the one and not the other.
What is left and does not stand in known.txt is printed; exit status 1.
--step N takes each Nth kernel, --only those with TEXT in their label.
--record writes Triton's answers to the kernels of the gate, answers.txt.
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


def known():
    """[(pattern of a label, reason)] of the differences that are wanted."""
    with open(os.path.join(HERE, 'known.txt'), encoding='utf-8') as f:
        lines = [line.rstrip('\n') for line in f if line.strip()
                 and not line.startswith('#')]
    return [(re.compile(pattern), reason) for pattern, reason in
            (line.split('  ', 1) for line in lines)]


def is_known(label, differences):
    return any(p.match(label) for p, _ in differences)


def gate():
    return [case for i, case in enumerate(kernels.cases())
            if i % GATE_STEP == 0
            or case.label.startswith(WHOLE)]


def recorded():
    """Triton's answers by label: whether it takes the kernel."""
    path = os.path.join(HERE, 'answers.txt')
    with open(path, encoding='utf-8') as f:
        lines = [line.rstrip('\n') for line in f]
    return {label: said == 'ok' for said, _, label in
            (line.partition(' ') for line in lines)}


def read(path):
    """{name: (took, reason)}; of two lines on a name the later holds."""
    said = {}
    with open(path, encoding='utf-8') as f:
        for line in f:
            name, word, *why = line.rstrip('\n').split(' ', 2)
            said[name] = (word == 'ok', why[0] if why else word)
    return said


def run_theirs(python, path, wholly=()):
    """Triton's answers; started again when a kernel ends the process."""
    out = path + ('.whole' if wholly else '.theirs')
    for _ in range(200):
        r = subprocess.run([python, os.path.join(HERE, 'theirs.py'), path,
                            out, *wholly], stdout=subprocess.DEVNULL,
                           stderr=subprocess.DEVNULL, timeout=1200,
                           check=False)
        if r.returncode == 0:
            break
    return read(out)


def compare(chunk, options, folder):
    """{label: (Triton's answer, tkdbg's)} of some cases."""
    path = os.path.join(folder, 'kernels.py')
    for name in os.listdir(folder):
        os.remove(os.path.join(folder, name))
    with open(path, 'w', encoding='utf-8') as f:
        f.write(kernels.module(chunk))
    subprocess.run([options.tkdbg, 'run', '--python', options.python,
                    '--triton', 'ours', os.path.join(HERE, 'ours.py'), path,
                    path + '.ours'], check=False, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL)
    ours, theirs = read(path + '.ours'), run_theirs(options.python, path)
    doubtful = [n for n in ours if theirs[n][0] and not ours[n][0]]
    if doubtful:
        theirs.update(run_theirs(options.python, path, doubtful))
    return {case.label: (theirs[f'k{i}'], ours[f'k{i}'])
            for i, case in enumerate(chunk)}


def main():
    p = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    p.add_argument('--tkdbg', required=True)
    p.add_argument('--python', required=True)
    p.add_argument('--step', type=int, default=1)
    p.add_argument('--only', default='')
    p.add_argument('--record', action='store_true')
    options = p.parse_args()
    chosen = gate() if options.record else list(kernels.cases())[
        ::options.step]
    chosen = [c for c in chosen if options.only in c.label]
    answers, differences, unknown = {}, known(), 0
    with tempfile.TemporaryDirectory() as folder:
        for at in range(0, len(chosen), CHUNK):
            answers.update(compare(chosen[at:at + CHUNK], options, folder))
    for label, (theirs, ours) in answers.items():
        if theirs[0] == ours[0] or is_known(label, differences):
            continue
        unknown += 1
        who, why = ('Triton', theirs) if ours[0] else ('tkdbg', ours)
        print(f'{label}\n    {who} refuses it: {why[1]}')
    if options.record:
        with open(os.path.join(HERE, 'answers.txt'), 'w',
                  encoding='utf-8') as f:
            for label, (theirs, _) in answers.items():
                f.write(f'{"ok" if theirs[0] else "no"} {label}\n')
    print(f'{len(answers)} kernels, {unknown} differences that are not known')
    return 1 if unknown else 0


if __name__ == '__main__':
    sys.exit(main())
