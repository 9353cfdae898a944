"""Random kernels that are packed for a machine with a GPU (tests/random): what
carried.py does there, by a CUDA driver that has no GPU."""
import json
import lzma
import os
import subprocess
import sys
import tempfile
import unittest

import support

support.need("library", "numpy", "triton")

RANDOM = os.path.join(support.ROOT, "tests", "random")
CARRY = os.path.join(RANDOM, "carry.py")


class Carried(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.temporary.cleanup)
        cls.folder = os.path.join(cls.temporary.name, "carried")
        cls.version = ".".join(map(str, support.triton_version()[:2]))
        cls.packed = cls.run_python(
            CARRY, cls.folder, "--build", support.BUILD, "--peer",
            cls.version, "--count", "2", "--jobs", "1")
        subprocess.run(
            ["cc", "-shared", "-fPIC", "-o", os.path.join(
                cls.temporary.name, "libcuda.so.1"),
             os.path.join(RANDOM, "fake_libcuda.c")], check=True)

    @classmethod
    def run_python(cls, *words, **environment):
        return subprocess.run(
            [sys.executable, *words], capture_output=True, text=True,
            timeout=600, check=False,
            env=dict(os.environ, TKDBG="", **environment))

    def run_there(self, name, fake):
        """carried.py's output, and the folder that it writes to."""
        out = os.path.join(self.temporary.name, name)
        return self.run_python(
            os.path.join(self.folder, "carried.py"), "--out", out, "--jobs",
            "1", "--patience", "300", LD_LIBRARY_PATH=self.temporary.name,
            FAKE_CUDA=fake), out

    def test_what_is_packed(self):
        self.assertEqual(self.packed.returncode, 0, self.packed.stderr)
        self.assertIn(f"2 kernels for Triton {self.version}",
                      self.packed.stdout)
        with lzma.open(os.path.join(self.folder, "about.json.xz")) as f:
            wanted = json.load(f)["wanted"]
        self.assertEqual(list(wanted), ["seed 0", "seed 1"])

    def test_kernels_that_write_nothing_differ(self):
        done, out = self.run_there("differs", "")
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("fake GPU 0, driver of CUDA 13.0", done.stdout)
        self.assertIn("\n| 2 | 0 | 2 | 0 | 0 | 0 | 0 |\n", done.stdout)
        self.assertRegex(done.stdout,
                         r"\nseed 1: differs: in (\w+(, )?)+; ptxas -O0: "
                         r"differs in \w+")
        explained = self.run_python(
            CARRY, self.folder, "--build", support.BUILD, "--explain",
            os.path.join(out, "differ.npz"))
        self.assertIn("2 kernels differ", explained.stdout)
        self.assertRegex(explained.stdout,
                         r"seed 1: [yz]\d+\[\d+\] is .*, not ")
        self.assertIn("def k1(", explained.stdout)

    def test_a_launch_that_faults(self):
        """The kernels behind it run nonetheless."""
        for name, fake, why in (("fault", "700", "fake error 700"),
                                ("crash", "crash", "its process ended (-11)")):
            with self.subTest(name):
                done, _ = self.run_there(name, fake)
                self.assertEqual(done.returncode, 1, done.stderr)
                self.assertIn("\n| 2 | 0 | 0 | 2 | 0 | 0 | 0 |\n", done.stdout)
                self.assertIn("seed 1: fails: ", done.stdout)
                self.assertIn(why, done.stdout)

    def test_no_gpu(self):
        done, _ = self.run_there("none", "none")
        self.assertEqual(done.returncode, 1)
        self.assertIn("no kernel can be run here: cuInit: fake error 100",
                      done.stderr)


if __name__ == "__main__":
    unittest.main()
