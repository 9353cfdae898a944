"""The planted scripts without their bugs: no detector says anything."""
import unittest

import support

support.need("library", "numpy")

import planted  # noqa: E402

BUGS = planted.read()


class Right(unittest.TestCase):
    """In four sizes each."""

    def test_right_scripts_are_silent(self):
        self.assertGreaterEqual(len(BUGS) * len(planted.SIZES), 200)
        for case in BUGS:
            said, status = planted.run(
                [case.text(size, right=True) for size in planted.SIZES],
                {"check": "all"})
            with self.subTest(case.name):
                self.assertEqual(said, "")
                self.assertEqual(status, 0)


if __name__ == "__main__":
    unittest.main()
