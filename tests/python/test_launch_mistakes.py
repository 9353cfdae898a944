"""What is said of mistakes at launches, beside the exceptions that Python and
Triton raise, which stay as they are."""
import json
import re
import textwrap
import unittest

import support

support.need("library", "numpy")

KERNEL = """
@triton.jit
def k(x, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(x + i, mask=i < n), mask=i < n)


"""
HEAD = """\
import numpy as np
import triton
import triton.language as tl

""" + KERNEL
LINE = HEAD.count("\n") + 1  # of the mistake

# name: (line of the script, class and start of the exception, report)
MISTAKES = {
    "no grid": (
        "k(x, out, 8, BLOCK=8)",
        "RuntimeError: Cannot call @triton.jit'd outside of the scope",
        """
        L:1: error: k is a kernel, and is called like a function [launch]
         | k(x, out, 8, BLOCK=8)
         | ^
          help: say how many programs run: k[grid](...), where grid is a
          .. tuple such as (1,) or (triton.cdiv(n, BLOCK),)
        """),
    "a grid of floats": (
        "k[(8 / 16,)](x, out, 8, BLOCK=8)",
        "TypeError: 'float' object cannot be interpreted as an integer",
        """
        L:4: error: axis 0 of the grid is a float, 0.5, not a whole number
        .. [launch]
         | k[(8 / 16,)](x, out, 8, BLOCK=8)
         |    ^~~~~~
          help: '/' gives a float: use triton.cdiv(n, BLOCK), which rounds
          .. up, or //
        """),
    "a function that gives floats": (
        "k[lambda m: (8 / m['BLOCK'],)](x, out, 8, BLOCK=8)",
        "TypeError: 'float' object cannot be interpreted as an integer",
        """
        L:3: error: axis 0 of the grid is a float, 1.0, not a whole number
        .. [launch]
         | k[lambda m: (8 / m['BLOCK'],)](x, out, 8, BLOCK=8)
         |   ^~~~~~~~~~~~~~~~~~~~~~~~~~~
        """),
    "a function without its argument": (
        "k[lambda: (1,)](x, out, 8, BLOCK=8)",
        "TypeError: <lambda>() takes 0 positional arguments but 1 was given",
        """
        L:3: error: the function that gives the grid takes no argument [launch]
         | k[lambda: (1,)](x, out, 8, BLOCK=8)
         |   ^~~~~~~~~~~~
          help: it is called with a dictionary of the kernel's arguments:
          .. lambda meta: (triton.cdiv(n, meta['BLOCK']),)
        """),
    "a name that is no parameter": (
        "k[lambda m: (8 // m['BLOCK_SIZE'],)](x, out, 8, BLOCK=8)",
        "KeyError: 'BLOCK_SIZE'",
        """
        L:21: error: the grid asks for 'BLOCK_SIZE', and k has no such
        .. parameter [launch]
         | k[lambda m: (8 // m['BLOCK_SIZE'],)](x, out, 8, BLOCK=8)
         |                     ^~~~~~~~~~~~
          help: did you mean 'BLOCK'?
        """),
    "an empty grid": (
        "k[()](x, out, 8, BLOCK=8)",
        "IndexError: tuple index out of range",
        """
        L:3: error: the grid is empty [launch]
         | k[()](x, out, 8, BLOCK=8)
         |   ^~
          help: a grid is a tuple of one to three whole numbers, such as (1,)
        """),
    "a text for a grid": (
        "k['1'](x, out, 8, BLOCK=8)",
        "TypeError: 'str' object cannot be interpreted as an integer",
        """
        L:3: error: the grid is a str, '1' [launch]
        """),
    "a list for a tensor": (
        "k[(1,)](out=out, n=8, BLOCK=8, x=[1.0, 2.0])",
        "TypeError: failed to specialize argument of type: list",
        """
        L:34: error: x of k is a list, which a kernel cannot take [launch]
         | k[(1,)](out=out, n=8, BLOCK=8, x=[1.0, 2.0])
         |                                  ^~~~~~~~~~
          help: make a tensor of it: torch.tensor(x, device='cuda'); a
          .. tuple is taken too, and each item is then an argument
        """),
    "a text for a number": (
        "k[(1,)](x, out, 'eight', BLOCK=8)",
        "TypeError: failed to specialize argument of type: str",
        """
        L:17: error: n of k is a str, which a kernel cannot take [launch]
         | k[(1,)](x, out, 'eight', BLOCK=8)
         |                 ^~~~~~~
          help: what is known before the launch is a compile-time value:
          .. annotate the parameter, n: tl.constexpr
        """),
    "a dictionary": (
        "k[(1,)](x, out, {'n': 8}, BLOCK=8)",
        "TypeError: failed to specialize argument of type: dict",
        """
        L:17: error: n of k is a dict, which a kernel cannot take [launch]
         | k[(1,)](x, out, {'n': 8}, BLOCK=8)
         |                 ^~~~~~~~
          help: pass each entry as an argument of its own
        """),
    "no value for a constexpr": (
        "k[(1,)](x, out, 8)",
        "missing 1 required positional argument: 'BLOCK'",
        """
        L:1: error: k is called without BLOCK [launch]
         | k[(1,)](x, out, 8)
         | ^~~~~~~~~~~~~~~~~~
          help: its parameters are x, out, n and BLOCK; BLOCK is a
          .. compile-time value, most often given by name: k[grid](...,
          .. BLOCK=128)
        """),
    "too few arguments": (
        "k[(1,)](x, BLOCK=8)",
        "missing 2 required positional arguments: 'out' and 'n'",
        """
        L:1: error: k is called without out and n [launch]
         | k[(1,)](x, BLOCK=8)
         | ^~~~~~~~~~~~~~~~~~~
          help: its parameters are x, out, n and BLOCK
        """),
    "a misspelt parameter": (
        "k[(1,)](x, out, 8, BLOCKS=8)",
        "missing 1 required positional argument: 'BLOCK'",
        """
        L:20: error: k has no parameter BLOCKS, and BLOCK is missing [launch]
         | k[(1,)](x, out, 8, BLOCKS=8)
         |                    ^~~~~~~~
          help: did you mean BLOCK?
        """),
    "a misspelt option": (
        "k[(1,)](x, out, 8, BLOCK=8, num_warp=4)",
        "KeyError: 'Keyword argument num_warp was specified but unrecognised",
        """
        L:29: error: num_warp is neither a parameter of k nor an option of
        .. launches [launch]
         | k[(1,)](x, out, 8, BLOCK=8, num_warp=4)
         |                             ^~~~~~~~~~
          help: did you mean num_warps?
        """),
    "too many arguments": (
        "k[(1,)](x, out, 8, 8, 5)",
        "takes 4 positional arguments but 5 were given",
        """
        L:23: error: k has 4 parameters, and this is argument 5 [launch]
         | k[(1,)](x, out, 8, 8, 5)
         |                       ^
          help: the parameters are x, out, n and BLOCK
        """),
    "an argument that is given twice": (
        "k[(1,)](x, out, 8, 8, n=5)",
        "multiple values for argument 'n'",
        """
        L:23: error: n is given twice, by its place and by name [launch]
         | k[(1,)](x, out, 8, 8, n=5)
         |                       ^~~
          help: the order is x, out, n and BLOCK
        """),
    "a result": (
        "y = k[(1,)](x, out, 8, BLOCK=8); z = y + 1",
        "TypeError: unsupported operand type(s) for +: 'CompiledKernel'",
        """
        L:1: error: a launch has no result to compute with: it gives what
        .. the kernel was compiled to [launch]
        """),
    "no decorator": (
        "k.fn[(1,)](x, out, 8, BLOCK=8)",
        "TypeError: 'function' object is not subscriptable",
        """
        L:1: error: k.fn is a plain Python function, not a kernel [launch]
         | k.fn[(1,)](x, out, 8, BLOCK=8)
         | ^~~~~~~~~~
          help: put @triton.jit on the line above 'def k' (FILE:6)
        """),
    "no decorator and no grid": (
        "k.fn(x, out, 8, 8)",
        "ValueError: Did you forget to add @triton.jit ?",
        """
        L:1: error: k.fn is a plain Python function, not a kernel [launch]
         | k.fn(x, out, 8, 8)
         | ^~~~
          help: put @triton.jit on the line above 'def k' (FILE:6), and
          .. launch it with a grid: k.fn[grid](...)
        """),
    "a module that is not imported": (
        "del tl; tl.constexpr",
        "NameError: name 'tl' is not defined",
        """
        L:9: error: tl is used, and nothing of that name is imported [launch]
         | del tl; tl.constexpr
         |         ^~
          help: write 'import triton.language as tl' at the top of the file
        """),
}

# what is no mistake of these kinds gets no report
OTHERS = (
    "raise RuntimeError('mine')", "{}['BLOCK']", "len(5)", "5[0]",
    "(lambda: 1)(2)", "print(undefined)", "import no_such_module")

DRIVER = """
import io
import json
import runpy
import sys
from tkdbg import excepthook

shown = []
for path in sys.argv[1:]:
    try:
        runpy.run_path(path)
    except Exception as error:
        out = io.StringIO()
        excepthook.show(error, out)
        shown.append(out.getvalue())
    else:
        shown.append("")
print(json.dumps(shown))
"""


class MistakesCase(support.ScriptCase):
    maxDiff = None
    options = ("--triton", "ours")
    made = "x = np.ones(8, np.float32); out = np.zeros_like(x)"
    modules = ""

    def shown(self, lines):
        """What is shown of each of these lines, at the end of a script."""
        head = HEAD.replace("\n\n", f"\n{self.modules}\n{self.made}\n", 1)
        self.line = head.count("\n") + 1
        paths = [self.write(f"{head}{line}\n", f"s{i}.py")
                 for i, line in enumerate(lines)]
        done = self.run_script(DRIVER, *self.options, "-q", args=paths)
        return list(zip(paths, json.loads(done.stdout.splitlines()[-1])))

    def report(self, path, text):
        """The lines of an expected report; those with ".. " go on with the
        line before."""
        joined = re.sub(r"\n +\.\. ", " ", text)
        lines = textwrap.dedent(joined).strip("\n").split("\n")
        name = path.rpartition("/")[2]
        numbers = iter((f"{self.line:5}", "     "))
        for i, line in enumerate(lines):
            if line.startswith("L:"):
                lines[i] = f"{path}:{self.line}{line[1:]}"
            elif line.startswith(" | "):
                lines[i] = next(numbers) + line
        first = self.line - LINE
        return "\n".join(lines).replace("FILE:6", f"{name}:{6 + first}")

    def test_mistakes_are_named(self):
        shown = self.shown(line for line, _, _ in MISTAKES.values())
        for (name, (_, raised, report)), (path, text) in zip(
                MISTAKES.items(), shown):
            with self.subTest(name):
                self.assertIn(raised, text)
                self.assertIn(self.report(path, report), text)

    def test_others_are_left_alone(self):
        for path, text in self.shown(OTHERS):
            with self.subTest(path):
                self.assertIn("Error", text)
                self.assertNotIn("[launch]", text)


class Ours(MistakesCase):
    triton = "ours"  # Installed has what is said beside Triton

    def test_hook(self):
        """A script that nobody drives."""
        done = self.run_script("k(1, 1, 1, 1)\n", head=HEAD, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn(f"script.py:{LINE}:1: error: k is a kernel, and is "
                      "called like a function [launch]\n", done.stderr)

    def test_axis_below_zero(self):
        done = self.run_script(
            f"{self.made}\nk[(2, -1)](x, out, 8, BLOCK=8)\n", head=HEAD,
            check=False)
        self.assertEqual(done.returncode, 2)
        self.assertIn(f"script.py:{LINE + 1}:7: error: axis 1 of the grid is "
                      "-1 [launch]\n", done.stderr)

    def test_int_for_a_grid_is_said_of_the_line(self):
        done = self.run_script(f"{self.made}\nk[1](x, out, 8, BLOCK=8)\n",
                               head=HEAD)
        self.assertIn(f"script.py:{LINE + 1}: UserWarning: a grid is a tuple",
                      done.stderr)

    def test_debugger_of_python(self):
        done = self.run_script("""
            import pdb
            import numpy as np
            import triton
            import triton.language as tl

            @triton.jit
            def k(x):
                pdb.set_trace()
                tl.store(x, 1)

            k[(1,)](np.zeros(1))
            """, check=False)
        self.assertIn(
            "script.py:9:5: error: set_trace is a function of Python's "
            "debugger [call]\n    9 |     pdb.set_trace()\n      |     "
            "^~~~~~~~~~~~~~~\n  help: Python's debugger sees no kernel: run "
            "`tkdbg debug` with the same arguments; breakpoint() or "
            "tl.breakpoint_if(cond) in a kernel stops there\n", done.stderr)

    def test_language_is_not_imported(self):
        done = self.run_script("""
            import numpy as np
            import triton

            @triton.jit
            def k(x):
                tl.store(x, 1)

            k[(1,)](np.zeros(1))
            """, check=False)
        self.assertIn("error: tl is not defined [name]\n", done.stderr)
        self.assertIn("help: write 'import triton.language as tl' at the top "
                      "of the file\n", done.stderr)

    def test_object_for_a_number(self):
        done = self.run_script(
            "k[(1,)](np.ones(8), np.ones(8), 8, BLOCK=object())\n", head=HEAD,
            check=False)
        self.assertIn("help: a kernel computes with numbers and tensors: give "
                      "a number for it, such as n.item() or int(n)\n",
                      done.stderr)


class Encodings(support.ScriptCase):
    """A file that is not UTF-8."""

    def write_latin(self, comment=b"", end=b""):
        text = HEAD.encode() + b"# d\xe9j\xe0\n" + (
            b"x = np.ones(8, np.float32)\nk[(1,)](x, x, 8, BLOCK=8)\n")
        with open(self.path("latin.py"), "wb") as f:
            f.write(comment + text + end)

    def test_file_is_refused_as_python_does(self):
        self.write_latin()
        done = self.run_file("latin.py")
        self.assertIn("SyntaxError: Non-UTF-8 code starting with '\\xe9' in "
                      f"file latin.py on line {LINE}", done.stderr)
        self.assertIn(
            f"latin.py:{LINE}:4: error: the byte 0xe9 is not UTF-8 [file]\n"
            f"{LINE:5} | # d\xe9j\xe0\n      |    ^\n  help: save the file as "
            "UTF-8, or name its encoding in its first line, such as # -*- "
            "coding: latin-1 -*-\n", done.stderr)

    def test_module_is_named(self):
        for end, raised in ((b"", "ValueError: @jit functions should be"),
                            (b"print('\xe9')\n", "SyntaxError: ")):
            self.write_latin(end=end)
            done = self.run_script("import latin\n", check=False)
            self.assertIn(raised, done.stderr)
            self.assertIn(f"latin.py:{LINE}:4: error: the byte 0xe9 is not "
                          "UTF-8 [file]\n", done.stderr)

    def test_encoding_is_honoured(self):
        self.write_latin(b"# coding: latin-1\n", b"print(len('\xe9'))\n")
        done = self.run_file("latin.py")
        self.assertEqual((done.returncode, done.stdout), (0, "1\n"))

    def run_file(self, name):
        import subprocess
        import sys
        return subprocess.run(
            [sys.executable, "-m", "tkdbg", "run", "--triton", "ours", name],
            env=support.environment(PYTHONIOENCODING="utf-8"),
            capture_output=True, text=True, encoding="utf-8",
            cwd=self.folder.name, timeout=120)


@unittest.skipUnless(support.has("torch") and support.real_triton(),
                     "PyTorch and Triton are not installed")
class Installed(MistakesCase):
    """Beside Triton, whose exceptions these are."""
    triton = "installed"
    options = ("--triton", "installed")
    made = "x = torch.ones(8, device='cuda'); out = torch.zeros_like(x)"
    modules = "import torch"

    def test_tensor_on_the_cpu(self):
        (path, text), = self.shown(["k[(1,)](x, x.cpu(), 8, BLOCK=8)"])
        self.assertIn("ValueError: Pointer argument (at 1) cannot be accessed "
                      "from Triton", text)
        self.assertIn(self.report(path, """
            L:12: error: out of k is a tensor on the CPU [launch]
             | k[(1,)](x, x.cpu(), 8, BLOCK=8)
             |            ^~~~~~~
              help: create it with device='cuda', or move it there with .cuda()
            """), text)

    def test_int_for_a_grid(self):
        (path, text), = self.shown(["k[1](x, out, 8, BLOCK=8)"])
        self.assertIn("TypeError: object of type 'int' has no len()", text)
        self.assertIn(self.report(path, """
            L:3: error: the grid is an int, 1 [launch]
             | k[1](x, out, 8, BLOCK=8)
             |   ^
              help: a grid is a tuple of one to three whole numbers, such
              .. as (1,)
            """), text)


del MistakesCase  # the tests of what it is the base of

if __name__ == "__main__":
    unittest.main()
