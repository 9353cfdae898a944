"""What the front end takes and refuses, as Triton 3.6 does: a part of the
kernels that `make front` gives to both, with Triton's recorded answers."""
import os
import sys
import tempfile
import unittest
import warnings

import support

support.need("library", "numpy")

import tkdbg  # noqa: E402

tkdbg.install(quiet=True, triton="ours")
warnings.simplefilter("ignore")

sys.path.insert(0, os.path.join(support.ROOT, "tests", "front"))
import front  # noqa: E402
import kernels  # noqa: E402
import ours  # noqa: E402


class Front(unittest.TestCase):

    def test_recorded_answers(self):
        said, known = front.recorded(), front.known()
        chosen = front.gate()
        self.assertEqual([c.label for c in chosen], list(said),
                         "run make front RECORD=1")
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "kernels.py")
            with open(path, "w", encoding="utf-8") as f:
                f.write(kernels.module(chosen))
            answers = [ours.answer(fn, args)
                       for _, fn, args in ours.kernels(path)]
        wrong = [f"{case.label}: {why or 'taken'}"
                 for case, why in zip(chosen, answers)
                 if (why is None) != said[case.label]
                 and not front.is_known(case.label, known)]
        self.assertEqual(wrong, [])
        self.assertGreater(sum(said.values()), 100)


if __name__ == "__main__":
    unittest.main()
