"""Implementations that libraries register for CUDA run.

A tensor of the virtual device has the dispatch keys of a CPU tensor, so a
kernel under the key CUDA would never be called.  It is registered under the
key between autograd and the backends instead, and is called there for
tensors on the device; for others the dispatcher goes on.
"""
from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from .. import torch_private
from .autocast import KEY as _AUTOCAST
from .marks import HOST, MARK, tensors_of

if TYPE_CHECKING:
    from ..patches import Patches
    from .virtual import VirtualCuda

_KEY = "BackendSelect"


class Libraries:
    """torch.library.Library.impl with the keys of CUDA."""

    def __init__(self, virtual: VirtualCuda) -> None:
        self.virtual = virtual
        self.torch = virtual.torch
        self._impl = virtual.torch.library.Library.impl

    def own(self, library: Any, op: Any, fn: Callable[..., Any], key: str,
            **options: Any) -> None:
        """Registers a kernel of tkdbg's, unless the program has one for the
        operator, which stays.  PyTorch before 2.13 refuses a second kernel
        of one operator under one key; ours are not what it means."""
        known = torch_private.known_kernels()
        name = op if isinstance(op, str) else op.name().rpartition("::")[2]
        if f"{library.ns}/{name}/{key}" in known:
            return
        self._impl(library, op, fn, key, **options)
        known.difference_update(torch_private.own_kernels(library))

    def install(self, patches: Patches) -> None:
        library = self.torch.library.Library
        impl, libraries = self._impl, self

        def impl_here(self, op_name, fn, dispatch_key="", **options):
            key = dispatch_key or self.dispatch_key
            if key == "AutogradCUDA":
                return impl(self, op_name, fn, "AutogradCPU", **options)
            if key == "AutocastCUDA":
                libraries.virtual.autocast.prepare()
                return impl(self, op_name, libraries.autocast(fn), _AUTOCAST,
                            **options)
            if key == "Meta" or fn is libraries.torch.library.\
                    fallthrough_kernel:
                return impl(self, op_name, fn, dispatch_key, **options)
            if key == "CPU" and self.ns != "aten":
                return impl(self, op_name, libraries.of_host(
                    self, op_name, libraries.with_mode(fn),
                    options.get("with_keyset")), dispatch_key, **options)
            if key != "CUDA":
                return impl(self, op_name, libraries.with_mode(fn),
                            dispatch_key, **options)
            libraries.note_cudas(self, op_name, options)
            with_keys = options.pop("with_keyset", False)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # halves.py may have set one
                return impl(self, op_name, libraries.kernel(
                    self, op_name, fn, with_keys), _KEY, with_keyset=True,
                    **options)

        patches.set(library, "impl", impl_here)

    def note_cudas(self, library: Any, op_name: str,
                   options: dict[Any, Any]) -> None:
        """Notes a kernel under the key CUDA; raises or warns as PyTorch does
        where there is one."""
        name = op_name if isinstance(op_name, str) else op_name.name()
        name = name.rpartition("::")[2]
        key = f"{library.ns}/{name}/CUDA"
        known = torch_private.known_kernels()
        by_default = (self._impl.__kwdefaults__ or {}).get("allow_override")
        if key in known:
            if not options.get("allow_override", by_default):
                raise RuntimeError(
                    "This is not allowed since there's already a kernel "
                    f"registered from python overriding {name}'s behavior for "
                    f"CUDA dispatch key and {library.ns} namespace.")
            warnings.warn(
                "Overriding a previously registered kernel for the same "
                f"operator and the same dispatch key\n  operator: "
                f"{library.ns}::{name}\n  dispatch key: CUDA", stacklevel=3)
        known.add(key)
        torch_private.own_kernels(library).add(key)

    def uninstall(self) -> None:
        """Nothing: registrations end with their libraries."""

    def kernel(self, library: Any, op_name: str, fn: Callable[..., Any],
               with_keys: bool) -> Callable[..., Any]:
        """The kernel that calls fn for tensors on the device."""
        virtual, below = self.virtual, torch_private.keys_below(_KEY)
        named = _Named(self.torch, library.ns, op_name)

        def kernel(keys, *args, **kwargs):
            where = max((virtual.place(t) for t in tensors_of(
                (args, kwargs), virtual.tensor)), default=HOST)
            if where >= 0:
                if kwargs.get("device") == self.torch.device("cpu"):
                    # PyTorch's own code means where its operands are.
                    kwargs["device"] = virtual.device_at(where)
                with virtual.on():
                    return fn(keys, *args, **kwargs) if with_keys else fn(
                        *args, **kwargs)
            args = self._with_tensors(named.op(), args)
            return named.op().redispatch(keys & below, *args, **kwargs)
        return kernel

    def _with_tensors(self, op, args):
        """The arguments with a tensor for each number that stands where the
        schema has one: such a number came as a tensor of its own kind, which
        takes part in promotion as a number does."""
        torch, found = self.torch, list(args)
        tensors = tensors_of(args, torch.Tensor)
        for i, (value, argument) in enumerate(zip(
                args, torch_private.schema(op).arguments)):
            if isinstance(value, (bool, int, float, complex)) and str(
                    argument.type) == "Tensor":
                found[i] = torch.tensor(value, dtype=_dtype_of(
                    torch, value, tensors))
        return found

    def of_host(self, library: Any, op_name: str, fn: Callable[..., Any],
                with_keys: Any) -> Callable[..., Any]:
        """A library's kernel for the CPU, which no tensor on the device
        reaches: its dispatch keys are the CPU's, but not its kernels."""
        virtual = self.virtual
        named = _Named(self.torch, library.ns, op_name)

        def kernel(*args, **kwargs):
            if not virtual.strict or not any(
                    getattr(t, MARK, HOST) >= 0
                    for t in tensors_of((args, kwargs), virtual.tensor)):
                return fn(*args, **kwargs)
            op = named.op()
            key = torch_private.composite_key(torch_private.schema(op))
            if key is None:
                raise NotImplementedError(
                    f"Could not run '{op.name()}' with arguments from the "
                    "'CUDA' backend: it has a kernel for the CPU, and none "
                    "for CUDA")
            return torch_private.call_under(
                op, key, args[bool(with_keys):], kwargs)
        return kernel

    def with_mode(self, fn: Callable[..., Any]) -> Callable[..., Any]:
        """fn, which the dispatcher calls, as code of the program."""
        def kernel(*args, **kwargs):
            with self.virtual.on():
                return fn(*args, **kwargs)
        return kernel

    def autocast(self, fn: Any) -> Any:
        """fn without the key that calls it."""
        def kernel(*args, **kwargs):
            with self.virtual.autocast.without(), self.virtual.on():
                return fn(*args, **kwargs)
        return kernel


def _dtype_of(torch, number, tensors):
    """A dtype for a tensor of no dimensions in a number's place."""
    if not tensors:
        return None
    if not tensors[0].dim():
        return torch.result_type(tensors[0], number)
    exact = isinstance(number, float) and tensors[0].is_floating_point()
    return torch.float64 if exact else None


class _Named:
    """An operator by the name that a library gave, found when it is used."""

    def __init__(self, torch, namespace, name):
        self._torch, self._op = torch, None
        if not isinstance(name, str):
            self._op = name
            return
        space, _, rest = name.rpartition("::")
        self._path = (space or namespace, *rest.partition(".")[::2])

    def op(self):
        if self._op is None:
            space, name, overload = self._path
            packet = getattr(getattr(self._torch.ops, space), name)
            self._op = getattr(packet, overload or "default")
        return self._op
