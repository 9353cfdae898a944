"""Many short attempts, shared among processes that are split off this one.

Each process has a processor of its own, where there are several; what they
find comes back through pipes.  An attempt is known by its number, and what was
found is in the order of these, whichever process came first.
"""
from __future__ import annotations

import contextlib
import ctypes
import mmap
import os
import selectors
import signal
import struct
import sys
import threading
import time
import warnings
from collections.abc import Callable
from typing import NamedTuple

from . import interrupt

MOST = 8        # processes
LEAST_EACH = 8  # attempts; for fewer none is split off
SLOWEST = 2.0   # how much longer than their processor's time it may last
GRACE = 1.0     # seconds that a process has to end of itself after that
LOOK = 0.05     # seconds between two looks at whether it is enough
RECORD = struct.Struct("=qqqq")
COUNT = -1      # in place of an attempt's number: how many there were
GO, HURRY, STOP = range(3)  # what the processes are told
PR_SET_PDEATHSIG = 1        # linux/prctl.h


class Result(NamedTuple):
    """What an attempt has found: elements that were wrong before and still
    are, and a hash of what it leaves."""
    before: int
    after: int
    left: int = 0

    @property
    def passes(self) -> bool:
        return self.after == 0


class Limits(NamedTuple):
    """Seconds of the processor, for each process."""
    seconds: float
    more: float | None = None  # once an attempt passed; None: no fewer


class Outcome(NamedTuple):
    """Results by the number of their attempt, in order, and how many attempts
    were made."""
    results: dict[int, Result]
    made: int


# Makes an attempt, given its number and the seconds of the processor that all
# may still take.
Attempt = Callable[[int, float], "Result | None"]


def run(count: int, attempt: Attempt, limits: Limits, enough: threading.Event,
        begin: Callable[[], None] = lambda: None) -> Outcome:
    """Makes the attempts 0 to count - 1, until the time is up or enough is
    set.  begin: is called first in each process that is split off."""
    processes = min(MOST, len(os.sched_getaffinity(0)), count // LEAST_EACH)
    if processes > 1 and threading.current_thread() is threading.main_thread():
        return _Team(count, attempt, limits, begin).outcome(processes, enough)
    found: dict[int, Result] = {}

    made = _attempts(range(count), attempt, limits,
                     lambda: _word(found, enough), found.__setitem__)
    return Outcome(found, made)


def _word(found: dict[int, Result], enough: threading.Event) -> int:
    """What whoever makes attempts is told."""
    if enough.is_set():
        return STOP
    return HURRY if any(r.passes for r in found.values()) else GO


def _attempts(numbers: range, attempt: Attempt, limits: Limits,
              told: Callable[[], int],
              find: Callable[[int, Result], None]) -> int:
    """Makes these attempts, until the time is up; how many were made."""
    ends = time.thread_time() + limits.seconds
    last = time.monotonic() + SLOWEST * limits.seconds
    made, hurries = 0, False
    for number in numbers:
        now, word = time.thread_time(), told()
        if word == HURRY and not hurries and limits.more is not None:
            hurries, ends = True, min(ends, now + limits.more)
        if word == STOP or now > ends or time.monotonic() > last:
            break
        made += 1
        result = attempt(number, ends - now)
        if result is not None:
            find(number, result)
    return made


class _Team:
    """The processes of one run."""

    def __init__(self, count: int, attempt: Attempt, limits: Limits,
                 begin: Callable[[], None]) -> None:
        self.count, self.attempt, self.begin = count, attempt, begin
        self.limits = limits
        self.word = mmap.mmap(-1, 1)  # that all of them read: GO, ...
        self.found: dict[int, Result] = {}
        self.made = 0
        self.reading: dict[int, bytes] = {}  # by pipe: of a record, so far
        self.children: list[int] = []

    def _split_off(self, numbers):
        reader, self.writer = os.pipe()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of threads, none of which run
            child = interrupt.fork()
        if not child:
            self._become(numbers)
        os.close(self.writer)
        self.children.append(child)
        self.reading[reader] = b""

    def _become(self, numbers):
        """Works in the process that was split off, which ends here."""
        try:
            null = os.open(os.devnull, os.O_RDWR)
            for each in range(3):
                os.dup2(null, each)
            if sys.platform == "linux":
                ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
            self.begin()
            self._send(COUNT, Result(_attempts(
                numbers, self.attempt, self.limits, lambda: self.word[0],
                self._send), 1))
        finally:
            os._exit(0)

    def _send(self, number, result):
        os.write(self.writer, RECORD.pack(number, *result))

    def outcome(self, processes: int, enough: threading.Event) -> Outcome:
        """What so many have found, when all have ended."""
        try:
            for first in range(processes):
                self._split_off(range(first, self.count, processes))
            self._read_all(enough)
        finally:
            for child in self.children:
                with contextlib.suppress(OSError):
                    os.kill(child, signal.SIGKILL)
                os.waitpid(child, 0)
            for reader in self.reading:
                os.close(reader)
        return Outcome(dict(sorted(self.found.items())), self.made)

    def _read_all(self, enough):
        last = time.monotonic() + SLOWEST * self.limits.seconds + GRACE
        with selectors.DefaultSelector() as ready:
            for reader in self.reading:
                ready.register(reader, selectors.EVENT_READ)
            while ready.get_map() and time.monotonic() < last:
                for key, _ in ready.select(LOOK):
                    if not self._read(key.fd):
                        ready.unregister(key.fd)
                self.word[0] = _word(self.found, enough)

    def _read(self, reader):
        """Takes what one has sent; whether it may send more."""
        data = os.read(reader, 1 << 16)
        held = self.reading[reader] + data
        whole = len(held) // RECORD.size * RECORD.size
        self.reading[reader] = held[whole:]
        for number, *result in RECORD.iter_unpack(held[:whole]):
            if number == COUNT:
                self.made += result[0]
            else:
                self.found[number] = Result(*result)
        return bool(data)
