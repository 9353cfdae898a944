"""The table of what the language leaves open is what the tests show.

Cases are run by test_check.c and test_kernel.c, which also look for the finding
that a case names: what is asked here is whether a row names the right one.
"""
import os
import re
import subprocess
import sys
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))
BUILD = os.environ.get('BUILD') or os.path.join(ROOT, 'build-asserts')
sys.path.insert(0, os.path.join(ROOT, 'tools'))
import semantics  # noqa: E402

PLACES = [os.path.join(ROOT, 'tests', 'check'),
          os.path.join(ROOT, 'tests', 'language'),
          os.path.join(BUILD, 'tests', 'language')]


def cases(name):
    """{title: text} of a file of cases or specifications."""
    for place in PLACES:
        path = os.path.join(place, name)
        if os.path.exists(path):
            with open(path, encoding='utf-8') as f:
                parts = re.split(r'^== ', f.read(), flags=re.M)[1:]
            return dict(part.split('\n', 1) for part in parts)
    return {}


def findings(case):
    """Kinds of what a case expects: "!! KIND ..." and "... [KIND]"."""
    marked = re.findall(r'^!! (\S+)', case, re.M)
    below = re.split(r'^(?:!!|\+\+)', case, maxsplit=1, flags=re.M)[1:]
    return marked + re.findall(r'\[([a-z0-9-]+)\]$', ''.join(below), re.M)


class Semantics(unittest.TestCase):
    def setUp(self):
        self.points = semantics.points()
        self.kinds = semantics.names('include/tkdbg/diag.def', 'DIAG', 2)
        self.checks = semantics.names('interp/check/check.def', 'CHECK', 1)
        self.finds = semantics.names('include/tkdbg/diag.def', 'DIAG', 3)

    def test_rows_are_whole(self):
        degrees = [row[0] for row in semantics.degrees()]
        self.assertGreater(len(self.points), 40)
        for p in self.points:
            with self.subTest(row=p.id):
                self.assertIn(p.degree, degrees)
                self.assertTrue(p.what and p.says and p.where and p.does)
                self.assertTrue(p.found or p.shown)
        self.assertEqual({p.degree for p in self.points}, set(degrees))

    def test_each_row_says_where(self):
        """In a text that the legend names."""
        texts = re.split(', ', ', '.join(
            name for name, _ in semantics.legends()))
        for p in self.points:
            with self.subTest(row=p.id):
                for part in p.where.split('; '):
                    named = re.match(r'[\w.]+(?: \d)?', part)[0]
                    if not part.startswith('that of'):
                        self.assertIn(named, texts)

    def test_every_detector_has_a_row(self):
        named = {f.check for p in self.points for f in p.found}
        # What another version of Triton does is left open by none.
        self.assertEqual(named - {'NONE'},
                         set(self.checks) - {'VERSIONS'})

    def test_kinds_belong_to_their_detectors(self):
        for p in self.points:
            for f in p.found:
                with self.subTest(row=p.id, kind=f.kind):
                    of = self.finds[f.kind]
                    self.assertIn(of, ('', self.checks.get(f.check, '')))

    def test_findings_are_those_of_their_tests(self):
        for p in self.points:
            for f in p.found:
                with self.subTest(row=p.id, test=f.test):
                    name, title = semantics.test_of(f.test)
                    self.assertIn(title, cases(name))
                    self.assertIn(self.kinds[f.kind],
                                  findings(cases(name)[title]))

    def test_values_are_shown_by_tests_without_a_finding(self):
        for p in self.points:
            for test in p.shown:
                with self.subTest(row=p.id, test=test):
                    name, title = semantics.test_of(test)
                    self.assertIn(title, cases(name))
                    self.assertIn('\n--\n', cases(name)[title])

    def test_page_is_what_the_table_says(self):
        tool = os.path.join(ROOT, 'tools', 'semantics.py')
        p = subprocess.run([sys.executable, tool, '--check'],
                           stdout=subprocess.PIPE, text=True)
        self.assertEqual(p.returncode, 0, p.stdout)

    def test_help_prints_every_row(self):
        p = subprocess.run([os.path.join(BUILD, 'tkdbg'), 'help', 'semantics'],
                           stdout=subprocess.PIPE, text=True, check=True)
        said = ' '.join(p.stdout.split())
        for point in self.points:
            with self.subTest(row=point.id):
                self.assertIn(f'what {point.what} Triton {point.says} '
                              f'({point.where}) tkdbg {point.does}', said)


class Versions(unittest.TestCase):
    """What versions of Triton changed: version.def."""

    # What a host's class means is tested in test_aggregates.py.
    ELSEWHERE = {"PLAIN_AGGREGATE", "AGGREGATE_OPERATORS", "CLASS_PASSED",
                 "FIELDS_PASSED", "METHODS_ARE_USED"}

    def test_each_change_since_3_7_has_cases(self):
        with open(os.path.join(ROOT, "src/typing/version.def"),
                  encoding="utf-8") as f:
            text = f.read()
        rows = re.findall(r"^CHANGE\((\w+), (\d+)", text, re.M)
        path = os.path.join(ROOT, "tests/language/versions.case")
        with open(path, encoding="utf-8") as f:
            named = re.findall(r"^== (\w+) in (\S+)$", f.read(), re.M)
        for row, since in rows:
            if int(since) < 307 or row in self.ELSEWHERE:
                continue
            now = f"{int(since) // 100}.{int(since) % 100}"
            before = f"{int(since) // 100}.{int(since) % 100 - 1}"
            with self.subTest(row):
                self.assertIn((row, now), named)
                self.assertIn((row, before), named)


if __name__ == '__main__':
    unittest.main()
