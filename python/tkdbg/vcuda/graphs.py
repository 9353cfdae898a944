"""CUDA graphs: what is captured, and how it is replayed.

While a graph is captured, a TorchDispatchMode keeps each operator of ATen
with its arguments and results, and the launches of kernels come in between
(``launched``).  CUDA runs nothing then; here it runs, because Python needs
results to go on with, and afterwards the memory that existed before is put
back.  A replay runs the same operators and launches on the same tensors and
writes their results to where they were.
"""
from __future__ import annotations

import contextlib
import warnings
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from .. import torch_private
from .marks import HOST, PINNED

if TYPE_CHECKING:
    import types
    from .virtual import VirtualCuda

# Operators after which the host waits for the device: the one below item(),
# those whose results are as large as the data say, and those of linear
# algebra that look whether they succeeded, which PyTorch's documentation says
# of each.
_WAITS = frozenset("""
    _local_scalar_dense nonzero masked_select _unique _unique2 unique_dim
    unique_consecutive equal repeat_interleave bincount histc allclose
    is_nonzero _linalg_check_errors linalg_eig linalg_eigvals _linalg_eigh
    _linalg_svd linalg_pinv cholesky""".split())
_FAILED = ("CUDA error: operation failed due to a previous error during "
           "capture")
_EMPTY = ("The CUDA Graph is empty. This usually means that the graph was "
          "attempted to be captured on wrong device or stream.")
_DEFAULT_STREAM = (
    "CUDA graphs must be captured on a non-default stream. (However, after "
    "capture, it's ok to replay them on the default stream.)")
_ERROR_MODES = "global", "thread_local", "relaxed"
_REFUSED = ("CUDA error: operation not permitted when stream is capturing\n"
            "tkdbg: the host waits for the device here, which a graph "
            "cannot record")


_PAGEABLE = ("Cannot copy between CPU and CUDA tensors during CUDA graph "
             "capture unless the CPU tensor is pinned. Please use "
             "tensor.pin_memory() or allocate the tensor with "
             "pin_memory=True.")


def _kept(value, torch):
    """Arguments with tensors that stay as they are, though the program
    changes the shape of its own in place."""
    if type(value) is torch.Tensor and value.layout is torch.strided:
        return torch.ops.aten.alias.default(value)
    if type(value) in (tuple, list):
        return type(value)(_kept(v, torch) for v in value)
    return value


class _Operation:
    """An operator of ATen that was captured."""

    def __init__(self, func, args, kwargs, results):
        self.func, self.args, self.kwargs = func, args, kwargs
        self.results = results  # tensors that a replay must write

    def replay(self, torch):
        found = tensors_in(self.func(*self.args, **self.kwargs), torch)
        for result, index in self.results:
            if result is not found[index]:
                result.copy_(found[index])


class _Launch:
    """A launch of a kernel that was captured."""

    def __init__(self, run):
        self.run = run

    def replay(self, torch):
        self.run()


def fills(virtual: VirtualCuda, args: tuple[Any, ...]) -> bool:
    """Whether these arguments of index_put come to masked_fill: one mask, and
    one number that is on the CPU."""
    chosen = tensors_in(args[1:2], virtual.torch)
    return (len(args) > 2 and len(chosen) == 1 and
            chosen[0].dtype in virtual.graphs.masks and
            virtual.on_device(chosen[0]) and args[2].numel() == 1 and
            virtual.mark_of(args[2]) in (None, HOST))


def _same_view(a, b):
    return (a.data_ptr(), a.shape, a.stride(), a.dtype) == (
        b.data_ptr(), b.shape, b.stride(), b.dtype)


def tensors_in(value: Any, torch: types.ModuleType) -> list[Any]:
    """The tensors in a result or in arguments."""
    if isinstance(value, torch.Tensor):
        return [value]
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (tuple, list)):
        return [t for item in value for t in tensors_in(item, torch)]
    return []


class _Saved:
    """Storages as they were before a capture wrote to them."""

    def __init__(self):
        self._kept = {}    # address of the storage -> (storage, copy)
        self._made = set()  # storages that the capture made

    def made(self, tensor):
        self._made.add(tensor.untyped_storage().data_ptr())

    def before_writing(self, tensor):
        storage = tensor.untyped_storage()
        address = storage.data_ptr()
        if address not in self._made and address not in self._kept:
            self._kept[address] = storage, storage.clone()

    def restore(self):
        for storage, before in self._kept.values():
            storage.copy_(before)


class Graphs:
    """Captures and replays of one virtual device."""

    def __init__(self, virtual: VirtualCuda) -> None:
        self.virtual = virtual
        self.graph = None  # the one that is being captured

    @property
    def capturing(self) -> bool:
        return self.graph is not None

    def forbid(self, tensor: Any = None) -> None:
        """Raises CUDA's error if a graph is being captured, because the host
        would wait for the device; tensor: the one that it waits for."""
        if self.graph is not None and (
                tensor is None or self.virtual.on_device(tensor)):
            self.graph.failed = True
            raise self.error(_REFUSED)

    def error(self, text: str) -> Any:
        """An error of CUDA itself."""
        return getattr(self.virtual.torch, "AcceleratorError",
                       RuntimeError)(text)

    def waits(self, name: str, args: tuple[Any, ...],
              kwargs: dict[Any, Any]) -> bool:
        """Whether an operator makes the host wait for the device."""
        if name.startswith("index"):
            return any(t.dtype in self.masks for t in tensors_in(
                args[1:2], self.virtual.torch)) and not fills(
                    self.virtual, args)
        if name == "repeat_interleave":
            return kwargs.get("output_size") is None
        if name == "histc":  # its bounds are those of the data
            low, high = (*args[2:], 0, 0)[:2]
            return low == high
        if name == "equal":
            return not _same_view(*args[:2])
        return name in _WAITS

    @property
    def masks(self) -> tuple[Any, Any]:
        return self.virtual.torch.bool, self.virtual.torch.uint8

    def forbid_copy(self, tensor: Any = None) -> None:
        """Raises CUDA's error for a copy between host and device, but of
        pinned memory, while a graph is captured."""
        if self.graph is not None and not getattr(tensor, PINNED, False):
            raise RuntimeError(_PAGEABLE)

    def launched(self, run: Callable[[], None], tensors: Iterable[Any]) -> None:
        """A kernel is about to be launched: run() launches it again."""
        if self.graph is not None:
            with torch_private.undispatched():
                for tensor in tensors:  # a copy is not one of the operators
                    self.graph.saved.before_writing(tensor)
            self.graph.operations.append(_Launch(run))

    def functions(self) -> dict[str, Any]:
        """{name in torch.cuda: replacement}"""
        graph_class = _graph_class(self)
        return {"CUDAGraph": graph_class,
                "graph": _context_class(self, graph_class),
                "graph_pool_handle": lambda: (0, 0),
                "make_graphed_callables": _graphed(self)}


def _recorder(graphs):
    """The TorchDispatchMode of a capture."""
    mode: Any = torch_private.dispatch_mode()

    class Recorder(mode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            with torch_private.unseen():
                return graphs.graph.run(func, args, kwargs or {})

    return Recorder()


def _graph_class(graphs):
    virtual, torch = graphs.virtual, graphs.virtual.torch

    class CUDAGraph:
        """torch.cuda.CUDAGraph"""

        def __init__(self, keep_graph=False):
            self.operations = []
            self.saved: Any = None
            self.captured = False
            self.failed = False  # CUDA refused an operation in between
            self._modes: Any = None

        def capture_begin(self, pool=None, capture_error_mode="global"):
            if graphs.graph is not None:
                raise RuntimeError("CUDA graphs must not be captured inside "
                                   "each other")
            if self.captured:
                raise RuntimeError(
                    "This CUDAGraph instance already owns a captured graph. "
                    "To capture a new graph, create a new instance.")
            if capture_error_mode not in _ERROR_MODES:
                raise RuntimeError(
                    "Unknown capture error mode. Expected `global`, "
                    f"`thread_local`, or `relaxed`, got {capture_error_mode}")
            if torch.cuda.current_stream() == torch.cuda.default_stream():
                raise RuntimeError(_DEFAULT_STREAM)
            self.failed = False
            self.operations, self.saved = [], _Saved()
            self._numbers = virtual.numbers.get()
            self._modes = contextlib.ExitStack()
            self._modes.enter_context(_recorder(graphs))
            graphs.graph = self

        def capture_end(self):
            if graphs.graph is not self:
                raise RuntimeError("capture_end() without capture_begin()")
            graphs.graph = None
            self._modes.close()
            with torch_private.unseen():
                self.saved.restore()
            virtual.numbers.set(self._numbers)
            self.saved, self.captured = None, not self.failed
            if self.failed:
                raise graphs.error(_FAILED)
            if not self.operations:
                warnings.warn(_EMPTY, stacklevel=3)

        def run(self, func, args, kwargs):
            """Runs an operator of the capture, and keeps it."""
            name = torch_private.schema(func).name.partition("::")[2]
            tensors = tensors_in((args, kwargs), torch)
            places = {virtual.mark_of(t) for t in tensors}
            host = places == {HOST}
            if not host and graphs.waits(name, args, kwargs):
                graphs.forbid()
            if host:  # no part of the graph: it runs once, now
                return func(*args, **kwargs)
            written = _written(func, args, kwargs, torch)
            for tensor in written:
                self.saved.before_writing(tensor)
            result = func(*args, **kwargs)
            if not tensors and not tensors_in(result, torch):
                return result
            known = {t.untyped_storage().data_ptr() for t in tensors}
            empty = name.startswith("empty")
            new = []
            for index, tensor in enumerate(tensors_in(result, torch)):
                if tensor.untyped_storage().data_ptr() not in known:
                    self.saved.made(tensor)
                    if not empty:
                        new.append((_kept(tensor, torch), index))
            if new or written:
                self.operations.append(_Operation(
                    func, _kept(args, torch), {
                        n: _kept(a, torch) for n, a in kwargs.items()}, new))
            return result

        def replay(self):
            if not self.captured:
                raise RuntimeError("Called CUDAGraph::replay without a "
                                   "preceding successful capture.")
            with (torch_private.unseen(), torch.no_grad(),
                  virtual.numbers.drawn()):
                for operation in self.operations:
                    operation.replay(torch)

        def reset(self):
            self.operations, self.captured = [], False

        def register_generator_state(self, generator):
            """Nothing: a replay draws from the generator as it is."""

        def instantiate(self):
            """Nothing: a graph runs as it was captured."""

        def pool(self):
            return (0, 0)

        def enable_debug_mode(self):
            """Nothing: there is nothing to dump."""

        def debug_dump(self, path):
            with open(path, "w") as f:
                f.write("".join(f"{type(o).__name__[1:]} "
                                f"{getattr(o, 'func', '')}\n"
                                for o in self.operations))

    return CUDAGraph


def _written(func, args, kwargs, torch):
    """The tensors that an operator writes to, by its schema."""
    found = []
    for position, argument in enumerate(torch_private.schema(func).arguments):
        if argument.alias_info is not None and argument.alias_info.is_write:
            value = (args[position] if position < len(args)
                     else kwargs.get(argument.name))
            found += tensors_in(value, torch)
    return found


def _context_class(graphs, graph_class):
    streams = graphs.virtual.streams

    class graph:
        """``with torch.cuda.graph(g):``"""

        def __init__(self, cuda_graph, pool=None, stream=None,
                     capture_error_mode="thread_local", **kwargs):
            if not isinstance(cuda_graph, graph_class):
                raise TypeError("torch.cuda.graph takes a CUDAGraph, not "
                                f"{type(cuda_graph).__name__}")
            self.cuda_graph = cuda_graph
            self.stream = stream
            self.capture_error_mode = capture_error_mode

        def __enter__(self):
            stream = self.stream or streams.Stream()
            self.scope = streams.scope(stream)
            self.scope.__enter__()
            try:
                self.cuda_graph.capture_begin(
                    capture_error_mode=self.capture_error_mode)
            except RuntimeError:
                self.scope.__exit__(None, None, None)
                raise

        def __exit__(self, *error):
            try:
                self.cuda_graph.capture_end()
            finally:
                self.scope.__exit__(*error)

    return graph


def _graphed(graphs):
    def make_graphed_callables(callables, sample_args, *args, **kwargs):
        """The callables as they are: their results are the same."""
        return callables
    return make_graphed_callables
