"""Writes docs/knobs.md from the table in python/tkdbg/variables.py.

    python3 tools/knobs.py [--check]

--check changes nothing and fails when the page differs.
"""
import os
import sys

from page import ROOT, options, publish

sys.path.insert(0, os.path.join(ROOT, 'python'))

from tkdbg import variables  # noqa: E402

if __name__ == '__main__':
    sys.exit(publish('knobs.md', variables.page(), options().check))
