"""Suspects that the whole script is asked about.

What makes one comparison pass is told of only if the script ends well with
it, where it may run again (reruns.py); of a launch that stops, and of the
lines of the host that launch kernels, nothing else can say whether a change
helps.
"""
from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterable, Iterator

from . import repairs, workers
from .edits import Source, host_edits
from .repairs import Outcome, Repair, Try
from .reruns import Script

SECONDS = 8.0   # of the processor that all runs take, at most
MOST_ASKED = 6  # lines that are asked about of those that pass a comparison
MOST_OF_LINE = 6  # changes of one of them
ENOUGH = 3      # lines with which the script ends well


class Wholes:
    """Runs of a whole script with edits."""

    def __init__(self, script: Script, enough: threading.Event) -> None:
        """enough: is set when no more is to be tried."""
        self.script = script
        self.enough = enough
        self.ends = _seconds() + SECONDS
        self.last = time.monotonic() + workers.SLOWEST * SECONDS

    def _is_over(self):
        return (_seconds() > self.ends or time.monotonic() > self.last or
                self.enough.is_set())

    def confirmed(self, outcome: Outcome) -> Outcome:
        """An outcome without what makes one comparison pass, and the script
        still fails; as it is, if that is all."""
        places = [r.tried.place for r in repairs.by_line(outcome.passing)]
        kept = [repair for place in places[:MOST_ASKED] for repair in
                self._of_line([r for r in outcome.passing
                               if r.tried.place == place])]
        return outcome._replace(passing=kept) if kept else outcome

    def _of_line(self, found):
        """The changes of a line, if the script ends well with one of them,
        which comes first, or if it cannot be asked; else none."""
        for repair in found[:MOST_OF_LINE]:
            edit = repair.tried.edit
            if edit is None or not self.script.has(edit.file) or (
                    self._is_over()):
                return found
            if self.script.passes(edit):
                # the others count: a line of which many pass comes first
                return [repair, *(r for r in found if r is not repair)]
        return []

    def stopped(self, outcome: Outcome) -> Outcome:
        """Those of an outcome with which not only the launch goes on, but the
        script ends well; those that leave the same are asked about once."""
        said: dict[int, bool] = {}
        found: list[Repair] = []
        for repair in outcome.passing:
            edit = repair.tried.edit
            if edit is None or not self.script.has(edit.file):
                continue
            if repair.left not in said:
                if self._is_over() or len(_lines(found)) >= ENOUGH:
                    break
                said[repair.left] = self.script.passes(edit)
            if said[repair.left]:
                found.append(repair._replace(whole=True))
        return outcome._replace(passing=found)

    def host(self) -> list[Repair]:
        """Edits of the functions that launch kernels with which the script
        ends well."""
        found: list[Repair] = []
        for edit in _of_host(self.script):
            if self._is_over() or len(_lines(found)) >= ENOUGH:
                break
            if self.script.passes(edit):
                found.append(Repair(Try(edit, None, None), 0, 0, whole=True))
        return found


def _of_host(script: Script) -> Iterator:
    try:
        source = Source(script.path, script.text)
    except SyntaxError:
        return
    turns = [host_edits(source, name) for name in source.hosts]
    while turns:  # one of each function
        for each in list(turns):
            edit = next(each, None)
            if edit is None:
                turns.remove(each)
            else:
                yield edit


def _lines(found: Iterable[Repair]) -> set[tuple[str, int]]:
    return {repair.tried.place for repair in found}


def _seconds() -> float:
    """Of the processor that this process and those split off have taken."""
    return sum(os.times()[:4])
