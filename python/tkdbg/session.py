"""The one session of a process: the core, and the parts that know it.

``current()`` is the only global state of the package.  The C session is
made on first use; every call into it happens under ``lock``, because a
session serves one thread at a time (autograd may launch from another).
Each part is in a file of its own, and is written by its own methods alone.
"""
from __future__ import annotations

import os
import sys
import threading
from typing import Any, Callable

from . import (_capi, _results, environment, errors, findings, interrupt,
               settings, tensors)
from .compiling import Compiling
from .debugging import Debugging
from .dtypes import DTypes
from .fresh import Fresh
from .kept import Kept
from .real import RealTriton
from .reports import Reports
from .requests import Requests
from .runs import Runs
from .script import Script
from .version import Version


class Session:
    """State shared by all launches of this process."""

    def __init__(self, options: settings.Options | None = None,
                 lib: Any = None) -> None:
        """options: None: those of the environment; lib: a loaded library;
        None: the one that _capi.load finds, or ImportError."""
        self.lib = lib or _capi.load()
        # the Python that the engine 'triton' starts
        os.environ.setdefault("TKDBG_PYTHON", sys.executable)
        _capi.bind(self.lib, _results.PROTOTYPES)
        self.options = options or settings.from_environment(self.lib)
        self.lock = threading.RLock()
        self.watch = interrupt.Watch()
        self.setup: Any = None    # setup.State while install() holds
        self.kept = Kept()
        self.dtypes = DTypes(self.lib)
        self.addresses = tensors.Addresses()
        self.fresh = Fresh(follow=self.options.check is not None)
        self.reader = tensors.Reader(self)
        self.compiling = Compiling()
        self.version = Version(self)
        self.real = RealTriton()
        self.script = Script()
        self.requests = Requests(self)
        self.reports = Reports(self)
        self.json = findings.Lines()
        self.runs = Runs(self)
        self.debugging = Debugging(self)
        # a hostsizes.HostSizes, while scripts are proved
        self.sizes: Any = None
        self._parts: dict[Any, Any] = {}  # class -> the instance of it
        self._is_busy = False     # a call of C's that takes long goes on
        self._ptr: Any = None
        self._output = _capi.OutputFn(self._print)
        self._forking: Any = None  # the lock, while a process forks
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(before=self._before_fork,
                                after_in_parent=self._after_fork,
                                after_in_child=self._after_fork_in_child)

    def part(self, make: Callable[[Session], Any]) -> Any:
        """The one make(session) of this session: what a module above keeps
        for as long as the session lives."""
        found = self._parts.get(make)
        if found is None:
            found = self._parts[make] = make(self)
        return found

    def set_up(self, state: Any) -> Any:
        """What install() has put in place, None: nothing; returns what was
        in place before."""
        before, self.setup = self.setup, state
        return before

    def follow(self, sizes: Any) -> Any:
        """A hostsizes.HostSizes is told of launches; None: nobody is.
        Returns who was told before."""
        before, self.sizes = self.sizes, sizes
        return before

    # ---- the C session ---------------------------------------------------

    @property
    def ptr(self) -> Any:
        """The tk_session, made on first use."""
        if self._ptr is None:
            self._ptr = self.lib.tk_session_new()
            if not self._ptr:
                raise errors.InternalError("tkdbg: no memory for a session")
            self.lib.tk_session_output(self._ptr, self._output, None)
            environment.report()
            self.version.choose()
            if self.options.check is not None or self.options.keep_going:
                self.reports.set_checks()
            self.watch.interrupt_with(
                lambda: self.lib.tk_interrupt(self._ptr))
            self.lib.tk_session_attend(self._ptr, self.watch.callback, None)
            self.debugging.begin()
        return self._ptr

    def open(self) -> None:
        """Makes the tk_session, with the options that are set now."""
        assert self.ptr

    def is_open(self) -> bool:
        """Whether the tk_session was made."""
        return bool(self._ptr)

    def _before_fork(self) -> None:
        """A launch of another thread ends first: its state would be copied
        as it is, and nobody would go on with it."""
        self._forking = self.lock
        self._forking.acquire()

    def _after_fork(self) -> None:
        self._forking.release()

    def _after_fork_in_child(self) -> None:
        self.lock = threading.RLock()
        self.watch.reset()

    def _print(self, _ud: Any, data: Any, size: int) -> None:
        try:
            sys.stdout.write(_capi.text(data, size))
        except BaseException as e:  # must not pass through C
            self.watch.stop(e)

    # ---- calls of C's ----------------------------------------------------

    def check(self, status: int, kernel: str = "",
              launch: int | None = None) -> None:
        """Raises what a tk_status stands for; see Reports.check."""
        __tracebackhide__ = True
        self.reports.check(status, kernel, launch)

    def guarded(self, call: Callable[..., Any], *args: Any) -> Any:
        """call(*args), a function of C's that may take long: signals are
        attended to meanwhile, and what a handler raises is raised."""
        __tracebackhide__ = True
        if self._is_busy:
            raise RuntimeError("a kernel cannot be launched or compiled "
                               "while another one runs in the same thread "
                               "(from a signal handler, or from what prints "
                               "its output)")
        self._is_busy = True
        try:
            with self.watch:
                return call(*args)
        except BaseException:
            self.reports.forget()
            raise
        finally:
            self._is_busy = False

    def attended(self, call: Callable[..., Any], *args: Any) -> Any:
        """guarded(), also in what a launch that runs asks of the host: signals
        are attended to there already."""
        __tracebackhide__ = True
        return call(*args) if self._is_busy else self.guarded(call, *args)


_current: Session | None = None


def current() -> Session:
    """The process's session."""
    global _current
    if _current is None:
        _current = Session()
    return _current


def existing() -> Session | None:
    """The process's session, if it was made; None."""
    return _current


def replace(session: Session | None) -> Session | None:
    """Makes session the current one and returns the one before; tests."""
    global _current
    before, _current = _current, session
    return before
