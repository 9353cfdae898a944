"""Fake tensors, by which PyTorch traces programs, on the virtual device.

A fake tensor says itself which device it is on: that is its mark.  One of a
marked tensor says that it is on the device, and while a mode of fake tensors is
active, functions of PyTorch do what they always do (virtual.py): its own
propagation keeps devices.

PyTorch's C++ code, which asks for the device's guard then, and for its thread
when it differentiates, must be told the CPU: without CUDA it would end the
process.  So what C++ decides by a device is decided here: whether a tensor
moves.
"""
from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

from .. import torch_private
from .marks import HOST, MARK, is_cuda_device

if TYPE_CHECKING:
    from ..patches import Patches
    from .virtual import VirtualCuda

NUMBER = "_tkdbg_number"  # of a fake tensor: what it holds, and since when


def install(v: VirtualCuda, patches: Patches) -> None:
    module = torch_private.fakes()
    if module is None:
        return
    fake = module.FakeTensor
    patches.set(fake, MARK, _mark(v))
    _tell_c(v, patches, module)
    _keep_numbers(v, patches, module)
    # PyTorch makes no tensor on a device to trace where there is no GPU; it
    # asks torch.cuda.
    patches.set(module.FakeTensorMode, "avoid_device_init",
                property(lambda self: True))
    if hasattr(module, "init_gpu_context"):
        patches.set(module, "init_gpu_context", lambda device: None)
    _move_by_device(v, patches, fake)
    _describe(v, patches)
    _compare(v, patches)
    functional = torch_private.functional_tensor()
    if functional is not None:
        patches.set(functional, "device", property(_device_inside))
        patches.set(functional, MARK, property(_mark_inside, _ignored))
        _move_by_device(v, patches, functional)
        _make_new(v, patches, functional)


def _mark(v):
    """The mark of fake tensors."""
    def where(self):
        device = self.fake_device
        if device.type not in ("cpu", "cuda"):
            raise AttributeError(MARK)
        return HOST if device.type == "cpu" else device.index or 0

    def put(self, where):
        if self.fake_device.type in ("cpu", "cuda"):
            self.fake_device = v.device_at(where)
    return property(where, put)


def _tell_c(v, patches, module):
    """C++ is told the CPU."""
    fake, asked = module.FakeTensor, v.torch.ops.prim.device.default
    dispatch = fake.__torch_dispatch__.__func__

    def dispatch_here(cls, func, types, args=(), kwargs=None):
        found = dispatch(cls, func, types, args, kwargs)
        return told(found) if func is asked else found

    def told(found):
        return v.cpu if found.type == "cuda" else found

    patches.set(fake, "__torch_dispatch__", classmethod(dispatch_here))
    handlers = torch_private.fake_answers(module)
    answer = handlers.get(asked)
    if answer is not None:
        patches.set(module, torch_private.FAKE_ANSWERS, {
            **handlers, asked: lambda args: told(answer(args))})


def _keep_numbers(v, patches, module):
    """A number of the program's is still known to the tracer when it was moved
    to the device, as it is where there is a GPU: ``torch.tensor(2, device=
    "cuda").item()`` is 2, unless somebody has written there."""
    copy = torch_private.copy_operator()
    ask = torch_private.number_operator()
    mode, fake = module.FakeTensorMode, module.FakeTensor
    dispatch = mode.dispatch

    def dispatch_here(self, func, types, args=(), kwargs=None):
        if func is ask and isinstance(args[0], fake):
            known = getattr(args[0], NUMBER, None)
            if known is not None and known[1] == torch_private.version(
                    args[0]):
                return known[0]
        found = dispatch(self, func, types, args, kwargs)
        if func is copy and isinstance(found, fake):
            remember(found, getattr(args[0], "constant", None))
        return found

    def remember(found, constant):
        written = torch_private.version(found)
        if constant is None or found.constant is not None or (
                written is None or constant.numel() != 1):
            return
        with torch_private.undispatched():
            number = constant.to(found.dtype).item()
        setattr(found, NUMBER, (number, written))
    patches.set(mode, "dispatch", dispatch_here)


def _describe(v, patches):
    """Fake tensors are made of a description: it tells where a tensor is."""
    describer = torch_private.describer()
    if describer is None:
        return
    describe = describer.describe_tensor

    def describe_here(self, tensor, *args, **kwargs):
        found = describe(self, tensor, *args, **kwargs)
        if found.device.type != "cpu" or torch_private.is_fake(tensor):
            return found
        # The tracer itself makes numbers of constants, without the mode; it
        # asks where they are to know whether it may look at them.
        if not tensor.dim() and v.mark_of(tensor) is None:
            v.mark(tensor, HOST)
        where = v.place(tensor)
        return found if where is None or where < 0 else dataclasses.replace(
            found, device=v.device_at(where))
    patches.set(describer, "describe_tensor", describe_here)


def _compare(v, patches):
    """torch.library.opcheck compares fake tensors with real ones, which say
    where they are to those that the mode watches."""
    compared = torch_private.compared_mode()
    if compared is None:
        return
    dispatch = compared.__torch_dispatch__

    def dispatch_here(self, *args, **kwargs):
        with v.on():
            return dispatch(self, *args, **kwargs)
    patches.set(compared, "__torch_dispatch__", dispatch_here)


def _make_new(v, patches, functional):
    """Tensors that C++ makes or moves for a gradient are where it was told
    that another one is: on the CPU.  The program's own new_zeros(device="cpu")
    is a call of torch.zeros instead."""
    aten = v.torch.ops.aten
    operators = {aten.new_zeros.default, aten.new_ones.default,
                 aten.new_empty.default, aten.new_full.default,
                 aten.new_empty_strided.default}
    copy = torch_private.copy_operator()
    mode = torch_private.functional_mode()
    dispatch = mode.__torch_dispatch__
    seen: dict[Any, Any] = {}  # the formula that runs: where its last tensor is

    def dispatch_here(self, func, types, args=(), kwargs=None):
        node = torch_private.formula()
        given = bool(args) and isinstance(args[0], functional)
        if kwargs and is_cpu(kwargs):
            where = meant(func, args, given, node)
            if where is not None:
                kwargs = {**kwargs, "device": where}
        elif node is not None and given:
            seen.clear()
            seen[torch_private.number_of(node)] = args[0].device
        return dispatch(self, func, types, args, kwargs)
    patches.set(mode, "__torch_dispatch__", dispatch_here)

    def meant(func, args, given, node):
        """Where C++ means to put what it makes; None: where it says."""
        if given and func in operators:
            return args[0].device
        if node is None:
            return None
        if not given:
            return seen.get(torch_private.number_of(node))
        moved = node.metadata.get(MARK) if func is copy else None
        return args[0].device if moved is None else moved

    def is_cpu(kwargs):
        device = kwargs.get("device")
        return device is not None and v.torch.device(device).type == "cpu"

    def method(name):
        inside = getattr(v.tensor, f"new_{name}")

        def new(self, *args, **kwargs):
            if not is_cpu(kwargs) or self.device.type == "cpu":
                return inside(self, *args, **kwargs)
            return getattr(v.torch, name)(
                *args, **{"dtype": self.dtype, **kwargs})
        return new
    for name in "zeros", "ones", "empty", "full", "empty_strided":
        patches.set(functional, f"new_{name}", method(name))


def _device_inside(self):
    """Where a tensor by which writes are traced is: where the one inside it
    is, which it has not got while it is made."""
    inside = torch_private.inside(self)
    return (torch_private.device_by_c(self) if inside is None
            else inside.device)


def _mark_inside(self):
    """... and its mark, which nobody sets."""
    inside = torch_private.inside(self)
    if inside is None:
        raise AttributeError(MARK)
    return getattr(inside, MARK)


def _ignored(self, where):
    pass


def _move_by_device(v, patches, cls):
    """Methods that move a tensor of a class, or give the tensor itself."""
    copy = torch_private.copy_operator()
    parse = torch_private.parser()[1]

    def to(self, *args, **kwargs):
        again = kwargs.pop("copy", False)
        if args and isinstance(args[0], v.tensor):
            args = args[0].device, args[0].dtype, *args[1:]
        device, dtype, at_once, form = parse(*args, **kwargs)
        if is_cuda_device(device):
            device = v.device_at(v.index_of(device))
        if device is not None and device != self.device:
            moved = copy(self, device=device, dtype=dtype, memory_format=form,
                         non_blocking=at_once)
            if moved.grad_fn is not None:
                moves_back(moved.grad_fn, self.device)
            return moved
        if dtype is None and form is None and not again:
            return self
        asked: dict[str, Any] = {"dtype": dtype or self.dtype, "copy": again}
        if form is not None:
            asked["memory_format"] = form
        return v.tensor.to(self, **asked)

    def moves_back(node, device):
        """The gradient of what was moved goes where that was: C++ moves none
        between places that are the CPU to it."""
        node.metadata[MARK] = device
        node.register_hook(lambda found, _: tuple(
            g if g is None or g.device == device else copy(g, device=device)
            for g in found))

    def cuda(self, device=None, non_blocking=False, **kwargs):
        return to(self, v.device_at(v.index_of(device)),
                  non_blocking=non_blocking, **kwargs)

    def cpu(self, **kwargs):
        return to(self, v.cpu, **kwargs)

    def type_as(self, other):
        return to(self, other)
    for method in to, cuda, cpu, type_as:
        patches.set(cls, method.__name__, method)
