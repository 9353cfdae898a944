"""What Python cannot read is one error, under every Python."""
import ast
import glob
import os
import re
import shutil
import subprocess
import sys
import unittest

import support

support.need("library", "numpy")

from tkdbg import errors, parsing, scope, source  # noqa: E402
from tkdbg.puzzles import words  # noqa: E402

NULL = "import triton\n\nif True:\n    x = '\0'  # here\n"
FACTS = ("SyntaxError", "source code cannot contain null bytes", "k.py", 4, 10,
         "    x = '\N{SYMBOL FOR NULL}'  # here")
# Loaded by its path, so that a Python without NumPy has it, too.
ASKED = """
import importlib.util, sys
spec = importlib.util.spec_from_file_location("parsing", sys.argv[1])
parsing = importlib.util.module_from_spec(spec)
spec.loader.exec_module(parsing)
text = eval(sys.argv[2])
for read in (lambda: parsing.tree(text, "k.py"),
             lambda: parsing.tree(text.encode(), "k.py"),
             lambda: parsing.code(text, "k.py")):
    try:
        read()
    except Exception as e:
        print(ascii((type(e).__name__, e.msg, e.filename, e.lineno, e.offset,
                     e.text)))
for lines in ["def f():\\n", "    '\\0'\\n"], ["def f(\\n"]:
    try:
        parsing.block(lines)
    except Exception as e:
        print(ascii(type(e).__name__))
"""


def pythons():
    """{version: path} of each Python that is found, from 3.9 on."""
    paths = {sys.executable, "/usr/bin/python3"}
    paths.update(filter(None, (shutil.which(f"python3.{minor}")
                               for minor in range(9, 20))))
    paths.update(glob.glob(os.path.expanduser(
        "~/.pyenv/versions/*/bin/python3")))
    found = {}
    for path in filter(os.path.exists, sorted(paths)):
        done = subprocess.run(
            [path, "-c", "import sys; print(*sys.version_info[:3])"],
            capture_output=True, text=True, check=False)
        if done.returncode == 0:
            version = tuple(map(int, done.stdout.split()))
            if version >= (3, 9):
                found[version] = path
    return found


class Parsing(unittest.TestCase):
    def test_a_null_byte_is_one_error_under_each_python(self):
        for version, path in pythons().items():
            with self.subTest(python=version):
                done = subprocess.run(
                    [path, "-c", ASKED, parsing.__file__, repr(NULL)],
                    capture_output=True, text=True, check=False)
                self.assertEqual(done.stderr, "")
                said = list(map(ast.literal_eval, done.stdout.splitlines()))
                self.assertEqual(said, [FACTS] * 3 + ["SyntaxError"] * 2)

    def test_what_python_can_read(self):
        self.assertEqual(ast.dump(parsing.tree("a = 1")),
                         ast.dump(ast.parse("a = 1")))
        names = {}
        exec(parsing.code(b"# coding: latin-1\na = '\xe9'\n", "k.py"), names)
        self.assertEqual(names["a"], "\xe9")
        self.assertEqual(parsing.block(["def f():\n", "  1\n", "2\n"]),
                         ["def f():\n", "  1\n"])

    def test_what_follows_a_statement_is_not_read(self):
        """A file of many kernels would be read for each of them."""
        behind = ["def g():\n", "    '\0'\n"]
        self.assertEqual(parsing.block(["def f():\n", "  1\n", *behind]),
                         ["def f():\n", "  1\n"])
        with self.assertRaises(SyntaxError):
            parsing.block(behind)

    def test_null_bytes_where_texts_are_read(self):
        self.assertIsNone(source.tree(NULL))
        self.assertEqual(words.code_lines(NULL), 0)
        self.assertRaises(SyntaxError, list, scope.trees_of(NULL))
        self.assertIsNone(errors._node_at(NULL, 1, 1, True))
        self.assertEqual(errors._call_around(["def f():\n", "    g('\0')\n"],
                                             1, 2, 5), (2, 5))

    def test_the_bridge_parses_by_these_functions_alone(self):
        parses = re.compile(r"\bast\.parse\(|\bgetblock\(|"
                            r"(?<![.\w])compile\((?!self|src|ast\.Expr|tree,)")
        apart = {"parsing.py", "triton_replay.py",  # imports nothing of ours
                 "binder.py"}  # which has written the text
        for path in glob.glob(os.path.join(support.PYTHON, "tkdbg", "**",
                                           "*.py"), recursive=True):
            with self.subTest(path=path), open(path, encoding="utf-8") as f:
                if os.path.basename(path) not in apart:
                    self.assertIsNone(parses.search(f.read()))


class Script(support.ScriptCase):
    def test_a_script_with_a_null_byte(self):
        done = self.run_script(NULL, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, r"script\.py\", line 4\n.*"
                         r"(?s:.*)source code cannot contain null bytes")


if __name__ == "__main__":
    unittest.main()
