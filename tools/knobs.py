#!/usr/bin/env python3
"""Writes docs/knobs.md from the table in python/tkdbg/variables.py."""
import os
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(ROOT, 'python'))

from tkdbg import variables  # noqa: E402

with open(os.path.join(ROOT, 'docs', 'knobs.md'), 'w') as out:
    out.write(variables.page())
