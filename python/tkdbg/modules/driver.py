"""triton.runtime.driver: one active driver, of the virtual device.

Where PyTorch has a real CUDA device, device numbers and streams are its.
"""
from __future__ import annotations

import sys
import time

from .. import bench, device


class Utils:
    """``driver.active.utils``."""

    @staticmethod
    def get_device_properties(index=None):
        return device.properties(index)

    @staticmethod
    def set_printf_fifo_size(size):
        """Output needs no buffer here."""

    def load_binary(self, *args):
        raise RuntimeError(
            "tkdbg runs @triton.jit kernels and loads no GPU code: kernels in "
            "Gluon, which is not Triton's language, and those given as IR or "
            "PTX are not supported")

    # of what launches machine code, and describes tensors to it
    launch = build_signature_metadata = load_binary
    fill_tma_descriptor_tiled = fill_tma_descriptor_im2col = load_binary

    @staticmethod
    def unload_module(module):
        """Nothing was loaded, so there is nothing to give back."""

    @staticmethod
    def cuOccupancyMaxActiveClusters(*args):
        return device.model().multiprocessors

    @staticmethod
    def get_current_device():
        cuda = _cuda()
        return cuda.current_device() if cuda else 0

    @staticmethod
    def set_current_device(index):
        device.check_index(index)

    @staticmethod
    def get_default_stream(index=None):
        return 0

    @staticmethod
    def is_stream_capturing(stream=None):
        cuda = _cuda()
        return bool(cuda and cuda.is_current_stream_capturing())

    @staticmethod
    def get_device_capability(index=None):
        return device.model().capability


class Event:
    """A point in time, for programs without PyTorch."""

    def __init__(self, enable_timing=True, **_):
        self._time = None

    def record(self, stream=None):
        self._time = time.perf_counter()

    def elapsed_time(self, end):
        """Milliseconds from this event to end."""
        return (end._time - self._time) * 1e3

    def synchronize(self):
        pass

    def query(self):
        return True

    def wait(self, stream=None):
        pass


class Interface:
    """What stands for torch.cuda in programs without PyTorch."""
    Event = Event

    @staticmethod
    def synchronize(device=None):
        pass

    @staticmethod
    def current_device():
        return 0

    @staticmethod
    def device_count():
        return 1

    @staticmethod
    def is_available():
        return True

    @staticmethod
    def get_device_capability(index=None):
        return device.model().capability


def _cuda():
    """torch.cuda if PyTorch is loaded and has a device, virtual or not."""
    torch = sys.modules.get("torch")
    cuda = getattr(torch, "cuda", None)
    return cuda if cuda is not None and cuda.is_available() else None


class CudaDriver:
    """``driver.active``."""

    def __init__(self):
        self.utils = Utils()
        self.binary_ext = "cubin"

    @staticmethod
    def is_active():
        return True

    def get_current_target(self):
        return device.target()

    def get_current_device(self):
        cuda = _cuda()
        return cuda.current_device() if cuda else 0

    def set_current_device(self, index):
        device.check_index(index)

    def get_device_capability(self, index=None):
        return device.model().capability

    def get_current_stream(self, index=None):
        cuda = _cuda()
        return cuda.current_stream(index).cuda_stream if cuda else 0

    def get_active_torch_device(self):
        import torch
        return torch.device("cuda", self.get_current_device())

    def get_device_interface(self):
        return _cuda() or Interface

    def get_benchmarker(self):
        return bench.do_bench

    def get_empty_cache_for_benchmark(self):
        """Something to write: there is no cache that it would clear."""
        import torch
        return torch.zeros(1, dtype=torch.int, device="cuda")

    def clear_cache(self, cache):
        if cache is not None:
            cache.zero_()

    def allocate_default_profile_scratch(self, size, alignment, stream):
        """Memory of a profiler's, which writes nothing here."""
        import torch
        return torch.zeros(size, dtype=torch.int8, device="cuda")

    def map_python_to_cpp_type(self, name):
        raise RuntimeError("tkdbg makes no C++ launchers")


class CpuDriver(CudaDriver):
    """The driver of kernels for the CPU, which run as all others do."""

    @staticmethod
    def is_active():
        return False


class DriverConfig:
    """``triton.runtime.driver``."""

    def __init__(self):
        self._default = CudaDriver()
        self._active = self._default

    @property
    def default(self):
        return self._default

    @property
    def active(self):
        return self._active

    def set_active(self, driver):
        self._active = driver

    def reset_active(self):
        self._active = self._default
