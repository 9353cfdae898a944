"""Storages, and the device of a tensor on its way through one: torch.save,
torch.load, queues between processes.

PyTorch writes a location beside each storage and asks a registry of
functions for it, and for the storage of a location when it reads.  The ones
here are asked before PyTorch's own.
"""
from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, cast

from .. import session as session_, torch_private
from .marks import HOST, is_cuda_device, text_of

if TYPE_CHECKING:
    from ..patches import Patches
    from .virtual import VirtualCuda

_FIRST = 5    # before PyTorch's own, which begin at 10
_PRUNE = 512  # storages known before those that are gone are dropped


class Files:
    """Storages on the way to a file, or from one, and their places."""

    def __init__(self, virtual: VirtualCuda) -> None:
        self.virtual = virtual
        # address of the storage's C++ object -> (weak, place)
        self._known: dict[Any, Any] = {}

    def install(self, patches: Patches) -> None:
        torch = self.virtual.torch
        serialization = torch.serialization
        patches.set(serialization, torch_private.PACKAGES, sorted(
            [(_FIRST, self._tag, self._restore),
             *torch_private.packages()], key=lambda row: row[0]))
        for name, value in self._methods(torch.UntypedStorage).items():
            patches.set(torch.UntypedStorage, name, value)
        patches.set(torch.Tensor, "set_", self._set(torch.Tensor.set_))
        self._patch_queues(patches)

    def _methods(self, storage):
        """What a storage says of its device, and how it moves."""
        device, index_of = storage.device, self.virtual.index_of

        def where_of(this):
            where = self.place(this)
            return (device.__get__(this) if where is None
                    else self.virtual.device_at(where))

        def moved(this, device, non_blocking=False):
            where = self.virtual.place_of(device)
            if where == HOST:
                return this.cpu()
            if where == self.place(this):
                return this
            return self.note(storage(this.nbytes()).copy_(this), where)

        def clone(this):
            return self.note(storage(this.nbytes()).copy_(this),
                             self.place(this))

        return {
            "device": property(where_of),
            "is_cuda": property(lambda this: where_of(this).type == "cuda"),
            "cuda": lambda this, device=None, non_blocking=False: moved(
                this, index_of(device)),
            "to": lambda this, *, device, non_blocking=False: moved(
                this, device),
            "clone": clone,
        }

    def _patch_queues(self, patches):
        """Tensors that are sent to another process keep their device."""
        from multiprocessing.reduction import ForkingPickler
        torch, pickler = self.virtual.torch, cast(Any, ForkingPickler)
        reducers = pickler._extra_reducers
        reduce = reducers.get(torch.Tensor)
        if reduce is None:
            return

        def send(tensor):
            where = self.virtual.mark_of(tensor)
            with torch_private.unseen():
                self._known.pop(torch_private.identity(
                    tensor.untyped_storage()), None)
                function, args = reduce(tensor)
            return receive, (where, function, args)

        kinds = torch.Tensor, torch.nn.Parameter
        patches.set(ForkingPickler, "_extra_reducers",
                    {**reducers, **dict.fromkeys(kinds, send)})

    def uninstall(self) -> None:
        self._known.clear()

    def saving(self, tensor: Any, where: int) -> None:
        """A tensor is being pickled; its storage follows."""
        if where is not None and where >= 0:
            self.note(tensor.untyped_storage(), where)

    def place(self, storage: Any) -> Any:
        """The place of a storage that has been noted, or None."""
        weak, where = self._known.get(torch_private.identity(storage),
                                      (None, None))
        return where if weak is not None and not weak.expired() else None

    def note(self, storage: Any, where: Any) -> Any:
        """Remembers where a storage is, which may be None; returns the
        storage."""
        from torch.multiprocessing.reductions import StorageWeakRef
        if len(self._known) >= _PRUNE:
            self._known = {a: k for a, k in self._known.items()
                           if not k[0].expired()}
        if where is not None:
            self._known[torch_private.identity(storage)] = (
                StorageWeakRef(torch_private.untyped(storage)), where)
        return storage

    def _set(self, before):
        """tensor.set_(storage or tensor, ...) moves the tensor where that
        is; modes are not told of a storage."""
        def set_(tensor, source=None, *args, **kwargs):
            if source is None:
                return before(tensor, *args, **kwargs)
            if isinstance(source, self.virtual.tensor):
                self._check_places(tensor, source)
            result = before(tensor, source, *args, **kwargs)
            where = (self.virtual.mark_of(source)
                     if isinstance(source, self.virtual.tensor)
                     else self.place(source))
            return result if where is None else self.virtual.mark(result,
                                                                  where)
        return set_

    def _check_places(self, tensor, source):
        here, there = map(self.virtual.place, (tensor, source))
        if here != there and self.virtual.strict:
            raise RuntimeError(
                "Attempted to set the storage of a tensor on device "
                f"\"{text_of(here)}\" to a storage on different device "
                f"\"{text_of(there)}\".  This is no longer allowed; the "
                "devices must match.")

    def _tag(self, storage):
        where = self.place(storage)
        return None if where is None or where == HOST else text_of(where)

    def _restore(self, storage, location):
        if not is_cuda_device(location):
            return None
        return self.note(storage, self.virtual.index_of(location))


def receive(
        where: int, function: Callable[..., Any],
        args: tuple[type, Any, tuple[int, Any, tuple[int, int], bool]]) -> Any:
    """A tensor that another process has sent."""
    tensor, virtual = function(*args), session_.current().setup.cuda
    return tensor if virtual is None or where is None else virtual.mark(
        tensor, where)
