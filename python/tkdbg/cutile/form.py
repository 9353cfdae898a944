"""CUDA Tile's intermediate form to the text of the typed form.

An operation has an emitter, found by its code in one table (builder.py).
Control flow, and the bodies of reductions and scans, are in functions.py.
"""
from __future__ import annotations

from . import functions, memory, moves, numbers
from .builder import ELEMENTS, Builder, bits_of
from .model import Kernel, Param, Tile
from .statements import Function, Slot, quoted

HEAD = "tkdbg-ir 1"
EMITTING = memory, moves, numbers  # they enter themselves in the table



def _of(p: Param) -> str:
    return p.argument + (f".{p.item}" if p.item else "")


def convert(kernel: Kernel) -> str:
    """The text of the typed form of a kernel; raises Refused."""
    made: list[str] = []
    b = Builder(kernel, made)
    for value, p in zip(kernel.block.params, kernel.params):
        if isinstance(value.type, Tile):
            b.set(value, Slot(b.type(value), _of(p)))
            if p.is_one:
                b.ones.add(b.slots[value])
    slots = [b.slots[v] for v in kernel.block.params]
    origins = [f" from {_of(p)}" +
               (f" divisor {p.divisor}" if p.divisor > 1 else "")
               for p in kernel.params]
    functions.emit_block(b, kernel.block.ops, None)
    function = Function(kernel.name, slots, kernel.place, b.out,
                        origins=origins)
    arguments = [f"arg {name}" + (f" = {quoted(text)}" if text is not None
                                  else "")
                 for name, text in kernel.arguments]
    lines = kernel.sources.get(kernel.place.file, [])
    return "\n".join([
        HEAD, "language cutile", *arguments, "",
        function.text("kernel", 0), *made,
        f"source 0 {quoted(kernel.place.file)} from 1",
        *("|" + line.rstrip("\n") for line in lines), ""])


__all__ = ["ELEMENTS", "bits_of", "convert"]
