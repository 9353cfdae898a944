"""``pytest -p tkdbg``: findings of tests, in reports, XML and the summary."""
import json
import subprocess
import sys
import unittest
import xml.etree.ElementTree

import support

support.need("library", "numpy", "pytest")

HEAD = """
    import numpy as np
    import pytest
    import triton
    import triton.language as tl

    @triton.jit
    def total(x, y, n, B: tl.constexpr):
        i = tl.arange(0, B)
        row = tl.load(x + i, mask=i < n)
        tl.store(y, tl.sum(row, 0))

    @triton.jit
    def last(y):
        tl.store(y, tl.program_id(0))

    def run_total(n, size=None):
        y = np.zeros(1, "f4")
        total[(1,)](np.ones(size or n, "f4"), y, n, B=16)
"""

TESTS = """
    @pytest.mark.parametrize("n", [8, 9, 16])
    def test_total(n):
        run_total(n)

    def test_again():
        run_total(9)

    def test_race():
        last[(5,)](np.zeros(1, "i4"))

    def test_good():
        last[(1,)](np.zeros(1, "i4"))

    def test_swallowed():
        with pytest.raises(RuntimeError):
            run_total(17, 8)

    def test_refused():
        @triton.jit
        def bad(x):
            tl.store(x, nobody)
        with pytest.raises(Exception):
            bad[(1,)](np.zeros(1, "i4"))
"""

CHECKS = "--tkdbg-check=undef,race"


def installed(module):
    code = f"import {module}"
    return subprocess.run([sys.executable, "-c", code],
                          capture_output=True).returncode == 0


class Plugin(support.ScriptCase):
    triton = "ours"  # tests that are for both name them

    def pytest(self, *args, text=TESTS, commands="", **changes):
        """Runs the tests; (exit status, output).  commands: its input."""
        self.write("import triton\n", "conftest.py")  # so early
        self.write(text, "test_it.py", head=HEAD)
        changes.setdefault("TKDBG_OPTIONS", '{"triton": "ours"}')
        done = subprocess.run(
            [sys.executable, "-m", "pytest", "-p", "tkdbg", "-p",
             "no:cacheprovider", *args],
            cwd=self.folder.name, capture_output=True, text=True,
            input=commands, timeout=120, env=support.environment(
                **changes, PYTEST_DISABLE_PLUGIN_AUTOLOAD="1", COLUMNS="80"))
        self.assertEqual(done.stderr, "")
        return done.returncode, done.stdout

    def expect(self, output, *lines):
        for line in lines:
            self.assertIn(line, output)

    def test_summary(self):
        status, output = self.pytest(CHECKS)
        self.assertEqual(status, 0, output)
        self.expect(
            output, "tkdbg: findings at 3 places, in 5 tests",
            "test_it.py:11: error: an undefined lane goes into a reduction "
            "together with lanes that are defined [undef]\n"
            "    3 findings in test_it.py::test_total[8] and 2 more tests\n"
            "test_it.py:10: error: load past the end of x: element 8 of 8",
            "test_it.py:15: error: programs (0, 0, 0) and (1, 0, 0) both "
            "write y[0], and nothing orders them [race]\n"
            "    1 finding in test_it.py::test_race\n",
            "8 passed")
        self.assertNotIn("nobody", output)
        self.assertNotIn("warnings summary", output)

    def test_fail_on_error(self):
        status, output = self.pytest(CHECKS, "--tkdbg-fail-on=error")
        self.assertEqual(status, 1)
        self.expect(output, "5 failed, 3 passed",
                    "it comes from here: lane [9] of this load is masked off",
                    "FAILED test_it.py::test_again")

    def test_fail_on_warning(self):
        text = """
            def test_total():
                run_total(16)
        """
        for level, failed in ("error", 0), ("warning", 1):
            status, output = self.pytest(
                "--tkdbg-check=lint", f"--tkdbg-fail-on={level}",
                text=text)
            self.assertEqual(status, failed, output)
            self.expect(output, "test_it.py:10: warning: lanes that the mask "
                        "leaves out are undefined")

    def test_keep_going(self):
        """A test goes on after a bad access, and fails at its end."""
        status, output = self.pytest(
            "--tkdbg-check=none", "--tkdbg-keep-going", text="""
            def test_past():
                run_total(16, 8)
                print("went on")

            def test_good():
                run_total(16)
        """)
        self.assertEqual(status, 1, output)
        self.expect(output, "1 failed, 1 passed", "went on",
                    "load past the end of x: 8 lanes, in 1 program")

    def test_frames_of_triton(self):
        if not installed("triton"):
            self.skipTest("Triton is not installed")
        status, output = self.pytest(TKDBG_OPTIONS='{"triton": "installed"}',
                                     text="""
            def test_it():
                run_total(17, 8)
        """)
        self.assertEqual(status, 1, output)
        self.expect(output, ">       run_total(17, 8)", "total[(1,)]",
                    "load past the end of x")
        self.assertNotIn("jit.py", output)

    WRONG = """
        def test_wrong():
            y = np.zeros(4, "i4")
            last[(4,)](y)
            np.testing.assert_array_equal(y, [3, 0, 0, 1])

        def test_later():
            y = np.zeros(1, "f4")
            total[(1,)](np.ones(8, "f4"), y, 7, B=8)
            assert y == 8

        def test_right():
            y = np.zeros(1, "i4")
            last[(1,)](y)
            assert y[0] == 0

        def test_no_kernel():
            assert 1 == 2
    """

    def test_why(self):
        """Each test that fails by a comparison says why, of itself."""
        status, output = self.pytest("--tkdbg-check=none",
                                     "--junitxml=out.xml", text=self.WRONG)
        self.assertEqual(status, 1, output)
        self.expect(output, "3 failed, 1 passed", "fails on y of launch 1, "
                    "last", "y differs from what is expected",
                    "to stop there: tkdbg debug --kernel last")
        self.assertEqual(output.count("tkdbg: why it is wrong"), 2)
        root = xml.etree.ElementTree.parse(self.path("out.xml")).getroot()
        found = [p.get("value") for p in root.iter("property")
                 if p.get("name") == "tkdbg.why"]
        self.assertEqual(len(found), 2)
        status, output = self.pytest("--tkdbg-why=off", text=self.WRONG)
        self.assertEqual(status, 1)
        self.assertNotIn("why it is wrong", output)

    MISTAKES = """
        def test_argument():
            last[(1,)]()

        def test_grid():
            last[(1.5,)](np.zeros(1, "i4"))
    """

    def test_mistakes(self):
        """A launch that cannot be made: the test's own frames, and what is
        wrong with its line."""
        status, output = self.pytest(text=self.MISTAKES)
        self.assertEqual(status, 1, output)
        self.expect(output, "2 failed", ">       last[(1,)]()",
                    "error: last is called without y [launch]",
                    "axis 0 of the grid is a float, 1.5, not a whole number")
        self.assertNotIn("launch.py", output)

    def test_mistakes_without_plug_in(self):
        self.write(self.MISTAKES, "test_it.py", head=HEAD)
        for words in ([], ["-p", "tkdbg"]):
            done = subprocess.run(
                [sys.executable, "-m", "tkdbg", "run", "--triton", "ours",
                 "-m", "pytest", *words, "test_it.py"],
                cwd=self.folder.name, capture_output=True, text=True,
                timeout=120, env=support.environment(COLUMNS="80"))
            self.assertEqual(done.returncode, 1, done.stdout)
            self.assertEqual(done.stdout.count("what is wrong with it"), 2)
            self.assertNotIn("launch.py", done.stdout)

    def test_json_of_tests_that_pass(self):
        """What a runner captures of a test is not shown where it passes."""
        self.write(TESTS, "test_it.py", head=HEAD)
        done = subprocess.run(
            [sys.executable, "-m", "tkdbg", "run", "-q", "--triton", "ours",
             "--check=race", "--json", "-m", "pytest", "test_it.py"],
            cwd=self.folder.name, capture_output=True, text=True,
            timeout=120, env=support.environment())
        self.assertIn("8 passed", done.stdout)
        self.assertIn(("race", 15), [
            (e["kind"], e["line"]) for e in map(
                json.loads, done.stderr.splitlines())])

    def test_error_exitcode(self):
        self.assertEqual(self.pytest("--tkdbg-error-exitcode=9")[0], 9)
        self.assertEqual(self.pytest("--tkdbg-error-exitcode=9",
                                     text="def test_it(): pass")[0], 0)

    def test_debug(self):
        """The debugger has the terminal, and stops where a test raises."""
        status, output = self.pytest("--tkdbg-debug", text="""
            def test_it():
                y = np.zeros(1, "i4")
                last[(3,)](y)
                assert y[0] == 7
        """, commands="print pid\ncontinue\nlaunch 1\nprint y[0]\n"
             "continue\ncontinue\n")
        self.assertEqual(status, 1)
        self.expect(output, "Start, launch 1 (last), program (0, 0, 0)",
                    "test_it.py::test_it\nThe script raised AssertionError",
                    "Start, launch 1 (last) again", "y[0]: int32 = 0",
                    "1 failed")

    def test_none(self):
        status, output = self.pytest("--tkdbg-check=none",
                                     "--tkdbg-fail-on=warning")
        self.assertEqual(status, 1)
        self.expect(output, "load past the end of x", "1 failed, 7 passed")
        self.assertNotIn("[undef]", output)

    def test_mistakes(self):
        status, output = self.pytest("--tkdbg-fail-on=error", text="""
            def test_it():
                assert 1 + 1 == 3
        """)
        self.assertEqual(status, 1)
        self.assertNotIn("tkdbg:", output)

    def test_junit(self):
        path = self.path("out.xml")
        self.pytest(CHECKS, f"--junitxml={path}")
        cases = xml.etree.ElementTree.parse(path).iter("testcase")
        found = {c.get("name"): [(p.get("name"), p.get("value"))
                                 for p in c.iter("property")] for c in cases}
        self.assertEqual(found["test_again"], [(
            "tkdbg.undef", "test_it.py:11: error: an undefined lane goes "
            "into a reduction together with lanes that are defined "
            "[undef]")])
        self.assertEqual(found["test_good"], [])
        self.assertEqual(found["test_refused"], [])
        self.assertEqual(found["test_swallowed"][0][0],
                         "tkdbg.out-of-bounds")

    def test_empty_list(self):
        status, output = self.pytest("--tkdbg-check=")
        self.assertNotIn("ArgumentError", output)
        self.assertIn("[undef]", output)

    def refused(self, option):
        """What pytest says of an option that it does not take."""
        self.write("", "test_it.py")
        done = subprocess.run(
            [sys.executable, "-m", "pytest", "-p", "tkdbg", option],
            cwd=self.folder.name, capture_output=True, text=True,
            env=support.environment())
        self.assertEqual(done.returncode, 4)
        self.assertNotIn("Traceback", done.stderr)
        return done.stderr

    def test_bad_list(self):
        said = self.refused("--tkdbg-check=undeff")
        self.assertIn("no detector is called 'undeff'", said)
        self.assertIn("did you mean 'undef'", said)

    def test_bad_exit_status(self):
        for wrong in "x", "0", "256", "-1":
            self.assertIn(f"a number from 1 to 255, not '{wrong}'",
                          self.refused(f"--tkdbg-error-exitcode={wrong}"))

    def test_workers(self):
        if not installed("xdist"):
            self.skipTest("pytest-xdist is not installed")
        path = self.path("out.xml")
        status, output = self.pytest(
            "-p", "xdist", "-n", "2", CHECKS, "--tkdbg-fail-on=error",
            f"--junitxml={path}")
        self.assertEqual(status, 1)
        self.expect(output, "tkdbg: findings at 3 places, in 5 tests",
                    "5 failed, 3 passed")
        with open(path) as f:
            self.assertEqual(f.read().count('name="tkdbg.undef"'), 3)

    def test_beside_triton(self):
        if not support.real_triton():
            self.skipTest("Triton is not installed")
        status, output = self.pytest(
            CHECKS, TKDBG_OPTIONS='{"triton": "installed"}')
        self.assertEqual(status, 0, output)
        self.expect(output, "tkdbg: findings at 3 places, in 5 tests",
                    "8 passed")
        self.assertEqual(output.count("kernels mean what they mean in"),
                         support.triton_version() > support.newest_version())


if __name__ == "__main__":
    unittest.main()
