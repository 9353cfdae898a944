"""Tensors of the virtual device that are given to other libraries.

They say that they are on the device, by ``__cuda_array_interface__`` and
``__dlpack_device__``, so that NumPy refuses them as it does on a GPU.  What
comes back by ``torch.from_dlpack`` is where its maker says that it is.
"""
from __future__ import annotations

import types
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from .marks import HOST, PINNED

if TYPE_CHECKING:
    from ..patches import Patches
    from .virtual import VirtualCuda

_TYPES = {
    "complex64": "<c8", "complex128": "<c16", "bfloat16": "<V2",
    "float16": "<f2", "float32": "<f4", "float64": "<f8", "uint8": "|u1",
    "int8": "|i1", "uint16": "<u2", "int16": "<i2", "uint32": "<u4",
    "int32": "<i4", "uint64": "<u8", "int64": "<i8", "bool": "|b1"}


def _interface(v, func, args, kwargs):
    """tensor.__cuda_array_interface__"""
    tensor = args[0]
    if not v.on_device(tensor) or tensor.is_sparse:
        return func(*args, **kwargs)  # which raises
    if tensor.requires_grad:
        raise RuntimeError(
            "Can't get __cuda_array_interface__ on Variable that requires "
            "grad. If gradients aren't required, use var.detach() to get "
            "Variable that doesn't require grad.")
    v.fresh.forget(tensor)
    size = tensor.element_size()
    return {
        "typestr": _TYPES[str(tensor.dtype).partition(".")[2]],
        "shape": tuple(tensor.shape),
        "strides": None if tensor.is_contiguous() else tuple(
            stride * size for stride in tensor.stride()),
        "data": (tensor.data_ptr() if tensor.numel() else 0, False),
        "version": 2}


def _device(v, func, args, kwargs):
    """tensor.__dlpack_device__()"""
    from torch.utils.dlpack import DLDeviceType as kinds
    where = v.place(args[0])
    if where >= 0:
        return kinds.kDLCUDA, where
    if getattr(args[0], PINNED, False) and hasattr(kinds, "kDLCUDAHost"):
        return kinds.kDLCUDAHost, 0
    return func(*args, **kwargs)


def _capsule(v, func, args, kwargs):
    """tensor.__dlpack__(stream=...): streams order nothing here."""
    tensor, stream = args[0], kwargs.get("stream")
    v.fresh.forget(tensor)
    if v.on_device(tensor):
        v.graphs.forbid()
        if stream is not None and type(stream) is not int:
            raise TypeError("stream must be ``int`` or ``none``")
        kwargs = {name: value for name, value in kwargs.items()
                  if name not in ("stream", "dl_device")}
    return func(*args, **kwargs)


def functions(torch: types.ModuleType) -> dict[Any, Callable[..., Any]]:
    """{function of PyTorch: what runs it}"""
    found = {}
    for name, run in (("__dlpack_device__", _device),
                      ("__dlpack__", _capsule)):
        if hasattr(torch.Tensor, name):
            found[getattr(torch.Tensor, name)] = run
    found[torch.Tensor.__cuda_array_interface__.__get__] = _interface
    return found


def foreign(v: VirtualCuda, data: Any) -> Any:
    """A tensor on the memory of an object that has CUDA's array interface
    and is not PyTorch's; None: it is something else."""
    if isinstance(data, (v.tensor, int, float, list, tuple)):
        return None
    interface = getattr(data, "__cuda_array_interface__", None)
    if interface is None:
        return None
    import numpy
    holder = types.SimpleNamespace(owner=data, __array_interface__={
        **interface, "version": 3})
    return v.torch.from_numpy(numpy.asarray(holder))


def install(v: VirtualCuda, patches: Patches) -> None:
    torch = v.torch
    before = getattr(torch, "from_dlpack", None)
    if before is None:
        return

    def from_dlpack(ext_tensor, **options):
        device = options.pop("device", None)
        result = before(ext_tensor, **options)
        kind = getattr(ext_tensor, "__dlpack_device__", lambda: None)()
        if kind is not None:
            v.mark(result, kind[1] if int(kind[0]) == 2 else HOST)
        return result if device is None else result.to(device)

    patches.set(torch, "from_dlpack", from_dlpack)
    patches.set(torch.utils.dlpack, "from_dlpack", from_dlpack)
