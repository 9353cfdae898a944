"""Scripts with planted bugs: `tkdbg why` and `run --check` name the line."""
import re
import unittest

import support

support.need("library", "numpy")

import planted  # noqa: E402

BUGS = planted.read()


class Culprits(unittest.TestCase):
    """planted.txt and planted_torch.txt."""

    def test_the_culprit_is_named(self):
        self.assertGreaterEqual(len(BUGS), 60)
        for case, said in planted.all_said():
            with self.subTest(case.name):
                self.assertTrue(planted.names_culprit(said.why, case))
                self.assertTrue(planted.names_culprit(said.check, case))
                # where a launch stops, its error comes before
                answer = said.why.rpartition("\ntkdbg: launch ")[2]
                self.assertLessEqual(answer.count("\n") + 1, 25)

    def test_the_table_of_the_docs(self):
        with open(f"{support.ROOT}/docs/findings.md") as f:
            rows = re.findall(r"^\| ([\w ]+)[^|]*(\|.* of \d+ \|)$", f.read(),
                              re.M)
        said = [f"| {kind.strip()} {cells}" for kind, cells in rows]
        self.assertEqual(said[:len(planted.table())], planted.table())


if __name__ == "__main__":
    unittest.main()
