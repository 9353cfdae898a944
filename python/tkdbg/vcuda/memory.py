"""torch.cuda.memory_allocated and its kin, for the virtual device.

What counts is the memory of the tensors that the program holds, rounded as
CUDA's allocator rounds it; PyTorch's temporary tensors are not seen.  Nothing
is counted until the first question: then the tensors that exist are found by
the garbage collector, and those that come and go afterwards are followed.
"""
from __future__ import annotations

import gc
import re
import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from .. import device as device_, torch_private
from .marks import MARK

if TYPE_CHECKING:
    from .virtual import VirtualCuda

_ROUND = 512            # bytes that CUDA's allocator rounds to
_SEGMENT = 2 * 1024**2  # bytes that it takes from the driver at a time
_SMALL = 1024**2        # bytes of the largest block of the small pool

# How PyTorch says that the host has not got the memory.
_NO_MEMORY = re.compile(r"can't allocate memory: you tried to allocate (\d+)")


def _rounded(number, step):
    return -(-number // step) * step


class _Count:
    """One figure: what it is now, was at most, and all that came and went."""

    def __init__(self):
        self.current = self.peak = self.allocated = self.freed = 0

    def change(self, amount):
        self.current += amount
        if amount > 0:
            self.allocated += amount
            self.peak = max(self.peak, self.current)
        else:
            self.freed -= amount

    def dictionary(self):
        return dict(vars(self))


_NAMES = ("allocated_bytes", "reserved_bytes", "requested_bytes", "allocation",
          "segment")
_SAME = {"active_bytes": "allocated_bytes", "active": "allocation"}
_NONE = "inactive_split_bytes", "inactive_split"
_OVERSIZE = "oversize_allocations", "oversize_segments"
_POOLS = "all", "small_pool", "large_pool"


class _Figures:
    """The figures of one device, by name and pool."""

    def __init__(self):
        self.counts = {(name, pool): _Count()
                       for name in _NAMES for pool in _POOLS}
        self.failures = 0

    def of(self, name, pool="all"):
        return self.counts[name, pool]

    def change(self, asked, size, sign):
        """A block of so many bytes has come or gone."""
        own = "small_pool" if size <= _SMALL else "large_pool"
        for pool in "all", own:
            self.of("allocated_bytes", pool).change(sign * size)
            self.of("requested_bytes", pool).change(sign * asked)
            self.of("allocation", pool).change(sign)
        if sign > 0:
            self.reserve(own, grow=True)

    def reserve(self, pool, grow=False):
        """Takes segments for a pool, or gives back those that are empty."""
        needed = _rounded(self.of("allocated_bytes", pool).current, _SEGMENT)
        change = needed - self.of("reserved_bytes", pool).current
        if change > 0 if grow else change < 0:
            for each in "all", pool:
                self.of("reserved_bytes", each).change(change)
                self.of("segment", each).change(change // _SEGMENT)

    def reset(self, *names):
        for count in self.counts.values():
            for name in names:
                setattr(count, name, count.current if name == "peak" else 0)

    def nested(self):
        """What torch.cuda.memory_stats_as_nested_dict() gives."""
        found: dict[str, Any] = {
            name: {pool: self.of(_SAME.get(name, name), pool).dictionary()
                        for pool in _POOLS} for name in (*_NAMES, *_SAME)}
        found.update((name, {pool: _Count().dictionary() for pool in _POOLS})
                     for name in _NONE)
        found.update((name, _Count().dictionary()) for name in _OVERSIZE)
        segments = self.of("segment")
        found.update(num_alloc_retries=0, num_sync_all_streams=0,
                     max_split_size=-1, num_ooms=self.failures,
                     num_device_alloc=segments.allocated,
                     num_device_free=segments.freed)
        return found


class Memory:
    """Bytes that tensors hold, by device, from the first question on."""

    def __init__(self, virtual: VirtualCuda) -> None:
        self.virtual = virtual
        self.counting = False
        self._figures: dict[Any, Any] = {}  # number of the device -> _Figures
        # address of a storage's C++ object -> finalizer
        self._known: dict[Any, Any] = {}

    def add(self, tensor: Any) -> None:
        """Counts a tensor's storage, if it is new and has memory: that of a
        fake tensor, or of one that wraps another, has none."""
        try:
            storage = tensor.untyped_storage()
            asked = storage.nbytes()
            if storage.device.type == "meta" or not storage.data_ptr():
                return
        except (RuntimeError, NotImplementedError):
            return
        key = torch_private.identity(storage)
        if not asked or key in self._known:
            return
        size = _rounded(asked, _ROUND)
        figures = self._of(getattr(tensor, MARK))
        self._known[key] = weakref.finalize(storage, self._gone, key, figures,
                                            asked, size)
        self._known[key].atexit = False
        figures.change(asked, size, 1)

    def _gone(self, key, figures, asked, size):
        if self._known.pop(key, None) is not None:
            figures.change(asked, size, -1)

    def _of(self, where):
        return self._figures.setdefault(where, _Figures())

    def figures(self, device: int | None = None) -> _Figures:
        """The figures of a device, counted by now."""
        if not self.counting:
            self.counting = True
            tensor = self.virtual.tensor
            with torch_private.unseen():
                for found in gc.get_objects():
                    if issubclass(type(found), tensor) and found.__dict__.get(
                            MARK, -1) >= 0:
                        self.add(found)
        return self._of(self.virtual.index_of(device))

    def lacking(self, error: Any, where: Any) -> Any:
        """The error of CUDA for one that says that memory is exhausted."""
        asked = _NO_MEMORY.search(str(error))
        if asked is None:
            return error
        figures = self.figures(where)
        figures.failures += 1
        free, total = self.free_and_total(where)
        used = figures.of("allocated_bytes").current
        cached = figures.of("reserved_bytes").current - used
        return self.virtual.torch.OutOfMemoryError(
            f"CUDA out of memory. Tried to allocate {_text(int(asked[1]))}. "
            f"GPU {where} has a total capacity of {_text(total)} of which "
            f"{_text(free)} is free. Including non-PyTorch memory, this "
            f"process has {_text(total - free)} memory in use. Of the "
            f"allocated memory {_text(used)} is allocated by PyTorch, and "
            f"{_text(cached)} is reserved by PyTorch but unallocated.\n"
            "tkdbg: the memory of the virtual device is the host's")

    # ---- torch.cuda's names ----------------------------------------------

    def functions(self) -> dict[str, Callable[..., Any]]:
        """{name in torch.cuda: function}; PyTorch's own give the rest, from
        what ``natives`` says."""
        def reading(name, which):
            return lambda device=None: getattr(
                self.figures(device).of(name), which)

        def reset(device=None):
            self.figures(device).reset("peak")

        found = {
            "memory_allocated": reading("allocated_bytes", "current"),
            "max_memory_allocated": reading("allocated_bytes", "peak"),
            "memory_reserved": reading("reserved_bytes", "current"),
            "max_memory_reserved": reading("reserved_bytes", "peak"),
            "memory_snapshot": lambda *a, **k: [],
            "mem_get_info": self.free_and_total,
            "empty_cache": self.empty_cache,
            "reset_peak_memory_stats": reset,
        }
        found["memory_cached"] = found["memory_reserved"]
        found["max_memory_cached"] = found["max_memory_reserved"]
        return found

    def natives(self) -> dict[str, Callable[..., Any]]:
        """{name: function}; see torch_private.set_natives"""
        return {
            "memoryStats": lambda device: self.figures(device).nested(),
            "resetPeakMemoryStats":
                lambda device: self.figures(device).reset("peak"),
            "resetAccumulatedMemoryStats":
                lambda device: self.figures(device).reset("allocated",
                                                          "freed"),
            "emptyCache": self.empty_cache,
            "memorySnapshot": lambda *_: {
                "segments": [], "device_traces": [],
                "allocator_settings": {}, "external_annotations": []},
            "record_memory_history": lambda *_, **__: None,
            "getAllocatorBackend": lambda: "native",
            "getMemoryFraction": lambda device: 1.0,
            "hostMemoryStats": dict,  # pinned memory is the host's
            "resetPeakHostMemoryStats": lambda: None,
            "resetAccumulatedHostMemoryStats": lambda: None,
        }

    def free_and_total(self, device: int | None = None) -> tuple[int, int]:
        """(free, total) bytes of a device."""
        total = device_.model().memory
        reserved = self.figures(device).of("reserved_bytes").current
        return max(0, total - reserved), total

    def empty_cache(self) -> None:
        for figures in self._figures.values():
            for pool in _POOLS[1:]:
                figures.reserve(pool)


def _text(size):
    """Bytes as CUDA's allocator writes them."""
    for name, power in ("GiB", 30), ("MiB", 20), ("KiB", 10):
        if size >= 1 << power:
            return f"{size / (1 << power):.2f} {name}"
    return f"{size} bytes"
