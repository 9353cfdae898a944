"""Products and reductions of fp16 and bf16 as CUDA computes them.

CUDA's kernels multiply halves exactly, add in fp32 and round once; some of
PyTorch's CPU kernels round each partial sum to the type, and most are slow.
The operators in the list run in fp32 here, for tensors of the virtual device.

They get a kernel under the dispatch key that stands between autograd and the
backends, so that those which C++ code calls (the parts of cross_entropy, a
backward pass) are seen as well.  They get it when the first half arrives on
the device: programs without halves pay nothing.
"""
from __future__ import annotations

from .vcuda_autocast import find
from .vcuda_marks import HOST, MARK

_KEY = "BackendSelect"

# Operators of ATen whose CPU kernels for halves accumulate in the type, or
# are far slower than the same in fp32.  After an '!', results but the first
# are fp32, as CUDA's are; after a '^', they have the dtype of the weights.
_OPERATORS = """
    mm bmm addmm baddbmm addmv mv dot vdot addbmm addr
    mm.out bmm.out addmm.out baddbmm.out addmm_ baddbmm_ addmv_ addbmm_
    convolution convolution_backward
    _scaled_dot_product_flash_attention_for_cpu
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
    renorm dist trace
    avg_pool2d avg_pool3d _adaptive_avg_pool2d _adaptive_avg_pool3d
    avg_pool2d_backward _adaptive_avg_pool2d_backward
    upsample_bilinear2d upsample_bicubic2d upsample_linear1d
    upsample_trilinear3d grid_sampler_2d grid_sampler_3d"""


class Halves:
    """The kernels of the list."""

    def __init__(self, virtual):
        self.virtual = virtual
        self.torch = virtual.torch
        self.dtypes = frozenset((self.torch.float16, self.torch.bfloat16))
        self._library = None

    def install(self):
        """Registers the kernels, for the first half on the device."""
        if self._library is not None:
            return
        torch = self.torch
        self._library = torch.library.Library("aten", "IMPL")
        register = self.virtual.libraries.own
        for name in _OPERATORS.split():
            op = find(torch, name.lstrip("!^"))
            if op is not None:
                register(self._library, op, self._kernel(op, name[0]), _KEY,
                         with_keyset=True)

    def uninstall(self):
        if self._library is not None:
            self._library._destroy()
            self._library = None

    def _kernel(self, op, rule):
        c, halves = self.torch._C, self.dtypes
        tensor, redispatch = self.torch.Tensor, op.redispatch
        below = c._dispatch_keyset_full_after(getattr(c.DispatchKey, _KEY))
        cpu = c.DispatchKey.CPU
        place = int(op._schema.name == "aten::polygamma")  # polygamma(n, x)
        written = [a.alias_info is not None and a.alias_info.is_write or
                   a.name.startswith("running_")
                   for a in op._schema.arguments]

        def kernel(keys, *args, **kwargs):
            first = args[place]
            if not isinstance(first, tensor):
                first = first[0]
            if (first.dtype not in halves or
                    getattr(first, MARK, None) == HOST or
                    not keys.has(cpu)):
                return redispatch(keys & below, *args, **kwargs)
            return self._in_fp32(op, keys & below, args, kwargs, first.dtype,
                                 written, rule)
        return kernel

    def _in_fp32(self, op, keys, args, kwargs, half, written, rule):
        """Runs an operator on fp32 copies; writes and returns halves."""
        torch, targets = self.torch, {}

        def wide(value, write):
            if isinstance(value, torch.Tensor):
                if value.dtype not in self.dtypes:
                    return value
                copy = value.float()
                if write:
                    targets[id(copy)] = copy, value
                return copy
            if isinstance(value, (tuple, list)):
                return type(value)([wide(v, write) for v in value])
            if isinstance(value, torch.dtype) and value in self.dtypes:
                return torch.float32
            return value

        names = [a.name for a in op._schema.arguments]
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
            if value.dtype is not torch.float32 or keep:
                return value
            return value.to(others if place else half)

        if isinstance(result, (tuple, list)):
            return type(result)([narrow(r, i) for i, r in enumerate(result)])
        return narrow(result, 0)
