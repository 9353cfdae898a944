"""Where the free names of a kernel's function live.

Lookup order is Python's: closure cells, then the function's globals.  Of
Python's builtins kernels know few, which the library names itself.
"""
from __future__ import annotations

MISSING = object()


class Scope:
    """Where one function's free names live.

    ``used`` collects what a kernel's compiled form depends on:
    {name: (dict or cell, value)}; ``callees`` the scopes of functions it
    reached.
    """

    def __init__(self, fn):
        self.globals = fn.__globals__
        code = fn.__code__
        self.cells = dict(zip(code.co_freevars, fn.__closure__ or ()))
        self.used = {}
        self.callees = {}

    def find(self, name):
        """(value, dict or cell that holds it); MISSING when unknown."""
        cell = self.cells.get(name)
        if cell is not None:
            try:
                return cell.cell_contents, cell
            except ValueError:  # not assigned yet
                return MISSING, None
        if name in self.globals:
            return self.globals[name], self.globals
        return MISSING, None

    def changed(self, seen=None):
        """(name, before, now) of a used value that changed, or None."""
        seen = set() if seen is None else seen
        seen.add(id(self))
        for name, (_, before) in self.used.items():
            now = self.find(name)[0]
            if now is not before and not _same(now, before):
                return name, before, None if now is MISSING else now
        for scope in self.callees.values():
            if id(scope) not in seen:
                found = scope.changed(seen)
                if found:
                    return found
        return None


def annotations(module_globals):
    """A module's annotations by its globals, on every Python version."""
    found = module_globals.get("__annotations__")
    if found is None and callable(module_globals.get("__annotate__")):
        try:  # Python 3.14 computes them when asked
            found = module_globals["__annotate__"](1)
        except Exception:
            found = {}
        module_globals["__annotations__"] = found
    return found if isinstance(found, dict) else {}


def is_constexpr_annotation(note):
    """True for tl.constexpr, "tl.constexpr", "constexpr" and the like."""
    text = note if isinstance(note, str) else getattr(note, "__name__", "")
    return "constexpr" in text


def _same(a, b):
    if type(a) is not type(b):
        return False
    if hasattr(a, "value") and hasattr(b, "value"):
        a, b = a.value, b.value
    try:
        return bool(a == b)
    except Exception:
        return False
