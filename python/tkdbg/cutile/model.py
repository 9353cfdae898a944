"""The intermediate form of a CUDA Tile kernel as the converter reads it: plain
data, which front.py makes of what the installed cuda.tile has, and tests of
what was recorded."""
from __future__ import annotations

from typing import Any, NamedTuple, Union


class Refused(Exception):
    """What a kernel needs and tkdbg does not do, in a sentence."""


class Tile(NamedTuple):
    """The type of a tile; a shape without axes is that of a scalar."""
    dtype: str  # as cuda.tile spells it; "pointer[float32]" for addresses
    shape: tuple[int, ...] = ()


class View(NamedTuple):
    """The type of an array, or of a view that cuts it into tiles."""
    kind: str   # "array", "partition", "strided", "gather", "list"
    dtype: str
    rank: int
    tile: tuple[int, ...] = ()
    steps: tuple[int, ...] = ()   # from tile to tile, in elements
    order: tuple[int, ...] = ()   # the array's axis of each of the tile's
    padding: str = "undetermined"
    sparse: int = -1              # the axis whose index is a tile
    wide: bool = False            # lengths and strides are of 64 bits


Type = Union[Tile, View, None]  # None: a token, or what has no lanes


class Place(NamedTuple):
    """A range of a source file: lines and columns from 1, the end is behind
    it.  function: which call of which function it stands in."""
    file: str
    line: int
    column: int
    last_line: int
    end: int
    function: str = ""


class Value:
    """Something that an operation defines, once."""
    __slots__ = ("name", "type", "parts", "constant")

    def __init__(self, name: str, type: Type,
                 parts: tuple[Value, ...] = ()) -> None:
        self.name = name    # the Python variable that it is; "" for none
        self.type = type
        self.parts = parts  # of an array or view: base, lengths, strides
        self.constant: Any = None

    def __repr__(self) -> str:
        return f"{self.name or '$'}: {self.type}"


class Op:
    """An operation."""
    __slots__ = ("code", "results", "operands", "attributes", "blocks",
                 "places")

    def __init__(self, code: str, results: list[Value],
                 operands: dict[str, Any], attributes: dict[str, Any],
                 blocks: list[Block], places: list[Place]) -> None:
        self.code = code
        self.results = results
        self.operands = operands      # a Value, a tuple of them, or None
        self.attributes = attributes  # numbers, texts, tuples of them
        self.blocks = blocks
        self.places = places  # of the operation, then of the calls around it


class Block:
    """Operations in order; the last one says how the block ends."""
    __slots__ = ("params", "ops")

    def __init__(self, params: list[Value], ops: list[Op]) -> None:
        self.params = params
        self.ops = ops


class Param(NamedTuple):
    """Where a parameter of the outermost block comes from."""
    argument: str     # a name of the launch's arguments
    item: int = 0     # of a tensor: 1.. its lengths, then its strides
    divisor: int = 1
    is_one: bool = False


class Kernel(NamedTuple):
    """All of a kernel for one signature."""
    name: str
    place: Place                    # of its name
    block: Block
    params: list[Param]             # of each of block.params
    arguments: list[tuple[str, str | None]]  # names; text where it is known
    sources: dict[str, list[str]]   # lines by file
    version: str                    # of cuda.tile
