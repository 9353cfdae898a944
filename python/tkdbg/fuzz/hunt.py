"""A search: seeds in their order, tried by processes, and what is kept of it.

What a search finds does not depend on how many processes there are: outcomes
are taken in the order of their seeds, and a kernel is made small before the
next outcome is looked at.
"""
from __future__ import annotations

import os
import shutil
import tempfile
import time
from collections.abc import Callable
from multiprocessing.connection import wait
from typing import Any

from . import ways
from .corpus import Corpus
from .makers import Maker
from .ways import Outcome, Way
from .workers import Task, Worker

AHEAD = 16  # seeds for each process that are tried before an outcome is taken
ON_TIME = 0.2  # seconds between two looks at the clock


class Hunt:
    """count: seeds that are tried; seconds: for how long it may begin more;
    None: no limit."""

    def __init__(self, corpus: Corpus, maker: Maker, way: Way,
                 jobs: int, count: int | None, seconds: float | None,
                 say: Callable[[str], None]) -> None:
        self._corpus, self._way, self._say = corpus, way, say
        last = None if count is None else corpus.next + count
        self._maker = maker
        self._last = min((n for n in (last, maker.end) if n is not None),
                         default=None)
        self._until = None if seconds is None else time.monotonic() + seconds
        self._begun = corpus.next       # the next seed to be tried
        self._outcomes: dict[int, Any] = {}
        self._found: Outcome | None = None  # that is being made small
        self._workers = [Worker(maker, way) for _ in range(jobs)]

    def run(self) -> None:
        """Tries kernels until it has come to its end."""
        try:
            while self._give() or self._busy():
                ready = wait([w.pipe for w in self._busy()],
                             min(ON_TIME, *(w.left() for w in self._busy()))
                             if self._busy() else 0)
                for worker in self._busy():
                    if worker.pipe in ready or worker.left() <= 0:
                        self._take(*worker.answer())
        finally:
            for worker in self._workers:
                worker.end()

    def _busy(self):
        return [w for w in self._workers if w.task is not None]

    def _may_begin(self):
        if self._last is not None and self._begun >= self._last or (
                self._until is not None and time.monotonic() > self._until):
            return False
        return self._begun < self._corpus.next + AHEAD * len(self._workers)

    def _give(self):
        """Gives tasks to who has none; whether one was given."""
        given = False
        for worker in self._workers:
            if worker.task is None and self._may_begin():
                worker.give(Task("check", self._begun))
                self._begun += 1
                given = True
        return given

    def _take(self, task, answer):
        if task.what == "check":
            self._outcomes[task.seed] = answer
        else:
            self._keep(task, answer)
        while self._found is None and self._corpus.next in self._outcomes:
            self._settle(self._corpus.next)

    def _settle(self, seed):
        """Takes the outcome of the next seed."""
        found = self._outcomes.pop(seed)
        if found is None or found.kind in ways.COUNTED:
            self._corpus.done(seed, found.kind if found else "same")
            return
        known = self._corpus.cause_of(found.kind, found.cause)
        if known is not None:
            self._corpus.done(seed, found.kind, known)
            return
        self._found = found
        folder = tempfile.mkdtemp(prefix="part-", dir=self._corpus.path)
        worker = next((w for w in self._workers if w.task is None), None)
        if worker is None:  # there is always one: who has brought the outcome
            raise AssertionError("no process is free")
        worker.give(Task("reduce", seed, found, folder))

    def _keep(self, task, answer):
        """Takes what came of a reduction."""
        found, self._found = task.found, None
        if isinstance(answer, Outcome):  # the reduction itself has failed
            with open(os.path.join(task.folder, "report.txt"), "w",
                      encoding="utf-8") as f:
                f.write(f"{self._maker.title(task.seed)}: {found.says}\n\n"
                        f"It could not be made small: {answer.says}\n")
            cause, lines = f"{found.kind}: {found.cause}", 9999
            says = found.says
        else:
            cause, lines, says = answer
        name = self._corpus.take(cause, found.kind, found.cause, lines,
                                 task.folder)
        shutil.rmtree(task.folder, ignore_errors=True)
        self._corpus.done(task.seed, found.kind, cause)
        if name:
            first = says.strip().split("\n")[0]
            self._say(f"{self._maker.title(task.seed)} "
                      f"{ways.KINDS[found.kind][1]}: {first}\n"
                      f"  cause: {cause}\n"
                      f"  {lines} lines are left of it: "
                      f"{os.path.join(self._corpus.path, name)}")
