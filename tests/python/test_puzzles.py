"""The puzzles: the pack keeps its promises, and so does the checker."""
import json
import os
import re
import resource
import subprocess
import sys
import tempfile
import unittest
from xml.etree import ElementTree

import support

support.need("library", "numpy")

from tkdbg.puzzles import apart, checker, dev, folder, look  # noqa
from tkdbg.puzzles import manifest, pack  # noqa: E402
from tkdbg.puzzles.answer import Submission  # noqa: E402

GUIDE = os.path.join(support.ROOT, "docs", "puzzle-authors.md")


def puzzles(*words, cwd=None, typed="", **env):
    """(exit status, stdout, stderr) of ``tkdbg puzzles WORDS``."""
    p = subprocess.run([sys.executable, "-m", "tkdbg.puzzles", *words],
                       cwd=cwd, env=support.environment(**env), text=True,
                       input=typed, capture_output=True, timeout=300)
    return p.returncode, p.stdout, p.stderr


SANITIZED = "address" in os.environ.get("SANITIZE", "")


def built_in(id_):
    return pack.Pack(pack.built_in()).find(id_)


def answer_to(entry, text):
    return checker.check(Submission(entry, text, "k.py"))


class Promises(unittest.TestCase):
    def test_dev_check(self):
        status, out, err = puzzles("dev", "check")
        self.assertEqual(status, 0, out + err)
        if not SANITIZED:
            self.assertEqual(err, "")
        found = re.fullmatch(r"(\d+) puzzles, (\d+) wrong answers, 0 faults\n",
                             out)
        self.assertGreaterEqual(int(found.group(1)), 48)
        self.assertGreaterEqual(int(found.group(2)), 144)

    def test_tracks(self):
        tracks = "".join(e.track for e in
                         pack.Pack(pack.built_in()).entries)
        for track, least in dict(a=7, b=12, c=8, d=16, e=4, f=5).items():
            self.assertGreaterEqual(tracks.count(track), least, track)


class Guide(unittest.TestCase):
    """A pack made from docs/puzzle-authors.md alone."""

    def setUp(self):
        made = tempfile.TemporaryDirectory()
        self.addCleanup(made.cleanup)
        self.folder = made.name
        os.mkdir(os.path.join(made.name, "key"))
        with open(GUIDE, encoding="utf-8") as f:
            text = f.read()
        learner, key = re.findall(r"^```python\n(.*?)^```", text,
                                  re.M | re.S)[:2]
        self.write("pack.json", re.search(r"^```json\n(.*?)^```", text,
                                          re.M | re.S).group(1))
        self.write("b04_scale.py", learner)
        self.write("key/b04_scale.py", key)

    def write(self, name, text):
        with open(os.path.join(self.folder, name), "w") as f:
            f.write(text)

    def test_its_example_keeps_every_promise(self):
        status, out, _ = puzzles("--pack", self.folder, "dev", "check")
        self.assertEqual((status, out), (
            0, "1 puzzles, 3 wrong answers, 0 faults\n"))

    def test_a_new_puzzle_works_at_once(self):
        self.assertEqual(puzzles("--pack", self.folder, "dev", "new",
                                 "a01_first")[0], 0)
        status, out, _ = puzzles("--pack", self.folder, "dev", "check")
        self.assertEqual((status, out), (
            0, "2 puzzles, 6 wrong answers, 0 faults\n"))

    def test_broken_promises_are_named(self):
        entry = pack.Pack(self.folder).find("b04")
        key = entry.key
        self.assertEqual(dev.faults(entry), ([], 3))
        key.hints = [key.hints[0], "x = tl.load(x_ptr + offs, "
                     "mask=offs < N)", "c"]
        key.wrong[0].cause = "race"
        key.wrong[1].edits = [("s * x,", "x * s,")]
        key.wrong[2].edits = [("nowhere", "")]
        key.sizes = key.sizes[:1]
        found, _ = dev.faults(entry)
        for text in ("hint 2 gives away", "named by out-of-bounds, not by "
                     "race", "is accepted: the last element", "appears 0 "
                     "times", "1 sizes", "no size is 1"):
            self.assertTrue(any(text in fault for fault in found),
                            (text, found))

    def test_a_key_that_is_at_fault(self):
        with open(os.path.join(self.folder, "key", "b04_scale.py")) as f:
            key = f.read()
        for old, new, said in (
                ("def launch", "def launch(", "key/b04_scale.py:4: Syntax"),
                ("make.floats(", "make.float(", "key/b04_scale.py:6: Attrib"),
                ("sizes=", "sices=", "key/b04_scale.py:10: TypeError")):
            self.write("key/b04_scale.py", key.replace(old, new, 1))
            status, out, _ = puzzles("--pack", self.folder, "dev", "check")
            self.assertEqual(status, 1)
            self.assertIn(said, out)

    def test_stray_files_are_named(self):
        self.write("notes.txt", "")
        self.write("key/z01_gone.py", "")
        self.assertEqual(len(dev.stray(pack.Pack(self.folder))), 2)

    def test_a_pack_that_is_none(self):
        for text in "{", "[]":
            self.write("pack.json", text)
            status, _, err = puzzles("--pack", self.folder, "dev", "check")
            self.assertEqual(status, 2)
            self.assertIn("pack.json", err)


class Learner(unittest.TestCase):
    def setUp(self):
        made = tempfile.TemporaryDirectory()
        self.addCleanup(made.cleanup)
        self.where = folder.make(made.name)
        self.entry = self.where.pack.find("b03")

    def write(self, text, entry=None):
        with open(self.where.file(entry or self.entry), "w") as f:
            f.write(text)

    def run_puzzles(self, *words, typed=""):
        return puzzles(*words, cwd=self.where.path, typed=typed)

    def test_an_answer_is_checked_and_remembered(self):
        self.assertEqual(self.run_puzzles("run", "b03")[0], 1)
        self.write(self.entry.solution())
        status, out, _ = self.run_puzzles("run", "b03")
        self.assertEqual(status, 0, out)
        self.assertIn("solved", self.run_puzzles("list")[1])
        self.write(self.entry.starter)  # broken again: pending again
        self.run_puzzles("run", "b03")
        self.assertNotIn("solved ", self.run_puzzles("list")[1])

    def test_a_cold_start(self):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        self.run_puzzles("init", "p")
        self.run_puzzles("verify", "b03")
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        # what it would take if nobody else used the processors; twice the
        # bar, as processors that are shared are slower
        self.assertLess(after.ru_utime - before.ru_utime, 1.0)

    def test_verify_grades_a_folder(self):
        self.write(self.entry.solution())
        junit = os.path.join(self.where.path, "out.xml")
        status, out, _ = self.run_puzzles("verify", "--all", "--json",
                                          "--junit", junit)
        graded = json.loads(out)
        total = len(self.where.pack.entries)
        self.assertEqual((status, graded["solved"], graded["of"]),
                         (1, 1, total))
        suite = ElementTree.parse(junit).getroot()
        self.assertEqual((suite.get("tests"), suite.get("failures")),
                         (str(total), str(total - 1)))
        self.assertEqual(self.run_puzzles("verify", "b03")[0], 0)

    def test_files_that_were_handed_in(self):
        """A folder without progress, in which most files are missing."""
        with tempfile.TemporaryDirectory() as made:
            with open(os.path.join(made, self.entry.file), "w") as f:
                f.write(self.entry.solution())
            status, out, _ = puzzles("verify", "--all", "--json", cwd=made)
            self.assertEqual(os.listdir(made), [self.entry.file])
        answers = json.loads(out)["answers"]
        self.assertEqual(status, 1)
        self.assertEqual([a["id"] for a in answers if a["ok"]], ["b03"])
        self.assertEqual({f["kind"] for a in answers for f in a["failures"]},
                         {"missing"})

    def test_what_kernels_print_is_no_xml(self):
        path = os.path.join(self.where.path, "out.xml")
        self.write(self.entry.solution().replace(
            "    tl.store(", '    print("\\x01<b>", M)\n    tl.store(z_ptr, '
            "0.0)\n    tl.store("))
        self.run_puzzles("verify", "b03", "--junit", path)
        text = ElementTree.parse(path).getroot().find("testcase").find(
            "failure").text
        self.assertIn("?<b>", text)

    def test_hints_come_one_by_one(self):
        said = [self.run_puzzles("hint", "b03")[1] for _ in range(4)]
        self.assertTrue(said[0].startswith("hint 1 of 3:"))
        self.assertTrue(said[1].startswith("hint 2 of 3:"))
        self.assertEqual(said[2], said[3])

    def test_a_solution_is_shown_after_success(self):
        self.assertEqual(self.run_puzzles("solution", "b03")[0], 1)
        self.write(self.entry.solution())
        self.run_puzzles("run", "b03")
        status, out, _ = self.run_puzzles("solution", "b03")
        self.assertEqual(status, 0)
        self.assertIn("another way", out)

    def test_detectors_under_the_debugger(self):
        typed = "set check all\ncatch finding\ncontinue\ncontinue\n"
        _, at_end, _ = self.run_puzzles("debug", "d02", typed=typed)
        self.assertIn("no program writes z_ptr[96]", at_end)
        _, stopped, _ = self.run_puzzles("debug", "d05", typed=typed)
        self.assertIn("Catchpoint 1 (finding): undef", stopped)

    def test_reset(self):
        self.write("nothing")
        self.run_puzzles("reset", "b03")
        self.assertEqual(self.where.text(self.entry), self.entry.starter)

    def test_what_is_asked_wrongly_is_said(self):
        for words, said in ((["run", "z99"], "no puzzle 'z99'"),
                            (["verify"], "name the puzzles to verify"),
                            (["verify", "b03", "--junit", "/no/where"],
                             "/no/where")):
            status, _, err = self.run_puzzles(*words)
            self.assertEqual(status, 2)
            self.assertIn(said, err)
        done = subprocess.run(
            [sys.executable, "-S", "-m", "tkdbg.puzzles", "list"], text=True,
            capture_output=True, env=support.environment(PYTHONNOUSERSITE="1"))
        self.assertEqual(done.returncode, 2)
        self.assertIn("need NumPy", done.stderr)
        status, _, err = puzzles("list", cwd=support.ROOT)
        self.assertEqual(status, 2)
        self.assertIn("tkdbg puzzles init", err)

    def test_no_end_and_no_memory_are_answers(self):
        endless = self.entry.solution().replace(
            "    tl.store", "    while N > 0:\n        M += 0\n    tl.store")
        self.write(endless)
        status, out, err = self.run_puzzles("--seconds", "1", "run", "b03")
        self.assertEqual((status, err), (1, ""))
        self.assertRegex(out, "loop")


class Cheats(unittest.TestCase):
    """The checker cannot be fooled."""

    def failures(self, id_, *edits):
        entry = built_in(id_)
        text = manifest.edited(entry.solution(), edits)
        return [f["kind"] for f in answer_to(entry, text).failures]

    def test_the_learners_reference_does_not_count(self):
        entry = built_in("b03")
        text = entry.solution().replace("x[:, None] + y[None, :]",
                                        "x[:, None] - y[None, :]")
        kinds = [f["kind"] for f in answer_to(entry, text).failures]
        self.assertEqual(kinds, ["value"])

    def test_one_block_size_is_not_enough(self):
        self.assertTrue(self.failures("a02", ("(0) * B", "(0) * 32")))

    def test_inputs_stay_as_they_are(self):
        self.assertEqual(self.failures(
            "a02", ("    tl.store(", "    tl.store(x_ptr + offs, x, "
                    "mask=mask)\n    tl.store(")), ["read-only"])

    def test_elements_are_written_once(self):
        self.assertEqual(self.failures(
            "a02", ("    tl.store(", "    for _ in range(N * 0 + 2):\n"
                    "        tl.store(")), ["rewritten"])

    def test_python_beside_the_kernel_does_not_run(self):
        self.assertEqual(self.failures(
            "a02", ("@triton.jit\n", "raise SystemExit\n@triton.jit\n")), [])

    def test_text_that_is_no_kernel(self):
        entry = built_in("a02")
        for text in "", "def", "@triton.jit\ndef copy(", "\0", "@@@":
            with self.subTest(text=text):
                self.assertTrue(answer_to(entry, text).failures)


class Looks(unittest.TestCase):
    def test_the_debugger_stops_at_the_trip_that_is_wrong(self):
        entry = built_in("a07")
        job = Submission(entry, entry.solution().replace(
            "x * x, mask", "x * x + (start > 200), mask"), "k.py")
        answer = checker.check(job)
        stops, commands = look.breakpoints(answer)
        wrong = look.wrong_element(answer)
        self.assertEqual(wrong["before"], 2)
        self.assertEqual(commands, ["ignore 1 1", "continue"])
        self.assertIn(" if pid_0 == ", stops[0])
        self.assertIn("start > 200", look.why(job, answer, False))

    def test_elements_as_runs(self):
        for elements, runs in (([], []), ([5], [[5, 5, 1]]),
                               ([3, 2, 1], [[3, 1, -1]]),
                               ([0, 1, 2, 8, 10, 12], [[0, 2, 1], [8, 12, 2]]),
                               ([1, 9], [[1, 1, 1], [9, 9, 1]]),
                               ([4, 4, 4], [[4, 4, 0]])):
            self.assertEqual(look.runs(elements), runs)


class Apart(unittest.TestCase):
    LIMITS = apart.Limits(1.0, 256)

    def said(self, work):
        try:
            return apart.one(work, self.LIMITS)
        except apart.Failed as e:
            return str(e)

    def test_children(self):
        def forever():
            while True:
                pass
        self.assertEqual(self.said(lambda: [1, "two"]), [1, "two"])
        self.assertIn("no answer after 1 s", self.said(forever))
        if not SANITIZED:  # a sanitizer ends a process without memory
            self.assertIn("MiB", self.said(lambda: bytearray(1 << 30)))
        self.assertIn("signal", self.said(os.abort))
        self.assertIn("KeyError", self.said(lambda: {}[1]))


NOTEBOOK = """
import tkdbg
tkdbg.install(triton="ours")
import triton, triton.language as tl
import tkdbg.puzzles

@triton.jit
def mine(x_ptr, z_ptr, N, B: tl.constexpr):
    offs = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(z_ptr + offs, tl.load(x_ptr + offs, offs < N), offs < N - 0)

good = tkdbg.puzzles.check(mine, "a02")
print(bool(good), repr(good))
text = good._repr_html_()
import base64, html, re, zlib
data = re.search('id="data">([^<]*)', html.unescape(text))[1]
data = zlib.decompress(base64.b64decode(data), -zlib.MAX_WBITS)
print("<iframe" in text, b"program_id" in data)
try:
    tkdbg.puzzles.check(print, "a02")
except Exception as e:
    print(e)
print(tkdbg.puzzles.hint("a02", 2)[:5], "TODO" in tkdbg.puzzles.task("a02"))
"""


class Help(unittest.TestCase):
    def test_every_command_is_named(self):
        with open(os.path.join(support.ROOT, "src", "cli",
                               "command.def")) as f:
            text = " ".join(re.sub(r'"\s+"', "", f.read()).split())
        with open(os.path.join(support.ROOT, "docs", "puzzles.md")) as f:
            manual = f.read()
        names = re.search(r"\{?COMMAND.*?$(.*)", puzzles("--help")[1],
                          re.M | re.S).group(1)
        names = re.findall(r"^    (\w+) ", names, re.M)
        self.assertGreater(len(names), 10)
        for name in names:
            self.assertIn(f" {name}", text)
            self.assertRegex(manual, rf"`(tkdbg puzzles )?\[?{name}\b")


class Notebook(support.ScriptCase):
    triton = "ours"  # the page of a puzzle needs no Triton

    def said(self, text):
        path = self.write(text, "cell.py")
        done = subprocess.run([sys.executable, path], capture_output=True,
                              text=True, env=support.environment())
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def test_a_kernel_is_checked(self):
        said = self.said(NOTEBOOK)
        self.assertIn("True ok solved:", said)
        self.assertIn("True True\n", said)
        self.assertIn("is not a kernel", said)
        self.assertIn("Think True", said)

    def test_a_wrong_one(self):
        said = self.said(NOTEBOOK.replace("N - 0", "N - 1"))
        self.assertIn("False x not yet", said)
        self.assertIn("no program writes z_ptr[99]", said)


if __name__ == "__main__":
    unittest.main()
