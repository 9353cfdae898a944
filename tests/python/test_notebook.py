"""%load_ext tkdbg, in IPython's shell: one process for all cells."""
import html
import json
import os
import re
import subprocess
import sys
import unittest

import support

sys.path.append(os.path.join(support.ROOT, "tests", "support"))
import page_data  # noqa: E402

support.need("library", "numpy", "IPython")

DRIVER = """
    import json, sys
    from IPython.core.interactiveshell import InteractiveShell
    from IPython.utils.capture import capture_output

    shell = InteractiveShell.instance(colors="NoColor")
    told = []
    for cell in json.load(sys.stdin):
        with capture_output() as c:
            done = shell.run_cell(cell, store_history=True)
        told.append({
            "ok": done.success, "out": c.stdout, "err": c.stderr,
            "shown": [{k: v for k, v in o.data.items()} for o in c.outputs]})
    print(json.dumps(told))
"""

KERNEL = """\
import numpy as np, triton, triton.language as tl
@triton.jit
def total(x, y, n, B: tl.constexpr):
    i = tl.arange(0, B)
    row = tl.load(x + i, mask=i < n)
    tl.store(y, tl.sum(row, 0))

def go(n, size=None):
    y = np.zeros(1, "f4")
    total[(1,)](np.ones(size or n, "f4"), y, n, B=16)
    return float(y[0])
"""

UNDEF = "In[2]:6:17: error: an undefined lane goes into a reduction"


class Cells(support.ScriptCase):
    triton = "ours"  # a cell is a script; test_takeover has those

    def cells(self, *cells):
        """Runs %load_ext, the kernel and the cells; what these told."""
        path = self.write(DRIVER, "driver.py")
        done = subprocess.run(
            [sys.executable, path], capture_output=True, text=True,
            input=json.dumps(["%load_ext tkdbg", KERNEL, *cells]),
            cwd=self.folder.name, timeout=120, env=support.environment(
                IPYTHONDIR=self.folder.name,
                TKDBG_OPTIONS='{"triton": "ours"}'))
        self.assertEqual(done.returncode, 0, done.stderr)
        told = json.loads(done.stdout.splitlines()[-1])
        for each in told[:2]:
            self.assertTrue(each["ok"], each)
        return told[2:]

    def texts(self, cell):
        return "\n".join(d["text/plain"] for d in cell["shown"])

    WRONG = KERNEL.replace("i < n)", "i < n - 1, other=0.0)") + """
ys = [np.zeros(1, "f4") for _ in range(2)]
for y in ys:
    total[(1,)](np.ones(9, "f4"), y, 9, B=16)
"""

    def test_why_an_assertion_fails(self):
        """... is shown below it, with launches of earlier cells."""
        _, failed, other, again, off, quiet = self.cells(
            self.WRONG, "np.testing.assert_allclose(ys[1], [9])",
            "assert 1 > 2", self.WRONG + "assert np.allclose(ys[0], 9)",
            "%tkdbg --suspects=off", self.WRONG + "assert ys[0] == 9")
        self.assertFalse(failed["ok"])
        said = self.texts(failed)
        self.assertIn("tkdbg: numpy.testing.assert_allclose fails on y of "
                      "launch 2, total\n", said)
        self.assertRegex(said, r"In\[3\]:5: with .* the comparison passes")
        self.assertIn("    5 | ", said)
        self.assertNotIn("tkdbg debug", said)
        self.assertFalse(other["ok"])
        self.assertEqual(other["shown"], [])
        self.assertIn("numpy.allclose fails on y of launch 3, total",
                      self.texts(again))
        self.assertRegex(self.texts(again),
                         r"by these lines of In\[6\]:\n.* 9 \|.*\n +15 \| ")
        self.assertTrue(off["ok"])
        self.assertIn("fails on y of launch 5, total", self.texts(quiet))
        self.assertNotIn("suspects", self.texts(quiet))

    def test_plain_cells(self):
        good, bad, after = self.cells("go(10)", "go(10, 9)", "go(3)")
        self.assertEqual(good["out"], "Out[3]: 10.0\n")
        self.assertEqual(good["shown"], [])
        self.assertFalse(bad["ok"])
        for line in ("In[2], line 10, in go", "tkdbg.LaunchError: total",
                     "In[2]:5:11: error: load past the end of x: element 9",
                     "    5 |     row = tl.load(x + i, mask=i < n)\n"):
            self.assertIn(line, bad["out"])
        self.assertNotIn("interactiveshell.py", bad["out"])
        self.assertNotIn("session.py", bad["out"])
        self.assertEqual(bad["shown"], [])
        self.assertEqual(after["out"], "Out[5]: 3.0\n")

    def test_cell_magic(self):
        first, second, plain = self.cells(
            "%%tkdbg\nprint('printed')\ngo(11)", "%%tkdbg --check=race\n"
            "x = go(11)", "go(11), x")
        self.assertEqual(first["out"], "printed\nOut[3]: 11.0\n")
        self.assertIn(UNDEF, self.texts(first))
        self.assertRegex(first["shown"][0]["text/html"],
                         "(?s)<pre>.*i &lt; n.*</pre>")
        self.assertEqual(second["shown"] + plain["shown"], [])
        self.assertEqual(plain["out"], "Out[5]: (11.0, 11.0)\n")

    def test_lines_of_a_cell(self):
        (cell,) = self.cells(
            "%%tkdbg\n@triton.jit\ndef bad(x):\n"
            "    tl.store(x + 1, 1)\nbad[(1,)](np.zeros(1, 'f4'))")
        self.assertFalse(cell["ok"])
        self.assertIn("In[3]:4:5: error: store past the end of x",
                      cell["out"])
        self.assertIn("In[3], line 5", cell["out"])

    def test_mistakes_of_a_cell(self):
        name, syntax, after = self.cells(
            "%%tkdbg\nnobody", "%%tkdbg\nx = = 1", "go(11)")
        self.assertIn("NameError", name["out"])
        self.assertIn("SyntaxError", syntax["out"])
        self.assertEqual(after["shown"], [])

    def test_line_magic(self):
        told = self.cells("%tkdbg --check=undef", "go(10)", "go(11)",
                          "%tkdbg --off", "go(10)", "%tkdbg")
        self.assertIn(UNDEF, self.texts(told[1]))
        self.assertEqual(told[2]["shown"], [])  # the same again
        self.assertEqual(told[4]["shown"], [])
        self.assertIn("--access LINE", told[5]["out"])

    def test_pictures(self):
        (cell,) = self.cells("""%%tkdbg --access 7
@triton.jit
def copy(x, y, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    j = tl.arange(0, 4)[:, None] * 40
    m = (i < n)[None, :]
    a = tl.load(x + j + i[None, :], mask=m, other=0)
    tl.store(y + j + i[None, :], a, mask=m)

x, y = np.ones((4, 40), "f4"), np.zeros((4, 40), "f4")
copy[(2,)](x, y, 30, B=16)""")
        (shown,) = cell["shown"]
        self.assertTrue(shown["text/plain"].startswith(
            "line 7: load of x; 120 of 160 elements; 2 programs; 120 of 128 "
            "lanes active; 480 bytes requested, "), shown)
        page = shown["text/html"]
        boxes = re.findall(r"<g .*?</g>", page)
        self.assertEqual(boxes, [
            '<g fill="#4a90d9"><rect x="0" y="0" width="480" height="72"/>'
            '</g>'])

    def data(self, shown):
        """The launches of a page in a frame."""
        frame = re.fullmatch("<iframe [^>]* srcdoc='([^']*)'></iframe>",
                             shown["text/html"])
        return json.loads(page_data.text(
            html.unescape(frame.group(1))))["launches"]

    def test_view_of_a_cell(self):
        both, bad, none, one, plain, line, size = self.cells(
            "%%tkdbg --view\ngo(10)\ngo(11)", "%%tkdbg --view\ngo(10, 9)",
            "%%tkdbg --view\n7", "%%tkdbg --view --launch 2\ngo(1)\ngo(2)",
            "go(10)", "%tkdbg --view", "%%tkdbg --page-size 3\ngo(10)")
        self.assertEqual(both["out"], "Out[3]: 11.0\n")
        (shown,) = both["shown"]
        first, second = self.data(shown)
        self.assertEqual((first["kernel"], first["tensors"][1]["values"],
                          second["tensors"][1]["values"]),
                         ("total", [10], [11]))
        self.assertFalse(bad["ok"])
        (stopped,) = self.data(bad["shown"][0])
        self.assertEqual(stopped["status"], "stopped")
        self.assertNotIn("notebook.py", bad["out"])
        self.assertIn("no kernel was launched in this cell", none["err"])
        (launch,) = self.data(one["shown"][0])
        self.assertEqual(launch["tensors"][1]["values"], [2])
        self.assertEqual(plain["shown"] + none["shown"], [])
        self.assertIn("write %%tkdbg --view", line["out"] + line["err"])
        self.assertIn("--page-size needs --view", size["out"] + size["err"])

    def test_view_of_a_launch(self):
        shown, saved, bad, wrong, after = self.cells(
            "import tkdbg\ny = np.zeros(1, 'f4')\n"
            "page = tkdbg.view(total, (1,), np.ones(9, 'f4'), y, 9, B=16)\n"
            "display(page)", "page.save('page.html'); y[0], page.error",
            "bad = tkdbg.view(total, (1,), np.ones(9, 'f4'), y, 10, B=16)\n"
            "display(bad)\nbad.error.kernel",
            "tkdbg.view(total, (1,), np.ones(9, 'f4'))",
            "%%tkdbg --engine gpu\ngo(3)")
        (launch,) = self.data(shown["shown"][0])
        self.assertEqual(launch["tensors"][1]["values"], [9])
        self.assertIn("9.0", saved["out"])
        self.assertIn("None", saved["out"])
        with open(os.path.join(self.folder.name, "page.html"),
                  encoding="utf-8") as f:
            self.assertTrue(f.read().startswith("<!doctype html>"))
        (launch,) = self.data(bad["shown"][0])
        self.assertEqual(launch["findings"][0]["line"], 5)
        self.assertIn("'total'", bad["out"])
        self.assertFalse(wrong["ok"])
        self.assertEqual(wrong["shown"], [])
        # nobody watches any more, whether or not there is a GPU
        self.assertNotIn("cannot be watched", after["out"] + after["err"])

    def test_line_without_an_access(self):
        (cell,) = self.cells("%%tkdbg --access 7\ngo(10)")
        self.assertTrue(cell["ok"])
        self.assertEqual(cell["shown"], [])
        self.assertIn("no kernel of this cell loads or stores in line 7",
                      cell["err"])

    def test_frames_of_ours_are_hidden(self):
        told = self.cells("%%tkdbg\n1 / 0", """import os, signal, threading
@triton.jit
def endless(p):
    i = tl.load(p) + 1
    while i > 0:
        i += 1
    tl.store(p, i)

threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
endless[(1,)](np.zeros(1, np.int64))""")
        for cell, name in zip(told, ("ZeroDivisionError",
                                     "KeyboardInterrupt")):
            self.assertIn(name, cell["out"])
            self.assertNotIn("notebook.py", cell["out"])
            self.assertNotIn("session.py", cell["out"])

    def test_quote_without_an_end(self):
        (cell,) = self.cells("%%tkdbg --pid '<4\ngo(10)")
        self.assertIn("UsageError: tkdbg: --pid '<4: No closing quotation",
                      cell["err"])

    def test_puzzles(self):
        kernel = """import tkdbg.puzzles
@triton.jit
def mine(x, z, N, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(z + i, tl.load(x + i, i < N), i < N)
"""
        task, wrong, right = self.cells(
            "import tkdbg.puzzles\ntkdbg.puzzles.task('a02')", kernel +
            "tkdbg.puzzles.check(mine, 'a02')", kernel.replace(
                "x, z, N", "x_ptr, z_ptr, N").replace(
                "z + i", "z_ptr + i").replace("x + i", "x_ptr + i") +
            "tkdbg.puzzles.check(mine, 'a02')")
        self.assertIn("a02: Copy a vector", task["out"])
        self.assertIn("'mine' has no parameter 'x_ptr'", wrong["out"])
        self.assertIn("ok solved: In[5]", right["out"])

    def test_options(self):
        told = self.cells("%%tkdbg --nope\n1", "%%tkdbg --access\n1",
                          "%tkdbg --check=undeff", "%tkdbg script.py",
                          "%%tkdbg --blame y[0]\ngo(3)")
        for cell, text in zip(told, (
                "unknown option --nope", "--access needs the number",
                "no detector is called 'undeff'", "a cell needs no script")):
            self.assertFalse(cell["ok"])
            self.assertIn("UsageError", cell["out"] + cell["err"])
            self.assertIn(text, cell["out"] + cell["err"])
        self.assertIn("y[0] = 3.0: written once", told[4]["out"])

    def test_options_that_have_no_effect(self):
        refused = ("--why", "--profile", "--debug", "--break 3", "--json",
                   "--shard 0/2", "--html p.html", "--triton ours",
                   "--error-exitcode 3")
        for option, cell in zip(refused, self.cells(*(
                f"%%tkdbg {option}\ngo(3)" for option in refused))):
            self.assertIn(f"{option.split()[0]} has no effect in a cell",
                          cell["out"] + cell["err"])
        needs, alone = self.cells("%%tkdbg --emit ttir\ngo(3)",
                                  "%%tkdbg --launch 1\ngo(3)")
        self.assertIn("--emit needs --compile", needs["out"] + needs["err"])
        self.assertIn("--launch needs", alone["out"] + alone["err"])

    def test_what_never_came(self):
        tensor, kernel, launch = self.cells(
            "%%tkdbg --explain q[0]\ngo(3)", "%%tkdbg --kernel totl --pid 0\n"
            "go(3)", "%%tkdbg --record r.safetensors --launch 2\ngo(3)")
        self.assertIn("no launch has a tensor called 'q'; there were: x, y",
                      tensor["err"])
        self.assertIn("launched were: total; did you mean 'total'?",
                      kernel["err"])
        self.assertIn("launch 2 never came: there was 1 launch",
                      launch["err"])

    def test_each_cell_is_recorded(self):
        both = self.cells("%%tkdbg --record a.safetensors\ngo(3)",
                          "%%tkdbg --record b.safetensors\ngo(3)")
        self.assertTrue(all(cell["ok"] for cell in both), both)
        for name in "ab":
            self.assertTrue(os.path.exists(os.path.join(
                self.folder.name, f"{name}.safetensors")))

    def test_unload(self):
        _, gone, unknown = self.cells(
            "%unload_ext tkdbg", "import tkdbg; tkdbg.installed()",
            "%tkdbg")
        self.assertEqual(gone["out"], "Out[4]: False\n")
        self.assertIn("not found", unknown["out"] + unknown["err"])


if __name__ == "__main__":
    unittest.main()
