"""Streams, events and the current device of the virtual device.

Everything has happened by the time a call returns, so streams order nothing;
but each is an object of its own, there is a current one for each device, and
events tell the time on the host's clock.
"""
from __future__ import annotations

import contextlib
import itertools
import threading
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from .. import torch_private
from .marks import is_cuda_device

if TYPE_CHECKING:
    from .virtual import VirtualCuda

_HANDLES = itertools.count(0x7f0000001000, 0x100)  # what stands for pointers


class _Current(threading.local):
    """What each thread has chosen."""

    def __init__(self):
        self.device = 0
        self.streams = {}


class Stream:
    """torch.cuda.Stream; made by Streams, which sets ``streams``."""
    streams: Any = None
    device_index: int
    priority: int
    cuda_stream: int
    stream_id: int

    def __new__(cls, device: Any = None, priority: int = 0, *,
                stream_id: int | None = None, device_index: int | None = None,
                **kwargs: Any) -> Any:
        """A new stream, or the one of a device that has this number."""
        stream = super().__new__(cls)
        stream.device_index = cls.streams.virtual.index_of(
            device if device_index is None else device_index)
        stream.priority = max(min(priority, 0), -3)
        stream.cuda_stream = stream.stream_id = (
            next(_HANDLES) if stream_id is None else stream_id)
        return stream

    def __init__(self, device: Any = None, priority: int = 0,
                 **kwargs: Any) -> None:
        self.device = self.streams.virtual.device_at(self.device_index)
        self.device_type = 1

    def synchronize(self) -> None:
        self.streams.virtual.graphs.forbid()

    def wait_stream(self, stream: Stream) -> None:
        """Nothing: what the other stream was given has happened."""

    def wait_event(self, event: Any) -> None:
        """Nothing: what came before the event has happened."""

    def is_capturing(self) -> bool:
        return self.streams.virtual.graphs.capturing

    def query(self) -> Any:
        self.streams.virtual.graphs.forbid()
        return True

    @staticmethod
    def priority_range() -> tuple[int, int]:
        return 0, -3

    def record_event(self, event: Any = None) -> Any:
        event = self.streams.Event() if event is None else event
        event.record(self)
        return event

    @property
    def native_handle(self) -> Any:
        return self.cuda_stream

    @property
    def _as_parameter_(self):
        import ctypes
        return ctypes.c_void_p(self.cuda_stream)

    def __enter__(self) -> Any:
        self._scope = self.streams.scope(self)
        self._scope.__enter__()
        return self

    def __exit__(self, *error: Any) -> Any:
        return self._scope.__exit__(*error)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Stream) and (
            self.device_index, self.cuda_stream) == (
                other.device_index, other.cuda_stream)

    def __hash__(self) -> int:
        return hash((self.device_index, self.cuda_stream))

    def __repr__(self) -> str:
        return (f"<torch.cuda.Stream device={self.device} "
                f"cuda_stream={self.cuda_stream:#x}>")


class ExternalStream(Stream):
    """A stream by its address."""

    def __new__(cls, stream_ptr: Any, device: Any = None, **kwargs: Any) -> Any:
        stream = super().__new__(cls, device)
        stream.cuda_stream = stream.stream_id = int(stream_ptr)
        return stream

    def __init__(self, stream_ptr: Any, device: Any = None,
                 **kwargs: Any) -> None:
        super().__init__(device)


class Event:
    """torch.cuda.Event: a point in time on the host's clock; ``streams`` is
    set as for Stream."""
    streams: Any = None

    def __init__(self, enable_timing: bool = False, blocking: bool = False,
                 interprocess: bool = False, external: bool = False,
                 **kwargs: Any) -> None:
        self.enable_timing = enable_timing
        self.cuda_event = self.event_id = 0  # until it is recorded
        self._time: Any = None
        self._device: Any = None

    @property
    def device(self) -> Any:
        """That on which it was recorded, or None."""
        return self._device

    def record(self, stream: Stream | None = None) -> None:
        stream = self.streams.current() if stream is None else stream
        self._device = stream.device
        self.cuda_event = self.event_id = self.cuda_event or next(_HANDLES)
        self._time = time.perf_counter()

    def elapsed_time(self, end: Event) -> float:
        """Milliseconds to another event."""
        if not (self.enable_timing and end.enable_timing):
            raise ValueError("Both events must be created with argument "
                             "'enable_timing=True'.")
        if self._time is None or end._time is None:
            raise ValueError("Both events must be recorded before "
                             "calculating elapsed time.")
        return (end._time - self._time) * 1e3

    def synchronize(self) -> None:
        """Nothing: it has happened."""

    def wait(self, stream: Any = None) -> None:
        """Nothing: it has happened."""

    def query(self) -> Any:
        return True

    def ipc_handle(self) -> None:
        raise RuntimeError("events of tkdbg's virtual device stay in their "
                           "process")

    def __repr__(self) -> str:
        return ("<torch.cuda.Event uninitialized>" if self._time is None
                else f"<torch.cuda.Event {self.cuda_event:#x}>")


class Streams:
    """The current device and the current streams of each thread."""

    def __init__(self, virtual: VirtualCuda) -> None:
        self.virtual = virtual
        self._current = _Current()
        self._defaults: dict[Any, Any] = {}
        own = {"streams": self}
        self.Stream = type("Stream", (Stream,), own)
        self.ExternalStream = type("ExternalStream",
                                   (ExternalStream, self.Stream), own)
        self.Event = type("Event", (Event,), own)

    # ---- devices ---------------------------------------------------------

    @property
    def device(self) -> int:
        return self._current.device

    def set_device(self, device: Any) -> None:
        torch = self.virtual.torch
        if isinstance(device, (str, torch.device)) and is_cuda_device(
                device) and torch.device(device).index is None:
            raise ValueError("Expected a torch.device with a specified index "
                             f"or an integer, but got:{device}")
        index = self.virtual.index_of(device)
        if index >= 0:
            self._current.device = index

    def guard(self) -> type:
        """The class of ``with torch.cuda.device(1):``."""
        streams = self

        class device:
            def __init__(self, device=None):
                self.idx = (-1 if device is None or device == -1 else
                            streams.virtual.index_of(device))
                self.prev_idx = -1

            def __enter__(self):
                self.prev_idx = streams.device
                if self.idx >= 0:
                    streams.set_device(self.idx)
                return self

            def __exit__(self, *_):
                streams.set_device(self.prev_idx)
                return False

        return device

    def guard_of(self) -> type:
        """The class of ``with torch.cuda.device_of(tensor):``."""
        virtual = self.virtual
        guard: Any = self.guard()

        class device_of(guard):
            def __init__(self, obj):
                super().__init__(virtual.place(obj) if isinstance(
                    obj, virtual.tensor) else None)

        return device_of

    # ---- streams ---------------------------------------------------------

    def default(self, device: Any = None) -> Stream:
        index = self.virtual.index_of(device)
        found = self._defaults.get(index)
        if found is None:
            found = self._defaults[index] = self.Stream(index)
            found.cuda_stream = found.stream_id = 0
        return found

    def current(self, device: Any = None) -> Stream:
        index = self.virtual.index_of(device)
        return self._current.streams.get(index) or self.default(index)

    def set(self, stream: Stream) -> None:
        if stream is not None:
            self._current.streams[stream.device_index] = stream

    def set_by_number(self, stream_id: int, device_index: int,
                      device_type: int) -> None:
        """What torch.cuda.set_stream calls: the device is chosen, too."""
        self.set_device(device_index)
        self.set(self.Stream(stream_id=stream_id, device_index=device_index))

    @contextlib.contextmanager
    def scope(self, stream: Stream) -> Iterator[Stream]:
        """``with torch.cuda.stream(stream):``"""
        if stream is None:
            yield
            return
        device = self.device
        before = self.current(stream.device_index)
        self.set_device(stream.device_index)
        self.set(stream)
        try:
            yield stream
        finally:
            self.set(before)
            self.set_device(device)

    def contexts(self) -> dict[str, Any]:
        """torch.cuda.StreamContext, which has to be a class, and
        torch.cuda.stream, which makes one."""
        scope = self.scope

        class StreamContext:
            """``with torch.cuda.StreamContext(stream):``"""

            def __init__(self, stream: Stream) -> None:
                self.stream = stream
                self._scope = scope(stream)

            def __enter__(self) -> Any:
                return self._scope.__enter__()

            def __exit__(self, *error: Any) -> Any:
                return self._scope.__exit__(*error)

        return {"StreamContext": StreamContext,
                "stream": lambda stream: StreamContext(stream)}

    def functions(self) -> dict[str, Callable[..., Any]]:
        """{name in torch.cuda: replacement}"""
        return {
            "set_device": self.set_device,
            "current_device": lambda: self.device,
            "current_stream": self.current, "default_stream": self.default,
            "set_stream": self.set, **self.contexts(),
            "get_stream_from_external": lambda data_ptr, device=None:
                self.ExternalStream(data_ptr, device),
            "Stream": self.Stream, "ExternalStream": self.ExternalStream,
            "Event": self.Event, "device": self.guard(),
            "device_of": self.guard_of(),
            torch_private.DEVICE_GUARD: self.guard(),
            "is_current_stream_capturing":
                lambda: self.virtual.graphs.capturing,
        }
