"""What a right answer costs: bytes that it moves against the least that must
be moved, lanes that do nothing, programs, lines."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import data, words

if TYPE_CHECKING:
    from .accesses import Accesses
    from .data import Launch


def score(launches: list[Launch], logs: list[Accesses],
          text: str) -> dict[str, Any]:
    """The score of a run, a dict of numbers."""
    moved = lanes = active = 0
    for launch, log in zip(launches, logs):
        for number, site in enumerate(log.sites):
            rows = log.rows[log.rows["site"] == number]
            lanes += int(rows["lanes"].sum())
            active += int(rows["active"].sum())
            buffer = launch.arguments.get(site.tensor)
            if isinstance(buffer, data.Buffer):
                moved += int(rows["active"].sum()) * buffer.array.itemsize
    programs = sum(x * y * z for x, y, z in (n.grid for n in launches))
    return {"moved": moved, "least": least(launches),
            "idle": round(100 * (lanes - active) / max(lanes, 1), 1),
            "programs": programs, "lines": words.code_lines(text)}


def least(launches: list[Launch]) -> int:
    """The bytes that any answer moves: every input once, every output
    once, one that is updated twice."""
    buffers = {id(b): b for n in launches for b in n.buffers().values()
               if not isinstance(b, data.Scratch)}
    return sum(b.array.nbytes * (2 if b.written and not b.fresh else 1)
               for b in buffers.values())
