"""torch.save and torch.load: a tensor's device goes through a file.

PyTorch writes a location beside each storage and asks a registry of
functions for it, and for the storage of a location when it reads.  The ones
here stand before PyTorch's own.
"""
from __future__ import annotations

from .vcuda_marks import HOST, is_cuda_device, text_of

_FIRST = 5    # before PyTorch's own, which begin at 10
_PRUNE = 512  # storages known before those that are gone are dropped


class Files:
    """Storages on the way to a file, or from one, and their places."""

    def __init__(self, virtual):
        self.virtual = virtual
        self._known = {}  # address of the storage's C++ object -> (weak, place)

    def install(self, patches):
        torch = self.virtual.torch
        serialization = torch.serialization
        patches.set(serialization, "_package_registry", sorted(
            [(_FIRST, self._tag, self._restore),
             *serialization._package_registry], key=lambda row: row[0]))
        patches.set(torch.UntypedStorage, "cuda",
                    lambda storage, device=None, *a, **k: self._note(
                        storage, self.virtual.index_of(device)))
        patches.set(torch.Tensor, "set_", self._set(torch.Tensor.set_))

    def uninstall(self):
        self._known.clear()

    def saving(self, tensor, where):
        """A tensor is being pickled; its storage follows."""
        if where is not None and where >= 0:
            self._note(tensor.untyped_storage(), where)

    def place(self, storage):
        """The place of a storage that came from a file, or None."""
        storage = getattr(storage, "_untyped_storage", storage)
        weak, where = self._known.get(getattr(storage, "_cdata", None),
                                      (None, None))
        return where if weak is not None and not weak.expired() else None

    def _note(self, storage, where):
        from torch.multiprocessing.reductions import StorageWeakRef
        if len(self._known) >= _PRUNE:
            self._known = {a: k for a, k in self._known.items()
                           if not k[0].expired()}
        storage = getattr(storage, "_untyped_storage", storage)
        self._known[storage._cdata] = StorageWeakRef(storage), where
        return storage

    def _set(self, before):
        """tensor.set_(storage or tensor, ...) moves the tensor where that
        is; modes are not told of a storage."""
        def set_(tensor, source=None, *args, **kwargs):
            if source is None:
                return before(tensor, *args, **kwargs)
            result = before(tensor, source, *args, **kwargs)
            where = (self.virtual.mark_of(source)
                     if isinstance(source, self.virtual.tensor)
                     else self.place(source))
            return result if where is None else self.virtual.mark(result,
                                                                  where)
        return set_

    def _tag(self, storage):
        where = self.place(storage)
        return None if where is None or where == HOST else text_of(where)

    def _restore(self, storage, location):
        if not is_cuda_device(location):
            return None
        return self._note(storage, self.virtual.index_of(location))
