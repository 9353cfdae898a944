"""Launches of CUDA Tile's kernels, which tkdbg runs: what is replaced in
cuda.tile once a script has imported it."""
from __future__ import annotations

import array
import sys
import time
from collections.abc import Sequence
from ctypes import byref, c_void_p
from typing import TYPE_CHECKING, Any

from .. import arguments, prepared, session as session_, tensors
from ..patches import Patches as Attributes
from . import form, front, signature
from .model import Refused

if TYPE_CHECKING:
    from ..session import Session

GRID_MAX = (2147483647, 65535, 65535)
GRID_BITS = 24  # of a block's place along an axis
CAPABILITY = (10, 0)  # the oldest that cuda.tile has everything for
KEPT = "_tkdbg_launches"
MOST_KEPT = 256


class _Named:
    """What a Prepared asks its function."""
    model = None

    def __init__(self, name: str, arg_names: list[str]) -> None:
        self.__name__ = name
        self.arg_names = arg_names


class Launch(prepared.Prepared):
    """A tk_launch of a kernel's form, filled anew for each launch."""

    def __init__(self, session: Session, kernel: Any, sig: Any,
                 args: signature.Arguments) -> None:
        made = front.read(kernel, sig, args.params, args.names)
        text = form.convert(made).encode("utf-8", "surrogateescape")
        self.function: Any = _Named(made.name,
                                    [leaf.name for leaf in args.leaves])
        self.session = session
        self.ptr, self.shared = 0, 0
        opened, out = c_void_p(), c_void_p()
        session.runs.free_garbage()
        session.check(session.attended(
            session.lib.tk_ir_open, session.ptr,
            f"{made.name}.tk".encode(), text, len(text), byref(opened)),
            made.name)
        session.check(session.lib.tk_launch_new(session.ptr, opened,
                                                byref(out)), made.name)
        self.ptr = out.value or 0
        self.slots = [_slot(session, self.ptr, leaf) for leaf in args.leaves]

    def compile(self) -> None:
        self.session.check(self.session.guarded(
            self.session.lib.tk_launch_compile, self.ptr),
            self.function.__name__)


class _ArraySlot(arguments.TensorSlot):
    """An array: accesses outside of it are outside, even where the memory that
    it is a view of goes on."""

    def _layout(self, arg, reader):
        layout = signature.layout_of(reader, arg)
        if not layout.storage or not layout.data:
            return layout
        own = layout.written and (
            layout.written + layout.data - layout.storage)
        return layout._replace(storage=0, nbytes=0, written=own)


class _ScalarSlot(arguments.Slot):
    """A number of a stated type."""

    def __init__(self, session: Session, launch: int, name: str,
                 dtype: str) -> None:
        super().__init__(session, launch, name)
        self.element = form.ELEMENTS[dtype]
        self.number = session.dtypes.number(self.element)

    def set(self, arg: Any, reader: Any) -> int:
        return self.lib.tk_launch_scalar(
            self.launch, self.name, self.number,
            form.bits_of(self.element, arg))


class _ListSlot(arguments.Slot):
    """A list of arrays: memory with the address, the lengths and the strides
    of each."""

    def set(self, arg: Any, reader: Any) -> int:
        words, layouts = signature.list_words(reader, arg)
        self.words = array.array("q", words)
        address, count = self.words.buffer_info()
        number: Any = self.session.dtypes.number("int64")
        table = tensors.Layout(address, number, (count,), (1,), address,
                               8 * count, 0, 0)
        memory = tensors.buffer()
        table.pack(memory)
        status = self.lib.tk_launch_tensor(self.launch, self.name, memory)
        for i, layout in enumerate(layouts):
            layout.pack(memory)
            status = status or self.lib.tk_launch_extra(
                self.launch, self.name + f"_{i}".encode(), memory)
        return status or self.lib.tk_launch_scalar(
            self.launch, self.name + b"_length",
            self.session.dtypes.number("int32"), len(arg))


def _slot(session, launch, leaf):
    if leaf.kind == "scalar":
        return _ScalarSlot(session, launch, leaf.name, leaf.dtype)
    if leaf.kind == "list":
        return _ListSlot(session, launch, leaf.name)
    return _ArraySlot(session, launch, leaf.name,
                      arguments.kind_of(type(leaf.value)))


# ---- launches -------------------------------------------------------------


def _grid_of(grid):
    if not isinstance(grid, tuple):
        raise TypeError("Grid must be a tuple")
    if len(grid) > 3:
        raise ValueError("Grid dimensions must be at most 3, got "
                         f"{len(grid)}")
    for i, n in enumerate(grid):
        if int(n) >> GRID_BITS > 0:
            raise ValueError(
                f"Grid[{i}] exceeds {GRID_BITS}-bit limit: max="
                f"{(1 << GRID_BITS) - 1}, got={n}. Use multiple kernel "
                "launches for larger workloads.")
        if not 0 <= int(n) <= GRID_MAX[i]:
            raise ValueError(f"Grid[{i}] is too big: max={GRID_MAX[i]}, "
                             f"got={n}")
    return (*map(int, grid), 1, 1, 1)[:3]


def launch(stream: Any, grid: Any, kernel: Any, kernel_args: Sequence[Any],
           /, *, programmatic_dependent_launch: bool = False) -> None:
    """cuda.tile.launch: the kernel has run when it returns."""
    __tracebackhide__ = True
    if stream is None:
        raise TypeError("Stream is required, got None")
    size = _grid_of(grid)
    session = session_.current()
    with session.lock, tensors.without_torch_functions():
        try:
            made, given = _prepare(session, kernel, tuple(kernel_args))
        except Refused as e:
            raise NotImplementedError(f"tkdbg: {e}") from None
        made.run(given, size)


def _read(session, kernel, values, knows_shapes=True):
    """(a kernel's function, its arguments)"""
    function, annotations = front.parameters_of(kernel)
    names = function.__code__.co_varnames[:function.__code__.co_argcount]
    session.reader.begin(compiling=True)
    try:
        return function, signature.read(session.reader, names, annotations,
                                        values, knows_shapes)
    finally:
        session.reader.finish()


def _told(annotations, values):
    """(what a signature follows from, what the kernel is given) of numbers
    and arrays, told faster than their signature is made; None of others."""
    known: list[Any] = []
    given = []
    for annotation, value in zip(annotations, values):
        cls = type(value)
        if getattr(annotation, "constant", False):
            if cls not in (int, float, bool, str):
                return None
            known.append((cls, repr(value)))
            continue
        given.append(value)
        if cls is int:
            known.append(-1 << 31 <= value < 1 << 31)
        elif arguments.kind_of(cls) == "torch":
            known.append((value.dtype, value.shape, value.stride(),
                          tensors.data_ptr(value) % signature.ALIGNED))
        elif cls in (float, bool):
            known.append(cls)
        else:
            return None
    return tuple(known), given


def _prepare(session, kernel, values):
    """The Launch for these arguments, new or known, and what it is given."""
    kept = vars(kernel).setdefault(KEPT, {})
    annotations = front.parameters_of(kernel)[1]
    told = (_told(annotations, values) if len(values) == len(annotations)
            else None)
    if told and (session, told[0]) in kept:
        return kept[session, told[0]], told[1]
    function, args = _read(session, kernel, values)
    sig = front.signature(args.constraints, function.__name__)
    kinds = tuple((leaf.name, arguments.kind_of(type(leaf.value)))
                  for leaf in args.leaves)
    key = session, front.key_of(sig), kinds
    made = kept.get(key) or Launch(session, kernel, sig, args)
    while len(kept) >= MOST_KEPT:
        del kept[next(iter(kept))]
    kept[key] = made
    if told:
        kept[session, told[0]] = made
    return made, [leaf.value for leaf in args.leaves]


def _constraints(kernel: Any, values: Any, convention: Any) -> Any:
    """What cuda.tile's extension says of arguments."""
    session = session_.current()
    with session.lock:
        return tuple(_read(session, kernel, tuple(values),
                           convention.version >= 2)[1].constraints)


def _benchmark(stream: Any, grid: Any, kernel: Any, args: Any,
               *_: Any, **__: Any) -> float:
    """Runs a configuration; all take the same time, so that the first one
    that runs is the best."""
    launch(stream, grid, kernel, args)
    return 1.0


def _timed(stream: Any, grid: Any, kernel: Any, args: Any,
           *_: Any, **__: Any) -> tuple[float, float]:
    """The same, as cuda.tile does it in a process that it could end."""
    began = time.monotonic()
    return _benchmark(stream, grid, kernel, args), time.monotonic() - began


def _refuse(what: str) -> Any:
    def refuse(*_: Any, **__: Any) -> None:
        raise NotImplementedError(f"tkdbg: {what}")
    return refuse


class Patches:
    """What is replaced in cuda.tile."""

    def __init__(self) -> None:
        self.attributes = Attributes()

    def install(self) -> None:
        """Raises ImportError for a version that is too old."""
        try:
            front.check_version()
        except Refused as e:
            raise ImportError(str(e)) from None
        ours = {
            "launch": launch, "_benchmark": _benchmark,
            "benchmark_with_timeout": _timed,
            "get_parameter_constraints_from_pyargs": _constraints,
            "get_compute_capability": lambda *_: CAPABILITY,
            "_get_max_grid_size": lambda *_: GRID_MAX,
            "get_driver_version": lambda *_: (13, 0),
            "_get_max_supported_bytecode_version":
                lambda *_, **__: front.bytecode_version(),
            "launch_extended": _refuse("cuda.lang's launches are not "
                                       "supported")}
        for module in front.modules_with(ours):
            for name, value in ours.items():
                if name in vars(module):
                    self.attributes.set(module, name, value)
        kernel = getattr(sys.modules["cuda.tile"], "kernel", None)
        if kernel is not None and hasattr(kernel, "_compile"):
            self.attributes.set(kernel, "_compile", _refuse(
                "code for a GPU is not made of cuda.tile's kernels here"))
        self._tuning(front.tuning())

    def _tuning(self, module):
        """One run of each configuration is enough."""
        for name in ("_WARM_UP_REPEATS", "_BATCH_REPEATS", "_MIN_REPEATS"):
            if name in vars(module):
                self.attributes.set(module, name, 1)

    def uninstall(self) -> None:
        self.attributes.undo()
