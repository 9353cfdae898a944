"""triton.profiler: Proton's interface.  Sessions start and end; nothing is
measured, because an interpreter's times say nothing of a GPU's."""
from __future__ import annotations

import contextlib
import functools
import itertools
import types
from collections.abc import Callable
from typing import Any

DEFAULT_PROFILE_NAME = "proton"


class Sessions:
    """The sessions that were started, and the scopes that are open."""

    def __init__(self) -> None:
        self._next = itertools.count()
        self._active: dict[Any, Any] = {}  # number -> whether it is active
        self._scopes: list[Any] = []  # (name, number)

    def start(self, name: str | None = None, *, context: str = "shadow",
              data: str = "tree", backend: Any = None, mode: Any = None,
              hook: Any = None) -> Any:
        number = next(self._next)
        self._active[number] = True
        return number

    def activate(self, session: Any = None) -> None:
        self._set(session, True)

    def deactivate(self, session: Any = None) -> None:
        self._set(session, False)

    def _set(self, session, active):
        for number in list(self._active) if session is None else [session]:
            self._active[number] = active

    def finalize(self, session: Any = None, output_format: str = "") -> None:
        if session is None:
            self._active.clear()
        else:
            self._active.pop(session, None)

    def enter_scope(self, name: str, *, metrics: Any = None) -> Any:
        number = next(self._next)
        self._scopes.append((name, number))
        return number

    def exit_scope(self, name: str | None = None, *,
                   metrics: Any = None) -> Any:
        return self._scopes.pop()[1] if self._scopes else None

    def depth(self, session: int = 0) -> Any:
        """How many scopes are open; None without the session."""
        return len(self._scopes) if session in self._active else None


class scope(contextlib.ContextDecorator):
    """A named part of a program, as context or decorator."""

    def __init__(self, name: str,
                 metrics: dict[str, int] | None = None) -> None:
        self.name = name
        self.metrics = metrics

    def __enter__(self) -> scope:
        return self

    def __exit__(self, *_: Any) -> None:
        return None


class cpu_timed_scope(scope):
    """A part whose time on the host would be measured."""


class state(scope):
    """A state, which replaces the scopes' names while it holds."""

    def __init__(self, name: Any) -> None:
        super().__init__(name)


def enter_state(name: Any) -> None:
    """Nothing is recorded."""


def exit_state() -> None:
    """Nothing is recorded."""


class BaseMode:
    """How a session would measure."""

    def __init__(self, name: str = "", **options: Any) -> None:
        self.name = name
        vars(self).update(options)

    def __str__(self) -> str:
        return self.name


class Default(BaseMode):
    pass


class MMA(BaseMode):
    pass


class PCSampling(BaseMode):
    pass


class InstrumentationMode(BaseMode):
    pass


def _profile(sessions):
    def profile(func=None, *, name=None, context="shadow", data="tree",
                backend=None, mode=None, hook=None):
        """Decorator: a session around each call."""
        if func is None:
            return functools.partial(profile, name=name, mode=mode)

        @functools.wraps(func)
        def wrapper(*args, **kwargs):
            session = sessions.start(name)
            try:
                return func(*args, **kwargs)
            finally:
                sessions.deactivate(session)
        return wrapper
    return profile


class Library:
    """What stands for the part of an installed Proton that measures a GPU,
    which would not start without one: sessions and scopes are counted."""

    def __init__(self) -> None:
        self._numbers = itertools.count()
        self._scopes = itertools.count()
        self._depth = 0

    def start(self, *_: Any) -> Any:
        return next(self._numbers)

    def record_scope(self) -> Any:
        return next(self._scopes)

    def enter_scope(self, *_: Any) -> Any:
        self._depth += 1

    def exit_scope(self, *_: Any) -> Any:
        self._depth = max(self._depth - 1, 0)

    def get_context_depth(self, session: Any) -> Any:
        return self._depth

    def put(self, module: types.ModuleType, put: Callable[..., Any]) -> None:
        """Takes the place of the module's functions: put(module, name,
        function) replaces one."""
        for name, function in list(vars(module).items()):
            if callable(function) and not isinstance(function, type):
                put(module, name, getattr(self, name, _nothing))


def _nothing(*_):
    """What has no session to write to."""


def namespaces() -> dict[str, dict[Any, Any]]:
    """{module below triton.profiler or "": its names}"""
    sessions = Sessions()
    run = {n: getattr(sessions, n) for n in (
        "start", "activate", "deactivate", "finalize")}
    run.update(profile=_profile(sessions),
               DEFAULT_PROFILE_NAME=DEFAULT_PROFILE_NAME)
    scopes = dict(scope=scope, cpu_timed_scope=cpu_timed_scope,
                  enter_scope=sessions.enter_scope,
                  exit_scope=sessions.exit_scope)
    states = dict(state=state, enter_state=enter_state, exit_state=exit_state)
    flags = types.SimpleNamespace(profiling_on=False,
                                  instrumentation_on=False,
                                  command_line=False)
    return {
        "": {**run, **scopes, **states},
        "profile": run, "scope": scopes, "state": states,
        "context": dict(depth=sessions.depth),
        "flags": dict(flags=flags),
        "mode": dict(BaseMode=BaseMode, Default=Default, MMA=MMA,
                     PCSampling=PCSampling,
                     InstrumentationMode=InstrumentationMode),
    }
