"""What the front end takes and refuses, as each version of Triton does: a part
of the kernels that `make front` gives to both, with recorded answers."""
import os
import subprocess
import sys
import tempfile
import unittest

import support

support.need("library", "numpy")

sys.path.insert(0, os.path.join(support.ROOT, "tests", "front"))
import front  # noqa: E402
import kernels  # noqa: E402
import versions as versions_  # noqa: E402

# Of the older versions each so many-th kernel is tried, and all of those that
# the versions do not agree about.
OLDER = 10


class Front(unittest.TestCase):

    def test_recorded_answers(self):
        chosen = front.gate()
        versions, marks = front.table()
        self.assertEqual([c.label for c in chosen], list(marks),
                         "run make front RECORD=1")
        self.assertEqual(versions, [row.version for row in versions_.rows()])
        for version in versions:
            with self.subTest(version=version):
                self.agree(version, [
                    case for i, case in enumerate(chosen)
                    if version == versions[-1] or i % OLDER == 0
                    or len(set(marks[case.label])) > 1])

    def agree(self, version, chosen):
        """What tkdbg says as that version is what was recorded."""
        said, known = front.recorded(version), front.known(version)
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        path = os.path.join(folder.name, "kernels.py")
        with open(path, "w", encoding="utf-8") as f:
            f.write(kernels.module(chosen))
        out = path + ".ours"
        subprocess.run(
            [sys.executable, "-m", "tkdbg", "run", "--quiet", "--triton",
             "ours", "--triton-version", version,
             os.path.join(front.HERE, "ours.py"), path, out], check=True)
        answers = front.read(out)
        wrong = [f"{case.label}: {answers[f'k{i}'][1] or 'taken'}"
                 for i, case in enumerate(chosen)
                 if answers[f"k{i}"][0] != said[case.label]
                 and not front.is_known(case.label, known)]
        self.assertEqual(wrong, [])
        self.assertGreater(sum(said.values()), 100)


class Values(unittest.TestCase):
    """The types and values of a part of the expressions of `make versions`,
    with what each version of Triton said."""

    def test_recorded_answers(self):
        chosen, said = versions_.gate(), versions_.recorded()
        self.assertEqual([c.label for c in chosen], list(said),
                         "run make versions RECORD=1")
        self.assertGreater(len(chosen), 150)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "kernels.py")
            with open(path, "w", encoding="utf-8") as f:
                f.write(kernels.module(chosen))
            for version in next(iter(said.values())):
                with self.subTest(version=version):
                    self.agree(version, path, chosen, said)

    def agree(self, version, path, chosen, said):
        out = f"{path}.{version}"
        subprocess.run(
            [sys.executable, "-m", "tkdbg", "run", "--quiet", "--triton",
             "ours", "--triton-version", version,
             os.path.join(front.HERE, "values.py"), path, out, "ours"],
            check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        answers = versions_.read(out)
        known = front.known(version, "known-values")
        wrong = [f"{c.label}: {said[c.label][version]}, {answers[f'k{i}']}"
                 for i, c in enumerate(chosen)
                 if versions_.differ(said[c.label][version], answers[f"k{i}"])
                 and not front.is_known(c.label, known)]
        self.assertEqual(wrong, [])


if __name__ == "__main__":
    unittest.main()
