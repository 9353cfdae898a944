"""``python -m tkdbg run``: scripts in processes of their own."""
import json
import os
import shutil
import signal
import subprocess
import sys
import time
import unittest

import support

support.need("library", "numpy")

from tkdbg import (  # noqa: E402
    __main__ as main, errors, requests, session, settings)

RUN = """
    x = np.arange(100, dtype="f4")
    z = np.zeros(100, "f4")
    add[(7,)](x, x, z, 100, BLOCK=16)
    assert (z == 2 * x).all()
    print("done")
"""

BAD = """
    def launch(z):
        add[(8,)](z, z, z, 101, BLOCK=16)

    launch(np.zeros(100, "f4"))
"""


class CommandLine(unittest.TestCase):
    def test_parse(self):
        self.assertEqual(main.parse(["run", "a.py", "--pid", "3"]),
                         ({}, "file", "a.py", ["--pid", "3"]))
        self.assertEqual(
            main.parse(["--pid", "0", "--launch=2", "-q", "-m", "mod", "x"]),
            ({"pids": "0", "launch": 2, "quiet": True}, "-m", "mod", ["x"]))
        self.assertEqual(main.parse(["--no-virtual-cuda", "-c", "pass"]),
                         ({"virtual_cuda": False}, "-c", "pass", []))

    def test_bad(self):
        for argv in ([], ["run"], ["--nope", "x.py"], ["--pid"], ["-m"],
                     ["--launch", "x", "a.py"]):
            with self.assertRaises(errors.UsageError):
                main.parse(argv)

    def test_elements(self):
        self.assertEqual(
            main.parse(["--blame", "y[1]", "--explain=y[2]", "a.py"]),
            ({"blame": ("y[1]",), "explain": ("y[2]",)}, "file", "a.py", []))

    def test_settings(self):
        options = settings.Options().update({
            "pids": "0", "color": True, "triton": None})
        self.assertEqual((options.pids, options.color, options.triton),
                         ("0", "always", "auto"))
        for bad in ({"nope": 1}, {"dot": "fast"}, {"launch": 0},
                    {"autotune": "some"}):
            with self.assertRaises(errors.UsageError):
                settings.Options().update(bad)

    def test_environment(self):
        before = os.environ.get("TKDBG_OPTIONS")
        try:
            os.environ["TKDBG_OPTIONS"] = '{"quiet": true}'
            self.assertTrue(settings.from_environment().quiet)
            for bad in ("{", "[]", '{"nope": 1}'):
                os.environ["TKDBG_OPTIONS"] = bad
                with self.assertRaises(errors.UsageError):
                    settings.from_environment()
        finally:
            os.environ.pop("TKDBG_OPTIONS")
            if before is not None:
                os.environ["TKDBG_OPTIONS"] = before


DEPRECATED = """
    @triton.jit
    def old(x, B: tl.constexpr):
        i = tl.arange(0, B)
        m = (i < 3) and (i > 0)
        tl.store(x + i, tl.math.tanh(tl.math.log1p(tl.load(x + i))), mask=m)

    @triton.jit
    def older(x, B: tl.constexpr):
        i = tl.arange(0, B)
        tl.store(x + i, tl.math.tanh(tl.load(x + i)))

    x = np.zeros(8, "f4")
    old[(1,)](x, B=8)
    old[(1,)](x, B=4)
    older[(1,)](x, B=8)
"""

CAUGHT = """
    for i in range(3):
        try:
            add[(8,)](np.zeros(128, "f4"), np.zeros(128, "f4"),
                      np.zeros(100, "f4"), 101, BLOCK=16)
        except Exception:
            pass
"""


class Running(support.ScriptCase):
    def test_deprecated_spellings(self):
        """One note of each kind, in a file."""
        done = self.run_script(DEPRECATED, "-q", head=support.HEAD)
        notes = [line.split(": ", 1)[1] for line in done.stderr.splitlines()
                 if "[deprecated]" in line]
        self.assertEqual(notes, [
            "note: 'and' and 'or' are deprecated for blocks; use '&' or '|' "
            "[deprecated] (2 times)",
            "note: tl.math.tanh is libdevice.tanh since Triton 3.0 "
            "[deprecated] (2 times)"])

    def test_more_values_than_names(self):
        done = self.run_script("""
            @triton.jit
            def k(y, n):
                a, b = (n, n + 1, n + 2)
                tl.store(y, a + b)
            y = np.zeros(1, "i4")
            k[(1,)](y, 4)
            print(y[0])
            """, "-q", "--triton-version", "3.8", head=support.HEAD)
        self.assertEqual(done.stdout, "9\n")
        self.assertIn("3 values are assigned to 2 names", done.stderr)

    def test_findings_that_the_script_catches(self):
        told = ("tkdbg: findings that the script caught:\n  {}:10:5: error: "
                "store past the end of z: element 100 of 100 (byte offset "
                "400), 1 of 16 lanes [out-of-bounds] ({} times)\n")
        done = self.run_script(CAUGHT, "-q", head=support.HEAD)
        path = self.path("script.py")
        self.assertEqual(done.stderr, told.format(path, 3))
        done = self.run_script(
            CAUGHT.replace("pass", "if i == 2: raise KeyError(i)"), "-q",
            head=support.HEAD, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn("KeyError: 2", done.stderr)
        self.assertIn(told.format(path, 2), done.stderr)
        done = self.run_script(CAUGHT, "-q", "--check=bounds",
                               head=support.HEAD, check=False)
        self.assertEqual((done.returncode, done.stderr),
                         (1, told.format(path, 3)))
        done = self.run_script(CAUGHT, "--json", head=support.HEAD)
        self.assertNotIn("caught", done.stderr)

    def test_json_has_no_configuration_that_tuning_leaves_out(self):
        script = """
            @triton.autotune([triton.Config({"B": b}) for b in (16, 64)], [])
            @triton.jit
            def k(z, B: tl.constexpr, LEAST: tl.constexpr):
                tl.static_assert(B >= LEAST)
                tl.store(z, B)
            z = np.zeros(1, "i4")
            k[(1,)](z, LEAST=32)
            print(z)
            k[(1,)](z, LEAST=99)
            """
        for options in (), ("--autotune", "all"):
            done = self.run_script(script, "-q", "--json", *options,
                                   head=support.HEAD, check=False)
            self.assertEqual((done.returncode, done.stdout), (1, "[64]\n"))
            told = [json.loads(line) for line in done.stderr.splitlines()]
            self.assertEqual([(e["kind"], e["line"]) for e in told],
                             [("static-assert", 16)])

    def test_processes_that_live_longer(self):
        """What they note must not get into a file with the number of that
        which was read."""
        def notes(requests_):
            with open(os.environ[requests.FILE], "a", encoding="utf-8") as f:
                f.write(requests_ + "\n")
        parts = requests.Requests(session.current())
        self.addCleanup(os.environ.pop, requests.FILE, None)
        parts.share()
        path = os.environ[requests.FILE]
        notes("kernel k")
        parts.unmet()
        self.assertEqual(parts.kernels, {"k": 1})
        reader, writer = os.pipe()
        os.environ[requests.FILE] = path
        notes("kernel other")
        os.close(writer)
        with open(reader, "rb") as f:
            self.assertEqual(f.read(), b"")

    def test_script(self):
        done = self.run_script(RUN, head=support.HEAD)
        self.assertEqual(done.stdout, "done\n")
        self.assertIn("1 launch, 7 programs in", done.stderr)

    def test_quiet(self):
        done = self.run_script(RUN, "-q", head=support.HEAD)
        self.assertEqual(done.stderr, "")

    def test_what_python_gives_a_script(self):
        done = self.run_script("""
            import os, sys
            print(sys.argv[1:], __name__, os.path.basename(__file__))
            print(sys.path[0] == os.path.dirname(os.path.abspath(__file__)))
            print(sys.modules["__main__"].__dict__ is globals())
            sys.exit(7)
        """, args=("a", "--pid", "9"), check=False)
        self.assertEqual(done.returncode, 7)
        self.assertEqual(done.stdout, "['a', '--pid', '9'] __main__ "
                                      "script.py\nTrue\nTrue\n")

    def test_local_imports(self):
        self.write("VALUE = 5\n", "neighbour.py")
        done = self.run_script("import neighbour\nprint(neighbour.VALUE)\n")
        self.assertEqual(done.stdout, "5\n")

    def test_code_and_module(self):
        self.write("import sys\nprint('module', sys.argv[1:])\n", "mod.py")
        for arguments, wanted in (
                (["-m", "mod", "1"], "module ['1']\n"),
                (["-c", "import sys; print(sys.argv)", "2"],
                 "['-c', '2']\n")):
            done = subprocess.run(
                [sys.executable, "-m", "tkdbg", "run", *arguments],
                env=support.environment(), cwd=self.folder.name,
                capture_output=True, text=True)
            self.assertEqual(done.stdout, wanted, done.stderr)

    def test_uncaught_python_exception(self):
        done = self.run_script("def f():\n    return 1 / 0\nf()\n",
                               check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn("ZeroDivisionError", done.stderr)
        self.assertIn("script.py", done.stderr)
        self.assertNotIn("__main__.py", done.stderr)

    def test_syntax_error(self):
        done = self.run_script("x = = 1\n", check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn("SyntaxError", done.stderr)

    def test_missing_file(self):
        done = subprocess.run(
            [sys.executable, "-m", "tkdbg", "run", "/nowhere.py"],
            env=support.environment(), capture_output=True, text=True)
        self.assertEqual(done.returncode, 2)
        self.assertIn("no such file", done.stderr)

    def test_finding(self):
        done = self.run_script(BAD, head=support.HEAD, check=False)
        self.assertEqual(done.returncode, 1)
        for text in ("Traceback", "in launch", "LaunchError: add stopped",
                     "out-of-bounds", "script.py"):
            self.assertIn(text, done.stderr)
        self.assertNotIn("launch.py", done.stderr)
        self.assertNotIn("\x1b[", done.stderr)

    def test_colour(self):
        done = self.run_script(BAD, "--color", "always", head=support.HEAD,
                               check=False)
        self.assertIn("\x1b[", done.stderr)

    def test_caught_finding(self):
        done = self.run_script("""
            import tkdbg
            try:
                add[(8,)](np.zeros(9, "f4"), None, None, 101, BLOCK=16)
            except tkdbg.KernelError as e:
                print(type(e).__name__)
        """, head=support.HEAD)
        self.assertEqual(done.stdout, "CompilationError\n")

    @support.only_ours("it is about a module that tkdbg lacks")
    def test_import_advice(self):
        done = self.run_script("import triton.profiler.nothing\n",
                               check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn("--triton installed", done.stderr)

    def test_kernel_output_keeps_its_place(self):
        done = self.run_script("""
            @triton.jit
            def say(n):
                print("inside", n)
            print("before")
            say[(1,)](5)
            print("after")
        """, head=support.HEAD)
        lines = done.stdout.splitlines()
        self.assertEqual((lines[0], lines[-1]), ("before", "after"))
        self.assertIn("inside", lines[1])


class Selecting(support.ScriptCase):
    triton = "ours"  # launches are counted, and programs chosen, alike

    COUNT = """
        @triton.jit
        def mark(z):
            tl.store(z + tl.program_id(0), 1)

        @triton.jit
        def other(z):
            tl.store(z + tl.program_id(0), 1)

        for kernel in (mark, other, mark):
            z = np.zeros(6, "i4")
            kernel[(6,)](z)
            print(z.tolist())
    """

    def lines(self, **options):
        done = self.run_script(self.COUNT, head=support.HEAD,
                               json_options=options)
        return [sum(json.loads(line)) for line in done.stdout.splitlines()]

    def test_pids(self):
        self.assertEqual(self.lines(pids=">3"), [2, 2, 2])

    def test_kernel(self):
        self.assertEqual(self.lines(pids="=0", kernel="mark"), [1, 6, 1])

    def test_launch(self):
        self.assertEqual(self.lines(pids="0:2", launch=2), [6, 2, 6])
        self.assertEqual(self.lines(pids="0:2", kernel="mark", launch=2),
                         [6, 6, 2])

    def test_order(self):
        for order in ("reverse", "shuffle:3"):
            self.assertEqual(self.lines(order=order), [6, 6, 6])

    def test_bad_condition(self):
        done = self.run_script(RUN, head=support.HEAD, check=False,
                               json_options={"pids": "=<3"})
        self.assertEqual(done.returncode, 2)
        self.assertEqual(done.stdout, "")

    def test_bad_options(self):
        done = self.run_script(RUN, head=support.HEAD, check=False,
                               json_options={"nope": 1})
        self.assertEqual(done.returncode, 2)
        self.assertIn("unknown option", done.stderr)

    def test_print_ir(self):
        done = self.run_script(RUN, "--print-ir", head=support.HEAD)
        self.assertIn("add", done.stdout.split("done")[0])

    def test_autotune_all_sets_the_status(self):
        done = self.run_script("""
            @triton.autotune(configs=[triton.Config({"B": 1}),
                                      triton.Config({"B": 2})], key=[])
            @triton.jit
            def kernel(z, B: tl.constexpr):
                tl.store(z, B)
            kernel[(1,)](np.zeros(1, "f4"))
        """, "--autotune", "all", head=support.HEAD, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn("disagree", done.stderr)

    def test_record(self):
        path = self.path("launch.safetensors")
        self.run_script(RUN, "--record", path, head=support.HEAD)
        if not os.path.exists(path):
            self.skipTest("this library does not record yet")
        self.assertGreater(os.path.getsize(path), 400)


class Interrupting(support.ScriptCase):
    def test_ctrl_c_in_a_kernel(self):
        path = self.write("""
            @triton.jit
            def forever(z):
                i = tl.load(z)
                while i >= 0:
                    i = (i + 1) & 1023
            z = np.zeros(1, "i4")
            print("ready", flush=True)
            forever[(1,)](z)
        """, head=support.HEAD)
        process = subprocess.Popen(
            [sys.executable, "-m", "tkdbg", "run", path],
            env=support.environment(), stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True)
        try:
            self.assertEqual(process.stdout.readline(), "ready\n")
            time.sleep(0.3)
            process.send_signal(signal.SIGINT)
            _, said = process.communicate(timeout=20)
        finally:
            process.kill()
            process.wait()
        self.assertEqual(process.returncode, 130, said)
        self.assertIn("KeyboardInterrupt", said)
        self.assertNotIn("Exception ignored", said)

    def test_ctrl_c_can_be_caught(self):
        done = self.run_script("""
            import os, signal, threading
            @triton.jit
            def forever(z):
                i = tl.load(z)
                while i >= 0:
                    i = (i + 1) & 1023
            add[(1,)](*[np.zeros(4, "f4")] * 3, 4, BLOCK=4)  # all is imported
            threading.Timer(0.3, lambda: os.kill(os.getpid(),
                                                 signal.SIGINT)).start()
            try:
                forever[(1,)](np.zeros(1, "i4"))
            except KeyboardInterrupt:
                print("caught")
            add[(1,)](*[np.zeros(4, "f4")] * 3, 4, BLOCK=4)
            print("works")
        """, head=support.HEAD)
        self.assertEqual(done.stdout, "caught\nworks\n")


class Environment(support.ScriptCase):
    """TKDBG=1 for a Python that was started without the command."""
    triton = "auto"  # the scripts choose nothing

    def run_plain(self, text, **env):
        path = self.write(text, head=support.HEAD)
        return subprocess.run([sys.executable, path], capture_output=True,
                              text=True, cwd=self.folder.name,
                              env=support.environment(**env))

    def test_on(self):
        done = self.run_plain(RUN, TKDBG="1")
        self.assertEqual(done.stdout, "done\n", done.stderr)

    def test_off(self):
        path = self.write("import sys\nprint('tkdbg' in sys.modules)\n")
        done = subprocess.run([sys.executable, path], capture_output=True,
                              text=True, env=support.environment(TKDBG="0"))
        self.assertEqual(done.stdout, "False\n", done.stderr)

    def test_uncaught_finding(self):
        done = self.run_plain(BAD, TKDBG="1")
        self.assertEqual(done.returncode, 1)
        self.assertIn("LaunchError: add stopped", done.stderr)
        self.assertNotIn("launch.py", done.stderr)

    def test_next_sitecustomize_runs(self):
        os.mkdir(self.path("other"))
        self.write("print('other site')\n", "other/sitecustomize.py")
        done = subprocess.run(
            [sys.executable, "-c", "pass"], capture_output=True, text=True,
            env=support.environment(PYTHONPATH=os.pathsep.join(
                [support.PYTHON, self.path("other")])))
        self.assertEqual(done.stdout, "other site\n", done.stderr)

    def run_chain(self, *folders, **env):
        """What files print that the path of a new Python names."""
        done = subprocess.run(
            [sys.executable, "-c", "print('end')"], capture_output=True,
            text=True, cwd=self.folder.name, env=support.environment(
                PYTHONPATH=os.pathsep.join(folders), **env))
        self.assertEqual(done.stderr, "")
        return done.stdout.split()

    def test_copies_and_links_of_sitecustomize(self):
        ours = os.path.join(support.PYTHON, "sitecustomize.py")
        for name in "copy", "file", "other":
            os.mkdir(self.path(name))
        shutil.copy(ours, self.path("copy"))
        os.symlink(ours, self.path("file/sitecustomize.py"))
        os.symlink(support.PYTHON, self.path("link"))
        os.symlink(self.path("other"), self.path("other2"))
        self.write("print('other')\n", "other/sitecustomize.py")
        names = [support.PYTHON, "copy", "file", "link", "other", "other2"]
        for on in "0", "1":
            for folders in (names, names + names,
                            ["copy", "link", "other", support.PYTHON],
                            ["file", support.PYTHON, "other", "copy"]):
                self.assertEqual(self.run_chain(*folders, TKDBG=on),
                                 ["other", "end"], folders)

    def test_sitecustomizes_that_hand_on(self):
        """Each of them runs the first one that is not in its own folder."""
        for name in "ab":
            os.mkdir(self.path(name))
            self.write(f"""
                import importlib.machinery, importlib.util, os, sys
                print({name!r})
                here = os.path.dirname(os.path.abspath(__file__))
                spec = importlib.machinery.PathFinder.find_spec(
                    "sitecustomize",
                    [p for p in sys.path if os.path.abspath(p) != here])
                spec.loader.exec_module(importlib.util.module_from_spec(spec))
            """, f"{name}/sitecustomize.py")
        os.mkdir(self.path("c"))
        self.write("print('c')", "c/sitecustomize.py")
        chain = self.run_chain(support.PYTHON, "a", "c")
        self.assertEqual(chain, ["a", "c", "end"])
        chain = self.run_chain("b", support.PYTHON, "c")
        self.assertEqual(chain, ["b", "c", "end"])

    def test_children_of_multiprocessing(self):
        """A process that is spawned, under two tkdbgs and a path twice."""
        os.mkdir(self.path("copy"))
        shutil.copy(os.path.join(support.PYTHON, "sitecustomize.py"),
                    self.path("copy"))
        path = self.write("""
            import multiprocessing, sys

            def said():
                print("tkdbg" in sys.modules)

            if __name__ == "__main__":
                p = multiprocessing.get_context("spawn").Process(target=said)
                p.start()
                p.join()
        """)
        done = subprocess.run(
            [sys.executable, path], capture_output=True, text=True,
            env=support.environment(TKDBG="1", PYTHONPATH=os.pathsep.join(
                [support.PYTHON, self.path("copy")] * 2)))
        self.assertEqual((done.stdout, done.stderr), ("True\n", ""))


if __name__ == "__main__":
    unittest.main()
