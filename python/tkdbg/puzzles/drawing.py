"""Pictures for the terminal: a sign for each element, which says what
program loads or stores it."""
from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .report import Style

SIGNS = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
ROWS = 20      # rows of a tensor that are drawn
PROGRAMS = 24  # programs that are described in words
_COLOURS = "red", "green", "yellow", "cyan"


def draw(scene: dict[str, Any], style: Style) -> str:
    """The picture of a scene (look.scene), as text."""
    if style.plain:
        return "\n".join(_words(scene))
    lines = [style.wrap(scene["case"])]
    for t, tensor in enumerate(scene["tensors"]):
        for writes in False, True:
            steps = [s for s in scene["steps"]
                     if s["tensor"] == t and s["writes"] == writes]
            if steps:
                lines += _tensor(scene, tensor, steps, writes, style)
    if not scene["steps"]:
        lines.append(scene["refused"] or "No program loads or stores.")
    else:
        lines.append(style.wrap("a sign is a program's number: 0 to 9, a is "
                                "10; * several programs, . none"))
    return "\n".join(lines)


def number_of(scene: dict[str, Any], step: dict[str, Any]) -> int:
    """A program's number in its grid."""
    x, y, _ = scene["grids"][step["launch"]]
    p = step["program"]
    return p[0] + x * (p[1] + y * p[2])


def elements(step: dict[str, Any]) -> Iterator[int]:
    for first, last, by in step["runs"]:
        yield from range(first, last + (1 if by > 0 else -1), by or 1)


def _tensor(scene, tensor, steps, writes, style):
    owners: dict[int, set[int]] = {}
    for step in steps:
        for e in elements(step):
            owners.setdefault(e, set()).add(number_of(scene, step))
    shape = tensor["shape"]
    size = " x ".join(map(str, shape))
    touched = sum(len(list(elements(s))) for s in steps)
    lanes = sum(s["lanes"] for s in steps)
    word = "stored" if writes else "loaded"
    lines = [f"{style('bold', tensor['name'])} [{size}], {word}; "
             f"{lanes - touched} of {lanes} lanes are idle"]
    wide = style.width - 8
    if len(shape) == 1:
        rows = [list(range(i, min(i + min(wide, 64), shape[0])))
                for i in range(0, shape[0], min(wide, 64))]
        rows = [[e * tensor["strides"][0] for e in row] for row in rows]
        names = [f"{i * min(wide, 64):5}" for i in range(len(rows))]
    else:
        rows, names = _rows(tensor)
    for name, row in list(zip(names, rows))[:ROWS]:
        cut = "..." if len(row) > wide else ""
        signs = "".join(_sign(owners.get(e, ()), style)
                        for e in row[:wide - len(cut)])
        lines.append(f"  {name} {signs}{cut}")
    if len(rows) > ROWS:
        lines.append(f"  ... {len(rows) - ROWS} more rows")
    return lines


def _rows(tensor):
    """The places in memory of each row of the last axis, and its name."""
    *outer, last = tensor["shape"]
    *strides, step = tensor["strides"]
    rows, names = [], []
    for index in itertools.product(*map(range, outer)):
        start = sum(i * s for i, s in zip(index, strides))
        rows.append([start + k * step for k in range(last)])
        names.append(f"{','.join(map(str, index)):>5}")
    return rows, names


def _sign(owners, style):
    if not owners:
        return "."
    if len(owners) > 1:
        return "*"
    n, = owners
    sign = SIGNS[n] if n < len(SIGNS) else "+"
    return style(_COLOURS[n % len(_COLOURS)], sign)


def _words(scene):
    """The same for a screen reader: a line a program."""
    yield scene["case"]
    said: dict[tuple[int, tuple[int, ...]], list[str]] = {}
    for step in scene["steps"]:
        if step["tensor"] < 0:
            continue
        tensor = scene["tensors"][step["tensor"]]["name"]
        runs_ = " and ".join(
            f"{a} to {b}" + (f" by {by}" if abs(by) != 1 else "")
            for a, b, by in step["runs"][:3])
        more = ", and more" if len(step["runs"]) > 3 else ""
        verb = "stores" if step["writes"] else "loads"
        idle = step["lanes"] - step["active"]
        said.setdefault((step["launch"], tuple(step["program"])), []).append(
            f"{verb} {tensor} {runs_ or 'nothing'}{more}"
            + (f" ({idle} lanes idle)" if idle else ""))
    for (_, program), words in list(said.items())[:PROGRAMS]:
        yield f"program {program}: " + "; ".join(words[:6])
    if len(said) > PROGRAMS:
        yield f"and {len(said) - PROGRAMS} more programs"
    if not said:
        yield scene["refused"] or "No program loads or stores."
