"""What the memory of PyTorch tensors was made from, while `why` watches.

A comparison is of two tensors, and a script may give either one first.  Of a
tensor that has the values that a launch wrote, its history tells whether it is
a copy of what the launch wrote, or whether the host worked it out from other
tensors and it merely agrees.

Each call of a PyTorch function adds what its arguments were made from to what
its result is, element by element or not, so a history may name a launch that a
tensor has nothing of, but leaves none out.  What comes from elsewhere once a
launch has run, such as gradients and arrays of NumPy, has no history.
"""
from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from . import arrays, fresh, hostlines, torch_private

MOST_ROOTS = 64  # of a tensor; with more it has no history
_PRUNE = 256  # storages known before those that are gone are dropped

# functions whose results hold nothing of their arguments
_MAKERS = frozenset(
    "empty zeros ones full rand randn randint arange linspace eye randperm "
    "empty_like zeros_like ones_like full_like rand_like randn_like "
    "randint_like new_empty new_zeros new_ones new_full empty_strided "
    "new_empty_strided".split())

# (number of a launch, parameter): what tensors are made from
Roots = frozenset[tuple[int, str]]
Call = Callable[[Any, Any, Any], Any]


class _Storage(NamedTuple):
    weak: Any
    roots: Roots | None  # None: it has no history
    site: hostlines.Site | None  # where the script made it
    plain: bool  # from nothing, as torch.zeros does, or from one that was


class History:
    """The histories of storages, by address."""

    def __init__(self) -> None:
        self._known: dict[int, _Storage] = {}
        self._limit = _PRUNE
        self._begun = False  # a launch has run

    def of(self, array: Any) -> Roots | None:
        """What a tensor was made from; None: unknown."""
        found = self._find(array)
        return None if found is None else found.roots

    def made(self, array: Any) -> hostlines.Site | None:
        """Where the script made a tensor; None: nobody knows."""
        found = self._find(array)
        return found.site if found else None

    def is_plain(self, array: Any) -> bool:
        """Whether it was made from nothing, as torch.zeros does, or from such
        a tensor alone."""
        found = self._find(array)
        return found is not None and found.plain

    def launched(self, number: int, tensors: dict[str, Any]) -> None:
        """The launch of that number may write its tensors, by parameter."""
        self._begun = True
        for name, tensor in tensors.items():
            found = self._find(tensor)
            own: Roots = frozenset([(number, name)])
            if found is not None:
                self._note(tensor, _joined((found.roots, own)), found.site,
                           False)

    def following(self, call: Call) -> Call:
        """call, which runs a function of PyTorch, with an eye on its result."""
        def called(func: Any, args: Any, kwargs: Any) -> Any:
            result = call(func, args, kwargs)
            self._called(func, args, kwargs, result)
            return result
        return called

    # ---- inside ----------------------------------------------------------

    def _called(self, func, args, kwargs, result):
        name = getattr(func, "__name__", "")
        with torch_private.unseen():
            written = list(_tensors((
                args[:1] if _is_in_place(name) else (), kwargs.get("out"))))
            made = [t for t in _tensors((result,))
                    if self._find(t) is None]
            if not (made or written):
                return
            given = [] if name in _MAKERS or _is_gradient(func) else list(
                _tensors((args, tuple(kwargs.values()))))
            roots = _joined(map(self._roots, given)) if (
                given or name in _MAKERS) else self._elsewhere()
            plain = name in _MAKERS or len(given) == 1 and (
                self.is_plain(given[0]))
            for t in made:
                self._note(t, roots, hostlines.site(), plain)
            for t in written:
                found = self._find(t)
                if found is not None:
                    self._note(t, _joined((found.roots, roots)), found.site,
                               found.plain and not given[1:])

    def _elsewhere(self):
        """What something was made from that nobody has seen being made."""
        return None if self._begun else frozenset()

    def _roots(self, tensor):
        found = self._find(tensor)
        return self._elsewhere() if found is None else found.roots

    def _find(self, array):
        if isinstance(array, _tensor_classes()):
            with torch_private.unseen():
                at = fresh.where_in_memory(array)
        else:  # an array of NumPy may lie in the memory of a tensor
            lies = arrays.memory(array)
            at = 0 if lies is None else lies.storage
        found = self._known.get(at)
        return None if found is None or found.weak.expired() else found

    def _note(self, t, roots, site, plain):
        from torch.multiprocessing.reductions import StorageWeakRef
        with torch_private.unseen():
            at = fresh.where_in_memory(t)
            if not at:
                return
            if len(self._known) >= self._limit:
                self._prune()
            self._known[at] = _Storage(StorageWeakRef(t.untyped_storage()),
                                       roots, site, plain)

    def _prune(self):
        self._known = {a: s for a, s in self._known.items()
                       if not s.weak.expired()}
        self._limit = 2 * len(self._known) + _PRUNE


def _joined(parts: Iterable[Roots | None]) -> Roots | None:
    """What something made of several tensors was made from."""
    found: Roots = frozenset()
    for part in parts:
        if part is None:
            return None
        found |= part
    return found if len(found) <= MOST_ROOTS else None


def _tensors(values):
    """Those of subclasses, such as parameters, too."""
    classes = _tensor_classes()
    return fresh.found_in(values, lambda value: isinstance(value, classes))


def _is_gradient(func):
    """Whether a call gives a tensor's .grad, which the tensor is no part of
    the history of: autograd has made it."""
    torch = sys.modules.get("torch")
    return torch is not None and (
        getattr(func, "__self__", None) is torch.Tensor.grad)


def _is_in_place(name):
    return name == "__setitem__" or (
        name.endswith("_") and not name.endswith("__")) or (
        name.startswith("__i") and name.endswith("__"))


def _tensor_classes():
    """torch.Tensor, if the script uses PyTorch."""
    torch = sys.modules.get("torch")
    return () if torch is None else torch.Tensor
