"""One virtual CUDA device in host memory, for a PyTorch without CUDA.

Tensors "on" the device are ordinary CPU tensors with a mark.  A
TorchFunctionMode sees every call into PyTorch: it turns ``device='cuda'``
into the CPU, marks what comes out, and answers ``device`` and ``is_cuda``
from the marks.  A result is on the device when any tensor it was computed
from is; mixing both is allowed.  Inside PyTorch's own Python code the mode
is off, and everything is on the CPU as it really is.

A tensor without a mark (made by C++ code that the mode does not see, such
as a gradient) counts as being on the device once the program has used it.
Random numbers of the device are those of the CPU generator.
"""
from __future__ import annotations

import itertools
import threading

from . import fresh as fresh_, vcuda_patches
from .patches import Patches
from .vcuda_api import check_device, is_cuda_device

MARK = "_tkdbg_cuda"  # True: on the device; False: explicitly on the CPU
MOST = 64  # items of a list that are looked at


def has_cuda():
    """Whether PyTorch sees a real CUDA device."""
    import torch
    return torch.cuda.is_available()


class VirtualCuda:
    """The mode, the patches around it, and what they share."""

    def __init__(self, fresh=None):
        """fresh: where memory that was never written is remembered."""
        import torch
        self.fresh = fresh or fresh_.Fresh(follow=False)
        self.torch = torch
        self.tensor = torch.Tensor
        self.specials = _specials(torch)
        self.empties = _empties(torch)
        self.used = False           # something was put on the device
        self.default_cuda = False   # torch.set_default_device("cuda")
        self.device = torch.device("cuda", 0)
        self.cpu = torch.device("cpu")
        self.mode_class = _mode_class(self)
        self._mode = None
        self._patches = Patches()

    # ---- on and off ------------------------------------------------------

    def install(self):
        """Enters the mode in this thread and in those started later."""
        self._mode = self.mode_class()
        self._mode.__enter__()
        vcuda_patches.patch(self, self._patches)
        self._patches.set(threading.Thread, "start", self._start_thread(
            threading.Thread.start))

    def uninstall(self):
        """Leaves the mode; tensors are on the CPU again."""
        self._patches.undo()
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

    def is_on(self):
        """Whether the mode is active in this thread right now."""
        from torch.overrides import _get_current_function_mode_stack as stack
        return any(isinstance(m, self.mode_class) for m in stack())

    # ---- marks -----------------------------------------------------------

    def on_device(self, tensor):
        """Whether a tensor counts as being on the device."""
        return getattr(tensor, MARK, self.used)

    @staticmethod
    def marked(tensor):
        return MARK in tensor.__dict__

    def mark(self, value, cuda):
        """Marks the tensors in value, a tensor or nested sequence; returns
        it."""
        if isinstance(value, self.tensor):
            if cuda:
                self.used = True
            setattr(value, MARK, cuda)
        elif isinstance(value, (tuple, list)):
            for item in value:
                self.mark(item, cuda)
        return value

    def mark_tree(self, value, cuda):
        """As mark, through dicts as well."""
        if isinstance(value, dict):
            for item in value.values():
                self.mark_tree(item, cuda)
        elif isinstance(value, (tuple, list)):
            for item in value:
                self.mark_tree(item, cuda)
        else:
            self.mark(value, cuda)
        return value

    def mark_new(self, value, cuda):
        """Marks those tensors in value that have no mark."""
        if isinstance(value, self.tensor):
            if MARK not in value.__dict__:
                setattr(value, MARK, cuda)
        elif isinstance(value, (tuple, list)):
            for item in value:
                self.mark_new(item, cuda)

    def placement(self, args):
        """True, False or None: a tensor on the device in args, tensors on
        the CPU only, no tensor."""
        found = None
        tensor = self.tensor
        for arg in itertools.islice(args, MOST):
            if isinstance(arg, tensor):
                if getattr(arg, MARK, self.used):
                    return True
                found = False
            elif isinstance(arg, (tuple, list)):
                inner = self.placement(arg)
                if inner:
                    return True
                found = found if inner is None else inner
        return found

    # ---- calls -----------------------------------------------------------

    def call(self, func, args, kwargs):
        """Runs one PyTorch function for the mode."""
        special = self.specials.get(func)
        if special is not None:
            return special(self, func, args, kwargs)
        return self.plain(func, args, kwargs)

    def plain(self, func, args, kwargs):
        """Runs a function whose result is merely marked."""
        if kwargs:
            explicit, kwargs = self.without_device(kwargs)
        else:
            explicit = None
        return self.finish(func, func(*args, **kwargs), args, kwargs,
                           explicit)

    def without_device(self, kwargs):
        """(True, False or None: the device asked for, kwargs for the CPU)"""
        if "pin_memory" in kwargs:
            kwargs = {k: v for k, v in kwargs.items() if k != "pin_memory"}
        device = kwargs.get("device")
        if device is None:
            return None, kwargs
        if is_cuda_device(device):
            check_device(device)
            return True, {**kwargs, "device": self.cpu}
        return False, kwargs

    def finish(self, func, result, args, kwargs, explicit):
        """Marks a result; explicit: the device that was asked for."""
        if explicit is not None:
            if result is not kwargs.get("out"):
                self.mark(result, explicit)
        elif isinstance(result, (self.tensor, tuple, list)):
            cuda = self.placement(args)
            if cuda is None and kwargs:
                cuda = self.placement(kwargs.values())
            if cuda is None:
                cuda = self.default_cuda
                self.used = self.used or cuda
            self.mark_new(result, cuda)
        if func in self.empties and isinstance(result, self.tensor):
            self.fresh.add(result)
        return result


def _empties(torch):
    """Functions whose results are not written yet."""
    return frozenset((
        torch.empty, torch.empty_like, torch.empty_strided,
        torch.Tensor.new_empty, torch.Tensor.new_empty_strided))


def _mode_class(virtual):
    from torch.overrides import TorchFunctionMode

    class VirtualCudaMode(TorchFunctionMode):
        """Sends every call to ``VirtualCuda.call``."""

        def __torch_function__(self, func, types, args=(), kwargs=None):
            return virtual.call(func, args, kwargs or {})

    return VirtualCudaMode


# ---- functions that are more than marking -----------------------------------


def _pass(v, func, args, kwargs):
    return func(*args, **kwargs)


def _get_device_property(v, func, args, kwargs):
    return v.device if v.on_device(args[0]) else func(*args)


def _get_is_cuda(v, func, args, kwargs):
    return v.on_device(args[0])


def _get_is_cpu(v, func, args, kwargs):
    return not v.on_device(args[0])


def _get_device(v, func, args, kwargs):
    return 0 if v.on_device(args[0]) else -1


def _move(v, tensor, cuda, result):
    """result: tensor after a move that may have copied nothing."""
    if v.on_device(tensor) == cuda and result is tensor:
        return result
    if result is tensor:
        result = tensor.clone()
    return v.mark(result, cuda)


def _cuda(v, func, args, kwargs):
    tensor = args[0]
    device = args[1] if len(args) > 1 else kwargs.get("device")
    if device is not None:
        check_device(device)
    form = kwargs.get("memory_format")
    result = tensor if form is None else tensor.contiguous(memory_format=form)
    return _move(v, tensor, True, result)


def _cpu(v, func, args, kwargs):
    return _move(v, args[0], False, func(*args, **kwargs))


def _to(v, func, args, kwargs):
    """Tensor.to in its forms: device, dtype, device and dtype, tensor."""
    tensor, rest = args[0], list(args[1:])
    cuda, kwargs = v.without_device(kwargs)
    if rest:
        first = rest[0]
        if isinstance(first, v.torch.Tensor):
            cuda = v.on_device(first)
        elif isinstance(first, (str, int, v.torch.device)) and not isinstance(
                first, bool):
            cuda = is_cuda_device(first)
            if cuda:
                check_device(first)
                rest[0] = v.cpu
    result = func(tensor, *rest, **kwargs)
    if cuda is None:
        if result is not tensor:
            v.mark_new(result, v.on_device(tensor))
        return result
    return _move(v, tensor, cuda, result)


def _type(v, func, args, kwargs):
    """Tensor.type(): its name has ``cuda.`` in it on the device."""
    wanted = args[1] if len(args) > 1 else kwargs.get("dtype")
    if wanted is None:
        name = func(*args, **kwargs)
        return (name.replace("torch.", "torch.cuda.", 1)
                if v.on_device(args[0]) else name)
    if isinstance(wanted, str) and "cuda." in wanted:
        result = func(args[0], wanted.replace("cuda.", "", 1))
        return _move(v, args[0], True, result)
    result = func(*args, **kwargs)
    if result is not args[0]:
        v.mark_new(result, v.on_device(args[0]))
    return result


def _pin_memory(v, func, args, kwargs):
    return args[0]


def _is_pinned(v, func, args, kwargs):
    return False


def _set_data(v, func, args, kwargs):
    """tensor.data = other: the tensor moves where other is."""
    func(*args)
    setattr(args[0], MARK, v.on_device(args[1]))
    v.fresh.forget(args[1])


def _touch(v, func, args, kwargs):
    """Hands out memory that may be written behind PyTorch's back."""
    v.fresh.forget(args[0])
    result = func(*args, **kwargs)
    if isinstance(result, v.torch.Tensor):
        v.mark_new(result, v.on_device(args[0]))
    return result


def _numpy(v, func, args, kwargs):
    v.fresh.forget(args[0])
    return func(*args, **kwargs)


def _fill(v, func, args, kwargs):
    """Methods that write every element of their tensor."""
    def write():
        return v.plain(func, args, kwargs)
    return v.fresh.writes(args[0], write, lambda: args[0])


def _set_item(v, func, args, kwargs):
    """t[index] = value"""
    def write():
        return v.plain(func, args, kwargs)
    if not fresh_.is_basic(args[1]):
        return write()
    return v.fresh.writes(args[0], write, lambda: args[0][args[1]])


def _repr(v, func, args, kwargs):
    """Printing with the mode on shows device='cuda:0'."""
    from torch import _tensor_str
    with v.mode_class():
        return _tensor_str._str(*args, **kwargs)


def _format(v, func, args, kwargs):
    """f"{tensor}": a block prints as repr does."""
    if args[0].dim() == 0:
        return func(*args, **kwargs)
    with v.mode_class():
        return object.__format__(*args)


def _as_tensor(v, func, args, kwargs):
    """as_tensor, asarray: a move to the device copies."""
    explicit, kwargs = v.without_device(kwargs)
    result = func(*args, **kwargs)
    if explicit is None:
        return v.finish(func, result, args, kwargs, None)
    if v.placement(args[:1]) != explicit:
        result = result.clone()
    return v.mark(result, explicit)


def _reduce(v, func, args, kwargs):
    """Pickling: marks stay in the process."""
    marks = args[0].__dict__
    kept = {n: marks.pop(n) for n in (MARK, ) if n in marks}
    try:
        return func(*args, **kwargs)
    finally:
        marks.update(kept)


def _specials(torch):
    t = torch.Tensor
    table = {
        torch.device: _pass,
        t.device.__get__: _get_device_property,
        t.is_cuda.__get__: _get_is_cuda,
        t.is_cpu.__get__: _get_is_cpu,
        t.get_device: _get_device,
        t.cuda: _cuda, t.cpu: _cpu, t.to: _to, t.type: _type,
        t.pin_memory: _pin_memory, t.is_pinned: _is_pinned,
        t.data.__set__: _set_data, t.data.__get__: _touch,
        t.numpy: _numpy, t.__repr__: _repr, t.__format__: _format,
        t.__reduce_ex__: _reduce, torch.as_tensor: _as_tensor,
        torch.asarray: _as_tensor,
    }
    for method in fresh_.filling(torch):
        table[method] = _fill
    table[t.__setitem__] = _set_item
    for name in ("untyped_storage", "storage", "_typed_storage", "__array__",
                 "__dlpack__"):
        if hasattr(t, name):
            table[getattr(t, name)] = _numpy
    # read so often that marking would cost more than they do
    for name in ("shape", "dtype", "requires_grad", "ndim", "is_leaf",
                 "layout", "is_sparse", "is_quantized", "is_meta",
                 "is_nested"):
        if hasattr(t, name):
            table[getattr(t, name).__get__] = _pass
    for name in ("stride", "size", "dim", "numel", "element_size",
                 "is_contiguous", "storage_offset", "is_floating_point",
                 "item", "tolist", "backward", "requires_grad_"):
        table[getattr(t, name)] = _pass
    return table
