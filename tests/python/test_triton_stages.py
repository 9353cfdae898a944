"""What the installed Triton's compiler makes of a kernel, stage by stage.  No
GPU is needed."""
import os
import subprocess
import sys
import unittest

import support

support.need("library", "numpy", "triton")

SCRIPT = """
import numpy as np, triton, triton.language as tl

@triton.jit
def k(x, y, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(y + i, tl.load(x + i, i < n) * 2, i < n)

x, y = np.arange(100, dtype=np.int32), np.zeros(100, np.int32)
k[(4,)](x, y, 100, B=32)
"""
STAGES = {"ttir": "tt.store ", "ttgir": "#ttg.blocked",
          "llir": "target datalayout",
          "ptx": ".visible .entry k(", "sass": "STG"}


class Stages(support.ScriptCase):
    triton = "ours"

    def tkdbg(self, command, *words, **more):
        return subprocess.run(
            [os.path.join(support.BUILD, "tkdbg"), command, "--python",
             sys.executable, *words],
            env=support.environment(TKDBG_PYTHON=sys.executable, **more),
            capture_output=True, text=True, timeout=300, cwd=self.folder.name)

    def record(self, text=SCRIPT):
        path = os.path.join(self.folder.name, "k.safetensors")
        done = self.tkdbg("run", "-q", "--triton", "ours", "--record", path,
                          self.write(text, head=""))
        self.assertEqual(done.returncode, 0, done.stderr)
        return path

    def stage(self, name, *words):
        done = self.tkdbg("compile", "--by", "triton", "--emit", name, *words)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout


class Compile(Stages):

    def test_stages(self):
        """Each is printed, with lines of the kernel's own file."""
        launch = self.record()
        for name, sign in STAGES.items():
            with self.subTest(name):
                text = self.stage(name, launch)
                self.assertIn(sign, text)
                self.assertNotIn("warning", text)
                if name != "sass":
                    self.assertIn('script.py"', text)
                    if name != "ptx":  # its comments have other names
                        self.assertNotIn("0_script", text)

    def test_for_a_gpu(self):
        launch = self.record()
        self.assertIn("cuda:90", self.stage("ttgir", "--arch", "sm_90", launch))
        self.assertIn("cuda:80", self.stage("ttgir", launch))

    def test_of_a_script(self):
        text = self.stage("ttir", "--triton", "ours",
                          self.write(SCRIPT, head=""))
        self.assertEqual(text.count("tt.func public @k"), 1)

    def test_no_such_stage(self):
        done = self.tkdbg("compile", "--by", "triton", "--emit", "axis",
                          self.record())
        self.assertEqual(done.returncode, 2)
        self.assertIn("there is no stage of Triton's called 'axis'",
                      done.stderr)
        self.assertIn("there is: ttir, ttgir, llir, ptx, sass", done.stderr)

    def test_machine_code_without_its_programs(self):
        path = os.path.join(self.folder.name, "cuobjdump")
        with open(path, "w", encoding="utf-8") as f:
            f.write('#!/bin/sh\n[ "$1" = --version ] || exit 1\n'
                    "echo Cuda compilation tools, release 12.8, V12.8.55\n")
        os.chmod(path, 0o755)
        done = self.tkdbg("compile", "--by", "triton", "--emit", "sass",
                          self.record(), TRITON_CUOBJDUMP_PATH=path)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("machine code is printed by cuobjdump and nvdisasm",
                      done.stderr)


if __name__ == "__main__":
    unittest.main()
