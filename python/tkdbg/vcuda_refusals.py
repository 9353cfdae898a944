"""Operators that PyTorch's CPU has for more types than CUDA.

Without care a product of integer matrices would run on the virtual device and
fail on a GPU.  The functions of the table are watched when they get a tensor
of such a type, by a mode of the dispatcher that is entered for that call
alone, so that operators which C++ code calls (those of einsum and matmul) are
seen as well.  The table is what PyTorch's own tests declare (OpInfo's dtypes
and dtypesIfCUDA), the messages are those of CUDA's kernels.
"""
from __future__ import annotations

from .vcuda_marks import tensors_of

_INTEGERS = "uint8 int8 int16 int32 int64 bool"
_HALVES = "float16 bfloat16"
_NAMES = {"uint8": "Byte", "int8": "Char", "int16": "Short", "int32": "Int",
          "int64": "Long", "bool": "Bool", "float16": "Half",
          "bfloat16": "BFloat16"}
_CUDNN = "getCudnnDataTypeFromScalarType() not supported for {dtype}"
_ABSENT = "Could not run 'aten::{name}' with arguments from the 'CUDA' backend"


def _lacks(kernel):
    return f"\"{kernel}\" not implemented for '{{dtype}}'"


# functions of PyTorch: dtypes, {operators of ATen they come to: message}
_TABLE = [
    ("""mm bmm mv dot vdot addmm addmm_ addmv addmv_ baddbmm baddbmm_ addbmm
        addbmm_ matmul __matmul__ __rmatmul__ linear bilinear einsum tensordot
        inner chain_matmul multi_dot linalg_multi_dot matrix_power
        linalg_matrix_power""",
     _INTEGERS,
     {"mm addmm addmm_ addbmm addbmm_": _lacks("addmm_cuda"),
      "mv addmv addmv_": _lacks("addmv_impl_cuda"),
      "bmm baddbmm baddbmm_ _trilinear": _lacks("baddbmm_cuda"),
      "dot": _lacks("dot"), "vdot": _lacks("vdot")}),
    ("""conv1d conv2d conv3d conv_transpose1d conv_transpose2d
        conv_transpose3d convolution""",
     _INTEGERS, {"convolution": _CUDNN}),
    ("avg_pool1d avg_pool2d avg_pool3d local_response_norm",
     _INTEGERS,
     {"avg_pool2d": _lacks("avg_pool2d_out_cuda_frame"),
      "avg_pool3d": _lacks("avg_pool3d_out_frame")}),
    ("""max_pool2d _max_pool2d max_pool3d _max_pool3d max_pool2d_with_indices
        max_pool3d_with_indices""",
     _INTEGERS,
     {"max_pool2d_with_indices":
      _lacks("max_pool2d_with_indices_out_cuda_frame"),
      "max_pool3d_with_indices":
      _lacks("max_pool3d_with_indices_out_frame")}),
    ("""interpolate upsample upsample_bilinear upsample_bilinear2d
        upsample_bicubic2d _upsample_bilinear2d_aa""",
     "uint8",
     {"upsample_bilinear2d _upsample_bilinear2d_aa":
      _lacks("upsample_bilinear2d_out_frame"),
      "upsample_bicubic2d": _lacks("upsample_bicubic2d_out_frame")}),
    ("igamma igamma_ gammainc", _HALVES, {"igamma igamma_":
                                          _lacks("igamma_cuda")}),
    ("igammac igammac_ gammaincc", _HALVES, {"igammac igammac_":
                                             _lacks("igammac_cuda")}),
    ("angle", _HALVES, {"angle": _lacks("angle_cuda")}),
    ("histc", _HALVES, {"histc": _lacks("histc")}),
    ("histogram histogramdd", "float32 float64",
     {"histogram _histogramdd_from_bin_cts _histogramdd_bin_edges": _ABSENT}),
]


class Refusals:
    """The table for one virtual device."""

    def __init__(self, virtual):
        self.virtual, torch = virtual, virtual.torch
        self.messages = {}  # (operator, dtype) -> message
        for _, names, operators in _TABLE:
            for dtype in _dtypes(torch, names):
                self.messages.update(
                    ((name, dtype), message)
                    for group, message in operators.items()
                    for name in group.split())
        self._mode = None

    def functions(self):
        """{function of PyTorch, or name of an operator: what runs it}"""
        torch, found = self.virtual.torch, {}
        spaces = (torch, torch.Tensor, torch.nn.functional, torch._C._nn,
                  torch._C._VariableFunctions, torch._C._linalg,
                  torch.linalg, torch.special)
        for names, dtypes, operators in _TABLE:
            watch = _watch(frozenset(_dtypes(torch, dtypes)))
            found.update(("aten::" + name, watch)
                         for group in operators for name in group.split())
            found.update((getattr(space, name), watch)
                         for name in names.split() for space in spaces
                         if hasattr(space, name))
        return found

    def mode(self):
        if self._mode is None:
            self._mode = _mode(self)
        return self._mode()

    def check(self, func, args):
        """Raises what CUDA raises for an operator on these arguments."""
        given = {t.dtype for t in
                 tensors_of(args, self.virtual.torch.Tensor)[:2]}
        name = func._schema.name.partition("::")[2]
        dtype = next(iter(given), None)
        message = self.messages.get((name, dtype))
        if message is None or len(given) > 1:
            return
        kind = NotImplementedError if message == _ABSENT else RuntimeError
        error = kind(message.format(
            dtype=_NAMES.get(str(dtype).partition(".")[2]), name=name))
        error.is_cudas = True
        raise error


def _dtypes(torch, names):
    return [getattr(torch, n) for n in names.split() if hasattr(torch, n)]


def _watch(dtypes):
    def run(v, func, args, kwargs):
        if v.strict and any(
                t.dtype in dtypes and v.on_device(t)
                for t in tensors_of((args, kwargs), v.tensor)):
            with v.refusals.mode():
                return v.plain(func, args, kwargs)
        return v.plain(func, args, kwargs)
    return run


def _mode(refusals):
    from torch.utils._python_dispatch import TorchDispatchMode
    plainly = refusals.virtual.torch._C.DisableTorchFunction

    class Refusing(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            refusals.check(func, args)
            with plainly():
                return func(*args, **(kwargs or {}))

    return Refusing
