"""``tkdbg profile script.py``: what is printed where, and when."""
import json
import unittest

import support

support.need("library", "numpy")

OTHER = """
    import triton
    import triton.language as tl

    @triton.jit
    def twice(v):
        return v * 2.0

    @triton.jit
    def double(x, n, B: tl.constexpr):
        i = tl.program_id(0) * B + tl.arange(0, B)
        v = tl.load(x + i, mask=i < n)
        tl.store(x + i, twice(v), mask=i < n)
"""

SCRIPT = """
    import other

    x = np.arange(100, dtype="f4")
    z = np.zeros(100, "f4")
    add[(7,)](x, x, z, 100, BLOCK=16)
    other.double[(4,)](z, 100, 32)
    other.double[(2,)](z, 100, 64)
    print("done")
"""


class Profile(support.ScriptCase):
    def profile(self, text, **options):
        """What became of a script; options beside profile and quiet."""
        return self.run_script(
            text, head=support.HEAD, check=False,
            env={"XDG_CACHE_HOME": self.path("cache")},
            json_options={"profile": True, "quiet": True, **options})

    def test_table(self):
        self.write(OTHER, "other.py")
        found = self.profile(SCRIPT)
        self.assertEqual(found.returncode, 0, found.stderr)
        self.assertTrue(found.stdout.startswith(
            "done\nprofile of 3 launches, 13 programs: "), found.stdout)
        self.assertIn("add (", found.stdout)
        self.assertIn("double (", found.stdout)
        self.assertIn("return v * 2.0", found.stdout)

    def test_json_is_alone_on_stdout(self):
        self.write(OTHER, "other.py")
        found = self.profile(SCRIPT, json=True)
        self.assertEqual((found.returncode, found.stderr), (0, "done\n"))
        read = json.loads(found.stdout)
        double, = (f for f in read["functions"] if f["name"] == "double")
        self.assertEqual((double["calls"], double["launches"]), (6, 2))
        self.assertTrue(double["file"].endswith("other.py"))
        load = [op for line in double["lines"] for op in line["operations"]
                if op["name"] == "load"]
        self.assertEqual(sorted((op["type"], op["lanes_off"])
                                for op in load),
                         [("fp32[32]", 28), ("fp32[64]", 28)])
        self.assertEqual(read["total"]["bytes_read"], 4 * (200 + 200))

    def test_script_that_raises(self):
        found = self.profile("""
            x = np.zeros(64, "f4")
            add[(4,)](x, x, x, 64, BLOCK=16)
            raise ValueError("no")
        """)
        self.assertEqual(found.returncode, 1)
        self.assertIn("ValueError: no", found.stderr)
        self.assertIn("profile of 1 launch, 4 programs", found.stdout)

    def test_interrupted(self):
        found = self.profile("""
            import os
            import signal
            import threading

            @triton.jit
            def count(x, n):
                for i in range(n):
                    tl.store(x, i)

            x = np.zeros(4, "i4")
            count[(1,)](x, 4)
            threading.Timer(0.3, os.kill,
                            (os.getpid(), signal.SIGINT)).start()
            count[(1,)](x, 2 ** 31 - 1)
        """)
        self.assertEqual(found.returncode, 130, found.stderr)
        self.assertIn("profile of 2 launches, 1 program: ", found.stdout)
        self.assertIn("tl.store(x, i)", found.stdout)

    def test_script_that_exits(self):
        found = self.profile("""
            x = np.zeros(64, "f4")
            add[(4,)](x, x, x, 64, BLOCK=16)
            raise SystemExit(7)
        """)
        self.assertEqual(found.returncode, 7)
        self.assertIn("profile of 1 launch, 4 programs", found.stdout)

    def test_no_launch(self):
        found = self.profile("print(1)")
        self.assertEqual(found.returncode, 0)
        self.assertIn("no kernel was launched", found.stdout)
        found = self.profile("print(1)", json=True)
        self.assertEqual(json.loads(found.stdout)["launches"], 0)

    def test_autotuned(self):
        found = self.profile("""
            @triton.autotune([triton.Config({"B": 16}),
                              triton.Config({"B": 32})], key=["n"])
            @triton.jit
            def copy(x, y, n, B: tl.constexpr):
                i = tl.program_id(0) * B + tl.arange(0, B)
                tl.store(y + i, tl.load(x + i, mask=i < n), mask=i < n)

            x = np.ones(64, "f4")
            y = np.zeros(64, "f4")
            copy[lambda meta: (64 // meta["B"],)](x, y, 64)
        """, json=True, autotune="all")
        copy, = json.loads(found.stdout)["functions"]
        self.assertGreaterEqual(copy["launches"], 2)
        types = {op["type"] for line in copy["lines"]
                 for op in line["operations"] if op["name"] == "load"}
        self.assertEqual(types, {"fp32[16]", "fp32[32]"})

    def test_only_one_kernel(self):
        self.write(OTHER, "other.py")
        found = self.profile(SCRIPT, json=True, kernel="double", launch=2)
        read = json.loads(found.stdout)
        self.assertEqual((read["launches"], read["programs"]), (1, 2))
        self.assertEqual([f["name"] for f in read["functions"]],
                         ["double", "twice"])

    def test_page(self):
        page = self.path("page.html")
        found = self.profile(
            "add[(1,)](x := np.zeros(16, 'f4'), x, x, 16, BLOCK=16)",
            html=page)
        self.assertEqual(found.returncode, 0, found.stderr)
        with open(page, encoding="utf-8") as f:
            self.assertIn("</html>", f.read())
        found = self.profile("print(1)", html=self.path("absent/page.html"))
        self.assertEqual(found.returncode, 2)
        self.assertIn("cannot write", found.stderr)


if __name__ == "__main__":
    unittest.main()
