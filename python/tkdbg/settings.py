"""The options of a session: what ``tkdbg run`` and install() set.

Which options there are, what values each takes and what it means, the
library says: they are written down once, in include/tkdbg/option.def.
"""
from __future__ import annotations

import json
import os

from . import _capi
from .errors import UsageError

# What the command line says by the names of commands.
_DEBUG = _capi.Option(
    name=b"debug", kind=_capi.OPTION_FLAG, arg=b"", key=b"debug",
    help=b"a debugger stands over all launches")
_WHY = _capi.Option(
    name=b"why", kind=_capi.OPTION_FLAG, arg=b"", key=b"why",
    help=b"comparisons are watched, and launches recorded")
_PROFILE = _capi.Option(
    name=b"profile", kind=_capi.OPTION_FLAG, arg=b"", key=b"profile",
    help=b"says where the time of all launches went")
_COMPILE = _capi.Option(
    name=b"compile", kind=_capi.OPTION_FLAG, arg=b"", key=b"compile",
    help=b"prints a stage of the compiler of each launch")
_IR = _capi.Option(
    name=b"ir", kind=_capi.OPTION_FLAG, arg=b"", key=b"ir",
    help=b"prints the typed form of each launch")
_DAP = _capi.Option(
    name=b"dap", kind=_capi.OPTION_TEXT, arg=b"", key=b"dap",
    help=b"... that an editor drives: where its client is")


# Options that have no effect unless one of others is set.
_SELECTED = ("pids", "order", "record", "blame", "explain", "shard", "against",
             "breakpoints", "debug", "profile", "compile", "ir", "listen",
             "stdio", "dap")
NEEDS = {
    "kernel": _SELECTED, "launch": _SELECTED,
    "stores": ("shard",), "unordered": ("jobs",),
    "rtol": ("against",), "atol": ("against",), "ulp": ("against",),
    "pinpoint": ("against",), "limit": ("check",), "suppressions": ("check",),
    "gen_suppressions": ("check",), "assume_written": ("check",),
    "stop_on_finding": ("check",), "emit": ("compile",),
    "arch": ("compile",), "output": ("compile",), "skip_pass": ("compile",),
    "after_all": ("compile",), "html": ("why", "profile")}


class Option:
    """One option: how it is spelled, and which values it takes."""

    def __init__(self, row):
        """row: a tk_option."""
        key = _capi.text(row.key)
        self.key = key.lstrip("!")
        self.name = _capi.text(row.name)
        self.letter = row.letter.decode().strip("\0")
        self.kind = row.kind
        self.help = _capi.text(row.help)
        self.words = (tuple(_capi.text(row.arg).split("|"))
                      if row.kind == _capi.OPTION_WORD else ())
        self.when_given = not key.startswith("!")  # of a flag

    @property
    def default(self):
        """The value of an option that nobody sets.  A flag that turns
        something off leaves it to what is there, until it is set."""
        if self.kind == _capi.OPTION_FLAG:
            return False if self.when_given else None
        if self.kind == _capi.OPTION_WORD:
            return self.words[0]
        return () if self.kind == _capi.OPTION_LIST else None

    def checked(self, value):
        """value as options hold it; None means the default.

        Raises UsageError for a value that the option does not take."""
        if value is None:
            return self.default
        try:
            return _CHECKS[self.kind](self, value)
        except (TypeError, ValueError):
            raise UsageError(f"tkdbg: {self.key} must be {self._takes()}, "
                             f"not {value!r}") from None

    def _takes(self):
        if self.kind == _capi.OPTION_WORD:
            return "one of " + ", ".join(self.words)
        return {_capi.OPTION_FLAG: "True or False",
                _capi.OPTION_NUMBER: "a number, at least 1",
                _capi.OPTION_LIST: "a list of texts"}.get(self.kind, "a text")

    def _flag(self, value):
        if not isinstance(value, int):
            raise TypeError
        return bool(value)

    def _word(self, value):
        if isinstance(value, bool) and "always" in self.words:
            return "always" if value else "never"
        if value not in self.words:
            raise ValueError
        return value

    def _number(self, value):
        number = int(value)
        if number < 1:
            raise ValueError
        return number

    def _text(self, value):
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            return str(value)
        return os.fsdecode(value)

    def _optional(self, value):
        """A text; True stands for the option without a value."""
        if isinstance(value, bool):
            return "all" if value else None
        return self._text(value)

    def _list(self, value):
        """Texts: an iterable of them, or one with an item a line."""
        if isinstance(value, str):
            return tuple(value.splitlines())
        return tuple(map(self._text, value))


_CHECKS = {_capi.OPTION_FLAG: Option._flag, _capi.OPTION_TEXT: Option._text,
           _capi.OPTION_OPTIONAL: Option._optional,
           _capi.OPTION_FILE: Option._text, _capi.OPTION_WORD: Option._word,
           _capi.OPTION_NUMBER: Option._number,
           _capi.OPTION_LIST: Option._list}


def table(lib):
    """{key: Option} of the options that a host program gets."""
    rows = [_DEBUG, _WHY, _PROFILE, _COMPILE, _IR, _DAP]
    row, i = lib.tk_option_at(0), 0
    while row:
        rows.append(row.contents)
        i += 1
        row = lib.tk_option_at(i)
    return {o.key: o for o in map(Option, rows) if o.key}


class Options:
    """How kernels are run: an attribute for each key of the table, which may
    be changed at any time.  ``describe()`` lists them."""

    def __init__(self, lib=None):
        """lib: the library; None: the one that _capi.load finds."""
        known = table(_capi.load() if lib is None else lib)
        self.__dict__.update({key: o.default for key, o in known.items()},
                             _table=known, changes=0)  # how often one was set

    def __setattr__(self, name, value):
        option = self._table.get(name)
        if option is None:
            raise UsageError(f"tkdbg: unknown option {name!r}; known: "
                             + ", ".join(sorted(self._table)))
        self.__dict__[name] = option.checked(value)
        self.__dict__["changes"] += 1

    def update(self, values):
        """Sets options by name; raises UsageError on an unknown one."""
        for name, value in values.items():
            setattr(self, name, value)
        return self

    def check_needs(self, given=()):
        """Raises UsageError for an option that is set and has no effect,
        because those that it needs are not.  given: names of more that are
        set, perhaps to what they were."""
        def is_set(key):
            return (key in given or
                    getattr(self, key) != self._table[key].default)
        for key, others in NEEDS.items():
            if not is_set(key) or any(map(is_set, others)):
                continue
            raise UsageError(f"tkdbg: --{self._table[key].name} needs "
                             + " or ".join(f"--{self._table[o].name}"
                                           for o in others))

    def name_of(self, key):
        """What the command line calls an option."""
        return self._table[key].name

    def names(self):
        """Of all options."""
        return list(self._table)

    def describe(self):
        """Each option with its value and what it is for, a line each."""
        return "".join(f"{key} = {getattr(self, key)!r}: {o.help}\n"
                       for key, o in sorted(self._table.items()))

    def is_quiet(self):
        """Whether only findings and the script write to stderr."""
        return self.quiet or self.json

    def colour(self, stream):
        """Whether text for stream is to be coloured."""
        if self.color != "auto":
            return self.color == "always"
        if (os.environ.get("NO_COLOR") or
                os.environ.get("TERM", "dumb") == "dumb"):
            return False
        try:
            return stream.isatty()
        except (AttributeError, ValueError):
            return False


def from_environment(lib=None):
    """Options from TKDBG_OPTIONS, a JSON object; raises UsageError."""
    text = os.environ.get("TKDBG_OPTIONS")
    options = Options(lib)
    if not text:
        return options
    try:
        values = json.loads(text)
    except ValueError as e:
        raise UsageError(f"tkdbg: TKDBG_OPTIONS is not JSON: {e}") from e
    if not isinstance(values, dict):
        raise UsageError("tkdbg: TKDBG_OPTIONS is not a JSON object")
    return options.update(values)
