"""Signals while C runs.

Python's own signal handlers only run between two steps of a Python program:
a launch would hold them up until it returns.  A signal does write a byte to
the wakeup descriptor at once: a small thread reads it and calls tk_interrupt,
whereupon C asks the host program, in the thread of the launch, what to do.
There the handlers run (``attend``).  A launch whose handler raises ends, and
the exception comes out of the launch; after any other handler it goes on.

Handlers may also run when C calls the host program for something else, for
instance to print.  What they raise there reaches sys.unraisablehook, and is
treated the same.

Before a script begins and after it has ended nothing of it is running: Ctrl-C
then ends the process at once (``by_default``, ``ending``), and so does a second
one while C has not answered the first.
"""
from __future__ import annotations

import contextlib
import ctypes
import os
import select
import signal
import sys
import threading
import time
from collections.abc import Iterator
from typing import Any, Callable, NoReturn

from . import _capi

AGAIN = 0.01  # seconds between two requests to attend to the same signal
STATUS = 130  # of a process that Ctrl-C has ended


def _is_pythons():
    """Whether Ctrl-C raises KeyboardInterrupt; else it is ignored, or the
    script answers it."""
    return signal.getsignal(signal.SIGINT) is signal.default_int_handler


def by_default() -> None:
    """Ctrl-C ends the process at once from here on, if it would have raised
    KeyboardInterrupt."""
    if _is_pythons():
        signal.signal(signal.SIGINT, signal.SIG_DFL)


def by_python() -> None:
    """Undoes by_default()."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_DFL:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@contextlib.contextmanager
def heard() -> Iterator[Callable[[], bool]]:
    """While a script runs, in the main thread: gives a function that says
    whether Ctrl-C has been pressed since it began.  A script that sets a
    wakeup descriptor of its own is not listened to any more."""
    reader, writer = os.pipe()
    os.set_blocking(reader, False)
    os.set_blocking(writer, False)

    def is_pressed():
        try:
            return signal.SIGINT in os.read(reader, 1 << 16)
        except BlockingIOError:
            return False
    before = signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
    try:
        yield is_pressed
    finally:
        now = signal.set_wakeup_fd(before)
        if now not in (writer, -1):
            signal.set_wakeup_fd(now)
        os.close(writer)
        os.close(reader)


def called(function: Callable[..., Any], *args: Any) -> Any:
    """function(*args), in the main thread, with Ctrl-C raised as such.

    Code in C that imports a module (PyCapsule_Import: NumPy's own beginning)
    reports every exception as an ImportError, KeyboardInterrupt too.
    """
    with heard() as is_pressed:
        try:
            return function(*args)
        except ImportError as e:
            if not is_pressed():
                raise
            raise KeyboardInterrupt().with_traceback(
                e.__traceback__) from None


def fork() -> int:
    """os.fork(), in the main thread: Ctrl-C while it is made comes after it,
    where it would be lost in what Python does on a fork.  In the child it
    ends the process; a child whose caller does not hear of it is ended."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [])
    child = -1
    try:
        try:
            signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
            child = os.fork()
            if child == 0:
                signal.signal(signal.SIGINT, signal.SIG_DFL)
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
    except BaseException:
        if child > 0:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
        raise
    return child


class Ending:
    """What Ctrl-C does after a script: it ends the process, but while there is
    something to be had already, the first one only ends the search for
    more."""

    def __init__(self, clean: Callable[[], None]) -> None:
        self._clean = clean
        self._enough: Callable[[], None] | None = None

    @contextlib.contextmanager
    def searching(self, enough: Callable[[], None]) -> Iterator[None]:
        """Within it, the first Ctrl-C calls enough(), in another thread."""
        self._enough = enough
        try:
            yield
        finally:
            self._enough = None

    def wait(self, reader: int) -> None:
        """The thread that reads what the wakeup descriptor gets."""
        ended = None  # the search that was ended
        while True:
            if signal.SIGINT not in os.read(reader, 64):
                continue
            enough = self._enough
            if enough is None or enough is ended:
                break
            enough()
            ended = enough
        try:
            self._clean()
        finally:
            os._exit(STATUS)

    def handle(self, *_: Any) -> None:
        """The main thread goes no further where the process ends: what it
        works on is being removed."""
        while self._enough is None:
            time.sleep(60)


@contextlib.contextmanager
def ending(clean: Callable[[], None]) -> Iterator[Ending]:
    """What tkdbg says after a script, in the main thread: Ctrl-C calls clean()
    and ends the process, even while C runs."""
    end = Ending(clean)
    if signal.getsignal(signal.SIGINT) not in (
            signal.default_int_handler, signal.SIG_DFL):
        yield end
        return
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    # The thread comes first: whichever thread of the process gets the signal,
    # what it writes is read.
    threading.Thread(target=end.wait, args=(reader,), daemon=True,
                     name="tkdbg-ending").start()
    before = signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
    handler = signal.signal(signal.SIGINT, end.handle)
    try:
        yield end
    finally:
        signal.signal(signal.SIGINT, handler)
        signal.set_wakeup_fd(before)


def _in_handlers(trace):
    """A traceback from where C called us, without the frames before those of a
    handler."""
    ours = os.path.dirname(__file__) + os.sep
    while trace and trace.tb_frame.f_code.co_filename.startswith(ours):
        trace = trace.tb_next
    return trace


class Watch:
    """``with watch:`` around a call that ``target()`` interrupts."""

    def __init__(self, target: Callable[..., Any] | None = None) -> None:
        self.target: Any = target
        # whether a debugger answers Ctrl-C
        self.debugged: Any = None
        self.ends_process = False  # by a second Ctrl-C that is not answered
        self.ended = False  # a launch, or what else C did, with Ctrl-C
        self.unanswered = False  # by the debugger
        self.callback = _capi.AttendFn(self._attend)
        self._hook = self._unraisable
        self.reset()

    def reset(self) -> None:
        """Forgets thread and pipe (in the child of a fork)."""
        self.raised: Any = None     # what a handler raised during this launch
        self._pipe: Any = None
        self._running = False
        self._launch = 0  # a signal stops the launch it came in, no later one
        self._thread: Any = None    # that runs the launch
        self._asked = 0        # how often C has asked
        self._leaving = False  # the main thread has ended with Ctrl-C
        self._ctrl_c = False   # Ctrl-C, for the debugger
        self._lock = threading.Lock()
        self._before = -1
        self._handler: Any = None  # of the script, while ours stands for it

    def interrupt_with(self, target: Callable[[], Any]) -> None:
        """target() interrupts the call that runs."""
        self.target = target

    def ask_whether_debugged(self, debugged: Callable[[], Any]) -> None:
        """debugged(): whether a debugger answers Ctrl-C."""
        self.debugged = debugged

    def end_process(self) -> None:
        """A second Ctrl-C that nobody answers ends the process."""
        self.ends_process = True

    def end(self) -> None:
        """Ctrl-C has ended what runs."""
        self.ended = True

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
            launch, asked = self._launch, self._asked
            pressed = signal.SIGINT in data
            while self._asked == asked and self._interrupt(launch):
                if not select.select([reader], [], [], AGAIN)[0]:
                    continue
                if pressed and self.ends_process and _is_pythons():
                    os._exit(STATUS)  # a second one
                break

    def _interrupt(self, launch):
        """Interrupts this launch; false once it has returned."""
        with self._lock:
            running = self._running and self._launch == launch
            if running:
                self.target()
        return running

    def leave(self) -> None:
        """Stops what other threads run: the main one ends with Ctrl-C."""
        self._leaving = True
        self._interrupt(self._launch)

    # ---- in the thread of the launch -------------------------------------

    def _attend(self, _ud, answer):
        """What C calls when it was interrupted."""
        if not self._running:  # that came too late for the call it was for
            answer[0] = _capi.ATTEND_GO_ON
            return
        try:
            ctypes.pythonapi.PyErr_CheckSignals()
        except BaseException as e:
            self.raised = self.raised or e
        self._asked += 1
        if self.raised is None and not self._leaving:
            answer[0] = (_capi.ATTEND_PASS if self._ctrl_c
                         else _capi.ATTEND_GO_ON)
            if self.debugged is not None and self.debugged():
                self._ctrl_c = False  # a debugger answers it

    def stop(self, error: BaseException) -> None:
        """Ends this launch with what was raised in its thread."""
        self.raised = self.raised or error
        self.target()

    def _unraisable(self, found):
        """sys.unraisablehook during a launch."""
        ours = "ctypes callback" in (found.err_msg or "")
        if ours and threading.get_ident() == self._thread:
            self.stop(found.exc_value)
        else:
            self._hook_before(found)

    def _swallow(self):
        """Ctrl-C is the debugger's, unless that lets the launch end."""
        before = signal.getsignal(signal.SIGINT)

        def handler(number, frame):
            self._ctrl_c = True
        self._handler = before if callable(before) else None
        if self._handler:
            signal.signal(signal.SIGINT, handler)

    def __enter__(self) -> Watch:
        self._thread = threading.get_ident()
        self._mine = self._thread == threading.main_thread().ident
        if self._mine:
            self._leaving = False
            if self._pipe is None:
                self._start()
        elif self._leaving:
            raise KeyboardInterrupt
        self._hook_before = sys.unraisablehook
        try:
            sys.unraisablehook = self._hook
            with self._lock:
                self._launch += 1
                self._running = True
            if self._mine:
                self._listen()
        except BaseException:  # Ctrl-C already: there is no __exit__ then
            self.__exit__()
            raise
        return self

    def _listen(self):
        """Signals are heard from here on.  This comes after _running is set:
        one that arrives before C has begun is tried again until C asks."""
        self._before = signal.set_wakeup_fd(
            self._pipe[1], warn_on_full_buffer=False)
        if self.debugged is not None:
            self._swallow()

    def __exit__(self, *_: Any) -> None:
        __tracebackhide__ = True
        with self._lock:
            self._running = False
        sys.unraisablehook = self._hook_before
        if self._mine:
            signal.set_wakeup_fd(self._before)
            self._before = -1
            handler, self._handler = self._handler, None
            if handler:
                signal.signal(signal.SIGINT, handler)
                self._hand_on(handler)
        raised, self.raised = self.raised, None
        if raised is not None:
            self.ended |= isinstance(raised, KeyboardInterrupt)
            raise raised.with_traceback(_in_handlers(raised.__traceback__))

    def _hand_on(self, handler):
        """Ctrl-C that no debugger answered is the script's."""
        pressed, self._ctrl_c = self._ctrl_c, False
        self.unanswered |= pressed
        if pressed and not self.debugged():
            handler(signal.SIGINT, None)


def program(run: Callable[[list[str]], int]) -> NoReturn:
    """Ends this process as run(arguments) says: 130 if it was interrupted, 141
    if nobody reads what it prints any more."""
    by_python()
    try:
        status = called(run, sys.argv[1:])
    except KeyboardInterrupt:
        by_default()
        status = STATUS
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        status = 141
    sys.exit(status)
