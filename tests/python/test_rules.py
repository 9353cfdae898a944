"""What tools/pyrules.py says of modules: types of what is public, and who
writes whose attributes."""
import os
import sys
import tempfile
import textwrap
import unittest

import support

sys.path.insert(0, os.path.join(support.ROOT, "tools"))
import pyrules  # noqa: E402


class Rules(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.package = folder.name

    def make(self, **files):
        for name, text in files.items():
            with open(os.path.join(self.package, f"{name}.py"), "w") as f:
                f.write(textwrap.dedent(text))

    def said(self):
        """Faults of types, without the folder."""
        return [fault.partition(self.package + os.sep)[2]
                for fault in pyrules.annotations(self.package)]

    def written(self):
        return [(os.path.basename(path), line, what)
                for path, line, what in pyrules.writes(self.package)]

    def test_public_functions_have_types(self):
        self.make(a="""\
            def f(x, *, y: int = 1, **z) -> int: ...
            def g(x: int): ...
            def _own(x): ...
            class A:
                def __init__(self, x) -> None:
                    def inside(y): ...
                @staticmethod
                def made(x) -> None: ...
                def _own(self, x): ...
            class _Own:
                def f(self, x): ...
            @jit
            def kernel(x): ...
            """)
        self.assertEqual(self.said(), [
            "a.py:1: f: no type for x, z", "a.py:2: g: no type for the result",
            "a.py:5: A.__init__: no type for x",
            "a.py:8: A.made: no type for x"])

    def test_structures_have_types(self):
        self.make(a="""\
            class Point(Structure):
                x: int
                _fields_ = [("x", c_int), ("y", c_int)]
            class Node(Structure):
                next: int
            Node._fields_ = [("next", POINTER(Node))]
            """)
        self.assertEqual(self.said(), ["a.py:1: Point: no type for y"])

    def test_attributes_are_written_by_their_module(self):
        self.make(a="""\
            class A:
                kind = None
                def __init__(self):
                    self.count, self.names = 0, []
            """, b="""\
            import sys
            def f(a, b):
                a.count = 1
                a.kind, b.own = 2, 3
                for a.count in range(3): ...
                del a.names
                a.names.append(1)
                sys.stdout = b
            class B:
                def __init__(self):
                    self.kind = self.own = 1
            """)
        self.assertEqual(self.written(), [
            ("b.py", 3, "a.count"), ("b.py", 5, "a.count"),
            ("b.py", 6, "a.names")])

    def test_records_are_filled_in(self):
        self.make(a="""\
            @dataclass
            class A:
                count: int = 0
            class B(Structure):
                size: int
                _fields_ = [("size", c_int)]
            """, b="def f(a): a.count = a.size = 1\n")
        self.assertEqual(self.written(), [])

    def test_the_session_is_known_by_its_name(self):
        self.make(session="""\
            class Session:
                def __init__(self):
                    self.options = None
            """, b="""\
            def f(self, x):
                self.session.options = x.options = 1
                session_.current().options = 2
            class B:
                def __init__(self):
                    self.options = None
            """)
        self.assertEqual(self.written(), [
            ("b.py", 2, "self.session.options"),
            ("b.py", 3, "session_.current().options")])


if __name__ == "__main__":
    unittest.main()
