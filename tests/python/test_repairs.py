"""Edits that make a comparison pass: which are made, and which are told of."""
import ast
import os
import signal
import textwrap
import time
import unittest
import unittest.mock

import support

support.need("library", "numpy")

import answers  # noqa: E402
from tkdbg import edits, repairs  # noqa: E402

TWO = '''
    @triton.jit
    def weigh(v, m):
        return tl.exp(v - m)

    @triton.jit
    def rows(x, part, top, n, B: tl.constexpr):
        r = tl.program_id(0)
        i = tl.arange(0, B)
        v = tl.load(x + r * n + i, mask=i < n, other=-float("inf"))
        m = tl.max(v, 0)
        tl.store(part + r, tl.sum(weigh(v, m), 0))
        tl.store(top + r, m)

    @triton.jit
    def join(part, top, out, B: tl.constexpr):
        i = tl.arange(0, B)
        p = tl.load(part + i)
        t = tl.load(top + i)
        m = tl.max(t, 0)
        tl.store(out, tl.sum(p * tl.exp(t - m), 0))

    x = np.random.default_rng(0).normal(size=(4, 13)).astype("f4")
    part, top, out = np.zeros(4, "f4"), np.zeros(4, "f4"), np.zeros(1, "f4")
    rows[(4,)](x, part, top, 13, B=16)
    join[(1,)](part, top, out, B=4)
    ref = np.exp(x - x.max()).sum()
    np.testing.assert_allclose(out, [ref], rtol=1e-5)
'''

SOURCE = b'''import triton
import triton.language as tl

@triton.jit
def k(x, y, stride_a, stride_b, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    live = i < n
    v = tl.load(x + i * stride_a,
                mask=live, other=0.0)
    tl.store(y + i, v // 2)
'''


class Edits(unittest.TestCase):
    """Each is a program again, at the place that it names."""

    def setUp(self):
        self.source = edits.Source("k.py", SOURCE)
        self.edits = list(edits.edits(self.source, "k"))

    def test_places(self):
        for edit in self.edits:
            text = SOURCE[edit.at:edit.at + len(edit.old)].decode()
            self.assertEqual(text, edit.old)
            self.assertEqual(SOURCE[:edit.at].count(b"\n") + 1, edit.line)

    def test_programs(self):
        for edit in self.edits:
            changed = (SOURCE[:edit.at] + edit.new.encode() +
                       SOURCE[edit.at + len(edit.old):])
            ast.parse(changed)
            self.assertEqual(changed.count(b"\n"), SOURCE.count(b"\n"))

    def test_kinds(self):
        made = {(e.line, e.old, e.new) for e in self.edits}
        for one in ((7, "i < n", "i <= n"), (10, "v // 2", "(v % 2)"),
                    (8, "stride_a", "stride_b"), (9, "0.0", "1.0"),
                    (6, "0", "1"), (10, "tl.store(y + i, v // 2)",
                                    "tl.store(y + i, v // 2, mask=live)")):
            self.assertIn(one, made)

    def edits_of(self, body, head="x, y, n, m, stride_a, B: tl.constexpr"):
        """{(old, new)} of a kernel's last lines."""
        text = ("@triton.jit\ndef k(" + head + "):\n" +
                textwrap.indent(textwrap.dedent(body), "    "))
        source = edits.Source("k.py", text.encode())
        found = list(edits.edits(source, "k"))
        for edit in found:
            changed = text[:edit.at] + edit.new + text[edit.at +
                                                       len(edit.old):]
            ast.parse(changed)
        return {(e.old, e.new) for e in found}

    def test_rescales(self):
        """A sum that is to be rescaled when its maximum grows."""
        made = self.edits_of("""
            v = tl.load(x)
            top = tl.max(v)
            for i in range(n):
                new = tl.maximum(top, i)
                p = tl.exp(v - new)
                total = total + tl.sum(p, 0)
                total += p
                top = new
        """)
        self.assertIn(("total + tl.sum(p, 0)",
                       "total * tl.exp(top - new) + tl.sum(p, 0)"), made)
        self.assertIn(("total += p", "total += p * v"), made)

    def test_what_is_never_read(self):
        """... may be meant where something else is read, or as a factor."""
        made = self.edits_of("""
            w = tl.load(x)
            v = tl.load(y)
            count = n
            tl.store(y, part(v, m) / n)
        """)
        self.assertIn(("m", "count"), made)
        self.assertIn(("m", "tl.sum(count, 0)"), made)
        self.assertIn(("part(v, m)", "part(v * w, m)"), made)

    def test_reductions(self):
        made = self.edits_of("""
            tl.store(x, tl.sum(count, 0))
            tl.store(y, tl.sum(v, 0) / n)
        """)
        self.assertIn(("tl.sum(v, 0) / n", "tl.sum(v, 0) / tl.sum(count, 0)"),
                      made)

    def test_what_lacks(self):
        """A mask of a value, a factor, an index, a size, a maximum of before,
        a sign."""
        made = self.edits_of("""
            r = tl.program_id(0)
            i = tl.arange(0, B)
            live = i < n
            v = tl.load(x + i * n, mask=live)
            for j in range(0, n - B, B):
                top = tl.max(v, 0)
            w = v - top
            f = first
            tl.store(y + r + i, tl.where(i > 0, w[None, :], v * v),
                     mask=live & (i < m))
        """)
        for one in (("w = v - top", "w = tl.where(live, v - top, 0.0)"),
                    ("tl.where(i > 0, w[None, :], v * v)",
                     "tl.where(live, w[None, :], v * v)"),
                    ("tl.where(i > 0, w[None, :], v * v)",
                     "tl.where((i > 0) & live, w[None, :], v * v)"),
                    ("top = tl.max(v, 0)",
                     "top = tl.maximum(top, tl.max(v, 0))"),
                    ("tl.max(v, 0)", "tl.max(tl.abs(v), 0)"),
                    ("tl.load(x + i * n, mask=live)",
                     "tl.load(x + i * n + r, mask=live)"),
                    ("tl.load(x + i * n, mask=live)",
                     "tl.load(x + i * n - 1, mask=live)"),
                    ("range(0, n - B, B)", "range(0, n, B)"),
                    ("f = first", "f = first * n"), ("v * v", "(m * m)"),
                    ("i < n", "i != n"), ("n - B", "n - 1"),
                    ("w[None, :]", "(w * v)[None, :]")):
            self.assertIn(one, made)

    def test_indices(self):
        """Of tiles, heads and rows."""
        made = self.edits_of("""
            a = x * m_size + y
            part = x + h * heads + c1
            kv = h % HK
            blocks = n // B
            last = tl.cdiv(n, B)
            return c1 * s2 + a1
        """, "x, y, h, c1, c2, s1, s2, a1, a2, n, n_size, m_size, H, HK, "
            "heads, B: tl.constexpr")
        for one in (("x + h * heads + c1", "(x + h + c1 * n_size)"),
                    ("x + h * heads + c1", "(x * heads + h + c1)"),
                    ("x * m_size + y", "(x + y * n_size)"),
                    ("x * m_size + y", "(m_size + y * x)"),
                    ("h % HK", "(h // (H // HK))"), ("h % HK", "(h // HK)"),
                    ("n // B", "tl.cdiv(n, B)"), ("tl.cdiv(n, B)", "(n // B)"),
                    ("return c1 * s2 + a1", "return c2 * s1 + a2"),
                    ("c1 * s2 + a1", "(c1 + a1 * s2)"),
                    ("c1 * s2", "(2 * (c1 * s2))")):
            self.assertIn(one, made)

    def test_what_is_never_loaded(self):
        made = self.edits_of("""
            state = tl.zeros([B], dtype=tl.float32)
            tl.store(y + n * m, state)
        """, "x, y, n, m, B: tl.constexpr")
        self.assertIn(("tl.zeros([B], dtype=tl.float32)", "tl.load(x + n * m)"),
                      made)

    def test_numbers_with_names(self):
        made = self.edits_of("""
            label = tl.load(x, mask=live, other=0)
            count = label != -1
            low = label & 7
            if low:
                return
        """, "x, ignore, live")
        for one in (("tl.load(x, mask=live, other=0)",
                     "tl.load(x, mask=live, other=ignore)"),
                    ("label != -1", "label != ignore"), ("7", "15")):
            self.assertIn(one, made)

    def test_signs_of_a_name(self):
        """... wherever a statement has it."""
        made = self.edits_of("return a * c + b * s, b * c - a * s")
        self.assertNotIn("(-s)", "".join(new for _, new in made))
        made = self.edits_of("return a * c + b * s, b * c - a * s",
                             "a, b, c, s")
        self.assertIn(("return a * c + b * s, b * c - a * s",
                       "return a * c + b * (-s), b * c - a * (-s)"), made)

    def test_groups(self):
        made = self.edits_of("v = a * b - c; w = (a - c) * b")
        for one in (("a * b - c", "((a - c) * b)"),
                    ("a * b - c", "(a * (b - c))"),
                    ("(a - c) * b", "(a * b - c)"),
                    ("a * b - c", "(c * a - b)")):
            self.assertIn(one, made)

    def test_bases(self):
        made = self.edits_of("""
            g = tl.program_id(0)
            t = 0
            while t < n:
                t += 1
            v = tl.load(x + t)
            f(X, v)
        """)
        self.assertIn(("x", "x + g * stride_a"), made)
        self.assertIn(("X", "X + t * n"), made)

    def test_numbers(self):
        made = self.edits_of("""
            v = a / 15.0
            w = (v * 3).to(tl.int8).to(tl.float32)
            z = tl.dot(v, w) + tl.dot(w, v, input_precision="tf32")
        """)
        for one in (("15.0", "16.0"),
                    ("(v * 3).to(tl.int8)", "(tl.floor((v * 3) + 0.5))"
                     ".to(tl.int8)"),
                    ("tl.dot(v, w)", 'tl.dot(v, w, input_precision="ieee")'),
                    ('"tf32"', '"ieee"')):
            self.assertIn(one, made)

    def test_once(self):
        made = [(e.at, e.old, e.new) for e in self.edits]
        self.assertEqual(len(made), len(set(made)))


class References(answers.Asked):
    """The function that a failing condition calls is the reference."""
    TEXT = TWO.replace("np.testing.assert_allclose(out, [ref], rtol=1e-5)", """
    def reference(x):
        LOG
        return np.exp(x - x.max()).sum().reshape(1)
    log = []
    assert np.abs(out - reference(x)).max() < 1e-4
""").replace("tl.sum(p * tl.exp(t - m), 0)", "tl.sum(p * tl.exp(m - t), 0)")

    def test_called_again(self):
        """It is pure: what it gives is what is expected."""
        said, _ = self.why(self.TEXT.replace("LOG", "y = x"))
        self.assertRegex(said, "assert fails on out of launch 2, join\n"
                         "out differs from what is expected")

    def test_not_called_again(self):
        """It is not: the launch is named, and nobody says what is right."""
        said, _ = self.why(self.TEXT.replace("LOG", "log.append(1)"))
        self.assertIn("assert fails on out of launch 2, join\n"
                      "  the lines that", said)
        self.assertNotIn("differs", said)


class Repairs(answers.Asked):
    """The line of an edit that passes comes first."""

    def suspects(self, old, new, text=TWO):
        self.assertEqual(text.count(old), 1)
        said, status = self.why(text.replace(old, new), "on")
        self.assertEqual(status, 1, said)
        lines = said.splitlines()
        self.assertIn("  suspects:", lines, said)
        return lines[lines.index("  suspects:") + 1]

    def test_helper(self):
        """A function that an earlier launch calls."""
        self.assertRegex(
            self.suspects("tl.exp(v - m)", "tl.exp2(v - m)"),
            r"\.py:8: with `tl\.exp\(v - m\)` in place of `tl\.exp2\(v - m\)` "
            "the comparison passes")

    def test_last_launch(self):
        self.assertRegex(self.suspects("tl.max(t, 0)", "tl.min(t, 0)"),
                         r"\.py:24: with `tl\.max\(t, 0\)` in place")

    def test_grid(self):
        self.assertRegex(
            self.suspects("rows[(4,)]", "rows[(3,)]"),
            r"\.py:29: with grid \(4, 1, 1\) in place of \(3, 1, 1\) the "
            "comparison passes")

    def test_number(self):
        """It is shown where the launch is given it."""
        self.assertRegex(
            self.suspects("x, part, top, 13,", "x, part, top, 12,"),
            r"\.py:29: with n = 13, stride 0 of x, in place of 12 the "
            "comparison passes")

    def test_another_launch_has_the_tensor(self):
        self.assertRegex(
            self.suspects("join[(1,)](part, top,", "join[(1,)](part, part,"),
            r"\.py:30: with top of launch 1, rows, in place of top the "
            "comparison passes")

    def test_this_launch_has_the_tensor(self):
        text = """
            @triton.jit
            def k(x, y, z):
                i = tl.arange(0, 4)
                tl.store(z + i, tl.load(x + i) - tl.exp(tl.load(y + i)))

            x, y, z = np.arange(12, dtype="f4").reshape(3, 4)
            k[(1,)](x, x, z)
            np.testing.assert_allclose(z, x - np.exp(x), rtol=1e-5)
        """
        said, _ = self.why(text.replace("(x, x, z)", "(x, y, z)"), "on")
        self.assertIn(".py:12: with x, too, in place of y the comparison "
                      "passes", said)

    def test_zeroed(self):
        text = TWO.replace("tl.store(part + r, ", "tl.atomic_add(part + r, ")
        self.assertRegex(
            self.suspects('np.zeros(4, "f4"), np.zeros(4, "f4")',
                          'np.ones(4, "f4"), np.zeros(4, "f4")', text),
            "with part zeroed before the launch the comparison passes")

    def test_bounds(self):
        """What passes is judged by the script's own bound, wherever it
        stands; exactly right is not what was asked for."""
        compared = "np.testing.assert_allclose(out, [ref], rtol=1e-5)"
        self.assertEqual(TWO.count(compared), 1)
        for check in ("""far = np.abs(out - np.array([ref + 1e-3], "f4"))
    if far.max() > 1e-2:
        raise SystemExit(f"FAILED: off by {far.max()}")
""", """want = np.array([ref * 1.0001], "f4")
    far = np.abs(out - want) / np.abs(want)
    assert far.max() < 1e-3
""", """want = np.array([ref * 1.0001], "f4")
    far = np.abs(out - want).max() / np.abs(want).max()
    if far > 1e-3:
        raise SystemExit(1)
"""):
            self.assertRegex(
                self.suspects("tl.exp(v - m)", "tl.exp2(v - m)",
                              TWO.replace(compared, check)),
                r"\.py:8: with `tl\.exp\(v - m\)` in place of")

    def test_usual_bounds(self):
        """A comparison without a bound has that of the type."""
        support.need("torch")
        text = TWO.replace(
            "np.testing.assert_allclose(out, [ref], rtol=1e-5)",
            """import torch
    torch.testing.assert_close(torch.from_numpy(out), torch.tensor([ref]))
""")
        self.assertRegex(
            self.suspects("tl.exp(v - m)", "tl.exp2(v - m)", text),
            r"\.py:8: with `tl\.exp\(v - m\)` in place of")

    def interrupted(self, times):
        """What is said where Ctrl-C is pressed so often after the first
        change has passed, and the exit status."""
        asked, passed = [0], [False]

        def entered(search, before=repairs.Search.__enter__):
            asked[0] = os.getpid()
            return before(search)

        def tried(search, each, left, before=repairs.Search._try):
            if passed[0]:
                passed[0] = False
                for _ in range(times):
                    os.kill(asked[0], signal.SIGINT)
                    time.sleep(0.2)
            result = before(search, each, left)
            passed[0] = result is not None and result.passes
            return result
        with unittest.mock.patch.multiple(repairs.Search, _try=tried,
                                          __enter__=entered):
            return self.why(TWO.replace("tl.max(t, 0)", "tl.min(t, 0)"), "on")

    def test_ctrl_c(self):
        """The first one ends the search, and what is known is told."""
        said, status = self.interrupted(1)
        self.assertEqual(status, 1, said)
        self.assertRegex(said, r"  suspects:\n.*the comparison passes\nout ")

    def test_ctrl_c_twice(self):
        said, status = self.interrupted(2)
        self.assertEqual(status, 130, said)
        self.assertNotIn("suspects", said)

    def test_nothing(self):
        """No suspect is made up where no edit helps."""
        said, status = self.why(TWO.replace("[ref]", "[12345.0]"), "on")
        self.assertEqual(status, 1)
        self.assertNotIn("suspects", said)

    def test_off(self):
        said, _ = self.why(TWO.replace("tl.max(t, 0)", "tl.min(t, 0)"))
        self.assertNotIn("suspects", said)

    def test_endless(self):
        """Some edits make a loop endless: they are given up."""
        text = '''
            @triton.jit
            def halve(x, y):
                n = tl.load(x)
                k = 0
                while n > 1:
                    n = n // 2
                    k += 2
                tl.store(y, k)

            x, y = np.full(1, 1000, "i4"), np.zeros(1, "i4")
            halve[(1,)](x, y)
            np.testing.assert_array_equal(y, [9])
        '''
        said, status = self.why(text, "on")
        self.assertEqual(status, 1)
        self.assertRegex(said, r"\.py:12: with `1` in place of `2` the")


if __name__ == "__main__":
    unittest.main()
