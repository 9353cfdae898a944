"""What our modules have of what Triton 3.6 exports: exports.txt decides."""
import ctypes
import importlib
import json
import os
import re
import subprocess
import sys
import unittest

import support

support.need("library", "numpy", "torch")

import tkdbg  # noqa: E402
from tkdbg import _capi  # noqa: E402

tkdbg.install(quiet=True, triton="ours")

LIST = os.path.join(support.HERE, "exports.txt")

# prints what an installed Triton exports, as JSON
EXPORTED = """
import importlib, inspect, json, pkgutil
import triton
found = {}
for info in [None, *pkgutil.walk_packages(triton.__path__, "triton.",
                                          lambda name: None)]:
    name = info.name if info else "triton"
    if "gluon" in name.split(".") or "translater" in name:
        continue
    if name == "triton._internal_testing":  # needs packages of its own
        continue
    try:
        module = importlib.import_module(name)
    except Exception:
        continue
    names = found[name] = []
    for n, value in vars(module).items():
        home = (value.__name__ if inspect.ismodule(value) else
                getattr(value, "__module__", None))
        foreign = isinstance(home, str) and not home.startswith("triton")
        if not n.startswith("_") and not foreign:
            names.append(n)
print(json.dumps({"version": triton.__version__, "modules": found}))
"""


def decisions():
    """{module: (names that we have, names that we lack)}; None for a
    module that we lack."""
    found, into = {}, None
    with open(LIST, encoding="utf-8") as file:
        for line in file:
            if line.startswith("#"):
                continue
            if not line.startswith(" "):
                module = line.split()[0]
                lacking = "without" in line
                found[module] = None if lacking else ([], [])
                into = None if lacking else found[module][0]
                continue
            words = re.sub(r"without \(.*?\):", "", line).split()
            if "without (" in line:
                into = found[module][1]
            into.extend(words)
    return found


def removed():
    """{"triton.language.advance", ...}: what versions since 3.6 removed."""
    lib, found = _capi.load(), set()
    since, instead = ctypes.c_char_p(), ctypes.c_char_p()
    for i in range(1000):
        name = lib.tk_triton_removed(i, ctypes.byref(since),
                                     ctypes.byref(instead))
        if name is None:
            break
        last = name.decode().rpartition(".")[2]
        found |= {f"triton.language.{last}", f"triton.language.core.{last}"}
    return found


class Exports(unittest.TestCase):
    def test_what_we_have(self):
        gone = removed()
        for module, names in decisions().items():
            if names is None:
                with self.assertRaises(ModuleNotFoundError, msg=module):
                    importlib.import_module(module)
                continue
            ours = importlib.import_module(module)
            for name in names[0]:
                if f"{module}.{name}" in gone:
                    continue
                self.assertTrue(hasattr(ours, name), f"{module}.{name}")
            for name in names[1]:
                self.assertFalse(hasattr(ours, name), f"{module}.{name}")

    def test_the_list_is_complete(self):
        done = subprocess.run(
            [sys.executable, "-c", EXPORTED], capture_output=True, text=True,
            env=support.environment(PYTHONPATH=""), cwd=support.HERE)
        if done.returncode:
            self.skipTest("triton is not installed")
        real = json.loads(done.stdout)
        if not real["version"].startswith("3.6."):
            self.skipTest("this list is of Triton 3.6")
        known = decisions()
        for module, names in real["modules"].items():
            self.assertIn(module, known)
            if known[module] is not None:
                lines = sum(known[module], [])
                missing = [n for n in names if n not in lines and
                           len(n) > 1 and n not in GENERIC]
                self.assertEqual(missing, [], module)


# type variables and the like, which are nobody's interface
GENERIC = ("TYPE_CHECKING", "GetType", "SetType", "ClassType", "knobs_type",
           "TensorTy")


class Behaviour(unittest.TestCase):
    def test_null_allocator(self):
        from triton.runtime import _allocation
        self.assertIsInstance(_allocation._allocator.get(),
                              _allocation.NullAllocator)
        with self.assertRaisesRegex(RuntimeError, "no allocator was set"):
            _allocation._allocator(1, 1, None)
        import triton
        triton.set_allocator(len)
        self.assertIs(_allocation._allocator.get(), len)
        _allocation._allocator.set(None)

    def test_profiler(self):
        from triton import profiler
        session = profiler.start("name", context="shadow")
        with profiler.scope("part", metrics={"flops": 1}):
            pass
        self.assertIsInstance(profiler.enter_scope("x"), int)
        self.assertEqual(profiler.context.depth(session), 1)
        profiler.exit_scope("x")
        profiler.deactivate(session)

        @profiler.profile(name="all")
        @profiler.scope("each")
        def double(x):
            return 2 * x
        self.assertEqual(double(4), 8)
        profiler.finalize()
        self.assertIsNone(profiler.context.depth(session))

    def test_what_needs_a_compiler_says_so(self):
        from triton._filecheck import run_filecheck
        from triton.runtime.build import compile_module_from_src
        for function in (run_filecheck, compile_module_from_src):
            with self.assertRaisesRegex(NotImplementedError, "installed"):
                function()

    def test_files(self):
        import triton
        self.assertTrue(os.path.exists(triton.__file__))
        self.assertTrue(os.path.exists(triton.language.__file__))

    def test_paths(self):
        from triton._utils import find_paths_if, get_iterable_path
        nested = (1, (2, (3,)))
        paths = find_paths_if(nested, lambda path, x: x > 1)
        self.assertEqual(paths, [(1, 0), (1, 1, 0)])
        self.assertEqual(get_iterable_path(nested, (1, 1, 0)), 3)


if __name__ == "__main__":
    unittest.main()
