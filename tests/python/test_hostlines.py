"""The lines of the script that made a launch, in an answer of `why`."""
import re
import unittest

import support

support.need("library", "numpy")

import answers  # noqa: E402
import planted  # noqa: E402
from answers import TORCH  # noqa: E402


class Host(answers.Asked):
    """Those that are chosen, and what stands beside them."""

    def host(self, text):
        said, _ = self.why(text)
        found = re.search(r"  launched with grid (.*) by these lines of "
                          r"script\.py:\n((?: +\d+ \| .*\n)+)", said)
        self.assertIsNotNone(found, said)
        return found.group(1), [re.sub(r"^ +\d+ \| ", "", line)
                                for line in found.group(2).splitlines()]

    COPY = """
    @triton.jit
    def copy(x, y, n, sx, sy, B: tl.constexpr):
        i = tl.program_id(0) * B + tl.arange(0, B)
        tl.store(y + i * sy, tl.load(x + i * sx, mask=i < n), mask=i < n)
"""

    def test_arguments_and_what_they_are_made_of(self):
        grid, lines = self.host(f"""{self.COPY}
    def call(x):
        n = x.size
        step = x.strides[0] // 2
        grid = lambda meta: (triton.cdiv(n, meta["B"]),)
        y = np.zeros(n, "f4")
        copy[grid](
            x, y,
            n, step // 4,
            1, B=16)
        return y
    x = np.arange(40, dtype="f4")[::2]
    assert (call(x) == x).all()
""")
        self.assertEqual(grid, "(2, 1, 1)")
        self.assertEqual([line.split("  ")[0] for line in lines], [
            "step = x.strides[0] // 2",
            'grid = lambda meta: (triton.cdiv(n, meta["B...',
            'y = np.zeros(n, "f4")', "copy[grid](", "n, step // 4,",
            "1, B=16)"])
        self.assertRegex(lines[4], "n = 20, sx = 1$")
        self.assertRegex(lines[5], "sy = 1, B = 16$")

    def test_sequences_of_arguments(self):
        for call in ("copy[2,](x, y, 20, *steps, B=16)",
                     "copy[2,](*[x, y], 20, *steps, 16)"):
            _, lines = self.host(f"""{self.COPY}
    x, y = np.arange(40, dtype="f4")[::2], np.zeros(20, "f4")
    steps = (1, 1)
    {call}
    assert (y == x).all()
""")
            with self.subTest(call):
                self.assertEqual(lines[-2:], [
                    "steps = (1, 1)", lines[-1]])
                self.assertTrue(lines[-1].startswith(call))

    def test_what_tunes_a_kernel(self):
        _, lines = self.host("""
    @triton.autotune([triton.Config({"B": 16}),
                      triton.Config({"B": 32})], key=[])
    @triton.jit
    def copy(x, y, n, B: tl.constexpr):
        i = tl.program_id(0) * B + tl.arange(0, B)
        tl.store(y + i, tl.load(x + i, mask=i < n) + 1, mask=i < n)
    x, y = np.zeros(40, "f4"), np.zeros(40, "f4")
    copy[lambda m: (triton.cdiv(40, m["B"]),)](x, y, 40)
    assert (y == x).all()
""")
        self.assertRegex(lines[0], r"^@triton\.autotune\(.* this config")

    @unittest.skipUnless(planted.importlib.util.find_spec("torch"), "no torch")
    def test_where_the_wrong_tensor_was_made(self):
        text = TORCH.replace("tl.store(y + i, v * 3",
                             "tl.atomic_add(y + i, v * 2")
        text += "    torch.testing.assert_close(y, ref)\n"
        _, lines = self.host(text)
        self.assertIn("y = torch.empty_like(x)", lines)

    def test_what_functions_of_the_script_return(self):
        _, lines = self.host(f"""{self.COPY}
    def blocks(n):
        return n // 32,
    def picked(x):
        return x[::2]
    x, y = np.arange(80, dtype="f4"), np.zeros(40, "f4")
    half = picked(x)
    grid = blocks(40)
    copy[grid](half, y, 40, 1, 1, B=32)
    assert (y == x[::2]).all()
""")
        self.assertIn("return n // 32,", lines)
        self.assertIn("return x[::2]", lines)

    def test_a_member_of_the_object(self):
        _, lines = self.host(f"""{self.COPY}
    class Copy:
        def __init__(self, step):
            self.step = step * 3
        def __call__(self, x):
            y = np.zeros(40, "f4")
            copy[(3,)](x, y, 40, self.step, 1, B=16)
            return y
    x = np.arange(120, dtype="f4")
    assert (Copy(1)(x) == x[:40]).all()
""")
        self.assertIn("self.step = step * 3", lines)
        self.assertNotIn("return y", lines)

    def test_what_is_returned_after_a_loop(self):
        _, lines = self.host(f"""{self.COPY}
    def call(x):
        a, b = x.copy(), np.zeros(40, "f4")
        for step in range(2):
            copy[(3,)](a, b, 40, 1, 1, B=16)
            a, b = b, a
        return a
    x = np.arange(40, dtype="f4")
    assert (call(x) == x + 1).all()
""")
        self.assertEqual(lines[-1], "return a")


if __name__ == "__main__":
    unittest.main()
