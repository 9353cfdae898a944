"""`tkdbg run --sizes`: a script once more, with other sizes."""
import ast
import json
import os
import subprocess
import sys
import tempfile
import types
import unittest

import support

support.need("library", "numpy")

import numpy as np  # noqa: E402
from tkdbg import hostnumbers, othersizes, sizejudge, sizeruns  # noqa: E402
from tkdbg.comparisons import Comparison  # noqa: E402
from tkdbg.edits import Source  # noqa: E402

ADD = """
import numpy as np
import triton
import triton.language as tl

@triton.jit
def add(x, y, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(y + i, tl.load(x + i, mask=i < n) + 1, mask=i < n)

def run(x, B=16):
    y = np.zeros_like(x)
    n = x.size
    add[(triton.cdiv(n, B),)](x, y, n, B=B)
    return y

n = 64
x = np.arange(n, dtype=np.float32)
np.testing.assert_array_equal(run(x), x + 1)
"""

MATRIX = """
import numpy as np
import triton
import triton.language as tl

@triton.jit
def turn(x, y, M, N, B: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, B)
    tl.store(y + i * M + row, tl.load(x + row * N + i, mask=i < N),
             mask=i < N)

M, N = 8, 8
x = np.arange(M * N, dtype=np.float32).reshape(M, N)
y = np.zeros((N, M), np.float32)
turn[(M,)](x, y, M, N, B=triton.next_power_of_2(N))
assert np.array_equal(y, x.T)
"""


class SizesCase(support.ScriptCase):
    triton = "ours"  # sizes are the same beside Triton

    def tried(self, text, *options, status=0, strides=False, most=8):
        """What is said of each run with other sizes, or strides, by what was
        changed."""
        done = self.run_script(text, f"--sizes={most}", "--json", *options,
                               check=False)
        self.assertEqual(done.returncode, status, done.stderr)
        said: dict = {}
        for line in done.stderr.splitlines():
            entry = json.loads(line)
            if entry["kind"] == "sizes":
                what, _, came = entry["message"].partition(": ")
                said[what] = came
            elif entry["notes"]:
                said[entry["notes"][-1]["text"]] = entry["kind"]
        return {what: came for what, came in said.items()
                if strides in (None, " in place of " not in what)}

class Limit(unittest.TestCase):
    class Counted(othersizes.Tries):
        """Runs that are counted and not made."""

        def __init__(self):
            self._script = types.SimpleNamespace(text=b"n = 1\n")
            self._runs, self.is_spent, self.made = {}, False, 0

        def run(self, text, values=False, what=None):
            self.made += 1

    def test_a_script_runs_160_times(self):
        tries = self.Counted()
        for value in range(160):
            tries._run([], value)
            self.assertFalse(tries.is_spent)
        for value in 160, 161:
            tries._run([], value)
            self.assertTrue(tries.is_spent)
        self.assertEqual(tries.made, 160)


class Tried(SizesCase):
    triton = "ours"

    def test_a_right_script(self):
        said = self.tried(ADD)
        self.assertEqual(set(said.values()), {"nothing found"})
        self.assertEqual(
            [w.split()[2] for w in said],
            ["65", "63", "129", "1", "17", "15", "16", "67"])

    def test_a_load_without_a_mask(self):
        said = self.tried(ADD.replace("x + i, mask=i < n", "x + i"), status=1)
        self.assertEqual(said["n = 65 in place of 64"], "out-of-bounds")
        self.assertEqual(said["n = 16 in place of 64"], "nothing found")

    def test_a_grid_that_rounds_down(self):
        said = self.tried(ADD.replace("triton.cdiv(n, B)", "n // B"),
                          status=1)
        self.assertEqual(said["n = 65 in place of 64"], "unequal")

    def test_a_grid_that_is_a_number(self):
        """It would have to be another one too."""
        said = self.tried(ADD.replace("triton.cdiv(n, B)", "4"))
        self.assertEqual(said["n = 65 in place of 64"], "not judged: grid[0] "
                         "of add, 4, is the same for every size")
        self.assertEqual(said["n = 63 in place of 64"], "nothing found")

    def test_an_argument_that_is_a_number(self):
        said = self.tried(ADD.replace("x, y, n, B=B", "x, y, int('64'), B=B"))
        self.assertEqual(said["n = 63 in place of 64"], "not judged: n of "
                         "add, 64, is the same for every size")

    def test_a_size_that_is_refused(self):
        said = self.tried(ADD.replace(
            "    y = np", "    assert x.size % 2 == 0, 'odd'\n    y = np"))
        self.assertRegex(said["n = 65 in place of 64"], "not judged: it stops "
                         "in line 12 with AssertionError: odd")
        self.assertEqual(said["n = 16 in place of 64"], "nothing found")

    def test_a_number_that_also_stands_elsewhere(self):
        said = self.tried(ADD.replace("(n, dtype", "(64, dtype") +
                          "m = 24\nrun(np.zeros(m, np.float32))\n")
        self.assertNotIn("n = 65 in place of 64", said)
        self.assertEqual(said["m = 25 in place of 24"], "nothing found")

    def test_equal_numbers_of_one_tensor_differ(self):
        self.assertEqual(set(self.tried(MATRIX).values()), {"nothing found"})
        said = self.tried(MATRIX.replace("i * M + row", "i * N + row"),
                          status=1)
        self.assertIn("M = 9 in place of 8", said)
        self.assertNotEqual(said["N = 9 in place of 8"], "nothing found")

    def test_equal_numbers_of_different_tensors_change_together(self):
        said = self.tried(ADD.replace(
            "y = np.zeros_like(x)", "y = np.zeros(m, np.float32)").replace(
                "n = 64", "n = 64\nm = 64"))
        self.assertEqual(said.pop("n = m = 65 in place of 64"),
                         "nothing found")
        self.assertNotIn("m = 65 in place of 64", said)

    def test_text(self):
        done = self.run_script(ADD.replace("x + i, mask=i < n", "x + i"),
                               "--sizes=1", check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn("script.py:17:5: n = 65 in place of 64:\n"
                      "    script.py:9:21: error: load past the end of x",
                      done.stderr)

    def test_what_cannot_be_tried(self):
        for text, why in (
                (ADD.replace("n = 64", "n = int('64')"), "no number that"),
                ("import os\n" + ADD, "only a script in a file"),
                (ADD + "if n != 64:\n    open('x')\n", "only a script")):
            with self.subTest(why):
                done = self.run_script(text, "--sizes", check=False)
                self.assertEqual(done.returncode, 2, done.stderr)
                self.assertIn(f"tkdbg: --sizes: {why}", done.stderr)

    def test_a_script_that_fails(self):
        done = self.run_script(ADD.replace("x + 1)", "x)"), "--sizes",
                               check=False)
        self.assertEqual(done.returncode, 1)
        self.assertNotIn("in place of", done.stderr)


CALLS = ADD.partition("n = 64")[0] + """
def check(n, exact=True):
    x = np.arange(n, dtype=np.float32)
    np.testing.assert_array_equal(run(x), x + 1)
"""

ROWS = """
import numpy as np
import triton
import triton.language as tl

@triton.jit
def double(x, y, N, step, B: tl.constexpr):
    row, i = tl.program_id(0), tl.arange(0, B)
    at = x + row * step + i
    tl.store(y + row * N + i, 2 * tl.load(at, mask=i < N), mask=i < N)

def run(x):
    y = np.empty(x.shape, x.dtype)
    double[(x.shape[0],)](x, y, x.shape[1], x.strides[0] // x.itemsize,
                          B=triton.next_power_of_2(x.shape[1]))
    return y

x = np.random.default_rng(0).random((8, 12))
np.testing.assert_array_equal(run(x), 2 * x)
"""


class Calls(SizesCase):
    """Numbers that stand in calls, and strides."""
    triton = "ours"

    def test_an_argument_of_a_function(self):
        wrong = CALLS.replace("x + i, mask=i < n", "x + i") + "check(64)\n"
        said = self.tried(wrong, "--junit", "found.xml", status=1,
                           most=2)
        self.assertEqual(said["n = 65 in place of 64"], "out-of-bounds")
        with open(self.path("found.xml")) as f:
            text = f.read()
        self.assertRegex(text, 'failures="[1-9]')
        self.assertRegex(text, '<testcase name="script.py:21:7: n = 65 in '
                         'place of 64" .*<failure type="out-of-bounds" '
                         'message="script.py:9:21: error: load past')

    def test_a_block_that_holds_the_whole(self):
        """A number in a launch changes along with the shape that it stands
        for."""
        said = self.tried(ROWS.replace("triton.next_power_of_2(x.shape[1])",
                                       "16").replace("y, x.shape[1]", "y, 12"),
                          most=3)
        self.assertEqual(said["13 in place of 12 in lines 14, 18"],
                         "nothing found")
        self.assertEqual(said["25 in place of 12 in lines 14, 18"],
                         "not judged: B of double, 16, holds the whole of the "
                         "size in the script")

    def test_a_tensor_of_another_size(self):
        said = self.tried(ADD.replace("np.zeros_like(x)", "np.zeros(72)")
                          .replace("(run(x), x", "(run(x)[:n], x"), most=3)
        self.assertEqual(said["n = 129 in place of 64"], "not judged: y of "
                         "add has [72] elements as before")

    def test_strides(self):
        """And equal numbers of a call, which change together and alone."""
        said = self.tried(ROWS.replace("12", "8"), strides=None, most=4)
        self.assertEqual(said.pop("9 in place of 8"), "nothing found")
        said = {w: c for w, c in said.items() if " in place of " not in w}
        self.assertEqual(said.pop("x with padded rows"), "nothing found")
        self.assertEqual(said.pop("x with its first row for each other one"),
                         "nothing found")
        self.assertRegex(said.pop("x transposed in memory"), "not judged: "
                         "double is not told the stride of x along axis")
        self.assertEqual(len(said), 1)

    def test_a_stride_that_is_not_used(self):
        said = self.tried(ROWS.replace("row * step", "row * N"), status=1,
                          strides=True, most=1)
        self.assertEqual(said["x with padded rows"], "out-of-bounds")

    def test_rows_that_must_follow_each_other(self):
        said = self.tried(ROWS.replace(
            "    y = np", "    assert x.flags.c_contiguous, 'rows'\n    y = np"
            ).replace("row * step", "row * N"), strides=True, most=1)
        self.assertRegex(said["x with padded rows"], "not judged: it stops in "
                         "line 13 with AssertionError: rows")


class Marked(unittest.TestCase):
    def test_a_marker(self):
        support.need("pytest")
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, "test_it.py"), "w") as f:
                f.write(ROWS.partition("x = np")[0].replace(
                    "y + row * N", "y + row * 12") + MARKED)
            done = subprocess.run(
                [sys.executable, "-m", "pytest", "-p", "tkdbg", "-q",
                 "--strict-markers", "-p", "no:cacheprovider"], cwd=folder,
                env=support.environment(TKDBG_OPTIONS='{"triton": "ours"}'),
                capture_output=True, text=True, check=False)
        self.assertRegex(done.stdout, "test_it.py:21:1: n = 13 in place of "
                         r"12:\n    test_it.py:10:5: warning: .* \[twice\]")
        self.assertIn("takes a number from 1, as in tkdbg_sizes(4)",
                      done.stdout)
        self.assertRegex(done.stdout, "PytestWarning: tkdbg_sizes: no number")
        self.assertIn("2 failed, 1 passed", done.stdout)


MARKED = """
import pytest

@pytest.mark.tkdbg_sizes(1)
@pytest.mark.parametrize("n", [12])
def test_rows(n):
    x = np.ones((4, n))
    np.testing.assert_array_equal(run(x), 2 * x)

@pytest.mark.tkdbg_sizes(0)
def test_nonsense():
    pass

@pytest.mark.tkdbg_sizes
def test_without_a_launch():
    pass
"""


class Rounding(unittest.TestCase):
    def far(self, found, wanted, *bounds):
        return sizeruns.is_far(Comparison(
            "f", np.array(found), np.array(wanted), *bounds))

    def test_what_rounding_explains(self):
        self.assertFalse(self.far([1.0, 2.01], [1.0, 2.0], 0.0, 0.001))
        self.assertFalse(self.far([1.0, 2.001], [1.0, 2.0], 0.0, 0.0))
        self.assertFalse(self.far([np.nan], [np.nan], 0.0, 0.0))
        self.assertFalse(self.far([1.0, 2.0], [1.0, 2.0, 9.0], 0.0, 0.0))

    def test_what_it_does_not(self):
        self.assertTrue(self.far([1.0, 2.1], [1.0, 2.0], 0.0, 0.001))
        self.assertTrue(self.far([1.0, np.nan], [1.0, 2.0], 0.5, 0.5))
        self.assertTrue(self.far([1, 2], [1, 3], 1e-5, 0.0))


class Judged(unittest.TestCase):
    """What is said of runs, which are made here."""

    def launch(self, n):
        return sizeruns.Launch("k", {"x": [n], "n": n}, [n, 1, 1], [],
                               {"x": [1]}, {}, {})

    def run_of(self, *sizes, unequal="", far=True, findings=()):
        return sizeruns.Run([self.launch(n) for n in sizes], list(findings),
                            unequal, far, [], "")

    def verdict(self, run, was=64, now=65, factors=()):
        judge = sizejudge.Judge(
            self.run_of(64, 64), {(i, what) for i in range(2)
                                  for what in ("n", "x", 0)}, set(factors))
        return judge.of_size(was, now, run)

    def out_of_bounds(self):
        return {"kind": "out-of-bounds", "file": "x.py", "line": 3, "at": 0,
                "message": "load past the end of y: element 65 of 65"}

    def test_a_finding(self):
        run = self.run_of(65, 65, findings=[self.out_of_bounds()])
        self.assertEqual(self.verdict(run)[0], sizejudge.FOUND)

    def test_a_size_that_is_a_multiple_no_longer(self):
        run = self.run_of(65, 65, findings=[self.out_of_bounds()])
        verdict, why = self.verdict(run, factors={16})
        self.assertEqual(verdict, sizejudge.UNJUDGED)
        self.assertEqual(why, "64 is a multiple of 16, and 65 is not")
        verdict, why = self.verdict(run, factors={128})
        self.assertEqual(verdict, sizejudge.UNJUDGED)
        self.assertEqual(why, "128 is a multiple of 64, and not of 65")
        self.assertEqual(self.verdict(run, now=32, factors={16})[0],
                         sizejudge.FOUND)

    def test_fewer_launches(self):
        verdict, why = self.verdict(self.run_of(65, unequal="allclose"))
        self.assertEqual(verdict, sizejudge.UNJUDGED)
        self.assertIn("there are fewer launches", why)
        self.assertEqual(
            self.verdict(self.run_of(65, 65, unequal="allclose"))[0],
            sizejudge.FOUND)

    def test_rounding(self):
        run = self.run_of(65, 65, unequal="allclose", far=False)
        self.assertIn("rounding", self.verdict(run)[1])

    def test_a_run_that_takes_too_long(self):
        self.assertEqual(self.verdict(None),
                         (sizejudge.UNJUDGED, "it takes too long"))


class Numbers(unittest.TestCase):
    def of(self, text):
        return hostnumbers.of(Source("x.py", text.encode()), ast.parse(text))

    def test_names(self):
        found = self.of(
            "M, N = 8, 9\nsizes = [3, (4, 5)]\nfor a, b in ((6, 7),): pass\n"
            "def f(x, n=10, *, m=11): pass\nf\n"
            "@triton.jit\ndef k(c=12): d = 13\n"
            "e: int = 14\nB: tl.constexpr = 15\ng = h = 16\nz = 1\n")
        self.assertEqual(
            [(n.name, n.value) for n in found.named],
            [("M", 8), ("N", 9), ("sizes", 3), ("sizes", 4), ("sizes", 5),
             ("a", 6), ("b", 7), ("n", 10), ("m", 11), ("e", 14), ("g", 16)])
        self.assertEqual(found.others, {15: 9})

    def test_calls(self):
        found = self.of(
            "import torch\ntorch.randn(1 << 10, 64)\nmain(96, dim=2)\n"
            "def main(n, m=0): return n ** 5\nmain(m=4 * 33)\n"
            "p.add_argument('--rows', type=int, default=77)\nx.shape[3]\n"
            "foo(99)\ndict(k=55)\nk[(6,)](x, 7, num_warps=9)\n"
            "def unused(): torch.zeros(13)\n")
        self.assertEqual(
            [(n.name, n.value) for n in found.named],
            [("n", 96), ("m", 132), ("--rows", 77), ("k", 55)])
        self.assertEqual([n.value for n in found.plain], [1024, 64, 6, 7])
        self.assertEqual(found.others, {99: 8, 33: 5})

    def test_another_value(self):
        text = "é, N = 8, 8\n"
        found = self.of(text).named
        self.assertEqual(hostnumbers.with_values(text.encode(), found, 123),
                         "é, N = 123, 123\n".encode())


if __name__ == "__main__":
    unittest.main()
