"""Kernels of CUDA Tile: every operation against NumPy, faults that are planted
at known lines, launches and what is refused; the converter without cuda.tile,
on a form that was written down."""
import glob
import importlib.util
import os
import re
import subprocess
import sys
import tempfile
import unittest

import support

support.need("library", "numpy")

from tkdbg.cutile import form  # noqa: E402
from tkdbg.cutile.model import (Block, Kernel, Op, Param, Place,  # noqa: E402
                                Refused, Tile, Value, View)

SUPPORT = os.path.join(support.ROOT, "tests", "support")


def has_cutile():
    return (importlib.util.find_spec("cuda") is not None and
            importlib.util.find_spec("cuda.tile") is not None)


def python_path():
    """PYTHONPATH with the folder that cuda.tile lies in, if there is one."""
    if not has_cutile():
        return support.PYTHON
    found = importlib.util.find_spec("cuda.tile")
    folder = os.path.dirname(os.path.dirname(os.path.dirname(found.origin)))
    return os.pathsep.join([support.PYTHON, folder])


def run(*args, check=None):
    """(exit code, output) of a script under tkdbg."""
    options = [f"--check={check}"] if check else []
    done = subprocess.run(
        [sys.executable, "-m", "tkdbg", "run", *options, *args],
        env=support.environment(PYTHONPATH=python_path()),
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        timeout=300)
    return done.returncode, done.stdout


def cases(path):
    """The names of a file's cases."""
    with open(path) as f:
        return re.findall(r"^@case\ndef (\w+)", f.read(), re.MULTILINE)


@unittest.skipUnless(has_cutile(), "cuda.tile is not installed")
class Kernels(unittest.TestCase):
    """tests/support/cutile_kernels.py, all in one process."""
    PATH = os.path.join(SUPPORT, "cutile_kernels.py")
    output = ""

    @classmethod
    def setUpClass(cls):
        _, cls.output = run(cls.PATH)

    def one(self, name):
        self.assertRegex(self.output, rf"(?m)^OK {name}$")

    def test_what_is_printed(self):
        self.assertIn("\nsum  6.00 of 4\nmax 3.000000\nOK prints",
                      self.output)


@unittest.skipUnless(has_cutile(), "cuda.tile is not installed")
class Planted(unittest.TestCase):
    """tests/support/cutile_planted.py: each fault's line is named."""
    PATH = os.path.join(SUPPORT, "cutile_planted.py")

    def one(self, name):
        with open(self.PATH) as f:
            lines = f.read().splitlines()
        same = {"promised_view": "promised_load",
                "bounds_negative": "bounds_gather"}.get(name, name)
        at, = [i for i, line in enumerate(lines, 1)
               if line.endswith(f"# here: {same}")]
        code, output = run(self.PATH, name, check="all")
        self.assertEqual(code, 1, output)
        self.assertRegex(output, rf"cutile_planted\.py:{at}:")

    def right(self):
        code, output = run(self.PATH, "right", check="all")
        self.assertEqual(code, 0, output)
        self.assertNotRegex(output, "error:|warning:")


for _name in cases(Kernels.PATH):
    setattr(Kernels, f"test_{_name}",
            lambda self, name=_name: self.one(name))
for _name in cases(Planted.PATH):
    setattr(Planted, f"test_{_name}",
            Planted.right if _name == "right" else
            lambda self, name=_name: self.one(name))


HEAD = """import numpy as np
import cuda.tile as ct

@ct.kernel
def double(a, b, n, T: ct.Constant[int]):
    i = ct.bid(0)
    x = ct.load(a, (i,), (T,))
    for k in range(n):
        x = x * 2 + k
    ct.store(b, (i,), x)

a, b = np.arange(8, dtype="f4"), np.zeros(8, "f4")
"""


@unittest.skipUnless(has_cutile(), "cuda.tile is not installed")
class Launches(unittest.TestCase):
    def script(self, text, *options):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        path = os.path.join(folder.name, "script.py")
        with open(path, "w") as f:
            f.write(HEAD + text)
        return run(*options, path)

    def refused(self, call, message):
        code, output = self.script(call)
        self.assertEqual(code, 1, output)
        self.assertIn(message, output)

    def test_form_has_names_and_lines(self):
        _, output = self.script(
            "ct.launch(1, (2,), double, (a, b, 3, 4))\n", "--print-ir")
        self.assertNotIn("entirely outside", output)
        for line in ("language cutile", 'arg T = "4"',
                     "var %x: <[4], fp32>", "stmt at 6:5-18 {",
                     "%i = program_id {axis = 0} : int32 at 6:9-18",
                     "for at 8:5-22 {", "over %k = "):
            self.assertIn(line, output)

    def test_views_end_where_they_end(self):
        code, output = self.script(
            "ct.launch(1, (1,), double, (a[:6], b[:6], 1, 8))\n"
            "print(b)\n")
        self.assertIn("[ 0.  2.  4.  6.  8. 10.  0.  0.]", output)

    @unittest.skipUnless(importlib.util.find_spec("torch"),
                         "PyTorch is not installed")
    def test_known_launches_are_told_apart(self):
        code, output = self.script("""
import torch
x = torch.arange(8.0, device="cuda")
for part in slice(8), slice(8), slice(1, 8), slice(4), slice(None, None, 2):
    y = torch.zeros(8, device="cuda")
    ct.launch(1, (2,), double, (x[part], y[part], 1, 4))
    print(y.int().tolist())
try:
    ct.launch(1, (2,), double, (x, y, 1 << 40, 4))
except OverflowError:
    print("too large")
""")
        self.assertEqual(code, 0, output)
        self.assertIn("[0, 2, 4, 6, 8, 10, 12, 14]\n" * 2 +
                      "[0, 2, 4, 6, 8, 10, 12, 14]\n"
                      "[0, 2, 4, 6, 0, 0, 0, 0]\n"
                      "[0, 0, 4, 0, 8, 0, 12, 0]\ntoo large\n", output)

    def test_stream_is_required(self):
        self.refused("ct.launch(None, (1,), double, (a, b, 1, 8))",
                     "Stream is required, got None")

    def test_number_of_arguments(self):
        self.refused("ct.launch(1, (1,), double, (a, b, 1))",
                     "Kernel expects 4 arguments but 3 were given")

    def test_large_number(self):
        self.refused("ct.launch(1, (1,), double, (a, b, 1 << 40, 8))",
                     "annotate it with ct.ScalarInt64")

    def test_negative_stride(self):
        self.refused("ct.launch(1, (1,), double, (a[::-1], b, 1, 8))",
                     "has a negative stride")

    def test_grid(self):
        self.refused("ct.launch(1, [1], double, (a, b, 1, 8))",
                     "Grid must be a tuple")
        self.refused("ct.launch(1, (1, 70000), double, (a, b, 1, 8))",
                     "Grid[1] is too big: max=65535, got=70000")
        self.refused("ct.launch(1, (1 << 24,), double, (a, b, 1, 8))",
                     "Grid[0] exceeds 24-bit limit: max=16777215, "
                     "got=16777216")

    def test_printed_tiles_are_lists_of_lanes(self):
        code, output = self.script("""
@ct.kernel
def say(a):
    t = ct.reshape(ct.load(a, (0,), (8,)), (2, 2, 2))
    ct.printf("%d|%.2f\\n", 3, t)
    print(ct.astype(t, ct.int32), t > 5)
ct.launch(1, (1,), say, (a,))
""")
        self.assertEqual(code, 0, output)
        self.assertIn("3|[[[0.00, 1.00], [2.00, 3.00]], "
                      "[[4.00, 5.00], [6.00, 7.00]]]\n", output)
        self.assertIn("[[[0, 1], [2, 3]], [[4, 5], [6, 7]]] "
                      "[[[0, 0], [0, 0]], [[0, 0], [1, 1]]]\n", output)

    def test_errors_of_cutile_are_its_own(self):
        self.refused("ct.launch(1, (1,), double, (a, b, 1, 7))",
                     "Dimension #0 of shape (7,) is not a power of two")

    def test_axes_of_annotations(self):
        kernel = """
from typing import Annotated
@ct.kernel
def fixed(a: Annotated[ct.Array, ct.ArrayAnnotation(static_shape_dims=%s)]):
    ct.store(a, (0,), ct.load(a, (0,), (8,)))
ct.launch(1, (1,), fixed, (a,))
"""
        self.refused(kernel % "(5,)", "static_shape_dims contains axis 5, but "
                     "array rank is 1")
        self.refused(kernel % "(0, -1)", "static_shape_dims contains "
                     "duplicate axis -1")

    def test_wrapped_front_end(self):
        """Whoever wraps the function that compiles changes nothing."""
        code, output = self.script("""
from cuda.tile import _compile
real = _compile.compile_tile
_compile.compile_tile = lambda *args, **kwargs: real(*args, **kwargs)
ct.launch(1, (1,), double, (a, b, 3, 8))
print(b[:3])
""", "--print-ir")
        self.assertEqual(code, 0, output)
        self.assertIn("over %k = ", output)


@unittest.skipUnless(has_cutile() and support.has("torch"),
                     "cuda.tile and torch are not both installed")
class Examples(unittest.TestCase):
    """examples/cutile: PyTorch's tensors on the virtual device."""

    def one(self, path):
        code, output = run("-q", path, check="all")
        self.assertEqual(code, 0, output)
        name = os.path.splitext(os.path.basename(path))[0]
        self.assertRegex(output, rf"^{name}: OK, \d+ \w+\n")
        self.assertNotRegex(output, "error:|warning:")


for _path in sorted(glob.glob(os.path.join(support.ROOT, "examples",
                                           "cutile", "*.py"))):
    setattr(Examples, "test_" + os.path.basename(_path)[:-3],
            lambda self, path=_path: self.one(path))


@unittest.skipUnless(has_cutile(), "cuda.tile is not installed")
class Page(unittest.TestCase):
    """docs/cuda-tile.md: its script gives what the page says."""

    def test_transcripts(self):
        with open(os.path.join(support.ROOT, "docs", "cuda-tile.md")) as f:
            text = f.read()
        script, = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
        told = re.findall(r"```text\n\$ (.*?)\n(.*?)```", text, re.DOTALL)
        self.assertEqual(len(told), 2)
        env = support.environment(PYTHONPATH=python_path())
        env["PATH"] = os.pathsep.join([os.path.dirname(sys.executable),
                                       support.BUILD, env["PATH"]])
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, "script.py"), "w") as f:
                f.write(script)
            for command, want in told:
                done = subprocess.run(
                    command, shell=True, cwd=folder, env=env, text=True,
                    stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                    stdin=subprocess.DEVNULL, timeout=120)
                got = done.stdout
                if done.returncode:
                    got += f"[{done.returncode}]\n"
                pattern = "".join(
                    r"(?:.*\n)*" if line == "..." else
                    ".*".join(map(re.escape, line.split("..."))) + r"\n"
                    for line in want.splitlines())
                self.assertRegex(got, rf"\A{pattern}\Z")


# ---- without cuda.tile ----------------------------------------------------


SOURCE = ["def twice(a, b, n):\n", "    x = load(a)\n",
          "    for i in range(n):\n", "        if i == 2: break\n",
          "        x = x * 2\n", "    store(b, x)\n"]
FILE = "twice.py"


def at(line, column=5, end=10):
    return [Place(FILE, line, column, line, end)]


def written_down():
    """A kernel's form as data: `x` is doubled n times, at most twice."""
    scalar, tile = Tile("int32"), Tile("float32", (8,))
    params = [Value("a_0", Tile("pointer[float32]")), Value("a_1", scalar),
              Value("a_2", scalar), Value("b_0", Tile("pointer[float32]")),
              Value("b_1", scalar), Value("b_2", scalar), Value("n", scalar)]
    views = [Value("", View("partition", "float32", 1, (8,), (8,), (0,),
                            padding), tuple(params[i:i + 3]))
             for i, padding in ((0, "zero"), (3, "undetermined"))]

    def number(value):
        made = Value("", scalar)
        made.constant = value
        return made, Op("typed_const", [made], {}, {"value": value}, [],
                        at(3))

    (zero, op0), (one, op1), (two, op2) = map(number, (0, 1, 2))
    loaded, x = Value("", tile), Value("x", tile)
    i, inside, cond = Value("", scalar), Value("x", tile), Value(
        "", Tile("bool_"))
    factor, wide, after = (Value("", Tile("float32")), Value("", tile),
                           Value("x", tile))
    result, token = Value("", tile), Value("", None)
    made = Value("", tile)
    body = Block([i, inside], [
        op2,
        Op("raw_cmp", [cond], {"lhs": i, "rhs": two}, {"fn": "eq"}, [],
           at(4, 9, 18)),
        Op("ifelse", [], {"cond": cond}, {}, [
            Block([], [Op("break", [], {"values": (inside,)}, {}, [],
                          at(4, 20, 25))]),
            Block([], [Op("end_branch", [], {"outputs": ()}, {}, [],
                          at(4))])], at(4, 9, 18)),
        Op("typed_const", [factor], {}, {"value": 2.0}, [], at(5, 9)),
        Op("tile_broadcast", [wide], {"x": factor}, {}, [], at(5, 9)),
        Op("raw_binary_arith", [made], {"lhs": inside, "rhs": wide},
           {"fn": "mul", "rounding_mode": None, "flush_to_zero": False,
            "propagate_nan": False}, [], at(5, 13, 18)),
        Op("assign", [after], {"value": made}, {}, [], at(5, 9, 18)),
        Op("continue", [], {"values": (after,)}, {}, [], at(3))])
    ops = [
        Op("tile_load", [loaded, token], {"view": views[0], "index": (zero,),
                                          "token": None},
           {"memory_order": "weak", "inbounds": (False,)}, [], at(2)),
        Op("assign", [x], {"value": loaded}, {}, [], at(2)),
        op1,
        Op("loop", [result], {"start": zero, "stop": params[6], "step": one,
                              "initial_values": (x,)}, {}, [body], at(3)),
        Op("tile_store", [Value("", None)],
           {"view": views[1], "index": (zero,), "tile": result,
            "token": None}, {"memory_order": "weak", "inbounds": (False,)},
           [], at(6)),
        Op("return", [], {}, {}, [], [])]
    del op0
    where = [Param("a", i) for i in range(3)] + [
        Param("b", i) for i in range(3)] + [Param("n")]
    return Kernel("twice", at(1, 5, 10)[0], Block(params, ops), where,
                  [("a", None), ("b", None), ("n", None)],
                  {FILE: SOURCE}, "1.7.0")


class WrittenDown(unittest.TestCase):
    """The converter alone."""

    def run_form(self, n):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "twice.tk")
            with open(path, "w") as f:
                f.write(form.convert(written_down()))
            done = subprocess.run(
                [os.path.join(support.BUILD, "tkdbg"), "run", "--ir", path,
                 "--arg", "a=f32[6]:arange", "--arg", "b=f32[6]:empty",
                 "--arg", f"n={n}", "--print", "b"],
                capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def test_loop_and_break(self):
        for n, factor in ((0, 1), (1, 2), (2, 4), (9, 4)):
            want = " ".join(f"{factor * i:2}." for i in range(6))
            self.assertEqual(
                re.sub(r" +", " ", self.run_form(n).replace("[", "[ ")),
                "b = [ " + re.sub(r" +", " ", want).strip() + "]\n")

    def test_one_variable(self):
        text = form.convert(written_down())
        self.assertEqual(text.count("var %x: <[8], fp32>"), 1, text)
        self.assertNotIn("%x.1", text)

    def test_unknown_operation(self):
        kernel = written_down()
        kernel.block.ops.insert(0, Op("tile_fold", [], {}, {}, [], at(2)))
        with self.assertRaisesRegex(
                Refused, r"does not know the operation 'tile_fold' of "
                         r"cuda\.tile 1\.7\.0 \(twice\.py:2\)"):
            form.convert(kernel)

    def test_unknown_element_type(self):
        kernel = written_down()
        kernel.block.params[0].type = Tile("pointer[float5]")
        with self.assertRaisesRegex(Refused, "elements of float5"):
            form.convert(kernel)


if __name__ == "__main__":
    unittest.main()
