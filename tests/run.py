"""Runs every test and adds them up.

    python3 tests/run.py --build BUILD [--fast] [--all-rows] [--only TEXT]
                         [--patience N] [--done FILE] [SUITE ...]

Suites, in order:
  c        tests/*/test_*.c (Check programs) and examples/*.c, as built
  python   tests/python (unittest), under a Python that has NumPy
  cli      tests/cli/*.sh; see tests/support/check.sh
  debug    tests/debug/*.txt: sessions with the debugger, as run.py there says;
           what may happen to its terminal (terminal_trouble.py), what Tab
           completes (completion.py), what keys do (editing.py), and that going
           back finds who wrote an element (last_writer.py)
  dap      tests/dap/cases_*.py: sessions of editors, as run.py there says
  gdb      tests/gdb/*.txt and docs/gdb.md: sessions with gdb and lldb, as
           run.py there says; every command through `monitor`
           (every_command.py), what tools say of the symbols (elf_tools.py)
  docs     transcripts: tests/cli/*.txt and the console blocks of README.md
           and docs/*.md, as 'text' in tests/support/transcript.py says

Each program, script and file of a suite is a unit.  As many units run at the
same time as there are processors, the longest first (as BUILD/test-times.json
remembers from the last run); what they print is kept apart and comes in the
order of the units, whichever ends first.  A unit that reports no test, or does
not end, has failed.  Of tables with hundreds of rows that each start a process
or two (IN_PART) only some are tried, the same ones each time, but for
--all-rows.  BUILD/test-passed names the units that ran in full, of which
nothing failed and nothing was skipped: for --done, where the same tree is
tested again.

Each test that fails or is skipped is named, with the reason.  The last line
is 'N passed, N failed, N skipped'.
"""
import argparse
import concurrent.futures
import functools
import glob
import json
import os
import re
import shlex
import signal
import subprocess
import sys
import tempfile
import threading
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(ROOT, 'tests', 'support'))
import rows  # noqa: E402
import transcript  # noqa: E402

TIMEOUT = 400

# Tables of which some rows are tried, but with --all-rows (support/rows.py).
IN_PART = {'tests/cli/options.sh', 'tests/cli/ctrl_c.sh',
           'tests/gdb/elf_tools.py', 'tests/python/test_prove.py',
           'tests/python/test_why_corpus.py'}

# What --fast leaves out: what takes more than a second.
SLOW = {
    'tests/accuracy/test_accuracy', 'tests/cli/codegen.sh',
    'tests/cli/ctrl_c.sh', 'tests/cli/debugger.sh', 'tests/cli/diff_changed.sh',
    'tests/cli/findings.sh', 'tests/cli/install.sh', 'tests/cli/options.sh',
    'tests/cli/random.sh', 'tests/cli/script.sh', 'tests/cli/terminal.sh',
    'tests/dap/cases_clients.py', 'tests/dap/cases_stops.py',
    'tests/dap/cases_values.py', 'tests/debug/completion.py',
    'tests/debug/editing.py', 'tests/debug/last_writer.py',
    'tests/debug/terminal_trouble.py', 'tests/debug/test_reverse',
    'tests/fuzz/test_large', 'tests/fuzz/test_seeds', 'tests/gdb/elf_tools.py',
    'tests/gdb/every_command.py', 'tests/interp/test_convert',
    'tests/launch/test_files', 'tests/python/test_carried.py',
    'tests/python/test_checks.py', 'tests/python/test_cuda.py',
    'tests/python/test_cutile.py', 'tests/python/test_cutile_puzzles.py',
    'tests/python/test_cutile_tools.py', 'tests/python/test_docs.py',
    'tests/python/test_examples.py', 'tests/python/test_front.py',
    'tests/python/test_fuzz.py', 'tests/python/test_hostlines.py',
    'tests/python/test_inductor.py', 'tests/python/test_large.py',
    'tests/python/test_launch_mistakes.py', 'tests/python/test_main.py',
    'tests/python/test_notebook.py', 'tests/python/test_other_sizes.py',
    'tests/python/test_planted.py', 'tests/python/test_planted_right.py',
    'tests/python/test_prove.py', 'tests/python/test_puzzles.py',
    'tests/python/test_puzzles_page.py', 'tests/python/test_puzzles_watch.py',
    'tests/python/test_pytest.py', 'tests/python/test_repairs.py',
    'tests/python/test_sources.py', 'tests/python/test_takeover.py',
    'tests/python/test_vcuda.py', 'tests/python/test_view_page.py',
    'tests/python/test_wholes.py', 'tests/python/test_why.py',
    'tests/python/test_why_corpus.py'}
# ... and all but each fourth file of sessions with the debugger and gdb.
SLICE = 4


class Outcome:
    """What became of the tests of one unit."""

    def __init__(self):
        self.passed = self.failed = self.skipped = 0
        self.seconds = 0.0
        self.lines = []

    def skip(self, name, reason):
        self.skipped += 1
        self.lines.append(f'SKIP {name}: {reason}')

    def fail(self, name, output, n=1):
        self.failed += n
        self.lines.append(f'FAIL {name}')
        if output.strip():
            self.lines.append('  ' + output.rstrip().replace('\n', '\n  '))

    def note_skips(self, output, pattern):
        for name, reason in re.findall(pattern, output, re.M):
            self.skip(name, reason)

    def must_count(self, name, output):
        if not self.passed + self.failed + self.skipped:
            self.fail(name, f'{output}\nit reports no test')


class Unit:
    """A part of a suite that runs by itself: test(outcome)."""

    def __init__(self, suite, name, test):
        self.suite, self.name, self.test = suite, name, test

    def full_name(self):
        """A page of the manual may be in two suites."""
        return f'{self.suite} {self.name}'


# ---- processes -------------------------------------------------------------

class Processes:
    """Those that run now; each is the leader of a session of its own, so that
    it can be ended together with all that it started."""

    def __init__(self):
        self.lock, self.running, self.ending = threading.Lock(), set(), False

    def start(self, argv, **how):
        with self.lock:
            if self.ending:
                raise OSError('interrupted')
            p = subprocess.Popen(argv, stdin=subprocess.DEVNULL,
                                 stdout=subprocess.PIPE,
                                 stderr=subprocess.STDOUT,
                                 start_new_session=True, **how)
            self.running.add(p)
        return p

    def done(self, p):
        with self.lock:
            self.running.discard(p)

    def end_all(self):
        with self.lock:
            self.ending = True
            for p in self.running:
                end(p)


def end(p):
    try:
        os.killpg(p.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


PROCESSES = Processes()


def run(argv, env=None, cwd=ROOT):
    """Exit status and merged output; a timeout is status 124."""
    full = dict(os.environ, NO_COLOR='1', LC_ALL='C.UTF-8', **(env or {}))
    try:
        p = PROCESSES.start(argv, env=full, cwd=cwd)
    except OSError as e:
        return 127, str(e)
    try:
        output, late = p.communicate(timeout=TIMEOUT)[0], ''
    except subprocess.TimeoutExpired:
        end(p)
        late = f'\nno end after {TIMEOUT} s'
        try:
            output = p.communicate(timeout=5)[0]
        except subprocess.TimeoutExpired as e:
            output = e.stdout or b''
    finally:
        PROCESSES.done(p)
    return 124 if late else p.returncode, output.decode('utf-8',
                                                        'replace') + late


# ---- suites ----------------------------------------------------------------

CHECKS = re.compile(r'Checks: (\d+), Failures: (\d+), Errors: (\d+)')


def c_program(out, path, name):
    """A Check program; an example, which has no count, is one test."""
    status, output = run([path])
    found = CHECKS.findall(output)
    if not found and name.startswith('examples/'):
        found = [(1, 0, 0)]
    bad = sum(int(f) + int(e) for _, f, e in found)
    if status and not bad:
        bad = 1
    out.passed += max(sum(int(n) for n, _, _ in found) - bad, 0)
    if bad:
        out.fail(name, f'{output}\nexit status {status}', bad)
    out.note_skips(output, r'^SKIP ([^:\n]+): (.*)$')
    out.must_count(name, output)


def suite_c(build):
    for pattern in 'tests/*/test_*.c', 'examples/*.c':
        for source in sorted(glob.glob(pattern)):
            name = source[:-2]
            yield name, functools.partial(
                c_program, path=os.path.join(build, name), name=name)


def find_python():
    """A Python with NumPy: $PYTHON, python3 on PATH, /usr/bin/python3."""
    find = ('import sys, importlib.util as u;'
            'print(sys.executable); sys.exit(not u.find_spec("numpy"))')
    for p in os.environ.get('PYTHON'), 'python3', '/usr/bin/python3':
        if p:
            status, output = run([p, '-c', find])
            if status == 0:
                return output.strip()
    return None


def unittest_counts(output):
    ran = re.search(r'^Ran (\d+) tests?', output, re.M)
    n = int(ran.group(1)) if ran else 0

    def count(word):
        found = re.search(word + r'=(\d+)', output[ran.end():] if ran else '')
        return int(found.group(1)) if found else 0
    return n, count('failures') + count('errors'), count('skipped')


# "test_x (module.Class.test_x)", perhaps a line of its docstring, then
# "... skipped 'reason'".
SKIPPED = re.compile(
    r'^(\w+ \(\S+\))(?:\n[^\n]*)? \.\.\. skipped [\'"](.*)[\'"]$', re.M)


def sanitizer_first():
    """A sanitized library wants its runtime to be in Python first."""
    if 'address' not in os.environ.get('SANITIZE', ''):
        return {}
    _, path = run([*shlex.split(os.environ.get('CC') or 'cc'),
                   '-print-file-name=libasan.so'])
    return {'LD_PRELOAD': path.strip(), 'ASAN_OPTIONS': 'detect_leaks=0'}


def python_file(out, path, python, env):
    status, output = run([python, '-m', 'unittest', 'discover', '-v', '-s',
                          'tests/python', '-p', os.path.basename(path)], env)
    n, bad, skipped = unittest_counts(output)
    out.lines += [f'SKIP {name}: {reason}'
                  for name, reason in SKIPPED.findall(output)]
    out.skipped += skipped
    if status and not bad:
        bad = 1
    out.passed += max(n - bad - skipped, 0)
    if bad:
        out.fail(path, f'{output}\nexit status {status}', bad)
    out.must_count(path, output)


def suite_python(build):
    python = find_python()
    if not python:
        yield 'tests/python', lambda out: out.skip('tests/python',
                                                   'no Python with NumPy')
        return
    print(f'python: {python}')
    env = {'PYTHONPATH': os.path.join(ROOT, 'python'),
           'TKDBG_LIBRARY': os.path.join(build, 'libtkdbg.so'),
           'BUILD': build,
           **sanitizer_first()}
    for path in sorted(glob.glob('tests/python/test_*.py')):
        yield path, functools.partial(python_file, path=path, python=python,
                                      env=env)


def cli_script(out, name, build):
    """A script that prints 'ok NAME', 'not ok NAME', 'skip NAME: REASON'."""
    with tempfile.TemporaryDirectory() as scratch:
        status, output = run(['sh', os.path.join(ROOT, name)], {
            'BUILD': build, 'ROOT': ROOT, 'SCRATCH': scratch,
            'PATH': build + os.pathsep + os.environ['PATH']})
    bad = len(re.findall(r'^not ok ', output, re.M))
    out.passed += len(re.findall(r'^ok ', output, re.M))
    out.note_skips(output, r'^skip ([^:\n]+): (.*)$')
    if bad or status:
        shown = re.sub(r'^(ok|skip) .*\n', '', output, flags=re.M)
        out.fail(name, f'{shown}\nexit status {status}', bad or 1)
    out.must_count(name, output)


def suite_cli(build):
    for name in sorted(glob.glob('tests/cli/*.sh')):
        yield name, functools.partial(cli_script, name=name, build=build)


def python_script(out, name, build, argv=()):
    """One that prints 'ok NAME', 'FAIL NAME', 'SKIP NAME: REASON'."""
    status, output = run([sys.executable, *(argv or [name]), '--build', build])
    bad = len(re.findall(r'^FAIL ', output, re.M))
    out.passed += len(re.findall(r'^ok ', output, re.M))
    out.note_skips(output, r'^SKIP (.+?): (.*)$')
    if bad or status:
        shown = re.sub(r'^(ok|SKIP) .*\n', '', output, flags=re.M)
        out.fail(name, f'{shown}\nexit status {status}', bad or 1)
    out.must_count(name, output)


def suite_debug(build):
    for name in sorted(glob.glob('tests/debug/*.txt')):
        yield name, functools.partial(python_script, name=name, build=build,
                                      argv=['tests/debug/run.py', name])
    for script in 'run.py --tables', 'terminal_trouble.py', 'last_writer.py', \
            'completion.py', 'editing.py':
        name = 'tests/debug/' + script
        yield name, functools.partial(python_script, name=name, build=build,
                                      argv=name.split())


def suite_dap(build):
    for name in sorted(glob.glob('tests/dap/cases_*.py')):
        yield name, functools.partial(
            python_script, name=name, build=build,
            argv=['tests/dap/run.py', os.path.basename(name)[:-3]])


def suite_gdb(build):
    for script in ('every_command.py', 'elf_tools.py', 'interrupted.py',
                   'lent_interrupted.py', 'listening.py'):
        name = 'tests/gdb/' + script
        yield name, functools.partial(python_script, name=name, build=build)
    for name in ['docs/gdb.md', 'docs/gdb-tutorial.md',
                 *sorted(glob.glob('tests/gdb/*.txt'))]:
        yield name, functools.partial(python_script, name=name, build=build,
                                      argv=['tests/gdb/run.py', name])


def docs_file(out, path, name, build):
    def shell(command, cwd):
        return run(['sh', '-c', command], {
            'PATH': build + os.pathsep + os.environ['PATH']}, cwd)
    for line, ok, text in transcript.check(path, ROOT, shell):
        if ok:
            out.passed += 1
        else:
            out.fail(f'{name}:{line}', text)
    if not name.endswith('.md'):
        out.must_count(name, '')


def suite_docs(build):
    for path in transcript.files(ROOT):
        name = os.path.relpath(path, ROOT)
        yield name, functools.partial(docs_file, path=path, name=name,
                                      build=build)


SUITES = {'c': suite_c, 'python': suite_python, 'cli': suite_cli,
          'debug': suite_debug, 'dap': suite_dap, 'gdb': suite_gdb,
          'docs': suite_docs}


# ---- running ---------------------------------------------------------------

def fast(units):
    """Those that --fast runs."""
    sessions = [u for u in units if u.suite in ('debug', 'gdb')
                and u.name.endswith('.txt')]
    left_out = set(sessions) - set(sessions[::SLICE])
    return [u for u in units if u.name not in SLOW and u not in left_out]


def without(path, units):
    """Those that are not named in a file, which may have passed in part."""
    with open(path, encoding='utf-8') as f:
        done = set(f.read().split('\n'))
    left = [u for u in units if u.full_name() not in done
            or (rows.are_all() and u.name in IN_PART)]
    print(f'{len(units) - len(left)} files that {path} names are left out')
    return left


def carry_out(unit):
    out, start = Outcome(), time.monotonic()
    try:
        unit.test(out)
    except Exception as e:
        out.fail(unit.name, f'{type(e).__name__}: {e}')
    out.seconds = time.monotonic() - start
    return out


def remembered(path):
    try:
        with open(path, encoding='utf-8') as f:
            return json.load(f)
    except (OSError, ValueError):
        return {}


def run_units(units, times):
    """Yields (unit, outcome) in the order of the units."""
    longest = sorted(units, reverse=True,
                     key=lambda u: times.get(u.name, TIMEOUT))
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        started = {u: pool.submit(carry_out, u) for u in longest}
        try:
            for unit in units:
                out = started[unit].result()
                times[unit.name] = round(out.seconds, 2)
                yield unit, out
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            PROCESSES.end_all()
            raise


def report(units, times, passed):
    """Runs the units; prints what becomes of them; (passed, failed,
    skipped).  passed gets the names of those that left nothing out but rows of
    long tables."""
    total, of_suite, spent = [0, 0, 0], 0, 0.0
    last = {u.suite: u for u in units}
    for unit, out in run_units(units, times):
        for line in out.lines:
            print(line)
        if not out.failed + out.skipped:
            passed.append(unit.full_name())
        total = [a + b for a, b in zip(
            total, (out.passed, out.failed, out.skipped))]
        of_suite, spent = of_suite + out.passed, spent + out.seconds
        if last[unit.suite] is unit:
            print(f'{unit.suite}: {of_suite} passed in {spent:.1f} s of work',
                  flush=True)
            of_suite, spent = 0, 0.0
    return total


def leave_no_signal_ignored():
    """Jobs in the background and nohup have signals ignored, which all that
    they start inherits; our tests send these.  We go on ignoring them, by a
    handler, which no other program inherits."""
    for number in signal.SIGHUP, signal.SIGINT, signal.SIGQUIT:
        if signal.getsignal(number) == signal.SIG_IGN:
            signal.signal(number, lambda *_: None)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--build', default='build-asserts')
    parser.add_argument('--fast', action='store_true',
                        help='leaves out what takes more than a second')
    parser.add_argument('--all-rows', action='store_true',
                        help='tries all rows of the long tables')
    parser.add_argument('--only', default='', metavar='TEXT',
                        help='units whose name has the text')
    parser.add_argument('--patience', type=int, default=1, metavar='N',
                        help='waits N times as long for each to end')
    parser.add_argument('--done', metavar='FILE',
                        help='leaves out the units that it names')
    parser.add_argument('suites', nargs='*', metavar='SUITE',
                        help=' '.join(SUITES))
    args = parser.parse_args()
    os.chdir(ROOT)
    leave_no_signal_ignored()
    global TIMEOUT
    TIMEOUT *= args.patience
    os.environ.setdefault('CK_TIMEOUT_MULTIPLIER', str(args.patience))
    unknown = [s for s in args.suites if s not in SUITES]
    if unknown:
        parser.error(f'unknown suite {unknown[0]}: {" ".join(SUITES)}')
    build = os.path.abspath(args.build)
    # Thousands of Python processes begin: they find the modules compiled, which
    # are kept out of the tree.
    os.environ.pop('PYTHONDONTWRITEBYTECODE', None)
    os.environ['PYTHONPYCACHEPREFIX'] = os.path.join(build, 'bytecode')
    os.environ['TKDBG_CACHE_DIR'] = os.path.join(build, 'compiled')
    if args.all_rows:
        os.environ['ROWS'] = 'all'
    units = [Unit(suite, *found) for suite in args.suites or SUITES
             for found in SUITES[suite](build)]
    units = [u for u in units if args.only in u.name]
    if args.fast:
        units = fast(units)
    if args.done:
        units = without(args.done, units)
    record = os.path.join(build, 'test-times.json')
    times, start = remembered(record), time.monotonic()
    in_full = []
    try:
        passed, failed, skipped = report(units, times, in_full)
    except KeyboardInterrupt:
        print('interrupted')
        return 130
    with open(record, 'w', encoding='utf-8') as f:
        json.dump(times, f, indent=0, sort_keys=True)
    with open(os.path.join(build, 'test-passed'), 'w', encoding='utf-8') as f:
        f.write('\n'.join([*in_full, '']))
    print(f'all in {time.monotonic() - start:.1f} s')
    print(f'{passed} passed, {failed} failed, {skipped} skipped')
    return 1 if failed or not passed + skipped else 0


if __name__ == '__main__':
    sys.exit(main())
