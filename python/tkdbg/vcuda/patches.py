"""What names a device and is not told to the virtual device's mode."""
from __future__ import annotations

import os
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING, Any

from .. import device as device_, torch_private
from ..requests import COMPILED
from . import api
from .marks import HOST, MARK, MIXED, is_cuda_device, tensors_of, \
    text_of

if TYPE_CHECKING:
    from ..patches import Patches
    from .virtual import VirtualCuda


def patch(virtual: VirtualCuda, patches: Patches) -> None:
    """Replaces what the mode cannot see."""
    torch = virtual.torch
    torch_private.set_natives(patches, api.natives(virtual))
    for name, function in api.cuda_functions(virtual).items():
        _set_everywhere(torch, patches, name, function)
    for name, function in api.nvtx_functions().items():
        patches.set(torch.cuda.nvtx, name, function)
    if torch.version.cuda is None:  # else libraries compare it with theirs
        patches.set(torch.version, "cuda", device_.CUDA_VERSION)
    _patch_accelerator(virtual, patches)
    _patch_constructors(virtual, patches)
    _patch_defaults(virtual, patches)
    _patch_generator(virtual, patches)
    _patch_numbers(virtual, patches)
    _patch_streams(virtual, patches)
    _patch_load(virtual, patches)
    _patch_backward(virtual, patches)
    _patch_functions(virtual, patches)
    _patch_wrapping(virtual, patches)
    _patch_saved(virtual, patches)
    _patch_hooks(virtual, patches)
    _patch_groups(virtual, patches)
    _patch_compile(virtual, patches)
    _patch_parallel(virtual, patches)
    _patch_tensor_types(virtual, patches)
    _patch_guards(virtual, patches)
    _patch_cudnn(virtual, patches)
    _patch_probes(virtual, patches)


def _set_everywhere(torch, patches, name, function):
    """Replaces a name of torch.cuda there and in the module that it comes
    from, such as torch.cuda.random."""
    before = getattr(torch.cuda, name, None)
    function = api.unlike_others(function)
    patches.set(torch.cuda, name, function)
    for path, module in list(sys.modules.items()):
        if path.startswith("torch.cuda.") and before is not None and (
                vars(module).get(name) is before):
            patches.set(module, name, function)


def _patch_defaults(virtual, patches):
    torch = virtual.torch
    set_device: Any = getattr(torch, "set_default_device", None)

    def set_default_device(device):
        virtual.put_by_default(virtual.place_of(device))
        if virtual.default == HOST:
            set_device(device)

    def get_default_device():
        where = virtual.default
        return before() if where == HOST else virtual.device_at(where)

    if set_device is not None:
        patches.set(torch, "set_default_device", set_default_device)
    before: Any = getattr(torch, "get_default_device", None)
    if before is not None:
        patches.set(torch, "get_default_device", get_default_device)


def _patch_accelerator(virtual, patches):
    module = getattr(virtual.torch, "accelerator", None)
    for name, value in api.accelerator_functions(virtual).items():
        if hasattr(module, name):
            patches.set(module, name, api.unlike_others(value))


def _on_host(virtual):
    """A function that makes of a function one whose results are on the
    CPU."""
    return lambda function: lambda *args, **kwargs: virtual.mark(
        function(*args, **kwargs), HOST)


def _patch_constructors(virtual, patches):
    """Ways to a tensor that the mode is not told about."""
    torch, parameter = virtual.torch, virtual.torch.nn.Parameter
    new = parameter.__new__

    def new_parameter(cls, data=None, requires_grad=True):
        result = new(cls, data, requires_grad)
        where = HOST if data is None else virtual.mark_of(data)
        if where is not None:
            virtual.mark(result, where)
        return result

    def init(self, data=None, *args, **kwargs):
        """torch.Tensor(data), as it was written before torch.tensor."""
        if type(self) is torch.Tensor and virtual.mark_of(self) is None:
            where = (virtual.mark_of(data) if isinstance(data, torch.Tensor)
                     else virtual.default)
            if where is not None:
                virtual.mark(self, where)

    on_host = _on_host(virtual)
    for name in ("from_numpy", "frombuffer", "from_file"):
        if hasattr(torch, name):
            patches.set(torch, name, on_host(getattr(torch, name)))
    patches.set(torch.Tensor, "__init__", init)
    patches.set(parameter, "__new__", staticmethod(new_parameter))


def generator_class(virtual: VirtualCuda) -> Any:
    """The class of generators for tensors of a virtual device."""
    torch = virtual.torch
    real: Any = torch.Generator

    class OfDevice(real):
        """A generator for tensors of the virtual device."""
        device = torch.device("cuda")
        _offset = 0

        def manual_seed(self, seed):
            self._offset = 0
            return super().manual_seed(seed)

        def get_offset(self):
            return self._offset

        def set_offset(self, offset):
            if offset % 4:
                raise RuntimeError("offset must be a multiple of 4")
            self._offset = int(offset)

        def clone_state(self):
            clone = OfDevice()
            clone.device, clone._offset = self.device, self._offset
            return clone.set_state(self.get_state())

    return OfDevice


def _patch_generator(virtual, patches):
    """torch.Generator(device='cuda') draws the numbers of a CPU generator,
    and says that it is of the device."""
    torch, of_device = virtual.torch, virtual.generator_class
    real = torch.Generator

    class Meta(type):
        def __instancecheck__(cls, value):
            return isinstance(value, real)

    class Generator(metaclass=Meta):
        def __new__(cls, device="cpu"):
            if not is_cuda_device(device):
                return real(device=device)
            generator = of_device()
            virtual.index_of(device)
            generator.device = torch.device(device)
            return generator

    patches.set(torch, "Generator", Generator)


def _patch_numbers(virtual, patches):
    """Module.to(0): the parser of its arguments asks for an accelerator.
    What it says of a device is the program's, no place for memory."""
    owner, parse = torch_private.parser()

    def parse_to(*args, **kwargs):
        if args and isinstance(args[0], int):
            args = (f"cuda:{args[0]}", *args[1:])
        if isinstance(kwargs.get("device"), int):
            kwargs["device"] = f"cuda:{kwargs['device']}"
        with torch_private.unseen():
            return parse(*args, **kwargs)

    patches.set(owner, torch_private.PARSE_TO, parse_to)


def _patch_streams(virtual, patches):
    """torch.Stream and torch.Event, which ask the device's own module."""
    torch, streams = virtual.torch, virtual.streams
    for name, ours in ("Stream", streams.Stream), ("Event", streams.Event):
        real = getattr(torch, name, None)
        if isinstance(real, type):
            patches.set(torch, name, _of_any_device(real, ours))
    patches.set(torch.Tensor, "record_stream", lambda tensor, stream: None)


def _of_any_device(real, ours):
    class Meta(type):
        def __instancecheck__(cls, value):
            return isinstance(value, (real, ours))

    class OfAnyDevice(metaclass=Meta):
        def __new__(cls, device=None, *args, **kwargs):
            if device is not None and not is_cuda_device(device):
                return real(device, *args, **kwargs)
            if device is not None and ours.__name__ == "Stream":
                kwargs["device"] = device
            return ours(*args, **kwargs)

    OfAnyDevice.__name__ = real.__name__
    return OfAnyDevice


def _patch_load(virtual, patches):
    """Keeps PyTorch from asking for a driver when map_location is 'cuda'."""
    torch, load = virtual.torch, virtual.torch.load

    def load_here(f, map_location=None, *args, **kwargs):
        if isinstance(map_location, int):
            map_location = f"cuda:{map_location}"
        return load(f, map_location, *args, **kwargs)

    patches.set(torch, "load", load_here)


def _patch_backward(virtual, patches):
    """User code in backward() runs with the mode on; no frame of ours is
    compiled there, where a compiled autograd calls them."""
    import torch.autograd as autograd
    run = torch_private.engine()
    if run is None:
        return

    def run_with_mode(outputs, gradients, *args, **kwargs):
        for i, (output, gradient) in enumerate(zip(outputs, gradients)):
            where = virtual.mark_of(output)
            _check_gradient(virtual, "", i, where, gradient)
            if where is not None:  # a gradient that PyTorch made itself
                virtual.mark_new(gradient, where)
        with (virtual.on(), virtual.operators.caring(),
              torch_private.uncompiled()):
            return run(outputs, gradients, *args, **kwargs)

    patches.set(autograd, torch_private.ENGINE, run_with_mode)


def _check_gradient(virtual, function, index, where, gradient):
    """Raises CUDA's error for a gradient that is elsewhere than its tensor."""
    here = getattr(gradient, MARK, None)
    if here is not None and where is not None and here != where and (
            virtual.strict and gradient.dim()):
        raise RuntimeError(
            f"{function}invalid gradient at index {index} - expected device "
            f"{text_of(where)} but got {text_of(here)}")


def _patch_functions(virtual, patches):
    """A custom function's backward() gets gradients that have no mark: each
    is where the result of forward() that it belongs to was."""
    from torch.autograd import function
    forward = torch_private.apply_of(function.Function)

    def apply(cls, *args, **kwargs):
        result = forward(cls, *args, **kwargs)
        where = virtual.where((*args, *kwargs.values()))
        if where is not None and where is not MIXED:
            virtual.mark_new(result, where)
        with torch_private.unseen():
            for t in tensors_of(result, virtual.tensor):
                if isinstance(t.grad_fn, function.BackwardCFunction):
                    places = vars(t.grad_fn).setdefault(MARK, {})
                    places[t.output_nr] = virtual.mark_of(t)
                    places["inputs"] = [getattr(a, MARK, None) for a in args]
        return result

    def marking(backward):
        def mark_and_run(node, *given):
            boxed = len(given) == 1 and isinstance(given[0], list)
            places = vars(node).get(MARK, {})
            for i, gradient in enumerate(given[0] if boxed else given):
                if places.get(i) is not None:
                    virtual.mark_new(gradient, places[i])
            found = backward(node, *given)
            gradients = found if isinstance(found, tuple) else (found,)
            for i, (where, gradient) in enumerate(zip(
                    places.get("inputs", ()), gradients)):
                _check_gradient(
                    virtual, f"Function {type(node).__name__} returned an ",
                    i, where, gradient)
            return found
        return mark_and_run

    patches.set(function.Function, "apply", classmethod(apply))
    for name in "apply", "apply_boxed":
        backward = vars(function.BackwardCFunction).get(name)
        if backward is not None:
            patches.set(function.BackwardCFunction, name, marking(backward))


def _patch_wrapping(virtual, patches):
    """What torch.func unwraps is where its wrapper was."""
    for module, name in torch_private.unwrapping():
        patches.set(module, name, _unwrapping(virtual, getattr(module, name)))


def _unwrapping(virtual, function):
    compiling = virtual.torch.compiler.is_compiling

    def unwrap(tensor, *args):
        if compiling():  # the tracer looks into nothing of ours
            return function(tensor, *args)
        result, where = function(tensor, *args), virtual.mark_of(tensor)
        if where is not None:
            virtual.mark_new(result, where)
        return result
    return unwrap


def _patch_saved(virtual, patches):
    """A custom function's backward() may get new objects for the tensors that
    forward() saved (for its own results, always): each is where it was."""
    from torch.autograd import function
    save = function.FunctionCtx.save_for_backward
    node = function.BackwardCFunction
    read = node.saved_tensors.__get__

    def save_for_backward(ctx, *tensors):
        ctx._tkdbg_saved = [virtual.mark_of(t) for t in tensors]
        return save(ctx, *tensors)

    def saved_tensors(ctx):
        tensors = read(ctx)
        for t, where in zip(tensors, getattr(ctx, "_tkdbg_saved", ())):
            if where is not None:
                virtual.mark_new(t, where)
        return tensors

    patches.set(function.FunctionCtx, "save_for_backward", save_for_backward)
    patches.set(node, "saved_tensors", property(saved_tensors))


def _patch_hooks(virtual, patches):
    """What packs the tensors that autograd saves (torch.utils.checkpoint,
    save_on_cpu) is called by C++ code, and gets objects without a mark."""
    hooks = virtual.torch.autograd.graph.saved_tensors_hooks
    init = hooks.__init__

    def init_here(self, pack_hook, unpack_hook):
        def pack(tensor):
            where = virtual.last
            with virtual.on():
                if where is not None and where is not MIXED:
                    virtual.mark_new(tensor, where)
                packed = pack_hook(tensor)
            virtual.note_place(where)
            return packed

        def unpack(packed):
            with virtual.on():
                return unpack_hook(packed)
        init(self, pack, unpack)

    patches.set(hooks, "__init__", init_here)


def _patch_groups(virtual, patches):
    """Optimisers and clip_grad_norm_ group tensors by device in C++ code."""
    owner, group = torch_private.grouping()

    def group_here(lists, with_indices=False):
        found = {}
        for (device, dtype), (parts, order) in group(
                lists, with_indices).items():
            places = [virtual.place(t) for t in parts[0]]
            for where in dict.fromkeys(places):
                chosen = [i for i, at in enumerate(places) if at == where]
                key = (virtual.device_at(where) if device.type == "cpu"
                       else device), dtype
                found[key] = [[part[i] for i in chosen] if part else part
                              for part in parts], [order[i] for i in chosen
                                                   if i < len(order)]
        return found

    if group is not None:
        patches.set(owner, torch_private.GROUPS, group_here)


def _patch_compile(virtual, patches):
    """torch.compile gives the function itself, which computes the same, if
    the program is not run to see what PyTorch's compiler writes."""
    torch = virtual.torch

    def compile_nothing(model=None, **options):
        virtual.session.requests.note(COMPILED)
        return model if model is not None else lambda function: function

    if hasattr(torch, "compile") and virtual.compiles == "eager":
        patches.set(torch, "compile", compile_nothing)
        patches.set(torch.nn.Module, "compile", lambda self, *a, **k: None)


def _patch_parallel(virtual, patches):
    """DataParallel runs its module: scripts are told of one device."""
    patches.set(virtual.torch.nn.DataParallel, "forward",
                lambda self, *inputs, **kwargs: self.module(*inputs, **kwargs))


def _patch_tensor_types(virtual, patches):
    """torch.cuda.FloatTensor and the like, from before ``device=``."""
    torch = virtual.torch
    set_type = torch.set_default_tensor_type

    def maker(cpu_type):
        return lambda *args, **kwargs: virtual.mark(
            cpu_type(*args, **kwargs), virtual.streams.device)

    makers = {}
    for kind in ("Float", "Double", "Half", "BFloat16", "Char", "Byte",
                 "Short", "Int", "Long", "Bool"):
        name = f"{kind}Tensor"
        makers[name] = maker(getattr(torch, name))
        patches.set(torch.cuda, name, makers[name])

    def set_default_tensor_type(wanted):
        for name, function in makers.items():
            if wanted is function or wanted == f"torch.cuda.{name}":
                virtual.put_by_default(virtual.streams.device)
                return set_type(getattr(torch, name))
        virtual.put_by_default(HOST)
        return set_type(wanted)

    patches.set(torch, "set_default_tensor_type", set_default_tensor_type)


def _patch_guards(virtual, patches):
    """What code that PyTorch's compiler wrote allocates with."""
    torch = virtual.torch

    def on_device(before):
        return lambda size, stride, dtype: torch.empty_strided(
            size, stride, dtype=dtype, device="cuda")

    on_host = _on_host(virtual)

    def of_another(before):
        def part(tensor, *args):
            result = before(tensor, *args)
            if getattr(tensor, MARK, None) is not None:
                setattr(result, MARK, getattr(tensor, MARK))
            return result
        return part

    torch_private.set_allocators(patches, {
        "empty_strided_cuda": on_device, "empty_strided_cpu": on_host,
        "empty_strided_cpu_pinned": on_host, "reinterpret_tensor": of_another})


def _patch_cudnn(virtual, patches):
    """torch.nn.LSTM asks whether cuDNN takes its weights: a PyTorch without
    it warns of that, for each that comes to the device."""
    cudnn = virtual.torch.backends.cudnn

    def is_acceptable(tensor):
        return bool(cudnn.enabled and tensor.is_cuda and
                    tensor.dtype in cudnn.CUDNN_TENSOR_DTYPES)

    if not cudnn.is_available():
        patches.set(cudnn, "is_acceptable", is_acceptable)


def _patch_probes(virtual, patches):
    """nvidia-smi and the like are not there: a hint says where to ask."""
    start, system = subprocess.Popen.__init__, os.system
    told: list[str] = []

    def missing(command):
        probe = device_.probe_in(command)
        return None if probe is None or shutil.which(probe) else probe

    def tell(probe):
        if not told and not virtual.session.options.is_quiet():
            told.append(probe)
            sys.stderr.write(f"tkdbg: {probe} is not available: "
                             f"{device_.HINT}\n")

    def start_with_hint(self, args, *rest, **options):
        probe = missing(args)
        if probe is None:
            return start(self, args, *rest, **options)
        if options.get("shell"):
            tell(probe)
        try:
            return start(self, args, *rest, **options)
        except FileNotFoundError as e:
            e.strerror = f"{e.strerror} (tkdbg: {device_.HINT})"
            raise

    def system_with_hint(command):
        probe = missing(command)
        if probe is not None:
            tell(probe)
        return system(command)

    patches.set(os, "system", system_with_hint)
    patches.set(subprocess.Popen, "__init__", start_with_hint)
