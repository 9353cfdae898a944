"""What is said of a comparison that failed.

Which of the two arrays a kernel wrote is found by its memory, or by its
values where the script compares a copy.  The launch that wrote it is run
again under the detectors, with what was expected of its tensor; the library
then says what is wrong with it (tk_launch_expect).  Where that says nothing,
what can be said of the two arrays themselves is.
"""
from __future__ import annotations

import os
import shlex

from . import arrays, origins, whypage
from ._capi import text
from .comparisons import UNKNOWN, USUAL
from .launchlog import Replay

MOST_LINES = 25
MOST_FINDINGS = 2
CLUES = ("unread-input", "order-note")  # notes; other notes are about speed
MOST_EARLIER = 7  # lines about an earlier launch
SOURCE_LINES = 10
PRINTED = 1e-2  # how far apart two are that a script only printed
MEMORY_READ = (1, 2)  # tk_step_memory
STEP_READS = 9  # tk_step_kind


class Answer:
    """Lines about a comparison; command: the script and its arguments."""

    def __init__(self, lib, log, asked, command, drawn=False):
        self.lib = lib
        self.drawn = drawn
        self.log = log
        self.asked = asked  # if not, findings have been shown already
        self.command = command
        self.stop = None  # options of a debugger that stops at the store
        self.maps = []  # whypage.Maps, if the difference was to be drawn

    def lines(self, candidates):
        """The lines about the first Comparison of which something is known;
        none if there is no such Comparison."""
        pairs = [c for c in candidates if c.expected is not None]
        for ask in (self._blamed, self._reduced, self._shapes, self._agrees):
            for seen in pairs:
                lines = ask(seen)
                if lines:
                    return lines
        for seen in candidates:
            lines = self._alone(seen)
            if not lines and not self.log.left_out:  # else it may have written
                lines = self._by_host(seen)
            if lines:
                return lines
        return []

    def detected(self):
        """What the detectors find in the first launch of each kernel; none if
        they find nothing."""
        first = {each.kernel: each for each in reversed(self.log.launches)}
        lines = []
        for logged in reversed(first.values()):
            with Replay(self.lib, logged, "all") as replay:
                replay.run()
                told = [_finding(f) for f in replay.findings()
                        if f["severity"] != "note"][:MOST_FINDINGS]
            if told:
                lines += [f"  launch {logged.number}, {logged.kernel}:", *told]
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
                    for origin in find(self.lib, self.log,
                                       expected if found is UNKNOWN else found):
                        lines = self._explained(origin, found, expected, seen,
                                                written)
                        if lines:
                            return lines
        return []

    def _explained(self, origin, found, expected, seen, written):
        """The lines about one launch; none if it is not to blame, or if
        `written` says that programs wrote the tensor and they did not."""
        wanted = origin.expected(expected)
        if wanted is None:
            return []
        for tolerance in dict.fromkeys(((seen.rtol, seen.atol),
                                        (USUAL, USUAL))):
            lines = self._compared(origin, wanted, tolerance, seen.name,
                                   written)
            if lines:
                if found is not UNKNOWN and origin.has_changed(found):
                    lines[1:1] = [f"  {self._later(origin.logged)} changed "
                                  f"{origin.parameter} since; this is what "
                                  "the launch left"]
                return lines
        return []

    def _later(self, logged):
        """What may have written to the tensors of a launch after it."""
        if self.log.last_left_out <= logged.number:
            return "the host has"
        return (f"the host or launch {self.log.last_left_out}, which was not "
                "recorded, has")

    def _compared(self, origin, wanted, tolerance, name, written):
        logged = origin.logged
        with Replay(self.lib, logged, "all" if self.asked else None) as replay:
            origins.expect(replay, origin.parameter, wanted, *tolerance)
            replay.run()
            difference = replay.difference()
            if difference is None or written and not difference.programs:
                return []
            told = [_finding(f) for f in _clues(replay.findings())]
            self.stop = _stop(logged, difference)
            offer = _offered(self.stop, self.command)
            earlier = self._earlier(logged, difference)
            if self.drawn:
                self.maps = whypage.maps(difference, origin.parameter)
            room = MOST_LINES - 2 - len(told) - len(offer)
            if earlier:
                room -= MOST_EARLIER
            lines = replay.difference_lines(SOURCE_LINES)
            lines = replay.difference_lines(
                max(4, SOURCE_LINES - max(0, len(lines) - room)))
        body = [_head(name, origin), *lines, *told, *earlier]
        return [*body[:MOST_LINES - 1 - len(offer)], *offer]

    def _earlier(self, logged, difference):
        """What was read from memory that an earlier launch wrote, and how it
        came to be; none if nothing was."""
        if not difference.explanation:
            return []
        steps = difference.explanation.contents
        for step in steps.steps[:steps.nsteps]:
            if not step.has_element or not (step.kind == STEP_READS or
                                            step.memory in MEMORY_READ):
                continue
            name = text(step.element.tensor)
            index = step.element.index[:max(0, step.element.rank)]
            lines = self._written(logged, name, index)
            if lines:
                return lines
        return []

    def _written(self, logged, name, index):
        lies = arrays.memory(logged.tensors.get(name))
        if lies is None:
            return []
        at = lies.data + lies.itemsize * sum(
            i * s for i, s in zip(index, lies.strides))
        for before in reversed(self.log.launches):
            if before.number >= logged.number:
                continue
            for parameter, tensor in before.tensors.items():
                element = _element_at(tensor, at)
                if element is None:
                    continue
                steps = self._came_from(before, parameter, element,
                                        MOST_EARLIER - 1)
                if steps:
                    place = (f"[{','.join(map(str, element))}]" if element
                             else "")
                    return [f"  {parameter}{place} was written by launch "
                            f"{before.number}, {before.kernel}, from", *steps]
        return []

    def _came_from(self, logged, parameter, index, most):
        """The lines of source that an element came from in a launch; none if
        it did not write it."""
        asked = parameter + (f"[{','.join(map(str, index))}]" if index else "")
        with Replay(self.lib, logged) as replay:
            why = replay.explanation() if replay.run(asked) else None
            return (replay.source_lines(why, most)
                    if why is not None and why.blame.times else [])

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
                steps = self._came_from(logged, name, index, SOURCE_LINES)
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
                        *steps]
        return []

    def _shapes(self, seen):
        """... that cannot be equal, because their shapes differ."""
        for found, expected in _sides(seen):
            shapes = [getattr(side, "shape", None) for side in
                      (found, expected)]
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
        origin = self._origin(seen.found) if seen.expected is None else None
        if origin is None:
            return []
        held = origin.after[origin.own]
        odd = numpy.argwhere(~numpy.isfinite(held) & numpy.isin(
            origin.own, origin.places))
        index = odd[0].tolist() if len(odd) else [0] * held.ndim
        steps = self._came_from(origin.logged, origin.parameter, index,
                                SOURCE_LINES)
        return steps and [
            _head(seen.name, origin),
            *([f"  {_are(len(odd), held.size)} not finite"]
              if len(odd) else []),
            f"  the lines that {_element(origin.parameter, index)} came from:",
            *steps]

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
                steps = self._came_from(logged, name, index, SOURCE_LINES)
                if steps:
                    return [
                        f"tkdbg: {seen.name} compared arrays that the host "
                        "computed: compare what a kernel stores itself",
                        f"  {_element(name, index)} of launch {logged.number}, "
                        f"{logged.kernel}, which they may be made of, came "
                        "from", *steps]
        return []


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


def differs(seen):
    """Whether two arrays differ by more than rounding may."""
    import numpy
    got, wanted = map(arrays.values, (seen.found, seen.expected))
    return (got is not None and wanted is not None and
            got.shape == wanted.shape and not numpy.allclose(
                got, wanted, PRINTED, PRINTED, equal_nan=True))


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


def _stop(logged, difference):
    """The options of a debugger that stops at the store of the first wrong
    element, or of the nearest that was stored; None: there is none."""
    why = difference.explanation
    if not why or not why.contents.blame.nwrites:
        return None
    store = why.contents.blame.writes[0]
    place = f"{os.path.basename(text(store.place.file))}:{store.place.line}"
    return {"kernel": logged.kernel, "launch": logged.nth,
            "pids": ",".join(map(str, store.program)), "breakpoints": [place]}


def _offered(stop, command):
    """The line that says how to get there."""
    if stop is None:
        return []
    nth = f"--launch {stop['launch']} " if stop["launch"] > 1 else ""
    return [f"  to stop there: tkdbg debug --kernel {stop['kernel']} {nth}"
            f"--pid {stop['pids']} -b {stop['breakpoints'][0]} "
            f"{shlex.join(command)}"]
