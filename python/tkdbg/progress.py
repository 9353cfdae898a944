"""A progress bar for launches that take long, on a terminal only."""
from __future__ import annotations

import sys
import time
from typing import Any

from . import _capi

AFTER = 0.3      # seconds before a bar appears
EVERY = 0.1      # seconds between two drawings
WIDTH = 20


class Bar:
    """Draws on stderr, as the command does for direct launches:
    ``add_kernel [=====>    ]  38%  37/97 programs  12/s  5 s left``."""

    def __init__(self) -> None:
        self.callback = _capi.ProgressFn(self._step)
        self.kernel = ""
        self._start = self._last = 0.0
        self._drawn = False

    def begin(self, kernel: str) -> None:
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

    def line(self, done: int, total: int, seconds: float) -> str:
        """One line of text for ``done`` of ``total`` programs."""
        part = done / total if total else 1.0
        filled = int(part * WIDTH)
        bar = "=" * filled + ">" * (filled < WIDTH)
        rate = done / seconds if seconds > 0 else 0.0
        left = duration((total - done) / rate) if rate else "?"
        return (f"{self.kernel[:24]} [{bar:{WIDTH}}] {int(part * 100):3}%  "
                f"{done}/{total} programs  {count(rate)}/s  {left} left")

    def done(self) -> None:
        """Removes the bar if one was drawn."""
        if self._drawn:
            self._drawn = False
            try:
                sys.stderr.write("\r\x1b[K")
                sys.stderr.flush()
            except (OSError, ValueError):
                pass


def duration(seconds: float) -> str:
    """12 µs, 1.2 ms, 3.4 s, 2:05 min"""
    if seconds < 1e-3:
        return f"{seconds * 1e6:.0f} µs"
    if seconds < 1:
        return f"{seconds * 1e3:.{int(seconds < 0.1)}f} ms"
    if seconds < 60:
        return f"{seconds:.{int(seconds < 10)}f} s"
    return f"{int(seconds / 60)}:{int(seconds) % 60:02} min"


def count(n: float) -> str:
    """950, 12.3k, 4.5M"""
    for unit in " kMGT":
        if n < 999.5 or unit == "T":
            break
        n /= 1000
    if unit == " ":
        return f"{n:.0f}"
    return f"{n:.{int(n < 99.95)}f}{unit}"


def _plural(n, one, many):
    return f"{n} {one if n == 1 else many}"


def summary(totals: dict[str, Any], interrupted: Any = False) -> str:
    """The line a run ends with, in the words of the command; none if its last
    launch was interrupted before any program had come to its end."""
    programs, seconds = totals["programs"], totals["seconds"]
    if interrupted and not programs:
        return ""
    rate = count(programs / seconds if seconds > 0 else 0)
    said = "interrupted after " if interrupted else ""
    launches = _plural(totals["launches"], "launch", "launches")
    return (f"tkdbg: {said}{launches}, "
            f"{_plural(programs, 'program', 'programs')} in "
            f"{duration(seconds)} ({rate} programs/s, "
            f"peak {totals['peak'] / (1 << 20):.1f} MiB)\n")
