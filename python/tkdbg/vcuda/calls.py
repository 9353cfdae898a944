"""Calls of PyTorch that are more than marking a result.

Each function takes the VirtualCuda, the function that was called, its
arguments and its keywords; ``specials`` is the table.
"""
from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from .. import fresh as fresh_, torch_private
from . import bags, exchange
from .marks import HOST, MARK, MIXED, PINNED, is_cuda_device, name_of, \
    text_of

if TYPE_CHECKING:
    import types


def _pass(v, func, args, kwargs):
    return func(*args, **kwargs)


def _device(v, func, args, kwargs):
    """torch.device: a bare number is the accelerator's."""
    if args and isinstance(args[0], int) and len(args) == 1:
        return v.device_at(v.index_of(args[0]))
    return func(*args, **kwargs)


# ---- where a tensor is ------------------------------------------------------


def _get_device_property(v, func, args, kwargs):
    device = func(*args)
    if device.type != "cpu":
        return device  # such as a meta tensor
    where = v.place(args[0])
    return device if where < 0 else v.device_at(where)


def _get_is_cuda(v, func, args, kwargs):
    return v.place(args[0]) >= 0


def _get_is_cpu(v, func, args, kwargs):
    return v.place(args[0]) < 0 and func(*args)


def _get_device(v, func, args, kwargs):
    return v.place(args[0])


# ---- moves ------------------------------------------------------------------


def _move(v, tensor, where, result):
    """result: tensor after a move that may have copied nothing."""
    if v.place(tensor) == where and result is tensor:
        return result
    if v.place(tensor) != where:
        v.graphs.forbid_copy(tensor)
    if result is tensor:
        if tensor.device.type == "meta":
            raise NotImplementedError("Cannot copy out of meta tensor; no "
                                      "data!")
        result = (v.subclasses.move(tensor, where)
                  if v.subclasses.holds(tensor) else
                  torch_private.copied(tensor))
    return v.mark(result, where)


def _cuda(v, func, args, kwargs):
    tensor = args[0]
    device = args[1] if len(args) > 1 else kwargs.get("device")
    if device is not None and not is_cuda_device(device):
        raise RuntimeError("Invalid device, must be cuda device")
    where = v.index_of(device)
    form = kwargs.get("memory_format")
    result = tensor if form is None else tensor.contiguous(memory_format=form)
    return _move(v, tensor, where, result)


def _cpu(v, func, args, kwargs):
    return _move(v, args[0], HOST, func(*args, **kwargs))


def _to(v, func, args, kwargs):
    """Tensor.to in its forms: device, dtype, device and dtype, tensor."""
    tensor, rest = args[0], list(args[1:])
    where, kwargs = v.without_device(kwargs)
    if rest:
        first = rest[0]
        if isinstance(first, v.torch.Tensor):
            where = v.place(first)
        elif isinstance(first, (str, int, v.torch.device)) and not isinstance(
                first, bool):
            where = v.place_of(first)
            if where >= 0:
                rest[0] = v.cpu
    result = func(tensor, *rest, **kwargs)
    if where is None:
        if result is not tensor:
            v.mark_new(result, v.place(tensor))
        return result
    return _move(v, tensor, where, result)


def _to_copy(v, func, args, kwargs):
    """What Tensor.to becomes, which classes that hold tensors implement."""
    if not v.subclasses.holds(args[0]):
        return v.plain(func, args, kwargs)
    return func(*args, **kwargs)


def _device_put(v, func, args, kwargs):
    """A move as PyTorch's compiler computes one of a constant."""
    return _to(v, v.tensor.to, args[:2], {})


def _type_as(v, func, args, kwargs):
    """tensor.type_as(other): the dtype and the place of other."""
    tensor, other = args
    return _move(v, tensor, v.place(other), func(tensor, other))


def _type(v, func, args, kwargs):
    """Tensor.type(): its name has ``cuda.`` in it on a device."""
    wanted = args[1] if len(args) > 1 else kwargs.get("dtype")
    if wanted is None:
        name = func(*args, **kwargs)
        return (name.replace("torch.", "torch.cuda.", 1)
                if v.on_device(args[0]) else name)
    if isinstance(wanted, str) and "cuda." in wanted:
        result = func(args[0], wanted.replace("cuda.", "", 1))
        return _move(v, args[0], v.streams.device, result)
    result = func(*args, **kwargs)
    if result is not args[0]:
        v.mark_new(result, v.place(args[0]))
    return result


def _pin_memory(v, func, args, kwargs):
    if v.on_device(args[0]):
        name = args[0].type().replace("torch.", "torch.cuda.", 1)
        raise RuntimeError(f"cannot pin '{name}' only dense CPU tensors can "
                           "be pinned")
    if getattr(args[0], PINNED, False):
        return args[0]
    result = v.mark(
        torch_private.pinned(args[0])
        if v.subclasses.holds(args[0]) else args[0].clone(), HOST)
    setattr(result, PINNED, True)
    return result


def _is_pinned(v, func, args, kwargs):
    return getattr(args[0], PINNED, False)


def _as_tensor(v, func, args, kwargs):
    """as_tensor, asarray: a move to another device copies."""
    where, rest = v.without_device(kwargs)
    given = exchange.foreign(v, args[0]) if args else None
    if given is not None:
        args = given, *args[1:]
        v.mark(given, v.streams.device)
    if where is None and args and isinstance(args[0], (list, tuple)):
        return v.mark(func(*args, **rest), v.default)
    if where is None:
        return v.plain(func, args, kwargs)
    result = func(*args, **rest)
    before = v.where(args[:1])
    if before is not None and before != where or before is None and (
            where >= 0):
        v.graphs.forbid_copy(args[0])
        result = result.clone()
    return v.mark(result, where)


def _tensor(v, func, args, kwargs):
    """torch.tensor: its result is new wherever the data came from."""
    where, kwargs = v.without_device(kwargs)
    result = func(*args, **kwargs)
    if where is None:
        data = args[0] if args else kwargs.get("data")
        where = (v.place(data) if isinstance(data, v.torch.Tensor)
                 else v.default)
    if where >= 0 and not (args and isinstance(args[0], v.tensor)):
        v.graphs.forbid_copy()
    return v.mark(result, where)


def _new_tensor(v, func, args, kwargs):
    """tensor.new_tensor(data): where tensor is, wherever the data is."""
    where, kwargs = v.without_device(kwargs)
    return v.mark(func(*args, **kwargs),
                  v.place(args[0]) if where is None else where)


# ---- memory that leaves PyTorch ---------------------------------------------


def _touch(v, func, args, kwargs):
    """Hands out memory that may be written behind PyTorch's back."""
    v.fresh.forget(args[0])
    result = func(*args, **kwargs)
    if isinstance(result, v.torch.Tensor):
        v.mark_new(result, v.place(args[0]))
    elif hasattr(result, "nbytes"):  # a storage
        v.files.note(result, v.mark_of(args[0]))
    return result


def _numpy(v, func, args, kwargs):
    """numpy() and __array__: for tensors on the CPU alone."""
    where = v.place(args[0])
    if where >= 0 and v.strict and not kwargs.get("force"):
        raise TypeError(
            f"can't convert {text_of(where)} device type tensor to numpy. "
            "Use Tensor.cpu() to copy the tensor to host memory first.")
    v.graphs.forbid(args[0])
    v.fresh.forget(args[0])
    return func(*args, **kwargs)


def _read(v, func, args, kwargs):
    """item, tolist: the host waits for the device."""
    v.graphs.forbid(args[0])
    return func(*args, **kwargs)


def _set_data(v, func, args, kwargs):
    """tensor.data = other: the tensor moves where other is."""
    func(*args)
    setattr(args[0], MARK, v.place(args[1]))
    v.fresh.forget(args[1])


def _reduce(v, func, args, kwargs):
    """Pickling: marks stay in the process, the place goes with the
    storage."""
    marks = args[0].__dict__
    kept = {n: marks.pop(n) for n in (MARK, PINNED) if n in marks}
    try:
        v.files.saving(args[0], kept.get(MARK))
        return func(*args, **kwargs)
    finally:
        marks.update(kept)


def _set_grad(v, func, args, kwargs):
    """tensor.grad = gradient"""
    tensor, gradient = args
    if v.strict and isinstance(gradient, v.tensor):
        here, there = v.mark_of(tensor), v.mark_of(gradient)
        if here is not None and there is not None and here != there:
            raise RuntimeError(
                "assigned grad has data located on a different device")
    return func(*args)


def _pack_padded(v, func, args, kwargs):
    """Lengths and batch sizes are on the CPU."""
    lengths = args[1]
    if v.strict and v.on_device(lengths):
        raise RuntimeError(
            "'lengths' argument should be a 1D CPU int64 tensor, but got "
            f"{lengths.dim()}D {text_of(v.place(lengths))} "
            f"{name_of(lengths.dtype)} tensor")
    return _with_sizes(v, func, args, kwargs)


def _with_sizes(v, func, args, kwargs):
    """Data where they were, and lengths or batch sizes on the CPU."""
    data, sizes = func(*args, **kwargs)
    return v.mark(data, v.place(args[0])), v.mark(sizes, HOST)


def _flat_weights(v, func, args, kwargs):
    """What nn.LSTM and its kin do to their weights for cuDNN: one buffer in
    its layout; the weights themselves stay where they are."""
    weights = args[0] if args else kwargs["weight_arr"]
    flat = v.torch.cat([w.detach().reshape(-1) for w in weights])
    return v.mark(flat, v.place(weights[0]))


# ---- writes -----------------------------------------------------------------


def _fill(v, func, args, kwargs):
    """Methods that write every element of their tensor."""
    def write():
        return v.plain(func, args, kwargs)
    return v.fresh.writes(args[0], write, lambda: args[0])


def _copy(v, func, args, kwargs):
    """copy_: from any place to any other."""
    if v.graphs.capturing and len(args) > 1 and v.where(args[:2]) is MIXED:
        v.graphs.forbid_copy(args[v.place(args[0]) >= 0])
    def write():
        return func(*args, **kwargs)
    return v.fresh.writes(args[0], write, lambda: args[0])


def _get_item(v, func, args, kwargs):
    """t[index], whose lists are copied to the device."""
    index = args[1] if isinstance(args[1], tuple) else args[1:]
    if v.graphs.capturing and v.on_device(args[0]) and any(
            isinstance(i, list) or isinstance(i, v.tensor) and i.dim() and
            not v.on_device(i) for i in index):
        v.graphs.forbid_copy()
    return v.plain(func, args, kwargs)


def _is_filled(v, target, index, value):
    """Whether t[index] = number writes the number without a copy of it, which
    would be in pageable memory: into a slice, or by a mask."""
    items = index if isinstance(index, tuple) else (index,)
    chosen = [i for i in items if isinstance(i, list) or
              isinstance(i, v.tensor) and (i.dim() or i.dtype in
                                           v.graphs.masks)]
    dims = value.dim() if isinstance(value, v.tensor) else 0
    if not chosen:
        return not dims and target[index].dim() > 0
    return (len(chosen) == 1 and isinstance(chosen[0], v.tensor) and
            chosen[0].dtype in v.graphs.masks and v.on_device(chosen[0]) and
            (not dims or value.numel() == 1))


def _one_hot(v, func, args, kwargs):
    """one_hot, which looks at the largest class on CUDA only if the number of
    classes is not given."""
    found: dict[str, Any] = dict(zip(("input", "num_classes"), args),
                                 **kwargs)
    classes: Any = found.get("num_classes", -1)
    given: Any = found.get("input")
    if not v.graphs.capturing or classes < 1 or not v.on_device(given):
        return v.plain(func, args, kwargs)
    result = v.torch.zeros(*given.shape, classes, dtype=v.torch.int64)
    return v.mark(result.scatter_(-1, given.unsqueeze(-1), 1), v.place(given))


def _set_item(v, func, args, kwargs):
    """t[index] = value"""
    target, index, value = args
    if (v.graphs.capturing and v.on_device(target) and not (
            isinstance(value, v.tensor) and v.on_device(value)) and
            not _is_filled(v, target, index, value)):
        v.graphs.forbid_copy(value)
    if not fresh_.is_basic(index):
        if (isinstance(value, v.tensor) and value.dtype != target.dtype and
                v.strict and v.on_device(target) and v.on_device(value)):
            raise RuntimeError(
                "Index put requires the source and destination dtypes match, "
                f"got {name_of(target.dtype)} for the destination and "
                f"{name_of(value.dtype)} for the source.")
        if not isinstance(value, v.tensor) and (
                v.where((target, index)) is MIXED):
            # PyTorch 2.15 fills at indices, which must be where target is.
            value = v.mark(v.torch.tensor(value, dtype=target.dtype),
                           v.place(target))
        return v.plain(func, (target, index, value), kwargs)

    def write():
        return func(*args)  # a copy, which may come from anywhere
    return v.fresh.writes(target, write, lambda: target[index])


# ---- sums of halves ---------------------------------------------------------


def _add(v, func, args, kwargs):
    """add and sub: a factor for the second operand is applied in fp32, and
    the sum is rounded once."""
    if kwargs.get("alpha", 1) == 1 or not any(
            isinstance(a, v.tensor) and a.dtype in v.halves.dtypes and
            v.on_device(a) for a in args):
        return v.plain(func, args, kwargs)
    torch, tensors = v.torch, [a for a in args if isinstance(a, v.tensor)]
    dtype = tensors[0].dtype
    for tensor in tensors[1:]:
        dtype = torch.promote_types(dtype, tensor.dtype)
    if dtype not in v.halves.dtypes:
        return v.plain(func, args, kwargs)
    wide = [a.float() if isinstance(a, v.tensor) else a for a in args]
    result = v.plain(func, wide, {"alpha": kwargs["alpha"]})
    target = (args[0] if func.__name__.endswith("_") else kwargs.get("out"))
    result = result.to(dtype) if target is None else target.copy_(result)
    return v.mark(result, v.place(tensors[0]))


# ---- text -------------------------------------------------------------------


def _repr(v, func, args, kwargs):
    """Printing with the mode on shows device='cuda:0'."""
    v.graphs.forbid(args[0])
    with v.mode_class():
        return torch_private.text_of(*args, **kwargs)


def _format(v, func, args, kwargs):
    """f"{tensor}": a block prints as repr does."""
    if args[0].dim() == 0:
        return func(*args, **kwargs)
    with v.mode_class():
        return object.__format__(*args)


# ---- the table --------------------------------------------------------------

# Read so often that marking would cost more than they do.
_PROPERTIES = ("shape", "dtype", "requires_grad", "ndim", "is_leaf", "layout",
               "is_sparse", "is_quantized", "is_meta", "is_nested")
_METHODS = ("stride", "size", "dim", "numel", "element_size", "is_contiguous",
            "storage_offset", "is_floating_point", "requires_grad_")
_STORAGES = ("untyped_storage", "storage", "_typed_storage")


def places(torch: types.ModuleType) -> dict[Any, Callable[..., Any]]:
    """Those that tell where a tensor is."""
    t = torch.Tensor
    table: dict[Any, Callable[..., Any]] = {
        t.device.__get__: _get_device_property,
        t.is_cuda.__get__: _get_is_cuda, t.is_cpu.__get__: _get_is_cpu,
        t.get_device: _get_device}
    return table


def _where_traced(v, func, args, kwargs):
    """C++ makes a tensor of a number where it was told that the condition is:
    on the CPU."""
    torch = v.torch
    if len(args) != 3 or kwargs:
        return func(*args, **kwargs)
    at = 1 if func is torch.Tensor.where else 0
    condition = args[at]
    rest = [a for i, a in enumerate(args) if i != at]
    if all(isinstance(a, v.tensor) for a in rest) or not (
            isinstance(condition, v.tensor)):
        return func(*args)
    dtype = torch.result_type(*rest)
    return torch.where(condition, *(
        a if isinstance(a, v.tensor) else torch.scalar_tensor(
            a, dtype=dtype, device=condition.device) for a in rest))


def traced(torch: types.ModuleType) -> dict[Any, Callable[..., Any]]:
    """Functions that run here also where PyTorch traces a program."""
    table: dict[Any, Callable[..., Any]] = {
        torch.where: _where_traced, torch.Tensor.where: _where_traced}
    for asked, run in places(torch).items():
        table[asked] = functools.partial(_place_traced, run)
    return table


def _place_traced(run, v, func, args, kwargs):
    """A fake tensor says itself where it is."""
    return (func(*args, **kwargs) if torch_private.is_fake(args[0]) else
            run(v, func, args, kwargs))


def specials(torch: types.ModuleType) -> dict[Any, Callable[..., Any]]:
    """{function of PyTorch: the function here that runs it}"""
    t = torch.Tensor
    table: dict[Any, Callable[..., Any]] = {
        torch.device: _device, **places(torch),
        t.cuda: _cuda, t.cpu: _cpu, t.to: _to, t.type: _type,
        t.type_as: _type_as, t.grad.__set__: _set_grad,
        t.pin_memory: _pin_memory, t.is_pinned: _is_pinned,
        t.data.__set__: _set_data, t.data.__get__: _touch,
        t.numpy: _numpy, t.__array__: _numpy,
        t.item: _read, t.tolist: _read, t.__bool__: _read, t.__int__: _read,
        t.__float__: _read, t.__index__: _read,
        t.__repr__: _repr, t.__format__: _format, t.__reduce_ex__: _reduce,
        torch.as_tensor: _as_tensor, torch.asarray: _as_tensor,
        torch.tensor: _tensor, t.new_tensor: _new_tensor,
    }
    for add in (torch.add, torch.sub, t.add, t.sub, t.add_, t.sub_,
                torch.subtract, t.subtract, t.subtract_):
        table[add] = _add
    for method in fresh_.filling(torch):
        table[method] = _fill
    table.update({"aten::_pin_memory": _pin_memory,
                  "aten::is_pinned": _is_pinned,
                  "prims::device_put": _device_put, "aten::_to_copy": _to_copy,
                  **dict.fromkeys(bags.NAMES, bags.embedding_bag)})
    table[t.copy_] = _copy
    table[torch.nn.functional.one_hot] = _one_hot
    table.update(dict.fromkeys(torch_private.flattening(), _flat_weights))
    table.update(dict.fromkeys(torch_private.packing(), _pack_padded))
    table.update(dict.fromkeys(torch_private.padding(), _with_sizes))
    table[t.__setitem__], table[t.__getitem__] = _set_item, _get_item
    for name in _STORAGES:
        if hasattr(t, name):
            table[getattr(t, name)] = _touch
    for name in _PROPERTIES:
        if hasattr(t, name):
            table[getattr(t, name).__get__] = _pass
    for name in _METHODS:
        table[getattr(t, name)] = _pass
    table[t.backward] = _pass
    return table
