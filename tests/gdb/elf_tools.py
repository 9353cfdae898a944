"""What others' tools say of the symbols that gdb and lldb get.

    python3 tests/gdb/elf_tools.py --build build

Each example is run under a client that goes on and on, and the symbols of each
of its launches must please llvm-dwarfdump --verify, dwarfdump -ka and
eu-elflint: as those of x86-64, and of each fourth example, or of all with
ROWS=all, as those of aarch64.  A tool that is not installed is skipped by name.
"""
import argparse
import concurrent.futures
import glob
import os
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(ROOT, 'tests', 'support'))
import rows  # noqa: E402
from remote import Remote  # noqa: E402

SECONDS = 120
MACHINES = 'x86-64', 'aarch64'
MOST = 4  # launches of an example whose symbols are looked at
NAME = 'tests/gdb/elf_tools.py'


def llvm_dwarfdump():
    """Debian's names have a version behind them, if not the newest."""
    for name in ('llvm-dwarfdump', *(f'llvm-dwarfdump-{n}'
                                     for n in range(22, 11, -1))):
        if shutil.which(name):
            return name
    return None


def tools():
    """Name, command, and what its output must and must not hold."""
    yield 'llvm-dwarfdump', llvm_dwarfdump(), ['--verify'], 'No errors', ()
    yield ('dwarfdump', shutil.which('dwarfdump'), ['-ka'], '',
           ('*** DWARF CHECK', 'ERROR'))
    yield 'eu-elflint', shutil.which('eu-elflint'), ['--strict'], '', ()


def symbols(build, example, folder, machine):
    """Files of the example's launches, as that machine's."""
    elf = os.path.join(folder, f'{os.path.basename(example)}.{machine}.elf')
    argv = [f'{os.path.abspath(build)}/tkdbg', 'gdbserver', '--stdio',
            '--quiet', '--machine', machine, '--write-elf', elf, example]
    with Remote(argv, cwd=ROOT, stderr=subprocess.DEVNULL) as client:
        for _ in range(MOST):
            if client.ask('vCont;c')[:1] in 'WXN':
                break
    return sorted(glob.glob(elf + '*'))


def judge(build, example, folder, found, machines):
    """Lines of the outcome."""
    files = [file for machine in machines
             for file in symbols(build, example, folder, machine)]
    if not files:
        return [f'FAIL {example}: no symbols were written']
    lines = []
    for name, program, how, must, never in found:
        for file in files:
            done = subprocess.run([program, *how, file], text=True,
                                  stdout=subprocess.PIPE, timeout=SECONDS,
                                  stderr=subprocess.STDOUT)
            text = done.stdout
            if done.returncode or must not in text or any(
                    bad in text for bad in never):
                lines.append(f'FAIL {example} {os.path.basename(file)}: {name} '
                             f'says\n{text[:1000]}')
    return lines or [f'ok {example}']


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('--build', default='build')
    parser.add_argument('examples', nargs='*')
    options = parser.parse_args()
    found = []
    for tool in tools():
        if tool[1]:
            found.append(tool)
        else:
            print(f'SKIP {NAME}: {tool[0]} is not installed')
    examples = options.examples or sorted(
        os.path.relpath(path, ROOT)
        for path in glob.glob(os.path.join(ROOT, 'examples/*.py')))
    both = options.examples or rows.some(examples, 4)
    lines = []
    with tempfile.TemporaryDirectory() as folder, \
            concurrent.futures.ThreadPoolExecutor(2) as pool:
        for part in pool.map(lambda example: judge(
                options.build, example, folder, found,
                MACHINES if example in both else MACHINES[:1]), examples):
            lines += part
    print('\n'.join(lines))
    return any(line.startswith('FAIL') for line in lines)


if __name__ == '__main__':
    sys.exit(main())
