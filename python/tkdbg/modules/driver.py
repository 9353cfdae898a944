"""triton.runtime.driver: one active driver, of the virtual device.

Where PyTorch has a real CUDA device, device numbers and streams are its.
"""
from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Any

from .. import bench, device

if TYPE_CHECKING:
    from ..device import GPUTarget


class Utils:
    """``driver.active.utils``."""

    @staticmethod
    def get_device_properties(index: int | None = None) -> dict[str, Any]:
        return device.properties(index)

    @staticmethod
    def set_printf_fifo_size(size: int) -> None:
        """Output needs no buffer here."""

    def load_binary(self, *args: Any) -> None:
        raise RuntimeError(
            "tkdbg runs @triton.jit kernels and loads no GPU code: kernels in "
            "Gluon, which is not Triton's language, and those given as IR or "
            "PTX are not supported")

    # of what launches machine code, and describes tensors to it
    launch = build_signature_metadata = load_binary
    fill_tma_descriptor_tiled = fill_tma_descriptor_im2col = load_binary

    @staticmethod
    def unload_module(module: int) -> None:
        """Nothing was loaded, so there is nothing to give back."""

    @staticmethod
    def cuOccupancyMaxActiveClusters(*args: Any) -> Any:
        return device.model().multiprocessors

    @staticmethod
    def get_current_device() -> int:
        cuda = _begun()
        return cuda.current_device() if cuda else 0

    @staticmethod
    def set_current_device(index: int) -> None:
        device.check_index(index)

    @staticmethod
    def get_default_stream(index: int | None = None) -> int:
        return 0

    @staticmethod
    def is_stream_capturing(stream: int | None = None) -> bool:
        cuda = _begun()
        return bool(cuda and cuda.is_current_stream_capturing())

    @staticmethod
    def get_device_capability(index: int | None = None) -> tuple[int, int]:
        return device.model().capability


class Event:
    """A point in time, for programs without PyTorch."""

    def __init__(self, enable_timing: bool = True, **_: Any) -> None:
        self._time: Any = None

    def record(self, stream: Any = None) -> None:
        self._time = time.perf_counter()

    def elapsed_time(self, end: Event) -> float:
        """Milliseconds from this event to end."""
        return (end._time - self._time) * 1e3

    def synchronize(self) -> None:
        pass

    def query(self) -> bool:
        return True

    def wait(self, stream: Any = None) -> None:
        pass


class Interface:
    """What stands for torch.cuda in programs without PyTorch."""
    Event = Event

    @staticmethod
    def synchronize(device: Any = None) -> None:
        pass

    @staticmethod
    def current_device() -> int:
        return 0

    @staticmethod
    def device_count() -> int:
        return 1

    @staticmethod
    def is_available() -> bool:
        return True

    @staticmethod
    def get_device_capability(index: Any = None) -> tuple[int, int]:
        return device.model().capability


def _cuda():
    """torch.cuda if PyTorch is loaded and has a device, virtual or not."""
    torch = sys.modules.get("torch")
    cuda = getattr(torch, "cuda", None)
    return cuda if cuda is not None and cuda.is_available() else None


def _begun():
    """The same, if PyTorch uses the device already; virtual ones always are.
    Until then the current device is the first one and the stream the default:
    to ask would begin it, which takes seconds, and fails in a process that was
    split off one that has it."""
    cuda = _cuda()
    return cuda if cuda is not None and cuda.is_initialized() else None


class CudaDriver:
    """``driver.active``."""

    def __init__(self) -> None:
        self.utils = Utils()
        self.binary_ext = "cubin"

    @staticmethod
    def is_active() -> bool:
        return True

    def get_current_target(self) -> GPUTarget:
        return device.target()

    def get_current_device(self) -> int:
        cuda = _begun()
        return cuda.current_device() if cuda else 0

    def set_current_device(self, index: int) -> None:
        device.check_index(index)

    def get_device_capability(self, index: Any = None) -> tuple[int, int]:
        return device.model().capability

    def get_current_stream(self, index: int | None = None) -> int:
        cuda = _begun()
        return cuda.current_stream(index).cuda_stream if cuda else 0

    def get_active_torch_device(self) -> Any:
        import torch
        return torch.device("cuda", self.get_current_device())

    def get_device_interface(self) -> type:
        return _cuda() or Interface

    def get_benchmarker(self) -> Any:
        return bench.do_bench

    def get_empty_cache_for_benchmark(self) -> Any:
        """Something to write: there is no cache that it would clear."""
        import torch
        return torch.zeros(1, dtype=torch.int, device="cuda")

    def clear_cache(self, cache: Any) -> None:
        if cache is not None:
            cache.zero_()

    def allocate_default_profile_scratch(self, size: int, alignment: int,
                                         stream: int) -> Any:
        """Memory of a profiler's, which writes nothing here."""
        import torch
        return torch.zeros(size, dtype=torch.int8, device="cuda")

    def map_python_to_cpp_type(self, name: Any) -> None:
        raise RuntimeError("tkdbg makes no C++ launchers")


class CpuDriver(CudaDriver):
    """The driver of kernels for the CPU, which run as all others do."""

    @staticmethod
    def is_active() -> bool:
        return False


class DriverConfig:
    """``triton.runtime.driver``."""

    def __init__(self) -> None:
        self._default = CudaDriver()
        self._active = self._default

    @property
    def default(self) -> Any:
        return self._default

    @property
    def active(self) -> Any:
        return self._active

    def set_active(self, driver: Any) -> None:
        self._active = driver

    def reset_active(self) -> None:
        self._active = self._default
