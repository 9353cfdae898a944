"""Sessions of editors: what tkdbg answers by the Debug Adapter Protocol.

    python3 tests/dap/run.py --build build [TEXT ...]

Each function of tests/dap/cases_*.py whose name begins with test_ is a session;
those whose names have one of the texts are run.  Prints 'ok NAME', 'FAIL NAME'
or 'SKIP NAME: REASON' for each.
"""
import argparse
import glob
import importlib
import os
import sys
import traceback
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(os.path.dirname(HERE), 'support')]


def sessions():
    for path in sorted(glob.glob(os.path.join(HERE, 'cases_*.py'))):
        name = os.path.basename(path)[:-3]
        module = importlib.import_module(name)
        for test in dir(module):
            if test.startswith('test_'):
                yield f'{name}/{test[5:]}', getattr(module, test)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('--build', default='build')
    parser.add_argument('names', nargs='*', metavar='TEXT')
    options = parser.parse_args()
    import adapter
    adapter.BUILD = os.path.abspath(options.build)
    bad = 0
    for name, test in sessions():
        if options.names and not any(t in name for t in options.names):
            continue
        try:
            test()
            print(f'ok {name}', flush=True)
        except unittest.SkipTest as e:
            print(f'SKIP {name}: {e}', flush=True)
        except Exception:
            bad += 1
            print(f'FAIL {name}\n{traceback.format_exc()}', flush=True)
        finally:
            adapter.end_all()
    return 1 if bad else 0


if __name__ == '__main__':
    sys.exit(main())
