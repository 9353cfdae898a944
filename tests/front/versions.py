#!/usr/bin/env python3
"""Compares tkdbg with each version of Triton of versions.txt.

    python3 tests/front/versions.py --tkdbg BUILD/tkdbg --venvs FOLDER
                                    [--only X.Y] [--step N] [--part NAME]
                                    [--record]

Of each version that is installed in FOLDER, or that pip brings there, are
compared: which kernels its front end takes (front.py), the types and values of
the expressions of expressions.py, and what its Python modules export, with the
signatures (hosts.py).  Differences that neither known-PART.txt nor
known-PART-X.Y.txt has are printed; a table ends the output, with exit status 1
if there are any.  A version that cannot be had is named and left out.
--step N takes each Nth kernel and expression; --part chooses one comparison;
--record writes the answers of the gate's expressions to values.txt instead.
"""
import argparse
import collections
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import expressions  # noqa: E402
import front  # noqa: E402
import kernels  # noqa: E402

Row = collections.namedtuple('Row', 'version name packages')
CHUNK = 800
GATE_STEP = 43  # of all expressions, each so many-th is in the gate


def rows():
    with open(os.path.join(HERE, 'versions.txt'), encoding='utf-8') as f:
        lines = [line.split() for line in f if not line.startswith('#')]
    return [Row(words[0], words[1], words[2:]) for words in lines if words]


def environment(row, venvs):
    """(the Python that has that Triton, '') or (None, why there is none)."""
    folder = os.path.join(venvs, row.name)
    python = os.path.join(folder, 'bin', 'python')
    if not os.path.exists(python):
        for command in ([sys.executable, '-m', 'venv', folder],
                        [python, '-m', 'pip', 'install', '-q', *row.packages]):
            done = subprocess.run(command, stderr=subprocess.PIPE, text=True,
                                  check=False)
            if done.returncode:
                return None, (done.stderr.strip() or 'no reason').split(
                    '\n')[-1]
    found = front.version_of(python)
    if found != row.version:
        return None, f'{folder} has Triton {found}'
    return python, ''


# ---- kernels that are taken -------------------------------------------------

def acceptance(row, python, options):
    """(how many were compared, the differences) of front.py."""
    done = subprocess.run(
        [sys.executable, os.path.join(HERE, 'front.py'), '--tkdbg',
         options.tkdbg, '--python', python, '--version', row.version, '--step',
         str(options.step)], stdout=subprocess.PIPE, text=True, check=False)
    *lines, last = done.stdout.rstrip('\n').split('\n')
    return int(last.split()[2]), [
        f'{a.strip()}\n{b}' for a, b in zip(lines[::2], lines[1::2])]


# ---- types and values -------------------------------------------------------

def read(path):
    with open(path, encoding='utf-8') as f:
        return dict(line.rstrip('\n').split(' ', 1) for line in f)


def theirs_of(python, path):
    command = [python, os.path.join(HERE, 'values.py'), path, path + '.theirs']
    front.run_all(command, path + '.theirs')
    return read(path + '.theirs')


def ours_of(tkdbg, python, version, path):
    front.run_all(
        [tkdbg, 'run', '-q', '--python', python, '--triton', 'ours',
         '--triton-version', version, os.path.join(HERE, 'values.py'), path,
         path + '.ours', 'ours'], path + '.ours')
    return read(path + '.ours')


def differ(theirs, ours):
    """Whether two answers are not the same as far as both say."""
    a, b = theirs.split(' '), ours.split(' ')
    if a[0] != 'ok' or b[0] != 'ok':
        return a[0] != b[0]
    return a[1] != b[1] or (a[2] != '-' and a[2] != b[2])


def gate():
    """The expressions whose recorded answers the gate compares with."""
    return list(expressions.cases())[::GATE_STEP]


def recorded():
    """{label: {version: Triton's answer}} of values.txt."""
    with open(os.path.join(HERE, 'values.txt'), encoding='utf-8') as f:
        versions = f.readline().rstrip('\n').split('\t')
        lines = [line.rstrip('\n').split('\t') for line in f]
    return {label: dict(zip(versions, answers)) for label, *answers in lines}


def record(pythons):
    """Writes Triton's answers to the gate's expressions: {version: Python}.
    Why one is refused is left out."""
    chosen = gate()
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, 'kernels.py')
        with open(path, 'w', encoding='utf-8') as f:
            f.write(kernels.module(chosen))
        said = []
        for python in pythons.values():
            said.append(theirs_of(python, path))
            os.remove(path + '.theirs')
    with open(os.path.join(HERE, 'values.txt'), 'w', encoding='utf-8') as f:
        f.write('\t'.join(pythons) + '\n')
        for i, case in enumerate(chosen):
            answers = [a[f'k{i}'] for a in said]
            f.write('\t'.join([case.label, *(
                'no' if a.startswith('no') else a for a in answers)]) + '\n')


def compare_values(row, python, options, chosen, folder):
    """{label: (Triton's answer, tkdbg's)} of those that differ."""
    path = os.path.join(folder, 'kernels.py')
    for name in os.listdir(folder):
        os.remove(os.path.join(folder, name))
    with open(path, 'w', encoding='utf-8') as f:
        f.write(kernels.module(chosen))
    theirs = theirs_of(python, path)
    ours = ours_of(options.tkdbg, python, row.version, path)
    names = [n for n in theirs if differ(theirs[n], ours.get(n, 'no answer'))]
    # Much passes the front end, and not the compiler behind it.
    doubtful = [n for n in names if theirs[n].startswith('ok')
                and ours.get(n, 'no').startswith('no')]
    whole = front.run_theirs(python, path, doubtful) if doubtful else {}
    return {chosen[int(n[1:])].label: (theirs[n], ours.get(n, 'no answer'))
            for n in names if whole.get(n, (True,))[0]}


def values(row, python, options):
    chosen = list(expressions.cases())[::options.step]
    differences = {}
    with tempfile.TemporaryDirectory() as folder:
        for at in range(0, len(chosen), CHUNK):
            differences.update(compare_values(
                row, python, options, chosen[at:at + CHUNK], folder))
    wanted = front.known(row.version, 'known-values')
    return len(chosen), [
        f'{label}\n    Triton: {theirs}\n    tkdbg: {ours}'
        for label, (theirs, ours) in differences.items()
        if not front.is_known(label, wanted)]


# ---- what the host sees -----------------------------------------------------

def exported(command):
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True,
                          stderr=subprocess.DEVNULL, check=False)
    return dict(line.split(' ', 1) for line in done.stdout.splitlines())


def serves(theirs, ours):
    """Whether what calls Triton's may call ours: it may take more.  What an
    operation takes is known where it is called in a kernel."""
    if 'callable' in (theirs, ours) or ours == '(*args **kwargs)':
        return ours != 'value'
    wanted, has = theirs.strip('()').split(), ours.strip('()').split()
    names = [w.strip('?') for w in wanted]
    shared = [w for w in has if w.strip('?') in names]
    more = [w for w in has if w not in shared]
    return (theirs[0] == ours[0] == '('
            and [w.strip('?') for w in shared] == names
            and all(h.endswith('?') or not w.endswith('?')
                    for h, w in zip(shared, wanted))
            and all(w.endswith('?') or w.startswith('*') for w in more))


def hosts(row, python, options):
    script = os.path.join(HERE, 'hosts.py')
    theirs = exported([python, script])
    ours = exported([options.tkdbg, 'run', '-q', '--python', python,
                     '--triton', 'ours', '--triton-version', row.version,
                     script])
    wanted = front.known(row.version, 'known-hosts')
    return len(theirs), [
        f'{name}\n    Triton: {theirs[name]}\n    tkdbg: '
        f'{ours.get(name, "missing")}'
        for name in theirs
        if not (name in ours and (theirs[name] == ours[name]
                                  or serves(theirs[name], ours[name])))
        and not front.is_known(name, wanted)]


# ---- all of them ------------------------------------------------------------

PARTS = {'kernels': acceptance, 'values': values, 'hosts': hosts}


def put_table(lines):
    """lines: (version, {part: (compared, unknown)} or the reason)."""
    print(f'{"Triton":8}' + ''.join(f'{p:>18}' for p in PARTS))
    for version, found in lines:
        if isinstance(found, str):
            print(f'{version:8}  left out: {found}')
            continue
        print(f'{version:8}' + ''.join(
            f'{f"{found[p][1]} of {found[p][0]}" if p in found else "-":>18}'
            for p in PARTS))
    print('Each entry: differences that are not known, of how many compared.')


def main():
    p = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    p.add_argument('--tkdbg', required=True)
    p.add_argument('--venvs', required=True)
    p.add_argument('--only', default='')
    p.add_argument('--part', choices=PARTS)
    p.add_argument('--step', type=int, default=1)
    p.add_argument('--record', action='store_true')
    options = p.parse_args()
    if options.record:
        found = {row.version: environment(row, options.venvs)[0]
                 for row in rows()}
        record({v: python for v, python in found.items() if python})
        return 0
    lines, unknown = [], 0
    for row in rows():
        if options.only not in ('', row.version):
            continue
        python, why = environment(row, options.venvs)
        found = {}
        for part, compare in PARTS.items():
            if not python or options.part not in (None, part):
                continue
            compared, differences = compare(row, python, options)
            for text in differences:
                print(f'Triton {row.version}, {part}: {text}', flush=True)
            found[part] = compared, len(differences)
            unknown += len(differences)
        lines.append((row.version, found if python else why))
    put_table(lines)
    return 1 if unknown else 0


if __name__ == '__main__':
    sys.exit(main())
