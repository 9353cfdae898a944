"""Operators of ATen where the virtual device must not do as the CPU does.

Two modes of the dispatcher, each entered for one call only: one that finds
tensors of different devices and raises what CUDA raises, and one that runs
in a wider type what PyTorch has no CPU kernel for in the type asked for.
The overloads that only CUDA has are kernels registered once.
"""
from __future__ import annotations

import contextlib
import re
from typing import TYPE_CHECKING, Any, Callable

from .. import torch_private
from . import attention
from .autocast import find
from .halves import cudas
from .marks import HOST, name_of, tensors_of, text_of

if TYPE_CHECKING:
    from ..patches import Patches
    from .virtual import VirtualCuda

# Operators that move between devices, or take part of their arguments from
# the CPU.
_ANYWHERE = frozenset("""
    copy_ _to_copy _foreach_copy_ set_ is_same_size _pack_padded_sequence
    _copy_from _copy_from_and_resize lift_fresh""".split())
_INDEXING = frozenset("index index_put index_put_ _index_put_impl_ "
                      "_unsafe_index _unsafe_index_put".split())

# Functions that move part of their arguments themselves.
_MOVING = frozenset(["ctc_loss"])

# Operators that take scalars on the CPU beside tensors of a device, as those
# do that PyTorch tags as pointwise.
_ELEMENTWISE = frozenset("""
    mse_loss smooth_l1_loss binary_cross_entropy elu gelu glu hardshrink
    hardsigmoid hardswish hardtanh leaky_relu log_sigmoid softplus softshrink
    threshold fill fill_ masked_fill masked_fill_ index_fill index_fill_ where
    dist rsub floor_divide floor_divide_ max mean min sum std var __and__ __or__
    __iand__ __ior__ true_divide arctan2 masked_select_backward gather_backward
    bernoulli bernoulli_ binary_cross_entropy_with_logits""".split())

# ... but not these, for all that they are pointwise.
_TOGETHER = frozenset("""clamp clamp_ clamp_min clamp_min_ clamp_max clamp_max_
                         nextafter nextafter_""".split())

_RECURRENT = "lstm", "gru", "rnn_tanh", "rnn_relu"

# What functions that are made of several operators say of places that differ.
_WHOLE = {
    "meshgrid": "meshgrid expects all tensors to have the same device",
    "cartesian_prod": "meshgrid expects all tensors to have the same device",
    "quantile": "quantile() q tensor must be on the same device as the input "
    "tensor",
    "nanquantile": "nanquantile() q tensor must be on the same device as the "
    "input tensor",
    "block_diag": "torch.block_diag: input tensors must all be on the same "
    "device. Input 0 is on device {0} and input {n} is on device {1}",
    "scaled_dot_product_attention": "Expected query, key, and value to have "
    "the same device type, but got query.device: {0} key.device: {1} and "
    "value.device: {2} instead.",
    **dict.fromkeys(
        ("conv1d", "conv2d", "conv3d", "conv_transpose1d", "conv_transpose2d",
         "conv_transpose3d"), "Input type ({a}) and weight type ({b}) should "
        "be the same"),
    **dict.fromkeys(
        _RECURRENT, "Input and {what} tensors "
        "are not at the same device, found input tensor at {0} and {what} "
        "tensor at {1}"),
}

# Operators whose kernels for CUDA are structured, which shows in the names of
# their wrappers in messages.
_STRUCTURED = frozenset("""
    _log_softmax _log_softmax_backward_data _softmax _softmax_backward_data
    _addmm_activation _linalg_det _linalg_eigh _linalg_slogdet
    _linalg_solve_ex _linalg_svd addmm addmm_ addmv addmv_ avg_pool2d
    avg_pool3d baddbmm baddbmm_ bmm cat clamp clamp_ clamp_max clamp_min gather
    glu index_add index_add_ index_copy index_copy_ index_reduce index_reduce_
    isin linalg_cross linalg_lu_solve linalg_ldl_solve lu_unpack mm
    max_pool2d_with_indices nll_loss_backward nll_loss_forward scatter scatter_
    scatter_add scatter_add_ scatter_reduce scatter_reduce_ silu_backward
    slow_conv_transpose2d triangular_solve""".split())

# Operators that CUDA has for more integers or bools than the CPU, of all that
# PyTorch's OpInfo declares; those that the CPU has for floats alone.
_IN_INTEGERS = frozenset(["abs", "abs_", "trace", "histc", "median"])
_IN_FLOATS = frozenset(["histc"])

# ... and for 8-bit floats and the unsigned: those that move elements.
_MOVES = frozenset("""gather scatter scatter_ index_select flip eye isin
                      index_put_ _index_put_impl_ masked_scatter""".split())
_FLOATS8 = ("float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz",
            "float8_e5m2fnuz", "float8_e8m0fnu")
_UNSIGNED = "uint16", "uint32", "uint64"

# How PyTorch says that a CPU kernel lacks a type.
_LACKS = re.compile(r"not implemented for '(\w+)'|"
                    r"not (?:currently )?supported (?:for|on CPU)|"
                    r"[Ee]xpected (?:m1|mat1|scalar type|a floating|out|self)|"
                    r"only (?:available|supported) (?:for|on)|"
                    r"does not support|doesn't support|not supported|"
                    r"No viable backend for scaled_dot_product_attention|"
                    r"[Uu]nsupported dtype|is not implemented on the CPU|"
                    r"Could not run '")

# ... where CUDA lacks it as well: kernels of linear algebra and losses that
# OpInfo declares for neither, by the names that the CPU gives them.
_NEITHER = re.compile(r'"(?:cholesky|ldl_|cdist|pdist|histogramdd|ctc_loss|'
                      r'polar|geqrf|lu_|linalg|triangular_solve|ormqr|orgqr)|'
                      r"Low precision dtypes not supported")


class Operators:
    """The two modes and the overloads, of one virtual device."""

    def __init__(self, virtual: VirtualCuda) -> None:
        self.virtual = virtual
        self.torch = virtual.torch
        self.rescued = False  # a call needed the wider types, or will
        self.rare = frozenset(  # dtypes that few CPU kernels know
            getattr(self.torch, n) for n in ("complex32", )
            if hasattr(self.torch, n))
        self._modes = None
        self._library = None

    def install(self, patches: Patches) -> None:
        torch = self.torch
        self._library = torch.library.Library("aten", "IMPL")
        register = self.virtual.libraries.own
        for name in ("mm", "bmm", "addmm", "baddbmm"):
            for overload in ("dtype", "dtype_out"):
                op = find(torch, f"{name}.{overload}")
                if op is not None:
                    register(self._library, op, _with_out_dtype(
                        torch, find(torch, name)), "CPU")
        for name, kernel in attention.kernels(torch).items():
            op = find(torch, name)
            if op is not None and not torch_private.has_kernel(
                    op.name(), "CPU"):
                register(self._library, op, kernel, "CPU")

    def uninstall(self) -> None:
        if self._library is not None:
            torch_private.end(self._library)
            self._library = None

    # ---- tensors of different devices ------------------------------------

    def mixed(self, func: Any, args: Any, kwargs: Any) -> Any:
        """(place of the result, result) of a call with tensors of several
        places; raises what CUDA raises."""
        tensors = tensors_of((args, kwargs), self.torch.Tensor)
        where = next(at for at in map(self.virtual.mark_of, tensors)
                     if at is not None and at >= 0)
        if not self.virtual.strict or (
                getattr(func, "__name__", "") in _MOVING):
            return where, func(*args, **kwargs)
        packed = _without_batch_sizes(func, args)
        self._check_whole(func, packed or args, kwargs)
        if packed:  # batch sizes are on the CPU, whatever the data are on
            return where, func(*args, **kwargs)
        with self._checking():
            result = func(*args, **kwargs)
        return where, result

    def _check_whole(self, func, args, kwargs):
        """Raises a function's own error about the devices of its first
        arguments, before an operator of ATen raises another one."""
        name = getattr(func, "__name__", "")
        text = _WHOLE.get(name)
        if text is None:
            return
        place, tensor = self.virtual.place, self.torch.Tensor
        what = "hidden"
        if text.startswith("Input and"):
            first, hidden, weights = (tensors_of(a, tensor)[:1]
                                      for a in args[:3])
            given = first + hidden
            if not hidden or place(first[0]) == place(hidden[0]):
                what, given = "parameter", first + weights
        else:
            given = tensors_of((args, kwargs), tensor)[
                :3 if "{2}" in text else 2 if "{b}" in text else None]
        places = [place(t) for t in given]
        other = next((i for i, p in enumerate(places) if p != places[0]), None)
        if other is None:
            return
        texts = [text_of(p) for p in places]
        if "{2}" not in text:
            texts = [texts[0], texts[other]]
        raise RuntimeError(text.format(
            *texts, n=other, what=what, a=_type_of(given[0], places[0]),
            b=_type_of(given[other], places[other])))

    def check(self, func: Any, args: Any, kwargs: Any) -> Any:
        """Raises if an operator of ATen gets tensors that CUDA would not
        take together; returns their place."""
        names = [a.name for a in torch_private.schema(func).arguments]
        given = [(n, t, self.virtual.mark_of(t))
                 for n, value in (*zip(names, args), *kwargs.items())
                 for t in tensors_of(value, self.torch.Tensor)]
        given = [row for row in given if row[2] is not None]
        places = {where for _, _, where in given}
        if len(places) < 2:
            return places.pop() if places else None
        name = torch_private.schema(func).name.partition("::")[2]
        if func.namespace == "aten" and name not in _ANYWHERE and (
                not name.startswith(("_foreach", "_nested", "_fused_a",
                                     "_fused_sgd"))):
            if name == "equal":  # a reduction, whatever its tags say
                self._check_alike(given, func)
            elif name in _INDEXING:
                self._check_index(given, "put" in name)
            elif name.startswith("masked_fill"):
                _check_mask(given)
            elif name in _ELEMENTWISE or name not in _TOGETHER and (
                    _iterates(self.torch, func)):
                self._check_elementwise(given, func)
            else:
                self._check_alike(given, func)
        return max(places)

    def place_of(self, args: Any, kwargs: Any) -> Any:
        """The device of an operator's result; None if no argument tells."""
        marks = [self.virtual.mark_of(t) for t in tensors_of(
            (args, kwargs), self.torch.Tensor)]
        return max((m for m in marks if m is not None), default=None)

    @staticmethod
    def _check_index(given, writes):
        """Indices on a device may choose what is written to on the CPU, but
        not what is read."""
        place = next((where for name, _, where in given if name != "indices"),
                     HOST)
        for name, tensor, where in given:
            if where == place or name == "indices" and (
                    where == HOST or writes and place == HOST):
                continue
            if name == "indices":
                raise RuntimeError(
                    "indices should be either on cpu or on the same device as "
                    f"the indexed tensor ({text_of(place)})")
            if tensor.dim():
                first, second = sorted((place, where), key=HOST.__eq__)
                raise RuntimeError(
                    f"Expected all tensors to be on the same device, but found "
                    f"at least two devices, {text_of(first)} and "
                    f"{text_of(second)}!")

    @staticmethod
    def _check_elementwise(given, func):
        """Scalars on the CPU go with everything, unless they are written."""
        common = next(where for _, _, where in given if where != HOST)
        writes = torch_private.schema(func).arguments[0].alias_info is not None
        for i, (_, tensor, where) in enumerate(given):
            if where != common and (where != HOST or tensor.dim() or
                                    writes and not i):
                raise RuntimeError(
                    "Expected all tensors to be on the same device, but found "
                    f"at least two devices, {text_of(common)} and "
                    f"{text_of(where)}!")

    @staticmethod
    def _check_alike(given, func):
        common = given[0][2]
        name, _, where = next(row for row in given if row[2] != common)
        schema = torch_private.schema(func)
        method = schema.name.partition("::")[2].replace("_for_cpu", "")
        overload = schema.overload_name
        if method not in _STRUCTURED:
            method = f"{overload}_{method}"
        elif overload:
            method += "_" + overload
        raise RuntimeError(
            f"Expected all tensors to be on the same device, but got {name} "
            f"is on {text_of(where)}, different from other tensors on "
            f"{text_of(common)} (when checking argument in method "
            f"wrapper_CUDA_{method})")

    # ---- types that PyTorch's CPU kernels lack ----------------------------

    def rescue(self, error: Any, where: int | None, func: Any, args: Any,
               kwargs: Any) -> Any:
        """The result of a call that failed with error, run in wider types;
        raises the error if it is not about a missing kernel."""
        text = str(error)
        if where is None or where < 0 or getattr(error, "is_cudas", False):
            raise error  # is_cudas: see refusals.py
        differ = cudas(error, {t.dtype: 0 for t in tensors_of(
            (args, kwargs), self.torch.Tensor) if t.is_floating_point()},
                       getattr(func, "__name__", ""))
        if differ is not None:
            raise differ from None
        if not _LACKS.search(text) or _NEITHER.search(text):
            raise _renamed(error) from None
        if "scaled_dot_product_attention" in str(error):
            # CUDA's implementation that the program wants; this one is exact.
            with self.torch.nn.attention.sdpa_kernel(
                    self.torch.nn.attention.SDPBackend.MATH):
                return func(*args, **kwargs)
        if "equal_notnan" in text:  # two views of the same elements
            return bool((args[0] == args[1]).all())
        self.rescued = True
        try:
            with self._widening():
                return func(*args, **kwargs)
        except (NotImplementedError, RuntimeError):
            return self._whole(_renamed(error), func, args, kwargs)

    def _whole(self, error, func, args, kwargs):
        """A call in wider floats as a whole: what refuses a dtype before any
        operator of ATen is reached."""
        torch = self.torch
        wider = {torch.float16: torch.float32, torch.bfloat16: torch.float32}
        wider.update((d, torch.complex64) for d in self.rare)
        given = tensors_of((args, kwargs), torch.Tensor)
        if "out" in kwargs or not any(t.dtype in wider for t in given):
            raise error from None
        back = {torch.complex64: next(iter(self.rare), None)}
        back[torch.float32] = next((t.dtype for t in given if
                                    t.dtype in wider and
                                    t.is_floating_point()), torch.float16)

        def each(value, dtypes):
            if isinstance(value, torch.Tensor):
                dtype = dtypes.get(value.dtype)
                return value if dtype is None else value.to(dtype)
            if type(value) in (tuple, list):
                return type(value)(each(v, dtypes) for v in value)
            return value

        try:
            result = func(*each(args, wider), **{
                n: each(v, wider) for n, v in kwargs.items()})
        except (NotImplementedError, RuntimeError):
            raise error from None
        return each(result, back)

    def widen_from_here(self) -> None:
        """Calls may need wider types from here on."""
        self.rescued = True

    def caring(self) -> Any:
        """A context for a backward pass, which cannot run a second time."""
        return self._widening() if self.rescued else contextlib.nullcontext()

    def widen(self, func: Any, args: Any, kwargs: Any, error: Any) -> Any:
        """One operator of ATen in the first type that has a kernel."""
        torch = self.torch
        present = {t.dtype for t in tensors_of((args, kwargs), torch.Tensor)}
        present.add(kwargs.get("dtype"))
        name = torch_private.schema(func).name.partition("::")[2]
        for wider in _wider(torch, present, name):
            try:
                return self._in(wider, func, args, kwargs)
            except (NotImplementedError, RuntimeError) as e:
                if not _LACKS.search(str(e)):
                    raise error from None
        other = _INSTEAD.get(name)
        if other is None:
            raise error
        return other(torch, *args, **kwargs)

    def _in(self, wider, func, args, kwargs):
        """Runs an operator on copies; wider: {dtype: the one to use}."""
        torch, targets = self.torch, {}

        def wide(value):
            if isinstance(value, torch.Tensor):
                dtype = wider.get(value.dtype)
                if dtype is None:
                    return value
                copy = value.to(dtype)
                targets[id(copy)] = copy, value
                return copy
            if isinstance(value, torch.dtype):
                return wider.get(value, value)
            if isinstance(value, (tuple, list)):
                return type(value)([wide(v) for v in value])
            return value

        dtypes = _result_dtypes(func, args, kwargs, torch)
        back = {v: k for k, v in wider.items()}
        result = func(*map(wide, args),
                      **{n: wide(v) for n, v in kwargs.items()})
        for copy, value in targets.values():
            if torch_private.version(copy):
                value.copy_(copy)

        def narrow(value, place):
            if not isinstance(value, torch.Tensor):
                return value
            if id(value) in targets:
                return targets[id(value)][1]
            dtype = (dtypes[place] if dtypes and place < len(dtypes)
                     else back.get(value.dtype))
            return value if dtype is None else value.to(dtype)

        if isinstance(result, (tuple, list)):
            return type(result)([narrow(r, i) for i, r in enumerate(result)])
        return narrow(result, 0)

    # ---- the modes -------------------------------------------------------

    def _checking(self):
        return self._classes()[0]()

    def _widening(self):
        return self._classes()[1]()

    def _classes(self):
        if self._modes is None:
            self._modes = _modes(self)
        return self._modes


def _without_batch_sizes(func, args):
    """The arguments of a recurrent network as for sequences of one length, if
    they are for packed ones."""
    if (getattr(func, "__name__", "") in _RECURRENT and len(args) > 3 and
            isinstance(args[3], (tuple, list))):
        return args[0], *args[2:]
    return None


# What CUDA's kernels are called in messages, by what the CPU's are.
_KERNELS = ((re.compile(r'"(?:lt|le|gt|ge|eq|ne)_cpu"'), '"compare_cuda"'),
            (re.compile(r'"add_stub"'), '"ufunc_add_CUDA"'),
            (re.compile(r'"(?:vec_)?(?:host_|log_)?softmax_\w+"'),
             '"host_softmax"'),
            (re.compile(r'"(max_all|cdist)"'), r'"\1_cuda"'),
            (re.compile(r'(?:_vml)?_cpu"'), '_cuda"'))


def _renamed(error):
    """An error about a missing kernel as CUDA words it."""
    text = str(error)
    if "expected m1 and m2" in text:
        return type(error)(text.replace("m1 and m2", "mat1 and mat2"))
    if "arguments from the 'CPU' backend" in text:
        return type(error)(text.replace("from the 'CPU'", "from the 'CUDA'"))
    if "not implemented for '" not in text:
        return error
    for pattern, name in _KERNELS:
        text = pattern.sub(name, text)
    return type(error)(text)


def _modes(operators):
    virtual = operators.virtual
    mode: Any = torch_private.dispatch_mode()
    plainly = torch_private.unseen  # what comes out is marked here

    def composite(schema):
        """The key of an operator that is made of others, or None."""
        name = schema.name + ("." + schema.overload_name
                              if schema.overload_name else "")
        return (None if torch_private.has_kernel(name, "CPU")
                else torch_private.composite_key(schema))

    class Checking(mode):
        inside: tuple[Any, ...] = ()  # operators whose parts are being checked

        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            kwargs = kwargs or {}
            key = None if func in self.inside else composite(
                torch_private.schema(func))
            if key is not None:
                before, self.inside = self.inside, (*self.inside, func)
                try:
                    with self:
                        result = torch_private.call_under(
                            func, key, args, kwargs)
                finally:
                    self.inside = before
                where = operators.place_of(args, kwargs)
                if where is not None:
                    virtual.mark_new(result, where)
                return result
            where = operators.check(func, args, kwargs)
            with plainly():
                result = func(*args, **kwargs)
            if where is not None:
                virtual.mark_new(result, where)
            return result

    class Widening(mode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            kwargs = kwargs or {}
            with plainly():
                try:
                    return func(*args, **kwargs)
                except (NotImplementedError, RuntimeError) as e:
                    if not _LACKS.search(str(e)):
                        raise
                    return operators.widen(func, args, kwargs, e)

    return Checking, Widening


def _check_mask(given):
    """masked_fill: where its mask and its value are."""
    places = {name: where for name, _, where in given}
    if places.get("mask") != places["self"]:
        raise RuntimeError(
            "expected self and mask to be on the same device, but got mask on "
            f"{text_of(places['mask'])} and self on "
            f"{text_of(places['self'])}")
    if places["self"] == HOST:
        raise RuntimeError("masked_fill_: Expected inputs to be on same "
                           "device")


def _type_of(tensor, where):
    """A tensor's type as PyTorch's C++ code writes it."""
    name = name_of(tensor.dtype)
    if name == "BFloat16":
        return "CPUBFloat16Type" if where < 0 else "CUDABFloat16Type"
    return f"torch.{'' if where < 0 else 'cuda.'}{name}Tensor"


def _iterates(torch, func):
    """Whether CUDA's kernel takes scalars on the CPU with its tensors."""
    tags = getattr(torch, "Tag", None)
    return tags is None or tags.pointwise in func.tags


def _result_dtypes(func, args, kwargs, torch):
    """The dtypes of an operator's results, or None."""
    def meta(value):
        if isinstance(value, torch.Tensor):
            return value.to("meta")
        if isinstance(value, (tuple, list)):
            return type(value)([meta(v) for v in value])
        return value

    kwargs = dict(kwargs)
    if "device" in kwargs:
        kwargs["device"] = "meta"
    try:
        found = func(*map(meta, args), **{n: meta(v)
                                          for n, v in kwargs.items()})
    except (NotImplementedError, RuntimeError):
        return None
    found = found if isinstance(found, (tuple, list)) else [found]
    return [getattr(t, "dtype", None) for t in found]


def _wider(torch, present, name):
    """Ways to widen the dtypes of some tensors for the operator of a name,
    the nearest first."""
    def known(*names):
        return [getattr(torch, n) for n in names if hasattr(torch, n)]

    floats = dict.fromkeys(known("float16", "bfloat16"), torch.float32)
    floats.update((d, torch.complex64) for d in known("complex32"))
    integers = known("uint8", "int8", "int16", "int32", "bool")
    ways = [floats]
    if name in _MOVES:
        ways.append({**dict.fromkeys(known(*_FLOATS8), torch.float32),
                     **dict.fromkeys(known(*_UNSIGNED), torch.int64)})
    if name in _IN_INTEGERS:
        ways.append({**floats, **dict.fromkeys(integers, torch.int64)})
    if name in _IN_FLOATS:
        ways.append(dict.fromkeys([*integers, torch.int64], torch.float64))
    return [{d: w for d, w in way.items() if d in present}
            for way in ways if present & way.keys()]


# ---- operators that PyTorch's CPU kernels lack a part of ---------------------


def _nansum(torch, x, dim=None, keepdim=False, *, dtype=None):
    """Sums of complex numbers without those that are NaN."""
    wide = x.to(torch.promote_types(x.dtype, torch.complex64))
    present = torch.where(torch.isnan(wide), torch.zeros_like(wide), wide)
    dims = tuple(range(x.dim())) if dim is None else dim
    return present.sum(dims, keepdim).to(dtype or x.dtype)


def _lu_factor_ex(torch, a, *, pivot=True, check_errors=False):
    """The factors of matrices without exchanging rows."""
    lu, least = a.clone(), min(a.shape[-2:])
    for k in range(least):
        lu[..., k + 1:, k] /= lu[..., k, k, None]
        lu[..., k + 1:, k + 1:] -= (lu[..., k + 1:, k, None] *
                                    lu[..., k, None, k + 1:])
    pivots = torch.arange(1, least + 1, dtype=torch.int32)
    zero = lu.diagonal(dim1=-2, dim2=-1) == 0
    first = zero.int().argmax(-1) + 1 if least else zero.sum(-1)
    info = torch.where(zero.any(-1), first, torch.zeros_like(first))
    return (lu, pivots.expand(*a.shape[:-2], least).clone(),
            info.to(torch.int32))


def _lu(torch, a, *, pivot=True):
    """The same as three matrices, of which the first is empty."""
    lu, _, _ = _lu_factor_ex(torch, a)
    least = min(a.shape[-2:])
    lower = lu[..., :least].tril(-1)
    lower.diagonal(dim1=-2, dim2=-1).fill_(1)
    return a.new_empty(0), lower, lu[..., :least, :].triu()


_INSTEAD: dict[str, Callable[..., Any]] = {
    "nansum": _nansum, "linalg_lu_factor_ex": _lu_factor_ex,
    "linalg_lu": _lu}


# ---- overloads that only CUDA has -------------------------------------------


def _with_out_dtype(torch, op):
    """mm and its kin with a type for the result: sums stay in fp32."""
    def kernel(*args, out=None, **kwargs):
        out_dtype = kwargs.pop("out_dtype", None) or next(
            a for a in args if isinstance(a, torch.dtype))
        args = tuple(a for a in args if not isinstance(a, torch.dtype))
        dtype = args[-1].dtype
        if args[-2].dtype != dtype:
            raise RuntimeError("input dtypes must be the same")
        if out_dtype not in (dtype, torch.float32):
            raise RuntimeError("out_dtype must be the same as input dtype or "
                               "fp32 for fp16/bf16 inputs")
        result = op(*[a.float() for a in args], **kwargs).to(out_dtype)
        return result if out is None else out.copy_(result)
    return kernel
