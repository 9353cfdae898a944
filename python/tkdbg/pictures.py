"""Pictures of which elements an access touches, as SVG.

The library counts them (tk_launch_access of tkdbg/results.h); here they are
drawn: the last two axes of the tensor as a table, one cell for an element,
what is touched filled.
"""
from __future__ import annotations

import html
from ctypes import POINTER, Array, Structure, c_bool, c_char_p, c_int, c_int64
from ctypes import c_size_t, c_uint32, c_uint64, c_void_p
from typing import TYPE_CHECKING, Any

from . import _capi
from ._results import Place

if TYPE_CHECKING:
    from ctypes import _Pointer

WIDTH, HEIGHT = 640, 320  # the largest picture, in pixels
CELL = 18                 # of an element, where there is room
RECTANGLES = 4000         # drawn at most; more would only be grey


class Range(Structure):
    """tk_range: first, first + step, ... last"""
    first: int
    last: int
    step: int
    _fields_ = [("first", c_int64), ("last", c_int64), ("step", c_int64)]


class Traffic(Structure):
    """tk_traffic"""
    times: int
    lanes: int
    active: int
    wanted: int
    moved: int
    sectors: int
    lines: int
    warps: int
    runs: int
    longest: int
    _fields_ = [(name, c_uint64) for name in (
        "times", "lanes", "active", "wanted", "moved", "sectors", "lines",
        "warps", "runs", "longest")]


class Access(Structure):
    """tk_access_picture"""
    verb: bytes | None
    tensor: bytes | None
    place: Place
    whole_grid: bool
    program: Array[c_int64]
    programs: int
    traffic: Traffic
    counted: bool
    rank: int
    ranges: Array[_Pointer[Range]]
    nranges: Array[c_uint64]
    exact: bool
    elements: int
    outside: int
    total: int
    shared: int
    sharers: int
    has_most: bool
    most: Array[c_int64]
    sharer_first: Array[c_int64]
    sharer_last: Array[c_int64]
    owners: _Pointer[c_uint32]
    _fields_ = [
        ("verb", c_char_p), ("tensor", c_char_p), ("place", Place),
        ("whole_grid", c_bool), ("program", c_int64 * 3),
        ("programs", c_uint64), ("traffic", Traffic), ("counted", c_bool),
        ("rank", c_int), ("ranges", POINTER(Range) * _capi.MAX_RANK),
        ("nranges", c_size_t * _capi.MAX_RANK), ("exact", c_bool),
        ("elements", c_uint64), ("outside", c_uint64), ("total", c_int64),
        ("shared", c_uint64), ("sharers", c_uint64), ("has_most", c_bool),
        ("most", c_int64 * _capi.MAX_RANK), ("sharer_first", c_int64 * 3),
        ("sharer_last", c_int64 * 3), ("owners", POINTER(c_uint32))]


def of(lib: Any, launch: int) -> list[Picture]:
    """The pictures of the line that a launch was asked about."""
    ask = lib.tk_launch_access
    ask.restype, ask.argtypes = POINTER(Access), [c_void_p, c_size_t]
    found: list[Picture] = []
    while True:
        access = ask(launch, len(found))
        if not access:
            return found
        found.append(Picture(lib, launch, access.contents))


class Picture:
    """What one access of a line touches of one tensor."""

    def __init__(self, lib: Any, launch: int, access: Access) -> None:
        self.access = a = access
        self.tensor = _capi.text(a.tensor)
        self.shape, self.ranges = (), []
        tensor = a.tensor and lib.tk_launch_get_tensor(launch, a.tensor)
        if tensor and a.counted and a.rank == tensor.contents.rank:
            self.shape = tuple(tensor.contents.shape[:a.rank])
            self.ranges = [
                [(r.first, r.last, r.step) for r in
                 a.ranges[i][:a.nranges[i]]] for i in range(a.rank)]
        self.caption = self._caption()

    def _caption(self):
        a, t = self.access, self.access.traffic
        where = f"line {a.place.line}: {_capi.text(a.verb)}"
        if not a.tensor:
            return f"{where}, with no active lane"
        parts = [f"{where} of {self.tensor}"]
        if a.counted:
            parts.append(f"{a.elements:,} of {a.total:,} elements" +
                         ("" if a.exact else ", not all of the box"))
        parts += [f"{a.programs:,} programs",
                  f"{t.active:,} of {t.lanes:,} lanes active",
                  f"{t.wanted:,} bytes requested, {t.moved:,} moved"]
        if a.outside:
            parts.append(f"{a.outside:,} outside of the view")
        if a.shared:
            parts.append(f"{a.shared:,} elements by several programs, one by "
                         f"{a.sharers:,}")
        return "; ".join(parts)

    def svg(self) -> str:
        """The drawing; "" where there is nothing to draw."""
        if not self.shape or 0 in self.shape:
            return ""
        rows = self.shape[-2] if len(self.shape) > 1 else 1
        columns = self.shape[-1]
        x = min(CELL, WIDTH / columns)
        y = min(CELL, HEIGHT / rows)
        width, height = columns * x, max(rows * y, 2)
        down = self.ranges[-2] if len(self.shape) > 1 else [(0, 0, 1)]
        boxes = [box for r in down for c in self.ranges[-1]
                 for box in _boxes(r, c)][:RECTANGLES]
        colour = "#4a90d9" if self.access.exact else "#a9c9ec"
        drawn = "".join(
            f'<rect x="{c * x:.5g}" y="{r * y:.5g}" width="{w * x:.5g}" '
            f'height="{h * y:.5g}"/>' for r, c, h, w in boxes)
        lines = ""
        if x >= 6 and y >= 6:
            lines = "".join(f"M{i * x:.5g} 0V{height:.5g}"
                            for i in range(columns + 1))
            lines += "".join(f"M0 {i * y:.5g}H{width:.5g}"
                             for i in range(rows + 1))
            lines = f'<path d="{lines}" stroke="#999" stroke-width=".5"/>'
        return (f'<svg xmlns="http://www.w3.org/2000/svg" '
                f'width="{width + 2:.5g}" height="{height + 2:.5g}" '
                f'viewBox="-1 -1 {width + 2:.5g} {height + 2:.5g}">'
                f'<rect width="{width:.5g}" height="{height:.5g}" '
                f'fill="#f4f4f4" stroke="#999"/>'
                f'<g fill="{colour}">{drawn}</g>{lines}</svg>')

    def _leading(self):
        """What the axes that are not drawn have, as text."""
        if len(self.shape) < 3:
            return ""
        said = ", ".join(",".join(f"{a}" if a == b else f"{a}:{b + 1}:{s}"
                                  for a, b, s in axis)
                         for axis in self.ranges[:-2])
        return f" (at [{said}])"

    def _repr_html_(self):
        return (f"<div>{self.svg()}<br><small>{html.escape(self.caption)}"
                f"{self._leading()}</small></div>")

    def __repr__(self) -> str:
        return self.caption


def _boxes(rows, columns):
    """(row, column, height, width) of the boxes that two ranges touch."""
    return [(r, c, h, w) for r, h in _stretches(*rows)
            for c, w in _stretches(*columns)]


def _stretches(first, last, step):
    """(start, length) of the stretches without a gap in a range."""
    if step <= 1:
        return [(first, last - first + 1)]
    return [(i, 1) for i in range(first, last + 1, step)][:RECTANGLES]
