"""Measures whether `tkdbg why` names the line of a bug in realistic programs.

    python3 tests/why/corpus.py --build BUILD [--only TEXT] [--jobs N]
                                [--every N] [--limit SECONDS] [--show]

programs/ holds correct programs, each a family: several kernels, helpers two
levels deep, launches that feed each other, and a comparison at the end.  Each
must pass under `tkdbg run --check`, which must say nothing about it.  bugs.txt
holds bugs of one line, as that file says.  A program with one of them must
fail its own comparison, and then runs under `tkdbg why`.  The line is

  first   one of the first three suspects of the report, or next to one,
  named   anywhere in the report, or next to a line that is,
  absent  not there.

A row that begins with "=!" is a program that stops at a bad access, far from
the line that is to blame; these are counted apart.

--only takes the bugs that have TEXT in 'PROGRAM: KIND: WHAT', --every each
N-th of these, and --show prints the reports.  Each of the N jobs has its share
of the processors to itself, since why tries as many changes as these allow.

The exit status is 1 if a correct program is not silent, if a program with a bug
does not end as it must, or, where all bugs are tried, if fewer are first or
named than NEEDED says.
"""
import argparse
import collections
import concurrent.futures
import contextlib
import dataclasses
import os
import queue
import re
import subprocess
import sys
import tempfile
import time
from typing import Iterator, List, Optional, Sequence, Set, Tuple

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
PROGRAMS = os.path.join(HERE, 'programs')
KINDS = {
    'arguments': 'the host passes the wrong value, or swaps two',
    'axis': 'the wrong axis of a block',
    'base': 'exp for exp2, or log2(e) is missing',
    'comparison': '< for <= and the like',
    'div-mod': '// for %, or another divisor',
    'dtype': 'the type of an accumulator or a cast',
    'grid': 'too few programs, or too many',
    'head': 'the mapping of query heads to key heads',
    'inclusive': 'an inclusive sum for an exclusive one',
    'initial': 'what a loop or a sum starts with, or = for +=',
    'launch': 'a launch or a step between launches is missing',
    'limit': 'the end of a range or a constant is off',
    'mask': 'a mask that is missing or too wide',
    'operand': 'another value than is meant',
    'other': 'what fills the lanes that are masked off',
    'rescale': 'a factor that is missing or stands too often',
    'sign': '+ for -',
    'stride': 'the step of an address',
    'stride-arg': 'the host passes the stride of something else',
    'swapped': 'two things are exchanged',
    'zeroed': 'a buffer still holds what was in it',
}
VERDICTS = 'first', 'named', 'absent'
# 45 and 56 of 60.
NEEDED = {'first': 0.75, 'named': 0.93}
SUSPECTS = 3


@dataclasses.dataclass(frozen=True)
class Bug:
    """A row of bugs.txt."""
    program: str
    kind: str
    what: str
    old: str
    which: int  # of the lines that have the old text, from 0
    new: str
    stops: bool  # at a bad access, before it compares anything

    def name(self) -> str:
        return f'{self.program}: {self.kind}: {self.what}'

    def planted(self) -> Tuple[str, int]:
        """The text of the program with the bug, and the bug's line.  For a
        line that is removed, that is the one that followed it."""
        lines = program(self.program).split('\n')
        found = [i for i, line in enumerate(lines) if self.old in line]
        if self.which >= len(found) or (self.which < 0 and len(found) != 1):
            raise ValueError(f'{self.name()}: {len(found)} lines have '
                             f'{self.old!r}')
        at = found[max(self.which, 0)]
        if self.new:
            lines[at] = lines[at].replace(self.old, self.new)
        else:
            del lines[at]
        return '\n'.join(lines), at + 1


@dataclasses.dataclass(frozen=True)
class Tried:
    """What became of a bug."""
    bug: Bug
    line: int
    verdict: str  # of VERDICTS, or what is wrong with the row
    report: str
    seconds: float


# ---- the programs and the bugs ---------------------------------------------

def programs() -> List[str]:
    return sorted(name[:-3] for name in os.listdir(PROGRAMS)
                  if name.endswith('.py'))


def program(name: str) -> str:
    with open(os.path.join(PROGRAMS, name + '.py'), encoding='utf-8') as f:
        return f.read()


ROW = re.compile(r'=([=!]) (\w+): ([\w-]+): (.+)\n-(\d*) (.+)\n\+ ?(.*)\n')


def bugs() -> List[Bug]:
    with open(os.path.join(HERE, 'bugs.txt'), encoding='utf-8') as f:
        text = f.read()
    rows = [Bug(name, kind, what, old, int(nth or 0) - 1, new.strip(),
                mark == '!')
            for mark, name, kind, what, nth, old, new in ROW.findall(text)]
    left = [line for line in ROW.sub('', text).split('\n')
            if line and not line.startswith('#')]
    if left:
        raise ValueError(f'bugs.txt: {left[0]!r} belongs to no row')
    for row in rows:
        if row.kind not in KINDS:
            raise ValueError(f'{row.name()}: no such kind')
    return rows


# ---- reports ---------------------------------------------------------------

def suspects(report: str, file: str) -> List[int]:
    """The lines that a report lists under 'suspects:', the first one first."""
    header = re.search(r'^( *)suspects:.*\n', report, re.M)
    if not header:
        return []
    found = []
    for line in report[header.end():].split('\n'):
        if len(line) - len(line.lstrip(' ')) <= len(header.group(1)):
            break
        at = re.match(rf'\s+(?:\S*/)?{re.escape(file)}:(\d+): ', line)
        if at:
            found.append(int(at.group(1)))
    return found


def named(report: str, file: str) -> Set[int]:
    """The lines of a file that a report names or shows."""
    return {int(n) for pair in re.findall(
        rf'\b{re.escape(file)}:(\d+)|^ +(\d+) \|', report, re.M)
        for n in pair if n}


def verdict(report: str, file: str, line: int) -> str:
    def has(lines: Sequence[int]) -> bool:
        return any(abs(n - line) <= 1 for n in lines)
    if has(suspects(report, file)[:SUSPECTS]):
        return 'first'
    return 'named' if has(sorted(named(report, file))) else 'absent'


# ---- running ---------------------------------------------------------------

class Processors:
    """Those of this machine, dealt out to so many jobs."""

    def __init__(self, jobs: int) -> None:
        mine = sorted(os.sched_getaffinity(0))
        self.free: queue.Queue[Set[int]] = queue.Queue()
        for first in range(jobs):
            self.free.put(set(mine[first::jobs]) or set(mine))

    @contextlib.contextmanager
    def share(self) -> Iterator[Set[int]]:
        taken = self.free.get()
        try:
            yield taken
        finally:
            self.free.put(taken)


def tkdbg(build: str, words: Sequence[str], cwd: str, limit: float,
          on: Optional[Set[int]] = None) -> Tuple[Optional[int], str]:
    """(exit status, or None where the time was up; all that was said), on
    these processors"""
    command = [os.path.join(build, 'tkdbg'), *words]
    if on:
        command = ['taskset', '-c', ','.join(map(str, sorted(on))), *command]
    env = dict(os.environ, NO_COLOR='1', LC_ALL='C.UTF-8', COLUMNS='80')
    try:
        done = subprocess.run(command, cwd=cwd, env=env,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, timeout=limit)
    except subprocess.TimeoutExpired:
        return None, ''
    return done.returncode, done.stdout.decode('utf-8', 'replace')


def noise(build: str, name: str, limit: float = 60) -> str:
    """What `run --check` says of a correct program; nothing is right."""
    status, said = tkdbg(build, ['run', '-q', '--check', name + '.py'],
                         PROGRAMS, limit)
    if status is None:
        return f'no end after {limit} s'
    if status or said != 'ok\n':
        return f'{said}\nexit status {status}'
    return ''


def ending(status: Optional[int], report: str) -> str:
    """How a program ended: 'fails' is by its own comparison, and 'stops' by a
    bad access in a kernel."""
    if status is None:
        return 'no end'
    if not status:
        return 'passes'
    if re.search(r'^(AssertionError|FAILED)\b', report, re.M):
        return 'fails'
    return 'stops' if '[out-of-bounds]' in report else 'breaks'


def tried(build: str, bug: Bug, limit: float = 120,
          on: Optional[Set[int]] = None) -> Tried:
    text, line = bug.planted()
    file = bug.program + '.py'
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, file), 'w', encoding='utf-8') as f:
            f.write(text)
        start = time.monotonic()
        status, report = tkdbg(build, ['why', '-q', file], folder, limit, on)
        seconds = time.monotonic() - start
    how = ending(status, report)
    if how == ('stops' if bug.stops else 'fails'):
        how = verdict(report, file, line)
    return Tried(bug, line, how, report, seconds)


# ---- the tables ------------------------------------------------------------

def row(name: str, results: Sequence[Tried]) -> str:
    count = collections.Counter(r.verdict for r in results)
    cells = [count[v] for v in VERDICTS]
    seconds = sorted(r.seconds for r in results)[len(results) // 2]
    return (f'{name:20} {len(results):5}' +
            ''.join(f'{n:8}' for n in cells) + f'{seconds:8.1f}')


def table(results: Sequence[Tried], of: str) -> Iterator[str]:
    """Rows by 'program' or 'kind' of bugs; one of those that stop at a bad
    access; one of all others."""
    yield f'{of:20} {"bugs":>5}' + ''.join(
        f'{v:>8}' for v in (*VERDICTS, 'seconds'))
    groups = collections.defaultdict(list)
    for r in results:
        groups['(stop)' if r.bug.stops else getattr(r.bug, of)].append(r)
    for name, group in sorted(groups.items()):
        yield row(name, group)
    compared = [r for r in results if not r.bug.stops]
    if compared:
        yield row('all that compare', compared)


def shares(results: Sequence[Tried]) -> Iterator[str]:
    """What is below the bars, of the programs that compare."""
    results = [r for r in results if not r.bug.stops]
    count = collections.Counter(r.verdict for r in results)
    reached = {'first': count['first'],
               'named': count['first'] + count['named']}
    for name, n in reached.items():
        if n < NEEDED[name] * len(results):
            yield (f'{n} of {len(results)} are {name}; '
                   f'{NEEDED[name]:.0%} are needed')


def measure(args: argparse.Namespace, chosen: Sequence[Bug]) -> List[Tried]:
    results = []
    processors = Processors(args.jobs)

    def on_a_share(bug: Bug) -> Tried:
        with processors.share() as share:
            return tried(args.build, bug, args.limit, share)
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        for r in pool.map(on_a_share, chosen):
            print(f'{r.verdict:7} {r.seconds:5.1f} s  {r.bug.name()} '
                  f'(line {r.line})', flush=True)
            if args.show:
                print(r.report)
            results.append(r)
    return results


def silent(args: argparse.Namespace, names: Sequence[str]) -> bool:
    fine = True
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        said = pool.map(lambda n: noise(args.build, n, args.limit), names)
        for name, text in zip(names, said):
            if text:
                print(f'{name}.py is correct and should be silent:\n{text}')
                fine = False
    return fine


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument('--build', default='build')
    parser.add_argument('--only', default='', metavar='TEXT')
    parser.add_argument('--every', type=int, default=1, metavar='N')
    parser.add_argument('--jobs', type=int, default=os.cpu_count())
    parser.add_argument('--limit', type=float, default=120, metavar='SECONDS')
    parser.add_argument('--show', action='store_true')
    args = parser.parse_args()
    args.build = os.path.abspath(args.build)
    chosen = [b for b in bugs() if args.only in b.name()][::args.every]
    if not chosen:
        parser.error(f'no bug has {args.only!r}')
    fine = silent(args, sorted({b.program for b in chosen}))
    results = measure(args, chosen)
    for of in 'program', 'kind':
        print('', *table(results, of), sep='\n')
    bad = [f'{r.bug.name()}: {r.verdict}' for r in results
           if r.verdict not in VERDICTS]
    if len(chosen) == len(bugs()):
        bad += shares(results)
    print(*bad, sep='\n')
    return 1 if bad or not fine else 0


if __name__ == '__main__':
    sys.exit(main())
