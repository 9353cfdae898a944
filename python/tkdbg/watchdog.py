"""Ends what takes too long: one thread that looks after many short runs.

Time is that of the processor, so that what comes to its end does not depend on
what else the machine has to do; and that of one thread, since those of a BLAS
wait for work at full speed, a dozen of them on a large machine.
"""
from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

PERIOD = 0.05  # between two looks


def thread_clock() -> Callable[[], float]:
    """Seconds of the processor that the calling thread has had, for other
    threads to ask as well, as long as it lives."""
    clock = time.pthread_getcpuclockid(threading.get_ident())
    return lambda: time.clock_gettime(clock)


class Watchdog:
    """Interrupts a session that runs beyond its time in the thread that made
    the watchdog; used in a with statement."""

    def __init__(self, lib: Any) -> None:
        self.lib = lib
        self._lock = threading.Lock()
        self._end = threading.Event()
        self._session: int | None = None  # that is watched
        self._due = 0.0
        self._used = thread_clock()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> Watchdog:
        self._thread.start()
        return self

    def __exit__(self, *_: Any) -> None:
        self._end.set()
        self._thread.join()

    def begins(self, session: int, seconds: float) -> None:
        """A session runs, and may do so for some seconds."""
        with self._lock:
            self._session, self._due = session, self._used() + seconds

    def ended(self) -> None:
        """It has come to its end, and may be freed."""
        with self._lock:
            self._session = None

    def _watch(self):
        while not self._end.wait(PERIOD):
            with self._lock:
                if self._session is not None and self._used() > self._due:
                    self.lib.tk_interrupt(self._session)
                    self._session = None
