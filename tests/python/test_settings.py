"""The options of a session against the table that they come from."""
import ctypes
import os
import re
import unittest

import support

support.need("library")

from tkdbg import __main__ as main, _capi, errors, settings  # noqa: E402

TABLE = os.path.join(support.ROOT, "include", "tkdbg", "option.def")


def rows():
    """(name, kind, key) of each row of option.def, read as text."""
    with open(TABLE, encoding="utf-8") as f:
        text = re.sub(r"/\*.*?\*/", "", f.read(), flags=re.S)
    for part in text.split("OPTION(")[1:]:
        strings = re.findall(r'"((?:[^"\\]|\\.)*)"', part)
        kind = part.split(",")[3].strip()
        yield strings[0], kind, strings[2]


class Library:
    """A library with one more option than there are."""

    def __init__(self, **values):
        self.real = _capi.load()
        self.more = _capi.Option(**values)

    def tk_option_at(self, i):
        row = self.real.tk_option_at(i)
        last = i > 0 and not row and self.real.tk_option_at(i - 1)
        return ctypes.pointer(self.more) if last else row

    def tk_option_pair_at(self, i, out):
        return self.real.tk_option_pair_at(i, out)


class Table(unittest.TestCase):
    def setUp(self):
        self.options = settings.Options()
        self.known = settings.table(_capi.load())

    def test_every_row_is_an_option(self):
        keys = {key.lstrip("!"): (name, kind)
                for name, kind, key in rows() if key}
        self.assertGreater(len(keys), 25)
        self.assertEqual(
            set(self.known) - {"debug", "why", "profile", "view", "compile",
                               "ir", "prove", "tries", "dap"},
            set(keys))
        for key, (name, kind) in keys.items():
            self.assertEqual(self.known[key].name, name)
            self.assertEqual(self.known[key].kind,
                             getattr(_capi, f"OPTION_{kind}"))

    def test_defaults(self):
        o = self.options
        self.assertEqual(
            (o.pids, o.launch, o.check, o.blame, o.quiet, o.autotune,
             o.triton, o.color, o.virtual_cuda, o.debug),
            (None, None, None, (), False, "first", "auto", "auto", None,
             False))

    def test_a_new_row_needs_no_line_here(self):
        lib = Library(name=b"new-thing", letter=b"N", kind=_capi.OPTION_WORD,
                      arg=b"some|more", key=b"thing", help=b"a thing")
        options = settings.Options(lib)
        self.assertEqual(options.thing, "some")
        options.thing = "more"
        self.assertIn("thing = 'more': a thing\n", options.describe())
        spelled = main.spellings(settings.table(lib))
        self.assertIs(spelled["-N"], spelled["--new-thing"])


class Values(unittest.TestCase):
    def setUp(self):
        self.options = settings.Options()

    def test_taken(self):
        for key, given, held in (
                ("blame", "y[0]\ny[1]", ("y[0]", "y[1]")),
                ("blame", ["y[0]"], ("y[0]",)), ("blame", None, ()),
                ("check", True, "all"), ("check", False, None),
                ("check", "nan", "nan"), ("launch", "3", 3),
                ("pids", 7, "7"), ("quiet", 1, True),
                ("virtual_cuda", None, None), ("virtual_cuda", True, True),
                ("dot", None, "blas"), ("color", False, "never"),
                ("triton_version", 3.4, "3.4")):
            setattr(self.options, key, given)
            self.assertEqual(getattr(self.options, key), held, (key, given))

    def test_refused(self):
        for key, given, said in (
                ("launch", 0, "launch must be a number, at least 1, not 0"),
                ("limit", "many", "a number, at least 1"),
                ("dot", "fast", "dot must be one of blas, exact, not 'fast'"),
                ("quiet", "yes", "quiet must be True or False"),
                ("pids", (1, 2), "pids must be a text"),
                ("blame", 5, "blame must be a list of strings"),
                ("nope", 1, "unknown option 'nope'")):
            with self.assertRaisesRegex(errors.UsageError, re.escape(said)):
                setattr(self.options, key, given)


class Pairs(unittest.TestCase):
    """Options that have no effect without others, or beside them."""

    def refused(self, values, given=()):
        options = settings.Options().update(values)
        try:
            options.check_needs(given)
        except errors.UsageError as e:
            return str(e)
        return None

    def test_all_are_about_options_that_there_are(self):
        known = settings.table(_capi.load())
        pairs = settings.pairs(_capi.load())
        self.assertGreater(len(pairs), 20)
        for pair in pairs:
            self.assertIn(pair.key, known)
            for other in pair.others:
                self.assertIn(other.partition("=")[0],
                              [o.name for o in known.values()])

    def test_needs(self):
        for values, others in (
                ({"kernel": "k"}, ("--pid", "--backend", "--dap")),
                ({"limit": 3}, ("--check",)),
                ({"html": "p.html"}, ("--why or --profile",)),
                ({"stores": "s"}, ("--shard",))):
            said = self.refused(values)
            for other in others:
                self.assertIn(other, said)
        for values in ({"kernel": "k", "pids": "0"},
                       {"limit": 3, "check": "all"},
                       {"launch": 1, "debug": True},
                       {"ulp": "2", "against": "gpu"}):
            self.assertIsNone(self.refused(values))

    def test_clashes(self):
        self.assertEqual(
            self.refused({"dot": "exact", "engine": "gpu"}),
            "tkdbg: --dot and --engine gpu cannot be given together: it says "
            "how the interpreter sums")
        self.assertIsNone(self.refused({"dot": "exact"}))
        self.assertIsNone(self.refused({"unordered": True, "jobs": 2}))
        self.assertIn("a single thread has an order",
                      self.refused({"unordered": True, "jobs": 1}))

    def test_a_cell_may_choose_an_engine_that_settings_do_not_matter_to(self):
        values = {"dot": "exact", "engine": "gpu"}
        self.assertIsNone(self.refused(values, given={"engine": "gpu"}))
        self.assertIn("--dot", self.refused(values, given=values))


class Words(unittest.TestCase):
    def test_lists_and_optional_values(self):
        values, *rest = main.parse(
            ["--blame", "y[1]", "--blame=y[2]", "--check", "--break", "12",
             "a.py", "--check"])
        self.assertEqual(values, {"blame": ("y[1]", "y[2]"), "check": "all",
                                  "breakpoints": ("12",)})
        self.assertEqual(rest, ["file", "a.py", ["--check"]])

    def test_flags_take_no_value(self):
        with self.assertRaisesRegex(errors.UsageError, "takes no value"):
            main.parse(["--quiet=yes", "a.py"])


if __name__ == "__main__":
    unittest.main()
