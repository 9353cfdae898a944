"""torch.cuda.memory_allocated and its kin, for the virtual device.

What counts is the memory of the tensors that the program holds, rounded as
CUDA's allocator rounds it; PyTorch's temporary tensors are not seen.  Nothing
is counted until the first question: then the tensors that exist are found by
the garbage collector, and those that come and go afterwards are followed.
"""
from __future__ import annotations

import gc
import weakref

from . import device as device_
from .vcuda_marks import MARK

_ROUND = 512            # bytes that CUDA's allocator rounds to
_SEGMENT = 2 * 1024**2  # bytes that it takes from the driver at a time


def _rounded(number, step):
    return -(-number // step) * step


class _Figures:
    """The figures of one device."""

    def __init__(self):
        self.now = self.peak = self.reserved = self.most_reserved = 0
        self.allocations = 0

    def grow(self, size):
        self.now += size
        self.peak = max(self.peak, self.now)
        self.reserved = max(self.reserved, _rounded(self.now, _SEGMENT))
        self.most_reserved = max(self.most_reserved, self.reserved)
        self.allocations += 1

    def reset_peak(self):
        self.peak, self.most_reserved = self.now, self.reserved


class Memory:
    """Bytes that tensors hold, by device, from the first question on."""

    def __init__(self, virtual):
        self.virtual = virtual
        self.counting = False
        self._figures = {}  # number of the device -> _Figures
        self._known = {}    # address of a storage's C++ object -> finalizer

    def add(self, tensor):
        """Counts a tensor's storage, if it is new."""
        try:
            storage = tensor.untyped_storage()
            size = _rounded(storage.nbytes(), _ROUND)
        except (RuntimeError, NotImplementedError):
            return
        key = storage._cdata
        if not size or key in self._known:
            return
        figures = self._of(getattr(tensor, MARK))
        self._known[key] = weakref.finalize(storage, self._gone, key, figures,
                                            size)
        self._known[key].atexit = False
        figures.grow(size)

    def _gone(self, key, figures, size):
        if self._known.pop(key, None) is not None:
            figures.now -= size

    def _of(self, where):
        return self._figures.setdefault(where, _Figures())

    def figures(self, device=None):
        """The figures of a device, counted by now."""
        if not self.counting:
            self.counting = True
            tensor = self.virtual.tensor
            with self.virtual.torch._C.DisableTorchFunction():
                for found in gc.get_objects():
                    if issubclass(type(found), tensor) and found.__dict__.get(
                            MARK, -1) >= 0:
                        self.add(found)
        return self._of(self.virtual.index_of(device))

    # ---- torch.cuda's names ----------------------------------------------

    def functions(self):
        """{name in torch.cuda: function}"""
        def reading(name):
            return lambda device=None: getattr(self.figures(device), name)

        def reset(device=None):
            self.figures(device).reset_peak()

        found = {
            "memory_allocated": reading("now"),
            "max_memory_allocated": reading("peak"),
            "memory_reserved": reading("reserved"),
            "max_memory_reserved": reading("most_reserved"),
            "memory_stats": self.stats, "memory_summary": self.summary,
            "memory_stats_as_nested_dict": lambda device=None: {},
            "memory_snapshot": lambda *a, **k: [],
            "mem_get_info": self.free_and_total,
            "empty_cache": self.empty_cache,
            "reset_peak_memory_stats": reset,
            "reset_max_memory_allocated": reset,
            "reset_max_memory_cached": reset,
        }
        found["memory_cached"] = found["memory_reserved"]
        found["max_memory_cached"] = found["max_memory_reserved"]
        return found

    def free_and_total(self, device=None):
        """(free, total) bytes of a device."""
        total = device_.model().memory
        return max(0, total - self.figures(device).reserved), total

    def empty_cache(self):
        for figures in self._figures.values():
            figures.reserved = _rounded(figures.now, _SEGMENT)

    def stats(self, device=None):
        """The figures by the names of torch.cuda.memory_stats."""
        f, found = self.figures(device), {}
        for name, now, peak in (
                ("allocated_bytes", f.now, f.peak),
                ("active_bytes", f.now, f.peak),
                ("requested_bytes", f.now, f.peak),
                ("reserved_bytes", f.reserved, f.most_reserved)):
            found[f"{name}.all.current"] = now
            found[f"{name}.all.peak"] = peak
        found["allocation.all.allocated"] = f.allocations
        found["num_alloc_retries"] = found["num_ooms"] = 0
        return found

    def summary(self, device=None, abbreviated=False):
        """The figures as text."""
        f = self.figures(device)
        return (f"memory of the virtual device: {f.now} bytes allocated, "
                f"{f.peak} at most; {f.reserved} reserved, "
                f"{f.most_reserved} at most")
