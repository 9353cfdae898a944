"""Fake tensors, by which PyTorch traces programs, on the virtual device.

A fake tensor may say that it is on a GPU, but PyTorch's C++ code, which asks
for the device's guard then, must be told the CPU: without CUDA it would end
the process.
"""
from __future__ import annotations

from typing import TYPE_CHECKING

from .. import torch_private
from .marks import MARK

if TYPE_CHECKING:
    from ..patches import Patches
    from .virtual import VirtualCuda


def install(v: VirtualCuda, patches: Patches) -> None:
    module = torch_private.fakes()
    if module is None:
        return
    torch, fake = v.torch, module.FakeTensor
    device = fake.device

    def shown(self):
        found, where = device.fget(self), getattr(self, MARK, -1)
        return v.device_at(where) if found.type == "cpu" and (
            where >= 0) else found

    asked = torch.ops.prim.device.default
    dispatch = fake.__torch_dispatch__.__func__

    def dispatch_here(cls, func, types, args=(), kwargs=None):
        found = dispatch(cls, func, types, args, kwargs)
        return told(found) if func is asked else found

    def told(found):
        return v.cpu if found.type == "cuda" else found

    handlers = torch_private.fake_answers(module)
    answer = handlers.get(asked)
    if answer is not None:
        patches.set(module, torch_private.FAKE_ANSWERS, {
            **handlers, asked: lambda args: told(answer(args))})
    patches.set(fake, "__torch_dispatch__",
                classmethod(dispatch_here))
    patches.set(fake, "device", property(shown, device.fset))
    if hasattr(module, "init_gpu_context"):
        patches.set(module, "init_gpu_context", lambda device: None)
