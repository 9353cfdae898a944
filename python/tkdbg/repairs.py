"""Which one-expression edit makes a comparison pass that failed.

The launches that led to the wrong tensor are run again from their records with
one expression of a kernel changed (edits.py), or one thing that the script
gave to a launch (hostedits.py); what they leave is handed on to the launches
that read it, and the tensor is compared with what was expected of it, as a
whole and with the script's own tolerance.  An edit that passes says where the
bug is, or what compensates for it: the report calls it by what it does, and no
more.
"""
from __future__ import annotations

import collections
import ctypes
import json
import struct
import threading
import time
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from . import _capi, arrays, hostlines, workers
from .edits import Edit, Source, edits
from .hostedits import Change, changes
from .launchlog import Log, Logged, Recording, Replay
from .watchdog import Watchdog

if TYPE_CHECKING:
    from ._capi import Tensor

SECONDS = 10.0          # of each processor that all tries take, at most
MOST_BYTES = 256 << 20  # of memory of launches that are kept
MOST_LAUNCHES = 24      # before the one that wrote what is compared
MOST_FOUND = 3          # lines that are told of
SECONDS_MORE = 5.0      # that tries go on once one has passed
LEAST_SECONDS = 0.25    # a try may take, however fast the launches are
SLOWER = 20             # ... and how much longer than they took
HALF = 0.5              # of the wrong elements are right: an edit is told of


class Wanted(NamedTuple):
    """What a parameter of a launch should hold after it; without a parameter
    the launch should run to its end, which it does not."""
    logged: Logged
    parameter: str = ""
    values: Any = None  # as arrays.values gives them, in the parameter's shape
    rtol: float = 0.0
    atol: float = 0.0


class Try(NamedTuple):
    """An edit of a kernel, or a change of the launches at a place."""
    edit: Edit | None
    change: Change | None
    logged: Logged | None  # that changes

    @property
    def place(self) -> tuple[str, int]:
        where = self.edit or self.change
        assert where is not None
        return where.file, where.line

    @property
    def said(self) -> str:
        if self.edit is None:
            assert self.change is not None
            return self.change.said
        if not self.edit.old:
            after = self.edit.new.startswith(";")
            return (f"with `{_shown(self.edit.new.strip('; '))}` "
                    f"{'after' if after else 'before'} it")
        return (f"with `{_shown(self.edit.new)}` in place of "
                f"`{_shown(self.edit.old)}`")


class Repair(NamedTuple):
    """What became of the wrong elements with an edit."""
    tried: Try
    before: int  # elements that were wrong; 0: a launch stopped
    after: int   # ... and still are
    left: int = 0  # where a launch stopped: what it leaves now, as a hash
    whole: bool = False  # the whole script has run with it, and ends well


class Outcome(NamedTuple):
    """The repairs that were found, in the order in which they were."""
    passing: list[Repair]
    partial: list[Repair]  # at least half are right then, and nothing passes
    tried: int
    all: int  # edits there were to try


class _Link:
    """A launch that had a part in it, and its memory before and after."""

    def __init__(self, lib: Any, logged: Logged, stops: bool,
                 sources: dict[str, Source],
                 functions: set[tuple[str, str]]) -> None:
        """stops: it does not run to its end; else raises RuntimeError if it
        does not."""
        self.lib = lib
        self.logged = logged
        self.recording = Recording(lib, logged)
        self.sources = sources
        self.functions = functions  # (file, name) of those that run
        self.lies: dict[str, tuple[int, int]] = {}  # by tensor: address, bytes
        with self.replay() as replay:
            for name, tensor in logged.tensors.items():
                memory = arrays.memory(tensor)
                found = replay.tensor(name)
                if memory is not None and found is not None and (
                        found.storage_bytes):
                    first = memory.data - ((found.data or 0) -
                                           (found.storage or 0))
                    self.lies[name] = (first, found.storage_bytes)
            held = self.storages(replay)
            self.before = contents(held)
            began = time.thread_time()
            if not replay.run() and not stops:
                self.recording.close()
                raise RuntimeError
            self.seconds = time.thread_time() - began
            self.after = contents(held)

    def replay(self, given: Sequence[_capi.Edit] = ()) -> Replay:
        """The launch again, with edits made."""
        return Replay(self.lib, self.logged, None, self.recording, given)

    def storages(self, replay: Replay) -> dict[str, Tensor]:
        """The tensors of a replay, before anything is exchanged."""
        found = {name: replay.tensor(name) for name in self.lies}
        return {name: _capi.Tensor.from_buffer_copy(tensor)
                for name, tensor in found.items() if tensor is not None}

    def bytes(self) -> int:
        return 2 * sum(b.size for b in self.before.values())


def contents(held: dict[str, Tensor]) -> dict[str, Any]:
    """The bytes of each storage, by the tensor that lies in it."""
    import numpy
    return {name: numpy.frombuffer(ctypes.string_at(
        t.storage or 0, t.storage_bytes), "u1") for name, t in held.items()}


class Search:
    """Tries edits of the kernels that a wrong tensor came from; used in a
    with statement."""

    def __init__(self, lib: Any, log: Log, wanted: Wanted,
                 enough: threading.Event) -> None:
        """enough: is set when no more is to be tried."""
        self.lib = lib
        self.enough = enough
        self.wanted = wanted
        self.launches = log.launches
        self.links = self._links_of(log)
        self.wrong: Any = None   # which elements were wrong

    def __enter__(self) -> Search:
        self._begin_watching()
        return self

    def _begin_watching(self):
        """Again in a process that was split off, which has but one thread."""
        self.watchdog = Watchdog(self.lib)
        self.watchdog.__enter__()

    def __exit__(self, *_: Any) -> None:
        self.watchdog.__exit__()
        for link in self.links:
            link.recording.close()

    def _links_of(self, log):
        """The launches that wrote what the last one read, the oldest first."""
        links: list[_Link] = []
        needed: list[tuple[int, int]] = []
        room = MOST_BYTES
        for logged in reversed(log.launches):
            if logged.number > self.wanted.logged.number:
                continue
            if links and not _touches(logged, needed):
                continue
            try:
                link = _Link(self.lib, logged, not links and
                             not self.wanted.parameter, *_code(logged))
            except (RuntimeError, SyntaxError, OSError, ValueError, KeyError):
                break
            room -= link.bytes()
            if len(links) >= MOST_LAUNCHES or room < 0:
                link.recording.close()
                break
            if links and not any(
                    (link.before[name] != link.after[name]).any() and
                    _meets(link.lies[name], needed) for name in link.lies):
                link.recording.close()
                continue
            links.insert(0, link)
            needed += link.lies.values()
        return links

    # ---- what is tried ----------------------------------------------------

    def run(self, likely: dict[tuple[str, int], int],
            seconds: float = SECONDS) -> Outcome | None:
        """likely: {(file, line): its rank}, lines that are tried first.  None:
        nothing can be tried."""
        if sum(link.seconds for link in self.links) > seconds / 2:
            return None  # hardly any try would come to its end
        if not self.links or self.wanted.parameter and not self._measure():
            return None
        waiting = self._tries(likely)
        outcome = workers.run(
            len(waiting), lambda i, left: self._try(waiting[i], left),
            workers.Limits(seconds, SECONDS_MORE if self.wanted.parameter
                           else None), self.enough, self._begin_watching)
        found = [Repair(waiting[i], *result)
                 for i, result in outcome.results.items()]
        passing = [repair for repair in found if not repair.after]
        return Outcome(passing, [] if passing else found, outcome.made,
                       len(waiting))

    def _measure(self):
        """Notes which elements are wrong; whether that is known."""
        link = self.links[-1]
        with link.replay() as replay:
            held = link.storages(replay).get(self.wanted.parameter)
            self.wrong = self._compare(held) if held is not None and (
                replay.run()) else None
        return self.wrong is not None and self.wrong.any()

    def _tries(self, likely: dict[tuple[str, int], int]) -> list[Try]:
        """Grids and buffers first, which are few, and edits of plain kinds;
        then all of lines that are likely, other changes of launches, other
        edits."""
        known: dict[tuple[str, str], Source] = {}
        ranked: list[tuple[tuple[int, int], Try]] = []
        for link in reversed(self.links):
            for file, name in link.functions:
                known.setdefault((file, name), link.sources[file])
            earlier = [each for each in self.launches
                       if each.number < link.logged.number]
            for order, change in enumerate(changes(link.logged, earlier)):
                far = 2 if change.is_number else -1
                ranked.append(((far, order), Try(None, change, link.logged)))
        for (_, name), source in known.items():
            rare = 0
            for order, edit in enumerate(edits(source, name)):
                near = (edit.file, edit.line) in likely
                far = edit.rank + (2 if edit.rank and not near else 0)
                if edit.rank == 2:  # on likely lines in turn with all others
                    rare += 1
                    far, order = (3, 2 * rare) if near else (4, rare)
                elif not edit.rank and not near:
                    order *= 2
                ranked.append(((far, order), Try(edit, None, None)))
        return [each for _, each in sorted(ranked, key=lambda r: r[0])]

    # ---- one try ----------------------------------------------------------

    def _try(self, tried, left):
        """A workers.Result, if it passes or makes at least half of the wrong
        elements right; left: seconds of the processor that all may take."""
        state: dict[int, tuple[Any, Any]] = {}  # by address: bytes, recorded
        edit, change = tried.edit, tried.change
        given = [] if edit is None else [_capi.Edit(
            edit.file.encode(), edit.at, len(edit.old.encode()),
            edit.new.encode())]
        for link in self.links:
            edited = edit is not None and (
                edit.file, edit.function) in link.functions
            changed = link.logged is tried.logged
            reads = any(at in state for at, _ in link.lies.values())
            if not (edited or changed or reads):
                continue
            with link.replay(given if edited else ()) as replay:
                if not replay.ok:
                    return None
                held = link.storages(replay)
                self._hand_on(link, held, state)
                if changed:
                    change.apply(replay)
                if not self._runs(replay, link, left):
                    return None
                if link is self.links[-1]:
                    return self._judged(held)
                self._take(link, held, state)
        return None

    def _runs(self, replay, link, left):
        """Runs a launch, but not for ever, nor much longer than all tries
        may take."""
        limit = max(LEAST_SECONDS, min(SLOWER * link.seconds, left))
        self.watchdog.begins(replay.ptr, limit)
        try:
            return replay.run()
        finally:
            self.watchdog.ended()

    def _hand_on(self, link, tensors, state):
        """What earlier launches leave with the edit is what this one reads,
        except where the host has written since."""
        import numpy
        for name, (at, size) in link.lies.items():
            held = state.get(at)
            if held is None or held[0].size != size:
                continue
            new, recorded = held
            now = link.before[name]
            bytes_ = numpy.where(now == recorded, new, now)
            ctypes.memmove(tensors[name].storage, bytes_.ctypes.data, size)

    def _take(self, link, tensors, state):
        for name, new in contents(tensors).items():
            at, _ = link.lies[name]
            if (new != link.after[name]).any():
                state[at] = new, link.after[name]
            else:
                state.pop(at, None)

    def _judged(self, tensors):
        import numpy
        if not self.wanted.parameter:
            left = hash(tuple(b.tobytes() for b in contents(tensors).values()))
            return workers.Result(0, 0, left)
        wrong = self._compare(tensors[self.wanted.parameter])
        if wrong is None:
            return None
        # NaN is not equal to NaN where a script compares, but it may be where
        # both were NaN before.
        wrong |= self.wrong & numpy.isnan(self.wanted.values)
        before, after = int(self.wrong.sum()), int(wrong.sum())
        if after and (after > before * HALF or (wrong & ~self.wrong).any()):
            return None
        return workers.Result(before, after)

    def _compare(self, tensor):
        """Which elements are wrong; None if that is not known.  What is not
        finite is wrong, unless the same was expected."""
        import numpy
        now = arrays.elements(self.lib, tensor)
        if now is None:
            return None
        at = arrays.places(self.lib, tensor)
        with numpy.errstate(all="ignore"):
            return ~numpy.isclose(now[at], self.wanted.values,
                                  self.wanted.rtol, self.wanted.atol,
                                  equal_nan=True)


def by_line(found: list[Repair]) -> list[Repair]:
    """One repair of each line, those of lines that have most first."""
    best: dict[tuple[str, int], Repair] = {}
    times: collections.Counter[tuple[str, int]] = collections.Counter()
    for each in sorted(found, key=lambda r: r.after):
        at = each.tried.place
        best.setdefault(at, each)
        times[at] += 1
    order = {at: i for i, at in enumerate(best)}
    ranked = sorted(best, key=lambda at: (best[at].after, -times[at],
                                          order[at]))
    return [best[at] for at in ranked]


def lines(outcome: Outcome | None,
          made_of: Mapping[tuple[str, int], str] = MappingProxyType({}),
          ) -> list[str]:
    """What is said of it; none if nothing was found.  made_of: {(file, line):
    the line of the program} of lines that a program has written."""
    if outcome is None or not (outcome.passing or outcome.partial):
        return []
    told = ["  suspects:"]
    for each in suspects(outcome, made_of):
        told.append(f"    {hostlines.shown(each['file'])}:{each['line']}: "
                    f"{each['text']}")
        if "origin" in each:
            told.append(f"      of {each['origin']}")
    if outcome.tried < outcome.all and not outcome.passing:
        told.append(f"    ({outcome.tried} of {outcome.all} edits were tried)")
    return told


def suspects(outcome: Outcome | None,
             made_of: Mapping[tuple[str, int], str],
             ) -> list[dict[str, Any]]:
    """The same as data: file, line, text, and origin where it is known."""
    if outcome is None:
        return []
    found = by_line(outcome.passing) or by_line(outcome.partial)
    return [{"file": repair.tried.place[0], "line": repair.tried.place[1],
             "text": f"{repair.tried.said} {_does(repair)}",
             **({"origin": made_of[repair.tried.place]}
                if repair.tried.place in made_of else {})}
            for repair in found[:MOST_FOUND]]


def _does(repair):
    right = repair.before - repair.after
    return (_passes(repair) if not repair.after else
            f"{right} of {repair.before} wrong elements are right")


def _passes(repair):
    return ("the comparison passes" if repair.before else
            "the script ends well" if repair.whole else
            "the launch does not stop")


def _shown(code):
    """Source on one line."""
    return " ".join(code.split())


def _touches(logged, needed):
    return any(_meets((m.storage, m.nbytes), needed)
               for m in map(arrays.memory, logged.tensors.values())
               if m is not None)


def _meets(lies, needed):
    at, size = lies
    return any(at < b + n and b < at + size for b, n in needed)


def _code(logged: Logged) -> tuple[dict[str, Source], set[tuple[str, str]]]:
    """({file: its source}, {(file, function)}) of the functions that a
    recorded launch runs."""
    with open(logged.path, "rb") as f:
        size, = struct.unpack("<Q", f.read(8))
        header = json.loads(f.read(size))
    meta = json.loads(header["__metadata__"]["tkdbg"])
    sources = {}
    for module in meta["modules"]:
        text = module["text"]
        text = (bytes.fromhex(text["hex"]) if isinstance(text, dict) else
                text.encode())
        sources[module["name"]] = Source(module["name"], text)
    functions = set()
    for function in meta["functions"]:
        source = sources[meta["modules"][function["module"]]["name"]]
        if function["name"] in source.functions:
            functions |= {(source.file, name)
                          for name in source.reached(function["name"])}
    return sources, functions
