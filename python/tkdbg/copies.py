"""Where the elements of a copy lie in the array that it was made from.

A script compares ``out[:n].float()``, ``out.T.cpu()``, ``out[index]``: its
elements are some of those of ``out``, in another place.  Which ones is found
by their values.
"""
from __future__ import annotations

import itertools
from typing import Any

from .arrays import ROUNDED

MOST_TRIED = 256  # places for the first element of a slice


def places(whole: Any, part: Any) -> Any:
    """For each element of an array, which element of another one, counted in
    row-major order, it is a copy of; None: it is not a copy.  Both are arrays
    of float64 or int64."""
    import numpy
    if not part.size or part.size > whole.size:
        return None
    numbers = numpy.arange(whole.size).reshape(whole.shape)
    if part.size == whole.size:
        return _rearranged(whole, part, numbers)
    found = _slice(whole, part, numbers)
    return _gathered(whole, part) if found is None else found


def _equal(one, other, rounded=False):
    import numpy
    if rounded:
        return bool(numpy.isclose(one, other, ROUNDED, 0,
                                  equal_nan=True).all())
    return numpy.array_equal(one, other, equal_nan=one.dtype.kind ==
                             other.dtype.kind == "f")


def _rearranged(whole, part, numbers):
    """All elements, with another shape, with axes exchanged, or cast."""
    import numpy
    for rounded in (False, True):
        for axes in _orders(whole.ndim):
            if _equal(whole.transpose(axes).ravel(), part.ravel(), rounded):
                return numbers.transpose(axes).reshape(part.shape)
        for axes in _orders(part.ndim):
            turned = part.transpose(axes)
            if _equal(whole.ravel(), turned.ravel(), rounded):
                return numbers.reshape(turned.shape).transpose(
                    numpy.argsort(axes))
    return None


def _orders(rank):
    return itertools.permutations(range(rank)) if rank <= 4 else ()


def _slice(whole, part, numbers):
    """A part that begins somewhere and goes on by a step along each axis; an
    axis that the part lacks has one index."""
    import numpy
    for kept in itertools.combinations(range(whole.ndim), part.ndim):
        shape = [1] * whole.ndim
        for axis, n in zip(kept, part.shape):
            shape[axis] = n
        if any(n > most for n, most in zip(shape, whole.shape)):
            continue
        first = numpy.argwhere(whole == part.flat[0])[:MOST_TRIED]
        steps = [sorted({1, most // n}) for n, most in zip(shape, whole.shape)]
        for start in first.tolist():
            for by in itertools.product(*steps):
                cut = tuple(slice(a, a + (n - 1) * s + 1, s)
                            for a, n, s in zip(start, shape, by))
                if whole[cut].shape == tuple(shape) and _equal(
                        whole[cut].reshape(part.shape), part):
                    return numbers[cut].reshape(part.shape)
    return None


def _gathered(whole, part):
    """Rows, each of which is one of the whole's, or of what its first axes
    are together."""
    import numpy
    size = part[0].size if part.ndim > 1 else 0
    if not size or whole.size % size or whole.dtype != part.dtype:
        return None
    row_of = {row.tobytes(): i
              for i, row in enumerate(whole.reshape(-1, size))}
    rows = [row_of.get(row.tobytes())
            for row in numpy.ascontiguousarray(part).reshape(-1, size)]
    if None in rows:
        return None
    return numpy.arange(whole.size).reshape(-1, size)[rows].reshape(part.shape)


def reduction(whole: Any, part: Any) -> Any:
    """(how an array was made of another one, as "the sum over axis 1 of",
    the axis, or None for all of them); None: by no way that is known."""
    import numpy
    with numpy.errstate(all="ignore"):
        for name in ("sum", "mean", "max", "min"):
            for axis in (None, *range(whole.ndim)):
                made = numpy.asarray(getattr(whole, name)(axis=axis))
                if made.size == part.size and numpy.allclose(
                        made.ravel(), part.ravel(), 1e-5, 1e-6):
                    over = "" if axis is None else f" over axis {axis}"
                    return f"the {name}{over} of", axis
    return None
