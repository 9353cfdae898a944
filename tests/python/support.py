"""What the bridge's tests share: paths, skipping, running scripts."""
import functools
import importlib.machinery
import importlib.metadata
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import textwrap
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
PYTHON = os.path.join(ROOT, "python")
BUILD = os.path.abspath(os.environ.get("BUILD") or
                        os.path.join(ROOT, "build-asserts"))
HEADER = os.path.join(ROOT, "include", "tkdbg", "tkdbg.h")
# tests/run.py --patience sets it, for Check's programs as well
PATIENCE = float(os.environ.get("CK_TIMEOUT_MULTIPLIER") or 1)

for _folder in os.path.join(ROOT, "tests", "support"), PYTHON:
    if _folder not in sys.path:
        sys.path.insert(0, _folder)

import terminal  # noqa: E402
import transcript  # noqa: E402
from tkdbg import _capi  # noqa: E402


def library():
    """The path of libtkdbg.so, or None."""
    found = [p for p in _capi.candidates() if os.path.exists(p)]
    return found[0] if found else None


def has(module):
    return importlib.util.find_spec(module) is not None


ONE_LAUNCH = """
import numpy, triton, triton.language as tl
@triton.jit
def one(x):
    tl.store(x, 1)
one[(1,)](numpy.zeros(1, "i4"))
"""


@functools.lru_cache(maxsize=None)
def without_llvm() -> str:
    """Why no kernel is compiled for a GPU here; "" if they are."""
    done = subprocess.run(
        [sys.executable, "-m", "tkdbg", "run", "-q", "--engine", "ptx",
         "--triton", "ours", "-c", ONE_LAUNCH],
        env=environment(), capture_output=True, text=True, check=False)
    return ("LLVM 19 is not installed (apt-get install llvm-19-dev)"
            if "llvm-19-dev" in done.stderr else "")


def need(*modules):
    """Skips the calling test or test file, saying what is missing."""
    if "library" in modules and library() is None:
        raise unittest.SkipTest("libtkdbg.so is not built")
    if "terminal" in modules and terminal.missing():
        raise unittest.SkipTest(terminal.missing())
    if "llvm" in modules and without_llvm():
        raise unittest.SkipTest(without_llvm())
    for module in modules:
        if module not in ("library", "terminal", "llvm") and not has(module):
            raise unittest.SkipTest(f"{module} is not installed")


def real_triton():
    """Whether Triton itself is installed (not our modules)."""
    found = importlib.machinery.PathFinder.find_spec("triton")
    return found is not None and found.origin is not None


def triton_version():
    """(major, minor) of the Triton that is installed, or None."""
    if not real_triton():
        return None
    found = importlib.metadata.version("triton")
    return tuple(int(n) for n in found.split(".")[:2])


def newest_version():
    """(major, minor) of the newest Triton whose language is followed."""
    found = _capi.load().tk_triton_meaning(None)
    return tuple(int(n) for n in found.decode().split("."))


def only_ours(why):
    """Decorator: a test of a ScriptCase does not run beside an installed
    Triton, for a reason that is written down."""
    assert why

    def mark(test):
        test.only_ours = True
        return test
    return mark


def real_cuda():
    """Whether PyTorch has a CUDA device of its own."""
    import torch
    count = getattr(torch._C, "_cuda_getDeviceCount", None)
    return count is not None and count() > 0


def environment(**changes):
    env = dict(os.environ, PYTHONPATH=PYTHON)
    env.pop("TKDBG_OPTIONS", None)
    # Triton 3.9 warns of another default to come, unless it is told one
    env.setdefault("TRITON_DEFAULT_FP_FUSION", "1")
    env.update(changes)
    if library() is not None:
        env.setdefault("TKDBG_LIBRARY", library())
    return env


HEAD = """
    import numpy as np
    import triton
    import triton.language as tl

    @triton.jit
    def add(x, y, z, n, BLOCK: tl.constexpr):
        i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        m = i < n
        tl.store(z + i, tl.load(x + i, mask=m) + tl.load(y + i, mask=m),
                 mask=m)
"""


class ScriptCase(unittest.TestCase):
    """Tests that run a script in a process of its own.

    Where Triton is installed they run twice: with tkdbg's own modules, and
    beside Triton, as a class whose name ends in Installed.  Not so a class
    that says which of them it is for, and why."""
    triton = "ours"  # what `import triton` gives

    def __init_subclass__(cls):
        super().__init_subclass__()
        if "triton" in vars(cls) or not real_triton():
            return
        module = sys.modules[cls.__module__]
        other = {name: None for name in dir(cls) if name.startswith("test")
                 and hasattr(getattr(cls, name), "only_ours")}
        name = f"{cls.__name__}Installed"
        setattr(module, name, type(name, (cls,), {
            **other, "triton": "installed", "__module__": cls.__module__}))

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def write(self, text, name="script.py", head=""):
        with open(self.path(name), "w") as f:
            f.write(textwrap.dedent(head) + textwrap.dedent(text))
        return self.path(name)

    def run_script(self, text, *options, args=(), head="", env=None,
                   json_options=None, check=True, name="script.py"):
        """Runs text under ``python -m tkdbg run``."""
        changes = dict(env or {})
        if json_options is not None:
            changes["TKDBG_OPTIONS"] = json.dumps(json_options)
        path = self.write(text, name, head=head)
        if "--triton" not in options:
            options = ("--triton", self.triton, *options)
        done = subprocess.run(
            [sys.executable, "-m", "tkdbg", "run", *options, path, *args],
            env=environment(**changes), capture_output=True, text=True,
            cwd=self.folder.name, timeout=120 * PATIENCE)
        done.stderr = transcript.plain(done.stderr)
        if check:
            self.assertEqual(done.returncode, 0, done.stderr)
        return done
