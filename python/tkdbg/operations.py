"""Operations of the language as host objects.

A Builtin has a name and nothing else: its meaning is in C.  The names come
from the library, so that ``hasattr(tl, "x")`` tells the truth.
"""
from __future__ import annotations

import difflib
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from . import _capi
from . import session as session_

if TYPE_CHECKING:
    from .session import Session


class Builtin:
    """One operation, ``tl.load``; calling it on the host is an error."""

    __triton_builtin__ = True

    def __init__(self, canonical: str, module: str = "triton.language") -> None:
        self.canonical = canonical
        self.__name__ = self.__qualname__ = canonical.rsplit(".", 1)[-1]
        self.__module__ = module
        self.__doc__ = f"{canonical}, an operation of the kernel language"

    def __call__(self, *args: Any, **kwargs: Any) -> None:
        raise ValueError(
            "Did you forget to add @triton.jit ? (`_semantic` argument must "
            "be provided outside of JIT functions.)")

    def __repr__(self) -> str:
        return f"<tkdbg builtin {self.canonical}>"

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[str, ...]]:
        return _unpickled, (self.canonical,)

    def __mro_entries__(self, bases: Any) -> Any:
        raise TypeError(f"{self.canonical} cannot be a base class")


class Names:
    """The library's operations by canonical dotted name; a session owns
    one."""

    def __init__(self, session: Session) -> None:
        self._lib = session.lib
        self._names: Any = None
        self._made: dict[Any, Any] = {}
        self._under: dict[str, list[str]] = {}
        self._near: dict[Any, str] = {}  # what lookup() has said

    def all(self) -> frozenset[str]:
        """Canonical names."""
        if self._names is None:
            self._names = frozenset(_capi.listed(self._lib.tk_builtin_name))
        return self._names

    def builtin(self, canonical: str,
                module: str = "triton.language") -> Builtin:
        """The one Builtin of a name."""
        made = self._made.get(canonical)
        if made is None:
            made = self._made[canonical] = Builtin(canonical, module)
        return made

    def under(self, prefix: str) -> list[str]:
        """Last parts of the names directly under "tl", "libdevice", ..."""
        found = self._under.get(prefix)
        if found is None:
            start = prefix + "."
            found = self._under[prefix] = sorted(
                n[len(start):] for n in self.all()
                if n.startswith(start) and "." not in n[len(start):])
        return found

    def near(self, name: str, prefixes: tuple[str, ...]) -> str:
        """What may have been meant by a name that is not there; kept, since
        each compilation asks modules for names that only other values have."""
        found = self._near.get((name, prefixes))
        if found is None:
            known = [n for p in prefixes for n in self.under(p)]
            near = difflib.get_close_matches(name, known, 1)
            found = self._near[name, prefixes] = (
                f" (did you mean '{near[0]}'?)" if near else "")
        return found


def names() -> Names:
    """The Names of the current session."""
    return session_.current().part(Names)


def builtin(session: Session, canonical: str) -> Builtin:
    """The one Builtin of a name."""
    return session.part(Names).builtin(canonical)


def _unpickled(canonical):
    return names().builtin(canonical)


def lookup(module_name: str, prefixes: tuple[str, ...]) -> Callable[..., Any]:
    """A module __getattr__ that finds operations under prefixes in turn.

    Under a prefix of which the library has no operation yet every name is
    found, so that files which import one can be read; a kernel that calls
    it is told.
    """
    def find(name):
        text = f"module '{module_name}' has no attribute '{name}'"
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(text)  # Python asks for many of these
        known = names()
        for prefix in prefixes:
            canonical = f"{prefix}.{name}"
            if canonical in known.all() or not known.under(prefix):
                return known.builtin(canonical, module_name)
        raise AttributeError(text + known.near(name, prefixes))
    return find
