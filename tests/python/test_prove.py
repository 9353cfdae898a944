"""`tkdbg prove` of the kernels of tests/prove: each verdict is as expected, and
what is proved has no finding at other sizes."""
import functools
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import unittest
from xml.etree import ElementTree

import support

support.need("library")

sys.path.insert(0, os.path.join(support.ROOT, "tests", "prove"))
import launches  # noqa: E402

sys.path.insert(0, os.path.join(support.ROOT, "tests", "support"))
import rows  # noqa: E402

TKDBG = os.path.join(support.BUILD, "tkdbg")


def run(*command):
    return subprocess.run([TKDBG, *command], capture_output=True, text=True,
                          timeout=300)


@functools.lru_cache(maxsize=None)
def prove(row):
    """The JSON of a proof, and the exit status."""
    launch = launches.launch(row.kind, row.kernel, *launches.SIZES)
    done = run("prove", "--json", launches.KERNELS, *launch.options(),
               *row.options())
    if "libisl-dev" in done.stderr:
        raise unittest.SkipTest("isl is not installed (libisl-dev)")
    if done.stderr:
        raise AssertionError(done.stderr)
    return json.loads(done.stdout), done.returncode


def table():
    """The rows of the table; but with ROWS=all, without those that take
    long."""
    return [r for r in launches.table() if rows.are_all() or not r.is_long()]


def having(proof, *verdicts):
    return {i["duty"] for i in proof["items"] if i["verdict"] in verdicts}


def holds(assume, m, n):
    """Whether sizes are as assumed; tensors are filled as they must be."""
    assume = " and ".join(p for p in assume.split("&")
                          if "[*]" not in p and "grid" not in p)
    block = 64 if "n_cols" in assume else launches.B
    return not assume.strip() or eval(assume.strip(), {
        "n_cols": n, "N": n, "n": m, "B": block})


class Verdicts(unittest.TestCase):
    def test_each_is_as_the_table_says(self):
        for row in table():
            with self.subTest(row.kernel, assume=row.assume):
                proof, status = prove(row)
                self.assertEqual(having(proof, "counterexample"), row.refuted)
                self.assertEqual(
                    having(proof, "undecided", "depends on data") -
                    row.refuted, row.open)
                self.assertEqual(status, 1 if row.refuted else
                                 5 if row.open else 0)

    def test_the_command_of_a_counterexample_shows_it(self):
        refuted = [r for r in table() if r.refuted]
        for row in rows.some(refuted, 2):
            proof, _ = prove(row)
            for item in proof["items"]:
                if item["verdict"] != "counterexample":
                    continue
                words = item["command"].replace("'", "").split(" ")
                done = run("run", "--check", "--keep-going", "-q",
                           launches.KERNELS, *words)
                with self.subTest(row.kernel, duty=item["duty"]):
                    self.assertIn(item["finding"], done.stderr)

    def test_where_a_counterexample_is_none(self):
        known = {"copy_no_mask": {"x.shape[0] % B == 0"},
                 "copy_le": {"n % B == 0"}, "rows_floor": {"N % B == 0"},
                 "softmax": {"n_cols <= B"}, "stencil_left": {None},
                 "persistent_step": {"n <= B"}}
        for row in table():
            if row.kernel not in known or not row.refuted:
                continue
            proof, _ = prove(row)
            with self.subTest(row.kernel):
                self.assertEqual({i.get("holds") for i in proof["items"]
                                  if i["verdict"] == "counterexample"},
                                 known[row.kernel])

    def test_where_exactly_it_fails(self):
        known = {"copy_no_mask": {"x.shape[0] % B != 0"},
                 "copy_le": {"n % B != 0"}, "stencil_left": {"always"},
                 "in_place_step": {"n > B"}, "asserted_more": {"n % B != 0"},
                 "triangle": {None}, "in_place_shift": {"n > B"}}
        for row in table():
            if row.kernel not in known:
                continue
            proof, _ = prove(row)
            with self.subTest(row.kernel):
                self.assertEqual({i.get("fails") for i in proof["items"]
                                  if i["verdict"] == "counterexample"},
                                 known[row.kernel])

    def test_it_fails_exactly_there(self):
        """Of every size up to 50."""
        for n in range(2, 50):
            launch = launches.launch("V", "copy_le", n, 1, 1)
            done = run("run", "-q", "--check=bounds", launches.KERNELS,
                       *launch.options())
            self.assertEqual(done.returncode, 1 if n % launches.B else 0, n)

    def test_what_depends_on_data_opens_in_the_debugger(self):
        launch = launches.launch("G", "gather", *launches.SIZES)
        done = run("prove", launches.KERNELS, *launch.options())
        if "libisl-dev" in done.stderr:
            self.skipTest("isl is not installed (libisl-dev)")
        command = re.search(r"    open: tkdbg (.*)", done.stdout)[1]
        done = run(*command.replace("'", "").split(" "), "--ex", "run")
        self.assertIn("tl.load(x + j, mask=m)", done.stdout)

    def test_a_counterexample_opens_in_the_debugger(self):
        launch = launches.launch("V", "copy_no_mask", *launches.SIZES)
        done = run("prove", launches.KERNELS, *launch.options())
        if "libisl-dev" in done.stderr:
            self.skipTest("isl is not installed (libisl-dev)")
        command = re.search(r"    open: tkdbg (.*)", done.stdout)[1]
        done = run(*command.replace("'", "").split(" "), "--ex", "run", "--ex",
                   "continue")
        self.assertIn("=>  17", done.stdout)
        self.assertIn("past the end of x", done.stdout + done.stderr)

    def test_what_is_proved_has_no_finding_at_other_sizes(self):
        choose = random.Random(35)
        for row in table():
            if row.refuted or row.open:
                continue
            for _ in range(3 if rows.are_all() else 1):
                m, n, k = (choose.randrange(2, 70) for _ in range(3))
                if row.kernel == "described":
                    n = 4 * n  # descriptors want strides of 16 bytes
                if row.kind == "O":
                    m = min(m, launches.B)
                if not holds(row.assume, m, n):
                    n = launches.B * choose.randrange(1, 4)
                    m = 4 * m
                launch = launches.launch(row.kind, row.kernel, m, n, k)
                done = run("run", "-q",
                           "--check=bounds,race,twice,overflow,unwritten",
                           launches.KERNELS, *launch.options())
                with self.subTest(row.kernel, sizes=(m, n, k)):
                    self.assertEqual(done.returncode, 0, done.stderr)


class Contents(unittest.TestCase):
    ARGS = ("--kernel", "scatter", "--grid", "2", "--arg", "x=f32[20]:ones",
            "--arg", "idx=i32[20]:arange", "--arg", "n=20", "--arg", "B=16")

    def refused(self, out, *assumed):
        options = [o for a in assumed for o in ("--assume", a)]
        done = run("prove", launches.KERNELS, *self.ARGS, "--arg", out,
                   *options)
        if "libisl-dev" in done.stderr:
            self.skipTest("isl is not installed (libisl-dev)")
        self.assertEqual(done.returncode, 2)
        return done.stderr

    def test_what_the_kernel_stores_is_not_assumed(self):
        self.assertIn("the kernel may store to out",
                      self.refused("out=i32[20]:zeros", "0 <= out[*] < 4"))

    def test_contents_that_cannot_be(self):
        self.assertIn("contradict each other",
                      self.refused("out=f32[20]:zeros", "0 <= idx[*]",
                                   "idx[*] < 0"))


class Relations(unittest.TestCase):
    ROW = launches.Row("V", "copy", frozenset(), frozenset(), "")

    def test_contradictory_relations_prove_nothing(self):
        launch = launches.launch("V", "copy", *launches.SIZES)
        done = run("prove", launches.KERNELS, *launch.options(), "--assume",
                   "n > 100", "--assume", "n < 50")
        self.assertEqual(done.returncode, 2)
        if "libisl-dev" not in done.stderr:
            self.assertIn("contradict each other", done.stderr)

    def test_what_is_not_a_relation_is_refused(self):
        launch = launches.launch("V", "copy", *launches.SIZES)
        for text, said in (("m == 3", "'m' is no number of this launch"),
                           ("n + 1", "a comparison is expected"),
                           ("n ==", ""), ("n < 1.5", "a whole number"),
                           ("n in n", "numbers are compared by"),
                           ("distinct n", "is followed by the elements"),
                           ("x[*] < 3", "does not hold whole numbers"),
                           ("n ** n == 2", "is not known here")):
            done = run("prove", launches.KERNELS, *launch.options(),
                       "--assume", text)
            with self.subTest(text):
                self.assertEqual(done.returncode, 2)
                if "libisl-dev" not in done.stderr:
                    self.assertIn(said, done.stderr)

    def test_a_grid_that_rounds_down_does_not_cover(self):
        launch = launches.launch("V", "copy", 96, 1, 1)
        done = run("prove", launches.KERNELS, *launch.options(), "--assume",
                   "grid[0] == n // B")
        if "libisl-dev" in done.stderr:
            self.skipTest("isl is not installed (libisl-dev)")
        self.assertEqual(done.returncode, 1)
        self.assertIn("coverage: counterexample", done.stdout)

    def test_rows_of_all_axes_of_another_tensor(self):
        """A launch with other numbers of rows is none of the program's."""
        text = ("import triton\nimport triton.language as tl\n@triton.jit\n"
                "def firsts(x, o, stride):\n    r = tl.program_id(0)\n"
                "    tl.store(o + r * 8, tl.load(x + r * stride))\n")
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "kernels.py")
            with open(path, "w") as f:
                f.write(text)
            done = run("prove", "--json", path, "--kernel", "firsts",
                       "--grid", "24", "--arg", "x=f32[24,5]:ones", "--arg",
                       "o=f32[2,3,4,8]:zeros", "--arg", "stride=5")
        if "libisl-dev" in done.stderr:
            self.skipTest("isl is not installed (libisl-dev)")
        self.assertEqual(having(json.loads(done.stdout), "counterexample"),
                         set())

    def test_a_tensor_that_is_some_times_another(self):
        """Nothing says that it is twice as long, but it may be so."""
        text = ("import triton\nimport triton.language as tl\n@triton.jit\n"
                "def twice(x, o, n, B: tl.constexpr):\n"
                "    i = tl.program_id(0) * B + tl.arange(0, B)\n"
                "    v = tl.load(x + i // 2, mask=i < 2 * n)\n"
                "    tl.store(o + i, v, mask=i < 2 * n)\n")
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "kernels.py")
            with open(path, "w") as f:
                f.write(text)
            done = run("prove", "--json", path, "--kernel", "twice",
                       "--grid", "4", "--arg", "x=f32[50]:ones", "--arg",
                       "o=f32[100]:empty", "--arg", "n=50", "--arg", "B=32")
        if "libisl-dev" in done.stderr:
            self.skipTest("isl is not installed (libisl-dev)")
        self.assertEqual(having(json.loads(done.stdout), "counterexample"),
                         set())

    def test_one_program_may_be_all_that_a_size_needs(self):
        """Of 12 columns, one program of 16 lanes writes all."""
        launch = launches.launch("T", "copy_2d", 91, 12, 1)
        done = run("prove", "--json", launches.KERNELS, *launch.options())
        if "libisl-dev" in done.stderr:
            self.skipTest("isl is not installed (libisl-dev)")
        self.assertEqual(having(json.loads(done.stdout), "counterexample"),
                         set())

    def test_a_grid_shares_out_what_is_written(self):
        """With two programs along each axis, any size could be meant."""
        launch = launches.launch("M", "matmul", 20, 25, 30)
        done = run("prove", launches.KERNELS, *launch.options())
        if "libisl-dev" in done.stderr:
            self.skipTest("isl is not installed (libisl-dev)")
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertIn("grid[1] = cdiv(b.shape[1], BN)", done.stdout)

    def test_a_grid_of_which_nothing_is_known(self):
        """The first program of any goes wrong, though not in this launch."""
        launch = launches.launch("C", "grid_stride_bare", 96, 1, 1)
        done = run("prove", launches.KERNELS, *launch.options())
        if "libisl-dev" in done.stderr:
            self.skipTest("isl is not installed (libisl-dev)")
        self.assertIn("store to out: bounds: counterexample", done.stdout)
        self.assertIn("--grid 1,1,1", done.stdout)

    def conditions(self, kernel, *more):
        """The files of --smt-out, by name, of a kernel that a row is about,
        and the items of its JSON."""
        row = next(r for r in launches.table()
                   if r.kernel == kernel and not r.assume)
        launch = launches.launch(row.kind, kernel, *launches.SIZES)
        with tempfile.TemporaryDirectory() as folder:
            made = os.path.join(folder, "new", "conditions")
            done = run("prove", "--json", "--smt-out", made, launches.KERNELS,
                       *launch.options(), *more)
            if "libisl-dev" in done.stderr:
                self.skipTest("isl is not installed (libisl-dev)")
            self.assertEqual(done.stderr, "")
            files = {}
            for name in os.listdir(made):
                with open(os.path.join(made, name), encoding="utf-8") as file:
                    files[name] = file.read()
        return files, json.loads(done.stdout)["items"]

    def test_conditions_for_other_solvers(self):
        files, items = self.conditions("copy", "--assume", "n % 3 == 1")
        asked = {(f"{i['file']}:{i['line']}: {i['subject']}: {i['duty']}",
                  f"copy-{i['line']}-{i['duty'].replace(' ', '-')}")
                 for i in items if i["duty"] != "coverage"}
        self.assertIn("bounds", {i["duty"] for i in items})
        self.assertEqual(
            {(text.splitlines()[0][2:], re.sub(r"(-\d+)?\.smt2", "", name))
             for name, text in files.items()}, asked)
        for name, text in files.items():
            with self.subTest(name):
                lines = [line.split(" ; ")[0] for line in text.splitlines()
                         if not line.startswith(";")]
                self.assertEqual(lines[0], "(set-logic QF_NIA)")
                self.assertEqual(lines[-1], "(check-sat)")
                self.assertEqual(text.count("("), text.count(")"))
                self.assertIn("\n; unsat: proved", text)
                self.assertIn("\n; n % 3 == 1\n", text)
                self.check_symbols(lines)

    def check_symbols(self, lines):
        """That each symbol is declared once, and before it is used."""
        known = set()
        for line in lines:
            made = re.match(r"\((?:declare|define)-fun (\|[^|]*\||\S+)", line)
            used = re.findall(r"\|[^|]*\||[a-z_.]+\.\d+", line)
            if made:
                self.assertNotIn(made[1], known)
                known.add(made[1])
            self.assertLessEqual(set(used), known, line)

    def test_conditions_about_what_is_loaded(self):
        files, _ = self.conditions("gather", "--assume", "0 <= idx[*] < n")
        bounds = [text for name, text in files.items() if "bounds" in name]
        self.assertTrue(any("; a value that is loaded" in text
                            for text in bounds))

    def test_verdicts_as_test_cases(self):
        row = next(r for r in launches.table() if r.refuted)
        launch = launches.launch(row.kind, row.kernel, *launches.SIZES)
        proof, status = prove(row)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "proofs.xml")
            done = run("prove", "--junit", path, launches.KERNELS,
                       *launch.options(), *row.options())
            suite, = ElementTree.parse(path).getroot()
        self.assertEqual((done.stderr, done.returncode), ("", status))
        self.assertEqual(len(suite), len(proof["items"]))
        self.assertEqual(suite.get("tests"), str(len(suite)))
        for case, item in zip(suite, proof["items"]):
            with self.subTest(case.get("name")):
                self.assertEqual(case.get("classname"), row.kernel)
                self.check_case(case, item)
        for number, tag in ("failures", "failure"), ("skipped", "skipped"):
            self.assertEqual(suite.get(number),
                             str(len(suite.findall(f"*/{tag}"))))

    def check_case(self, case, item):
        """That a test case says what an item of the JSON says."""
        place = f"{item['file']}:{item['line']}: " if "file" in item else ""
        self.assertEqual(case.get("name"),
                         f"{place}{item['subject']}: {item['duty']}")
        self.assertEqual((case.get("file"), case.get("line")),
                         (item["file"], str(item["line"]))
                         if "file" in item else (None, None))
        self.assertEqual("file" in item, (case.get("column") or "").isdigit())
        outcome = [(o.tag, o.get("message")) for o in case]
        verdict = item["verdict"]
        if verdict == "proved":
            self.assertEqual(outcome, [])
        elif verdict == "counterexample":
            self.assertEqual(outcome, [("failure", item["finding"])])
            self.assertIn(item["command"], case[0].text)
        else:
            self.assertEqual(outcome, [
                ("skipped", f"{verdict}: {item['reason']}")])


FORMS = """
@triton.jit
def at_one(x, out, n, step, B: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * B + tl.arange(0, B)
    if n == 1:
        tl.store(out + i, tl.load(x + i, mask=i < 2), mask=i < n)
    tl.store(out + i, tl.load(x + i * step, mask=i < n), mask=i < n)
"""


class Forms(unittest.TestCase):
    """--all-forms: what Triton compiles for other kinds of numbers."""

    def prove(self, text, kernel, *args):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "kernels.py")
            with open(path, "w") as f:
                f.write("import triton\nimport triton.language as tl\n" + text)
            given = [o for a in args for o in ("--arg", a)]
            done = run("prove", "--json", "--all-forms", path, "--kernel",
                       kernel, "--grid", "6", *given)
        if "libisl-dev" in done.stderr:
            self.skipTest("isl is not installed (libisl-dev)")
        self.assertEqual(done.stderr, "")
        forms = [json.loads(line) for line in done.stdout.splitlines()]
        return {f.get("form"): f for f in forms}

    ARGS = "x=f32[91]:ones", "out=f32[91]:empty", "n=91"

    def test_each_number_is_of_other_kinds(self):
        forms = self.prove(FORMS, "at_one", *self.ARGS, "step=1", "B=16")
        self.assertEqual(list(forms), [None, "n is 1", "n is 2**31 or more",
                                       "step is not 1"])
        found, = (i for i in forms["n is 1"]["items"]
                  if i["verdict"] == "counterexample")
        self.assertEqual((found["duty"], found["line"]), ("bounds", 8))
        self.assertIn("'n=1'", found["command"])
        self.assertEqual(having(forms["n is 2**31 or more"], "proved"),
                         {"bounds", "no wrap", "once", "apart", "coverage"})
        self.assertIn("step = x.stride(0)", forms["step is not 1"]["absent"])

    def test_32_bits_wrap_where_a_size_needs_more(self):
        with open(launches.KERNELS) as f:
            text = f.read()
        forms = self.prove(text, "copy", *self.ARGS, "B=16")
        for form, verdict in ((None, "proved"), ("n is 1", "proved"),
                              ("n is 2**31 or more", "undecided")):
            self.assertEqual({i["verdict"] for i in forms[form]["items"]
                              if i["duty"] == "no wrap"}, {verdict}, form)

    def test_there_are_at_most_32(self):
        names = [f"n{i}" for i in range(20)]
        text = ("@triton.jit\ndef many(out, %s):\n    tl.store(out, %s)\n" %
                (", ".join(names), " + ".join(names)))
        forms = self.prove(text, "many", "out=i32[1]:empty",
                           *(f"{n}={i + 2}" for i, n in enumerate(names)))
        self.assertEqual(len(forms), 33)
        self.assertIn("8 more forms are not proved: at most 32 neighbours of a "
                      "launch are", forms[None]["notes"])


HEAD = """
import torch, triton
import triton.language as tl

@triton.jit
def rows(x, out, stride_x, stride_o, n, B: tl.constexpr):
    r, c = tl.program_id(0), tl.arange(0, B)
    v = tl.load(x + r * stride_x + c, mask=c < n)
    tl.store(out + r * stride_o + c, v, mask=c < n)

@triton.jit
def double(x, y, out, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(out + i, tl.load(x + i) + tl.load(y + i))

def ones(*shape):
    return torch.ones(shape, device="cuda")
"""
ROWS = """
def run(x):
    x = x.contiguous()
    m, n = x.shape
    out = torch.empty((m, n), device=x.device)
    rows[(m,)](x, out, x.stride(0), out.stride(0), n,
               B=max(16, triton.next_power_of_2(n)))
run(ones(40, 40))
"""
DOUBLE = """
def run(x, y):
    CHECKS
    out = torch.empty_like(x)
    n = out.numel()
    double[lambda meta: (triton.cdiv(n, meta["B"]),)](x, y, out, n, B=64)
run(ones(256), ones(256))
"""


TESTS = """
import pytest

@triton.jit
def copy(x, out, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(out + i, tl.load(x + i, mask=i < n), mask=i < n)

@pytest.mark.parametrize("n", [330, 401])
def test_copy(n):
    x = ones(n)
    copy[(triton.cdiv(n, 64),)](x, torch.empty_like(x), x.numel(), B=64)

def test_double():
    x = ones(256)
    double[(4,)](x, x, torch.empty_like(x), 256, B=64)
"""


class Scripts(unittest.TestCase):
    """Relations that a script's own computations make."""

    def setUp(self):
        support.need("torch")

    def prove(self, text):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "script.py")
            with open(path, "w") as f:
                f.write(HEAD + text)
            done = run("prove", "--json", "-q", "--python", sys.executable,
                       path)
        if "libisl-dev" in done.stderr:
            self.skipTest("isl is not installed (libisl-dev)")
        self.assertIn(done.returncode, (0, 1, 5), done.stderr)
        proof = json.loads(done.stdout)
        return proof, [r["relation"] for r in proof["relations"]
                       if r["from"] == "script"]

    def test_sizes_of_a_square_are_not_taken_for_each_other(self):
        proof, said = self.prove(ROWS)
        self.assertEqual(having(proof, "proved"),
                         {i["duty"] for i in proof["items"]})
        for relation in ("out.shape[0] == x.shape[0]", "n == x.shape[1]",
                         "grid[0] == x.shape[0]", "stride_o == x.shape[1]",
                         "B == max(16, next_power_of_2(x.shape[1]))"):
            self.assertIn(relation, said)
        self.assertEqual(proof["notes"], [])

    def test_a_check_of_the_script_is_a_relation(self):
        checks = "assert x.shape == y.shape and x.numel() % 64 == 0"
        proof, said = self.prove(DOUBLE.replace("CHECKS", checks))
        self.assertEqual(having(proof, "proved"),
                         {i["duty"] for i in proof["items"]})
        self.assertTrue(any(re.fullmatch(
            r"x.shape\[0\] % 64 == 0 \(script.py:\d+\)", r) for r in said))

    def test_without_the_check_it_fails(self):
        proof, _ = self.prove(DOUBLE.replace("CHECKS", "pass"))
        self.assertEqual(having(proof, "counterexample"), {"bounds"})

    def test_launches_of_which_the_same_is_true_are_told_once(self):
        checks = "assert x.shape == y.shape"
        self.prove(DOUBLE.replace("CHECKS", checks) +
                   "run(ones(640), ones(640))\n")

    def test_launches_are_test_suites(self):
        text = HEAD + ROWS + "run(ones(40, 40))\nrun(ones(4, 90))\n"
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "script.py")
            xml = os.path.join(folder, "proofs.xml")
            with open(path, "w") as f:
                f.write(text)
            done = run("prove", "-q", "--junit", xml, "--python",
                       sys.executable, path)
            if "libisl-dev" in done.stderr:
                self.skipTest("isl is not installed (libisl-dev)")
            self.assertEqual(done.returncode, 0, done.stderr)
            suites = ElementTree.parse(xml).getroot()
        self.assertEqual([s.get("name") for s in suites],
                         ["rows for B = 64", "rows for B = 128"])
        for suite in suites:
            self.assertEqual(suite.get("failures"), "0")
            self.assertEqual(suite.get("skipped"), "0")

    def test_a_test_run_makes_one_table(self):
        support.need("pytest")
        text = HEAD + TESTS
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "test_kernels.py")
            page, data = (os.path.join(folder, n) for n in ("t.html", "t.json"))
            with open(path, "w") as f:
                f.write(text)
            done = run("prove", "-q", "--table", page, "--table", data,
                       "--python", sys.executable, "-m", "pytest", "-q", path)
            if "libisl-dev" in done.stderr:
                self.skipTest("isl is not installed (libisl-dev)")
            self.assertEqual(done.returncode, 1, done.stderr)
            with open(data, encoding="utf-8") as f:
                table = json.load(f)
            with open(page, encoding="utf-8") as f:
                shown = f.read()
        self.assertEqual(
            [(k["kernel"], k["for"], k["verdict"]) for k in table["kernels"]],
            [("copy", "B = 64", "proved"), ("double", "B = 64",
                                            "counterexample")])
        self.assertEqual(table["counts"]["proved"], 1)
        self.assertEqual(table["by_duty"]["bounds"]["counterexample"], 3)
        self.assertIn("test_kernels.py::test_copy[330]",
                      table["kernels"][0]["test"])
        self.assertIn("see: tkdbg run --check", shown)


if __name__ == "__main__":
    unittest.main()
