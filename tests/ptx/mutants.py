"""Puts faults into the PTX that Triton's compiler makes, as a compiler may, and
says of each whether `tkdbg diff --backend triton-ptx` finds it, and where.

    PYTHON tests/ptx/mutants.py --build BUILD [--places N] [--only TEXT]
                                [--show]

Of each kernel of mutated.py, for sm_80 and for sm_90, a fault of each of FAULTS
is put into N places (6), one at a time.  It is found if the run ends with a
finding, or a tensor is wrong; its line is named if the report names the line of
the PTX, or that of the kernel which the changed instruction was made from, by
its .loc.  What is found by values is named where the line is among those that
the wrong element came from.  PYTHON has Triton 3.6 or newer.  Exit status: 1 if
less of the faults is found than FOUND says, or less kinds are.
"""
import argparse
import collections
import ctypes
import itertools
import json
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))
sys.path[:0] = [os.path.join(ROOT, 'tests', 'random'),
                os.path.dirname(os.path.abspath(__file__))]
import ways  # noqa: E402  it says where tkdbg is
import mutated  # noqa: E402
import written  # noqa: E402
from tkdbg import _capi, triton_replay  # noqa: E402
from tkdbg.fuzz import ways as two_ways  # noqa: E402

ARCHS = 'sm_80', 'sm_90'
KINDS = 20    # kinds of faults of which one is found, at its line
FOUND = 0.75  # of all faults; the others are mostly none (docs/ptx.md)


def changed(group, change):
    """What stands in the place of a match: a group of it as a number, else."""
    def replace(match):
        lo, hi = (n - match.start() for n in match.span(group))
        text = match[0]
        return text[:lo] + str(change(int(match[group]))) + text[hi:]
    return replace


def swapped(a, b):
    """... two groups of it change places; a comes first."""
    def replace(match):
        text, at = match[0], match.start()
        (a0, a1), (b0, b1) = match.span(a), match.span(b)
        return (text[:a0 - at] + match[b] + text[a1 - at:b0 - at] + match[a] +
                text[b1 - at:])
    return replace


# What is done, where, and how.
FAULTS = (
    ('dropped barrier', r'bar\.sync\s+0;', ''),
    ('dropped wait for copies', r'cp\.async\.wait_group\s+\d+;', ''),
    ('wait for fewer copies', r'cp\.async\.wait_group\s+(\d+)',
     changed(1, lambda n: n + 2)),
    ('dropped group of copies', r'cp\.async\.commit_group;', ''),
    ('copy of fewer bytes', r'(?<=, 0x10, )%r\d+', '8'),
    ('wrong swizzle', r'xor\.b32\s+%r\d+, %r\d+, (\d+);',
     changed(1, lambda n: n * 2)),
    ('wrong address in shared memory',
     r'(?:ld|st)\.shared[.\w]*\s+[^;]*\[%r\d+\+(\d+)\]',
     changed(1, lambda n: n + 16)),
    ('wrong address of ldmatrix', r'ldmatrix[^;]*\[%r\d+\+(\d+)\]',
     changed(1, lambda n: n + 16)),
    ('wrong address in global memory',
     r'(?:ld|st)\.global[.\w]*\s+[^;]*\[ ?%rd\d+ \+ (\d+) ?\]',
     changed(1, lambda n: n + 16)),
    ('swapped registers of ldmatrix',
     r'ldmatrix[^{]*\{(%r\d+), (%r\d+)', swapped(1, 2)),
    ('swapped registers of mma',
     r'mma\.sync[^{]*\{[^}]*\}, \{ ?(%r\d+), (%r\d+)', swapped(1, 2)),
    ('swapped registers of a store',
     r'st\.(?:shared|global)\.v[24][^{]*\{ ?(%r\d+), (%r\d+)', swapped(1, 2)),
    ('dropped .trans of ldmatrix', r'(?<=\.x4)\.trans(?=\.)', ''),
    ('wrong lane of shfl', r'shfl\.sync\.\w+\.b32\s+%r\d+, %r\d+, (\d+)',
     changed(1, lambda n: n // 2 or 2)),
    ('wrong predicate', r'@(?=%p\d+ )', '@!'),
    ('wrong comparison', r'(?<=setp\.)(?:lt|gt|eq)(?=\.)', 'ne'),
    ('swapped choice', r'selp\.b32\s+%r\d+, (%?\w+), (%?\w+)', swapped(1, 2)),
    ('wrong shift', r'(?:shl|shr)\.\w+\s+%r\d+, %r\d+, (\d+)',
     changed(1, lambda n: n + 1)),
    ('wrong mask', r'and\.b32\s+%r\d+, %r\d+, (\d+)',
     changed(1, lambda n: n // 2)),
    ('subtracts', r'(?<!\.)\badd(?=\.(?:s32|f32|rn\.f32)\s)', 'sub'),
    ('dropped fence of the proxy', r'fence\.proxy\.async[.:\w]*;', ''),
    ('dropped wgmma.fence', r'wgmma\.fence\.sync\.aligned;', ''),
    ('dropped wait for wgmma', r'wgmma\.wait_group\.sync\.aligned\s+\d+;', ''),
    ('wait for fewer wgmma', r'wgmma\.wait_group\.sync\.aligned\s+(\d+)',
     changed(1, lambda n: n + 1)),
    ('dropped group of wgmma', r'wgmma\.commit_group\.sync\.aligned;', ''),
    ('dropped mbarrier.init', r'@%p\d+ mbarrier\.init[^;]*;', ''),
    ('mbarrier of too many', r'mbarrier\.init[^;]*\], (\d+);',
     changed(1, lambda n: n + 1)),
    ('fewer bytes expected', r'expect_tx[^;]*, (\d+);',
     changed(1, lambda n: n // 2)),
    ('more bytes expected', r'expect_tx[^;]*, (\d+);',
     changed(1, lambda n: n * 2)),
    ('missed wait for mbarrier',
     r'mbarrier\.try_wait[^;]* (?=complete,)complete, [^;]*;',
     'setp.eq.u32 complete, 0, 0;'),
    ('dropped bulk copy', r'@%p\d+ cp\.async\.bulk\.tensor[^;]*;', ''),
)
Mutant = collections.namedtuple('Mutant', 'fault kernel arch line source text')


# ---- faults ------------------------------------------------------------------

def source_line(ptx, at):
    """The kernel's line of an instruction."""
    found = re.findall(r'\.loc\s+\d+ (\d+)', ptx[:at])
    return int(found[-1]) if found else 0


def spread(places, n):
    """At most n of them, from everywhere."""
    return [places[i * len(places) // min(n, len(places))]
            for i in range(min(n, len(places)))]


def mutants_of(kernel, arch, code, places):
    ptx = code['ptx']
    for name, pattern, change in FAULTS:
        for match in spread(list(re.finditer(pattern, ptx)), places):
            new = change(match) if callable(change) else change
            text = ptx[:match.start()] + new + ptx[match.end():]
            if text != ptx:
                yield Mutant(name, kernel, arch,
                             ptx.count('\n', 0, match.start()) + 1,
                             source_line(ptx, match.start()), text)


# ---- runs --------------------------------------------------------------------

def kernels():
    for text in mutated.KERNELS.strip().split('\n\n\n'):
        kernel = written.Written(text)
        stages = re.search(r'num_stages=(\d)', text)
        if stages:
            kernel.launch_with(num_stages=int(stages[1]))
        yield kernel


class Compiler:
    """Gives the library what Triton makes of a launch, or a text instead."""

    def __init__(self):
        self.code, self.text = None, None
        self.function = _capi.CompilerFn(self.answer)

    def answer(self, _ud, file, arch, _why):
        if self.code is None:
            self.code = triton_replay.code(file.decode(), int(arch[3:]))
        text = self.text or self.code['ptx']
        with open(file, 'w', encoding='utf-8') as f:
            json.dump(dict(self.code, ptx=text), f)
        return True


def differences(lib, launch):
    for i in itertools.count():
        found = lib.tk_launch_difference(launch.launch, i)
        if not found:
            return
        yield found


def said_of(lib, kernel, arch, version, compiler):
    """What `tkdbg diff` says; "" if nothing differs."""
    said = []
    heard = _capi.OutputFn(lambda _, data, size: said.append(
        _capi.text(data, size)))
    with ways.Launch(lib, kernel, version) as launch:
        lib.tk_session_compiler(launch.session, compiler.function, None)
        lib.tk_session_output(launch.session, heard, None)
        try:
            launch.of_source().run(
                'interp', against=b'triton-ptx', arch=arch.encode(),
                bound=ctypes.pointer(two_ways.EXACT))
        except ways.Failed as e:
            return str(e)
        report = launch.report()
        wrong = any(d[0].wrong for d in differences(lib, launch))
    return report + ''.join(said) if wrong or 'error' in report else ''


def names_of_a_place(said, mutant):
    """Whether a report names the line of the PTX, or that of the kernel."""
    if re.search(rf'\.ptx:{mutant.line}:', said):
        return 'PTX'
    lines = set(re.findall(r'kernel\.py:(\d+)', said) +
                re.findall(r'^ +(\d+) \| ', said, re.M))
    return 'kernel' if str(mutant.source) in lines else ''


def kind_of(said):
    found = re.search(r'error: .*\[([a-z-]+)\]', said)
    return found[1] if found else 'values' if said else ''


def tried(lib, options):
    """(mutant, how it was found, which line was named) of each."""
    version = two_ways.triton_version()
    for kernel in kernels():
        for arch in ARCHS:
            compiler = Compiler()
            said = said_of(lib, kernel, arch, version, compiler)
            if said:
                sys.exit(f'{kernel.name}, {arch}: wrong without a fault: '
                         f'{said}')
            for m in mutants_of(kernel, arch, compiler.code, options.places):
                if options.only not in f'{m.fault} {kernel.name} {arch}':
                    continue
                compiler.text = m.text
                said = said_of(lib, kernel, arch, version, compiler)
                if options.show:
                    print(f'==== {m.fault}: {kernel.name}, {arch}, line '
                          f'{m.line}, kernel {m.source}\n{said}')
                yield m, kind_of(said), names_of_a_place(said, m)


# ---- what is said ------------------------------------------------------------

def row(name, results):
    found = [r for r in results if r[1]]
    ways_ = collections.Counter(r[1] for r in found)
    return (f'| {name} | {len(results)} | {len(found)} '
            f'| {sum(bool(r[2]) for r in found)} | '
            + ', '.join(f'{k} {n}' for k, n in ways_.most_common()) + ' |')


def report(results):
    by = collections.defaultdict(list)
    for r in results:
        by[r[0].fault].append(r)
    print('| fault | places | found | line named | as |\n'
          '| --- | --: | --: | --: | --- |')
    for name, some in by.items():
        print(row(name, some))
    print(row('**all**', results))
    for m, found, named in results:
        if not (found and named):
            print(f'{"line not named" if found else "not found"}: {m.fault}: '
                  f'{m.kernel.name}, {m.arch}, line {m.line} of the PTX, line '
                  f'{m.source} of the kernel')
    kinds = sum(any(f and n for _, f, n in some) for some in by.values())
    print(f'{kinds} of {len(by)} kinds of faults are found at the line')
    return kinds


def main():
    p = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    p.add_argument('--build', required=True)
    p.add_argument('--places', type=int, default=6)
    p.add_argument('--only', default='', metavar='TEXT')
    p.add_argument('--show', action='store_true')
    options = p.parse_args()
    os.environ['TKDBG_LIBRARY'] = os.path.join(
        os.path.abspath(options.build), 'libtkdbg.so')
    if not two_ways.triton_version():
        print('skipped: this Python has no Triton')
        return 0
    results = list(tried(two_ways.library(), options))
    kinds = report(results)
    found = sum(bool(f) for _, f, _ in results)
    return not options.only and (kinds < KINDS or found < FOUND * len(results))


if __name__ == '__main__':
    sys.exit(main())
