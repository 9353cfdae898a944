"""tools/matrix.py: the table of PyTorch and Triton, and the page it writes."""
import argparse
import contextlib
import io
import os
import sys
import tempfile
import unittest
import unittest.mock

import support

sys.path.insert(0, os.path.join(support.ROOT, "tools"))
import matrix  # noqa: E402

PAGE = f"a\n{matrix.BEGIN}\n{matrix.HEAD}\n{{}}{matrix.END}\nb\n"


class Table(unittest.TestCase):
    def test_rows(self):
        rows = matrix.pairs("# a comment\n\na 2.1 3.6 # another\nb 2.2 3.7\n")
        self.assertEqual([str(row) for row in rows],
                         ["a: PyTorch 2.1, Triton 3.6",
                          "b: PyTorch 2.2, Triton 3.7"])

    def test_lines_that_are_none(self):
        for text, told in (("a 2.1\n", r"pairs.txt:1: .* this one has 2"),
                           ("a 2 3\na 4 5\n", "two rows are named a")):
            with self.assertRaisesRegex(ValueError, told):
                matrix.pairs(text)

    def test_that_of_the_repository(self):
        with open(os.path.join(support.ROOT, matrix.PAIRS)) as f:
            rows = matrix.pairs(f.read())
        page = os.path.join(support.ROOT, "docs", matrix.PAGE)
        with open(page, encoding="utf-8") as f:
            text = f.read()
        self.assertEqual(matrix.merged(text, rows, {}), text)


class Page(unittest.TestCase):
    rows = matrix.pairs("a 2.1 3.6\nb 2.2 3.7\n")

    def test_rows_that_did_not_run_keep_what_they_had(self):
        page = PAGE.format("| 2.2 | 3.7 | old |\n| 1.0 | 2.0 | gone |\n")
        self.assertEqual(
            matrix.merged(page, self.rows, {}), PAGE.format(
                f"| 2.1 | 3.6 {matrix.NEVER}\n| 2.2 | 3.7 | old |\n"))
        self.assertEqual(
            matrix.merged(page, self.rows, {"b": "| 2.2 | 3.7 | new |"}),
            PAGE.format(f"| 2.1 | 3.6 {matrix.NEVER}\n"
                        "| 2.2 | 3.7 | new |\n"))


@unittest.skipIf(os.name != "posix", "the environment's Python is a script")
class Environments(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.venvs = folder.name

    def have(self, name, text):
        """An environment whose Python runs a text of the shell."""
        path = os.path.join(self.venvs, name, "bin", "python")
        os.makedirs(os.path.dirname(path))
        with open(path, "w") as f:
            f.write("#!/bin/sh\n" + text)
        os.chmod(path, 0o755)
        return path

    def test_it_has_the_versions(self):
        path = self.have("a", "echo 2.1+cu130 3.6 3.11.7")
        self.assertEqual(matrix.environment(matrix.Row("a", "2.1", "3.6"),
                                            self.venvs), (path, "3.11.7"))

    def test_it_has_others(self):
        self.have("a", "echo 2.1+cpu 3.6 3.11.7")
        for row in (matrix.Row("a", "2.1+cu130", "3.6"),
                    matrix.Row("a", "2.1+cpu", "3.7"),
                    matrix.Row("a", "2.2", "3.6")):
            with self.assertRaisesRegex(matrix.Skip, "has PyTorch 2.1"):
                matrix.environment(row, self.venvs)

    def test_it_is_broken(self):
        self.have("a", "echo no module named torch; exit 1")
        with self.assertRaisesRegex(matrix.Skip, "no module named torch"):
            matrix.environment(matrix.Row("a", "2.1", "3.6"), self.venvs)

    def test_it_cannot_be_had(self):
        """And nothing half made is left behind."""
        def run(argv, *rest, **env):
            if "pip" in argv:
                return 1, "ERROR: No matching distribution found\nnote\n"
            if "venv" in argv:
                self.have("a", "")
                return 0, ""
            return run_here(argv, *rest, **env)

        run_here = matrix.run
        row = matrix.Row("a", "2.1", "3.6")
        with unittest.mock.patch.object(matrix, "run", run), (
                contextlib.redirect_stdout(io.StringIO())), (
                self.assertRaisesRegex(matrix.Skip, "No matching")):
            matrix.environment(row, self.venvs)
        self.assertEqual(os.listdir(self.venvs), [])

    def test_a_row(self):
        """Scripts run in both modes; one that fails makes the row wrong."""
        self.have("a", 'case "$*" in *" ours "*bad*) echo no; exit 3;; '
                       '*-c*) echo 2.1 3.6 3.11.7;; esac')
        for name, right in ("good.py", True), ("bad.py", False):
            with open(os.path.join(self.venvs, name), "w"):
                pass
            found, line, said = self.measure(lambda *_: {})
            self.assertIs(found, right)
            self.assertRegex(
                line, r"^\| 2.1 \| 3.6 \| 3.11.7 \| 7 \| 0 \| 1 \| (\d+)/\1 \| "
                + ("2/2 " if right else "3/4 "))
        self.assertIn("bad.py --triton ours: exit status 3: no", said)

    def test_examples_in_one_process(self):
        """Those that raise, and those that it never came to."""
        self.have("a", 'case "$*" in *-c*) echo 2.1 3.6 3.11.7;; *) '
                       "echo '[\"x.py\", \"\", null]'; "
                       "echo '[\"y.py\", \"\", \"E: bad\\\\n\"]'; "
                       "echo killed; esac")
        wrong = matrix.together(os.path.join(self.venvs, "a", "bin", "python"),
                                "b", "ours", ["x.py", "y.py", "z.py"])
        self.assertEqual(wrong, {"y.py": "E: bad", "z.py": "killed"})

    def measure(self, together):
        args = argparse.Namespace(venvs=self.venvs, build="b",
                                  acceptance=self.venvs)
        with unittest.mock.patch.multiple(
                matrix, tests=lambda *_: (7, 0, 1), together=together), (
                contextlib.redirect_stdout(io.StringIO())) as said:
            line, right = matrix.measure(matrix.Row("a", "2.1", "3.6"), args)
        return right, line, said.getvalue()


if __name__ == "__main__":
    unittest.main()
