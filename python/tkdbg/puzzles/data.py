"""Data of a launch: what the kernel is given, by regime, and where it writes.

uniform  values in -1 to 1: anybody's first try
large    to +-80: exp overflows, halves lose digits
special  few different values, so that there are ties, and infinities where
         the puzzle allows them
"""
from __future__ import annotations

from typing import Any
import numpy as np

STORED = {"fp16": np.float16, "fp32": np.float32, "fp64": np.float64,
          "bf16": np.uint16, "fp8e4nv": np.uint8, "fp8e5": np.uint8,
          "int1": np.bool_,
          **{f"{sign}int{bits}": np.dtype(f"{sign}int{bits}").type
             for sign in ("", "u") for bits in (8, 16, 32, 64)}}
# bits of the mantissa: an ULP of 1.0 is 2^-bits
MANTISSA = {"fp64": 52, "fp32": 23, "fp16": 10, "bf16": 7, "fp8e4nv": 3,
            "fp8e5": 2}
_FLOAT8 = {"fp8e4nv": (4, 7), "fp8e5": (5, 15)}  # bits of exponent, bias


def is_float(dtype: str) -> bool:
    return dtype in MANTISSA


def epsilon(dtype: str) -> float:
    return 2.0 ** -MANTISSA[dtype]


def decode(array: Any, dtype: str) -> Any:
    """Stored elements as float64, or as int64."""
    if dtype == "bf16":
        return (array.astype(np.uint32) << 16).view(np.float32).astype(
            np.float64)
    if dtype in _FLOAT8:
        return _float8_values(dtype)[array]
    return array.astype(np.float64 if is_float(dtype) else np.int64)


def encode(values: Any, dtype: str) -> Any:
    """float64 as stored elements, rounded to the nearest."""
    values = np.asarray(values, np.float64)
    if dtype == "bf16":
        bits = values.astype(np.float32).view(np.uint32)
        up = ((bits >> 16) & 1) + 0x7fff
        return np.where(np.isnan(values), 0x7fc0,
                        (bits + up) >> 16).astype(np.uint16)
    if dtype in _FLOAT8:
        table = _float8_values(dtype)
        finite = np.flatnonzero(np.isfinite(table))
        order = finite[np.argsort(table[finite], kind="stable")]
        middle = (table[order][1:] + table[order][:-1]) / 2
        return order[np.searchsorted(middle, values)].astype(np.uint8)
    with np.errstate(over="ignore"):
        return values.astype(STORED[dtype])


def _float8_values(dtype):
    bits, bias = _FLOAT8[dtype]
    mantissa = 7 - bits
    code = np.arange(256)
    exponent = (code >> mantissa) & ((1 << bits) - 1)
    fraction = (code & ((1 << mantissa) - 1)) / 2.0 ** mantissa
    value = np.where(exponent == 0, fraction * 2.0 ** (1 - bias),
                     (1 + fraction) * 2.0 ** (exponent - bias))
    if dtype == "fp8e5":
        value = np.where(exponent == 31, np.where(fraction == 0, np.inf,
                                                  np.nan), value)
    else:
        value = np.where((code & 127) == 127, np.nan, value)
    return np.where(code & 128, -value, value)


def ulps(got: Any, want: Any, dtype: str) -> int:
    """How many representable values lie between two stored scalars: of
    whole numbers, and beside NaN, that says nothing, and is 0."""
    if not (is_float(dtype) and np.isfinite(decode(got, dtype)) and
            np.isfinite(decode(want, dtype))):
        return 0
    bits = got.dtype.itemsize * 8

    def place(x):
        n = int(np.asarray(x).view(f"u{got.dtype.itemsize}"))
        top = 1 << (bits - 1)
        return top - n if n & top else n
    return abs(place(got) - place(want))


class Buffer:
    """A tensor of a launch: memory, element type, and what may be done."""
    written = False  # whether kernels are to write it
    unwritten = False  # whether one still has to

    def __init__(self, array: Any, dtype: str) -> None:
        self.array = array
        self.dtype = dtype
        self.before = array.copy()

    def note_write(self) -> None:
        """A launch has written to it."""
        self.unwritten = False

    def values(self) -> Any:
        return decode(self.array, self.dtype)

    def values_before(self) -> Any:
        return decode(self.before, self.dtype)

    @property
    def storage(self) -> Any:
        """The array that owns the memory of this view."""
        found = self.array
        while isinstance(found.base, np.ndarray):
            found = found.base
        return found


class Output(Buffer):
    """Each element is to be written once; it holds poison before."""
    written = True
    poison = 0xA7

    def __init__(self, shape: Any, dtype: str, terms: int = 1,
                 scale: Any = None, work: Any = None, once: bool = True,
                 start: Any = None) -> None:
        array = np.empty(shape, STORED[dtype])
        if start is None:
            array.view(np.uint8).reshape(-1)[:] = self.poison
        else:
            array[...] = encode(start, dtype) if is_float(dtype) else start
        super().__init__(array, dtype)
        self.fresh = start is None
        self.unwritten = self.fresh  # until a launch writes to it
        self.terms, self.scale, self.once = terms, scale, once
        self.work = work or ("fp64" if dtype == "fp64" else "fp32")


class Scratch(Output):
    """Memory of the launches' own, which nobody compares.  What is left of
    the poison when a later launch reads it is NaN, or no index."""
    poison = 0xFF


class Launch:
    """One launch: grid, arguments by parameter, which kernel."""

    def __init__(self, grid: tuple[int, ...], kernel: Any,
                 arguments: dict[str, Any]) -> None:
        self.grid = tuple(grid) + (1,) * (3 - len(grid))
        self.kernel = kernel
        self.arguments = arguments

    def buffers(self) -> dict[str, Any]:
        return {name: b for name, b in self.arguments.items()
                if isinstance(b, Buffer)}


class Make:
    """Makes the data of one case; a key's launch() gets it."""

    def __init__(self, seed: list[int], regime: str) -> None:
        self.random = np.random.default_rng(seed)
        self.regime = regime

    def floats(self, shape: Any, dtype: str = "fp32", infinities: str = "",
               low: float = -1.0, high: float = 1.0,
               large: float = 80.0) -> Buffer:
        """An input of floats.

        infinities: "+", "-" or "+-": which of them occur in the special
        regime.  low, high: the uniform regime; large scales it."""
        if self.regime == "special":
            few = [low, high, (low + high) / 2, (low + 3 * high) / 4]
            few += [np.inf] * ("+" in infinities)
            few += [-np.inf] * ("-" in infinities)
            values = self.random.choice(few, shape)
        else:
            values = self.random.uniform(low, high, shape)
            if self.regime == "large":
                values = values * large
        return Buffer(encode(values, dtype), dtype)

    def ints(self, shape: Any, low: int, high: int,
             dtype: str = "int32") -> Buffer:
        """An input of whole numbers, low <= value < high; the special
        regime has few different ones."""
        if self.regime == "special":
            values = self.random.choice([low, high - 1, (low + high) // 2],
                                        shape)
        else:
            values = self.random.integers(low, high, shape)
        return Buffer(values.astype(STORED[dtype]), dtype)

    def array(self, values: Any, dtype: str) -> Buffer:
        """An input with these values."""
        values = np.asarray(values)
        stored = (encode(values, dtype) if is_float(dtype)
                  else values.astype(STORED[dtype]))
        return Buffer(stored, dtype)

    def view(self, buffer: Buffer, *index: Any) -> Buffer:
        """An input that is a part of another one: view(x, slice(None), 0)
        is x[:, 0], with the strides of x."""
        return Buffer(buffer.array[index], buffer.dtype)

    def output(self, shape: Any, dtype: str = "fp32", terms: int = 1,
               scale: Any = None, work: str | None = None) -> Output:
        """A result: poisoned, and each element is to be written once.

        terms: how many rounded operations lead to an element, about.
        scale: the size of what is summed, if much of it cancels: an array,
        or a number.  work: the type that is calculated in, if not fp32."""
        return Output(shape, dtype, terms, scale, work)

    def updated(self, start: Any, dtype: str = "fp32", terms: int = 1,
                scale: Any = None, work: str | None = None) -> Output:
        """A result that begins with these values and may be written any
        number of times (atomics, in place)."""
        start = np.asarray(start)
        return Output(start.shape, dtype, terms, scale, work, False, start)

    def scratch(self, start: Any, dtype: str = "fp32") -> Scratch:
        """Memory that kernels may use as they like: start is a shape (a
        tuple, unwritten memory), or an array of first values."""
        if isinstance(start, tuple):
            return Scratch(start, dtype, once=False)
        return Scratch(np.shape(start), dtype, once=False,
                       start=np.asarray(start))

    def launch(self, grid: tuple[int, ...], kernel: Any = None,
               **arguments: Any) -> Launch:
        """kernel: its name; else the last one of the learner's file."""
        return Launch(grid, kernel, arguments)
