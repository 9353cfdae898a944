"""The virtual device: one NVIDIA H200, as far as host code can ask.

The numbers are those of the product's data sheet and of the CUDA runtime;
nothing in an interpreter depends on them, but scripts size their grids by
them.  N_REGS and SHARED stand for what a compiler would report of a kernel:
small, and never zero, so that occupancy arithmetic has a result.
"""
from __future__ import annotations

from dataclasses import dataclass

NAME = "NVIDIA H200 (virtual, tkdbg)"
ARCH = 90
CAPABILITY = (9, 0)
WARP_SIZE = 32
TOTAL_MEMORY = 141 * 1000**3
UUID = "GPU-00000000-0000-0000-0000-000000000000"
CUDA_VERSION = "12.8"

N_REGS = 32   # registers of a thread, of every kernel
SHARED = 1024  # bytes of shared memory, of every kernel

# what driver.active.utils.get_device_properties answers, and a few more
PROPERTIES = {
    "multiprocessor_count": 132,
    "max_shared_mem": 232448,        # bytes per block, opted in
    "max_num_regs": 65536,           # per block
    "warpSize": WARP_SIZE,
    "max_threads_per_block": 1024,
    "max_threads_per_sm": 2048,
    "sm_clock_rate": 1980000,        # kHz
    "mem_clock_rate": 3201000,       # kHz
    "mem_bus_width": 6144,           # bits
    "arch": ARCH,
    "name": NAME,
    "total_memory": TOTAL_MEMORY,
    "L2_cache_size": 60 * 1024**2,
}


@dataclass(frozen=True)
class GPUTarget:
    """What kernels are compiled for."""
    backend: str
    arch: object
    warp_size: int


def target():
    return GPUTarget("cuda", ARCH, WARP_SIZE)


def properties(index=None):
    """A copy of the properties; index: 0 or None, else ValueError."""
    check_index(index)
    return dict(PROPERTIES)


def check_index(index):
    """0 for a device number, "cuda", "cuda:0" or None; ValueError."""
    if index is None or isinstance(index, str) and index == "cuda":
        return 0
    number = getattr(index, "index", index)
    if isinstance(index, str):
        number = int(index.rpartition(":")[2])
    if callable(number) or number is None:
        number = 0
    if number not in (0, -1):
        raise ValueError(f"invalid device ordinal {number}: there is one "
                         "virtual device, cuda:0")
    return 0
