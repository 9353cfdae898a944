"""A kernel is what it is now: what it calls or reads may have changed."""
import importlib
import os
import sys
import tempfile
import types
import unittest

import support

support.need("library", "numpy")

import tkdbg  # noqa: E402

tkdbg.install(quiet=True, triton="ours")

import numpy as np  # noqa: E402
import triton  # noqa: E402
import triton.language as tl  # noqa: E402


@triton.jit
def one():
    return 1


@triton.jit
def two():
    return 2


called = one


@triton.jit
def calls_global(p):
    tl.store(p, called())


@triton.jit
def leaf():
    return 1


@triton.jit
def middle():
    return leaf()


@triton.jit
def calls_middle(p):
    tl.store(p, middle())


@triton.jit
def calls_itself(n: tl.constexpr):
    return n if n < 1 else calls_back(n - 1)


@triton.jit
def calls_back(n: tl.constexpr):
    return calls_itself(n)


@triton.jit
def calls_argument(p, F: tl.constexpr):
    tl.store(p, F())


class Settings:
    X = tl.constexpr(1)


settings = types.ModuleType("settings")
settings.Settings = Settings


@triton.jit
def reads_settings():
    return settings.Settings.X


@triton.jit
def reads_class(p):
    tl.store(p, reads_settings())


module = types.ModuleType("module")
module.X, module.f = tl.constexpr(1), one


@triton.jit
def reads_module(p):
    tl.store(p, module.X + 10 * module.f())


@triton.jit
def calls_module(p):
    tl.store(p, module.f())


shared = tl.constexpr(1)


@triton.jit
def reads_shared():
    return shared


@triton.jit
def first_user(p):
    tl.store(p, reads_shared())


@triton.jit
def second_user(p):
    tl.store(p, reads_shared() + 1)


default = tl.constexpr(4)


@triton.jit
def with_default(x, M: tl.constexpr = default):
    return x + M


@triton.jit
def uses_default(p):
    tl.store(p, with_default(1))


host_value = 1


def helper():
    return host_value


@triton.constexpr_function
def computed():
    return helper()


@triton.constexpr_function
def chosen(a, b, first):
    assert a.__name__ == "f"
    return (a, b)[not first]


@triton.jit
def calls_chosen(p, a: tl.constexpr, b: tl.constexpr, first: tl.constexpr):
    tl.store(p, chosen(a, b, first)())


@triton.jit
def reads_computed(p):
    tl.store(p, computed())


@triton.jit
def reads_object(p, config: tl.constexpr):
    tl.store(p, config.B)


class Conflicts(support.ScriptCase):
    triton = "ours"  # Triton says first that the last G is no constexpr

    def test_a_kernel_and_what_it_calls_read_one_value(self):
        done = self.run_script("""
            import triton
            import triton.language as tl

            G = tl.constexpr(42)

            @triton.jit
            def inner():
                a = G

            @triton.jit
            def first():
                a = G
                inner()

            @triton.jit
            def second():
                a = G
                inner()

            first[(1,)]()
            for G in tl.constexpr(1), 1:
                try:
                    second[(1,)]()
                except RuntimeError as e:
                    print(e)
        """, "-q")
        self.assertEqual(done.stdout, "".join(
            f"Global variable G has value {now} when compiling "
            "__main__.second, but inner kernel inner has conflicting value "
            "constexpr[42] from when it was first compiled.  This is not "
            "allowed.\n" for now in ("constexpr[1]", "1")))


class Keys(unittest.TestCase):
    def test_keys_of_the_functions_that_are_called(self):
        def key():
            for function in leaf, middle, calls_middle:
                function.hash = None
            return calls_middle.cache_key

        before, text = key(), leaf.src
        self.assertEqual(calls_middle.cache_key, before)
        leaf._unsafe_update_src(text + "    # other")
        self.assertNotEqual(key(), before)
        leaf._unsafe_update_src(text)
        self.assertEqual(key(), before)

    def test_functions_that_call_themselves(self):
        self.assertEqual(calls_itself.cache_key, calls_itself.cache_key)
        self.assertEqual(len(calls_itself.cache_key), 64)


class Changes(unittest.TestCase):
    def setUp(self):
        self.p = np.zeros(1, np.int64)

    def run_kernel(self, kernel, *args):
        kernel[(1,)](self.p, *args)
        return int(self.p[0])

    def test_another_callee(self):
        global called
        self.assertEqual(self.run_kernel(calls_global), 1)
        called = two
        self.assertEqual(self.run_kernel(calls_global), 2)

    def test_text_of_callees(self):
        self.assertEqual(self.run_kernel(calls_middle), 1)
        self.assertEqual(self.run_kernel(calls_argument, middle), 1)
        leaf._unsafe_update_src(leaf.src.replace("1", "5"))
        self.assertEqual(self.run_kernel(calls_middle), 5)
        self.assertEqual(self.run_kernel(calls_argument, middle), 5)
        self.assertEqual(self.run_kernel(calls_argument, leaf), 5)

    def test_attributes_of_a_class(self):
        self.assertEqual(self.run_kernel(reads_class), 1)
        Settings.X = tl.constexpr(2)
        self.assertEqual(self.run_kernel(reads_class), 2)
        Settings.X.value = 3
        self.assertEqual(self.run_kernel(reads_class), 3)

    def test_attributes_of_a_module(self):
        self.assertEqual(self.run_kernel(reads_module), 11)
        module.X, module.f = tl.constexpr(3), two
        self.assertEqual(self.run_kernel(reads_module), 23)

    def test_attributes_of_an_argument(self):
        config = types.SimpleNamespace(B=1)
        self.assertEqual(self.run_kernel(reads_object, config), 1)
        config.B = 2
        self.assertEqual(self.run_kernel(reads_object, config), 2)

    def refuses(self, kernel, text):
        with self.assertRaisesRegex(RuntimeError, "Global variable " + text):
            self.run_kernel(kernel)

    def test_globals_of_a_callee_of_two_kernels(self):
        global shared
        self.assertEqual(self.run_kernel(first_user), 1)
        shared = tl.constexpr(7)
        self.refuses(second_user, "shared has changed")
        self.refuses(first_user, "shared has changed")

    def imported(self, text):
        """A module with this text, in a file."""
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        name = "module_of_" + self.id().rpartition(".")[2]
        with open(os.path.join(folder.name, name + ".py"), "w") as f:
            f.write("import triton, triton.language as tl\n" + text)
        sys.path.insert(0, folder.name)
        self.addCleanup(sys.path.remove, folder.name)
        return importlib.import_module(name)

    def test_globals_of_a_function_of_a_module(self):
        library = self.imported("G = tl.constexpr(1)\n"
                                "@triton.jit\ndef f():\n    return G\n")
        module.f = library.f
        self.assertEqual(self.run_kernel(calls_module), 1)
        library.G = tl.constexpr(2)
        self.refuses(calls_module, "G has changed")

    def test_globals_of_a_function_that_was_chosen(self):
        library = self.imported("G = tl.constexpr(1)\n"
                                "@triton.jit\ndef f():\n    return G\n"
                                "@triton.jit\ndef g():\n    return 5\n")
        for first in (True, False):
            self.assertEqual(self.run_kernel(calls_chosen, library.f,
                                             library.g, first),
                             1 if first else 5)
        library.g._unsafe_update_src("def g(): return 6")
        self.assertEqual(self.run_kernel(calls_chosen, library.f, library.g,
                                         False), 6)
        self.assertEqual(self.run_kernel(calls_chosen, library.f, library.g,
                                         True), 1)
        library.G = tl.constexpr(2)
        with self.assertRaisesRegex(RuntimeError, "G has changed"):
            self.run_kernel(calls_chosen, library.f, library.g, True)

    def test_globals_of_functions_that_run_at_compile_time(self):
        global host_value
        self.assertEqual(self.run_kernel(reads_computed), 1)
        host_value = 2
        self.refuses(reads_computed, "host_value has changed .* from 1 to 2")

    def test_defaults_are_those_of_the_definition(self):
        made = []
        for number in (3, 7):
            @triton.jit
            def f(x, M: tl.constexpr = number, N: tl.constexpr = number * 10):
                return x + M + N
            made.append(f)
        number = 1000
        first, second = made

        @triton.jit
        def kernel(p):
            tl.store(p, first(1) * 1000 + second(1))
        self.assertEqual(self.run_kernel(kernel), 34078)
        first.fn.__defaults__ = 4, 5
        self.assertEqual(self.run_kernel(kernel), 10078)

    def test_names_of_defaults_may_change(self):
        """Triton does not watch them."""
        global default
        self.assertEqual(self.run_kernel(uses_default), 5)
        default = tl.constexpr(9)
        self.assertEqual(self.run_kernel(uses_default), 5)

    def test_reloaded_module(self):
        text = ("import triton\nimport triton.language as tl\n"
                "@triton.jit\ndef f():\n    return 1\n")
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "reloaded.py")
            with open(path, "w") as f:
                f.write(text)
            sys.path.insert(0, folder)
            self.addCleanup(sys.path.remove, folder)
            module.f = importlib.import_module("reloaded").f
            self.assertEqual(self.run_kernel(calls_module), 1)
            with open(path, "w") as f:
                f.write(text.replace("return 1", "return 22"))
            module.f = importlib.reload(sys.modules["reloaded"]).f
            self.assertEqual(self.run_kernel(calls_module), 22)

    def test_globals_where_nothing_is_compiled(self):
        def make(c):
            @triton.jit
            def kernel(p, n=c):
                if False:
                    tl.store(p, c)
                tl.store(p, 3)
                return
                tl.store(p, c)

            def change(value):
                nonlocal c
                c = value
            return kernel, change
        kernel, change = make(1)
        self.assertEqual(self.run_kernel(kernel), 3)
        change(2)
        self.refuses(kernel, "c has changed .* from 1 to 2")

    def test_closures(self):
        def make(c):
            @triton.jit
            def kernel(p):
                tl.store(p, c)

            def change(value):
                nonlocal c
                c = value
            return kernel, change
        kernel, change = make(tl.constexpr(1))
        self.assertEqual(self.run_kernel(kernel), 1)
        change(tl.constexpr(2))
        self.refuses(kernel, "c has changed")


if __name__ == "__main__":
    unittest.main()
