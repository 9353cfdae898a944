"""The layers of the package, and what tools/pyknots.py says about others."""
import os
import sys
import tempfile
import unittest

import support

sys.path.insert(0, os.path.join(support.ROOT, "tools"))
import pyknots  # noqa: E402

TABLE = '''"""A package.

top     a     above
bottom  b     below
        c     beside it
"""
'''


class Layers(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.package = folder.name

    def make(self, **files):
        for name, text in files.items():
            with open(os.path.join(self.package, f"{name}.py"), "w") as f:
                f.write(text)
        return pyknots.edges(self.package)

    def test_imports_in_functions_count(self):
        graph = self.make(__init__=TABLE, a="from . import b\n",
                          b="def f():\n    from .c import x\n",
                          c="import tkdbg.b\n")
        self.assertEqual(graph, {"": set(), "a": {"b"}, "b": {"c"},
                                 "c": {"b"}})
        self.assertEqual(pyknots.knots(graph), [["b", "c"]])

    def test_upward(self):
        graph = self.make(__init__=TABLE, a="", b="from . import a\n",
                          d="")
        self.assertEqual(
            list(pyknots.upward(graph, pyknots.layers(self.package))),
            [": stands in no layer of the package's docstring",
             "b (bottom) may not import a (top)",
             "d: stands in no layer of the package's docstring",
             "c: stands in the table of layers and does not exist"])

    def test_the_door_of_a_package_below(self):
        os.mkdir(os.path.join(self.package, "sub"))
        os.mkdir(os.path.join(self.package, "open"))
        graph = self.make(**{
            "__init__": TABLE, "a": "from .sub import x, inside\n",
            "b": "from . import sub\nfrom .open import c\n",
            "sub/__init__": '"""Top.\n\ntop     __init__  x\n'
                            'bottom  inside    what makes x\n"""\n'
                            "from .inside import x\n",
            "sub/inside": "", "open/__init__": "", "open/c": ""})
        self.assertEqual(list(pyknots.inner(self.package)), ["sub"])
        self.assertEqual(list(pyknots.intruders(graph, "sub")),
                         ["a may import sub alone, not sub.inside"])
        self.assertEqual(pyknots.part_of(graph, "sub"),
                         {"": {"inside"}, "inside": set()})

    def test_the_package_has_no_knots(self):
        before = os.getcwd()
        os.chdir(support.ROOT)
        self.addCleanup(os.chdir, before)
        self.assertEqual(list(pyknots.faults()), [])


class State(unittest.TestCase):
    def test_only_the_session_is_global(self):
        package = os.path.join(support.PYTHON, "tkdbg")
        found = []
        for name, path in sorted(pyknots.modules(package).items()):
            with open(path, encoding="utf-8") as f:
                if "\n    global " in f.read():
                    found.append(name)
        self.assertEqual(found, ["session"])


if __name__ == "__main__":
    unittest.main()
