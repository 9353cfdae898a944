"""Running configurations side by side: saved memory, compared results.

Every configuration starts from the same contents of every argument.  Sums
in another order differ in their last bits, so floats may differ by the
tolerance of their width, relative to the largest element; integers may not.
"""
from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from . import arguments, errors, findings, session as session_
from .tensors import without_torch_functions

if TYPE_CHECKING:
    from .tuner import Config

# bytes of a float -> relative tolerance
TOLERANCE = {8: 1e-9, 4: 1e-4, 2: 2e-2, 1: 0.25}


def clone(tensor: Any) -> Any:
    """A copy of a tensor or array."""
    return tensor.clone() if hasattr(tensor, "clone") else tensor.copy()


def copy_into(tensor: Any, saved: Any) -> None:
    """Gives a tensor or array the contents of its clone."""
    if hasattr(tensor, "copy_"):
        tensor.copy_(saved)
    else:
        tensor[...] = saved


class Memory:
    """The memory behind some tensors, saved so that it can be restored."""

    def __init__(self, args: Iterable[Any]) -> None:
        self._saved: dict[Any, Any] = {}  # address -> (restore, saved contents)
        for arg in args:
            kind = arguments.kind_of(type(arg))
            if kind in arguments.TENSORS:
                self._save(kind, arg)

    def _save(self, kind, arg):
        if kind == "torch":
            storage = arg.untyped_storage()
            self._saved.setdefault(storage.data_ptr(), (
                storage.copy_, storage.clone()))
            return
        session = session_.current()
        layout = session.reader.read(kind, arg)
        start, size = layout.storage, layout.nbytes
        if not start:
            lanes = 1 + sum(max(0, n - 1) * step for n, step in
                            zip(layout.shape, layout.strides))
            start = layout.data
            size = lanes * session.lib.tk_dtype_size(layout.dtype)
        self._saved.setdefault(start, (
            lambda data: ctypes.memmove(start, data, len(data)),
            ctypes.string_at(start, size)))

    def restore(self) -> None:
        for restore, saved in self._saved.values():
            restore(saved)


def contents(arg: Any) -> Any:
    """The elements of a tensor for differences(): a NumPy array of float64
    or integers, or None without NumPy, or where it lacks the type."""
    try:
        import numpy
    except ImportError:
        return None
    if arguments.kind_of(type(arg)) == "torch":
        t = arg.detach().cpu()
        t = t.double() if t.is_floating_point() else t.clone()
        return t.numpy()
    try:
        array = numpy.array(arg)
    except Exception:
        return None
    return array.astype("f8") if array.dtype.kind == "f" else array


def differences(first: Any, other: Any,
                itemsize: int) -> tuple[int, tuple[int, ...], Any, Any] | None:
    """(how many elements differ, index of the first, both values), or None.

    itemsize: bytes of an element as the kernel wrote it.
    """
    import numpy
    if first.dtype.kind == "f":
        finite = numpy.abs(first[numpy.isfinite(first)])
        scale = finite.max() if finite.size else 0.0
        with numpy.errstate(invalid="ignore"):
            close = numpy.abs(first - other) <= TOLERANCE[itemsize] * scale
        same = close | (first == other) | (numpy.isnan(first) &
                                           numpy.isnan(other))
    else:
        same = first == other
    wrong = numpy.argwhere(~numpy.asarray(same))
    if not len(wrong):
        return None
    at = tuple(int(i) for i in wrong[0])
    return len(wrong), at, first[at], other[at]


def configurations(kernel: str, configs: list[Config], named: dict[str, Any],
                   call: Callable[..., bool | dict[str, Any] | None]) -> None:
    """Runs call(config) for each; writes disagreements to stderr.

    The contents are afterwards what they were before.  A configuration is
    left out if call returns False or None; {name: tensor} is what it gave
    besides what it wrote.  One that raises KernelError is reported, the first
    one's error is raised.
    """
    tensor_args = {n: a for n, a in named.items()
                   if arguments.kind_of(type(a)) in arguments.TENSORS}
    session = session_.current()
    with session.lock, without_torch_functions():
        memory = Memory(tensor_args.values())
    lines, first, compared = [], None, None
    for config in configs:
        try:
            given = call(config)
            if given is None or given is False:
                continue
            result = {**tensor_args, **(given if given is not True else {})}
            with without_torch_functions():
                result = {n: _Result(a) for n, a in result.items()}
        except errors.KernelError as e:
            if first is None:
                raise
            lines.append(f"  {config}\n    fails: "
                         f"{str(e).strip().splitlines()[0]}")
            continue
        finally:
            with without_torch_functions():
                memory.restore()
        if first is None:
            first, compared = result, config
        else:
            lines += _disagreement(config, first, result)
    if lines:
        _report(kernel, compared, lines)


class _Result:
    """What one configuration left in an array."""

    def __init__(self, array: Any) -> None:
        self.contents = contents(array)
        self.itemsize = getattr(array.dtype, "itemsize", 4)


def _disagreement(config, first, result):
    lines = []
    for name in [n for n in first if n in result]:
        before, after = first[name].contents, result[name].contents
        if before is None or after is None:
            continue
        if before.shape != after.shape:
            lines.append(f"  {config}\n    {name} is of another shape: "
                         f"{before.shape} there, {after.shape} here")
            continue
        found = differences(before, after, first[name].itemsize)
        if found:
            count, at, a, b = found
            where = ", ".join(map(str, at))
            lines.append(f"  {config}\n    {count} of {before.size} elements "
                         f"of {name} differ, first {name}[{where}]: {a:.9g} "
                         f"there, {b:.9g} here")
    return lines


def _report(kernel, config, lines):
    session = session_.current()
    session.runs.disagree()
    if session.options.json:
        what = f"the configurations of {kernel} disagree"
        session.json.tell([findings.entry("autotune", what, [
            f"compared with {config}", *(n.strip() for n in lines)])], kernel)
        return
    head = (f"tkdbg: the configurations of {kernel} disagree; "
            f"compared with\n  {config}\n")
    sys.stderr.write(head + "\n".join(lines) + "\n")
