"""What names a device and is not told to the virtual device's mode."""
from __future__ import annotations

from . import device as device_, vcuda_api
from .vcuda_api import is_cuda_device


def patch(virtual, patches):
    """Replaces what the mode cannot see."""
    torch = virtual.torch
    for name, function in vcuda_api.cuda_functions(virtual).items():
        patches.set(torch.cuda, name, function)
    for name, function in vcuda_api.nvtx_functions().items():
        patches.set(torch.cuda.nvtx, name, function)
    patches.set(torch.version, "cuda", device_.CUDA_VERSION)
    patches.set(torch._C, "_cuda_getCurrentRawStream", lambda index: 0)
    _patch_accelerator(virtual, patches)
    _patch_constructors(virtual, patches)
    _patch_defaults(virtual, patches)
    _patch_generator(virtual, patches)
    _patch_load(virtual, patches)
    _patch_autocast(virtual, patches)
    _patch_backward(virtual, patches)
    _patch_compile(virtual, patches)
    _patch_tensor_types(virtual, patches)
    _patch_guards(virtual, patches)


def _patch_defaults(virtual, patches):
    torch = virtual.torch
    set_device = getattr(torch, "set_default_device", None)

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
    module = getattr(virtual.torch, "accelerator", None)
    for name, value in vcuda_api.accelerator_functions(virtual).items():
        if hasattr(module, name):
            patches.set(module, name, value)


def _patch_constructors(virtual, patches):
    """Two ways to a tensor that the mode is not told about."""
    torch, parameter = virtual.torch, virtual.torch.nn.Parameter
    from_numpy, new = torch.from_numpy, parameter.__new__

    def new_parameter(cls, data=None, requires_grad=True):
        result = new(cls, data, requires_grad)
        if data is not None and virtual.marked(data):
            virtual.mark(result, virtual.on_device(data))
        return result

    patches.set(torch, "from_numpy",
                lambda array: virtual.mark(from_numpy(array), False))
    patches.set(parameter, "__new__", staticmethod(new_parameter))


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


def _patch_compile(virtual, patches):
    """torch.compile gives the function itself: there is no GPU to compile
    for, and the results are the same."""
    torch = virtual.torch

    def compile_nothing(model=None, **options):
        return model if model is not None else lambda function: function

    if hasattr(torch, "compile"):
        patches.set(torch, "compile", compile_nothing)
        patches.set(torch.nn.Module, "compile", lambda self, *a, **k: None)


def _patch_tensor_types(virtual, patches):
    """torch.cuda.FloatTensor and the like, from before ``device=``."""
    torch = virtual.torch
    set_type = torch.set_default_tensor_type

    def maker(cpu_type):
        return lambda *args, **kwargs: virtual.mark(
            cpu_type(*args, **kwargs), True)

    makers = {}
    for kind in ("Float", "Double", "Half", "BFloat16", "Char", "Byte",
                 "Short", "Int", "Long", "Bool"):
        name = f"{kind}Tensor"
        makers[name] = maker(getattr(torch, name))
        patches.set(torch.cuda, name, makers[name])

    def set_default_tensor_type(wanted):
        for name, function in makers.items():
            if wanted is function or wanted == f"torch.cuda.{name}":
                virtual.default_cuda = True
                return set_type(getattr(torch, name))
        virtual.default_cuda = False
        return set_type(wanted)

    patches.set(torch, "set_default_tensor_type", set_default_tensor_type)


def _patch_guards(virtual, patches):
    """What code that PyTorch's compiler wrote allocates with."""
    torch = virtual.torch
    guards = getattr(getattr(torch._C, "_dynamo", None), "guards", None)
    if not hasattr(guards, "_empty_strided_cuda"):
        return

    def empty_strided_cuda(size, stride, dtype):
        return torch.empty_strided(size, stride, dtype=dtype, device="cuda")

    patches.set(guards, "_empty_strided_cuda", empty_strided_cuda)
