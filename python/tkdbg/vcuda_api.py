"""torch.cuda and its relatives for the virtual device."""
from __future__ import annotations

import contextlib
import time
import types

from . import device as device_

def is_cuda_device(device):
    """True for "cuda", "cuda:0", torch.device("cuda") and 0."""
    if isinstance(device, str):
        return device.split(":")[0] == "cuda"
    if isinstance(device, int) and not isinstance(device, bool):
        return True
    return getattr(device, "type", None) == "cuda"


def check_device(device):
    """RuntimeError for a device that is not there, as CUDA says it."""
    try:
        device_.check_index(device)
    except ValueError:
        raise RuntimeError(
            "CUDA error: invalid device ordinal (tkdbg has one virtual "
            f"device, cuda:0; asked for {device})") from None


# ---- objects of torch.cuda --------------------------------------------------


class CounterGenerator:
    """torch.cuda.default_generators[0]: a seed and an offset, from which
    projects feed their own kernels' random numbers.

    PyTorch's random tensors on the virtual device come from the CPU's
    generator; only the seed is common to both.
    """

    def __init__(self, torch):
        self.torch = torch
        self.device = torch.device("cuda", 0)
        self._seed, self._offset = torch.initial_seed(), 0

    def initial_seed(self):
        return self._seed

    def seed(self):
        self.manual_seed(self.torch.seed())
        return self._seed

    def manual_seed(self, seed):
        self._seed, self._offset = int(seed) % 2**64, 0
        return self

    def get_offset(self):
        return self._offset

    def set_offset(self, offset):
        self._offset = int(offset)
        return self

    def get_state(self):
        """16 bytes: the seed and the offset, as CUDA's generator has it."""
        data = b"".join(n.to_bytes(8, "little")
                        for n in (self._seed, self._offset))
        return self.torch.tensor(list(data), dtype=self.torch.uint8)

    def set_state(self, state):
        data = bytes(state.tolist())
        if len(data) != 16:
            raise RuntimeError("the state of a CUDA generator is 16 bytes: "
                               f"seed and offset; not {len(data)}")
        self._seed = int.from_bytes(data[:8], "little")
        self._offset = int.from_bytes(data[8:], "little")
        return self

    def clone_state(self):
        copy = type(self)(self.torch)
        return copy.set_state(self.get_state())

    graphsafe_get_state = clone_state

    def graphsafe_set_state(self, other):
        return self.set_state(other.get_state())


class Stream:
    """A stream: everything has happened by the time it returns."""
    cuda_stream = 0

    def __init__(self, device=None, priority=0, **kwargs):
        import torch
        self.device = torch.device("cuda", 0)
        self.priority = priority
        self.device_index = 0
        self.stream_id = 0

    def synchronize(self):
        pass

    def wait_stream(self, stream):
        pass

    def wait_event(self, event):
        pass

    def is_capturing(self):
        return False

    def query(self):
        return True

    def record_event(self, event=None):
        event = Event() if event is None else event
        event.record(self)
        return event

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def __eq__(self, other):
        return isinstance(other, Stream)

    def __hash__(self):
        return 0


class ExternalStream(Stream):
    """A stream by its address."""


class Event:
    """A point in time on the host's clock."""

    def __init__(self, enable_timing=False, blocking=False,
                 interprocess=False, external=False):
        self.enable_timing = enable_timing
        self._time = None

    def record(self, stream=None):
        self._time = time.perf_counter()

    def elapsed_time(self, end):
        """Milliseconds to another event; RuntimeError without timing."""
        if not (self.enable_timing and end.enable_timing):
            raise RuntimeError("Both events must be created with argument "
                               "'enable_timing=True'.")
        if self._time is None or end._time is None:
            raise RuntimeError("Both events must be recorded before "
                               "calculating elapsed time.")
        return (end._time - self._time) * 1e3

    def synchronize(self):
        pass

    def wait(self, stream=None):
        pass

    def query(self):
        return True


class _NoGraphs:
    def __init__(self, *args, **kwargs):
        raise RuntimeError("CUDA graphs cannot be captured on tkdbg's "
                           "virtual device; call the function directly")


class CUDAGraph(_NoGraphs):
    """Absent, with a clear error."""


class graph(_NoGraphs):
    """Absent, with a clear error."""


class DeviceGuard:
    """``with torch.cuda.device(0):``"""

    def __init__(self, device=None):
        check_device(device)
        self.idx = 0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        return False


def _properties(index=None):
    check_device(index)
    p = device_.PROPERTIES
    return types.SimpleNamespace(
        name=device_.NAME, major=device_.CAPABILITY[0],
        minor=device_.CAPABILITY[1], total_memory=device_.TOTAL_MEMORY,
        multi_processor_count=p["multiprocessor_count"],
        warp_size=device_.WARP_SIZE, regs_per_multiprocessor=65536,
        max_threads_per_multi_processor=p["max_threads_per_sm"],
        max_threads_per_block=p["max_threads_per_block"],
        shared_memory_per_block=49152,
        shared_memory_per_block_optin=p["max_shared_mem"],
        shared_memory_per_multiprocessor=233472,
        L2_cache_size=p["L2_cache_size"], uuid=device_.UUID,
        gcnArchName="", is_integrated=0, is_multi_gpu_board=0,
        clock_rate=p["sm_clock_rate"],
        memory_clock_rate=p["mem_clock_rate"],
        memory_bus_width=p["mem_bus_width"])


def _nothing():
    """A new function that does nothing; PyTorch's compiler wants each name
    of torch.cuda to be a function of its own."""
    return lambda *args, **kwargs: None


def _checked(value):
    def answer(device=None):
        check_device(device)
        return value
    return answer


def _scope():
    """A new function that gives a context in which nothing is different."""
    return lambda *args, **kwargs: contextlib.nullcontext()


def cuda_functions(virtual):
    """{name in torch.cuda: replacement}"""
    stream = Stream()
    torch = virtual.torch

    counter = CounterGenerator(torch)

    def seed(number):
        counter.manual_seed(number)
        torch.default_generator.manual_seed(int(number))

    zero = {n: _checked(0) for n in (
        "memory_allocated", "max_memory_allocated", "memory_reserved",
        "max_memory_reserved", "memory_cached", "max_memory_cached",
        "utilization")}
    idle = {n: _nothing() for n in (
        "synchronize", "empty_cache", "set_device", "init", "_lazy_init",
        "set_stream", "ipc_collect", "reset_peak_memory_stats",
        "reset_max_memory_allocated", "reset_accumulated_memory_stats",
        "set_per_process_memory_fraction", "set_sync_debug_mode")}
    return {
        **zero, **idle,
        "is_available": lambda: True,
        "is_initialized": lambda: True,
        "is_bf16_supported": lambda *a, **k: True,
        "device_count": lambda: 1,
        "current_device": lambda: 0,
        "current_stream": _checked(stream),
        "default_stream": _checked(stream),
        "get_device_name": _checked(device_.NAME),
        "get_device_capability": _checked(device_.CAPABILITY),
        "get_device_properties": _properties,
        "get_arch_list": lambda: [f"sm_{device_.ARCH}"],
        "mem_get_info": _checked((device_.TOTAL_MEMORY,
                                  device_.TOTAL_MEMORY)),
        "memory_stats": _checked({}),
        "is_current_stream_capturing": lambda: False,
        "is_tf32_supported": lambda: True,
        "can_device_access_peer": lambda *a: False,
        "get_rng_state_all": lambda: [torch.get_rng_state()],
        "set_rng_state_all": lambda states: torch.set_rng_state(states[0]),
        "seed": lambda: torch.seed() and None,
        "seed_all": lambda: torch.seed() and None,
        "memory_summary": lambda *a, **k: "no memory of its own",
        "get_rng_state": lambda device=None: torch.get_rng_state(),
        "set_rng_state": lambda state, device=None:
            torch.set_rng_state(state),
        "manual_seed": seed, "manual_seed_all": seed,
        "default_generators": (counter,),
        "initial_seed": lambda: torch.initial_seed(),
        "stream": lambda s: (
            s if s is not None else contextlib.nullcontext()),
        "Stream": Stream, "Event": Event, "device": DeviceGuard,
        "_DeviceGuard": DeviceGuard,
        "ExternalStream": ExternalStream, "CUDAGraph": CUDAGraph,
        "graph": graph,
    }


def nvtx_functions():
    """{name in torch.cuda.nvtx: replacement}"""
    found = {n: _nothing() for n in (
        "range_push", "range_pop", "mark", "range_start", "range_end")}
    found.update((n, _scope()) for n in ("range", "annotate"))
    return found


def accelerator_functions(virtual):
    """{name in torch.accelerator: replacement}"""
    found = {n: _nothing() for n in (
        "synchronize", "set_device_index", "set_device_idx", "set_stream",
        "empty_cache", "empty_host_cache", "reset_peak_memory_stats",
        "reset_accumulated_memory_stats")}
    found.update((n, _checked(0)) for n in (
        "memory_allocated", "max_memory_allocated", "memory_reserved",
        "max_memory_reserved"))
    found.update(
        is_available=lambda: True, device_count=lambda: 1,
        current_accelerator=lambda check_available=False: virtual.device,
        current_device_index=lambda: 0, current_device_idx=lambda: 0,
        current_stream=_checked(Stream()), device_index=DeviceGuard,
        get_memory_info=_checked((device_.TOTAL_MEMORY,
                                  device_.TOTAL_MEMORY)),
        memory_stats=_checked({}))
    return found
