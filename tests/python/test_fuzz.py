"""tkdbg fuzz: random kernels, by the interpreter and by a backend."""
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest

import support

support.need("library", "numpy")

TKDBG = os.path.join(support.BUILD, "tkdbg")


ADD = """
import numpy as np
import triton
import triton.language as tl

@triton.jit
def more(x):
    return x + 1

@triton.jit
def add(x, y, n, B: tl.constexpr):
    '''One more.'''
    i = tl.program_id(0) * B + tl.arange(0, B)
    a = tl.load(x + i, mask=i < n)
    for k in range(2):
        a = tl.maximum(a, 0)
    if B > 2:
        a = more(a)
    tl.store(y + i, a, mask=i < n)

n, BLOCK = 40, 16
x = np.arange(n, dtype=np.int32)
y = np.zeros_like(x)
add[(triton.cdiv(n, BLOCK),)](x, y, n, BLOCK)
assert np.array_equal(y, x + 1)
"""


class Fuzz:
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = temporary.name

    def corpus(self, name):
        return os.path.join(self.folder, name)

    def command(self, name, *words):
        return [TKDBG, "fuzz", "--python", sys.executable, "--corpus",
                self.corpus(name), *words]

    def fuzz(self, name, *words, **environment):
        return subprocess.run(
            self.command(name, *words), capture_output=True, text=True,
            timeout=600, check=False, env=dict(os.environ, **environment))

    def state(self, name):
        with open(os.path.join(self.corpus(name), "fuzz.json"),
                  encoding="utf-8") as f:
            return json.load(f)

    def script(self, text):
        path = os.path.join(self.folder, "script.py")
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)
        return path

    def refused(self, words, *expected):
        done = self.fuzz("refused", *words)
        self.assertEqual(done.returncode, 2, done.stdout)
        for text in expected:
            self.assertIn(text, done.stderr)


class Command(Fuzz, unittest.TestCase):
    def test_what_is_not_there_is_refused_by_name(self):
        self.refused(["--backend", "ptx", "--features", "dots,knots"],
                     "there is no feature 'knots'", "there are floats")
        self.refused(["--backend", "ptx", "--features", "dots,-loops"],
                     "not both")
        self.refused(["--backend", "ptx", "--seed", "-3"], "--seed takes")
        self.refused(["--backend", "gpu", "--arch", "sm_90"], "--arch",
                     "--backend gpu")
        self.refused(["--backend", "ptx", "kernel.txt"],
                     "'kernel.txt' is no script", "FILE.py")
        self.refused(["--backend", "ptx", "kernel.py"],
                     "cannot read kernel.py")
        self.refused(["--backend", "vax"], "vax", "triton-ptx")

    @unittest.skipIf(support.without_llvm(), "LLVM 19 is not installed")
    def test_an_absent_backend_is_refused_with_the_reason(self):
        if os.path.exists("/dev/nvidia0"):
            self.skipTest("there is a GPU")
        self.refused(["--backend", "gpu"], "the backend 'gpu' is not "
                     "available: no driver of an NVIDIA GPU")

    @unittest.skipIf(support.without_llvm(), "LLVM 19 is not installed")
    def test_goes_on_where_it_ended(self):
        words = ["--backend", "ptx", "--seed", "3"]
        done = self.fuzz("on", *words, "--count", "4")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("4 kernels by the interpreter and 'ptx': all leave the "
                      "same", done.stdout)
        done = self.fuzz("on", *words[:2], "--count", "3", "--jobs", "2")
        self.assertIn("goes on from seed 7", done.stdout)
        self.assertEqual(self.state("on")["next"], 10)
        done = self.fuzz("on", *words, "--features", "dots")
        self.assertEqual(done.returncode, 2, done.stdout)
        self.assertIn("holds a search with other features", done.stderr)

    @unittest.skipIf(support.without_llvm(), "LLVM 19 is not installed")
    def test_ctrl_c_keeps_what_is_known(self):
        with subprocess.Popen(
                self.command("c", "--backend", "ptx", "--time", "500"),
                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                start_new_session=True) as run:
            until = time.monotonic() + 60
            path = os.path.join(self.corpus("c"), "fuzz.json")
            while time.monotonic() < until and (
                    not os.path.exists(path) or self.state("c")["next"] < 2):
                time.sleep(0.1)
            os.killpg(run.pid, signal.SIGINT)
            _, said = run.communicate(timeout=60)
        self.assertEqual(run.returncode, 130, said)
        self.assertIn("the same command goes on from there", said)
        self.assertGreaterEqual(self.state("c")["next"], 2)


@unittest.skipIf(support.without_llvm(), "LLVM 19 is not installed")
class Scripts(Fuzz, unittest.TestCase):
    def launches(self, name):
        with open(os.path.join(self.corpus(name), "launches",
                               "launches.json"), encoding="utf-8") as f:
            return [each["what"] for each in json.load(f)["launches"]]

    def test_launches_in_other_ways(self):
        words = ["--backend", "ptx", self.script(ADD)]
        done = self.fuzz("add", *words, "--count", "9")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("9 launches by the interpreter and 'ptx': all leave the "
                      "same", done.stdout)
        whats = "\n".join(self.launches("add"))
        for text in ("as it is", ": n = 41 in place of 40",
                     ": n = 1 in place of", ": n = 43 in", ": n = 17 in",
                     ": BLOCK = 32 in place of 16", "arrays of int64",
                     "x with gaps between its elements"):
            self.assertEqual(whats.count(text), 1, whats)
        done = self.fuzz("add", *words)
        self.assertIn("goes on from launch 9", done.stdout)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("all leave the same", done.stdout)
        # each with other options, where it is one of the script's own
        self.assertEqual(self.state("add")["next"],
                         len(self.launches("add")) + 6)
        done = self.fuzz("add", "--backend", "ptx")
        self.assertEqual(done.returncode, 2, done.stdout)
        self.assertIn("holds a search with the launches of", done.stderr)

    def test_what_is_wrong_in_the_script_is_kept(self):
        done = self.fuzz("mask", "--backend", "ptx", "--count", "1",
                         self.script(ADD.replace(", mask=i < n", "").replace(
                             "= 40", "= 48").replace("40,", "48,")))
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        cause, = self.state("mask")["causes"].values()
        self.assertEqual(cause["kind"], "script")
        with open(os.path.join(self.corpus("mask"), cause["folder"],
                               "report.txt"), encoding="utf-8") as f:
            report = f.read()
        self.assertIn(": n = 49 in place of 48", report)
        self.assertIn("load past the end of x", report)

    def test_what_cannot_be_tried_is_refused(self):
        self.refused(["--backend", "ptx", "--seed", "1", self.script(ADD)],
                     "--seed is for random kernels")
        self.refused(["--backend", "ptx", self.script(
            ADD + "open(__file__).close()\n")], "can run again",
                     "no launches to try")


class ByTriton(Fuzz, unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if (support.triton_version() or (0, 0)) < (3, 6):
            raise unittest.SkipTest("Triton 3.6 or newer is not installed")

    def by_a_wrong_compiler(self, name, *words):
        """With a Triton whose maxima are minima."""
        with open(os.path.join(self.folder, "sitecustomize.py"), "w",
                  encoding="utf-8") as f:
            f.write("from tkdbg import triton_replay\n"
                    "def named(ptx, *where, named=triton_replay.named):\n"
                    "    return named(ptx.replace('max.s32', 'min.s32'),\n"
                    "                 *where)\n"
                    "triton_replay.named = named\n")
        return self.fuzz(name, *words, PYTHONPATH=self.folder)

    def test_a_difference_is_made_small_and_kept_once(self):
        words = ["--seed", "2", "--count", "1", "--features", "loops"]
        done = self.by_a_wrong_compiler("max", *words)
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        state = self.state("max")
        self.assertEqual(state["next"], 3)
        cause, = (c for c in state["causes"]
                  if "max" in c and c.startswith("differs"))
        folder = self.corpus(os.path.join("max",
                                          state["causes"][cause]["folder"]))
        self.assertEqual(sorted(os.listdir(folder)), [
            "kernel.py", "launch.safetensors", "report.txt"])
        self.assertLessEqual(state["causes"][cause]["lines"], 8)
        again = self.fuzz("max", *words[2:])  # by a compiler that is right
        self.assertEqual(again.returncode, 1, again.stdout)
        self.assertEqual(list(self.state("max")["causes"]),
                         list(state["causes"]))

    def test_a_launch_of_a_script_is_made_small(self):
        done = self.by_a_wrong_compiler("script", "--count", "1",
                                        self.script(ADD))
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        cause, = self.state("script")["causes"].values()
        self.assertLessEqual(cause["lines"], 4)
        with open(os.path.join(self.corpus("script"), cause["folder"],
                               "kernel.py"), encoding="utf-8") as f:
            kernel = f.read()
        self.assertIn("tl.maximum(", kernel)
        self.assertNotIn("more(a)", kernel)
        self.assertNotIn("for k in", kernel)

    def test_right_code(self):
        for backend in "triton-ptx", "ttir":
            done = self.fuzz(backend, "--backend", backend, "--count", "2",
                             "--seed", "10")  # where n is negative
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            self.assertIn(f"2 kernels by the interpreter and '{backend}': all "
                          "leave the same", done.stdout)


if __name__ == "__main__":
    unittest.main()
