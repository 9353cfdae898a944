"""Scratch memory of launches.

Kernels that make tensor descriptors need some on a GPU, where each descriptor
is 128 bytes of it.  Here they need none, but who would allocate it is asked,
so that a program that sets nobody fails here as well.
"""
from __future__ import annotations

import sys


def alignment(nbytes: int) -> int:
    """Of scratch memory, as Triton's metadata says."""
    return 128 if nbytes else 1


def allocate(nbytes: int, grid: tuple[int, int, int]) -> None:
    """Asks the program's allocator, as Triton's launchers do before each
    launch, for memory of nbytes for each program of a grid."""
    setting = sys.modules["triton.runtime._allocation"]._allocator
    x, y, z = grid
    made = setting.get()(x * y * z * nbytes, alignment(nbytes), _stream())
    if not (made is None or isinstance(made, int) or
            hasattr(made, "data_ptr") or
            hasattr(made, "__array_interface__")):
        raise TypeError("Pointer argument must be either uint64 or have "
                        "data_ptr method")


def _stream():
    driver = sys.modules["triton.runtime"].driver.active
    return driver.get_current_stream(driver.get_current_device())
