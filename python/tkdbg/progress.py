"""A progress bar for launches that take long, on a terminal only."""
from __future__ import annotations

import sys
import time

from . import _capi

AFTER = 0.7      # seconds before a bar appears
EVERY = 0.1      # seconds between two drawings
WIDTH = 24


class Bar:
    """Draws ``[####....] 120/400 programs, 31/s, 9 s left`` on stderr."""

    def __init__(self):
        self.callback = _capi.ProgressFn(self._step)
        self.kernel = ""
        self._start = self._last = 0.0
        self._drawn = False

    def begin(self, kernel):
        """A launch of kernel starts now."""
        self.kernel = kernel
        self._start = self._last = time.monotonic()

    def _step(self, _ud, done, total):
        now = time.monotonic()
        if now - self._start < AFTER or now - self._last < EVERY:
            return
        self._last = now
        self._drawn = True
        try:
            sys.stderr.write("\r" + self.line(done, total,
                                              now - self._start) + "\x1b[K")
            sys.stderr.flush()
        except (OSError, ValueError):
            pass

    def line(self, done, total, seconds):
        """One line of text for ``done`` of ``total`` programs."""
        filled = WIDTH * done // total if total else WIDTH
        rate = done / seconds if seconds > 0 else 0.0
        text = (f"{self.kernel} [{'#' * filled}{'.' * (WIDTH - filled)}] "
                f"{done}/{total} programs")
        if rate:
            left = (total - done) / rate
            text += f", {rate:.3g}/s, {duration(left)} left"
        return text

    def done(self):
        """Removes the bar if one was drawn."""
        if self._drawn:
            self._drawn = False
            try:
                sys.stderr.write("\r\x1b[K")
                sys.stderr.flush()
            except (OSError, ValueError):
                pass


def duration(seconds):
    """12 s, 3:05 min, 1:02:03 h"""
    whole = int(seconds + 0.5)
    if whole < 60:
        return f"{whole} s"
    minutes, s = divmod(whole, 60)
    if minutes < 60:
        return f"{minutes}:{s:02} min"
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{s:02} h"


def summary(totals):
    """The line a run ends with."""
    def count(n, what):
        return f"{n:,} {what}" + ("" if n == 1 else "s")
    return (f"tkdbg: {count(totals['launches'], 'launch')}".replace(
        "launchs", "launches") + f", {count(totals['programs'], 'program')}, "
        f"{totals['seconds']:.3g} s in kernels, "
        f"{count(totals['findings'], 'finding')}")
