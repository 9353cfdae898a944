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
        self.refused(["--backend", "ptx", "kernel.py"], "no FILE is taken",
                     "tkdbg run --sizes")
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

    def test_right_code(self):
        for backend in "triton-ptx", "ttir":
            done = self.fuzz(backend, "--backend", backend, "--count", "2",
                             "--seed", "10")  # where n is negative
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            self.assertIn(f"2 kernels by the interpreter and '{backend}': all "
                          "leave the same", done.stdout)


if __name__ == "__main__":
    unittest.main()
