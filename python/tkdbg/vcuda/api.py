"""torch.cuda and its relatives for the virtual device."""
from __future__ import annotations

import contextlib
import enum
import types
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from .. import device as device_, torch_private

if TYPE_CHECKING:
    from .virtual import VirtualCuda


class CounterGenerator:
    """torch.cuda.default_generators[0]: a seed and an offset, from which
    projects feed their own kernels' random numbers.

    PyTorch's random tensors on the virtual device come from a generator of
    their own; only the seed is common to both.
    """

    device = None  # set by counter_generator, whose class this is

    def __init__(self, torch: types.ModuleType) -> None:
        self.torch = torch
        self._seed, self._offset = torch.initial_seed(), 0

    def initial_seed(self) -> int:
        return self._seed

    def seed(self) -> Any:
        self.manual_seed(self.torch.seed())
        return self._seed

    def manual_seed(self, seed: int) -> Any:
        self._seed, self._offset = int(seed) % 2**64, 0
        return self

    def get_offset(self) -> int:
        return self._offset

    def set_offset(self, offset: Any) -> Any:
        self._offset = int(offset)
        return self

    def get_state(self) -> Any:
        """16 bytes: the seed and the offset, as CUDA's generator has it."""
        data = b"".join(n.to_bytes(8, "little")
                        for n in (self._seed, self._offset))
        return self.torch.tensor(list(data), dtype=self.torch.uint8)

    def set_state(self, state: Any) -> Any:
        data = bytes(state.tolist())
        if len(data) != 16:
            raise RuntimeError("the state of a CUDA generator is 16 bytes: "
                               f"seed and offset; not {len(data)}")
        self._seed = int.from_bytes(data[:8], "little")
        self._offset = int.from_bytes(data[8:], "little")
        return self

    def clone_state(self) -> Any:
        copy = type(self)(self.torch)
        return copy.set_state(self.get_state())

    graphsafe_get_state = clone_state

    def graphsafe_set_state(self, other: Any) -> Any:
        return self.set_state(other.get_state())


def counter_generator(torch: types.ModuleType) -> Any:
    """The first of them, of a class that PyTorch's functions take."""
    real = torch.Generator

    def new(cls, torch):
        return real.__new__(cls)

    return type("Generator", (CounterGenerator, real), {
        "__new__": new, "device": torch.device("cuda", 0)})(torch)


class Properties(types.SimpleNamespace):
    """What torch.cuda.get_device_properties gives."""

    def __repr__(self) -> str:
        return (f"_CudaDeviceProperties(name='{self.name}', "
                f"major={self.major}, minor={self.minor}, "
                f"total_memory={self.total_memory // 1024**2}MB, "
                f"multi_processor_count={self.multi_processor_count}, "
                f"uuid={self.uuid}, "
                f"L2_cache_size={self.L2_cache_size // 1024**2}MB)")


def _properties(index):
    m = device_.model()
    p = m.properties()
    major, minor = m.capability
    return Properties(
        name=m.name, major=major, minor=minor, total_memory=m.memory,
        multi_processor_count=m.multiprocessors,
        warp_size=device_.WARP_SIZE, regs_per_multiprocessor=65536,
        max_threads_per_multi_processor=m.threads_per_sm,
        max_threads_per_block=p["max_threads_per_block"],
        max_blocks_per_multi_processor=m.blocks_per_sm,
        shared_memory_per_block=48 * 1024,
        shared_memory_per_block_optin=m.shared_per_block,
        shared_memory_per_multiprocessor=m.shared_per_sm,
        L2_cache_size=m.l2, uuid=device_.uuid(index), gcnArchName="",
        is_integrated=0, is_multi_gpu_board=0, pci_bus_id=index,
        pci_device_id=0, pci_domain_id=0, clock_rate=m.sm_clock,
        memory_clock_rate=m.memory_clock, memory_bus_width=m.memory_bus)


class _Error(enum.IntEnum):
    success = 0


def _runtime(virtual):
    """torch.cuda.cudart(): the calls of the CUDA Runtime that PyTorch binds,
    each of which succeeds."""
    def done(*args, **kwargs):
        return _Error.success

    called = dict.fromkeys((
        "cudaProfilerStart", "cudaProfilerStop", "cudaHostRegister",
        "cudaHostUnregister", "cudaStreamCreate", "cudaStreamDestroy"), done)
    return types.SimpleNamespace(
        **called, cudaError=_Error,
        cudaGetErrorString=lambda error: "no error",
        cudaMemGetInfo=lambda device=None:
            virtual.memory.free_and_total(device))


def _sensor(name):
    """torch.cuda.temperature and the like: no device, no reading."""
    def read(device=None):
        raise RuntimeError(f"torch.cuda.{name}() has nothing to read: "
                           + device_.HINT)
    return read


def _nothing():
    """A new function that does nothing; PyTorch's compiler wants each name
    of torch.cuda to be a function of its own."""
    return lambda *args, **kwargs: None


def _alone(function):
    """A new function that calls another."""
    return lambda *args, **kwargs: function(*args, **kwargs)


def unlike_others(found: Any) -> Any:
    """What stands for a name of torch.cuda: PyTorch's compiler knows
    functions by what they are, and a method equals itself everywhere."""
    return _alone(found) if isinstance(found, types.MethodType) else found


def _scope():
    """A new function that gives a context in which nothing is different."""
    return lambda *args, **kwargs: contextlib.nullcontext()


def _synchronize(virtual):
    def synchronize(device=None):
        virtual.index_of(device)
        virtual.graphs.forbid()
    return synchronize


def _exchange(streams):
    """A new function that sets the device and returns the one before."""
    def exchange(device):
        before = streams.device
        if device >= 0:
            streams.set_device(device)
        return before
    return exchange


def natives(virtual: VirtualCuda) -> dict[str, Callable[..., Any]]:
    """{name: function}: what PyTorch's own functions in torch.cuda call, where
    CUDA is linked; see torch_private.set_natives."""
    streams, arch = virtual.streams, device_.model().arch

    def stream_of(find):
        return lambda device=None: (find(device).stream_id,
                                    virtual.index_of(device), 1)

    handle = id(virtual)  # what stands for a pointer
    found = {
        **virtual.memory.natives(),
        **{n: _nothing() for n in (
            "init", "sleep", "clearCublasWorkspaces", "ipc_collect",
            "cudaCachingAllocator_enable", "set_sync_debug_mode")},
        "get_sync_debug_mode": lambda: 0,
        "getDevice": lambda: streams.device,
        "setDevice": streams.set_device,
        "setStream": streams.set_by_number,
        "exchangeDevice": _exchange(streams),
        "maybeExchangeDevice": _exchange(streams),
        "synchronize": _synchronize(virtual),
        "isCurrentStreamCapturing":
            lambda: virtual.graphs.capturing,
        "hasPrimaryContext": lambda device: True,
        "getCurrentBlasHandle": lambda: handle,
        "getCurrentSolverHandle": lambda: handle,
        "getArchFlags": lambda: f"sm_{arch}",
        "getCurrentRawStream": lambda index: streams.current(
            index).cuda_stream,
        "getCurrentStream": stream_of(streams.current),
        "getDefaultStream": stream_of(streams.default),
        "tunableop_is_enabled": lambda: False,
    }
    return {name: _alone(function) for name, function in found.items()}


def cuda_functions(virtual: VirtualCuda) -> dict[str, Callable[..., Any]]:
    """{name in torch.cuda: replacement}"""
    torch = virtual.torch
    counter = counter_generator(torch)
    virtual.numbers.draw_from(counter)
    idle = {n: _nothing() for n in (
        "init", torch_private.LAZY_INIT, "ipc_collect",
        "reset_accumulated_memory_stats",
        "set_per_process_memory_fraction", "set_sync_debug_mode")}

    def of_device(answer):
        return lambda device=None: answer(virtual.index_of(device))

    runtime, memory = _runtime(virtual), virtual.memory.functions()

    def seed(number):
        if virtual.graphs.capturing:
            raise RuntimeError(
                "CUDAGeneratorImpl::set_current_seed can be called during "
                "stream capture only if new seed is the same as the original "
                "seed.")
        counter.manual_seed(number)
        virtual.numbers.seed(number)

    def fresh_seed():
        seed(virtual.numbers.torch.Generator().seed())

    return {
        **idle, **virtual.streams.functions(), **memory,
        **virtual.graphs.functions(),
        "synchronize": _synchronize(virtual),
        torch_private.EXCHANGE_DEVICE: _exchange(virtual.streams),
        torch_private.MAYBE_EXCHANGE_DEVICE: _exchange(virtual.streams),
        "is_available": lambda: True,
        "is_initialized": lambda: True,
        "is_bf16_supported": lambda *a, **k: True,
        "is_tf32_supported": lambda: True,
        "device_count": device_.count,
        "get_device_name": of_device(lambda i: device_.model().name),
        "get_device_capability": of_device(
            lambda i: device_.model().capability),
        "get_device_properties": of_device(_properties),
        # ... that PyTorch's compiler may have imported before
        torch_private.PROPERTIES: of_device(_properties),
        "get_arch_list": lambda: [f"sm_{device_.model().arch}"],
        torch_private.CUDART: runtime, "cudart": lambda: runtime,
        "utilization": of_device(lambda i: 0),
        "memory_usage": of_device(lambda i: 0),
        "clock_rate": of_device(lambda i: device_.model().sm_clock // 1000),
        "device_memory_used": memory["memory_reserved"],
        "list_gpu_processes": of_device(
            lambda i: f"GPU:{i}\nno processes are running"),
        "temperature": _sensor("temperature"),
        "power_draw": _sensor("power_draw"),
        "can_device_access_peer": lambda device, peer: device != peer,
        **virtual.numbers.functions(),
        "seed": lambda: fresh_seed(), "seed_all": lambda: fresh_seed(),
        "manual_seed": seed, "manual_seed_all": lambda number: seed(number),
        "default_generators": (counter,),
        "initial_seed": lambda: counter.initial_seed(),
    }


def nvtx_functions() -> dict[str, Callable[..., Any]]:
    """{name in torch.cuda.nvtx: replacement}"""
    found = {n: _nothing() for n in (
        "range_push", "range_pop", "mark", "range_start", "range_end")}
    found.update((n, _scope()) for n in ("range", "annotate"))
    return found


def accelerator_functions(
        virtual: VirtualCuda) -> dict[str, Callable[..., Any]]:
    """{name in torch.accelerator: replacement}"""
    found = {n: _nothing() for n in (
        "empty_host_cache", "reset_accumulated_memory_stats")}
    memory, streams = virtual.memory.functions(), virtual.streams
    found.update((n, memory[n]) for n in (
        "memory_allocated", "max_memory_allocated", "memory_reserved",
        "max_memory_reserved", "empty_cache", "reset_peak_memory_stats"))
    found.update(
        memory_stats=_alone(virtual.torch.cuda.memory_stats),
        is_available=lambda: True, device_count=device_.count,
        current_accelerator=lambda check_available=False:
            virtual.torch.device("cuda"),
        current_device_index=lambda: streams.device,
        current_device_idx=lambda: streams.device,
        set_device_index=streams.set_device,
        set_device_idx=streams.set_device,
        synchronize=_synchronize(virtual),
        current_stream=streams.current, set_stream=streams.set,
        device_index=streams.guard(), get_memory_info=memory["mem_get_info"])
    return found
