"""Operations of the language as host objects.

A Builtin has a name and nothing else: its meaning is in C.  The names come
from the library, so that ``hasattr(tl, "x")`` tells the truth.
"""
from __future__ import annotations

import difflib

from . import _capi
from . import session as session_


class Builtin:
    """One operation, ``tl.load``; calling it on the host is an error."""

    __triton_builtin__ = True

    def __init__(self, canonical, module="triton.language"):
        self.canonical = canonical
        self.__name__ = self.__qualname__ = canonical.rsplit(".", 1)[-1]
        self.__module__ = module
        self.__doc__ = f"{canonical}, an operation of the kernel language"

    def __call__(self, *args, **kwargs):
        raise ValueError(
            "Did you forget to add @triton.jit ? (`_semantic` argument must "
            "be provided outside of JIT functions.)")

    def __repr__(self):
        return f"<tkdbg builtin {self.canonical}>"

    def __reduce__(self):
        return _unpickled, (self.canonical,)

    def __mro_entries__(self, bases):
        raise TypeError(f"{self.canonical} cannot be a base class")


class Names:
    """The library's operations by canonical dotted name; a session owns
    one."""

    def __init__(self, session):
        self._lib = session.lib
        self._names = None
        self._made = {}

    def all(self):
        """Canonical names."""
        if self._names is None:
            self._names = frozenset(_capi.listed(self._lib.tk_builtin_name))
        return self._names

    def builtin(self, canonical, module="triton.language"):
        """The one Builtin of a name."""
        made = self._made.get(canonical)
        if made is None:
            made = self._made[canonical] = Builtin(canonical, module)
        return made

    def under(self, prefix):
        """Last parts of the names directly under "tl", "libdevice", ..."""
        start = prefix + "."
        return sorted(n[len(start):] for n in self.all()
                      if n.startswith(start) and "." not in n[len(start):])


def names():
    """The Names of the current session."""
    return session_.current().part(Names)


def builtin(session, canonical):
    """The one Builtin of a name."""
    return session.part(Names).builtin(canonical)


def _unpickled(canonical):
    return names().builtin(canonical)


def lookup(module_name, prefixes):
    """A module __getattr__ that finds operations under prefixes in turn.

    Under a prefix of which the library has no operation yet every name is
    found, so that files which import one can be read; a kernel that calls
    it is told.
    """
    def find(name):
        if not (name.startswith("__") and name.endswith("__")):
            known = names()
            for prefix in prefixes:
                canonical = f"{prefix}.{name}"
                if canonical in known.all() or not known.under(prefix):
                    return known.builtin(canonical, module_name)
        raise AttributeError(_message(module_name, name, prefixes))
    return find


def _message(module_name, name, prefixes):
    text = f"module '{module_name}' has no attribute '{name}'"
    known = [n for p in prefixes for n in names().under(p)]
    near = difflib.get_close_matches(name, known, 1)
    return text + (f" (did you mean '{near[0]}'?)" if near else "")
