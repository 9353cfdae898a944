"""What is said of a comparison that failed.

Which of the two arrays a kernel wrote is found by its memory, or by its
values where the script compares a copy.  The launch that wrote it is run
again under the detectors, with what was expected of its tensor; the library
then says what is wrong with it (tk_launch_expect).  Where that says nothing,
what can be said of the two arrays themselves is.
"""
from __future__ import annotations

import collections
import contextlib
import itertools
import os
import shlex
import threading
from typing import Any, Callable, NamedTuple

from . import (arrays, fused, hostlines, interrupt, origins, repairs, reruns,
               untouched, whypage, wholes)
from ._capi import text
from .comparisons import UNKNOWN, USUAL, Comparison
from .launchlog import Log, Replay

MOST_LINES = 25
MOST_ALONE = 60  # ... where no suspect makes the comparison pass
MOST_FINDINGS = 2
CLUES = ("unread-input", "order-note")  # notes; other notes are about speed
MOST_EARLIER = 3  # earlier launches that are shown
MOST_ELEMENTS = 2  # of a tensor whose writer is looked for
SOURCE_LINES = 18  # of a launch, at most
SOURCE_ALONE = 14  # ... where no more is known of what is wrong
LEAST_LINES = 4
LEAST_EARLIER = 3
MOST_HOST, LEAST_HOST = 6, 3  # of the script, where it made the launch
STOP_SECONDS = 6.0  # that a launch which stops is tried for
PRINTED = 1e-2  # how far apart two are that a script only printed
MEMORY_READ = (1, 2)  # tk_step_memory
STEP_READS = 9  # tk_step_kind


class Answer:
    """Lines about a comparison; command: the script and its arguments, None
    where a debugger has no script to run."""

    def __init__(self, lib: Any, log: Log, asked: bool,
                 command: list[str] | None,
                 drawn: bool = False, tries: bool = True,
                 script: reruns.Script | None = None,
                 end: interrupt.Ending | None = None) -> None:
        """script: the same, if it may run again; end: what Ctrl-C does while
        changes are tried."""
        self.lib = lib
        self.drawn = drawn
        self.log = log
        self.asked = asked  # if not, findings have been shown already
        self.tries = asked and tries  # changes of kernels
        self.command = command
        self.script = script
        self.end = end
        self.enough = threading.Event()  # has been tried
        # options of a debugger that stops at the store
        self.stop: dict[str, Any] | None = None
        self.apart: list[str] = []  # about kernels that are not to blame
        # what a page shows: the suspects, and what is wrong, if it was to be
        # drawn
        self.suspects: list[dict[str, Any]] = []
        self.scene: whypage.Scene | None = None

    def lines(self, candidates: list[Comparison]) -> list[str]:
        """The lines about the first Comparison of which something is known;
        none if there is no such Comparison."""
        pairs = [c for c in candidates if c.expected is not None]
        lines = self.compiled(candidates[0].name) if pairs else []
        if lines:
            return lines
        for ask in (self._untouched, self._blamed, self._reduced, self._shapes,
                    self._agrees):
            for seen in pairs:
                lines = ask(seen)
                if lines:
                    return [*lines, *self.apart]
        for seen in candidates:
            lines = self._alone(seen)
            if not lines and not self.log.left_out:  # else it may have written
                lines = self._by_host(seen)
            if lines:
                return [*lines, *self.apart]
        return []

    def detected(self) -> list[str]:
        """What the detectors find in the first launch of each kernel, the
        lines of its sources included; none if they find nothing."""
        first = {each.kernel: each for each in reversed(self.log.launches)}
        lines = []
        for logged in reversed(first.values()):
            with Replay(self.lib, logged, "all") as replay:
                replay.run()
                told = [_finding(f) for f in replay.findings()
                        if f["severity"] != "note"][:MOST_FINDINGS]
            if told:
                lines += [f"  launch {logged.number}, {logged.kernel}:", *told,
                          *_host(logged, None, MOST_HOST)]
        return lines[:MOST_LINES - 1]

    # ---- the launch that wrote what is wrong ------------------------------

    def _blamed(self, seen):
        """The lines about the launch that wrote one of the two arrays; none
        if there is none."""
        for find in origins.by_memory, origins.by_values, origins.by_shape:
            for written in (True, False):  # False: no launch has written it
                for found, expected in _sides(seen):
                    if (find is origins.by_shape) != (found is UNKNOWN) or (
                            _is_equal(found, expected)):
                        continue
                    if found is UNKNOWN and self._is_written(expected):
                        continue  # the side that is not known is expected
                    if find is origins.by_values and untouched.is_of_host(
                            self.log, found):
                        continue  # it is no copy, and merely agrees
                    for origin in find(self.lib, self.log,
                                       expected if found is UNKNOWN else found):
                        lines = self._explained(origin, found, expected, seen,
                                                written)
                        if lines:
                            return lines
        return []

    def compiled(self, failed: str | None) -> list[str]:
        """The lines about the first kernel of PyTorch's compiler that does not
        compute what PyTorch's own operators do; none if there is none.
        failed: the comparison that did, if one did."""
        if not any(each.model for each in self.log.launches):
            return []
        result = fused.first(self.lib, self.log)
        off = result.off
        if off is None:
            self.apart = _as_eager(result)
            return []
        logged, model = off.logged, off.logged.model
        head = [f"tkdbg: {failed} fails; of" if failed else "tkdbg: of",
                "the kernels that PyTorch's compiler wrote the first that does "
                "not compute what its operators do is launch "
                f"{logged.number}, {logged.kernel}"]
        head = [" ".join(head),
                f"  {off.parameter} should hold {off.node}" + (
                    "" if off.certain else ", or another node of its shape: "
                    "its file does not say which"),
                *(f"  {remark}" for remark in (model.remarks if model else ()))]
        origin = next(origins.of(self.lib, logged, off.parameter))
        return self._compared(origin, off.values, (off.rtol, off.atol), head,
                              False, None)

    def _untouched(self, seen):
        """The lines about one of the two arrays if no launch wrote it."""
        return untouched.lines(self.log, seen, lambda logged, name: _host(
            logged, name, MOST_HOST))

    def _is_written(self, array):
        """Whether an array lies in memory that a launch has changed."""
        import numpy
        for origin in origins.by_memory(self.lib, self.log, array):
            with Replay(self.lib, origin.logged) as replay:
                before = dict(origins.storages(self.lib, replay,
                                               [origin.parameter]))
            held = before.get(origin.parameter)
            if held is not None and not numpy.array_equal(
                    held[0][origin.places], origin.after[origin.places],
                    equal_nan=True):
                return True
        return False

    def _explained(self, origin, found, expected, seen, written):
        """The lines about one launch; none if it is not to blame, or if
        `written` says that programs wrote the tensor and they did not."""
        wanted = origin.expected(expected)
        if wanted is None:
            return []
        head = [_head(seen.name, origin)]
        if found is not UNKNOWN and origin.has_changed(found):
            head.append(f"  {self._later(origin.logged)} changed "
                        f"{origin.parameter} since; this is what the launch "
                        "left")
        for tolerance in dict.fromkeys(((seen.rtol, seen.atol),
                                        (USUAL, USUAL))):
            lines = self._compared(
                origin, wanted, tolerance, head, written,
                None if found is UNKNOWN else expected)
            if lines:
                return lines
        return []

    def _agreeing(self, origin, expected):
        """The line about another launch that wrote what is expected, or
        none."""
        if expected is None or not untouched.is_of_host(self.log, expected):
            return []
        at = untouched.agreeing(self.log, expected)
        if at is None or at == (origin.logged, origin.parameter):
            return []
        logged, name = at
        return [f"  launch {logged.number}, {logged.kernel}, wrote what is "
                f"expected to its {name}"]

    def _later(self, logged):
        """What may have written to the tensors of a launch after it."""
        if self.log.last_left_out <= logged.number:
            return "the host has"
        return (f"the host or launch {self.log.last_left_out}, which was not "
                "recorded, has")

    def _compared(self, origin, wanted, tolerance, head, written, expected):
        """expected: the array that the script compares with, if it is one."""
        logged = origin.logged
        with Replay(self.lib, logged, "all" if self.asked else None) as replay:
            origins.expect(replay, origin.parameter, wanted, *tolerance)
            replay.run()
            difference = replay.difference()
            if difference is None or written and not difference.programs:
                return []
            head = [*head, *self._agreeing(origin, expected)]
            why = (difference.explanation.contents if difference.explanation
                   else None)
            self.stop = _stop(logged, why)
            offer = _offered(self.stop, self.command)
            with contextlib.ExitStack() as kept:
                writers, told = self._evidence(replay, why, kept)
                suspects, passes = self._suspects(
                    logged, origin.parameter, wanted,
                    (difference.rtol, difference.atol),
                    [why] if why else [], [writer[3] for writer in writers]
                ) if self.tries else ([], True)
                most = MOST_LINES if passes else MOST_ALONE
                parts = [_Part(replay.difference_lines, most), _Part(
                    lambda most: _host(logged, origin.parameter, most),
                    MOST_HOST, LEAST_HOST), *map(self._part, writers)]
                if self.drawn:
                    self.scene = whypage.scene(logged, difference,
                                               origin.parameter)
                return _composed(head, suspects, parts, told, offer, most)

    def _suspects(self, logged, parameter, wanted, tolerance, slice_, earlier):
        """(lines about edits, whether one makes the comparison pass)"""
        lines = dict.fromkeys(
            (text(step.place.file), step.place.line)
            for why in (*slice_, *earlier) for step in why.steps[:why.nsteps]
            if step.place.line)
        ranks = {line: i for i, line in enumerate(lines)}
        made_of = {(text(step.place.file), step.place.line):
                   text(step.place.origin)
                   for why in (*slice_, *earlier)
                   for step in why.steps[:why.nsteps] if step.place.origin}
        with self._trying():
            with repairs.Search(self.lib, self.log, repairs.Wanted(
                    logged, parameter, wanted, *tolerance),
                    self.enough) as search:
                outcome = search.run(ranks)
            if outcome is not None and self.script is not None:
                whole = wholes.Wholes(self.script, self.enough)
                outcome = (whole.confirmed(outcome) if outcome.passing else
                           outcome._replace(passing=whole.host()))
        self.suspects = repairs.suspects(outcome, made_of)
        told = repairs.lines(outcome, made_of)
        return told, bool(outcome and outcome.passing)

    @contextlib.contextmanager
    def _trying(self):
        """Within it, Ctrl-C ends the tries, and what is known is told."""
        with self.end.searching(self.enough.set) if self.end else (
                contextlib.nullcontext()):
            yield

    def stopped(self) -> list[str]:
        """The lines about the last launch, which has stopped: changes with
        which it goes on and the script ends well, and where the address came
        from that it was stopped at."""
        if not self.log.launches:
            return []
        logged = self.log.launches[-1]
        told = [*self._saved(logged), *self._stopped_at(logged)]
        return told and [f"tkdbg: launch {logged.number}, {logged.kernel}, "
                         "stops", *told]

    def _stopped_at(self, logged):
        """The lines that a bad address came from, and how to get there."""
        with Replay(self.lib, logged) as replay:
            replay.run()
            found = [f for f in replay.findings() if f["severity"] == "error"]
        if not found:
            return []
        at = found[-1]
        lines = [] if "program" not in at else self._bad_address(logged, at)
        self.stop = None if "program" not in at else _stop_at(
            logged, at["program"], at["file"], at["line"])
        return [*lines, *_host(logged, None, MOST_HOST),
                *_offered(self.stop, self.command)]

    def _bad_address(self, logged, at):
        with Replay(self.lib, logged) as replay:
            replay.run(stop=at["program"])
            why = replay.explanation()
            if why is None:
                return []
            lane = f"lane {at['lane']} of " if "lane" in at else ""
            program = ", ".join(map(str, at["program"]))
            lines = [f"  the lines that the address came from, in {lane}"
                     f"program ({program}):",
                     *replay.source_lines(why, SOURCE_ALONE)]
            with contextlib.ExitStack() as kept:
                for writer in self._earlier(logged, why, kept):
                    part = self._part(writer)
                    lines += part.lines(part.least)
            return lines

    def _saved(self, logged):
        """The suspects: changes with which the script ends well."""
        if self.script is None or not self.tries:
            return []
        with self._trying():
            with repairs.Search(self.lib, self.log, repairs.Wanted(logged),
                                self.enough) as search:
                outcome = search.run({}, STOP_SECONDS)
            if outcome is None:
                return []
            whole = wholes.Wholes(self.script, self.enough)
            outcome = whole.stopped(outcome)
            if not outcome.passing:
                outcome = outcome._replace(passing=whole.host())
        return repairs.lines(outcome)

    def _part(self, writer):
        """What is said of the launch that wrote what a later one read."""
        replay, parameter, index, why = writer
        logged = replay.logged
        line = f" (line {logged.site.line})" if logged.site else ""
        head = (f"  {_element(parameter, index)} was written by launch "
                f"{logged.number}, {logged.kernel}{line}, from")
        return _Part(lambda most: [head, *replay.source_lines(why, most)],
                     least=LEAST_EARLIER)

    def _clues_of(self, logged):
        """What detectors find in a launch, but for what rounding does."""
        with Replay(self.lib, logged, "all") as replay:
            replay.run()
            return [_finding(f) for f in _clues(replay.findings())
                    if f["kind"] != "order-note"]

    def _evidence(self, replay, why, kept):
        """(what _earlier() has, the lines about what detectors find) for an
        element that a launch, which has run, wrote as an explanation tells."""
        told = [_finding(f) for f in _clues(replay.findings())]
        writers = self._earlier(replay.logged, why, kept)
        for writer in writers if self.asked else ():
            told += self._clues_of(writer[0].logged)
        for logged, each in ((replay.logged, why), *(
                (writer[0].logged, writer[3]) for writer in writers)):
            told += self._never_written(logged, each, kept)
        return writers, told[:MOST_FINDINGS]

    def _never_written(self, logged, why, kept):
        """A line about an element that a launch read, and that neither the
        host nor an earlier launch has written."""
        if why is None or self.log.left_out:
            return []
        for name, index in _read(why):
            at = _address_of(logged.tensors.get(name), index)
            if at is not None and self.log.session.fresh.is_left_by_host(
                    logged.tensors[name], at) and (
                    self._writer(logged, at, kept) is None):
                return [f"  {_element(name, index)} was never written, by the "
                        "host or by a launch before [undef]"]
        return []

    def _earlier(self, logged, why, kept):
        """(Replay, parameter, indices, explanation) of what was read from
        memory that earlier launches wrote, the newest first; of each kernel
        one.  kept: where the Replays are closed."""
        if why is None:
            return []
        open_, seen = [(logged, why)], {logged.kernel}
        found: list[tuple[Any, ...]] = []
        while open_ and len(found) < MOST_EARLIER:
            reader, why = open_.pop(0)
            for name, index in _read(why):
                at = _address_of(reader.tensors.get(name), index)
                writer = None if at is None else self._writer(
                    reader, at, kept)
                if writer is not None and len(found) < MOST_EARLIER and (
                        writer[0].logged.kernel not in seen):
                    seen.add(writer[0].logged.kernel)
                    found.append(writer)
                    open_.append((writer[0].logged, writer[3]))
        return found

    def _writer(self, reader, at, kept):
        """What _earlier() has of the element at an address that a launch has
        read, or None if no launch wrote it."""
        for before in reversed(self.log.launches):
            if before.number >= reader.number:
                continue
            for parameter, tensor in before.tensors.items():
                element = _element_at(tensor, at)
                if element is None:
                    continue
                replay = Replay(self.lib, before)
                why = kept.enter_context(replay).explained(parameter, element)
                if why is not None:
                    return replay, parameter, element, why
        return None

    def _came_from(self, logged, parameter, index, most):
        """The lines of source that an element came from in a launch; none if
        it did not write it."""
        with Replay(self.lib, logged) as replay:
            why = replay.explained(parameter, index)
            return [] if why is None else replay.source_lines(why, most)

    # ---- what the two arrays tell without it ------------------------------

    def _reduced(self, seen):
        """... of a sum or the like of what a kernel wrote: where the first
        of its elements came from."""
        import numpy
        for found, expected in _sides(seen):
            wrong = _wrong(found, expected, seen)
            if wrong is None or not len(wrong):
                continue
            for logged, name, made, axis in origins.reductions(
                    self.lib, self.log, found):
                at = list(wrong[0])
                rank = numpy.ndim(logged.tensors[name])
                index = [0] * rank if axis is None else (
                    at[:axis] + [0] + at[axis:])[:rank]
                steps = self._came_from(logged, name, index, SOURCE_ALONE)
                if steps:
                    size = arrays.values(found).size
                    return [
                        f"tkdbg: {seen.name} fails on {made} {name} of launch "
                        f"{logged.number}, {logged.kernel}",
                        f"  {_are(len(wrong), size)} wrong" if size > 1 else
                        "  it is {:.7g}, expected {:.7g}".format(
                            *(arrays.values(side).flat[0]
                              for side in (found, expected))),
                        f"  compare {name} itself to see which elements of it "
                        "are wrong",
                        "  the lines that its first element there came from:",
                        *steps, *_host(logged, name, MOST_HOST)]
        return []

    def _shapes(self, seen):
        """... that cannot be equal, because their shapes differ."""
        for found, expected in _sides(seen):
            shapes: list[Any] = [getattr(side, "shape", None)
                                 for side in (found, expected)]
            if None in shapes or tuple(shapes[0]) == tuple(shapes[1]):
                continue
            origin = self._origin(found)
            if origin is not None:
                return [f"{_head(seen.name, origin)}: it is compared as an "
                        f"array of shape {tuple(shapes[0])} with one of shape "
                        f"{tuple(shapes[1])}"]
        return []

    def _agrees(self, seen):
        """... whose elements are equal, as far as tkdbg compares them."""
        import numpy
        for found, expected in _sides(seen):
            wrong = _wrong(found, expected, seen)
            origin = self._origin(found)
            if origin is None or wrong is None or len(wrong):
                continue
            nans = numpy.isnan(arrays.values(found)).any()
            return [f"{_head(seen.name, origin)}, though all of its elements "
                    "have the expected values",
                    "  both hold NaN at the same places, which only "
                    "equal_nan=True counts as equal" if nans else
                    "  do the two differ in their dtype, device or layout?"]
        return []

    def _origin(self, array):
        """Where in a launch's tensors an array or a copy of it lies."""
        if not hasattr(array, "shape"):
            return None
        for find in origins.by_memory, origins.by_values:
            for origin in find(self.lib, self.log, array):
                return origin
        return None

    def _alone(self, seen):
        """... of which nobody says what it should be: the lines of its first
        element that is not finite, or else of its first."""
        import numpy
        unknown = seen.expected is None or seen.expected is UNKNOWN
        origin = self._origin(seen.found) if unknown else None
        if origin is None:
            return []
        held = origin.after[origin.own]
        is_odd = (getattr(numpy, seen.asks)(held) if seen.asks in _ODD else
                  ~numpy.isfinite(held))
        odd = numpy.argwhere(is_odd & numpy.isin(origin.own, origin.places))
        index = odd[0].tolist() if len(odd) else [0] * held.ndim
        head = [_head(seen.name, origin)]
        if len(odd):
            head.append(f"  {_are(len(odd), held.size)} "
                        + _ODD.get(seen.asks, "not finite"))
        return self._followed(origin, index, head)

    def _followed(self, origin, index, head):
        """The lines about where one element of a launch's tensor came from;
        none if the launch did not write it."""
        logged = origin.logged
        with Replay(self.lib, logged, "all" if self.asked else None) as replay:
            why = replay.explained(origin.parameter, index)
            if why is None:
                return []
            self.stop = _stop(logged, why)
            offer = _offered(self.stop, self.command)
            head = [*head, f"  the lines that "
                    f"{_element(origin.parameter, index)} came from:"]
            with contextlib.ExitStack() as kept:
                writers, told = self._evidence(replay, why, kept)
                parts = [_Part(lambda most: replay.source_lines(why, most),
                               SOURCE_ALONE),
                         _Part(lambda most: _host(logged, origin.parameter,
                                                  most),
                               MOST_HOST, LEAST_HOST),
                         *map(self._part, writers)]
                return _composed(head, [], parts, told, offer, MOST_LINES)

    def _by_host(self, seen):
        """... which the host computed: the lines of what a kernel wrote in
        the same shape, or else in any."""
        wrong = _wrong(seen.found, seen.expected, seen)
        shape = getattr(seen.found, "shape", None)
        for same in (True, False):
            for logged, name, of in origins.written(self.lib, self.log):
                if same != (shape is not None and tuple(shape) == of):
                    continue
                index = (wrong[0].tolist() if same and wrong is not None and
                         len(wrong) else [0] * len(of))
                steps = self._came_from(logged, name, index, SOURCE_ALONE)
                if steps:
                    return [
                        f"tkdbg: {seen.name} compared arrays that the host "
                        "computed: compare what a kernel stores itself",
                        f"  {_element(name, index)} of launch {logged.number}, "
                        f"{logged.kernel}, which they may be made of, came "
                        "from", *steps, *_host(logged, name, MOST_HOST)]
        return []


def _as_eager(result):
    """The lines about kernels of PyTorch's compiler where none is off."""
    if not result.same:
        return ["  the kernels that PyTorch's compiler wrote could not be "
                "compared with its operators"] if result.unknown else []
    more = (f"; {result.unknown} could not be compared" if result.unknown
            else "")
    one = result.same == 1
    lines = [f"  {result.same} launch{'' if one else 'es'} of kernels that "
             f"PyTorch's compiler wrote compute{'s' if one else ''} what its "
             f"operators do for what {'it reads' if one else 'they read'}"
             f"{more}"]
    rounded = result.rounded
    if rounded is not None:
        lines.append(
            f"  of {rounded.wanted.node}, which launch "
            f"{rounded.wanted.logged.number} computes, the kernel is within "
            f"{rounded.kernel:.2g} of float64, and eager PyTorch within "
            f"{rounded.eager:.2g}" + (
                f": eager rounds to {rounded.wanted.dtype} after each "
                "operator, the compiler does not"
                if rounded.wanted.dtype in ("float16", "bfloat16") else ""))
    return lines


class _Part(NamedTuple):
    """Lines about one launch, of which some are of its source."""
    lines: Callable  # those with at most so many lines of source
    most: int = SOURCE_LINES
    least: int = LEAST_LINES  # where there is no room for all


def _is_finite_step(step):
    return text(step.value.text) not in ("inf", "-inf", "nan")


def _composed(head, suspects, parts, told, offer, most):
    """The lines of an answer, at most so many.  parts: about the launch, the
    host, and earlier launches; told: what detectors find."""
    main, host, *earlier = _fitting(
        parts, most - len(head) - len(told) - len(offer))
    body = [*head, *suspects, *main, *told, *host,
            *itertools.chain.from_iterable(earlier)]
    return [*body[:most - len(offer)], *offer]


def _fitting(parts, room):
    """The lines of parts, cut so that there is room for all."""
    most = [part.most for part in parts]
    told = [part.lines(n) for part, n in zip(parts, most)]
    while sum(map(len, told)) > room:
        can = [i for i, part in enumerate(parts) if most[i] > part.least]
        if not can:
            break
        longest = max(can, key=lambda i: (len(told[i]), i))
        most[longest] = min(most[longest], len(told[longest])) - 1
        told[longest] = parts[longest].lines(most[longest])
    return told


def _host(logged, wrong, most):
    """The lines of the script that made a launch; wrong: the name of the
    tensor that is wrong."""
    at = logged.site
    found = at and hostlines.lines(at, logged.kernel, logged.values, wrong,
                                   most)
    if not found:
        return []
    return [f"  launched with grid {logged.grid} by these lines of "
            f"{hostlines.shown(at.file)}:", *found]


def _read(why):
    """(tensor, indices) of the elements that a value was made of, a few of
    each tensor, first those that are not finite."""
    times: collections.Counter[str] = collections.Counter()
    for step in sorted(why.steps[:why.nsteps], key=_is_finite_step):
        if step.has_element and (step.kind == STEP_READS or
                                 step.memory in MEMORY_READ):
            name = text(step.element.tensor)
            times[name] += 1
            if times[name] <= MOST_ELEMENTS:
                yield name, step.element.index[:max(0, step.element.rank)]


# what an array may be asked for, and what the odd elements then are
_ODD = {"isnan": "NaN", "isinf": "infinite"}


def _sides(seen):
    return (seen.found, seen.expected), (seen.expected, seen.found)


def _wrong(found, expected, seen):
    """The indices of elements that differ; None where that is unknown."""
    import numpy
    got, wanted = (None if side is UNKNOWN else arrays.values(side)
                   for side in (found, expected))
    if got is None or wanted is None or got.size != wanted.size:
        return None
    return numpy.argwhere(~numpy.isclose(
        got, wanted.reshape(got.shape), max(seen.rtol, 0), max(seen.atol, 0),
        equal_nan=True))


def differs(seen: Comparison) -> bool:
    """Whether two arrays differ by more than rounding may, small elements
    beside large ones included."""
    import numpy
    got, wanted = map(arrays.values, (seen.found, seen.expected))
    if got is None or wanted is None or got.shape != wanted.shape:
        return False
    finite = numpy.abs(wanted[numpy.isfinite(wanted)])
    least = PRINTED * (finite.max() if finite.size else 1)
    return not numpy.allclose(got, wanted, PRINTED, least, equal_nan=True)


def _is_equal(found, expected):
    """Whether each element is the same; NaN is itself here."""
    import numpy
    got, wanted = (None if side is UNKNOWN else arrays.values(side)
                   for side in (found, expected))
    return got is not None and wanted is not None and numpy.array_equal(
        got, wanted, equal_nan=True)


def _head(name, origin):
    return (f"tkdbg: {name} fails on {origin.parameter} of launch "
            f"{origin.logged.number}, {origin.logged.kernel}")


def _are(n, size):
    return f"{n} of {size} elements {'is' if n == 1 else 'are'}"


def _element(name, index):
    return name + (f"[{', '.join(map(str, index))}]" if len(index) else "")


def _address_of(tensor, index):
    """Where an element of a launch's tensor lies; None: nobody knows."""
    lies = arrays.memory(tensor)
    return None if lies is None else lies.data + lies.itemsize * sum(
        i * step for i, step in zip(index, lies.strides))


def _element_at(tensor, address):
    """The indices of the element at an address, or None."""
    lies = arrays.memory(tensor)
    if lies is None or not lies.data <= address < lies.storage + lies.nbytes:
        return None
    offset, index = (address - lies.data) // lies.itemsize, {}
    for axis in sorted(range(len(lies.shape)),
                       key=lambda i: -lies.strides[i]):
        if lies.strides[axis] <= 0:
            return None
        index[axis], offset = divmod(offset, lies.strides[axis])
        if index[axis] >= lies.shape[axis]:
            return None
    return None if offset else [index[i] for i in range(len(lies.shape))]


def _clues(findings):
    """Those that can tell why a number is wrong, the gravest first."""
    notes = [f for f in findings if f["kind"] in CLUES]
    grave = [f for f in findings if f["severity"] != "note"]
    return [*grave, *notes][:MOST_FINDINGS]


def _finding(f):
    where = (f"{os.path.basename(f['file'])}:{f['line']}: " if "file" in f
             else "")
    return f"  {where}{f['severity']}: {f['message']} [{f['kind']}]"


def _stop(logged, why):
    """The options of a debugger that stops at the store that an explanation
    begins with; None: there is none."""
    if why is None or not why.blame.nwrites:
        return None
    store = why.blame.writes[0]
    return _stop_at(logged, store.program, text(store.place.file),
                    store.place.line)


def _stop_at(logged, program, file, line):
    """... at a line of a program.  A file that PyTorch's compiler writes has
    another name the next time."""
    file = "" if logged.model else f"{os.path.basename(file)}:"
    return {"kernel": logged.kernel, "launch": logged.nth,
            "pids": ",".join(map(str, program)),
            "breakpoints": [f"{file}{line}"]}


def _offered(stop, command):
    """The line that says how to get there."""
    if stop is None or command is None:
        return []
    nth = f"--launch {stop['launch']} " if stop["launch"] > 1 else ""
    return [f"  to stop there: tkdbg debug --kernel {stop['kernel']} {nth}"
            f"--pid {stop['pids']} -b {stop['breakpoints'][0]} "
            f"{shlex.join(command)}"]
