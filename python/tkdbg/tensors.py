"""Tensors as tk_tensor: where their memory is, and how far it reaches.

A Reader gives a Layout for anything that holds memory: a PyTorch tensor
(CPU or CUDA), a NumPy array, an object with ``__array_interface__``, or one
with ``data_ptr()`` and ``dtype``.  A Layout
owns nothing: its tensor must live while a launch runs.
"""
from __future__ import annotations

import ctypes
import functools
import struct
import sys
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from . import _capi, tltypes, torch_private

if TYPE_CHECKING:
    from .fresh import Fresh
    from .session import Session

# tk_tensor as one record, so that a launch fills it in a single call; the
# offsets come from the ctypes structure.
_RECORD = struct.Struct("@Pii" + "q" * 2 * _capi.MAX_RANK + "PNI4xQP")
assert _RECORD.size == ctypes.sizeof(_capi.Tensor)
# of a function that stands for another one
_ORIGINAL = "tkdbg_original"
_ZEROS = tuple((0,) * n for n in range(_capi.MAX_RANK + 1))


class Layout(NamedTuple):
    """One tensor: addresses and bytes as integers, strides in elements."""
    data: int
    dtype: int
    shape: tuple
    strides: tuple
    storage: int
    nbytes: int
    flags: int
    device_address: int
    written: int = 0

    def pack(self, buffer: Any) -> None:
        """Writes the tk_tensor; raises TypeError beyond MAX_RANK."""
        rank = len(self.shape)
        if rank > _capi.MAX_RANK:
            raise TypeError(f"a tensor of rank {rank}; at most "
                            f"{_capi.MAX_RANK} is supported")
        pad = _ZEROS[_capi.MAX_RANK - rank]
        _RECORD.pack_into(buffer, 0, self.data, self.dtype, rank,
                          *self.shape, *pad, *self.strides, *pad,
                          self.storage, self.nbytes, self.flags,
                          self.device_address, self.written)


# Layout(*members), past its own __new__, which is Python
_layout = functools.partial(tuple.__new__, Layout)


def buffer() -> Any:
    """Memory for one tk_tensor."""
    return ctypes.create_string_buffer(_RECORD.size)


def contiguous(shape: Sequence[int]) -> tuple[int, ...]:
    """Strides, in elements, of a dense tensor of this shape."""
    strides, step = [], 1
    for n in reversed(shape):
        strides.append(step)
        step *= max(1, n)
    return tuple(reversed(strides))


# ---- recognising arguments --------------------------------------------------


def torch() -> Any:
    """The torch module if the program imported it, else None."""
    module = sys.modules.get("torch")
    return module if hasattr(module, "Tensor") else None


def numpy() -> Any:
    module = sys.modules.get("numpy")
    return module if hasattr(module, "ndarray") else None


def kind_of(cls: type) -> str | None:
    """Name of the reader for a class of arguments, or None."""
    t, n = torch(), numpy()
    if t is not None and issubclass(cls, t.Tensor):
        return "torch"
    if n is not None and issubclass(cls, n.ndarray):
        return "numpy"
    if hasattr(cls, "data_ptr"):
        return "pointer"
    if n is not None and issubclass(cls, n.generic):
        return None
    if hasattr(cls, "__array_interface__"):
        return "interface"
    return None


def dtype_of(session: Session, dtype: Any) -> int:
    """The tk_dtype of a torch, NumPy or tl dtype; raises TypeError."""
    name = tltypes.dtype_name(dtype)
    index = session.dtypes.number(name) if name else None
    if index is None:
        raise TypeError(f"tensors of {dtype} are not supported")
    return index


def without_torch_functions() -> Any:
    """A context in which tensors are read directly, past torch's modes."""
    return torch_private.unseen()


# ---- readers ----------------------------------------------------------------


class Reader:
    """Reads the tensors of one launch; CUDA storages are staged once."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.dtypes: dict[Any, Any] = {}   # dtype object -> tk_dtype
        self.compiling = False  # tensors need no memory then
        self.repeated = ()      # parameters whose tensors a tuner reuses
        self.kept: list[Any] = []     # what must live until the launch has run
        # storage address on a device -> (host, device)
        self.staging: dict[Any, Any] = {}
        self.refuse: Any = None  # raises for tensors that a device cannot reach
        self.position = 0   # of the parameter whose argument is read

    def begin(self, compiling: bool) -> None:
        """Arguments are read from here on until finish()."""
        self.compiling = compiling

    def each(self, slots: Iterable[Any],
             values: Iterable[Any]) -> Iterator[tuple[Any, Any]]:
        """The pairs of them; what is read meanwhile is of the parameter whose
        turn it is."""
        for self.position, pair in enumerate(zip(slots, values)):
            yield pair

    def repeat(self, parameters: Any) -> None:
        """The parameters whose tensors a tuner hands on from run to run."""
        self.repeated = parameters

    def refuse_with(self, refuse: Callable[[Any, int], None] | None) -> None:
        """refuse(tensor, position) raises for what a device cannot reach;
        None: nothing is refused."""
        self.refuse = refuse

    def dtype(self, dtype: Any) -> int:
        found = self.dtypes.get(dtype)
        if found is None:
            found = self.dtypes[dtype] = dtype_of(self.session, dtype)
        return found

    def read(self, kind: str, arg: Any) -> Layout:
        """The Layout of arg; kind comes from kind_of."""
        return getattr(self, "read_" + kind)(arg)

    def read_torch(self, t: Any, dtype: Any = None) -> Layout:
        if t.layout is not sys.modules["torch"].strided:
            raise TypeError(f"a tensor of layout {t.layout}; kernels take "
                            "strided tensors")
        if self.refuse is not None and not self.compiling:
            self.refuse(t, self.position)
        # a device of -1 is the host; anything else needs a copy
        if t.get_device() >= 0:
            return self._read_device(t, dtype)
        try:
            storage = t.untyped_storage()
            base = storage.data_ptr()
            data = data_ptr(t)
        except (RuntimeError, NotImplementedError, AttributeError):
            return self._read_unbacked(t, dtype)
        return _layout((
            data, self.dtype(dtype or t.dtype), tuple(t.shape), t.stride(),
            base, storage.nbytes(), *self.session.fresh.of(t, base)))

    def _read_unbacked(self, t, dtype):
        """A tensor without memory (meta, fake): good for warmup only."""
        shape = tuple(t.shape)
        return Layout(0, self.dtype(dtype or t.dtype), shape,
                      tuple(t.stride()), 0, 0, 0, 0)

    def _read_device(self, t, dtype):
        """A tensor on an accelerator: its whole storage, copied here."""
        storage = t.untyped_storage()
        base = storage.data_ptr()
        host = self.stage(base, storage)
        address = data_ptr(t)
        offset = address - base
        return Layout(host.data_ptr() + offset, self.dtype(dtype or t.dtype),
                      tuple(t.shape), t.stride(), host.data_ptr(),
                      host.nbytes(), 0, address)

    def stage(self, base: Any, storage: Any) -> Any:
        """The copy of a device's storage that a launch works on."""
        staged = self.staging.get(base)
        if staged is None:
            staged = self.staging[base] = (storage.cpu(), storage)
        return staged[0]

    def extras(self) -> list[tuple[int, int, int]]:
        """[(address here, nbytes, address on the device)] of the memory whose
        address the program asked for; the last is 0 on the host."""
        known = self.session.addresses
        return [(a, n, 0) for a, n in known.alive()] + [
            (self.stage(base, storage).data_ptr(), storage.nbytes(), base)
            for base, storage in known.on_devices()]

    def finish(self) -> None:
        """After a launch: copies staged storages back to their devices."""
        self.kept.clear()
        for host, device in self.staging.values():
            device.copy_(host)
        self.staging.clear()

    def read_numpy(self, a: Any) -> Layout:
        data, readonly = a.__array_interface__["data"]
        root = _owner(a)
        low, size = ((data, a.nbytes) if root is a and
                     a.flags.c_contiguous else _byte_bounds(root))
        return Layout(data, self.dtype(a.dtype), a.shape,
                      _element_strides(a.strides, a.itemsize), low, size,
                      _READONLY if readonly else 0, 0)

    def read_interface(self, obj: Any) -> Layout:
        """Anything with __array_interface__ (version 3)."""
        face = obj.__array_interface__
        typestr = face["typestr"]
        size = int(typestr[2:])
        if typestr[0] == ">" and size > 1:
            raise TypeError("a big-endian array")
        shape = tuple(face["shape"])
        steps = face.get("strides")
        strides = (contiguous(shape) if steps is None else
                   _element_strides(steps, size))
        data, readonly = face["data"]
        index = self.session.dtypes.number(_ARRAY_KINDS.get(typestr[1], "?") +
                                   str(8 * size))
        if index is None and typestr[1] == "b":
            index = self.session.dtypes.number("int1")
        if index is None:
            raise TypeError(f"tensors of {typestr!r} are not supported")
        self.kept.append(face)
        return Layout(data, index, shape, strides, 0, 0,
                      _READONLY if readonly else 0, 0)

    def read_pointer(self, obj: Any) -> Layout:
        """An object with data_ptr() and dtype: wrappers and mocks."""
        base = getattr(obj, "base", None)
        t = torch()
        if base is not None and t is not None and isinstance(base, t.Tensor):
            return self.reinterpreted(base, obj.dtype)
        if not hasattr(obj, "shape"):
            return self._typed_address(obj.data_ptr(), self.dtype(obj.dtype))
        index = self.dtype(obj.dtype)
        shape = tuple(int(n) for n in obj.shape)
        stride = getattr(obj, "stride", None)
        strides = tuple(stride()) if callable(stride) else contiguous(shape)
        return Layout(obj.data_ptr(), index, shape, strides, 0, 0, 0, 0)

    def _typed_address(self, address, dtype):
        """All from an address to the end of the memory that it lies in, if
        the program asked for its address; else one element."""
        for low, nbytes, device in self.extras():
            offset = address - (device or low)
            if 0 <= offset < nbytes:
                size = self.session.lib.tk_dtype_size(dtype)
                count = (nbytes - offset) // size
                return Layout(low + offset, dtype, (count,), _UNIT, low,
                              nbytes, 0, address if device else 0)
        return Layout(address, dtype, (), (), 0, 0, 0, 0)

    def at_address(self, address: int, dtype: Any) -> Layout:
        """What lies at a number that the program passes as a pointer: memory
        whose address it asked for, or none."""
        layout = self._typed_address(address, self.dtype(dtype))
        known = layout.storage != 0
        return layout if known else layout._replace(shape=(0,), strides=_UNIT)

    def reinterpreted(self, base: Any, dtype: Any) -> Layout:
        """triton.reinterpret(base, dtype)."""
        layout = self.read_torch(base, dtype)
        size = self.session.lib.tk_dtype_size(layout.dtype)
        if size == base.element_size():
            return layout
        count = (layout.nbytes - (layout.data - layout.storage)) // size
        return layout._replace(shape=(count,), strides=(1,))


_UNIT = (1,)
_READONLY = _capi.TENSOR_READONLY
_ARRAY_KINDS = {"f": "float", "i": "int", "u": "uint"}


def data_ptr(t: Any) -> int:
    """t.data_ptr(), unnoticed by watch_addresses."""
    read = type(t).data_ptr
    return getattr(read, "tkdbg_original", read)(t)


def _element_strides(steps, size):
    """Strides in elements; TypeError when they are not whole."""
    if steps == (size,):
        return _UNIT
    strides = tuple(s // size if size else 0 for s in steps)
    if any(s % size for s in steps):
        raise TypeError(f"strides of {steps} bytes are not a multiple of the "
                        f"element size {size}")
    return strides


def _owner(a):
    """The array whose memory a is a view of."""
    array = numpy().ndarray
    while isinstance(a.base, array) and a.base.size:
        a = a.base
    return a


def _byte_bounds(a):
    """(first byte, number of bytes) of an array's memory."""
    low = a.__array_interface__["data"][0]
    if a.flags.c_contiguous:
        return low, a.nbytes
    high = low + a.itemsize
    for n, step in zip(a.shape, a.strides):
        if n == 0:
            return low, 0
        reach = (n - 1) * step
        if reach < 0:
            low += reach
        else:
            high += reach
    return low, high - low


# ---- memory reached through addresses ---------------------------------------


class Addresses:
    """Storages whose address the program asked for (``t.data_ptr()``, or
    ``tkdbg.address_of(array)``).

    A kernel may load such an address from memory; launches make those that
    are still alive known to C.
    """

    def __init__(self) -> None:
        # storage address -> (weak storage, nbytes)
        self._known: dict[Any, Any] = {}
        # address on a device -> weak storage
        self._devices: dict[Any, Any] = {}

    def add(self, t: Any) -> None:
        """Notes the storage of a torch tensor."""
        with torch_private.unseen():
            self._add(t)

    def _add(self, t):
        if t.get_device() >= 0:
            storage = t.untyped_storage()
            self._devices[storage.data_ptr()] = _weak_storage(storage)
            return
        try:
            storage = t.untyped_storage()
            address = storage.data_ptr()
        except (RuntimeError, NotImplementedError, AttributeError):
            return
        if address:
            self._note(address, _weak_storage(storage), storage.nbytes())

    def add_array(self, array: Any) -> int:
        """Notes the memory of a NumPy array; returns its address."""
        root = _owner(array)
        low, nbytes = _byte_bounds(root)
        if nbytes:
            self._note(low, _WeakArray(root), nbytes)
        return array.__array_interface__["data"][0]

    def _note(self, address, weak, nbytes):
        # Memory that was freed may have come back at the same address.
        known = self._known.get(address)
        if known is None or known[0].expired() or known[1] < nbytes:
            self._known[address] = (weak, nbytes)

    def __bool__(self) -> bool:
        return bool(self._known or self._devices)

    def on_devices(self) -> list[Any]:
        """[(address, storage)] of the storages on devices that still exist."""
        found = [(address, torch_private.storage_of(w))
                 for address, w in self._devices.items()]
        alive = [(a, storage) for a, storage in found if storage is not None]
        self._devices = {a: self._devices[a] for a, _ in alive}
        return alive

    def alive(self) -> list[tuple[int, int]]:
        """[(address, nbytes)] of the storages on the host that still exist."""
        gone = [a for a, (w, _) in self._known.items() if w.expired()]
        for address in gone:
            del self._known[address]
        return [(a, n) for a, (_, n) in self._known.items()]


class _WeakArray:
    """A NumPy array that may die, as StorageWeakRef is for a storage."""

    def __init__(self, array):
        self._array = weakref.ref(array)

    def expired(self):
        return self._array() is None


def _weak_storage(storage):
    from torch.multiprocessing.reductions import StorageWeakRef
    return StorageWeakRef(storage)


def watch_addresses(addresses: Addresses, fresh: Fresh) -> None:
    """Makes torch.Tensor.data_ptr tell addresses, and the memory that counts
    as unwritten, about each call."""
    cls = torch().Tensor
    original = getattr(cls.data_ptr, _ORIGINAL, cls.data_ptr)

    def data_ptr(self):
        addresses.add(self)
        fresh.forget(self)  # anybody may write there now
        return original(self)

    data_ptr.__doc__ = original.__doc__
    setattr(data_ptr, _ORIGINAL, original)
    cls.data_ptr = data_ptr


def unwatch_addresses() -> None:
    """Undoes watch_addresses."""
    t = torch()
    if t is not None and hasattr(t.Tensor.data_ptr, _ORIGINAL):
        del t.Tensor.data_ptr
