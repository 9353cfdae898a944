"""From a comparison that failed to the line that made the wrong value.

Which of the two arrays a kernel wrote is found by its memory, or by its
values where the script compares a copy.  The launch that wrote it is run
again under the detectors, with what was expected of its tensor; the library
then says what is wrong with it (tk_launch_expect).
"""
from __future__ import annotations

import json
import os
import shlex
import sys

from . import arrays, asserted, errors, findings, origins
from ._capi import text
from .comparisons import UNKNOWN, USUAL
from .launchlog import Log, Replay

MOST_LINES = 25
MOST_BYTES = 1 << 30  # of recorded launches
MOST_BYTES_CHECKED = 1 << 28  # ... that nobody has asked for
MOST_FINDINGS = 2
MOST_EARLIER = 7  # lines about an earlier launch
SOURCE_LINES = 10
MEMORY_READ = (1, 2)  # tk_step_memory
STEP_READS = 9  # tk_step_kind


class Why:
    """What ``tkdbg why`` does around a script, and ``run --check``, which
    says nothing unless the script fails by a comparison."""

    def __init__(self, session, comparisons):
        self.session = session
        self.comparisons = comparisons
        self.asked = session.options.why
        self.offer = None  # options of a debugger that stops at the store
        self.log = session.log = Log(session, MOST_BYTES if self.asked else
                                     MOST_BYTES_CHECKED)

    def tell(self, error, stream, command):
        """Says why the comparison failed that error came from, if there is
        an error, or else the last one.  command: the script and its
        arguments."""
        self.session.log = None
        failed = error is not None
        # pytest keeps the one that it has caught there
        error = getattr(sys, "last_value", None) or error
        seen = self.comparisons.last
        if seen is None and error is not None:
            seen = asserted.comparison(error)
        try:
            # a KernelError says why itself
            if not isinstance(error, errors.KernelError) and (
                    self.asked or failed):
                self._tell(self._lines(seen, command), stream)
        finally:
            self.log.close()
        if self.asked and self.offer and _is_answered(stream, sys.stdin):
            _debug(self.offer, command)

    def _tell(self, lines, stream):
        if self.session.options.json and lines:
            findings.tell([dict(findings.entry("why", lines[0], lines[1:]),
                                severity="note")])
            return
        stream.write("".join(f"{line}\n" for line in lines))

    def _lines(self, seen, command):
        """What there is to say; nothing, if nobody asked for it and no
        launch is to blame."""
        if seen is None:
            problem = "tkdbg: no comparison of arrays has failed"
        elif not self.log.launches:
            problem = "tkdbg: no kernel was launched before the comparison"
        else:
            lines = self._blamed(seen, command)
            if lines:
                return lines
            problem = (f"tkdbg: {seen.name} compared arrays that no kernel "
                       "has as arguments: compare what a kernel stores itself")
        return [problem] if self.asked else []

    def _blamed(self, seen, command):
        """The lines about the launch that wrote one of the two arrays; none
        if there is none."""
        sides = (seen.found, seen.expected), (seen.expected, seen.found)
        for find in origins.by_memory, origins.by_values, origins.by_shape:
            for written in (True, False):  # else no launch has written it
                for found, expected in sides:
                    if (find is origins.by_shape) != (found is UNKNOWN):
                        continue
                    for origin in find(self.session.lib, self.log,
                                       expected if found is UNKNOWN else found):
                        lines = self._explained(origin, expected, seen,
                                                command, written)
                        if lines:
                            return lines
        return self._reduced(*sides[0], seen) or self._reduced(*sides[1], seen)

    def _reduced(self, found, expected, seen):
        """The lines about what a sum or the like was made of: where the first
        of its elements came from."""
        import numpy
        got, wanted = arrays.values(found), arrays.values(expected)
        if got is None or wanted is None or got.size != wanted.size:
            return []
        wrong = numpy.argwhere(~numpy.isclose(
            got, wanted.reshape(got.shape), max(seen.rtol, 0),
            max(seen.atol, 0)))
        for logged, name, made, axis in origins.reductions(
                self.session.lib, self.log, found) if len(wrong) else ():
            at = list(wrong[0])
            rank = numpy.ndim(logged.tensors[name])
            index = [0] * rank if axis is None else (
                at[:axis] + [0] + at[axis:])[:rank]
            steps = self._came_from(logged, name, index, SOURCE_LINES)
            if steps:
                return [
                    f"tkdbg: {seen.name} fails on {made} {name} of launch "
                    f"{logged.number}, {logged.kernel}",
                    f"  {len(wrong)} of {got.size} are wrong: compare {name} "
                    "itself, to be told which of its elements are",
                    "  the lines that its first element there came from:",
                    *steps]
        return []

    def _explained(self, origin, expected, seen, command, written):
        """The lines about one launch; none if it is not to blame, or if
        programs are to have written the tensor and have not."""
        wanted = origin.expected(expected)
        if wanted is None:
            return []
        for rtol, atol in dict.fromkeys(((seen.rtol, seen.atol),
                                         (USUAL, USUAL))):
            lines = self._compared(origin, wanted, (rtol, atol), seen.name,
                                   command, written)
            if lines:
                return lines
        return []

    def _compared(self, origin, wanted, tolerance, name, command, written):
        logged = origin.logged
        check = "all" if self.asked else None  # else they are shown already
        with Replay(self.session.lib, logged, check) as replay:
            origins.expect(replay, origin.parameter, wanted, *tolerance)
            replay.run()
            difference = replay.difference()
            if difference is None or written and not difference.programs:
                return []
            told = [_finding(f) for f in replay.findings()
                    if f["severity"] != "note"][:MOST_FINDINGS]
            self.offer = _stop(logged, difference)
            offer = _offered(self.offer, command)
            earlier = self._earlier(logged, difference)
            room = MOST_LINES - 1 - len(told) - len(offer)
            if earlier:
                room -= MOST_EARLIER
            lines = replay.difference_lines(SOURCE_LINES)
            lines = replay.difference_lines(
                max(4, SOURCE_LINES - max(0, len(lines) - room)))
        head = (f"tkdbg: {name} fails on {origin.parameter} of launch "
                f"{logged.number}, {logged.kernel}")
        body = [head, *lines, *told, *earlier]
        return [*body[:MOST_LINES - len(offer)], *offer]

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
        with Replay(self.session.lib, logged) as replay:
            why = replay.explanation() if replay.run(asked) else None
            return (replay.source_lines(why, most)
                    if why is not None and why.blame.times else [])


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


def _is_answered(stream, answers):
    """Asks on a terminal whether to go there, and waits for the answer."""
    try:
        if not (stream.isatty() and answers.isatty()):
            return False
        stream.write("  debug it there? [y/N] ")
        stream.flush()
        return answers.readline().strip().lower() in ("y", "yes")
    except (AttributeError, ValueError, KeyboardInterrupt):
        return False


def _debug(stop, command):
    """This process becomes the script under the debugger."""
    chosen = json.loads(os.environ.get("TKDBG_OPTIONS") or "{}")
    chosen.pop("why", None)
    os.environ.pop("TKDBG", None)
    os.environ["TKDBG_OPTIONS"] = json.dumps({**chosen, **stop})
    os.execv(sys.executable, [sys.executable, "-m", "tkdbg", "run", *command])


def hint(error, session, command):
    """What a run whose script failed says at its end, or ""."""
    if not session.totals["launches"] or not (
            isinstance(error, (AssertionError, SystemExit)) or
            error is not None and asserted.comparison(error)):
        return ""
    return (f"tkdbg: 'tkdbg why {shlex.join(command)}' says which elements "
            "are wrong, and which lines of the kernel made them\n")
