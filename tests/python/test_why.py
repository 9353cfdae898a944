"""``tkdbg why``: comparisons that fail, and the lines that are named."""
import json
import os
import re
import subprocess
import sys
import textwrap
import unittest

import support

support.need("library", "numpy")

sys.path.append(os.path.join(support.ROOT, "tests", "view"))
import answers  # noqa: E402
import browser  # noqa: E402
import page_data  # noqa: E402
import planted  # noqa: E402
from answers import HEAD, KERNEL, TORCH  # noqa: E402
from probe import told  # noqa: E402


class Comparisons(answers.Asked):
    """Each way to compare leads to the same line."""

    def led(self, text, status=1, by=""):
        said, found = self.why(text)
        self.assertEqual(found, status, said)
        self.assertRegex(said, rf"tkdbg: (?:{by})\S* fails on y of launch 1, "
                         "scale")
        self.assertIn("times 1.5\n", said)
        self.assertIn("tl.store(y + i, v * 3, mask=i < n)", said)
        self.assertRegex(said, "to stop there: tkdbg debug --kernel scale ")
        return said

    def test_numpy(self):
        for line in ("np.testing.assert_allclose(y, ref)",
                     "np.testing.assert_allclose(actual=y, desired=ref)",
                     "np.testing.assert_array_equal(y, ref)",
                     "np.testing.assert_equal(ref, y)",
                     "np.testing.assert_array_almost_equal(y, ref, 3)",
                     "np.testing.assert_almost_equal(y, ref)",
                     "triton.testing.assert_close(y, ref)",
                     "assert np.allclose(y, ref)",
                     "assert np.allclose(ref.copy(), y.astype('f8'))",
                     "assert np.isclose(y, ref).all()",
                     "assert np.array_equal(y[::2], ref[::2])",
                     "np.testing.assert_equal([x, y], [x, ref])",
                     "np.testing.assert_equal({'y': y}, {'y': ref})",
                     "ok = np.allclose(y, ref)\n    assert ok",
                     "try: np.testing.assert_equal(y, ref)\n"
                     "    except AssertionError: raise SystemExit(1)"):
            with self.subTest(line):
                self.led(f"{KERNEL}    {line}\n")

    def test_expressions(self):
        for line in ("assert (y == ref).all()",
                     "assert np.abs(y - ref).max() < 1e-3",
                     "assert abs(y - x * 2).max() < 1e-3",
                     "err = np.abs(y - ref)\n    assert err.max() < 1e-3",
                     "assert not (y != ref).any()",
                     "assert y.tolist() == ref.tolist()",
                     "assert np.linalg.norm(y - ref) < 1e-3",
                     "assert ((y - ref) ** 2).mean() < 1e-3",
                     "out = {'y': y}\n"
                     "    assert abs(out['y'] - ref).max() < 1e-3",
                     "np.abs(x - x).max()\n"
                     "    if not np.allclose(x, ref): pass\n"
                     "    assert np.abs(y - ref).max() < 1e-3",
                     "diff = y - ref\n"
                     "    err = np.abs(diff).max()\n"
                     "    assert err < 1e-3, f'off by {err}'"):
            with self.subTest(line):
                self.led(f"{KERNEL}    {line}\n", by="assert")

    def test_conditions(self):
        for line in ("if np.abs(y - ref).max() > 1:\n"
                     "        raise AssertionError('no')",
                     "most = 1\n"
                     "    if abs(y - ref).max() > most:\n"
                     "        print('FAILED')\n"
                     "        exit(1)",
                     "worst = abs(y - ref).max()\n"
                     "    if not worst < 1:\n"
                     "        raise RuntimeError(f'off by {worst}')",
                     "np.testing.assert_array_less(abs(y - ref), 1e-3)",
                     "np.testing.assert_array_max_ulp(y, ref)",
                     "def error(a, b): return abs(a - b).max()\n"
                     "    exit(0 if error(y, ref) < 1 else 1)",
                     "import unittest\n"
                     "    class Test(unittest.TestCase):\n"
                     "        def test(self):\n"
                     "            self.assertLess(abs(y - ref).max(), 1)\n"
                     "    unittest.main(argv=['test'])",
                     "def fail(): raise SystemExit('no')\n"
                     "    if abs(y - ref).max() > 1:\n"
                     "        fail()"):
            with self.subTest(line):
                self.led(f"{KERNEL}    {line}\n",
                         by=r"the check in line \d+")

    def test_a_library_is_one_wherever_it_lies(self):
        """Its own checks are none of the script's."""
        self.led(f"{KERNEL}    def check(a, b):\n"
                 "        if abs(a - b).max() > 1: raise AssertionError\n"
                 "    import types\n"
                 "    check = types.FunctionType(check.__code__, "
                 "{**globals(), '__name__': 'numpy.testing'})\n"
                 "    if abs(y - ref).max() > 1e-3:\n"
                 "        check(y, ref)\n", by="the check in line 21")

    def test_a_function_of_the_script(self):
        for line in ("assert close(y, ref)", "assert close(a=y, b=ref)",
                     "exit(not close(y, ref))"):
            with self.subTest(line):
                self.led(f"{KERNEL}    def close(a, b): "
                         f"return all(map(float.__eq__, a.tolist(), "
                         f"b.tolist()))\n    {line}\n",
                         by="assert|the check in line ")

    def test_elements(self):
        for line in ("assert y[3] == ref[3]",
                     "assert abs(float(y[3]) - float(ref[3])) < 1e-3",
                     "import math\n"
                     "    assert math.isclose(y[3].item(), ref[3].item())"):
            with self.subTest(line):
                said, _ = self.why(f"{KERNEL}    {line}\n")
                self.assertIn("fails on y of launch 1, scale", said)
                self.assertIn("tl.store(y + i, v * 3, mask=i < n)", said)

    def test_what_is_written_down(self):
        for line in ("assert (y == 1).all()",
                     "assert y[:3].tolist() == [2, 4, 6]",
                     "np.testing.assert_array_equal(y[:2], [2, 4])"):
            with self.subTest(line):
                said, _ = self.why(f"{KERNEL}    {line}\n")
                self.assertIn("fails on y of launch 1, scale\ny differs",
                              said)

    def test_shapes(self):
        for line in ("assert np.allclose(y[:30], ref[:20])",
                     "assert abs(y[:30] - ref[:20]).max() < 1"):
            with self.subTest(line):
                said, _ = self.why(f"{KERNEL}    {line}\n")
                self.assertRegex(said, r"fails on y of launch 1, scale: it is "
                                 r"compared as an array of shape \(30,\) with "
                                 r"one of shape \(20,\)")

    def test_what_is_right(self):
        said, _ = self.why(f"{KERNEL}    x[3] = np.nan\n"
                           "    scale[(3,)](x, y, 40, 16)\n"
                           "    assert np.allclose(y, x * 3)\n")
        self.assertIn("all of its elements have the expected values", said)
        self.assertIn("equal_nan=True", said)

    def test_what_is_asked_of_one_array(self):
        said, _ = self.why(f"{KERNEL}    assert (y < 5).all()\n")
        self.assertIn("fails on y of launch 1, scale\n  the lines that y[0]",
                      said)
        said, _ = self.why(f"{KERNEL}    x[7] = np.nan\n"
                           "    scale[(3,)](x, y, 40, 16)\n"
                           "    assert not np.isnan(y).any()\n")
        self.assertIn("1 of 40 elements is NaN\n  the lines that y[7]",
                      said)

    def test_where_a_bad_address_came_from(self):
        said, status = self.why("""
    @triton.jit
    def number(idx, n, B: tl.constexpr):
        i = tl.arange(0, B)
        tl.store(idx + i, i * i, mask=i < n)

    @triton.jit
    def gather(idx, x, y, n, B: tl.constexpr):
        i = tl.program_id(0) * B + tl.arange(0, B)
        j = tl.load(idx + i, mask=i < n, other=0)
        tl.store(y + i, tl.load(x + j), mask=i < n)

    idx, x = np.zeros(16, "i4"), np.zeros(100, "f4")
    number[(1,)](idx, 16, 16)
    gather[(2,)](idx, x, np.zeros(16, "f4"), 16, 8)
""")
        self.assertEqual(status, 1, said)
        self.assertIn("tkdbg: launch 2, gather, stops\n", said)
        self.assertRegex(said, r"(?s)the address came from, in lane \[2\] of "
                         r"program \(1, 0, 0\):\n.*j\[2\] = 100 of idx\[10\]"
                         r".*idx\[10\] was written by launch 1, number .*"
                         r"i \* i.*gather\[\(2,\)\].*to stop there: tkdbg "
                         r"debug --kernel gather --pid 1,0,0 -b script.py:15 ")

    def test_a_deadlock_has_no_address(self):
        said, _ = self.why("""
    @triton.jit
    def wait(flag):
        while tl.atomic_max(flag, 0) == 0:
            pass

    wait[(1,)](np.zeros(1, "i4"))
""")
        self.assertIn("launch 1, wait, stops\n", said)
        self.assertNotIn("address", said)

    def test_what_the_host_has_changed(self):
        said = self.led(f"{KERNEL}    y += 1\n"
                        "    np.testing.assert_allclose(y, ref)\n")
        self.assertIn("the host has changed y since", said)

    def test_an_array_without_dimensions(self):
        said, _ = self.why("""
    @triton.jit
    def total(x, y):
        tl.store(y, tl.sum(tl.load(x + tl.arange(0, 8)), 0) + 1)

    x, y = np.ones(8, "f4"), np.zeros((), "f4")
    total[(1,)](x, y)
    assert abs(y.item() - x.sum()) < 1e-3
""")
        self.assertIn("y differs from what is expected in its only element\n"
                      "  first y is 9.0, expected 8.0", said)

    def test_a_script_that_only_prints(self):
        self.led(f"{KERNEL}    print(np.allclose(y, ref))\n", status=0)

    def test_inside_of_a_function(self):
        self.led(KERNEL + """
    def check(out, wanted):
        assert np.abs(out - wanted).max() < 1e-3
    check(y, ref)
""", by="assert")

    def test_torch(self):
        support.need("torch")
        import torch.testing  # noqa: F401 so that no fork imports it
        for line in ("torch.testing.assert_close(y, ref)",
                     "torch.testing.assert_close(y.cpu(), ref.cpu(), "
                     "rtol=0, atol=1e-3)",
                     "assert torch.allclose(y, ref)",
                     "assert torch.equal(ref, y)",
                     "assert y.allclose(ref)",
                     "assert (y - ref).abs().max().item() < 1e-3",
                     "assert torch.allclose(y[:8].double(), "
                     "ref[:8].double())",
                     "torch.testing.assert_close([x, y], [x, ref])",
                     "torch.testing.assert_close({'y': y}, {'y': ref})",
                     "assert torch.dist(y, ref) < 1e-3",
                     "assert y.eq(ref).all()",
                     "assert torch.nn.functional.mse_loss(y, ref) < 1e-3",
                     "triton.testing.assert_close(y, ref)"):
            with self.subTest(line):
                self.led(f"{TORCH}    {line}\n")

    def test_bfloat16(self):
        support.need("torch")
        text = TORCH.replace("device=\"cuda\")",
                             "device=\"cuda\", dtype=torch.bfloat16)", 1)
        said, _ = self.why(f"{text}    torch.testing.assert_close(y, ref)\n")
        self.assertIn("times 1.5\n", said)

    def test_a_difference_that_is_gone(self):
        support.need("torch")
        self.led(f"""{TORCH}
    def main():
        worst = (y - ref).abs().max().item()
        return int(worst > 1e-3)
    exit(main())
""", by="the last difference")

    def test_narrow_types(self):
        support.need("torch")
        for kind in "bfloat16", "float8_e4m3fn", "float8_e5m2", "int8", "uint8":
            with self.subTest(kind):
                said, _ = self.why(TORCH.replace(
                    "torch.empty_like(x)", "torch.empty(40, device='cuda', "
                    f"dtype=torch.{kind})") + "    torch.testing.assert_close("
                    f"y.float(), ref.to(torch.{kind}).float())\n")
                self.assertIn("close fails on y of launch 1, scale\ny differs",
                              said)

    def test_bool(self):
        support.need("torch")
        said, _ = self.why(TORCH.replace("torch.empty_like(x)", "torch.empty("
                                         "40, device='cuda', dtype=torch.bool)")
                           .replace("v * 3", "v > 3") +
                           "    assert not (y ^ (x > 2)).any()\n")
        self.assertIn("first y[2] is False, expected True", said)

    def test_pytest(self):
        support.need("pytest")
        for line in ("assert y == pytest.approx(ref)",
                     "assert np.allclose(y, ref)",
                     "assert abs(y - ref).max() < 1"):
            path = self.write("import pytest\n" + textwrap.dedent(HEAD) +
                              "def test():\n" + textwrap.indent(
                                  textwrap.dedent(KERNEL + f"    {line}\n"),
                                  "    "), "test_it.py")
            said, status = self.run_module("pytest", "-q", path)
            with self.subTest(line):
                self.assertEqual(status, 1)
                self.assertIn("fails on y of launch 1, scale", said)

    def run_module(self, *words):
        done = subprocess.run(
            [sys.executable, "-m", "tkdbg", "run", "--triton=ours", "-m",
             *words], capture_output=True, text=True, cwd=self.folder.name,
            env=support.environment(TKDBG_OPTIONS='{"why": true}'))
        return done.stderr, done.returncode

    def test_nothing_failed(self):
        said, status = self.why(f"{KERNEL}    print('fine')\n")
        self.assertEqual(status, 0)
        self.assertIn("no comparison of arrays has failed", said)

    def test_no_launch(self):
        said, _ = self.why("assert np.allclose(np.ones(3), np.zeros(3))\n")
        self.assertIn("no kernel was launched", said)

    def test_copies_of_a_part(self):
        for got, ref in (("y[3:9].astype('f8')", "ref[3:9]"),
                         ("y[::2].copy()", "ref[::2]"),
                         ("y.reshape(4, 10).T.copy()", "ref.reshape(4, 10).T"),
                         ("y.reshape(4, 10)[[2, 0]]",
                          "ref.reshape(4, 10)[[2, 0]]"),
                         ("y.astype('f2')", "ref.astype('f2')")):
            with self.subTest(got):
                self.led(f"{KERNEL}    assert np.allclose({got}, {ref})\n")

    def test_what_a_call_returns(self):
        self.led(KERNEL.replace("scale[(3,)](x, y, 40, 16)", """
    def call(x):
        y = np.zeros(40, "f4")
        scale[(3,)](x, y, 40, 16)
        return y
""") + "    assert np.abs(call(x) - ref).max() < 1e-3\n", by="assert")

    def test_sums(self):
        said, _ = self.why(f"{KERNEL}    assert np.allclose(y.sum(), "
                           "ref.sum())\n")
        self.assertIn("fails on the sum of y of launch 1, scale", said)
        self.assertIn("tl.store(y + i, v * 3, mask=i < n)", said)

    def test_arrays_of_the_host(self):
        said, _ = self.why(f"{KERNEL}    assert np.allclose(np.sin(y), 1)\n")
        self.assertIn("compare what a kernel stores itself", said)

    def test_a_finding_is_said_alone(self):
        said, status = self.why(f"{KERNEL}    scale[(4,)](x, y, 99, 16)\n")
        self.assertEqual(status, 1)
        self.assertNotIn("no comparison", said)

    def test_the_hint_of_run(self):
        done = self.run_script(f"{KERNEL}    assert np.allclose(y, ref)\n",
                               "-q", head=HEAD, check=False)
        self.assertRegex(done.stderr, "tkdbg: 'tkdbg why --triton "
                         rf"{self.triton} \S*script.py' says")
        done = self.run_script(f"{KERNEL}    raise ValueError('no')\n",
                               "-q", head=HEAD, check=False)
        self.assertNotIn("tkdbg why", done.stderr)
        done = self.run_script(  # nothing was compared
            f"{KERNEL}    def again():\n"
            "        scale[(3,)](x, y, 40, 16)\n"
            "        return y\n"
            "    assert np.allclose(again(), x * 3)\n", "-q", "--launch", "2",
            "--explain", "y[99]", head=HEAD, check=False)
        self.assertEqual(done.returncode, 2)
        self.assertNotIn("tkdbg why", done.stderr)

    def test_no_hint_where_no_program_ran(self):
        done = self.run_script(
            f"try:\n{KERNEL}except Exception:\n    raise SystemExit(1)\n",
            "--engine", "gpu", head=HEAD, check=False,
            env={"TKDBG_CUDART": "/none"})
        self.assertEqual(done.returncode, 1)
        self.assertIn("tkdbg: 1 launch, 0 programs", done.stderr)
        self.assertNotIn("tkdbg why", done.stderr)

    def test_checks_say_it_too(self):
        said, status = self.check_of("assert np.allclose(y, ref)")
        self.assertEqual(status, 1)
        self.assertRegex(said, "tkdbg: numpy.allclose fails on y of launch 1")
        said, status = self.check_of("print(np.allclose(y, ref))")
        self.assertEqual((said, status), ("", 0))  # the script has not failed
        said, status = self.check_of("raise ValueError('no')")
        self.assertNotIn("tkdbg:", said)

    def test_checks_as_json(self):
        said, _ = self.check_of("assert np.allclose(y, ref)", "--json")
        told = json.loads(said.splitlines()[-1])
        self.assertEqual((told["kind"], told["severity"]), ("why", "note"))
        self.assertIn("fails on y of launch 1, scale", told["message"])
        self.assertIn("times 1.5", told["notes"][1]["text"])

    def check_of(self, line, *options):
        done = self.run_script(f"{KERNEL}    {line}\n", "-q", "--check",
                               *options, head=HEAD, check=False)
        return done.stderr, done.returncode

    def test_the_debugger_stops_there(self):
        said = self.led(f"{KERNEL}    assert np.allclose(y, ref)\n")
        offer = re.search(r"tkdbg debug (.*)", said).group(1)
        self.assertRegex(offer, r"--pid 0,0,0 -b script\.py:\d+ --triton ours "
                         r"\S*script\.py$")

    def test_the_launch_is_named(self):
        said, _ = self.why(KERNEL.replace("    ref = x * 2\n", """
    scale[(3,)](y, x, 40, 16)
    assert np.allclose(x, y * 2)
"""))
        self.assertRegex(said, "tkdbg debug --kernel scale --launch 2 --pid ")

    def data(self, page):
        """What a page draws."""
        return json.loads(page_data.text(page))

    def used(self, page):
        """Its buttons lead to the element and to the lines."""
        said = told(page, """
          told.modes = all("[aria-pressed=true]");
          told.tree = all(".tree button");
          then(() => document.querySelector(".tree .input").click());
          then(() => click("#why .warn button"));
        """)
        self.assertEqual(said["wrong"], [])
        self.assertEqual((said["cut"], said["unnamed"]), ([], 0))
        self.assertEqual(said["modes"], ["Wrong", "Wrong"])
        self.assertIn("40 elements of y are wrong. y[0] is ",
                      said["warnings"][0])
        self.assertRegex(said["tree"][0], r"^v \* 3 = .* line \d+$")
        self.assertIn("16 wrong elements", said["seen"][0]["program"])
        line = re.search(r"line (\d+)$", next(
            t for t in said["tree"] if " of x[0]" in t)).group(1)
        self.assertIn(f": line {line}", said["seen"][1]["step"])
        self.assertRegex(said["detail"], r"y\[0\].*program \(0, 0, 0\)")

    def test_a_page(self):
        page, text = self.path("why.html"), KERNEL.replace("(3,)", "(4,)")
        said, status = planted.run([textwrap.dedent(HEAD + text) +
                                    "assert np.allclose(y, ref)\n"],
                                   {"why": True, "html": page})
        self.assertEqual(status, 1)
        self.assertIn(f"tkdbg: written to {page}", said)
        with open(page) as f:
            text = f.read()
        data = self.data(text)
        why, launch = data["why"], data["launches"][0]
        self.assertEqual(
            (why["title"], why["tensor"], why["wrong"], why["first"],
             why["program"]),
            ("numpy.allclose fails on y of launch 1, scale", "y", [0, 40], [0],
             0))
        self.assertEqual((launch["kernel"], launch["status"]),
                         ("scale", "complete"))
        self.assertEqual([f["text"] for f in why["suspects"]],
                         [line.partition(": ")[2] for line in why["lines"]
                          if line.startswith("    ") and ": with" in line])
        store = why["slice"][0]
        self.assertIn("v * 3", store["source"])
        read = [s for s in why["slice"] if s.get("memory") == "read"]
        self.assertEqual((read[0]["tensor"], read[0]["index"]), ("x", [0]))
        self.assertNotRegex(text, "https?:")
        if browser.BROWSER:
            self.used(page)
        said, status = planted.run([textwrap.dedent(HEAD + KERNEL) +
                                    "assert np.allclose(y, ref)\n"],
                                   {"why": True, "html": "/dev/full"})
        self.assertIn("tkdbg: cannot write /dev/full: No space left", said)

    def test_launches_that_are_too_large(self):
        large = KERNEL + """
    big, z = np.zeros(300 << 20, "i4"), np.zeros(40, "i4")
    scale[(3,)](big, z, 40, 16)
"""
        said, _ = self.why(large + "    assert (z == 1).all()\n")
        self.assertIn("launch 2, scale, was not recorded: its tensors take "
                      "1200 MiB, and at most 1024 are kept", said)
        said, _ = self.why(large + "    assert np.allclose(y, ref)\n")
        self.assertIn("tkdbg: numpy.allclose fails on y of launch 1", said)
        self.assertNotIn("since;", said)
        said, _ = self.why(large.replace("(big, z", "(big, y") +
                           "    assert (y == 1).all()\n")
        self.assertIn("the host or launch 2, which was not recorded, has "
                      "changed y since; this is what the launch left", said)

    def test_a_page_of_many_elements(self):
        page = self.path("why.html")
        planted.run([textwrap.dedent(HEAD + """
    @triton.jit
    def fill(y, n, B: tl.constexpr):
        i = tl.program_id(0) * B + tl.arange(0, B)
        tl.store(y + i, 1.0, mask=i < n)
    y = np.zeros((300, 7, 50), "f4")
    fill[(y.size // 64,)](y, y.size, 64)
    assert (y == 1).all()
""")], {"why": True, "html": page})
        with open(page) as f:
            data = self.data(f.read())
        size = 300 * 7 * 50
        last = size // 64 * 64
        self.assertEqual(data["why"]["wrong"], [last, size - last])
        self.assertNotIn("program", data["why"])
        written = data["launches"][0]["tensors"][0]["written"]
        self.assertEqual(written, [0, last])

    def test_the_debugger_is_offered_on_a_terminal(self):
        support.need("terminal")
        path = self.write(f"{KERNEL}    assert np.allclose(y, ref)\n",
                          head=HEAD)
        done = support.terminal.Program(
            [sys.executable, "-m", "tkdbg", "run", "--triton=ours", "-q", path],
            support.environment(TKDBG_OPTIONS='{"why": true}', TERM="dumb"))
        self.addCleanup(done.close)
        done.press("y\nprint v[3]\nquit\n")
        done.end(60)
        done.wait(lambda said: False, 60)  # the rest
        self.assertIn("Debug it there? [y/N]", done.text)
        self.assertRegex(done.text, r"(?s)Breakpoint 1.*v\[3\] = 4\.0|= 4\.0")

    def test_an_earlier_launch(self):
        said, _ = self.why("""
    @triton.jit
    def first(x, t, B: tl.constexpr):
        i = tl.arange(0, B)
        tl.store(t + i, tl.load(x + i) + 1)

    @triton.jit
    def second(t, y, B: tl.constexpr):
        i = tl.arange(0, B)
        tl.store(y + i, tl.load(t + i))

    x, t, y = np.zeros(8, "f4"), np.zeros(8, "f4"), np.zeros(8, "f4")
    first[(1,)](x, t, 8)
    second[(1,)](t, y, 8)
    np.testing.assert_allclose(y, x)
""")
        self.assertIn("t[0] was written by launch 1, first (line 17), from",
                      said)
        self.assertIn("tl.store(t + i, tl.load(x + i) + 1)", said)

    def test_a_launch_that_a_signal_ended(self):
        """It has a number of its own; the oldest launches are forgotten."""
        said, _ = self.why("""
    import signal

    @triton.jit
    def endless(x):
        while tl.load(x) == 0:
            tl.store(x + 1, tl.load(x + 1) + 1)

    @triton.jit
    def count(x, B: tl.constexpr):
        i = tl.arange(0, B)
        tl.store(x + i, tl.load(x + i) + 1)

    def bell(*_):
        raise TimeoutError

    signal.signal(signal.SIGALRM, bell)
    signal.setitimer(signal.ITIMER_REAL, 0.1)
    try:
        endless[(1,)](np.zeros(2, "i4"))
    except TimeoutError:
        pass
    x = np.zeros(8, "f4")
    for _ in range(270):
        count[(1,)](x, 8)
    np.testing.assert_allclose(x, np.full(8, 269))
""")
        self.assertIn("fails on x of launch 271, count", said)

    def test_launches_before_the_earlier_one(self):
        said, _ = self.why("""
    @triton.jit
    def first(x, t, B: tl.constexpr):
        i = tl.arange(0, B)
        tl.store(t + i, tl.load(x + i) + 1)

    @triton.jit
    def second(t, u, B: tl.constexpr):
        i = tl.arange(0, B)
        tl.store(u + i, tl.load(t + i) * 2)

    @triton.jit
    def third(u, y, B: tl.constexpr):
        i = tl.arange(0, B)
        tl.store(y + i, tl.load(u + i))

    x, t, u, y = (np.zeros(8, "f4") for _ in range(4))
    first[(1,)](x, t, 8)
    second[(1,)](t, u, 8)
    third[(1,)](u, y, 8)
    np.testing.assert_allclose(y, x)
""")
        self.assertRegex(said, r"(?s)u\[0\] was written by launch 2, second "
                         r"\(line .*t\[0\] was written by launch 1, first \(")

    def test_the_function_of_a_reduction(self):
        said, _ = self.why("""
    @triton.jit
    def merge(a, n, b, m):
        both = n + m
        wrong = a + b * m
        # the mean of both
        return wrong / both, both

    @triton.jit
    def mean(x, y, B: tl.constexpr):
        i = tl.arange(0, B)
        v, n = tl.load(x + i), tl.full([B], 1.0, tl.float32)
        v, n = tl.reduce((v, n), 0, merge)
        tl.store(y, v)

    x, y = np.arange(8, dtype="f4"), np.zeros(1, "f4")
    mean[(1,)](x, y, 8)
    np.testing.assert_allclose(y, x.mean())
""")
        for line in ("both = n + m", "wrong = a + b * m",
                     "return wrong / both, both"):
            self.assertIn(f"| {line}", said)
        self.assertNotIn("the mean of both", said)

    @unittest.skipUnless(planted.importlib.util.find_spec("torch"), "no torch")
    def test_complex_numbers(self):
        said, _ = self.why(f"""{TORCH}
    pairs = torch.view_as_complex(y.view(20, 2))
    torch.testing.assert_close(pairs, torch.complex(ref[::2], ref[1::2]))
""")
        self.assertIn("fails on y of launch 1, scale", said)
        self.assertIn("times 1.5", said)
        self.assertNotIn("Warning", said)

    def test_a_number_is_no_side_of_a_call(self):
        said, _ = self.why(f"""{KERNEL}
    def total(a, n): return float(a.sum()) + n
    got, want = total(y, -1), total(x.reshape(-1, 8), -1)
    assert abs(got - want) < 1e-3
""")
        self.assertNotIn("expected -1", said)

    def test_a_mean_is_told_as_a_number(self):
        said, _ = self.why(f"{KERNEL}    wanted = ref.mean()\n"
                           "    assert abs(y.mean() - wanted) < 1e-3\n")
        self.assertIn("fails on the mean of y of launch 1", said)
        self.assertIn("  it is 61.5, expected 41\n", said)
        self.assertNotIn("1 of 1", said)

    @unittest.skipUnless(planted.importlib.util.find_spec("torch"), "no torch")
    def test_memory_that_was_never_written(self):
        text = TORCH.replace("tl.store(y + i, v * 3",
                             "tl.atomic_add(y + i, v * 2")
        said, _ = self.why(text + "    torch.testing.assert_close(y, ref)\n")
        self.assertIn("an undefined value is changed by an atomic [undef]",
                      said)


class EndedWell(answers.Asked):
    """Scripts that do not fail."""

    RACE = """
    @triton.jit
    def add(x, total, B: tl.constexpr):
        i = tl.program_id(0) * B + tl.arange(0, B)
        part = tl.sum(tl.load(x + i), 0)
        tl.store(total, tl.load(total) + part)
    x, total = np.ones(32, "f4"), np.zeros(1, "f4")
    add[(4,)](x, total, 8)
    np.testing.assert_allclose(total, 32)
"""

    def test_what_the_detectors_find(self):
        said, status = self.why(self.RACE)
        self.assertEqual(status, 0)
        self.assertIn("tkdbg: no comparison of arrays has failed here, where "
                      "programs run one after the other, but the detectors "
                      "find:\n  launch 1, add:\n", said)
        self.assertRegex(said, r"script\.py:\d+: error: program \(1, 0, 0\) "
                         r"reads total\[0\].*\[race\]")

    @unittest.skipUnless(planted.importlib.util.find_spec("torch"), "no torch")
    def test_what_it_printed(self):
        for line in ("print((y.cpu() != ref.cpu()).nonzero().flatten())",
                     "print('max', (y - ref).abs().max()); print(x, ref)"):
            with self.subTest(line):
                said, status = self.why(f"{TORCH}    {line}\n")
                self.assertEqual(status, 0)
                self.assertIn("tkdbg: the script ended well, but its last "
                              "comparison fails on y of launch 1", said)
        for line in ("print((y - x * 3).abs().max())",
                     "change = y - x; torch.testing.assert_close(y, x * 3)",
                     "assert (y - x).abs().max() < 99",
                     "off = (y - x).abs()\n    assert off.max() < 99",
                     "ref = x * 3 + (x < 2) * 0.2; print((y - ref).max())"):
            with self.subTest(line):
                said, _ = self.why(f"{TORCH}    {line}\n")
                self.assertIn("no comparison of arrays has failed: compare",
                              said)

    def test_what_a_tuner_repeats(self):
        said, _ = self.why("""
    @triton.autotune([triton.Config({"B": 8}), triton.Config({"B": 16})], [])
    @triton.jit
    def add(x, y, B: tl.constexpr):
        i = tl.program_id(0) * B + tl.arange(0, B)
        tl.store(y + i, tl.load(y + i) + tl.load(x + i))
    x, y = np.ones(32, "f4"), np.zeros(32, "f4")
    add[lambda m: (triton.cdiv(32, m["B"]),)](x, y)
    assert np.allclose(y, x)
""")
        self.assertRegex(said, r"(?s)detectors find:\n.*a second run gives a "
                         r"different result.*\[idempotence\]")


if __name__ == "__main__":
    unittest.main()
