"""Changes of how a script launches a kernel: its grid, its numbers, which
tensor is which, a tensor of this or an earlier launch that another one stands
for, a buffer that was not zeroed.

Like an edit of a kernel, a change is only told of once the launches have run
with it and the comparison passes (repairs.py).
"""
from __future__ import annotations

import ctypes
import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from . import _capi, arguments, arrays, hostlines
from .launchlog import Logged, Replay

MOST_NUMBERS = 12  # that may stand where another one does
MOST_GIVEN = 48    # tensors of a launch that others are tried for
LOG2_E = 1.4426950408889634


class Change(NamedTuple):
    """One change of one launch."""
    file: str
    line: int
    said: str  # "with grid (8, 1, 1) in place of (7, 1, 1)"
    apply: Callable[[Replay], None]
    is_number: bool  # of many that could be changed


def changes(logged: Logged,
            earlier: Sequence[Logged] = ()) -> Iterator[Change]:
    """All changes of a launch, the likeliest first.  earlier: the launches
    before it, the oldest first."""
    if logged.site is None:
        return

    def given(launch):
        return _given(launch, earlier)
    for made in _grids, _zeroed, given, _numbers, _exchanged:
        # a grid and a buffer are wrong where they are made, more often than
        # where they are given to the launch
        at = hostlines.places(logged.site, list(logged.values),
                              made in (_grids, _zeroed))
        for name, said, apply in made(logged):
            yield Change(logged.site.file, at.get(name, logged.site.line),
                         said, apply, made not in (_grids, _zeroed))


def _grids(logged):
    grid = logged.grid
    others = []
    for axis, n in enumerate(grid):
        for m in (n + 1, n - 1, 2 * n, n // 2):
            others.append((*grid[:axis], m, *grid[axis + 1:]))
    x, y, z = grid
    others += [(y, x, z), (x, z, y), (z, y, x)]
    for other in dict.fromkeys(others):
        if other != grid and min(other) > 0:
            yield "", f"with grid {other} in place of {grid}", _grid(other)


def _grid(grid):
    return lambda replay: replay.lib.tk_launch_grid(replay.launch, *grid)


def _zeroed(logged):
    """A buffer that holds something before the launch."""
    for name, tensor in logged.tensors.items():
        if arrays.memory(tensor) is not None:
            yield name, f"with {name} zeroed before the launch", _zero(name)


def _zero(name):
    def apply(replay):
        tensor = replay.tensor(name)
        ctypes.memset(tensor.storage, 0, tensor.storage_bytes)
    return apply


def _numbers(logged):
    """Integers that another one of the launch stands for, or that are off by
    one; floats with a sign, a power or a factor less."""
    sizes = _sizes(logged)
    for name, value in logged.values.items():
        if isinstance(value, bool) or name in logged.tensors:
            continue
        if isinstance(value, int):
            known = {v: k for k, v in reversed(sizes.items()) if v != value}
            near = {v: known.get(v, "") for v in (value + 1, value - 1)}
            named = {**near, **known}
        elif isinstance(value, float):
            named = dict.fromkeys(_floats(value), "")
        else:
            continue
        for other, what in itertools.islice(named.items(), MOST_NUMBERS):
            yield (name, f"with {name} = {other!r}{what and f', {what},'} in "
                   f"place of {value!r}", _number(name, other))


def _sizes(logged):
    """{"x.stride(0)": 64} and the like of the launch's tensors, and its other
    integers."""
    sizes = {name: value for name, value in logged.values.items()
             if isinstance(value, int) and not isinstance(value, bool)}
    for name, tensor in logged.tensors.items():
        lies = arrays.memory(tensor)
        if lies is None:
            continue
        for axis, (n, step) in enumerate(zip(lies.shape, lies.strides)):
            sizes[f"stride {axis} of {name}"] = step
            sizes[f"size {axis} of {name}"] = n
    return sizes


def _floats(value):
    found = [-value, value * LOG2_E, value / LOG2_E, 1.0, 0.0, 1 - value]
    if value > 0:
        found += [1 / value, math.sqrt(value), value * value]
    return [v for v in dict.fromkeys(found) if v != value]


def _number(name, value):
    text = f"{name}={value!r}".encode()
    return lambda replay: replay.lib.tk_launch_arg_text(replay.launch, text)


def _given(logged, earlier):
    """A tensor of this launch, or of an earlier one as that has left it,
    where another one like it is given."""
    found = itertools.chain(
        ((name, f"{other}, too,", _share(name, other))
         for name, other in itertools.permutations(logged.tensors, 2)
         if _is_like(logged.tensors[name], logged.tensors[other])),
        ((name, f"{other} of launch {launch.number}, {launch.kernel},",
          _lend(name, launch, other))
         for launch in reversed(earlier) for name in logged.tensors
         for other, tensor in launch.tensors.items()
         if _is_like(logged.tensors[name], tensor) and
         not _is_held(tensor, logged)))
    for name, what, apply in itertools.islice(found, MOST_GIVEN):
        yield name, f"with {what} in place of {name}", apply


def _is_like(one, other):
    """Whether two tensors have the same type and lie alike, in other
    memory."""
    a, b = arrays.memory(one), arrays.memory(other)
    return a is not None and b is not None and a.data != b.data and (
        a.shape == b.shape and a.strides == b.strides and
        str(getattr(one, "dtype", 0)) == str(getattr(other, "dtype", 1)))


def _is_held(tensor, logged):
    """Whether a launch has a tensor itself."""
    at = arrays.memory(tensor)
    return at is not None and any(
        m is not None and m.data == at.data
        for m in map(arrays.memory, logged.tensors.values()))


def _copy(replay: Replay, name: str) -> _capi.Tensor:
    """A tensor that a launch has: where it is, not its elements."""
    held = replay.tensor(name)
    assert held is not None
    return _capi.Tensor.from_buffer_copy(held)


def _share(name, other):
    def apply(replay):
        _set(replay, name, _copy(replay, other))
    return apply


def _lend(name, launch, other):
    """The other launch runs once, when the change is first made."""
    left: list[Any] = []

    def apply(replay):
        if not left:
            with Replay(replay.lib, launch) as before:
                before.run()
                t = _copy(before, other)
                left.append((t, ctypes.string_at(t.storage or 0,
                                                 t.storage_bytes)))
        t, memory = left[0]
        held = ctypes.create_string_buffer(memory, len(memory))
        lent = _capi.Tensor.from_buffer_copy(t)
        lent.data = ctypes.addressof(held) + (t.data - t.storage)
        lent.storage = ctypes.addressof(held)
        lent.device_address = 0
        _set(replay, name, lent)
        replay.keep(held)
    return apply


def _set(replay, name, tensor):
    replay.lib.tk_launch_tensor(replay.launch, name.encode(),
                                ctypes.byref(tensor))


def _exchanged(logged):
    """Two tensors, or two integers, that stand in each other's place."""
    for one, other in itertools.combinations(logged.tensors, 2):
        a, b = logged.tensors[one], logged.tensors[other]
        if getattr(a, "dtype", 0) == getattr(b, "dtype", 1) and (
                arguments.kind_of(type(a)) == arguments.kind_of(type(b))):
            yield (one, f"with {one} and {other} exchanged",
                   _exchange(one, other))
    numbers = [name for name, value in logged.values.items()
               if isinstance(value, int) and not isinstance(value, bool)]
    for one, other in itertools.combinations(numbers, 2):
        a, b = logged.values[one], logged.values[other]
        if a != b:
            yield (one, f"with {one} = {b} and {other} = {a}, which are "
                   "exchanged,", _both(_number(one, b), _number(other, a)))


def _both(*changes_):
    def apply(replay):
        for change in changes_:
            change(replay)
    return apply


def _exchange(one, other):
    def apply(replay):
        held = [_capi.Tensor.from_buffer_copy(replay.tensor(name))
                for name in (one, other)]
        for name, tensor in zip((other, one), held):
            _set(replay, name, tensor)
    return apply
