"""Products and reductions of fp16 and bf16 as CUDA computes them.

CUDA's kernels multiply halves exactly, add in fp32 and round once; some of
PyTorch's CPU kernels round each partial sum to the type, and most are slow.
The operators in the list run in fp32 here (products of fp16 in fp64), for
tensors of the virtual device, and products of fp32 in TF32 where the program
allows it (tf32.py).

They get a kernel under the dispatch key that stands between autograd and the
backends, so that those which C++ code calls (the parts of cross_entropy, a
backward pass) are seen as well.  They get it when the first half arrives on
the device, or TF32 is allowed: programs without either pay nothing.
"""
from __future__ import annotations

import functools
import re
from typing import TYPE_CHECKING, Any

from .. import torch_private
from . import tf32
from .autocast import find
from .graphs import fills
from .marks import HOST, MARK, name_of, tensors_of

if TYPE_CHECKING:
    from .virtual import VirtualCuda

_KEY = "BackendSelect"

# Operators of ATen whose CPU kernels for halves accumulate in the type, or
# are far slower than the same in fp32.  After an '!', results but the first
# are fp32, as CUDA's are; after a '^', they have the dtype of the weights.
# After a '*', sums of fp16's products are of fp64: where they cancel, fp32
# sums in an order that is not CUDA's differ by many times a half's last place.
_OPERATORS = """
    *mm *bmm *addmm *baddbmm *addmv *mv *dot *vdot *addbmm addr
    *mm.out *bmm.out *addmm.out *baddbmm.out
    *addmm_ *baddbmm_ *addmv_ *addbmm_
    convolution convolution_backward
    !_scaled_dot_product_flash_attention_for_cpu
    _scaled_dot_product_flash_attention_for_cpu_backward
    sum sum.dim_IntList sum.IntList_out nansum mean mean.dim mean.out
    prod prod.dim_int var.correction std.correction var_mean.correction
    std_mean.correction cumsum cumprod logcumsumexp
    norm.ScalarOpt_dim norm.ScalarOpt_dim_dtype norm.Scalar
    linalg_vector_norm logsumexp
    _softmax _log_softmax _softmax_backward_data _log_softmax_backward_data
    nll_loss_forward nll_loss_backward nll_loss2d_forward nll_loss2d_backward
    mse_loss smooth_l1_loss huber_loss binary_cross_entropy soft_margin_loss
    multi_margin_loss multilabel_margin_loss_forward
    !native_layer_norm ^native_layer_norm_backward
    !native_group_norm ^native_group_norm_backward
    !native_batch_norm ^native_batch_norm_backward !_batch_norm_with_update
    !_native_batch_norm_legit !_native_batch_norm_legit.no_stats
    !_native_batch_norm_legit_no_training ^batch_norm_backward
    index_add index_add_ scatter_add scatter_add_ scatter_reduce.two
    scatter_reduce_.two index_reduce index_reduce_ index_put index_put_
    _index_put_impl_ embedding_dense_backward _embedding_bag
    _embedding_bag_dense_backward
    _embedding_bag_forward_only _trilinear linalg_cross polygamma logit
    renorm dist trace rsqrt
    avg_pool2d avg_pool3d _adaptive_avg_pool2d _adaptive_avg_pool3d
    avg_pool2d_backward _adaptive_avg_pool2d_backward
    upsample_bilinear2d upsample_bicubic2d upsample_linear1d
    upsample_trilinear3d grid_sampler_2d grid_sampler_3d"""

# Operators that promote tensors of several dtypes; the products, norms and
# writes that refuse them.  The others take weights in fp32, or were checked
# before they get here.
_PROMOTE = frozenset("mse_loss smooth_l1_loss dist addr".split())
_ALIKE = frozenset("""
    mm bmm addmm addmm_ baddbmm baddbmm_ addmv addmv_ mv dot vdot addbmm
    addbmm_ convolution native_layer_norm native_group_norm native_batch_norm
    _native_batch_norm_legit _batch_norm_with_update linalg_cross index_add
    index_add_ scatter_add scatter_add_ scatter_reduce scatter_reduce_
    index_reduce index_reduce_ index_put index_put_ _index_put_impl_
    nll_loss_forward nll_loss2d_forward binary_cross_entropy
    _embedding_bag _embedding_bag_forward_only grid_sampler_2d
    grid_sampler_3d""".split())
_STRICT = frozenset(["native_layer_norm", "native_group_norm"])

# How the CPU's kernels say that dtypes differ, and how CUDA's do.
_DIFFER = re.compile(r"have (?:the )?same (?:dtype|scalar type)|mixed dtype|"
                     r"expected scalar type \w+ but found|"
                     r"Expected out tensor to have dtype|"
                     r"self.dtype to be equal|Type promoting not supported|"
                     r"and weight type .* should be the same")
_ADDMV = re.compile(r"addmv input tensors .* (\w+), and (?!\1)(\w+)$")
_WORDS = (("expected m1 and m2", "expected mat1 and mat2"),
          ("CPUBFloat16Type", "CUDABFloat16Type"), ("(torch.", "(torch.cuda."),
          (" or input should be a MKLDNN tensor and weight is a dense tensor",
           ""))


def _found(dtypes):
    return "expected scalar type {} but found {}".format(
        *map(name_of, dtypes))


def cudas(error: Any, dtypes: dict[Any, int], name: str) -> Any:
    """The error of CUDA for a kernel of the CPU that got tensors of several
    dtypes, the first one's first, in an operator of this name; None: it is
    about something else."""
    text = str(error)
    if len(dtypes) < 2 or not _DIFFER.search(text):
        return None
    if "conv" in name:
        return _refused("convolution", dtypes)
    if text.startswith("mixed dtype") and "group_norm" not in name:
        text = _found(dtypes)
    text = _ADDMV.sub(r"expected scalar type \1 but found \2", text)
    for ours, theirs in _WORDS:
        text = text.replace(ours, theirs)
    found = type(error)(text)
    found.is_cudas = True
    return found


def _refused(name, given):
    """What CUDA raises of several dtypes where the CPU's kernel runs, or
    None."""
    a, b = map(name_of, list(given)[:2])
    text = None
    if name in _STRICT:
        text = _found(given)
    elif name == "convolution":
        text = (f"Input type ({_type(a)}) and weight type ({_type(b)}) should "
                "be the same")
    elif "index_put" in name:
        text = ("Index put requires the source and destination dtypes match, "
                f"got {a} for the destination and {b} for the source.")
    elif "batch_norm" in name and b != "Float":
        text = f"expected scalar type Float but found {b}"
    elif name == "linalg_cross":
        text = f"Found dtype {b} but expected {a}"
    if text is None:
        return None
    error: Any = RuntimeError(text)
    error.is_cudas = True
    return error


def _type(name):
    return "CUDABFloat16Type" if name == "BFloat16" else (
        f"torch.cuda.{name}Tensor")


class Halves:
    """The kernels of the list."""

    def __init__(self, virtual: VirtualCuda) -> None:
        self.virtual = virtual
        self.torch = virtual.torch
        self.dtypes = frozenset((self.torch.float16, self.torch.bfloat16))
        self._library = None

    def install(self) -> None:
        """Registers the kernels, for what is the first that needs them."""
        if self._library is not None:
            return
        torch = self.torch
        self._library = torch.library.Library("aten", "IMPL")
        register = self.virtual.libraries.own
        for name in _OPERATORS.split():
            op = find(torch, name.lstrip("!^*"))
            if op is not None:
                register(self._library, op, self._kernel(op, name[0]), _KEY,
                         with_keyset=True)

    def uninstall(self) -> None:
        if self._library is not None:
            torch_private.end(self._library)
            self._library = None

    def _kernel(self, op, rule):
        halves, schema = self.dtypes, torch_private.schema(op)
        tensor, redispatch = self.torch.Tensor, op.redispatch
        below = torch_private.keys_below(_KEY)
        choose = self._chooser(op)
        cpu = torch_private.key("CPU")
        place = int(schema.name == "aten::polygamma")  # polygamma(n, x)
        factors, single = tf32.factors(schema), self.torch.float32
        written = [a.alias_info is not None and a.alias_info.is_write or
                   a.name.startswith("running_")
                   for a in schema.arguments]

        def kernel(keys, *args, **kwargs):
            first = args[place]
            if not isinstance(first, tensor):
                first = first[0]
            if (factors and first.dtype is single and keys.has(cpu) and
                    tf32.is_allowed(self.virtual, args)):
                args = (*(tf32.rounded(self.torch, a) if i in factors else a
                          for i, a in enumerate(args)),)
            if (first.dtype not in halves or
                    getattr(first, MARK, None) == HOST or
                    not keys.has(cpu)):
                return redispatch(keys & below, *args, **kwargs)
            half = first.dtype
            if choose is not None:
                half, result = choose(keys & below, args, kwargs, half)
                if half is None:
                    return result
            return self._widened(op, keys & below, args, kwargs, half,
                                 written, rule)
        return kernel

    def _chooser(self, op):
        """What gives the result's dtype where the arguments' may differ, or
        None and the result; it raises what CUDA does.  None: the result has
        the first argument's dtype."""
        torch = self.torch
        name = torch_private.schema(op).name.partition("::")[2]

        def choose(keys, args, kwargs, half):
            given = {t.dtype: t for t in tensors_of((args, kwargs),
                                                    torch.Tensor)
                     if t.is_floating_point()}
            if len(given) == 1:
                return half, None
            if name in _PROMOTE:
                return functools.reduce(torch.promote_types, given), None
            error = _refused(name, given)
            if "index_put" in name and fills(self.virtual, args):
                error = None
            if "batch_norm" in name and error is None:
                return half, None
            try:
                if error is None or name == "native_group_norm":
                    result = op.redispatch(keys, *args, **kwargs)
            except RuntimeError as e:
                raise cudas(e, given, name) or e from None
            if error is not None:
                raise error
            return None, result

        return choose if name in _PROMOTE | _ALIKE else None

    def _widened(self, op, keys, args, kwargs, half, written, rule):
        """Runs an operator on wider copies; writes and returns halves."""
        torch, targets = self.torch, {}
        wider = (torch.float64 if rule == "*" and half is torch.float16 else
                 torch.float32)

        def wide(value, write):
            if isinstance(value, torch.Tensor):
                if value.dtype not in self.dtypes:
                    return value
                copy = value.to(wider)
                if write:
                    targets[id(copy)] = copy, value
                return copy
            if isinstance(value, (tuple, list)):
                return type(value)([wide(v, write) for v in value])
            if isinstance(value, torch.dtype) and value in self.dtypes:
                return wider
            return value

        names = [a.name for a in torch_private.schema(op).arguments]
        given = dict(zip(names, args), **kwargs)
        dtype, weight = given.get("dtype"), given.get("weight")
        if dtype in self.dtypes:
            half = dtype
        given = {n: wide(v, written[names.index(n)])
                 for n, v in given.items()}
        positional = [given.pop(n) for n in names[:len(args)]]
        result = op.redispatch(keys, *positional, **given)
        for copy, value in targets.values():
            value.copy_(copy)
        others = (torch.float32 if rule == "!" else
                  weight.dtype if rule == "^" and weight is not None else
                  half)
        keep = dtype is torch.float32

        def narrow(value, place):
            if not isinstance(value, torch.Tensor):
                return value
            if id(value) in targets:
                return targets[id(value)][1]
            if value.dtype is not wider or keep:
                return value
            return value.to(others if place else half)

        if isinstance(result, (tuple, list)):
            return type(result)([narrow(r, i) for i, r in enumerate(result)])
        return narrow(result, 0)
