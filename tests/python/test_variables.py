"""The list of Triton's knobs and variables is whole, and is what it says."""
import os
import re
import subprocess
import sys
import unittest

import support

support.need("library", "torch")

from tkdbg import variables  # noqa: E402

KNOWN = {name for s in variables.SETTINGS for name in s.names}


class Variables(support.ScriptCase):
    def test_the_page(self):
        with open(os.path.join(support.ROOT, "docs", "knobs.md")) as f:
            self.assertEqual(f.read(), variables.page(), "run make docs")

    def test_each_is_named_once(self):
        names = [name for s in variables.SETTINGS for name in s.names]
        self.assertEqual(len(names), len(set(names)))

    @support.only_ours("the values are none that Triton itself could use")
    def test_warnings(self):
        set_ = {s.names[-1]: "1" for s in variables.SETTINGS
                if s.how == variables.WARNED}
        quiet = {name: "1" for s in variables.SETTINGS for name in s.names
                 if s.how == variables.SILENT and "PATH" not in name}
        done = self.run_script("""
            import torch, triton, triton.language as tl
            @triton.jit
            def k(o):
                tl.store(o, 1.0)
            k[(1,)](torch.zeros(1, device="cuda"))
        """, "-q", env={**quiet, **set_})
        said = re.findall(r"(\w+) is set, and tkdbg does not", done.stderr)
        self.assertEqual(sorted(said), sorted(set_))

    def test_a_tuned_kernel_says_what_was_chosen(self):
        done = self.run_script("""
            import torch, triton, triton.language as tl
            @triton.autotune([triton.Config({"B": 16}),
                              triton.Config({"B": 32})], key=["n"])
            @triton.jit
            def k(o, n, B: tl.constexpr):
                tl.store(o + tl.arange(0, B), n)
            o = torch.zeros(32, device="cuda")
            k[(1,)](o, 5)
            k[(1,)](o, 5)
        """, "-q", env={"TRITON_PRINT_AUTOTUNING": "1"})
        self.assertEqual(done.stdout.count("Triton autotuning for function k"),
                         1)
        self.assertIn("best config selected: B: ", done.stdout)

    @unittest.skipUnless(support.real_triton(), "triton is not installed")
    def test_an_installed_triton_has_no_others(self):
        code = ("import triton, re, sys; from triton import knobs; "
                "t = open(knobs.__file__).read(); "
                "print(*re.findall(r'\"([A-Z][A-Z0-9_]+)\"', t)); "
                "b = open(sys.modules['triton._C.libtriton'].__file__, 'rb')"
                ".read(); "
                "print(*{m.decode() for m in re.findall(rb'\\0((?:TRITON_|"
                "MLIR_ENABLE_|DISABLE_|AMDGCN_|NVPTX_|LLVM_IR_|USE_IR_)"
                "[A-Z0-9_]{4,})\\0', b)})")
        done = subprocess.run([sys.executable, "-c", code], text=True,
                              env=support.environment(PYTHONPATH=""),
                              cwd=support.HERE, capture_output=True)
        found = set(done.stdout.split())
        self.assertIn("TRITON_F32_DEFAULT", found, done.stderr)
        found.discard("EXE")  # what names of programs end with
        self.assertEqual(found - KNOWN, set())


if __name__ == "__main__":
    unittest.main()
