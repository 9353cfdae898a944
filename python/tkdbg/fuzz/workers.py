"""Processes that try kernels: one that a kernel ends is begun again."""
from __future__ import annotations

import multiprocessing
import multiprocessing.connection
import os
import signal
import sys
import time
import traceback
from typing import Any, NamedTuple

from . import apart, check, reduction, ways
from .makers import Maker
from .ways import Outcome, Way

PATIENCE = {"check": apart.PATIENCE, "reduce": 1800}  # seconds


class Task(NamedTuple):
    """what: "check", or "reduce" into a folder."""
    what: str
    seed: int
    found: Outcome | None = None
    folder: str = ""


def _work(pipe: Any, maker: Maker, way: Way) -> None:
    """Answers tasks until there are no more."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the first process ends it
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 1)  # Triton's passes print what they do not like
    os.dup2(null, 2)
    lib = ways.library()
    while True:
        try:
            task = pipe.recv()
        except EOFError:
            os._exit(0)
        try:
            pipe.send(_answer(lib, task, maker, way))
        except Exception:
            pipe.send(Trouble(traceback.format_exc()))


def _answer(lib: Any, task: Task, maker: Maker, way: Way) -> Any:
    kernel = maker.make(task.seed)
    if task.what == "check":
        return check.outcome(lib, kernel, way)
    assert task.found is not None
    return reduction.reduce_into(lib, kernel, way, task.found, task.folder)


class Trouble(NamedTuple):
    """A fault of tkdbg's own."""
    said: str


class Worker:
    """One process, and the task that it is at."""

    def __init__(self, maker: Maker, way: Way) -> None:
        self._maker, self._way = maker, way
        self.task: Task | None = None
        self._until = 0.0
        self._begin()

    def _begin(self):
        context = multiprocessing.get_context("fork")
        self.pipe, there = context.Pipe()
        sys.stdout.flush()
        self._process = context.Process(
            target=_work, args=(there, self._maker, self._way), daemon=True)
        self._process.start()
        there.close()

    def give(self, task: Task) -> None:
        self.task = task
        self._until = time.monotonic() + PATIENCE[task.what]
        self.pipe.send(task)

    def left(self) -> float:
        """Seconds that it may still take."""
        return self._until - time.monotonic()

    def answer(self) -> tuple[Task, Any]:
        """Its task, and what came of it: an Outcome where that has ended the
        process, or took too long."""
        assert self.task is not None
        task, self.task, kind = self.task, None, "ends"
        if self.pipe.poll():
            try:
                answer = self.pipe.recv()
                if isinstance(answer, Trouble):
                    raise RuntimeError(f"{self._maker.title(task.seed)}: "
                                       f"{answer.said}")
                return task, answer
            except (EOFError, ConnectionError):
                self._process.join()
                words = apart.ended(self._process.exitcode)
        else:
            words = apart.slow(PATIENCE[task.what])
            self._process.kill()
            self._process.join()
            kind = self._maker.slow
        self._begin()
        return task, Outcome(kind, words, words)

    def end(self) -> None:
        self.pipe.close()
        self._process.kill()
        self._process.join()
