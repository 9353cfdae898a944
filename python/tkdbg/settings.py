"""The options of a session: what ``tkdbg run`` and install() set.

Which options there are, what values each takes and what it means, the
library says: they are written down once, in include/tkdbg/option.def.
"""
from __future__ import annotations

import ctypes
import json
import os
from typing import Any, TYPE_CHECKING

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
_VIEW = _capi.Option(
    name=b"view", kind=_capi.OPTION_FLAG, arg=b"", key=b"view",
    help=b"writes a page of all launches")
_COMPILE = _capi.Option(
    name=b"compile", kind=_capi.OPTION_FLAG, arg=b"", key=b"compile",
    help=b"prints a stage of the compiler of each launch")
_IR = _capi.Option(
    name=b"ir", kind=_capi.OPTION_FLAG, arg=b"", key=b"ir",
    help=b"prints the typed form of each launch")
_PROVE = _capi.Option(
    name=b"prove", kind=_capi.OPTION_FLAG, arg=b"", key=b"prove",
    help=b"proves each launch, before it runs, for other sizes")
_TRIES = _capi.Option(
    name=b"tries", kind=_capi.OPTION_FILE, arg=b"", key=b"tries",
    help=b"the folder for launches with other sizes, which others compare")
_DAP = _capi.Option(
    name=b"dap", kind=_capi.OPTION_TEXT, arg=b"", key=b"dap",
    help=b"... that an editor drives: where its client is")


class Option:
    """One option: how it is spelled, and which values it takes."""

    def __init__(self, row: _capi.Option) -> None:
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
    def default(self) -> Any:
        """The value of an option that nobody sets.  A flag that turns
        something off leaves it to what is there, until it is set."""
        if self.kind == _capi.OPTION_FLAG:
            return False if self.when_given else None
        if self.kind == _capi.OPTION_WORD:
            return self.words[0]
        return () if self.kind == _capi.OPTION_LIST else None

    def checked(self, value: Any) -> Any:
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
                _capi.OPTION_LIST: "a list of strings"}.get(self.kind, "a text")

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


def table(lib: Any) -> dict[str, Option]:
    """{key: Option} of the options that a host program gets."""
    rows = [_DEBUG, _WHY, _PROFILE, _VIEW, _COMPILE, _IR, _PROVE, _TRIES,
            _DAP]
    row, i = lib.tk_option_at(0), 0
    while row:
        rows.append(row.contents)
        i += 1
        row = lib.tk_option_at(i)
    return {o.key: o for o in map(Option, rows) if o.key}


class Pair:
    """An option that has no effect without others (needs), or beside them."""

    def __init__(self, row: _capi.OptionPair) -> None:
        self.needs = row.needs
        self.key = _capi.text(row.key).lstrip("!")
        self.others = _capi.text(row.others).split()
        self.why = _capi.text(row.why)

    def refusal(self, name: str, others: list[str]) -> str:
        """A sentence about an option, by its name, and its others."""
        shown = [f"--{o.replace('=', ' ')}" for o in others]
        why = f": {self.why}" if self.why else ""
        if self.needs:
            return f"--{name} needs {' or '.join(shown)}{why}"
        return f"--{name} and {shown[0]} cannot be given together{why}"


def pairs(lib: Any) -> list[Pair]:
    """Those of the options that a host program gets."""
    found: list[Pair] = []
    row = _capi.OptionPair()
    while lib.tk_option_pair_at(len(found), ctypes.byref(row)):
        found.append(Pair(row))
    return found


class Options:
    """How kernels are run: an attribute for each key of the table, which may
    be changed at any time.  ``describe()`` lists them."""

    _table: dict[str, Option]
    _pairs: list[Pair]
    changes: int  # how often one was set
    if TYPE_CHECKING:
        def __getattr__(self, name: str) -> Any: ...

    def __init__(self, lib: Any = None) -> None:
        """lib: the library; None: the one that _capi.load finds."""
        lib = _capi.load() if lib is None else lib
        known = table(lib)
        self.__dict__.update({key: o.default for key, o in known.items()},
                             _table=known, _pairs=pairs(lib), changes=0)

    def __setattr__(self, name: str, value: Any) -> None:
        option = self._table.get(name)
        if option is None:
            raise UsageError(f"tkdbg: unknown option {name!r}; known: "
                             + ", ".join(sorted(self._table)))
        self.__dict__[name] = option.checked(value)
        self.__dict__["changes"] += 1

    def update(self, values: dict[Any, Any]) -> Options:
        """Sets options by name; raises UsageError on an unknown one."""
        for name, value in values.items():
            setattr(self, name, value)
        return self

    def check_needs(self, given: tuple[Any, ...] | dict[Any, Any] = ()) -> None:
        """Raises UsageError for an option that is set and has no effect,
        because those that it needs are not, or others are.  given: names of
        more that are set, perhaps to what they were; then only these are
        asked whether they clash."""
        for pair in self._pairs:
            if not self._is_set(pair.key, given):
                continue
            if not pair.needs and given and pair.key not in given:
                continue
            there = [other for other in (self._as_set(o, given)
                                         for o in pair.others) if other]
            if pair.needs == (not there):
                raise UsageError("tkdbg: " + pair.refusal(
                    self.name_of(pair.key), there or pair.others))

    def _is_set(self, key: str, given: Any) -> bool:
        return key in given or getattr(self, key) != self._table[key].default

    def _as_set(self, other: str, given: Any) -> str | None:
        """NAME or NAME=WORD, of an option NAME or NAME=WORD|WORD that is set;
        None: it is not."""
        name, _, words = other.partition("=")
        for key, option in self._table.items():
            if option.name != name or not self._is_set(key, given):
                continue
            value = str(getattr(self, key))
            if not words:
                return name
            if value in words.split("|"):
                return f"{name}={value}"
        return None

    def name_of(self, key: str) -> str:
        """What the command line calls an option."""
        return self._table[key].name

    def words(self, *keys: str) -> list[str]:
        """Those of some options that take a value and are set, as the command
        line has them."""
        return [word for key in keys if self._is_set(key, ())
                for word in (f"--{self.name_of(key)}", str(getattr(self, key)))]

    def names(self) -> list[str]:
        """Of all options."""
        return list(self._table)

    def describe(self) -> str:
        """Each option with its value and what it is for, a line each."""
        return "".join(f"{key} = {getattr(self, key)!r}: {o.help}\n"
                       for key, o in sorted(self._table.items()))

    def is_quiet(self) -> bool:
        """Whether only findings and the script write to stderr."""
        return self.quiet or self.json

    def colour(self, stream: Any) -> bool:
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


def from_environment(lib: Any = None) -> Options:
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
