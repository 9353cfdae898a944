"""Imported by a mutant: notes a digest of what its launches left behind.

The digest covers every array that a launch was given, after each launch, and
goes into the file that $MUTANT_DIGEST names when the program ends.
"""
import atexit
import hashlib
import os

import numpy as np
from triton.runtime.jit import JITFunction

_digest = hashlib.sha256()
_run = JITFunction.run


def _note(value):
    value = getattr(value, 'base', value) if not isinstance(
        value, np.ndarray) else value
    if isinstance(value, np.ndarray):
        _digest.update(np.ascontiguousarray(value).tobytes())
    elif isinstance(value, (tuple, list)):
        for item in value:
            _note(item)


def _observed(self, *args, **kwargs):
    result = _run(self, *args, **kwargs)
    for value in (*args, *kwargs.values()):
        _note(value)
    return result


def _write():
    with open(os.environ['MUTANT_DIGEST'], 'w') as f:
        f.write(_digest.hexdigest())


JITFunction.run = _observed
atexit.register(_write)
