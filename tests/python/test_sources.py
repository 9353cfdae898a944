"""Kernels that do not lie in a file: standard input, -c, exec(); and kernels
launched by several threads and processes."""
import subprocess
import sys
import textwrap

import support

support.need("library", "numpy")

PROGRAM = textwrap.dedent(support.HEAD) + textwrap.dedent("""
    def try_it(n):
        x, z = np.arange(n, dtype="f4"), np.zeros(n, "f4")
        add[(n // 16 + 1,)](x, x, z, n, BLOCK=16)
        assert (z == 2 * x).all()

    try_it(100)
    print("launched")
""")

BAD = PROGRAM + textwrap.dedent("""
    add[(8,)](np.zeros(100, "f4"), np.zeros(100, "f4"), np.zeros(99, "f4"),
              100, BLOCK=16)
""")


class Sources(support.ScriptCase):
    triton = "auto"  # the scripts choose nothing

    def python(self, *args, text=None, **changes):
        """Runs this Python; text is its standard input, by a pipe."""
        return subprocess.run(
            [sys.executable, *args], input=text, capture_output=True,
            text=True, cwd=self.folder.name, timeout=60,
            env=support.environment(**changes))

    def expect(self, done):
        self.assertEqual((done.stdout, done.returncode), ("launched\n", 0),
                         done.stderr)

    def expect_place(self, done, place):
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn(place, done.stderr)
        self.assertIn("tl.store(z + i, tl.load(x + i", done.stderr)

    def test_standard_input(self):
        self.expect(self.python("-", text=PROGRAM, TKDBG="1"))
        self.expect(self.python(text=PROGRAM, TKDBG="1"))
        self.expect(self.python("-m", "tkdbg", "run", "-q", "-",
                                text=PROGRAM))
        self.expect_place(self.python("-", text=BAD, TKDBG="1"),
                          "<stdin>:10:5: error: store past the end of z")
        with open(self.write(PROGRAM)) as f:
            self.expect(subprocess.run(
                [sys.executable], stdin=f, capture_output=True, text=True,
                env=support.environment(TKDBG="1"), timeout=60))

    def test_standard_input_without_the_command(self):
        text = "import tkdbg\ntkdbg.install()\n" + PROGRAM
        with open(self.write(text)) as f:
            self.expect(subprocess.run(
                [sys.executable, "-"], stdin=f, capture_output=True,
                text=True, env=support.environment(), timeout=60))
        text = text.replace("install()", "install(triton='ours')")
        self.assertIn("to run a program from a pipe, use 'tkdbg run -'",
                      self.python("-", text=text).stderr)

    def test_rest_of_standard_input(self):
        """A script that has a file reads its own standard input."""
        path = self.write("import sys\nprint(sys.stdin.read())\n")
        done = self.python(path, text="for the script", TKDBG="1")
        self.assertEqual(done.stdout, "for the script\n", done.stderr)

    def test_command(self):
        self.expect(self.python("-c", PROGRAM, TKDBG="1"))
        self.expect(self.python(
            "-c", "import tkdbg\ntkdbg.install()\n" + PROGRAM))
        self.expect_place(self.python("-m", "tkdbg", "run", "-c", BAD),
                          "<string>:10:5: error: store past the end of z")

    def test_exec(self):
        self.write(PROGRAM, "program.txt")
        for call in ('exec(open("program.txt").read())',
                     'exec(compile(open("program.txt").read(), "made", '
                     '"exec"), {"__name__": "x"})',
                     'from __future__ import annotations\n'
                     'exec(open("program.txt").read(), {"__name__": "x"})'):
            self.expect(self.python("-m", "tkdbg", "run", "-q",
                                    self.write(call + "\n")))

    def test_exec_of_what_makes_dataclasses(self):
        """The text is remembered, however many they compile."""
        self.write("import dataclasses\n"
                   "for i in range(300):\n"
                   "    dataclasses.make_dataclass(f'D{i}', ['x'])\n" +
                   PROGRAM, "program.txt")
        self.expect(self.python("-m", "tkdbg", "run", "-q", self.write(
            'exec(open("program.txt").read())\n')))

    def test_several_texts(self):
        """Texts that share a name are told apart."""
        done = self.run_script("""
            import numpy as np
            kernels = []
            for i in range(3):
                names = {}
                exec(f"import triton, triton.language as tl\\n"
                     f"@triton.jit\\ndef fill(x):\\n    tl.store(x, {i})\\n",
                     names)
                kernels.append(names["fill"])
            x = np.zeros(1, "f4")
            for k in kernels:
                k[(1,)](x)
                print(x[0])
        """, "-q")
        self.assertEqual(done.stdout, "0.0\n1.0\n2.0\n")


class Processes(support.ScriptCase):
    triton = "auto"  # the scripts choose nothing

    SCRIPT = """
        import multiprocessing, os, sys, threading
        import program

        def many(n):
            for _ in range(20):
                program.try_it(n)

        def child():
            pid = os.fork()
            if not pid:
                many(77)
                os._exit(0)
            return os.waitpid(pid, 0)[1]

        def threads():
            made = [threading.Thread(target=many, args=(n,))
                    for n in (100, 200, 300)]
            for t in made:
                t.start()
            forked = child()
            for t in made:
                t.join()
            return forked

        if __name__ == "__main__":
            what = sys.argv[1]
            if what == "fork":
                assert child() == 0
                many(5)
                assert child() == 0
            elif what == "threads":
                assert threads() == 0
            else:
                with multiprocessing.get_context(what).Pool(2) as pool:
                    pool.map(many, (10, 20, 30))
            print("done")
    """

    def test_all(self):
        # The module prints nothing: what processes that share a pipe print
        # may come in any order.
        self.write(PROGRAM.replace('print("launched")', ""), "program.py")
        for what in "threads", "fork", "spawn":
            with self.subTest(what):
                done = self.run_script(self.SCRIPT, "-q", args=[what])
                self.assertEqual(done.stdout, "done\n", done.stderr)

    def test_programs_that_a_script_starts(self):
        self.write(PROGRAM, "program.py")
        done = self.run_script("""
            import subprocess, sys
            subprocess.run([sys.executable, "program.py"], check=True)
        """, "-q")
        self.assertEqual(done.stdout, "launched\n")
