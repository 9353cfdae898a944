"""Every script of examples/ runs and finds its own answers right."""
import ast
import glob
import json
import os
import re
import unittest

import support

support.need("library", "numpy")

FOLDER = os.path.join(support.ROOT, "examples")
PAGE = os.path.join(support.ROOT, "docs", "examples.md")
SCRIPTS = sorted(glob.glob(os.path.join(FOLDER, "*.py")))


def name_of(path):
    return os.path.splitext(os.path.basename(path))[0]


def summary(path):
    """The first paragraph of a script's description, on one line."""
    with open(path) as f:
        text = ast.get_docstring(ast.parse(f.read()))
    return text.split("\n\n")[0].replace("\n", " ")


with open(os.path.join(support.ROOT, "tests", "support", "run_all.py")) as _f:
    RUN_ALL = _f.read()


class Examples(support.ScriptCase):
    """One test for each script, added below."""

    runs = {}  # mode: ({path: (output, error)}, stderr)

    def run_all(self):
        """What they have printed in this mode; they run once."""
        if self.triton not in self.runs:
            done = self.run_script(RUN_ALL, "-q", args=SCRIPTS, check=False)
            self.runs[self.triton] = {
                path: (output, error) for path, output, error in
                map(json.loads, done.stdout.splitlines())}, done.stderr
        return self.runs[self.triton]

    def check_example(self, path):
        results, stderr = self.run_all()
        self.assertIn(path, results, stderr)
        output, error = results[path]
        self.assertIsNone(error, error)
        self.assertRegex(output, rf"^{name_of(path)}: OK, \d+ \w+\n$")

    def test_no_warnings(self):
        self.assertEqual(self.run_all()[1], "")


def _add(path):
    def test(self):
        self.check_example(path)
    setattr(Examples, f"test_{name_of(path)}", test)


for _path in SCRIPTS:
    _add(_path)


class Page(unittest.TestCase):

    def test_docs_list_every_example(self):
        with open(PAGE) as f:
            listed = dict(re.findall(
                r"^\| \[(\w+)\.py\]\(\.\./examples/\1\.py\) \| (.*) \|$",
                f.read(), re.M))
        self.assertEqual(listed, {name_of(p): summary(p) for p in SCRIPTS})


if __name__ == "__main__":
    unittest.main()
