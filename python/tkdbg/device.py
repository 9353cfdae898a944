"""The virtual device: an NVIDIA GPU, as far as host code can ask.

``--device`` chooses the model.  The numbers are those of the product's data
sheet and of the CUDA runtime; no result of a kernel depends on them, but
scripts size their grids and choose their configurations by them.  What a
kernel needs of it is estimated, and never zero, so that occupancy arithmetic
has a result.
"""
from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass
from typing import Any

from . import session as session_

WARP_SIZE = 32
CUDA_VERSION = "12.8"
MOST = 8  # devices that exist when CUDA_VISIBLE_DEVICES says nothing

FEWEST_REGISTERS = 24   # of a thread
ALL_REGISTERS = 65536   # of a block

KIB, GIB = 1024, 1024**3


@dataclass(frozen=True)
class Model:
    """One product."""
    product: str
    arch: int                  # 90 for sm_90
    multiprocessors: int
    shared_per_block: int      # bytes that one block may opt in to
    shared_per_sm: int
    threads_per_sm: int
    blocks_per_sm: int
    memory: int                # bytes
    l2: int
    sm_clock: int              # kHz
    memory_clock: int
    memory_bus: int            # bits

    @property
    def name(self) -> str:
        return f"NVIDIA {self.product} (virtual, tkdbg)"

    @property
    def capability(self) -> tuple[int, int]:
        return divmod(self.arch, 10)

    def properties(self) -> dict[str, Any]:
        """What driver.active.utils.get_device_properties returns, and a few
        more properties."""
        return {
            "multiprocessor_count": self.multiprocessors,
            "max_shared_mem": self.shared_per_block,
            "max_num_regs": 65536,  # of a block
            "warpSize": WARP_SIZE,
            "max_threads_per_block": 1024,
            "max_threads_per_sm": self.threads_per_sm,
            "sm_clock_rate": self.sm_clock,
            "mem_clock_rate": self.memory_clock,
            "mem_bus_width": self.memory_bus,
            "arch": self.arch,
            "name": self.name,
            "total_memory": self.memory,
            "L2_cache_size": self.l2,
        }


MODELS = {
    "sm_80": Model("A100-SXM4-80GB", 80, 108, 163 * KIB, 164 * KIB, 2048, 32,
                   80 * GIB, 40 * KIB**2, 1410000, 1593000, 5120),
    "sm_86": Model("GeForce RTX 3090", 86, 82, 99 * KIB, 100 * KIB, 1536, 16,
                   24 * GIB, 6 * KIB**2, 1695000, 9751000, 384),
    "sm_89": Model("GeForce RTX 4090", 89, 128, 99 * KIB, 100 * KIB, 1536, 24,
                   24 * GIB, 72 * KIB**2, 2520000, 10501000, 384),
    "sm_90": Model("H200", 90, 132, 227 * KIB, 228 * KIB, 2048, 32,
                   141 * 1000**3, 60 * KIB**2, 1980000, 3201000, 6144),
    "sm_100": Model("B200", 100, 148, 227 * KIB, 228 * KIB, 2048, 32,
                    180 * GIB, 126 * KIB**2, 1965000, 3996000, 8192),
}


def model() -> Model:
    """The Model that --device chose."""
    return MODELS[session_.current().options.device]


@dataclass(frozen=True)
class GPUTarget:
    """What kernels are compiled for."""
    backend: str
    arch: object
    warp_size: int


def target() -> GPUTarget:
    return GPUTarget("cuda", model().arch, WARP_SIZE)


def properties(index: int | None = None) -> dict[str, Any]:
    """The properties of a device; ValueError if it is not there."""
    check_index(index)
    return model().properties()


def registers(needed: int, most: int) -> tuple[int, int]:
    """(registers of a thread, how many more are kept in memory) for a kernel
    that needs this many, with at most `most` registers in a thread."""
    return max(min(needed, most), FEWEST_REGISTERS), max(needed - most, 0)


def most_threads(taken: int) -> int:
    """The threads that a block can have when each takes this many registers:
    warps get them by eights, and all four schedulers have as many warps."""
    warps = ALL_REGISTERS // (WARP_SIZE * (-(-taken // 8) * 8 or 1)) & -4
    return min(warps * WARP_SIZE, properties()["max_threads_per_block"])


def uuid(index: int) -> str:
    """The text of a device's UUID, without "GPU-"."""
    return f"00000000-0000-0000-0000-{index:012d}"


# ---- how many there are -----------------------------------------------------


def visible() -> int | None:
    """How many devices CUDA_VISIBLE_DEVICES lists, or None."""
    listed = os.environ.get("CUDA_VISIBLE_DEVICES", "").split(",")
    found = 0
    for name in listed:
        if not name.strip() or name.strip() == "-1":
            break
        found += 1
    return found or None


def count() -> int:
    """How many devices a script is told of: one, unless the environment
    lists more, so that scripts which spread over all devices stay on one."""
    return visible() or 1


def check_index(index: Any) -> int:
    """The number that a device number, "cuda", "cuda:1" or None names; None
    and "cuda" are device 0.  ValueError if it is not there."""
    number = getattr(index, "index", index)
    if isinstance(index, str):
        number = int(index.partition(":")[2] or 0)
    if callable(number) or number is None or number == -1:
        number = 0
    if not 0 <= number < (visible() or MOST):
        raise ValueError(f"invalid device ordinal {number}")
    return number


# ---- programs that ask a driver ---------------------------------------------

_PROBES = ("nvidia-smi", "nvcc", "ncu", "nsys", "nvidia-debugdump")
_LIBRARIES = ("libcuda.so", "libnvidia-ml.so", "libcudart.so", "NVML")
_MODULES = ("pynvml", "py3nvml", "nvidia_smi", "GPUtil", "gpustat")
_NOT_FOUND = 127  # what a shell returns for a program that is not there
HINT = ("the device is virtual and has no driver; "
        "torch.cuda.get_device_properties() says what it is, and "
        "`tkdbg run --device` chooses it (docs/device.md)")


def probe_in(command: list[str] | str) -> str | None:
    """The program in a command that asks NVIDIA's driver, or None."""
    words = command.split() if isinstance(command, str) else command
    if not isinstance(words, (list, tuple)):
        words = [words]
    for word in words:
        name = os.path.basename(os.fsdecode(word)) if isinstance(
            word, (str, bytes, os.PathLike)) else ""
        if name in _PROBES:
            return name
    return None


def advice(error: Any) -> str:
    """What to say of an exception that comes from a missing driver, or ""."""
    text = f"{type(error).__module__} {error}"
    asked = (
        text.startswith("pynvml") or
        isinstance(error, ModuleNotFoundError) and error.name in _MODULES or
        isinstance(error, (OSError, RuntimeError)) and
        any(name in text for name in _LIBRARIES) or
        isinstance(error, subprocess.CalledProcessError) and
        error.returncode == _NOT_FOUND and probe_in(error.cmd))
    return f"tkdbg: {HINT}" if asked and HINT not in text else ""
