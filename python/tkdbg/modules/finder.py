"""Finds our modules under the name ``triton``.

Who answers ``import triton``:

ours        these modules, whether Triton is installed or not
installed   real Triton, with decoration, launches, autotuning and driver
            queries taken over (takeover.py)
auto        installed where Triton is installed, else ours

A module of Triton's that we lack is not found; ``advice`` says what to do.
"""
from __future__ import annotations

import importlib.abc
import importlib.machinery
import importlib.util
import sys
import types
from typing import Any

from .. import operations
from . import table

ROOT = "triton"


class Loader(importlib.abc.Loader):
    """Makes one module from its namespace in the table."""

    def __init__(self, finder: Finder, namespace: dict[Any, Any],
                 prefixes: tuple[str, ...]) -> None:
        self.finder = finder
        self.namespace = namespace
        self.prefixes = prefixes

    def create_module(self, spec: Any) -> types.ModuleType:
        return types.ModuleType(spec.name)

    def exec_module(self, module: types.ModuleType) -> None:
        module.__file__ = __file__
        vars(module).update(self.namespace)
        names = [n for n in self.namespace if not n.startswith("_")]
        if self.prefixes:
            names += [n for p in self.prefixes
                      for n in operations.names().under(p)
                      if n not in self.namespace]
            vars(module).update(
                __getattr__=operations.lookup(module.__name__, self.prefixes),
                __dir__=lambda: sorted(set(vars(module)) | set(names)))
        vars(module)["__all__"] = names
        if module.__name__ == ROOT:
            self.finder.import_all()


class Lazy(importlib.abc.Loader):
    """A module of tkdbg's under a name of triton's, run when imported."""

    def __init__(self, name: str) -> None:
        self.name = name

    def create_module(self, spec: Any) -> types.ModuleType:
        return types.ModuleType(spec.name)

    def exec_module(self, module: types.ModuleType) -> None:
        ours = importlib.import_module(self.name, __package__)
        module.__file__ = ours.__file__
        vars(module).update((n, v) for n, v in vars(ours).items()
                            if n == "__getattr__" or not n.startswith("__"))


# what needs PyTorch or NumPy
LAZY = {f"{ROOT}._internal_testing": ".internal_testing",
        f"{ROOT}.tools.mxfp": ".mxfp",
        f"{ROOT}.tools.ragged_tma": ".ragged"}


class Finder(importlib.abc.MetaPathFinder):
    """Finds triton and everything under it."""

    def __init__(self) -> None:
        self._table: Any = None

    @property
    def table(self) -> dict[str, tuple[Any, ...]]:
        if self._table is None:
            self._table = table.build()
        return self._table

    def find_spec(self, name: str, path: Any = None,
                  target: types.ModuleType | None = None) -> Any:
        if name != ROOT and not name.startswith(ROOT + "."):
            return None
        if name in LAZY:
            return importlib.util.spec_from_loader(name, Lazy(LAZY[name]))
        entry = self.table.get(name)
        if entry is None:
            return None
        package = any(n.startswith(name + ".") for n in self.table)
        return importlib.util.spec_from_loader(
            name, Loader(self, *entry), is_package=package)

    def import_all(self) -> None:
        """Imports every module, so that attribute access finds them all
        (``triton.runtime.driver`` without importing it)."""
        for name in self.table:
            if name != ROOT:
                __import__(name)
        for name, (namespace, _) in self.table.items():
            vars(sys.modules[name]).update(namespace)


def advice(error: Any) -> str:
    """What to do about a missing module, of Triton or another, or ""."""
    name = getattr(error, "name", None) or ""
    if loaded() != "ours" or name.partition(".")[0] != ROOT:
        return _absent(error)
    if "gluon" in name.split("."):
        return ("Gluon is not Triton's language, and tkdbg does not support "
                "it: it runs @triton.jit kernels.")
    return (f"tkdbg stands in for triton and lacks a part of {name}. Where "
            "Triton is installed, `tkdbg run --triton installed` keeps it "
            "in place and takes over launches only.")


def _absent(error):
    """Which Python it was that has no such package, and how to name another."""
    if not isinstance(error, ModuleNotFoundError) or not error.name:
        return ""
    return (f"the script ran under {sys.executable}, which has no module "
            f"{error.name}; `tkdbg run --python PATH` or an active virtual "
            "environment names another Python.")


def loaded() -> str | None:
    """Whose triton is imported: "ours", "installed" or None."""
    module = sys.modules.get(ROOT)
    if module is None:
        return None
    loader = getattr(getattr(module, "__spec__", None), "loader", None)
    return "ours" if isinstance(loader, Loader) else "installed"


def unload() -> None:
    """Forgets our modules; the finder is the caller's to remove."""
    if loaded() == "ours":
        for name in list(sys.modules):
            if name == ROOT or name.startswith(ROOT + "."):
                del sys.modules[name]
