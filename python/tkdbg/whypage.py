"""The answer of ``tkdbg why`` as a page: one file, with its pictures in it.

Three maps: which elements are wrong, which programs wrote wrong ones, and
which program wrote which element.  A cell of a map stands for one element or
program, or for a box of them where there are many; what it stands for is
said when the pointer rests on it.
"""
from __future__ import annotations

import html
import re
from typing import Any

ROWS, COLUMNS = 32, 64  # cells of a map, at most
WIDTH = 352             # of a map, in units; a phone shows one as a pixel
LEFT, TOP, GAP = 34, 4, 18
HEIGHT = 320            # of a map's cells, at most
CELL = 24               # of a cell, at most
TICKS = 4
HUE = 137.5             # degrees from one program to the next

_STYLE = """
:root { color-scheme: light dark; --ink: #1d2129; --soft: #5d6675;
  --paper: #fff; --box: #f3f5f8; --line: #d5dae2; --good: #cfd8e6;
  --bad: #d0312d; --none: #fff; --light: 68%; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e9ee;
  --soft: #9aa4b2; --paper: #15181d; --box: #1f242b; --line: #39414c;
  --good: #3a4557; --bad: #ff5d55; --none: #15181d; --light: 45%; } }
body { margin: 0 auto; max-width: 60rem; padding: 1rem;
  background: var(--paper); color: var(--ink);
  font: 16px/1.5 system-ui, sans-serif; }
h1 { font-size: 1.25rem; overflow-wrap: anywhere; }
h2 { font-size: 1rem; margin: 1.5rem 0 .5rem; }
figure { margin: 0; }
figcaption { color: var(--soft); font-size: .875rem; }
.maps { display: grid; gap: 1.5rem; margin-bottom: 1.5rem;
  grid-template-columns: repeat(auto-fit, minmax(min(100%, 22rem), 1fr)); }
svg { display: block; width: 100%; max-width: 36rem; height: auto; }
svg text { fill: var(--soft); font-size: 11px; }
svg rect { stroke: var(--line); stroke-width: .5; }
.scroll { overflow-x: auto; background: var(--box);
  border: 1px solid var(--line); border-radius: 6px; padding: .5rem .75rem; }
p { margin: .375rem 0; }
table { border-collapse: collapse; }
p.caption { font-weight: 600; }
td, pre { font: 13px/1.6 ui-monospace, monospace; white-space: pre;
  margin: 0; }
td { padding: 0 1.25rem 0 0; }
td:first-child, td:last-child { color: var(--soft); }
td:first-child { text-align: right; padding-right: .75rem; }
"""


class Map:
    """Numbers on a grid, drawn as cells."""

    def __init__(self, title: str, axes: Any, counts: Any,
                 key: Any) -> None:
        """axes: the names of rows and columns; counts: of each cell how many
        there are, and how many of them are wrong, and its text; key: what the
        colours mean."""
        self.title, self.axes, self.counts, self.key = title, axes, counts, key

    def svg(self) -> str:
        rows, columns = len(self.counts), len(self.counts[0])
        side = min(CELL, (WIDTH - LEFT) / columns, HEIGHT / rows)
        height = TOP + rows * side + GAP
        cells = "".join(
            f'<rect x="{LEFT + c * side:.4g}" y="{TOP + r * side:.4g}" '
            f'width="{side:.4g}" height="{side:.4g}" style="fill:{fill}">'
            f"<title>{html.escape(text)}</title></rect>"
            for r, row in enumerate(self.counts)
            for c, (fill, text) in enumerate(row))
        down, across = self.axes
        ticks = "".join(
            f'<text x="{LEFT - 4}" y="{TOP + (r + .5) * side + 4:.4g}" '
            f'text-anchor="end">{down(r)}</text>'
            for r in _ticks(rows)) + "".join(
            f'<text x="{LEFT + c * side:.4g}" y="{height - 4:.4g}">'
            f"{across(c)}</text>" for c in _ticks(columns))
        return (f'<svg viewBox="0 0 {WIDTH} {height:.4g}" role="img" '
                f'aria-label="{html.escape(self.title)}">{cells}{ticks}</svg>')

    def figure(self) -> str:
        return (f"<figure><h2>{html.escape(self.title)}</h2>{self.svg()}"
                f"<figcaption>{html.escape(self.key)}</figcaption></figure>")


def _ticks(n):
    return range(0, n, max(1, -(-n // TICKS)))


def maps(difference: Any, name: str) -> list[Map]:
    """The Maps of a tk_difference."""
    import numpy
    d, n = difference, difference.total
    wrong = numpy.ctypeslib.as_array(d.is_wrong, (n,)).astype(bool)
    writer = numpy.ctypeslib.as_array(d.writer, (n,)).astype("i8")
    shape = list(d.shape[:d.rank])
    wide = shape[-1] if d.rank > 1 else COLUMNS * -(-n // (ROWS * COLUMNS))
    grid = list(d.grid)
    programs = int(numpy.prod(grid))
    wrote = numpy.bincount(writer, minlength=programs + 1)[1:]
    bad = numpy.bincount(writer, wrong, minlength=programs + 1)[1:]
    return [
        _elements(name, shape, wide, wrong, writer, grid),
        _programs(grid, wrote, bad),
        _owners(name, shape, wide, writer, grid)]


def _boxes(n, wide):
    """How rows of `wide` of n things are drawn: rows and columns of a box,
    and the indices of the things of each box, by row and column."""
    import numpy
    wide = min(n, wide)
    high = -(-n // wide)
    down, across = -(-high // ROWS), -(-wide // COLUMNS)
    columns = -(-wide // across)
    row, column = numpy.divmod(numpy.arange(n), wide)
    box = row // down * columns + column // across
    order = numpy.argsort(box, kind="stable")
    ends = numpy.cumsum(numpy.bincount(
        box, minlength=-(-high // down) * columns))
    boxes = numpy.split(order, ends[:-1])
    return down, across, [boxes[i:i + columns]
                          for i in range(0, len(boxes), columns)]


def _index(shape, i):
    """The index along these axes of number i, such as "2, 0"."""
    index: list[str] = []
    for size in reversed(shape):
        i, at = divmod(i, size)
        index.insert(0, str(at))
    return ", ".join(index)


def _element(name, shape, i):
    return f"{name}[{_index(shape, int(i))}]" if shape else name


def _span(name, shape, box):
    first, last = (_element(name, shape, i) for i in (box[0], box[-1]))
    return first if first == last else f"{first} to {last}"


def _program(grid, i):
    i, x = divmod(int(i), grid[0])
    z, y = divmod(i, grid[1])
    return f"({x}, {y}, {z})"


def _shade(wrong, total):
    """A colour from right to wrong."""
    if not total:
        return "var(--none)"
    part = 0 if not wrong else 30 + 70 * wrong / total
    return f"color-mix(in srgb, var(--bad) {part:.0f}%, var(--good))"


def _element_axes(shape, wide, down, across):
    """What stands beside rows and columns: of an array of one axis the first
    element of the row, of others the row's index along all axes but the
    last."""
    if len(shape) < 2:
        return (lambda r: r * down * wide), (lambda c: f"+{c * across}")
    return (lambda r: _index(shape[:-1], r * down)), (lambda c: c * across)


def _joined(shape, what):
    """Says so where rows stand for several axes."""
    return f"; rows: {what}" if len(shape) > 2 else ""


def _elements(name, shape, wide, wrong, writer, grid):
    down, across, boxes = _boxes(len(wrong), wide)

    def cell(box):
        if not len(box):
            return "var(--none)", ""
        bad = int(wrong[box].sum())
        by = writer[box][wrong[box]]
        text = f"{_span(name, shape, box)}: {bad} of {len(box)} wrong"
        if bad and not by.any():
            text += ", which no program wrote"
        elif bad:
            text += f", first by program {_program(grid, by[by > 0][0] - 1)}"
        return _shade(bad, len(box)), text
    return Map(f"Wrong elements of {name}",
               _element_axes(shape, wide, down, across),
               [[cell(box) for box in row] for row in boxes],
               "red: wrong" + _joined(shape, "all axes but the last")
               + _size(down, across, "elements"))


def _programs(grid, wrote, bad):
    down, across, boxes = _boxes(len(wrote), grid[0])
    planes = [grid[2], grid[1]] if grid[2] > 1 else [grid[1]]

    def cell(box):
        if not len(box):
            return "var(--none)", ""
        some, all_ = int(bad[box].sum()), int(wrote[box].sum())
        first, last = _program(grid, box[0]), _program(grid, box[-1])
        who = first if first == last else f"{first} to {last}"
        return _shade(some, all_), (
            f"program {who}: {some} of {all_} elements that it wrote are wrong"
            if all_ else f"program {who} wrote none of it")
    return Map(f"Programs of grid ({', '.join(map(str, grid))})",
               ((lambda r: _index(planes, r * down)), (lambda c: c * across)),
               [[cell(box) for box in row] for row in boxes],
               "red: wrote wrong elements; empty: wrote none; axis 0 goes to "
               "the right" + ("; rows: axes 2, 1" if grid[2] > 1 else "")
               + _size(down, across, "programs"))


def _owners(name, shape, wide, writer, grid):
    import numpy
    down, across, boxes = _boxes(len(writer), wide)

    def cell(box):
        by, counts = numpy.unique(writer[box], return_counts=True)
        by, counts = by[by > 0], counts[by > 0]
        if not len(by):
            return "var(--none)", (
                f"{_span(name, shape, box)}: no program" if len(box) else "")
        most, others = int(by[counts.argmax()]), len(by) - 1
        return (f"hsl({(most - 1) * HUE % 360:.0f} 55% var(--light))",
                f"{_span(name, shape, box)}: program "
                f"{_program(grid, most - 1)}"
                + (f" and {others} more" if others else ""))
    return Map(f"Which program wrote which element of {name}",
               _element_axes(shape, wide, down, across),
               [[cell(box) for box in row] for row in boxes],
               "each program has a colour; empty: no program wrote it"
               + _joined(shape, "all axes but the last")
               + _size(down, across, "elements"))


def _size(down, across, what):
    return ("" if down * across == 1 else
            f"; a cell is {down} by {across} {what}")


_SOURCE = re.compile(r" +(\d+) \| (.{0,46})(.*)")


def page(lines: list[str], drawn: list[Map]) -> str:
    """The document: what the terminal is told, and Maps."""
    head, *rest = lines
    title = html.escape(head.removeprefix("tkdbg: "))
    parts: list[tuple[str, list[str]]] = []
    for line in rest:
        code = _SOURCE.fullmatch(line)
        kind, text = ("source", "".join(
            f"<td>{html.escape(cell.rstrip())}</td>"
            for cell in code.groups())) if code else (
            "text", html.escape(line.strip()))
        if not parts or parts[-1][0] != kind:
            above = code and parts and parts[-1][1].pop() or ""
            parts.append((kind, [above] if above else []))
        parts[-1][1].append(text)
    body = [_part(*part) for part in parts]
    body[1:1] = ['<div class="maps">'
                 f'{"".join(m.figure() for m in drawn)}</div>']
    return (f'<!doctype html>\n<html lang="en">\n<meta charset="utf-8">\n'
            '<meta name="viewport" content="width=device-width">\n'
            f"<title>{title}</title>\n<style>{_STYLE}</style>\n"
            f"<h1>{title}</h1>\n" + "\n".join(body) + "\n</html>\n")


def _part(kind, texts):
    if kind == "text":
        return "".join(f"<p>{text}</p>" for text in texts)
    above, *cells = texts if not texts[0].startswith("<td>") else ["", *texts]
    rows = "".join(f"<tr>{text}</tr>" for text in cells)
    caption = above and f'<p class="caption">{above}</p>'
    return f'<div class="scroll">{caption}<table>{rows}</table></div>'
