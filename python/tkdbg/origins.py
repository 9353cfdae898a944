"""Which launch's tensor an array of a script is, or was made from.

Of the launches that were recorded the newest are run again; an array is found
by its memory, by its values where the script compares a copy of all or a part,
or, where nobody keeps it, by the shape of what it is compared with.
"""
from __future__ import annotations

import ctypes
from collections.abc import Iterable, Iterator
from typing import Any

from . import _capi, arrays, copies
from .launchlog import Log, Logged, Replay

MOST_REPLAYS = 16  # launches that are run again to find the one


class Origin:
    """A parameter of a recorded launch, and where an array lies in it."""

    def __init__(self, logged: Logged, parameter: str, after: Any, own: Any,
                 places: Any) -> None:
        """after: the storage's elements after the launch; own: which of them
        are the parameter's, in its shape; places: ... the array's."""
        self.logged = logged
        self.parameter = parameter
        self.after, self.own, self.places = after, own, places

    def expected(self, array: Any) -> Any:
        """What the whole parameter should hold, or None."""
        import numpy
        wanted = arrays.values(array)
        if wanted is None:
            return None
        whole = self.after.astype(numpy.result_type(self.after, wanted))
        try:
            if wanted.size == self.places.size:
                wanted = wanted.reshape(self.places.shape)
            whole[self.places] = wanted
        except ValueError:
            return None
        return numpy.ascontiguousarray(whole[self.own]).reshape(self.own.shape)

    def has_changed(self, array: Any) -> bool:
        """Whether an array holds something else than the launch has left."""
        import numpy
        now = arrays.values(array)
        return now is not None and now.size == self.places.size and (
            not numpy.allclose(now.ravel(), self.after[self.places].ravel(),
                               arrays.ROUNDED, 0, equal_nan=True))


def by_memory(lib: Any, log: Log, array: Any) -> Iterator[Origin]:
    """Origins of an array that lies in memory of a launch, the newest one
    first."""
    lies: Any = arrays.memory(array)
    for logged in _newest(log):
        held = {n: arrays.memory(t) for n, t in logged.tensors.items()}
        near = {n: m for n, m in held.items()
                if m is not None and _overlaps(m, lies)}
        for name, (after, own) in _after(lib, logged, near):
            size = near[name].itemsize
            start = own.flat[0] + (lies.data - near[name].data) // size
            places = arrays.positions(start, lies.shape, lies.strides)
            if places.size and 0 <= places.min() <= places.max() < len(after):
                yield Origin(logged, name, after, own, places)


def by_values(lib: Any, log: Log, array: Any) -> Iterator[Origin]:
    """The same of a copy."""
    wanted = arrays.values(array)
    if wanted is None:
        return
    for logged in _newest(log):
        for name, (after, own) in _after(lib, logged, logged.tensors):
            places = copies.places(after[own], wanted)
            if places is not None:
                yield Origin(logged, name, after, own, own.ravel()[places])


def by_shape(lib: Any, log: Log, like: Any) -> Iterator[Origin]:
    """The same of an array that is not known, but has this one's shape."""
    for logged in _newest(log):
        for name, (after, own) in _after(lib, logged, logged.tensors):
            if own.shape == tuple(getattr(like, "shape", ())):
                yield Origin(logged, name, after, own, own)


def of(lib: Any, logged: Logged, name: str) -> Iterator[Origin]:
    """The whole of a parameter."""
    for _, (after, own) in _after(lib, logged, [name]):
        yield Origin(logged, name, after, own, own)


def reductions(lib: Any, log: Log, array: Any) -> Iterator[tuple[Any, ...]]:
    """(launch, parameter, how the array was made of it, the axis that was
    summed or the like) for what it may have been made of."""
    wanted = arrays.values(array)
    if wanted is None:
        return
    for logged in _newest(log):
        for name, (after, own) in _after(lib, logged, logged.tensors):
            found = copies.reduction(after[own], wanted) if own.size else None
            if found is not None:
                yield logged, name, *found


def changed(lib: Any, logged: Logged) -> frozenset[str]:
    """The parameters of a launch whose tensors it changed."""
    return logged.changed(lambda each: frozenset(
        name for name, before, after in _around(lib, each)
        if not _same(before, after)))


def written(lib: Any, log: Log) -> Iterator[tuple[Any, ...]]:
    """(launch, parameter, its shape) of what launches have changed, the
    newest one first."""
    for logged in _newest(log):
        for name, before, after in _around(lib, logged):
            if after.size and not _same(before, after):
                yield logged, name, after.shape


def _around(lib, logged):
    """(parameter, what it held before a launch, and after it)"""
    with Replay(lib, logged) as replay:
        before = dict(storages(lib, replay, logged.tensors))
    for name, (after, own) in _after(lib, logged, logged.tensors):
        if name in before:
            yield name, before[name][0][own], after[own]


def _same(before, after):
    import numpy
    return numpy.array_equal(before, after, equal_nan=True)


def _newest(log):
    return reversed(log.launches[-MOST_REPLAYS:])


def _overlaps(a, b):
    return a is not None and b is not None and a.itemsize == b.itemsize and (
        a.meets(b.storage, b.nbytes))


def _after(lib, logged, names):
    """(name, (its storage's elements, which of them are its own)) of some
    parameters after a launch."""
    if not names:
        return
    with Replay(lib, logged) as replay:
        if replay.run():
            yield from storages(lib, replay, names)


def storages(lib: Any, replay: Replay,
             names: Iterable[str]) -> Iterator[tuple[str, Any]]:
    """(name, (its storage's elements, which of them are its own)) now."""
    for name in names:
        tensor = replay.tensor(name)
        if tensor is None:
            continue
        now = arrays.elements(lib, tensor)
        if now is not None:
            yield name, (now, arrays.places(lib, tensor))


def expect(replay: Replay, parameter: str, wanted: Any, rtol: float,
           atol: float) -> None:
    """Tells a replayed launch what its parameter should hold."""
    lib = replay.lib
    t = _capi.Tensor(data=wanted.ctypes.data, rank=wanted.ndim,
                     dtype=lib.tk_dtype_from_name(
                         b"fp64" if wanted.dtype.kind == "f" else b"int64"))
    for i, (n, step) in enumerate(zip(wanted.shape, wanted.strides)):
        t.shape[i], t.strides[i] = n, step // wanted.itemsize
    lib.tk_launch_expect_tensor(replay.launch, parameter.encode(),
                                ctypes.byref(t), rtol, atol)
