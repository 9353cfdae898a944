"""Runs every test and adds them up.

    python3 tests/run.py --build build [SUITE ...]

Suites, in order:
  c        tests/*/test_*.c (Check programs) and examples/*.c, as built
  python   tests/python (unittest), under a Python that has NumPy
  cli      tests/cli/*.sh; see tests/support/check.sh
  debug    tests/debug/*.txt: sessions with the debugger, as run.py there says;
           what may happen to its terminal (robust.py), what
           Tab completes (completion.py), and that going back
           finds who wrote an element (last_writer.py)
  docs     transcripts: tests/cli/*.txt and the console blocks of README.md
           and docs/*.md, as 'text' in tests/support/transcript.py says

Each test that fails or is skipped is named, with the reason.  The last line
is 'N passed, N failed, N skipped'.
"""
import argparse
import glob
import os
import re
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(ROOT, 'tests', 'support'))
import transcript  # noqa: E402

TIMEOUT = 600


class Totals:
    def __init__(self):
        self.passed = self.failed = self.skipped = 0

    def skip(self, name, reason, n=1):
        self.skipped += n
        print(f'SKIP {name}: {reason}')

    def fail(self, name, output, n=1):
        self.failed += n
        print(f'FAIL {name}')
        if output.strip():
            print('  ' + output.rstrip().replace('\n', '\n  '))


def run(argv, env=None, cwd=ROOT):
    """Exit status and merged output; a timeout is status 124."""
    full = dict(os.environ, NO_COLOR='1', LC_ALL='C.UTF-8', **(env or {}))
    try:
        p = subprocess.run(argv, stdin=subprocess.DEVNULL, timeout=TIMEOUT,
                           stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                           env=full, cwd=cwd)
        return p.returncode, p.stdout.decode('utf-8', 'replace')
    except subprocess.TimeoutExpired as e:
        output = (e.stdout or b'').decode('utf-8', 'replace')
        return 124, output + f'\nno end after {TIMEOUT} s'
    except OSError as e:
        return 127, str(e)


def note_skips(totals, output, pattern):
    for name, reason in re.findall(pattern, output, re.M):
        totals.skip(name, reason)


CHECKS = re.compile(r'Checks: (\d+), Failures: (\d+), Errors: (\d+)')


def c_program(totals, path):
    """A Check program; one without Check's summary counts as one test."""
    name = os.path.relpath(path, ROOT)
    status, output = run([path])
    found = CHECKS.findall(output)
    checks = sum(int(n) for n, _, _ in found) or 1
    bad = sum(int(f) + int(e) for _, f, e in found)
    if status and not bad:
        bad = 1
    totals.passed += max(checks - bad, 0)
    if bad:
        totals.fail(name, f'{output}\nexit status {status}', bad)
    note_skips(totals, output, r'^SKIP ([^:\n]+): (.*)$')


def suite_c(totals, build):
    for pattern in 'tests/*/test_*.c', 'examples/*.c':
        for source in sorted(glob.glob(pattern)):
            c_program(totals, os.path.join(build, source[:-2]))


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
    _, path = run([os.environ.get('CC') or 'cc',
                   '-print-file-name=libasan.so'])
    return {'LD_PRELOAD': path.strip(), 'ASAN_OPTIONS': 'detect_leaks=0'}


def suite_python(totals, build):
    python = find_python()
    if not python:
        totals.skip('tests/python', 'no Python with NumPy')
        return
    print(f'python: {python}')
    env = {'PYTHONPATH': os.path.join(ROOT, 'python'),
           'TKDBG_LIBRARY': os.path.join(build, 'libtkdbg.so'),
           'BUILD': build, 'PYTHONDONTWRITEBYTECODE': '1',
           **sanitizer_first()}
    status, output = run([python, '-m', 'unittest', 'discover', '-v',
                          '-s', 'tests/python'], env)
    n, bad, skipped = unittest_counts(output)
    for name, reason in SKIPPED.findall(output):
        print(f'SKIP {name}: {reason}')
    totals.skipped += skipped
    totals.passed += n - bad - skipped
    # Status 5, from Python 3.12 on: no tests were found.
    if bad or status not in (0, 5):
        totals.fail('tests/python', output, max(bad, 1))


def suite_cli(totals, build):
    """Scripts that print 'ok NAME', 'not ok NAME', 'skip NAME: REASON'."""
    for script in sorted(glob.glob(os.path.join(ROOT, 'tests/cli/*.sh'))):
        name = os.path.relpath(script, ROOT)
        with tempfile.TemporaryDirectory() as scratch:
            status, output = run(['sh', script], {
                'BUILD': build, 'ROOT': ROOT, 'SCRATCH': scratch,
                'PATH': build + os.pathsep + os.environ['PATH']})
        bad = len(re.findall(r'^not ok ', output, re.M))
        totals.passed += len(re.findall(r'^ok ', output, re.M))
        note_skips(totals, output, r'^skip ([^:\n]+): (.*)$')
        if bad or status:
            shown = re.sub(r'^(ok|skip) .*\n', '', output, flags=re.M)
            totals.fail(name, f'{shown}\nexit status {status}', bad or 1)


def suite_docs(totals, build):
    def shell(command, cwd):
        return run(['sh', '-c', command], {
            'PATH': build + os.pathsep + os.environ['PATH']}, cwd)
    for path in transcript.files(ROOT):
        name = os.path.relpath(path, ROOT)
        for line, ok, text in transcript.check(path, ROOT, shell):
            if ok:
                totals.passed += 1
            else:
                totals.fail(f'{name}:{line}', text)


def suite_debug(totals, build):
    for script in ('run.py', 'robust.py', 'last_writer.py',
                   'completion.py'):
        status, output = run([sys.executable, 'tests/debug/' + script,
                              '--build', build])
        bad = len(re.findall(r'^FAIL ', output, re.M))
        totals.passed += len(re.findall(r'^ok ', output, re.M))
        if bad or status:
            shown = re.sub(r'^ok .*\n', '', output, flags=re.M)
            totals.fail('tests/debug/' + script,
                        f'{shown}\nexit status {status}', bad or 1)


SUITES = {'c': suite_c, 'python': suite_python, 'cli': suite_cli,
          'debug': suite_debug, 'docs': suite_docs}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--build', default='build')
    parser.add_argument('suites', nargs='*', metavar='SUITE',
                        help=' '.join(SUITES))
    args = parser.parse_args()
    os.chdir(ROOT)
    unknown = [s for s in args.suites if s not in SUITES]
    if unknown:
        parser.error(f'unknown suite {unknown[0]}: {" ".join(SUITES)}')
    totals = Totals()
    for name in args.suites or SUITES:
        start, before = time.monotonic(), totals.passed
        SUITES[name](totals, os.path.abspath(args.build))
        print(f'{name}: {totals.passed - before} passed in '
              f'{time.monotonic() - start:.1f} s', flush=True)
    print(f'{totals.passed} passed, {totals.failed} failed, '
          f'{totals.skipped} skipped')
    return 1 if totals.failed else 0


if __name__ == '__main__':
    sys.exit(main())
