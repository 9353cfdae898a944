"""autocast('cuda') on the virtual device: CUDA's lists of operators.

PyTorch's own kernels for autocast look at the device of each tensor and do
nothing for those on the CPU.  So the operators of CUDA's lists (those of
ATen/autocast_mode.h) get kernels here, under a dispatch key that nobody else
uses in a PyTorch without other devices, and autocast('cuda') turns that key
on beside the state that PyTorch keeps itself.
"""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .. import torch_private
from .marks import HOST, MARK

if TYPE_CHECKING:
    import types
    from ..patches import Patches
    from .virtual import VirtualCuda

KEY = "AutocastPrivateUse1"

# Each list by what is done with the floating-point arguments: cast to the
# type of the autocast region; cast to fp32; a dtype of fp32, unless the call
# gives one; the widest type among them.  What a release lacks (dimensions by
# name, after 2.11) is left out.
LOWER = """
    _convolution.deprecated _convolution conv1d conv2d conv3d conv_tbc
    conv_transpose1d conv_transpose2d.input conv_transpose3d.input convolution
    prelu addmm addmv addr matmul einsum mm mv linalg_vecdot linear addbmm
    baddbmm bmm chain_matmul linalg_multi_dot _thnn_fused_lstm_cell
    _thnn_fused_gru_cell lstm_cell gru_cell rnn_tanh_cell rnn_relu_cell
    _scaled_dot_product_flash_attention scaled_dot_product_attention"""
FP32 = """
    acos asin cosh erfinv exp expm1 log log10 log2 log1p reciprocal rsqrt sinh
    tan pow.Tensor_Scalar pow.Tensor_Tensor pow.Scalar softplus layer_norm
    native_layer_norm rms_norm group_norm frobenius_norm.dim nuclear_norm
    nuclear_norm.dim cosine_similarity poisson_nll_loss cosine_embedding_loss
    nll_loss nll_loss2d hinge_embedding_loss kl_div l1_loss smooth_l1_loss
    huber_loss mse_loss margin_ranking_loss multilabel_margin_loss
    soft_margin_loss triplet_margin_loss multi_margin_loss
    binary_cross_entropy_with_logits dist pdist cdist renorm logsumexp
    upsample_nearest1d _upsample_nearest_exact1d upsample_nearest2d
    _upsample_nearest_exact2d upsample_nearest3d _upsample_nearest_exact3d
    upsample_linear1d upsample_bilinear2d _upsample_bilinear2d_aa
    upsample_trilinear3d upsample_bicubic2d _upsample_bicubic2d_aa"""
SET_DTYPE = """
    prod prod.dim_int softmax.int log_softmax.int cumprod cumsum
    linalg_vector_norm linalg_matrix_norm linalg_matrix_norm.str_ord sum
    sum.dim_IntList softmax.Dimname log_softmax.Dimname prod.dim_Dimname
    cumprod.dimname cumsum.dimname sum.dim_DimnameList"""
APPEND_DTYPE = "norm.Scalar norm.ScalarOpt_dim norm.names_ScalarOpt_dim"
PROMOTE = """
    addcdiv addcmul atan2 bilinear cross dot vdot grid_sampler index_put
    tensordot scatter_add"""
_BANNED = "binary_cross_entropy"
# What cuDNN runs, in fp16 whatever the type of the region is.
_CUDNN_RNN = " ".join(f"{name}.{form}" for name in (
    "lstm", "gru", "rnn_tanh", "rnn_relu") for form in ("input", "data"))

_UNSAFE = (
    "torch.nn.functional.binary_cross_entropy and torch.nn.BCELoss are unsafe "
    "to autocast.\nMany models use a sigmoid layer right before the binary "
    "cross entropy layer.\nIn this case, combine the two layers using "
    "torch.nn.functional.binary_cross_entropy_with_logits\nor "
    "torch.nn.BCEWithLogitsLoss.  binary_cross_entropy_with_logits and "
    "BCEWithLogits are\nsafe to autocast.")


class Autocast:
    """The kernels, and the casts that a region has made of its weights."""

    def __init__(self, virtual: VirtualCuda) -> None:
        self.virtual = virtual
        self.torch = virtual.torch
        self._library = None
        self._fallback = None
        # address of a weight -> (weight, cast)
        self._casts: dict[Any, Any] = {}

    def install(self, patches: Patches) -> None:
        from torch.amp import autocast_mode
        cls, autocast = autocast_mode.autocast, self
        enter, leave = cls.__enter__, cls.__exit__

        def entered(self):
            if self.device.partition(":")[0] == "cuda":
                autocast.prepare()
                regions = self.__dict__.setdefault("_tkdbg_regions", [])
                regions.append(autocast.turn(True))
            return enter(self)

        def left(self, *error):
            try:
                return leave(self, *error)
            finally:
                regions = self.__dict__.get("_tkdbg_regions")
                if regions:
                    before = regions.pop()
                    autocast.turn(before)
                    if not before:
                        autocast._casts.clear()

        enable = self.torch.set_autocast_enabled

        def set_enabled(*args):
            """set_autocast_enabled("cuda", True), outside of a region; with
            one argument it is about CUDA."""
            enable(*args)
            if args[-1] and (len(args) == 1 or args[0] == "cuda"):
                autocast.prepare()
                autocast.turn(True)

        patches.set(self.torch, "set_autocast_enabled", set_enabled)
        patches.set(cls, "__enter__", entered)
        patches.set(cls, "__exit__", left)
        before = self.torch.clear_autocast_cache

        def clear_autocast_cache():
            self._casts.clear()
            return before()

        patches.set(self.torch, "clear_autocast_cache", clear_autocast_cache)

    def uninstall(self) -> None:
        if self._library is not None:
            torch_private.end(self._library)
            self._library = None
        if self._fallback is not None:
            self._fallback.reset()
            self._fallback = None
        self._casts.clear()

    def turn(self, on: bool) -> bool:
        """Turns the dispatch key on or off; returns what it was before."""
        return torch_private.turn_key(KEY, on)

    def prepare(self) -> None:
        """Registers the kernels, for the first region."""
        if self._library is not None:
            return
        torch = self.torch
        if self._fallback is None:
            self._fallback = torch_private.fall_through(KEY)
        self._library = torch.library.Library("aten", "IMPL")
        register = self.virtual.libraries.own
        for names, policy in (
                (LOWER, self._lower), (FP32, self._fp32),
                (SET_DTYPE, self._set_dtype), (PROMOTE, self._promote),
                (APPEND_DTYPE, self._append_dtype),
                (_BANNED, self._banned), (_CUDNN_RNN, self._half)):
            for name in names.split():
                op = find(torch, name)
                if op is not None:
                    register(self._library, name, self._kernel(op, policy),
                             KEY)

    def without(self) -> Any:
        """A context in which autocast's kernels are not called."""
        return torch_private.without_key(KEY)

    def _kernel(self, op, policy):
        torch = self.torch

        def kernel(*args, **kwargs):
            with self.without():
                if not torch.is_autocast_enabled("cuda"):
                    return op(*args, **kwargs)
                return policy(op, args, kwargs)
        return kernel

    # ---- what is done with arguments -------------------------------------

    def _eligible(self, value):
        return (isinstance(value, self.torch.Tensor) and
                value.is_floating_point() and
                value.dtype is not self.torch.float64 and
                getattr(value, MARK, None) != HOST)

    def _cast(self, value, dtype):
        if isinstance(value, (tuple, list)):
            return type(value)([self._cast(v, dtype) for v in value])
        if not self._eligible(value) or value.dtype is dtype:
            return value
        if not (value.is_leaf and value.requires_grad and
                value.dtype is self.torch.float32 and
                not torch_private.is_view(value) and
                dtype is not self.torch.float32 and
                self.torch.is_autocast_cache_enabled()):
            return value.to(dtype)
        known = self._casts.get(id(value))
        if known is None or known[1].dtype is not dtype:
            known = self._casts[id(value)] = value, value.to(dtype)
        return known[1]

    def _call(self, op, args, kwargs, dtype):
        return op(*[self._cast(a, dtype) for a in args],
                  **{n: self._cast(a, dtype) for n, a in kwargs.items()})

    def _lower(self, op, args, kwargs):
        return self._call(op, args, kwargs,
                          self.torch.get_autocast_dtype("cuda"))

    def _half(self, op, args, kwargs):
        return self._call(op, args, kwargs, self.torch.float16)

    def _fp32(self, op, args, kwargs):
        return self._call(op, args, kwargs, self.torch.float32)

    def _set_dtype(self, op, args, kwargs):
        names = [a.name for a in torch_private.schema(op).arguments]
        place = names.index("dtype")
        given = args[place] if place < len(args) else kwargs.get("dtype")
        if given is None and self._eligible(args[0]):
            args = args[:place]
            kwargs = {**kwargs, "dtype": self.torch.float32}
        return op(*args, **kwargs)

    def _append_dtype(self, op, args, kwargs):
        """norm without a dtype becomes the overload with one."""
        torch, first = self.torch, args[0]
        dtype = torch.float32 if self._eligible(first) else first.dtype
        if torch_private.schema(op).overload_name == "Scalar":
            p = args[1] if len(args) > 1 else kwargs.get("p", 2)
            return torch.ops.aten.norm.ScalarOpt_dtype(first, p, dtype=dtype)
        full = dict(zip(("self", "p", "dim", "keepdim"), args), **kwargs)
        overload = torch_private.schema(op).overload_name + "_dtype"
        return getattr(torch.ops.aten.norm, overload)(
            first, full["p"], full["dim"], full.get("keepdim", False),
            dtype=dtype)

    def _promote(self, op, args, kwargs):
        dtype = self.torch.get_autocast_dtype("cuda")
        given = {a.dtype for a in _flat((args, list(kwargs.values())))
                 if self._eligible(a)}
        if not given <= {dtype, self.torch.float32}:
            raise RuntimeError("Unexpected floating ScalarType in "
                               "at::autocast::prioritize")
        if self.torch.float32 in given:
            dtype = self.torch.float32
        return self._call(op, args, kwargs, dtype)

    def _banned(self, op, args, kwargs):
        raise RuntimeError(_UNSAFE)


def _flat(value):
    if not isinstance(value, (tuple, list)):
        return [value]
    return [one for item in value for one in _flat(item)]


def find(torch: types.ModuleType, name: str) -> Any:
    """The operator of ATen by "name" or "name.overload"; None: this PyTorch
    has none."""
    packet, _, overload = name.partition(".")
    try:
        return getattr(getattr(torch.ops.aten, packet), overload or "default")
    except AttributeError:
        return None


