"""Classes of the program that hold tensors, on the virtual device.

Such a class says where its tensor is when it makes one
(``Tensor._make_wrapper_subclass(device=...)``), and runs PyTorch's operators
on what it holds in its ``__torch_dispatch__``.  Here its memory is the
CPU's, with a mark, as all tensors' is, and its methods are code of the
program, in which the mode is on.
"""
from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

from .. import torch_private
from .marks import HOST, is_cuda_device

if TYPE_CHECKING:
    from ..patches import Patches
    from .virtual import VirtualCuda

_METHODS = "__torch_dispatch__", "__torch_function__"


class Subclasses:
    """The classes that were seen, of one virtual device."""

    def __init__(self, virtual: VirtualCuda) -> None:
        self.virtual = virtual
        self.torch = virtual.torch
        self._patches: Any = None
        self._seen: set[Any] = set()

    def install(self, patches: Patches) -> None:
        make = torch_private.wrapper_maker()
        if make is None:
            return
        self._patches = patches
        virtual = self.virtual

        def is_device(value):
            return isinstance(value, self.torch.device)

        def make_here(cls, *args, **kwargs):
            device = kwargs.get("device", next(filter(is_device, args), None))
            where: int | None = (virtual.default if device is None
                                 else HOST)
            if is_cuda_device(device):
                where = virtual.index_of(device)
                args = tuple(virtual.cpu if is_device(a) else a
                             for a in args)
                if "device" in kwargs:
                    kwargs["device"] = virtual.cpu
            elif device is not None and not virtual.is_on():
                where = None  # PyTorch's own code read it off a tensor
            if cls not in self._seen:
                self._meet(cls)
            with torch_private.unseen():
                result = make(cls, *args, **kwargs)
                if where is not None and result.device.type == "cpu":
                    virtual.mark(result, where)
            return result

        patches.set(self.torch.Tensor, torch_private.MAKE_WRAPPER,
                    staticmethod(make_here))

    def holds(self, tensor: Any) -> bool:
        """Whether a tensor is of such a class."""
        return type(tensor) in self._seen

    def move(self, tensor: Any, where: int) -> Any:
        """A copy on another device, made by the class itself."""
        return torch_private.copied(
            tensor, device=self.virtual.device_at(where))

    def _meet(self, cls):
        self._seen.add(cls)
        if cls.__module__.partition(".")[0] == "torch":
            return  # PyTorch's own code has the mode off
        for name in _METHODS:
            method = getattr(cls, name, None)
            own = getattr(method, "__func__", None)
            if own is not None and own is not getattr(getattr(
                    self.torch.Tensor, name), "__func__", None):
                self._patches.set(cls, name, self._with_mode(method))

    def _with_mode(self, method):
        function = method.__func__

        @functools.wraps(function)
        def with_mode(cls, *args, **kwargs):
            with self.virtual.on():
                return function(cls, *args, **kwargs)
        return classmethod(with_mode)
