"""``tkdbg run --sizes``: a script once more, with other sizes.

A kernel without a mask passes every test whose size is a multiple of its block.
So each number of the script that has a name and is a size of a tensor is
changed, and the script runs again with it, in a process that is split off this
one (reruns.py): its own host code works out strides, grids and references anew,
and its own comparisons judge.

Which numbers are sizes is seen by what launches are given: with another number
the shape of a tensor is another one.  What is a fault of a run, and what the
script's own precondition, sizejudge.py says; strides are otherstrides.py's.
"""
from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from . import errors, hostnumbers, otherstrides, parsing, sizejudge, sizesaid
from .edits import Source
from .hostnumbers import Number
from .sizeruns import Launch, Run, Seen

if TYPE_CHECKING:
    from .reruns import Script
    from .session import Session

EACH = 8            # other values of a size that are tried
MOST_NUMBERS = 24   # that are looked at
MOST_RUNS = 160     # of the script, with sizes that are tried
MOST_TIMES = 4      # a size becomes at most so many times as large
LEAST_BLOCK = 4     # a smaller compile-time value is no block


# ---- which numbers ----------------------------------------------------------


class Size(NamedTuple):
    """Numbers that change together."""
    numbers: list[Number]

    def says(self, value: int) -> str:
        names = " = ".join(dict.fromkeys(
            n.name for n in self.numbers if n.name))
        lines = list(dict.fromkeys(n.line for n in self.numbers))
        return ((f"{names} = " if names else "") +
                f"{value} in place of {self.numbers[0].value}" +
                (f" in lines {', '.join(map(str, lines))}"
                 if len(lines) > 1 and not all(n.name for n in self.numbers)
                 else ""))


class Kept(Protocol):
    """Where the launches of all runs are kept."""

    def keep(self, launch: int, kernel: str) -> str:
        """A launch file, in the process of a run; "": it is not kept."""

    def take(self, run: Run, what: tuple[Number, str] | None) -> None:
        """What a run has kept; what: was another one in it, and where."""


class Tries:
    """The script with other sizes, and what came of each."""

    def __init__(self, session: Session, script: Script, each: int,
                 shown: Callable[[Number], Number],
                 kept: Kept | None = None) -> None:
        """kept: where launches are kept, for who compares them with something
        else; then empty tensors are tried, too.  Raises SyntaxError."""
        self._session = session
        self._script = script
        self._each = each
        self._kept = kept
        tree: Any = parsing.tree(script.text.decode())
        source = Source(script.path, script.text)
        found = hostnumbers.of(source, tree)
        self._numbers = found._replace(named=list(map(shown, found.named)))
        self._runs: dict[Any, Run | None] = {}
        self._told: list[Run | None] = []  # by which what moves is judged
        self.is_spent = False  # no more runs are made
        self.base = self._run([], 0)
        self.refused: list[tuple[Number, str]] = []
        self.sizes: list[Size] = []
        self.fixed: list[Number] = []  # compile-time values of launches
        if self.base is not None and not self.base.stops:
            self._find_sizes()
        self.factors = {s.numbers[0].value for s in self.sizes
                        if hostnumbers.divides(tree)}

    def _run(self, numbers: list[Number], value: int) -> Run | None:
        """The script with some numbers changed; None: it has not ended, or is
        one run too many."""
        key = tuple(n.span for n in numbers), value
        if key not in self._runs:
            self.is_spent = len(self._runs) >= MOST_RUNS
            if self.is_spent:
                return None
            self._runs[key] = self.run(
                hostnumbers.with_values(self._script.text, numbers, value),
                what=(numbers[0], Size(numbers).says(value)) if numbers else
                None)
        return self._runs[key]

    def with_number(self, number: Number, value: int) -> Run | None:
        """What the script does with another number, which is no size."""
        return self._run([number], value)

    def run(self, text: bytes, values: bool = False,
            what: tuple[Number, str] | None = None) -> Run | None:
        """What a text in the place of the script's does; None: it has not
        ended.  what: is another one in it, and where."""
        kept = self._kept
        said = self._script.watched(text, Seen(
            self._session, self._script.path, values,
            kept.keep if kept else None).watch)
        run = None if said is None else Run.made(said)
        if kept is not None and run is not None:
            kept.take(run, what)
        return run

    def _find_sizes(self):
        named = self._numbers.named[:MOST_NUMBERS]
        plain = self._numbers.plain[:MOST_NUMBERS]
        for value in dict.fromkeys(n.value for n in (*named, *plain)):
            self._find(value, [n for n in named if n.value == value],
                       [n for n in plain if n.value == value])
        for left in (self._numbers.named, self._numbers.plain):
            self.refused += [(n, f"these are the first {MOST_NUMBERS} numbers")
                             for n in left[MOST_NUMBERS:]]

    def _find(self, value, named, plain):
        """The sizes of one value."""
        elsewhere = self._numbers.others.get(value)
        axes = [self._axes([n]) for n in named]
        self.fixed += [n for n, a in zip(named, axes) if a is None]
        if not plain:
            pairs = [(n, a) for n, a in zip(named, axes) if a]
            if pairs and elsewhere:
                self._refuse([n for n, _ in pairs], elsewhere)
            elif _are_apart([a for _, a in pairs]):
                self._take(*[[n] for n, _ in pairs])
            elif pairs:
                self._take([n for n, _ in pairs])
            return
        alike = [n for n, a in zip(named, axes) if a is not None] + plain
        if not self._axes(alike):
            return
        if elsewhere:
            self._refuse(alike, elsewhere)
            return
        self._take(alike)
        if len(alike) > 1 and len({n.call for n in alike}) == 1 and (
                not any(n.name for n in alike)):
            self._take(*[[n] for n in alike if self._axes([n])])

    def _refuse(self, numbers, line):
        value = numbers[0].value
        self.refused += [(n, f"{value} also stands in line {line}")
                         for n in numbers]

    def _take(self, *sizes):
        self.sizes += map(Size, sizes)

    def _axes(self, numbers):
        """{(launch, tensor): the axes that change} with numbers; None: they
        are a compile-time value, whatever depends on it."""
        found: dict[Any, set[int]] = {}
        value = numbers[0].value
        for other in (value + 1, 2 * value):  # one of which may be refused
            run = self._run(numbers, other)
            if numbers[0].name and len(numbers) == 1:
                self._told.append(run)
            for i, (old, new) in enumerate(self.pairs(run)):
                for name, was in old.given.items():
                    now = new.given.get(name)
                    if name in old.fixed and [was, now] == [value, other]:
                        return None
                    if isinstance(was, list) and isinstance(
                            now, list) and len(was) == len(now):
                        axes = {a for a, pair in enumerate(zip(was, now))
                                if pair[0] != pair[1]}
                        if axes:
                            found.setdefault((i, name), set()).update(axes)
            if found:
                break
        return found

    def pairs(self, run: Run | None) -> Iterator[tuple[Launch, Launch]]:
        """Launches of the script beside those of another run of it."""
        assert self.base is not None
        for old, new in zip(self.base.launches, run.launches if run else ()):
            if old.kernel != new.kernel:
                return
            yield old, new

    # ---- what came of it -------------------------------------------------

    def values(self, size: Size) -> list[int]:
        """Other values of a size, in the order in which they are tried."""
        assert self.base is not None
        value = size.numbers[0].value
        blocks = {v for launch in self.base.launches
                  for name, v in launch.given.items() if isinstance(v, int) and
                  name in launch.fixed and
                  LEAST_BLOCK <= v <= MOST_TIMES * value // 2}
        empty = [0] if self._kept is not None else []
        found = [value + 1, value - 1, 2 * value + 1, 1, *empty]
        for block in sorted(blocks):
            found += [block + 1, block - 1, block]
        found.append(next(n for n in itertools.count(value + 2)
                          if _is_prime(n)))
        return [v for v in dict.fromkeys(found)
                if (v >= 1 or v in empty) and v != value][:self._each]

    def all(self) -> Iterator[tuple[Size, int, Run | None]]:
        """Each size with each value, and what came of it, as far as runs are
        made: the first value of all sizes, then the second one."""
        every = [[(size, value) for value in self.values(size)]
                 for size in self.sizes]
        made: dict[Any, Run | None] = {}
        for turn in itertools.zip_longest(*every):
            for each in filter(None, turn):
                run = self._run(each[0].numbers, each[1])
                if not self.is_spent:
                    made[each[0].numbers[0], len(each[0].numbers),
                         each[1]] = run
        for size, value in itertools.chain(*every):
            key = size.numbers[0], len(size.numbers), value
            if key in made:
                self._told.append(made[key])
                yield size, value, made[key]

    def moving(self) -> set[Any]:
        """(number of a launch, argument or axis of its grid) that is another
        one with some size."""
        changed: set[Any] = set()
        for run in self._told:
            for i, (old, new) in enumerate(self.pairs(run)):
                changed |= {(i, name) for name, was in old.given.items()
                            if new.given.get(name) != was}
                changed |= {(i, axis) for axis, was in enumerate(old.grid)
                            if new.grid[axis] != was}
        return changed


def _are_apart(every):
    """Whether equal numbers are sizes of one tensor along different axes, each
    with each other one: then they are different things."""
    return all(any(key in b and not a[key] & b[key] for key in a)
               for a, b in itertools.combinations(every, 2))


def _is_prime(n):
    return n > 1 and all(n % d for d in range(2, int(n ** 0.5) + 1))


# ---- what is said -----------------------------------------------------------


def each(given: str) -> int:
    """How many other values of a size --sizes asks for; raises UsageError."""
    if given == "all":
        return EACH
    if not (given.isdecimal() and given.isascii() and 0 < len(given) < 7 and
            int(given)):
        raise errors.UsageError("tkdbg: --sizes takes a number from 1 to "
                                f"999999, not '{given}'")
    return int(given)


def tell(session: Session, script: Script | None) -> list[str]:
    """Tries other sizes of a script that has ended well, and says what came of
    each; returns why none can be tried, which is empty or a line."""
    if script is None:
        return ["--sizes: only a script in a file can run again, and one that "
                "neither reads nor writes files nor imports modules of its own"]
    said = sizesaid.Said(session, script.path)
    why = try_all(session, script, each(session.options.sizes), said)
    if said.wrong:
        session.script.fail_elsewhere()
    return why or said.write()


def try_all(session: Session, script: Script, most: int,
            said: sizesaid.Said,
            shown: Callable[[Number], Number] = lambda n: n) -> list[str]:
    """Tries at most so many values of each size, and as many strides of each
    tensor; returns why none can be tried.  shown: a number as it is told of,
    if its place is another one."""
    tries = Tries(session, script, most, shown)
    if tries.base is None or tries.base.stops:
        return ["--sizes: the script does not end well a second time"]
    if not judge_all(tries, script, most, said):
        return ["--sizes: no number that can be changed, such as n = 1000, is "
                "a size of a tensor of a launch"]
    return []


def judge_all(tries: Tries, script: Script, most: int,
              said: sizesaid.Said) -> bool:
    """Says what came of each size and each other layout of a script that has
    ended well; whether any was tried."""
    assert tries.base is not None
    for number, why in tries.refused:
        said.note(number, f"{number.value} is not changed: {why}"
                  if not number.name else f"{number.name} = {number.value} is "
                  f"not changed: {why}")
    every = list(tries.all())
    judge = sizejudge.Judge(tries.base, tries.moving(), tries.factors)
    for size, value, run in every:
        said.add(size.numbers[0], size.says(value), *judge.of_size(
            size.numbers[0].value, value, run))
    if tries.is_spent:
        said.note(tries.sizes[0].numbers[0] if tries.sizes else
                  tries.refused[0][0], f"no more is tried: the script has run "
                  f"{MOST_RUNS} times")
    strides = otherstrides.try_all(tries.run, script, most, said)
    return bool(tries.sizes or strides)
