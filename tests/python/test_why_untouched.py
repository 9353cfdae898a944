"""``tkdbg why`` on tensors that no launch wrote, on memory that nobody wrote,
and on values that are not finite."""
import unittest

import support

support.need("library", "numpy", "torch")

import answers  # noqa: E402

HEAD = """
    import torch

    @triton.jit
    def twice(x, y, n, B: tl.constexpr):
        i = tl.program_id(0) * B + tl.arange(0, B)
        tl.store(y + i, 2 * tl.load(x + i, mask=i < n), mask=i < n)

    @triton.jit
    def total(x, y, n, B: tl.constexpr):
        i = tl.arange(0, B)
        tl.store(y, tl.sum(tl.load(x + i, mask=i < n, other=0.0), 0))

    x = torch.randn(100, device="cuda")
"""


class Untouched(answers.Asked):
    """The tensor that is compared is none that a launch wrote."""

    def wrong_tensor(self, text, made):
        said, status = self.why(HEAD + text)
        self.assertEqual(status, 1, said)
        self.assertIn("compares a tensor that no launch was given", said)
        self.assertRegex(said, rf"\d \| {made}")
        self.assertNotIn("suspects", said)
        return said

    def test_one_that_was_never_written(self):
        said = self.wrong_tensor("""
    out, other = torch.empty_like(x), torch.empty_like(x)
    twice[(2,)](x, other, 100, 64)
    torch.testing.assert_close(out, 2 * x)
""", "out, other = torch.empty_like")
        self.assertIn("launch 1, twice, wrote what is expected to its y", said)

    def test_one_whose_copy_was_written(self):
        self.wrong_tensor("""
    x = x.view(10, 10).t()
    out = torch.zeros_like(x)
    twice[(2,)](x.contiguous(), out.flatten(), 100, 64)
    torch.testing.assert_close(out, 2 * x)
""", "out = torch.zeros_like")

    def test_one_that_was_copied_too_early(self):
        self.wrong_tensor("""
    y = torch.zeros_like(x)
    early = y.clone()
    twice[(2,)](x, y, 100, 64)
    assert torch.allclose(2 * x, early)
""", "early = y.clone")

    def test_the_other_side_is_of_numpy(self):
        said = self.wrong_tensor("""
    out, other = torch.zeros_like(x), torch.zeros_like(x)
    twice[(2,)](x, other, 100, 64)
    np.testing.assert_allclose(out.cpu().numpy(), 2 * x.cpu().numpy())
""", "np.testing")
        self.assertIn("if that is the reference, the kernel is right", said)

    def test_a_copy_of_what_is_wrong(self):
        said, _ = self.why(HEAD + """
    y = torch.zeros_like(x)
    twice[(2,)](x, y, 100, 64)
    torch.testing.assert_close(3 * x, y.cpu().cuda())
""")
        self.assertIn("fails on y of launch 1, twice\n", said)

    def test_another_launch_has_written_what_is_expected(self):
        said, _ = self.why(HEAD + """
    first, second = torch.empty_like(x), torch.empty_like(x)
    twice[(2,)](x, first, 100, 64)
    twice[(2,)](first, second, 100, 64)
    torch.testing.assert_close(first, 4 * x)
""")
        self.assertIn("fails on y of launch 1, twice\n  launch 2, twice, wrote "
                      "what is expected to its y\n", said)


class Unwritten(answers.Asked):
    """Memory that was never written is named."""

    def test_the_host_wrote_a_part(self):
        said, _ = self.why(HEAD + """
    x = torch.empty(16, device="cuda")
    x[:12] = 1.0
    y = torch.empty(1, device="cuda")
    total[(1,)](x, y, 16, 16)
    torch.testing.assert_close(y[0], torch.tensor(12.0, device="cuda"))
""")
        self.assertRegex(said, r"error: an undefined lane .*\[undef\]")

    def test_an_earlier_launch_wrote_a_part(self):
        said, _ = self.why(HEAD + """
    y, z = torch.empty(128, device="cuda"), torch.empty(128, device="cuda")
    twice[(2,)](x, y, 100, 64)
    twice[(2,)](y, z, 128, 64)
    assert torch.isfinite(z).all()
""")
        self.assertIn("x[100] was never written, by the host or by a launch "
                      "before [undef]", said)

    def test_the_host_wrote_the_rest(self):
        said, _ = self.why(HEAD + """
    y, z = torch.empty(128, device="cuda"), torch.empty(128, device="cuda")
    y[100:] = float("inf")
    twice[(2,)](x, y, 100, 64)
    twice[(2,)](y, z, 128, 64)
    assert torch.isfinite(z).all()
""")
        self.assertIn("inf of x[100]", said)
        self.assertNotIn("never written", said)


class NotFinite(answers.Asked):
    """The term, and the launch, that made a value infinite."""

    def test_the_term_of_an_earlier_launch(self):
        said, _ = self.why(HEAD + """
    x[37] = float("inf")
    y, z = torch.empty_like(x), torch.empty(1, device="cuda")
    twice[(2,)](x, y, 100, 64)
    total[(1,)](y, z, 100, 128)
    assert torch.isfinite(z).all()
""")
        self.assertIn("inf of x[37]", said)
        self.assertIn("y[37] was written by launch 1, twice", said)
        self.assertIn("to stop there: tkdbg debug --kernel total", said)

    def test_the_trip_of_a_loop(self):
        said, _ = self.why(HEAD + """
    @triton.jit
    def long(x, y, n, B: tl.constexpr):
        acc = 0.0
        for at in range(0, n, B):
            i = at + tl.arange(0, B)
            acc += tl.sum(tl.load(x + i, mask=i < n, other=0.0), 0)
        tl.store(y, acc)

    x[37] = float("inf")
    z = torch.empty(1, device="cuda")
    long[(1,)](x, z, 100, 16)
    assert torch.isfinite(z).all()
""")
        self.assertRegex(said, r"acc = inf, trips 0\.\.6 of x\[37\]")

    def test_nan_is_asked_for(self):
        said, _ = self.why(HEAD + """
    x[3], x[5] = float("inf"), float("nan")
    y = torch.empty_like(x)
    twice[(2,)](x, y, 100, 64)
    assert not torch.isnan(y).any()
""")
        self.assertIn("1 of 100 elements is NaN\n", said)
        self.assertIn("the lines that y[5] came from", said)

    def test_no_edit_makes_nan_pass(self):
        said, _ = self.why(HEAD + """
    x[3] = 1e38
    y, z = torch.empty_like(x), torch.empty(1, device="cuda")
    twice[(2,)](x, y, 100, 64)
    total[(1,)](y, z, 100, 128)
    torch.testing.assert_close(z, z * 0 + 5)
""")
        self.assertNotIn("passes", said)


if __name__ == "__main__":
    unittest.main()
