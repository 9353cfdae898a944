"""Signals while a kernel runs or is compiled."""
import ast
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
import unittest

import support

support.need("library", "numpy")

HEAD = """
    import os
    import signal
    import threading
    import time

    import numpy as np
    import triton
    import triton.language as tl

    @triton.jit
    def endless(p):
        i = tl.load(p) + 1
        while i > 0:
            i += 1
        tl.store(p, i)

    @triton.jit
    def talking(p):
        i = tl.load(p) + 1
        while i > 0:
            i += 1
            print("here", i)

    @triton.jit
    def unrolled(p):
        for i in tl.static_range(1000000):
            tl.store(p, tl.load(p) + i)

    @triton.jit
    def product(p, N: tl.constexpr):
        i = tl.arange(0, N)[:, None] * N + tl.arange(0, N)[None, :]
        a = tl.load(p + i)
        for _ in range(100000):
            a = tl.dot(a, a, input_precision="tf32x3")
        tl.store(p + i, a)

    @triton.jit
    def count(p, n):
        total = tl.zeros((64,), tl.float32)
        for _ in range(n):
            total += 1
        tl.store(p + tl.arange(0, 64), total)

    zero = np.zeros(1, np.int64)

    class Late(Exception):
        pass

    def late(*_):
        raise Late

    def time_of(call):
        "How late the handler of an alarm in 0.3 s stops call()."
        signal.signal(signal.SIGALRM, late)
        start = time.perf_counter()
        signal.setitimer(signal.ITIMER_REAL, 0.3)
        try:
            call()
        except Late:
            return time.perf_counter() - start - 0.3
        return "not stopped"

    def judge(call):
        "Whether it was in time; a busy machine gets three trials."
        found = [time_of(call) for _ in range(3)]
        print("in time" if min(found, key=str) and
              all(isinstance(x, float) for x in found) and
              min(found) < 0.1 else found)
"""


class Handlers(support.ScriptCase):
    # beside Triton the first launch imports PyTorch, for longer than they wait
    triton = "ours"

    def stops(self, text, *options):
        done = self.run_script(text, "-q", "--triton", "ours", *options,
                               head=HEAD)
        self.assertEqual(done.stdout.splitlines()[-1], "in time")

    def test_a_loop(self):
        self.stops("judge(lambda: endless[(1,)](zero))")

    def test_one_of_many_programs(self):
        self.stops("judge(lambda: count[(1 << 30,)]("
                   "np.zeros(64, np.float32), 3))")

    def test_a_kernel_that_prints(self):
        self.stops("judge(lambda: talking[(1,)](zero))")

    def test_long_operations(self):
        self.stops("""
            a = np.zeros((128, 128), np.float32)
            judge(lambda: product[(1,)](a, 128))
        """, "--dot", "exact")

    def test_functions_of_large_blocks(self):
        """0.15 s for one instruction on a machine that does nothing else."""
        self.stops("""
            from triton.language.extra import libdevice

            @triton.jit
            def bessel(p, n, N: tl.constexpr):
                i = tl.arange(0, N)
                x = tl.load(p + i)
                y = x
                for _ in range(100000):
                    y = libdevice.jn(n, x)
                tl.store(p + i, y)

            judge(lambda: bessel[(1,)](np.full(1 << 20, 1e9), 20, 1 << 20))
        """)

    def test_detectors_on_large_blocks(self):
        text = """
            @triton.jit
            def adds(p, N: tl.constexpr):
                i = (tl.arange(0, N) * 7919) & (N - 1)
                for _ in range(100000):
                    tl.atomic_add(p + i, tl.load(p + i) + 1)

            judge(lambda: adds[(1,)](np.zeros(1 << 20, np.%s), 1 << 20))
        """
        self.stops(text % "float32", "--check")
        self.stops(text % "int32", "--check")

    def test_a_compilation(self):
        self.stops("judge(lambda: unrolled[(1,)](zero))")

    def test_functions_that_call_twice(self):
        self.stops("""
            @triton.jit
            def twice(a, D: tl.constexpr):
                if D > 0:
                    a = twice(a, D - 1) + twice(a + 1, D - 1)
                return a

            @triton.jit
            def kernel(p):
                tl.store(p, twice(tl.load(p), 40))

            judge(lambda: kernel[(1,)](zero))
        """)

    def test_programs_that_are_left_out(self):
        self.stops("judge(lambda: count[(65535, 65535, 65535)]("
                   "np.zeros(64, np.float32), 3))", "--pid", "0,0,65534")

    def test_many_programs_of_a_compiled_kernel(self):
        support.need("llvm")
        self.stops("judge(lambda: count[(1 << 30,)]("
                   "np.zeros(64, np.float32), 3))", "--engine", "ptx")

    def test_detectors_on(self):
        self.stops("judge(lambda: endless[(1,)](zero))", "--check")

    def test_while_another_thread_launches(self):
        self.stops("""
            other = threading.Thread(target=lambda: endless[(1,)](zero),
                                     daemon=True)
            other.start()
            time.sleep(0.2)
            judge(lambda: count[(1,)](np.zeros(64, np.float32), 3))
            sys = __import__("sys")
            sys.stdout.flush()
            os._exit(0)
        """)

    def test_a_handler_that_returns(self):
        done = self.run_script("""
            calls = []
            signal.signal(signal.SIGALRM, lambda *_: calls.append(1))
            signal.setitimer(signal.ITIMER_REAL, 0.01, 0.01)
            x = np.zeros(64, np.float32)
            count[(1,)](x, 3000000)
            signal.setitimer(signal.ITIMER_REAL, 0)
            print(len(calls) > 2, x[5] == 3000000)
        """, "-q", "--triton", "ours", head=HEAD)
        self.assertEqual(done.stdout, "True True\n")

    def test_a_handler_that_launches(self):
        done = self.run_script("""
            x = np.zeros(64, np.float32)
            signal.signal(signal.SIGALRM,
                          lambda *_: count[(1,)](x, 3))
            signal.setitimer(signal.ITIMER_REAL, 0.2)
            try:
                endless[(1,)](zero)
            except RuntimeError as e:
                print(str(e)[:31])
            count[(1,)](x, 3)
            print(x[0])
        """, "-q", "--triton", "ours", head=HEAD)
        self.assertEqual(done.stdout, "a kernel cannot be launched or \n"
                                      "3.0\n")


class LongKernels(support.ScriptCase):
    triton = "ours"  # what is measured is how C compiles

    def test_are_looked_through_in_pieces(self):
        """Python's parser answers no signals; names are found all the same."""
        from tkdbg import scope
        lines = ["@jit\n", "def k(p, q=default):\n"]
        for i in range(9000):
            lines += [f"    x{i} = f(a{i},\n", "b)\n", "    if x0:\n",
                      f"        y = c{i}\n", "    else:\n", "        y = z\n"]
        pieces = list(scope.trees_of("".join(lines)))
        self.assertGreater(len(pieces), 10)
        whole = scope.names_in([ast.parse("".join(lines))])
        self.assertEqual(scope.names_in(pieces), whole)
        self.assertIn("c8999", whole)
        for odd in '    """\n    text\n    """\n', "    x = [\n    1]\n":
            text = "def k(p):\n" + odd * 3000
            self.assertEqual(scope.names_in(scope.trees_of(text)), set())

    def test_are_compiled_in_time_that_grows_with_their_length(self):
        """What looks through all of the names or steps for each of them takes
        60 times as long for eight times the length, or more; the processor's
        time is measured, which other processes do not change."""
        self.run_script("""
            @triton.jit
            def plain(p, N: tl.constexpr):
                i = tl.arange(0, 64)
                for j in tl.static_range(N):
                    tl.store(p + i, tl.load(p + i) + j)

            @triton.jit
            def added(x, k):
                return x + k

            @triton.jit
            def calls(p, N: tl.constexpr):
                i = tl.arange(0, 64)
                for j in tl.static_range(N):
                    tl.store(p + i, added(tl.load(p + i), tl.constexpr(j)))

            @triton.jit
            def sums(p, N: tl.constexpr):
                i = tl.arange(0, 64)
                for j in tl.static_range(N):
                    x = tl.load(p + i)
                    tl.store(p + i, x + tl.max(x * 0, 0) + j)

            for kernel in plain, calls, sums:
                took = []
                for n in 1000, 8000:
                    x = np.zeros(64, np.int64)
                    start = time.process_time()
                    kernel[(1,)](x, n)
                    took.append(time.process_time() - start)
                    assert x[5] == n * (n - 1) // 2, x[5]
                assert took[1] < 30 * took[0], (kernel.__name__, took)
        """, "-q", "--triton", "ours", head=HEAD)


class CtrlC(support.ScriptCase):
    # beside Triton the first launch imports PyTorch, for longer than they wait
    triton = "ours"

    def press(self, text):
        """Runs text, which presses Ctrl-C; (status, stderr)."""
        path = self.write(text, head=HEAD)
        done = subprocess.run(
            [sys.executable, "-m", "tkdbg", "run", "-q", "--triton", "ours",
             path], env=support.environment(), capture_output=True,
            stdin=subprocess.DEVNULL, text=True, cwd=self.folder.name,
            timeout=60)
        return done.returncode, done.stderr

    def test_in_the_main_thread(self):
        status, said = self.press("""
            threading.Timer(0.3, os.kill,
                            (os.getpid(), signal.SIGINT)).start()
            endless[(1,)](zero)
        """)
        self.assertEqual(status, 130)
        self.assertIn("KeyboardInterrupt", said)

    def test_ends_what_other_threads_run(self):
        status, said = self.press("""
            other = threading.Thread(target=lambda: endless[(1,)](zero))
            other.start()
            threading.Timer(0.3, os.kill,
                            (os.getpid(), signal.SIGINT)).start()
            other.join()
        """)
        self.assertEqual(status, 130)
        self.assertIn("KeyboardInterrupt", said)

    def test_in_an_import_by_c(self):
        """What Ctrl-C raises there becomes an ImportError."""
        with open(os.path.join(self.folder.name, "pressed.py"), "w") as f:
            f.write("import signal\nsignal.raise_signal(signal.SIGINT)\n")
        status, said = self.press("""
            import ctypes
            load = ctypes.pythonapi.PyCapsule_Import
            load.restype = ctypes.c_void_p
            load(b"pressed.value", 0)
        """)
        self.assertEqual(status, 130)
        self.assertTrue(said.endswith("KeyboardInterrupt\n"), said)
        self.assertNotIn("ImportError", said)

    def test_an_import_that_fails_later(self):
        """Nobody has pressed anything."""
        status, said = self.press("import nothing_that_is_there")
        self.assertEqual(status, 1)
        self.assertIn("ModuleNotFoundError", said)


class CtrlCInPuzzles(support.ScriptCase):
    """Their command is no script's process."""
    triton = "ours"

    def press(self, text):
        """Runs text beside the package; (status, output)."""
        done = subprocess.run(
            [sys.executable, "-c", textwrap.dedent(text)],
            env=support.environment(), capture_output=True, text=True,
            stdin=subprocess.DEVNULL, cwd=self.folder.name, timeout=60,
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
        return done.returncode, done.stdout + done.stderr

    def test_in_an_import_by_c(self):
        subprocess.run(
            [sys.executable, "-m", "tkdbg.puzzles", "init", "."],
            env=support.environment(), cwd=self.folder.name, check=True,
            stdout=subprocess.DEVNULL)
        with open(os.path.join(self.folder.name, "numpy.py"), "w") as f:
            f.write("import ctypes\n"
                    "load = ctypes.pythonapi.PyCapsule_Import\n"
                    "load.restype = ctypes.c_void_p\n"
                    "load(b'pressed.value', 0)\n")
        with open(os.path.join(self.folder.name, "pressed.py"), "w") as f:
            f.write("import signal\nsignal.raise_signal(signal.SIGINT)\n")
        status, said = self.press("""
            import signal, sys
            signal.signal(signal.SIGINT, signal.default_int_handler)
            from tkdbg.puzzles import __main__ as command
            sys.argv = ["puzzles", "verify", "--all"]
            command.main()
        """)
        self.assertEqual((status, said), (130, ""))

    def test_while_a_process_is_split_off(self):
        """Python drops what a hook of os.fork() raises."""
        status, said = self.press("""
            import os, signal
            from tkdbg import interrupt
            signal.signal(signal.SIGINT, signal.default_int_handler)
            os.register_at_fork(
                before=lambda: signal.raise_signal(signal.SIGINT))
            try:
                if interrupt.fork() == 0:
                    signal.pause()
            except KeyboardInterrupt:
                print("pressed")
            try:
                os.waitpid(-1, 0)
            except ChildProcessError:
                print("no child is left")
        """)
        self.assertEqual((status, said), (0, "pressed\nno child is left\n"))


class CtrlCBeforePython(support.ScriptCase):
    """Python has begun, and tkdbg's package has not."""
    triton = "auto"  # no script begins

    def test_ends_the_command(self):
        self.write("""
            import signal
            signal.raise_signal(signal.SIGINT)
        """, "sitecustomize.py")
        script = self.write("print('it began')")
        command = os.path.join(support.BUILD, "tkdbg")
        for ignored, status, said in ((False, -signal.SIGINT, ""),
                                      (True, 0, "it began\n")):
            with self.subTest(ignored=ignored):
                done = subprocess.run(
                    [command, "run", "-q", "--python", sys.executable, script],
                    env=support.environment(PYTHONPATH=self.folder.name),
                    capture_output=True, text=True, timeout=60,
                    preexec_fn=lambda: signal.signal(
                        signal.SIGINT,
                        signal.SIG_IGN if ignored else signal.SIG_DFL))
                self.assertEqual((done.returncode, done.stdout, done.stderr),
                                 (status, said, ""))


class CtrlCBeforeAnEditor(unittest.TestCase):
    """It is pressed when a server says where it listens."""

    def test_ends_the_server(self):
        program = """if True:
            import os, signal
            from tkdbg import __main__, gdbserver
            gdbserver.say = lambda *_: os.kill(os.getpid(), signal.SIGINT)
            __main__.main()"""
        ended = subprocess.run(
            [sys.executable, "-c", program, "run", "--dap", "127.0.0.1:0",
             os.devnull], env=support.environment(), stderr=subprocess.PIPE,
            timeout=60)
        self.assertEqual((ended.returncode, ended.stderr), (130, b""))


class CtrlCBeforeC(unittest.TestCase):
    """It is pressed when Python listens already, and C does not yet run."""

    def setUp(self):
        from tkdbg.interrupt import Watch
        self.addCleanup(signal.signal, signal.SIGINT, signal.signal(
            signal.SIGINT, signal.default_int_handler))
        self.interrupted = threading.Event()
        self.watch = Watch(self.interrupted.set)
        listen = self.watch._listen

        def listen_and_press():
            listen()
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(0.3)  # it is told of the signal before C could run
        self.watch._listen = listen_and_press

    def test_reaches_a_debugger(self):
        self.watch.debugged = lambda: False
        with self.assertRaises(KeyboardInterrupt):
            with self.watch:
                heard = self.interrupted.wait(20)
        self.assertTrue(heard)

    def test_leaves_nothing_behind(self):
        hook = sys.unraisablehook
        with self.assertRaises(KeyboardInterrupt):
            with self.watch:
                self.fail("it was not raised")
        self.assertIs(sys.unraisablehook, hook)
        self.assertEqual(signal.set_wakeup_fd(-1), -1)
        self.assertFalse(self.watch._running)


if __name__ == "__main__":
    unittest.main()
