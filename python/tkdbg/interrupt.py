"""Ctrl-C while C runs.

Python's own handler only notes the signal while a C function runs, so a
launch would not stop.  The signal does write a byte to the wakeup
descriptor at once: a small thread reads it and calls tk_interrupt.  When
the launch has returned, Python's handler raises KeyboardInterrupt as
always; a handler that the script installed is called as always.
"""
from __future__ import annotations

import os
import signal
import threading

AGAIN = 0.01  # seconds between two requests to stop the same launch


class Watch:
    """``with watch:`` around a call that ``target()`` can stop."""

    def __init__(self, target=None):
        self.target = target
        self.debugged = None  # whether a debugger answers the signals
        self.reset()

    def reset(self):
        """Forgets thread and pipe (in the child of a fork)."""
        self._pipe = None
        self._running = False
        self._launch = 0  # a signal stops the launch it came in, no later one
        self._lock = threading.Lock()
        self._before = -1
        self._handler = None  # of the script, while ours stands for it
        self._wake = threading.Event()

    def _start(self):
        reader, writer = os.pipe()
        os.set_blocking(writer, False)
        self._pipe = (reader, writer)
        threading.Thread(target=self._loop, args=(reader,), daemon=True,
                         name="tkdbg-interrupt").start()

    def _loop(self, reader):
        while True:
            data = os.read(reader, 64)
            if not data:
                return
            if self._before >= 0:
                try:
                    os.write(self._before, data)
                except OSError:
                    pass
            launch = self._launch
            if signal.SIGINT in data:
                while self._stop(launch) and not self._answered():
                    self._wake.wait(AGAIN)

    def _answered(self):
        return self.debugged is not None and self.debugged()

    def _swallow(self):
        """A signal that a debugger answered is none for the script."""
        before = signal.getsignal(signal.SIGINT)

        def handler(number, frame):
            if not self._answered():
                before(number, frame)
        self._handler = before if callable(before) else None
        if self._handler:
            signal.signal(signal.SIGINT, handler)

    def _stop(self, launch):
        """Asks this launch to stop; false once it has returned."""
        with self._lock:
            asked = self._running and self._launch == launch
            if asked:
                self.target()
        return asked

    def __enter__(self):
        self._mine = (threading.get_ident() ==
                      threading.main_thread().ident)
        if self._mine:
            if self._pipe is None:
                self._start()
            self._before = signal.set_wakeup_fd(
                self._pipe[1], warn_on_full_buffer=False)
            if self.debugged is not None:
                self._swallow()
        with self._lock:
            self._launch += 1
            self._running = True
        return self

    def __exit__(self, *_):
        with self._lock:
            self._running = False
        if self._mine:
            signal.set_wakeup_fd(self._before)
            handler, self._handler = self._handler, None
            if handler:
                signal.signal(signal.SIGINT, handler)
