"""Virtual CUDA devices in host memory, for a PyTorch without CUDA.

Tensors "on" a device are ordinary CPU tensors with a mark: the number of
the device, or HOST.  A TorchFunctionMode sees every call into PyTorch: it
turns ``device='cuda'`` into the CPU, marks what comes out, and answers
``device`` and ``is_cuda`` from the marks.  Inside PyTorch's own Python code
the mode is off, and everything is on the CPU as it really is.

A call whose tensors are all in one place, nearly every one, costs a look at
their marks.  Only where they differ, or where PyTorch's CPU kernels lack what
CUDA's have, a slower way is taken: the call runs again, one operator of ATen
at a time (operators.py).

A tensor without a mark (made by C++ code that the mode does not see, such
as a gradient) counts as being on the first device once the program has used
one, and never as being in the wrong place.
"""
from __future__ import annotations

import contextlib
import itertools
import os
import threading
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from .. import fresh as fresh_, session as session_, torch_private
from ..device import check_index
from ..patches import Patches
from . import exchange, fakes, packed, patches, scaled
from .autocast import Autocast
from .calls import specials, traced
from .files import Files
from .graphs import Graphs
from .halves import Halves
from .library import Libraries
from .marks import HOST, MARK, MIXED, PINNED, is_cuda_device
from .memory import Memory
from .operators import Operators
from .random import Numbers
from .refusals import Refusals
from .streams import Streams
from .subclasses import Subclasses

if TYPE_CHECKING:
    from ..session import Session

MOST = 64  # items of a list that are looked at


def has_cuda() -> bool:
    """Whether PyTorch sees a real CUDA device."""
    import torch
    return torch.cuda.is_available()


class VirtualCuda:
    """The mode, the patches around it, and what they share."""

    def __init__(self, session: Session | None = None) -> None:
        import torch
        self.session = session or session_.current()
        self.fresh = self.session.fresh
        self.torch = torch
        self.tensor = torch.Tensor
        self.cpu = torch.device("cpu")
        self.devices: dict[Any, Any] = {}           # number -> torch.device
        self.refusals = Refusals(self)
        self.specials = {**self.refusals.functions(), **specials(torch),
                         **packed.functions(),
                         **scaled.functions(),
                         **exchange.functions(torch)}
        self.traced = traced(torch)
        self.overloads = torch_private.operator_classes()
        self.higher_order = torch_private.higher_order()
        self.empties = fresh_.makers(torch)
        self.factories = torch_private.makers()
        self.used = False           # something was put on a device
        self.last = None            # where the last call's tensors are
        self.default = HOST         # torch.set_default_device("cuda")
        # dtypes whose first tensor is waited for
        self.watched: frozenset[Any] = frozenset()
        self.faking = torch_private.faking()
        self.mode_class = _mode_class(self)
        self.generator_class: Any = None  # made by install()
        self.numbers = Numbers(self)
        self.specials.update(self.numbers.specials(self.specials))
        self.streams = Streams(self)
        self.operators = Operators(self)
        self.halves = Halves(self)
        self.libraries = Libraries(self)
        self.autocast = Autocast(self)
        self.memory = Memory(self)
        self.graphs = Graphs(self)
        self.files = Files(self)
        self.subclasses = Subclasses(self)
        self._mode: Any = None
        self._patches = Patches()

    # ---- on and off ------------------------------------------------------

    def install(self) -> None:
        """Enters the mode in this thread and in those started later."""
        self._mode = self.mode_class()
        self._mode.__enter__()
        self.watched = (self.halves.dtypes | self.operators.rare |
                        self.refusals.rare)
        for part in (self.libraries, self.autocast, self.operators,
                     self.files, self.subclasses):
            part.install(self._patches)
        self.generator_class = patches.generator_class(self)
        patches.patch(self, self._patches)
        torch_private.watch_tf32(self._patches, self.halves.install)
        exchange.install(self, self._patches)
        fakes.install(self, self._patches)
        self._patches.set(threading.Thread, "start", self._start_thread(
            threading.Thread.start))
        self.session.reader.refuse_with(self.refuse_argument)
        self.session.runs.record_with(self.graphs)

    def uninstall(self) -> None:
        """Leaves the mode; tensors are on the CPU again."""
        self._patches.undo()
        self.session.reader.refuse_with(None)
        self.session.runs.record_with(None)
        for part in (self.halves, self.libraries, self.autocast,
                     self.operators, self.files):
            part.uninstall()
        mode, self._mode = self._mode, None
        if mode is not None:
            mode.__exit__(None, None, None)

    def _start_thread(self, start):
        def started(thread):
            run = thread.run

            def run_with_mode():
                with self.mode_class():
                    run()
            thread.run = run_with_mode
            return start(thread)
        return started

    def is_on(self) -> bool:
        """Whether the mode is active in this thread right now."""
        return any(isinstance(m, self.mode_class)
                   for m in torch_private.function_modes())

    @contextlib.contextmanager
    def on(self) -> Iterator[Any]:
        """A context in which the mode is active."""
        with contextlib.ExitStack() as stack:
            stack.enter_context(torch_private.seen())
            if not self.is_on():
                stack.enter_context(self.mode_class())
                if self.session.sizes is not None:
                    stack.enter_context(self.session.sizes.mode())
            yield

    @property
    def compiles(self) -> str:
        """What torch.compile makes: "inductor", or "eager"."""
        return self.session.options.torch_compile

    @property
    def strict(self) -> bool:
        """Whether what CUDA refuses is refused."""
        return not self.session.options.lenient_device

    # ---- devices ---------------------------------------------------------

    def index_of(self, device: Any) -> int:
        """The number of a device that is named; None: the current one.
        RuntimeError for one that is not there, as CUDA says it."""
        if isinstance(device, (str, self.torch.device)) and (
                not is_cuda_device(device)):
            raise ValueError(f"Expected a cuda device, but got: {device}")
        try:
            if device is None:
                return self.streams.device
            if isinstance(device, str) and ":" not in device or getattr(
                    device, "index", 0) is None:
                return self.streams.device  # "cuda"
            return check_index(device)
        except ValueError as e:
            raise self.torch.AcceleratorError(
                "CUDA error: invalid device ordinal\n"
                f"tkdbg: {e}; docs/device.md says which there are"
            ) if hasattr(self.torch, "AcceleratorError") else RuntimeError(
                f"CUDA error: invalid device ordinal\ntkdbg: {e}") from None

    def place_of(self, device: Any) -> int:
        """The mark of tensors on a device that is named."""
        return self.index_of(device) if is_cuda_device(device) else HOST

    def device_at(self, where: Any) -> Any:
        """The torch.device for a mark."""
        if where < 0:
            return self.cpu
        found = self.devices.get(where)
        if found is None:
            found = self.devices[where] = self.torch.device("cuda", where)
        return found

    def put_by_default(self, where: Any) -> None:
        """New tensors get this mark, where a program names no device."""
        self.default = where

    def note_place(self, where: Any) -> None:
        """Where the tensors of the last call are."""
        self.last = where

    # ---- marks -----------------------------------------------------------

    def mark_of(self, tensor: Any) -> Any:
        """The mark of a tensor; None: it has none."""
        found = getattr(tensor, MARK, None)
        return self._inner(tensor) if found is None else found

    def _inner(self, tensor):
        """The mark of what torch.func has wrapped, or None."""
        if not isinstance(tensor, self.tensor):
            return None
        return getattr(torch_private.unwrapped(tensor), MARK, None)

    def place(self, tensor: Any) -> Any:
        """The mark of a tensor, or what holds for tensors without one."""
        where = self.mark_of(tensor)
        if where is None:
            return 0 if self.used else HOST
        return where

    def on_device(self, tensor: Any) -> bool:
        """Whether a tensor counts as being on a device."""
        return self.place(tensor) >= 0

    def mark(self, value: Any, where: Any) -> Any:
        """Marks the tensors in value, a tensor or nested sequence; returns
        it."""
        if isinstance(value, self.tensor):
            setattr(value, MARK, where)
            if where >= 0:
                self.arrived(value)
        elif isinstance(value, (tuple, list)):
            for item in value:
                self.mark(item, where)
        return value

    def mark_new(self, value: Any, where: Any) -> None:
        """Marks those tensors in value that have no mark."""
        if isinstance(value, self.tensor):
            if getattr(value, MARK, None) is None:
                setattr(value, MARK, where)
                if where >= 0:
                    self.arrived(value)
        elif isinstance(value, (tuple, list)):
            for item in value:
                self.mark_new(item, where)

    def arrived(self, tensor: Any) -> None:
        """A tensor has got the mark of a device."""
        self.used = True
        if self.memory.counting:
            self.memory.add(tensor)
        if self.watched and tensor.dtype in self.watched:
            self._met(tensor.dtype)

    def _met(self, dtype):
        """The first tensor of a dtype that needs care has arrived."""
        if dtype in self.halves.dtypes:
            self.watched -= self.halves.dtypes
            self.halves.install()
        elif dtype in self.refusals.rare:
            self.watched -= self.refusals.rare
            own = self.refusals.functions()
            self.specials.update(self.refusals.functions(rare=True, inside={
                each: run for each, run in self.specials.items()
                if each not in own}))
        else:
            self.watched -= self.operators.rare
            self.operators.widen_from_here()

    def where(self, args: Any) -> Any:
        """The place of the tensors in args: a mark, None without tensors, or
        MIXED.  Tensors without a mark are where the others are."""
        found, unmarked, tensor = None, False, self.tensor
        for arg in args:
            if isinstance(arg, tensor):
                at = getattr(arg, MARK, None)
                if at is None:
                    at = self._inner(arg)
                if at is None:
                    unmarked = True
                    continue
            elif isinstance(arg, (tuple, list)):
                at = self.where(itertools.islice(arg, MOST))
                if at is None:
                    continue
            else:
                continue
            if found is None:
                found = at
            elif found != at:
                return MIXED
        if found is None and unmarked:
            return 0 if self.used else HOST
        return found

    # ---- calls -----------------------------------------------------------

    def call(self, func: Any, args: tuple[Any, ...],
             kwargs: dict[str, Any]) -> Any:
        """Runs one PyTorch function for the mode.  What is traced is traced
        as on a machine with a GPU: fake tensors keep their devices, and others
        say where they are."""
        if self.faking() is not None:
            own = self.traced.get(func)
            return (func(*args, **kwargs) if own is None else
                    own(self, func, args, kwargs))
        carry_out = self.carry_out
        history = self.session.runs.history
        if history is not None:
            carry_out = history.following(carry_out)
        if self.fresh.held:
            return self.fresh.judge(func, args, kwargs, carry_out)
        return carry_out(func, args, kwargs)

    def carry_out(self, func: Any, args: tuple[Any, ...],
                  kwargs: dict[str, Any]) -> Any:
        """The same, when no finding waits for it."""
        special = self.specials.get(func)
        if special is None and isinstance(func, self.overloads):
            special = self.specials.get(torch_private.operator_name(func))
        if special is not None:
            return special(self, func, args, kwargs)
        if isinstance(func, self.higher_order):
            with self.on():  # it calls functions of the program's
                return torch_private.call_higher_order(func, args, kwargs)
        return self.plain(func, args, kwargs)

    def plain(self, func: Any, args: tuple[Any, ...],
              kwargs: dict[str, Any]) -> Any:
        """Runs a function whose result is merely marked."""
        explicit = pinned = None
        if kwargs:
            pinned = kwargs.get("pin_memory")
            explicit, kwargs = self.without_device(kwargs)
            where = self.where((*args, *kwargs.values()))
            if kwargs.get("generator") is not None:
                self.check_generator(kwargs["generator"],
                                     where if explicit is None else explicit)
        else:
            where = self.where(args)
        self.last = where
        if where is MIXED:
            where, result = self.operators.mixed(func, args, kwargs)
        else:
            try:
                result = func(*args, **kwargs)
            except (NotImplementedError, RuntimeError) as e:
                place = where if explicit is None else explicit
                if place is not None and place >= 0:
                    e = self.memory.lacking(e, place)
                result = self.operators.rescue(
                    e, place if where is None else where, func, args, kwargs)
        if explicit is not None:
            if result is not kwargs.get("out"):
                self.mark(result, explicit)
        elif isinstance(result, (self.tensor, tuple, list)):
            self.mark_new(result, self.default if where is None or
                          func in self.factories else where)
        if pinned:
            setattr(result, PINNED, True)
        if func in self.empties and isinstance(result, self.tensor):
            self.fresh.made(result, poison=self.on_device(result))
        return result

    def without_device(self,
                       kwargs: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
        """(the mark for the device asked for, or None; kwargs for the CPU)"""
        if "pin_memory" in kwargs:  # plain() has seen it
            kwargs = {k: v for k, v in kwargs.items() if k != "pin_memory"}
        device = kwargs.get("device")
        if device is None:
            return None, kwargs
        if is_cuda_device(device):
            return self.index_of(device), {**kwargs, "device": self.cpu}
        return HOST, kwargs

    # ---- what CUDA refuses -----------------------------------------------

    def check_generator(self, generator: Any, where: Any) -> None:
        """Raises for a generator of another kind of device."""
        if where is None or where is MIXED:
            where = self.default
        on_device = isinstance(generator, self.generator_class)
        if self.strict and on_device != (where >= 0):
            kinds = ["cpu", "cuda"]
            raise RuntimeError(
                f"Expected a '{kinds[where >= 0]}' device type for generator "
                f"but found '{kinds[on_device]}'")

    def refuse_argument(self, tensor: Any, position: int) -> None:
        """Raises Triton's error for a tensor on the CPU that is given to a
        kernel; position: that of the parameter."""
        if getattr(tensor, MARK, None) == HOST and self.strict and not (
                getattr(tensor, PINNED, False) or _interpreting() or
                _INTERPRETED or not tensor.numel() or
                tensor.device.type == "meta"):
            raise ValueError(
                f"Pointer argument (at {position}) cannot be accessed from "
                "Triton (cpu tensor?)\ntkdbg: a tensor on the CPU was given "
                "to a kernel; move it with .cuda(), or run with "
                "--lenient-device")


def _interpreting():
    """Whether Triton's own interpreter is asked for, which takes tensors on
    the CPU."""
    return os.environ.get("TRITON_INTERPRET", "").lower() in (
        "1", "true", "on", "yes", "y")


_INTERPRETED = _interpreting()  # an installed Triton's variable is taken away


def _mode_class(virtual):
    from torch.overrides import TorchFunctionMode

    class VirtualCudaMode(TorchFunctionMode):
        """Sends every call to ``VirtualCuda.call``."""

        def __torch_function__(self, func, types, args=(), kwargs=None):
            return virtual.call(func, args, kwargs or {})

    return VirtualCudaMode
