"""What works for a launch of Triton works for one of CUDA Tile: the debugger
and its way back, records, threads, profiles, pages, the PTX interpreter."""
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

import support
from test_cutile import has_cutile, python_path

support.need("library", "numpy")

sys.path.append(os.path.join(support.ROOT, "tests", "dap"))
import client  # noqa: E402

SCRIPT = """import numpy as np
import cuda.tile as ct


@ct.kernel
def horner(a, out, n, T: ct.Constant[int]):
    i = ct.bid(0)
    x = ct.load(a, (i,), (T,))
    y = ct.zeros((T,), ct.float32)
    for k in range(n):
        y = y * x + k
    ct.store(out, (i,), y)


a = np.linspace(0, 1, 64, dtype="f4")
out = np.zeros(64, "f4")
ct.launch(1, (8,), horner, (a, out, 4, 8))
assert out[0] == 3 and out[63] == 6, out
"""
VALUE = "[1. 1. 1. 1. 1. 1. 1. 1.]"


@unittest.skipUnless(has_cutile(), "cuda.tile is not installed")
class Tools(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        with open(os.path.join(self.folder, "script.py"), "w") as f:
            f.write(SCRIPT)

    def environment(self):
        env = support.environment(PYTHONPATH=python_path())
        env["PATH"] = os.pathsep.join([os.path.dirname(sys.executable),
                                       support.BUILD, env["PATH"]])
        return env

    def command(self, *args, status=0):
        """What tkdbg says, in the folder of the script."""
        env = self.environment()
        done = subprocess.run(
            ["tkdbg", *args], cwd=self.folder, env=env, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL, timeout=240)
        self.assertEqual(done.returncode, status, done.stdout)
        return done.stdout

    def test_debugger_and_back(self):
        said = self.command(
            "debug", "-q", "-ex", "break 11 if k == 2", "-ex", "run",
            "-ex", "print y", "-ex", "reverse-step", "-ex", "print k",
            "-ex", "quit", "script.py")
        self.assertIn("=>  11          y = y * x + k", said)
        self.assertIn(f"(tkdbg) print y\ny: fp32[8] = {VALUE}", said)
        self.assertIn("(tkdbg) print k\nk: int32 = 1\n", said)

    def test_the_debugger_speaks_of_blocks(self):
        said = self.command(
            "debug", "-q",
            "-ex", "break 11 if ct.bid(0) == 0 and k == 2", "-ex", "run",
            "-ex", "print ct.num_blocks(0)", "-ex", "print ct.sum(y, 0)",
            "-ex", "print ct.foo", "-ex", "quit", "script.py", status=0)
        self.assertIn("Breakpoint 1, launch 1 (horner), block (0, 0, 0)", said)
        self.assertIn("ct.num_blocks(0): int32 = 8\n", said)
        self.assertIn("ct.sum(y, 0): fp32 = ", said)
        self.assertIn("foo is not an operation", said)
        self.assertNotIn("program", said)

    def test_record_and_replay(self):
        self.command("run", "-q", "--record", "l.safetensors", "script.py")
        said = self.command("replay", "-q", "l.safetensors", "--print", "out")
        self.assertRegex(said, r"^out = \[3\. ")
        self.assertIn(" 6. ", said)
        said = self.command(
            "debug", "-q", "-ex", "break 12", "-ex", "run", "-ex", "print y",
            "-ex", "quit", "l.safetensors")
        self.assertIn("=>  12      ct.store(out, (i,), y)", said)

    @unittest.skipUnless(shutil.which("gdb"), "there is no gdb")
    def test_gdb(self):
        """gdb's own conditions, values and way back, of a recorded launch."""
        self.command("run", "-q", "--record", "l.safetensors", "script.py")
        asked = ("target remote | tkdbg gdbserver --stdio l.safetensors",
                 "break script.py:11 if k == 2", "continue", "print y",
                 "info locals", "reverse-next", "print k")
        done = subprocess.run(
            ["gdb", "-nx", "-q", "-batch",
             *(word for text in asked for word in ("-ex", text))],
            cwd=self.folder, env=self.environment(), text=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL, timeout=240)
        self.assertIn('Thread 1 "pid(0,0,0)" hit Breakpoint 1, horner (a=0x',
                      done.stdout)
        self.assertIn("11\t        y = y * x + k\n", done.stdout)
        self.assertIn("= {1, 1, 1, 1, 1, 1, 1, 1}\n", done.stdout)
        self.assertRegex(done.stdout, r"\ni = 0\n(.*\n)*k = 2\n(.*\n)*"
                         r"\$2 = 1\n")

    def test_editors(self):
        """The script as an editor starts it: stops, values, the way back."""
        script = os.path.join(self.folder, "script.py")
        c, process = client.start(
            os.path.join(support.BUILD, "tkdbg"), env=self.environment())
        self.addCleanup(process.communicate, timeout=60)  # closes the pipes
        self.addCleanup(process.kill)
        c.initialize()
        c.begin({"program": script, "cwd": self.folder}, [(script, [11])])
        stop = c.stopped()
        self.assertEqual((stop["frame"]["name"], stop["frame"]["line"]),
                         ("horner, trip 0", 11))
        c.request("next", threadId=c.thread)
        c.stopped()
        c.request("next", threadId=c.thread)
        found = c.scope(c.stopped()["frame"], "Locals")
        self.assertEqual(found["k"]["value"], "2")
        self.assertIn("[1. 1. 1.", found["y"]["value"])
        c.request("stepBack", threadId=c.thread)
        found = c.scope(c.stopped()["frame"], "Locals")
        self.assertEqual(found["k"]["value"], "1")
        c.request("disconnect")

    def test_threads(self):
        self.command("run", "-q", "--jobs", "2", "script.py")

    def test_profile(self):
        said = self.command("profile", "-q", "script.py")
        self.assertIn("horner (script.py:6)", said)
        self.assertRegex(said, r" 256 B .* 8 \|     x = ct\.load\(a, ")

    def test_view(self):
        said = self.command("view", "-q", "--json", "script.py")
        found = json.loads(said[said.index("{"):])
        self.assertIn("horner", json.dumps(found))
        self.assertIn("y = y * x + k", json.dumps(found))

    def test_beside_ptx(self):
        reason = support.without_llvm()
        if reason:
            self.skipTest(reason)
        said = self.command("diff", "-q", "--backend", "ptx", "script.py")
        self.assertIn("out: 64 elements, all bits agree", said)


if __name__ == "__main__":
    unittest.main()
