"""torch.cuda and its relatives for the virtual device."""
from __future__ import annotations

import contextlib
import time
import types

from . import device as device_

ABSENT = object()


class Patches:
    """Attributes that were replaced, so that they can be put back."""

    def __init__(self):
        self._saved = []

    def set(self, owner, name, value):
        before = vars(owner).get(name, ABSENT)
        self._saved.append((owner, name, before))
        setattr(owner, name, value)

    def undo(self):
        for owner, name, before in reversed(self._saved):
            if before is ABSENT:
                delattr(owner, name)
            else:
                setattr(owner, name, before)
        self._saved.clear()


def check_device(device):
    """RuntimeError for a device that is not there, as CUDA says it."""
    try:
        device_.check_index(device)
    except ValueError:
        raise RuntimeError(
            "CUDA error: invalid device ordinal (tkdbg has one virtual "
            f"device, cuda:0; asked for {device})") from None


# ---- objects of torch.cuda --------------------------------------------------


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


def _nothing(*args, **kwargs):
    return None


def _checked(value):
    def answer(device=None):
        check_device(device)
        return value
    return answer


@contextlib.contextmanager
def _scope(*args, **kwargs):
    yield


def cuda_functions(virtual):
    """{name in torch.cuda: replacement}"""
    stream = Stream()
    torch = virtual.torch

    def seed(number):
        torch.default_generator.manual_seed(int(number))

    zero = {n: _checked(0) for n in (
        "memory_allocated", "max_memory_allocated", "memory_reserved",
        "max_memory_reserved", "memory_cached", "max_memory_cached",
        "utilization")}
    idle = {n: _nothing for n in (
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
        "current_stream": lambda device=None: stream,
        "default_stream": lambda device=None: stream,
        "get_device_name": _checked(device_.NAME),
        "get_device_capability": _checked(device_.CAPABILITY),
        "get_device_properties": _properties,
        "get_arch_list": lambda: [f"sm_{device_.ARCH}"],
        "mem_get_info": _checked((device_.TOTAL_MEMORY,
                                  device_.TOTAL_MEMORY)),
        "memory_stats": _checked({}),
        "memory_summary": lambda *a, **k: "no memory of its own",
        "get_rng_state": lambda device=None: torch.get_rng_state(),
        "set_rng_state": lambda state, device=None:
            torch.set_rng_state(state),
        "manual_seed": seed, "manual_seed_all": seed,
        "initial_seed": torch.initial_seed,
        "stream": lambda s: s if s is not None else _scope(),
        "Stream": Stream, "Event": Event, "device": DeviceGuard,
        "ExternalStream": Stream, "CUDAGraph": CUDAGraph, "graph": graph,
    }


# ---- everything else that names a device ------------------------------------


def patch(virtual, patches):
    """Replaces what the mode cannot see."""
    torch = virtual.torch
    for name, function in cuda_functions(virtual).items():
        patches.set(torch.cuda, name, function)
    nvtx = torch.cuda.nvtx
    for name, value in (("range_push", _nothing), ("range_pop", _nothing),
                        ("mark", _nothing), ("range", _scope),
                        ("range_start", _nothing),
                        ("range_end", _nothing), ("annotate", _scope)):
        patches.set(nvtx, name, value)
    patches.set(torch.version, "cuda", device_.CUDA_VERSION)
    patches.set(torch._C, "_cuda_getCurrentRawStream", lambda index: 0)
    _patch_accelerator(virtual, patches)
    _patch_constructors(virtual, patches)
    _patch_defaults(virtual, patches)
    _patch_generator(virtual, patches)
    _patch_load(virtual, patches)
    _patch_autocast(virtual, patches)
    _patch_backward(virtual, patches)


def _patch_defaults(virtual, patches):
    torch = virtual.torch
    set_device = getattr(torch, "set_default_device", None)
    from .vcuda import is_cuda_device

    def set_default_device(device):
        virtual.default_cuda = is_cuda_device(device)
        if not virtual.default_cuda:
            set_device(device)

    def get_default_device():
        return virtual.device if virtual.default_cuda else before()

    if set_device is not None:
        patches.set(torch, "set_default_device", set_default_device)
    before = getattr(torch, "get_default_device", None)
    if before is not None:
        patches.set(torch, "get_default_device", get_default_device)


def _patch_accelerator(virtual, patches):
    """torch.accelerator, where PyTorch has it."""
    module = getattr(virtual.torch, "accelerator", None)
    for name, value in (
            ("is_available", lambda: True), ("device_count", lambda: 1),
            ("current_accelerator", lambda *a, **k: virtual.device),
            ("current_device_index", lambda: 0),
            ("current_device_idx", lambda: 0), ("synchronize", _nothing),
            ("set_device_index", _nothing), ("set_device_idx", _nothing)):
        if hasattr(module, name):
            patches.set(module, name, value)


def _patch_constructors(virtual, patches):
    """Two ways to a tensor that the mode is not told about."""
    torch = virtual.torch
    from_numpy, subclass = torch.from_numpy, torch.Tensor._make_subclass

    def make_subclass(cls, data, *args, **kwargs):
        result = subclass(cls, data, *args, **kwargs)
        if virtual.marked(data):
            virtual.mark(result, virtual.on_device(data))
        return result

    patches.set(torch, "from_numpy",
                lambda array: virtual.mark(from_numpy(array), False))
    patches.set(torch.Tensor, "_make_subclass", staticmethod(make_subclass))


def _patch_generator(virtual, patches):
    """torch.Generator(device='cuda') is a CPU generator."""
    torch = virtual.torch
    real = torch.Generator

    class Meta(type):
        def __instancecheck__(cls, value):
            return isinstance(value, real)

    class Generator(metaclass=Meta):
        def __new__(cls, device="cpu"):
            return real(device="cpu")

    patches.set(torch, "Generator", Generator)


def _patch_load(virtual, patches):
    """torch.load(..., map_location='cuda') loads to the CPU and marks."""
    torch, load = virtual.torch, virtual.torch.load
    from .vcuda import is_cuda_device

    def load_here(f, map_location=None, *args, **kwargs):
        if map_location is None or isinstance(map_location, dict) or callable(
                map_location):
            return load(f, map_location, *args, **kwargs)
        cuda = is_cuda_device(map_location)
        return virtual.mark_tree(
            load(f, "cpu" if cuda else map_location, *args, **kwargs), cuda)

    patches.set(torch, "load", load_here)


def _patch_autocast(virtual, patches):
    """autocast('cuda') is autocast('cpu') with CUDA's type, float16."""
    torch = virtual.torch
    from torch.amp import autocast_mode
    init = autocast_mode.autocast.__init__

    def on_cpu(self, device_type="cuda", dtype=None, *args, **kwargs):
        if device_type == "cuda":
            device_type = "cpu"
            dtype = torch.float16 if dtype is None else dtype
        init(self, device_type, dtype, *args, **kwargs)

    patches.set(autocast_mode.autocast, "__init__", on_cpu)

    def with_cpu(function):
        def call(device_type="cpu", *args):
            return function("cpu" if device_type == "cuda" else device_type,
                            *args)
        return call

    for name in ("is_autocast_enabled", "get_autocast_dtype",
                 "set_autocast_enabled", "set_autocast_dtype"):
        if hasattr(torch, name):
            patches.set(torch, name, with_cpu(getattr(torch, name)))


def _patch_backward(virtual, patches):
    """User code in backward() runs with the mode on."""
    import torch.autograd as autograd
    run = getattr(autograd, "_engine_run_backward", None)
    if run is None:
        return

    def run_with_mode(*args, **kwargs):
        if virtual.is_on():
            return run(*args, **kwargs)
        with virtual.mode_class():
            return run(*args, **kwargs)

    patches.set(autograd, "_engine_run_backward", run_with_mode)
