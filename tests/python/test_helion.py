"""Helion: the configurations that run, and lines of the program that the
kernels it writes were made of."""
import os
import re
import unittest

import support

support.need("library", "torch", "helion")

PAGE = os.path.join(support.ROOT, "docs", "helion.md")
HEAD = """
    import torch
    import helion
    import helion.language as hl

    x, y = torch.randn(40, 24).cuda(), torch.randn(24, 56).cuda()
"""
PRODUCT = """
    @helion.kernel({0})
    def product(x, y):
        m, k = x.size()
        n = y.size(1)
        out = torch.empty([m, n], dtype=x.dtype, device=x.device)
        for rows, columns in hl.tile([m, n]):
            acc = hl.zeros([rows, columns], dtype=torch.float32)
            for ks in hl.tile(k):
                acc = torch.addmm(acc, x[rows, ks], y[ks, columns])
            out[rows, columns] = acc
        return out

    torch.testing.assert_close(product(x, y), x @ y, rtol=1e-2, atol=1e-1)
    print("right")
"""
NAMED = """configs=[
    helion.Config(block_sizes=[n, n, 16], num_warps=w)
    for n, w in ((16, 64), (32, 4), (16, 4))]"""


class Helion(support.ScriptCase):
    # Helion writes for Triton, and needs it.
    triton = "installed"

    def setUp(self):
        if not support.real_triton():
            self.skipTest("Triton is not installed")
        super().setUp()

    def helion(self, text, *options, **kwargs):
        return self.run_script(text, *options, **{
            "head": HEAD, "env": {
                "TORCHINDUCTOR_CACHE_DIR": self.path("made")}, **kwargs})

    def test_named_configurations(self):
        """The first one that the device can launch is taken, without times;
        a benchmark calls a function once."""
        done = self.helion(PRODUCT.format(NAMED) + """
    from helion._testing import run_example
    run_example(product, torch.matmul, (x, y))
    print(product.bind((x, y))._config)
        """, "--check=bounds")
        self.assertIn("right\n", done.stdout)
        self.assertIn("block_sizes=[32, 32, 16]", done.stdout)
        self.assertIn("product: --check saw 1 of 3 configurations",
                      done.stderr)
        self.assertIn("tkdbg: ran once instead of a benchmark", done.stderr)
        self.assertRegex(done.stderr, "tkdbg: 3 launches")

    def test_a_space_of_configurations(self):
        """Drawn ones are the same each time, and agree."""
        done = [self.helion(PRODUCT.format(""), *options) for options in (
            ("--check=bounds",), ("--autotune", "all"))]
        n = re.search(r"saw 1 of (\d+) configurations", done[0].stderr)
        self.assertIsNotNone(n)
        self.assertIn("tkdbg: 1 launch,", done[0].stderr)
        self.assertNotIn("disagree", done[1].stderr)
        launches = re.search(r"tkdbg: (\d+) launches", done[1].stderr)
        self.assertGreaterEqual(int(launches[1]), int(n[1]) // 2)

    def test_configurations_that_disagree(self):
        """What a function returns is compared, not only its arguments."""
        done = self.helion("""
            @helion.kernel(configs=[helion.Config(block_sizes=[n])
                                    for n in (16, 32)])
            def sizes(x):
                out = torch.empty_like(x)
                for tile in hl.tile(x.size(0)):
                    out[tile] = x[tile] * 0 + tile.block_size
                return out

            sizes(torch.ones(64).cuda())
        """, "--autotune", "all", check=False)
        self.assertIn("the configurations of sizes disagree", done.stderr)
        self.assertIn("64 of 64 elements of result differ", done.stderr)

    def test_the_manuals_example(self):
        with open(PAGE, encoding="utf-8") as f:
            page = f.read()
        script, = re.findall(r"```python\n(.*?)```", page, re.S)
        finding, stop = re.findall(r"```text\n(.*?)```", page, re.S)
        done = self.helion(script, name="gather.py", head="", check=False,
                           json_options={"breakpoints": ["gather.py:11"],
                                         "commands": ["continue"] * 2})
        self.assertEqual(done.returncode, 1)
        said = " ".join(done.stdout.split())  # lines are broken elsewhere
        for line in finding.splitlines():
            if line.lstrip().startswith(("error", "note")):
                self.assertIn(line.strip(), said)
        self.assertIn("gather.py:11: picked", stop)
        self.assertRegex(done.stdout, r"Breakpoint 1, launch 1 .*\n.*\n"
                         r"of gather.py:11: picked = x\[at, columns\]\n"
                         r"(.*\n)?=>  25 +picked = tl.load\(")

    def test_lines_of_the_program(self):
        """why says them, and suspects, too."""
        text = PRODUCT.format("config=helion.Config(block_sizes=[32, 32, 16])")
        done = self.helion(text.replace("] = acc", "] = acc + 1"), "--why",
                           check=False)
        self.assertRegex(done.stderr,
                         r"suspects:\n.*\n +of script.py:\d+: out\[rows")
        self.assertRegex(done.stderr, r"\| of script.py:\d+: acc = "
                         r"torch.addmm\(acc, x\[rows, ks\]")


if __name__ == "__main__":
    unittest.main()
