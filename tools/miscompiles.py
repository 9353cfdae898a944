"""Writes a table of docs/validation.md: which of the kernels there that a
Triton gets wrong `tkdbg diff --backend triton-ptx` finds, without a GPU.

    python3 tools/miscompiles.py --build BUILD --venvs FOLDER [--write]

Each Triton that tools/ptx_coverage.py counts compiles each kernel for sm_80 and
for sm_90.  --write puts the table into tests/random/validation.md, which is a
part of the page, and into the page.
"""
import argparse
import os
import sys
import tempfile

from page import ROOT, between, read
from ptx_coverage import ARCHS, pythons_of, step_of

sys.path.insert(0, os.path.join(ROOT, 'tests', 'random'))
import ways  # noqa: E402
import written  # noqa: E402

BEGIN = '<!-- miscompiles: make miscompiles -->'
END = '<!-- end of miscompiles -->'
SOURCE = os.path.join('tests', 'random', 'validation.md')
PAGE = os.path.join('docs', 'validation.md')
# What a kernel is called that comes as far as ptx_coverage.STEPS says.
WORDS = {'kernels': 'no code', 'compiled': 'not run', 'run': 'wrong',
         'agree': 'right'}


def records(lib, folder):
    """{kernel: its launch file}, in the language of Triton 3.6, in which all of
    them are written."""
    found = {}
    for kernel in written.kernels(os.path.join(ROOT, SOURCE)):
        path = os.path.join(folder, kernel.name + '.safetensors')
        with ways.Launch(lib, kernel, '3.6') as one:
            one.of_source()
            one.check(lib.tk_launch_record(one.launch, path.encode()))
        found[kernel.name] = path
    return found


def rows_of(tkdbg, pythons, paths):
    """The table's rows but its head: a kernel and its cells, then sums."""
    found = {}
    for kernel, path in paths.items():
        found[kernel] = [
            WORDS[step_of(tkdbg, python, arch, path)[0]]
            for python in pythons.values() for arch in ARCHS]
        print(f'{kernel}: {", ".join(found[kernel])}', flush=True)
        yield f'| `{kernel}` | ' + ' | '.join(found[kernel]) + ' |'
    for word in WORDS.values():
        sums = [column.count(word) for column in zip(*found.values())]
        if any(sums):
            yield f'| **{word}** | ' + ' | '.join(map(str, sums)) + ' |'


def table(tkdbg, pythons, paths):
    columns = [f'{version}, {arch}' for version in pythons for arch in ARCHS]
    return '\n'.join(['| kernel | ' + ' | '.join(columns) + ' |',
                      '| --- |' + ' --- |' * len(columns),
                      *rows_of(tkdbg, pythons, paths)])


def main():
    p = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    p.add_argument('--build', required=True, type=os.path.abspath)
    p.add_argument('--venvs', required=True)
    p.add_argument('--write', action='store_true')
    options = p.parse_args()
    os.environ['TKDBG_LIBRARY'] = os.path.join(options.build, 'libtkdbg.so')
    pythons = pythons_of(options.venvs)
    if not pythons:
        return 0
    with tempfile.TemporaryDirectory(prefix='tkdbg-') as folder:
        made = table(os.path.join(options.build, 'tkdbg'), pythons,
                     records(ways._capi.load(), folder))
    print(made)
    for path in (SOURCE, PAGE) if options.write else ():
        text = between(read(path), BEGIN, END, made)
        with open(os.path.join(ROOT, path), 'w', encoding='utf-8') as f:
            f.write(text)
    return 0


if __name__ == '__main__':
    sys.exit(main())
