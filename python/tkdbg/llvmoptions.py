"""Options of the LLVM that Triton has in itself, which Triton's own Python
functions do not set: -opt-bisect-limit=N, say, leaves out all of LLVM's passes
but the first N, and names on standard error those that run.

They are set by a function of LLVM's C interface.  Triton 3.9 exports it; in
older versions it is a local symbol of libtriton.so, at a place that the file's
table of symbols names.
"""
from __future__ import annotations

import ctypes
import mmap
import struct

SETTER = b"LLVMParseCommandLineOptions"
EXPORTED = b"PyInit_libtriton"
SYMTAB = 2  # a section's type
SECTION = struct.Struct("<IIQQQQIIQQ")
SYMBOL = struct.Struct("<IBBHQQ")


class CannotSet(Exception):
    """Why options cannot be set."""


def values_of(path: str, names: tuple[bytes, ...]) -> dict[bytes, int]:
    """The values of symbols in an ELF file of 64 bits, local ones too."""
    with open(path, "rb") as f, mmap.mmap(
            f.fileno(), 0, access=mmap.ACCESS_READ) as data:
        if data[:6] != b"\x7fELF\x02\x01":
            raise CannotSet(f"{path} is not an ELF file of 64 bits")
        at, = struct.unpack_from("<Q", data, 0x28)
        n, = struct.unpack_from("<H", data, 0x3C)
        sections = [SECTION.unpack_from(data, at + i * SECTION.size)
                    for i in range(n)]
        found: dict[bytes, int] = {}
        for _, kind, _, _, offset, size, link, _, _, _ in sections:
            if kind != SYMTAB:
                continue
            words = sections[link][4]
            for symbol in SYMBOL.iter_unpack(data[offset:offset + size]):
                start = words + symbol[0]
                for name in names:
                    if data[start:start + len(name) + 1] == name + b"\0":
                        found[name] = symbol[4]
        return found


def setter(path: str) -> int:
    """The address of the function in this process, which has the library."""
    library = ctypes.CDLL(path)

    def address(name: bytes) -> int:
        return ctypes.cast(getattr(library, name.decode()),
                           ctypes.c_void_p).value or 0

    try:
        return address(SETTER)
    except AttributeError:
        pass
    values = values_of(path, (SETTER, EXPORTED))
    if len(values) < 2:
        raise CannotSet(f"{path} does not say where {SETTER.decode()} is")
    return address(EXPORTED) - values[EXPORTED] + values[SETTER]


def set_options(words: list[str]) -> None:
    """Gives LLVM these options; once in a process."""
    from triton._C import libtriton
    argv = (ctypes.c_char_p * (len(words) + 1))(
        b"triton", *(word.encode() for word in words))
    ctypes.CFUNCTYPE(None, ctypes.c_int, ctypes.c_void_p, ctypes.c_char_p)(
        setter(libtriton.__file__))(len(argv), argv, None)
