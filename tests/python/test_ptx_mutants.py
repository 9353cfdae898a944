"""Faults in the PTX of Triton's compiler (tests/ptx/mutants.py): one of each of
some kinds."""
import os
import subprocess
import sys
import unittest

import support

support.need("library", "numpy", "triton")

MUTANTS = os.path.join(support.ROOT, "tests", "ptx", "mutants.py")


class Mutants(unittest.TestCase):
    def setUp(self):
        if support.triton_version() < (3, 6):
            self.skipTest("Triton is older than 3.6")

    def found(self, only):
        done = subprocess.run(
            [sys.executable, MUTANTS, "--build", support.BUILD, "--places",
             "1", "--only", only], capture_output=True, text=True, timeout=600,
            check=False, env=dict(os.environ, TRITON_DEFAULT_FP_FUSION="1"))
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    def test_a_barrier_is_a_race_at_its_line(self):
        self.assertIn("| dropped barrier | 1 | 1 | 1 | race 1 |",
                      self.found("dropped barrier turned sm_80"))

    def test_a_swizzle_gives_wrong_values(self):
        self.assertIn("| wrong swizzle | 1 | 1 | 1 | values 1 |",
                      self.found("wrong swizzle turned sm_80"))


if __name__ == "__main__":
    unittest.main()
