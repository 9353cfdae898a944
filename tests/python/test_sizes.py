"""Whole numbers that know what a script made them of."""
import math
import pickle
import unittest

import support  # noqa: F401
from tkdbg import sizes
from tkdbg.sizes import Facts, Root, Size

least, most = sizes.extreme(min, "min"), sizes.extreme(max, "max")


def next_power_of_2(n):
    return 1 << (n - 1).bit_length()


power = sizes.next_power(next_power_of_2)


class Terms(unittest.TestCase):
    def setUp(self):
        self.facts = Facts()
        self.roots = {Root("shape", 100): "n", Root("shape", 7): "m"}
        self.n, self.m = (Size.make(r.value, r, self.facts)
                          for r in self.roots)

    def text(self, value):
        return sizes.text(sizes.term_of(value), self.roots)

    def said(self):
        return [" ".join((sizes.text(f.left, self.roots), f.comparison,
                          sizes.text(f.right, self.roots)))
                for f in self.facts]

    def test_arithmetic(self):
        n, m = self.n, self.m
        for value, wanted, text in (
                (n + 1, 101, "n + 1"), (1 + n, 101, "1 + n"),
                (n - m, 93, "n - m"), (3 - n, -97, "3 - n"),
                (n * m * 2, 1400, "(n * m) * 2"), (n // 8, 12, "n // 8"),
                (1000 // n, 10, "1000 // n"), (n % m, 2, "n % m"),
                (-(-n // 8), 13, "cdiv(n, 8)"), (-n, -100, "0 - n"),
                (n * 1 + 0, 100, "n"), (n << 2, 400, "n * 4"),
                (n >> 2, 25, "n // 4"), (divmod(n, m)[1], 2, "n % m"),
                (math.ceil(n / m), 15, "cdiv(n, m)"),
                (math.floor(n / 8), 12, "n // 8"),
                (math.prod((n, m)), 700, "n * m"), (sum((n, m)), 107, "n + m"),
                (least(n, 64), 64, "min(n, 64)"),
                (most([m, n, 4]), 100, "max(max(m, n), 4)"),
                (power(n), 128, "next_power_of_2(n)")):
            with self.subTest(text):
                self.assertEqual(value, wanted)
                self.assertEqual(self.text(value), text)

    def test_what_is_not_followed_is_a_plain_number(self):
        for value in (self.n & 3, self.n ** 2, self.n * 0.5, int(self.n),
                      self.n.bit_length(), [0] * self.m):
            self.assertNotIsInstance(value, Size)
        self.assertIs(type(sizes.plain(self.n)), int)
        self.assertEqual(sizes.plain((self.n, [self.m], "x")),
                         (100, [7], "x"))
        self.assertIs(type(pickle.loads(pickle.dumps(self.n))), int)

    def test_a_term_does_not_grow_without_end(self):
        value = self.n
        for _ in range(60):
            value = value + self.m
        self.assertNotIsInstance(value, Size)

    def test_comparisons_are_noted(self):
        n, m = self.n, self.m
        assert n % 4 == 0 and not n < m
        assert (n, 1) == (100, 1)
        if m in (3, 7):
            pass
        self.assertEqual(self.said(), ["n % 4 == 0", "n >= m", "n == 100",
                                       "m != 3", "m == 7"])
        places = {f.place.file for f in self.facts}
        self.assertEqual(places, {__file__})

    def test_a_look_into_a_dict_says_nothing(self):
        known = {100: "hundred"}
        self.assertEqual(known[self.n], "hundred")
        self.assertEqual(known.get(self.n), "hundred")
        self.assertEqual([100, 7].index(self.m), 1)
        self.assertEqual(self.said(), [])


if __name__ == "__main__":
    unittest.main()
