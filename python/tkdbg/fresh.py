"""Which memory of PyTorch tensors was never written.

torch.empty and its relatives give memory that holds nothing yet.  Its
storage is remembered here, with a map of a byte for each of its bytes that
the detectors keep up to date while kernels run, so that views of it and
later launches know what is still missing.

The program writes as well.  PyTorch counts the writes to a storage in a
version that all views share; where the writes that are understood (fill_,
copy_, an assignment to a slice, ...) do not account for the version, or
the memory was handed out, everything counts as written.
"""
from __future__ import annotations

import ctypes
import functools
import mmap
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from . import _capi, torch_private

if TYPE_CHECKING:
    import types

_NONE = (0, 0, 0)
_NAN = float("nan")
_PRUNE = 64  # storages known before those that are gone are dropped


class _Storage:
    """A storage with memory that was never written."""

    def __init__(self, weak, version):
        self.weak = weak
        self.version = version
        self.map = None  # what was written, if something was; see _Map
        self.launched = False  # a launch may have written it, nobody knows what

    def make_map(self, nbytes):
        if self.map is None:
            self.map = _Map(nbytes)
        return self.map

    def done(self):
        """Nothing is left to be written, or nobody could read it."""
        return self.weak.expired() or (
            self.map is not None and self.map.is_full())


class _Held(NamedTuple):
    """A finding that waits until the host reads the memory."""

    say: Callable[[], None]
    followed: bool  # a map says which elements are missing
    weak: Any       # the storage: another one may come to its address


class _Map:
    """A byte for each byte of a storage, 1 where it was written.

    Untouched pages of an anonymous private mapping are zeros that take no
    memory, so a map takes some for what was written."""

    def __init__(self, nbytes):
        self.memory = mmap.mmap(-1, nbytes, mmap.MAP_PRIVATE
                                | mmap.MAP_ANONYMOUS)
        self.address = ctypes.addressof(
            ctypes.c_char.from_buffer(self.memory))

    def __len__(self):
        return len(self.memory)

    def is_empty(self):
        return self.memory.find(b"\x01") < 0

    def is_full(self):
        return not self.is_missing(0, len(self))

    def is_missing(self, start, end):
        return self.memory.find(b"\x00", start, end) >= 0


class Fresh:
    """Storages that torch.empty made, by address."""

    def __init__(self, follow: bool) -> None:
        """follow: whether detectors keep the maps up to date; without them
        a storage counts as written after its first launch."""
        self.follow = follow
        self._keep = False  # ... what the host writes in any case
        self._known: dict[Any, Any] = {}
        self._given: set[Any] = set()  # addresses that a launch was told of
        self._limit = _PRUNE
        self.held: dict[Any, Any] = {}    # address of a storage -> [_Held]
        # Findings that the host has made untrue, or whose memory is gone.
        self.dropped = 0

    def keep_maps(self, follow: bool) -> None:
        """Whether detectors keep the maps up to date from here on."""
        self.follow = follow

    def keep_host_maps(self) -> None:
        """Maps say what the host writes, though no detector follows what
        launches do: a launch that is recorded is run again under them."""
        self._keep = True

    def made(self, t: Any, poison: bool) -> None:
        """Notes the result of torch.empty; poison: fills it, so that the
        same inputs give the same bits, and a read is seen."""
        if type(t) is not _torch().Tensor:
            return  # such as a fake tensor, which has no memory
        if poison:
            _poison(t)
        self.add(t)

    def add(self, t: Any) -> None:
        """Notes memory that was never written."""
        version = torch_private.version(t)
        if version is None or t.layout is not _torch().strided:
            return
        storage = t.untyped_storage()
        address = _address(storage)
        if not address:
            return
        if len(self._known) >= self._limit:
            self._prune()
        from torch.multiprocessing.reductions import StorageWeakRef
        self._known[address] = _Storage(StorageWeakRef(storage), version)

    def forget(self, t: Any) -> None:
        """Its memory may be written without anybody noticing."""
        if self._known:
            with torch_private.unseen():
                self._known.pop(where_in_memory(t), None)

    def of(self, t: Any, address: int) -> tuple[int, int, int]:
        """The members flags, device_address and written of a tk_tensor,
        for a tensor of the storage at an address."""
        found = self._valid(t, address)
        if found is None or found.launched:
            return _NONE
        if not self.follow:
            self._given.add(address)
            if found.map is None:
                return _capi.TENSOR_UNWRITTEN, 0, 0
        nbytes = t.untyped_storage().nbytes()
        if not nbytes:
            return _capi.TENSOR_UNWRITTEN, 0, 0
        data = found.make_map(nbytes)
        if data.is_full():
            del self._known[address]
            return _NONE
        flags = _capi.TENSOR_UNWRITTEN if data.is_empty() else 0
        return flags, 0, data.address

    def ran(self) -> None:
        """A launch has run, and may have written what it was told of."""
        while self._given:
            address = self._given.pop()
            if self._keep and address in self._known:
                self._known[address].launched = True
            else:
                self._known.pop(address, None)

    def is_left_by_host(self, t: Any, at: int) -> bool:
        """Whether the host has certainly not written the byte at an address
        in the memory of t, which launches may have written."""
        if not self._known or not isinstance(t, _torch().Tensor):
            return False
        with torch_private.unseen():
            start = where_in_memory(t)
            found = self._valid(t, start)
        return found is not None and (
            found.map is None or found.map.is_missing(at - start,
                                                      at - start + 1))

    def writes(self, t: Any, write: Callable[..., Any],
               part: Callable[..., Any]) -> Any:
        """Calls write(), after which part() is written and nothing else."""
        found = None
        if self._known:
            found = self._valid(t, where_in_memory(t))
        result = write()
        if not (self.follow or self._keep):
            self.forget(t)
        elif found is not None:
            self._wrote(found, part())
            found.version = torch_private.version(t)
        return result

    # ---- what the host does after a launch --------------------------------

    @property
    def unsaid(self) -> int:
        """How many findings were not said: those that wait for what the
        host does, and those that it has made untrue."""
        return self.dropped + sum(map(len, self.held.values()))

    def hold(self, t: Any, say: Callable[[], None]) -> bool:
        """Says that elements of t are unwritten once the host reads it; if it
        writes it first, never.  False if nobody would see that."""
        if torch_private.version(t) is None or type(t) is not _torch().Tensor:
            return False
        with torch_private.unseen():
            address = where_in_memory(t)
        if not address:
            return False
        from torch.multiprocessing.reductions import StorageWeakRef
        followed = self._is_missing(t, address)
        self._drop_freed(address)
        self.held.setdefault(address, []).append(
            _Held(say, followed, StorageWeakRef(t.untyped_storage())))
        return True

    def judge(self, func: Any, args: Any, kwargs: Any, call: Any) -> Any:
        """Runs call(func, args, kwargs), a function of PyTorch's, which may
        read or write what findings wait for."""
        before = {}  # address -> (version, a tensor there)
        with torch_private.unseen():
            for t in _tensors((args, tuple(kwargs.values()))):
                address = where_in_memory(t)
                if self._drop_freed(address):
                    before[address] = torch_private.version(t), t
        if not before:
            return call(func, args, kwargs)
        name = getattr(func, "__name__", "")
        target = kwargs.get("out", args[:1] if name in _WRITES else ())
        with torch_private.unseen():
            written = {where_in_memory(t)
                       for t in _tensors((target,))}
        for address in written & before.keys():
            self.dropped += len(self.held.pop(address))
            del before[address]
        result = call(func, args, kwargs)
        if name not in _LOOKS:
            with torch_private.unseen():
                views = {where_in_memory(t): torch_private.version(t)
                         for t in _tensors((result,))}
            for address, (version, t) in before.items():
                if views.get(address, -1) != version:
                    self._read(t, address)
        return result

    def _read(self, t, address):
        """The host has read t: are there elements that nobody wrote?"""
        rest = []
        for held in self.held.pop(address, ()):
            if held.followed and not self._is_missing(t, address):
                rest.append(held)  # not among these
            else:
                held.say()
        if rest:
            self.held[address] = rest

    def _drop_freed(self, address):
        """Whether findings wait for what the host does with the storage at an
        address; those about one that was there before are dropped, which
        nobody can read any more."""
        all_ = self.held.get(address)
        if not all_:
            return False
        rest = [held for held in all_ if not held.weak.expired()]
        self.dropped += len(all_) - len(rest)
        if rest:
            self.held[address] = rest
        else:
            del self.held[address]
        return bool(rest)

    def _is_missing(self, t, address):
        """Whether an element of t is known to be unwritten."""
        found = self._known.get(address)
        if found is None or found.map is None:
            return False
        with torch_private.unseen():
            if t.is_contiguous():
                start = t.storage_offset() * t.element_size()
                return found.map.is_missing(start, start + t.nbytes)
            return not _bytes_of(found.map, t).all()

    # ---- inside ----------------------------------------------------------

    def _valid(self, t, address):
        found = self._known.get(address)
        if found is None:
            return None
        nbytes = t.untyped_storage().nbytes()
        if found.weak.expired() or (
                found.version != torch_private.version(t)) or (
                found.map is not None and len(found.map) != nbytes):
            del self._known[address]
            return None
        return found

    @staticmethod
    def _wrote(found, t):
        if not t.numel():
            return
        _bytes_of(found.make_map(t.untyped_storage().nbytes()), t).fill_(1)

    def _prune(self):
        self._known = {a: s for a, s in self._known.items() if not s.done()}
        self._limit = 2 * len(self._known) + _PRUNE


def _bytes_of(data, t):
    """The bytes of t in a map of its storage, as a tensor."""
    torch, size = _torch(), t.element_size()
    return torch.as_strided(
        torch.frombuffer(data.memory, dtype=torch.uint8), (*t.shape, size),
        (*(n * size for n in t.stride()), 1), t.storage_offset() * size)


def _torch():
    import torch
    return torch


def where_in_memory(t: Any) -> int:
    """The address of a tensor's storage; 0 for those that have none, such as
    the wrappers of torch.func, sparse tensors and fake ones."""
    if type(t) is not _torch().Tensor and torch_private.is_fake(t):
        return 0
    try:
        return _address(t.untyped_storage())
    except (RuntimeError, NotImplementedError):
        return 0


def _address(storage):
    try:
        return storage.data_ptr()
    except (RuntimeError, NotImplementedError):
        return 0


# ---- what unwritten memory holds --------------------------------------------

# Larger tensors come from the operating system, which fills them with zeros:
# touching each page would cost memory that the program may never use.
_POISONED = 256 * 1024**2


def makers(torch: types.ModuleType) -> frozenset[Any]:
    """Functions whose results are not written yet."""
    t = torch.Tensor
    found = (torch.empty, torch.empty_like, torch.empty_strided, t.new_empty,
             t.new_empty_strided, getattr(torch, "empty_permuted", None))
    return frozenset(f for f in found if f is not None)


def _poison(t):
    """Fills a tensor as PyTorch's deterministic mode does: NaN, the largest
    integer, True."""
    numel = t.numel()
    if not numel or numel * t.element_size() > _POISONED or (
            t.layout is not _torch().strided):
        return
    if t.requires_grad:
        t = t.detach()
    held = _held(t.dtype)
    if held is not None:
        with _below_libraries():
            t.fill_(held)


def _below_libraries():
    """A context in which the program's own kernels for PyTorch's operators
    (torch.library) are not called."""
    return torch_private.without_key("BackendSelect")


@functools.cache
def _held(dtype):
    """What unwritten memory of a dtype holds; None: fill_ cannot say it."""
    torch = _torch()
    if dtype.is_floating_point or dtype.is_complex:
        held = _NAN
    elif dtype is torch.bool:
        return True
    else:
        try:
            held = torch.iinfo(dtype).max
        except TypeError:
            return None
    try:
        one = torch.zeros(1, dtype=dtype)
        with _below_libraries():
            one.fill_(held)
    except (NotImplementedError, RuntimeError, TypeError):
        return None
    return held


# functions that write without reading, and that look at no element
_WRITES = frozenset(
    "__setitem__ fill_ zero_ copy_ normal_ uniform_ random_ exponential_ "
    "bernoulli_ set_ fill_diagonal_ index_copy_ index_fill_ masked_fill_ "
    "scatter_".split())
_LOOKS = frozenset(
    "__get__ size dim ndimension stride numel nelement element_size "
    "data_ptr storage_offset is_contiguous untyped_storage get_device "
    "is_floating_point is_complex type __len__ __hash__ __dir__ "
    "empty_like zeros_like ones_like full_like rand_like randn_like "
    "new_empty new_zeros new_ones new_full new_empty_strided".split())


def found_in(values: Iterable[Any],
             wanted: Callable[[Any], bool]) -> Iterator[Any]:
    """What is wanted of the values in nested sequences."""
    for value in values:
        if isinstance(value, (tuple, list)):
            yield from found_in(value, wanted)
        elif wanted(value):
            yield value


def _tensors(values):
    return found_in(values, lambda value: type(value) is _torch().Tensor)


# ---- writes that are understood ----------------------------------------------


def filling(torch: types.ModuleType) -> tuple[Any, ...]:
    """Methods that write every element of their tensor."""
    t = torch.Tensor
    return (t.fill_, t.zero_, t.normal_, t.uniform_, t.random_)


def is_basic(index: Any) -> bool:
    """Whether t[index] is a view."""
    if isinstance(index, tuple):
        return all(is_basic(i) for i in index)
    return index is None or index is Ellipsis or isinstance(index, slice) or (
        isinstance(index, int) and not isinstance(index, bool))
