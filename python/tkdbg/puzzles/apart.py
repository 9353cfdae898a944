"""Work in processes of its own, with limits on time and memory.

A learner's kernel may loop for ever or ask for all memory there is; it does
so in a child, and the child's answer comes through a pipe.
"""
from __future__ import annotations

import json
import os
import resource
import selectors
import signal
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from .. import interrupt


@dataclass
class Limits:
    """What one child may use."""
    seconds: float = 20.0
    mebibytes: int = 2048


class Failed(Exception):
    """A child gave no answer; the text says why."""
    kind = "limit"


class Faulty(Failed):
    """What was to be computed raised an exception."""
    kind = "fault"


class Child:
    """A process that computes work(), which gives something that JSON can
    say."""

    def __init__(self, work: Callable[..., Any], limits: Limits) -> None:
        self.limits = limits
        self.ends = time.monotonic() + limits.seconds
        sys.stdout.flush()
        sys.stderr.flush()
        self.pipe, into = os.pipe()
        self.pid = interrupt.fork()
        if self.pid == 0:
            os.close(self.pipe)
            _compute(work, limits, into)
        os.close(into)
        self.parts: list[Any] = []
        self.late = False

    def read(self) -> bool:
        """Takes what has come; whether that was the end."""
        part = os.read(self.pipe, 1 << 16)
        self.parts.append(part)
        return not part

    def kill(self) -> None:
        self.late = True
        os.kill(self.pid, signal.SIGKILL)

    def result(self) -> Any:
        """What work() gave, after the end; raises Failed."""
        os.close(self.pipe)
        _, status = os.waitpid(self.pid, 0)
        if self.late or (os.WIFSIGNALED(status) and
                    os.WTERMSIG(status) == signal.SIGXCPU):
            raise Failed(f"no answer after {self.limits.seconds:g} s: is "
                         "there a loop that never ends?")
        if os.WIFSIGNALED(status):
            raise Failed("the process that ran it ended by signal "
                         f"{os.WTERMSIG(status)}")
        said = json.loads(b"".join(self.parts) or "null")
        if said is None:
            raise Failed("it gave no answer")
        if "fault" in said:
            raise Faulty(said["fault"])
        if "limit" in said:
            raise Failed(said["limit"])
        return said["result"]


def _compute(work, limits, into):
    """The child's life."""
    try:
        _limit(limits)
        said = {"result": work()}
    except MemoryError:
        said = {"limit": f"it needs more than {limits.mebibytes} MiB"}
    except BaseException as e:
        said = {"fault": f"{type(e).__name__}: {e}"}
    with open(into, "w", encoding="utf-8") as f:
        json.dump(said, f)
    os._exit(0)


def _limit(limits):
    seconds = int(limits.seconds) + 1
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    try:
        with open("/proc/self/statm", encoding="ascii") as f:
            now = int(f.read().split()[0]) * resource.getpagesize()
    except OSError:
        return  # no Linux: a limit would count what is mapped already
    most = now + (limits.mebibytes << 20)
    resource.setrlimit(resource.RLIMIT_AS, (most, most))


def each(works: list[Callable[..., Any]], limits: Limits,
         workers: int | None = None) -> Iterator[tuple[Any, ...]]:
    """Computes all works, some at a time; yields (number, result, None) or
    (number, None, Failed) as they end."""
    waiting = list(enumerate(works))[::-1]
    workers = workers or os.cpu_count() or 1
    chosen = selectors.DefaultSelector()
    running: dict[int, Any] = {}
    try:
        while waiting or running:
            while waiting and len(running) < workers:
                number, work = waiting.pop()
                child = running[number] = Child(work, limits)
                chosen.register(child.pipe, selectors.EVENT_READ, number)
            for number in _ended(chosen, running):
                child = running.pop(number)
                chosen.unregister(child.pipe)
                try:
                    yield number, child.result(), None
                except Failed as e:
                    yield number, None, e
    finally:
        for child in running.values():
            child.kill()
            os.waitpid(child.pid, 0)
        chosen.close()


def _ended(chosen, running):
    """Waits; the numbers of the children that have ended."""
    now = time.monotonic()
    soonest = min(child.ends for child in running.values())
    ready = chosen.select(max(0, soonest - now))
    ended = [key.data for key, _ in ready if running[key.data].read()]
    for number, child in running.items():
        if time.monotonic() >= child.ends and number not in ended:
            child.kill()
            ended.append(number)
    return ended


def one(work: Callable[..., Any], limits: Limits) -> Any:
    """The result of one work; raises Failed."""
    for _, result, failed in each([work], limits, 1):
        if failed is not None:
            raise failed
        return result
