"""Operators that PyTorch's CPU has for more types than CUDA.

Without care a product of integer matrices would run on the virtual device and
fail on a GPU.  The functions of the table are watched when they get a tensor
of such a type, by a mode of the dispatcher that is entered for that call
alone, so that operators which C++ code calls (those of einsum and matmul) are
seen as well.  The table is what PyTorch's own tests declare (OpInfo's dtypes
and dtypesIfCUDA), the messages are those of CUDA's kernels.
"""
from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from .. import torch_private
from .marks import name_of, tensors_of

if TYPE_CHECKING:
    from .virtual import VirtualCuda

_INTEGERS = "uint8 int8 int16 int32 int64 bool"
_HALVES = "float16 bfloat16"
_CUDNN = "getCudnnDataTypeFromScalarType() not supported for {dtype}"
_ENGINE = "GET was unable to find an engine to execute this computation"
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
     "int16 int64 bool", {"convolution": _CUDNN}),
    ("""conv1d conv2d conv3d conv_transpose1d conv_transpose2d
        conv_transpose3d convolution""",
     "uint8 int8 int32", {"convolution": _ENGINE}),
    ("avg_pool1d avg_pool2d avg_pool3d local_response_norm",
     _INTEGERS,
     {"avg_pool2d": _lacks("avg_pool2d_out_cuda_frame"),
      "avg_pool3d": _lacks("avg_pool3d_out_frame")}),
    ("max_pool1d", _INTEGERS,
     {"max_pool1d": _lacks("max_pool2d_with_indices_out_cuda_frame")}),
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
    ("histc", _HALVES + " bool", {"histc": _lacks("histc")}),
    ("histogram histogramdd", "float32 float64 " + _INTEGERS,
     {"histogram _histogramdd_from_bin_cts _histogramdd_bin_edges": _ABSENT}),
]


# The same for 8-bit floats and unsigned integers, which CUDA can do little
# with but move them; watched once there is such a tensor.
_FLOAT8 = "float8_e4m3fn float8_e5m2 float8_e4m3fnuz float8_e5m2fnuz"
_UNSIGNED = "uint16 uint32 uint64"
_RARE = [
    ("""mul mul_ multiply multiply_ __mul__ __rmul__ __imul__ outer ger
        inner dot kron""",
     _FLOAT8 + " " + _UNSIGNED, {"mul mul_": _lacks("mul_cuda")}),
    ("abs abs_ absolute absolute_ __abs__", _FLOAT8,
     {"abs abs_": _lacks("abs_cuda")}),
    ("any", _FLOAT8 + " " + _UNSIGNED, {"any": _lacks("or_cuda")}),
    ("all", _FLOAT8 + " " + _UNSIGNED, {"all": _lacks("and_cuda")}),
    ("sort argsort msort", _UNSIGNED, {"sort": _lacks("sortKeyValueInplace")}),
    ("where", _UNSIGNED, {"where": _lacks("where_cuda")}),
    ("__getitem__", _UNSIGNED, {"index": _lacks("index_cuda")}),
    ("roll", _FLOAT8 + " " + _UNSIGNED, {"roll": _lacks("roll_cuda")}),
    (_TABLE[0][0], _FLOAT8 + " " + _UNSIGNED, _TABLE[0][2]),
    *[(f"bitwise_{n} bitwise_{n}_ __{n}__ __r{n}__ __i{n}__", _UNSIGNED,
       {f"bitwise_{n} bitwise_{n}_ __{n}__ __i{n}__":
        _lacks(f"bitwise_{n}_cuda")}) for n in ("and", "or", "xor")],
]


class Refusals:
    """The tables for one virtual device."""

    def __init__(self, virtual: VirtualCuda) -> None:
        self.virtual, torch = virtual, virtual.torch
        self.rare = frozenset(_dtypes(torch, _FLOAT8 + " " + _UNSIGNED))
        # (operator, dtype) -> message
        self.messages: dict[tuple[str, Any], str] = {}
        for _, names, operators in _TABLE + _RARE:
            for dtype in _dtypes(torch, names):
                self.messages.update(
                    ((name, dtype), message)
                    for group, message in operators.items()
                    for name in group.split())
        self._mode: Any = None

    def functions(self, rare: bool = False,
                  inside: Any = ()) -> dict[Any, Callable[..., Any]]:
        """{function of PyTorch, or name of an operator: what runs it}; rare:
        with those of dtypes that few programs use; inside: what ran some of
        them so far."""
        torch = self.virtual.torch
        watched: dict[Any, set[Any]] = {}
        spaces = (torch, torch.Tensor, torch.nn.functional,
                  *torch_private.spaces(), torch.linalg, torch.special)
        for names, dtypes, operators in _TABLE + _RARE * rare:
            found = ["aten::" + name for group in operators
                     for name in group.split()]
            found += [getattr(space, name) for name in names.split()
                      for space in spaces if hasattr(space, name)]
            for each in found:
                watched.setdefault(each, set()).update(_dtypes(torch, dtypes))
        return {each: _watch(frozenset(dtypes), dict(inside).get(each))
                for each, dtypes in watched.items()}

    def mode(self) -> Any:
        if self._mode is None:
            self._mode = _mode(self)
        return self._mode()

    def check_whole(self, func: Any, args: tuple[Any, ...]) -> None:
        """The same for a function that reaches no operator of its own."""
        if getattr(func, "__name__", "") == "max_pool1d":
            self._check("max_pool1d", "", args)

    def check(self, func: Any, args: tuple[Any, ...]) -> None:
        """Raises what CUDA raises for an operator on these arguments."""
        schema = torch_private.schema(func)
        self._check(schema.name.partition("::")[2], schema.overload_name, args)

    def _check(self, name, overload, args):
        given = [t.dtype for t in
                 tensors_of(args, self.virtual.torch.Tensor)[:3]]
        if name in ("where", "index"):  # conditions and indices do not count
            given = [d for d in given if d in self.rare]
        dtype = given[0] if given else None
        message = self.messages.get((name, dtype))
        if message is None or len(set(given[:2])) > 1:
            return
        kind = (RuntimeError if message in (_CUDNN, _ENGINE)
                else NotImplementedError)
        error: Any = kind(message.format(
            dtype=name_of(dtype),
            name=".".join(filter(None, (name, overload)))))
        error.is_cudas = True
        raise error


def _dtypes(torch, names):
    return [getattr(torch, n) for n in names.split() if hasattr(torch, n)]


def _watch(dtypes, inside=None):
    def call(v, func, args, kwargs):
        return v.plain(func, args, kwargs)

    call = inside or call

    def run(v, func, args, kwargs):
        if v.strict and any(
                t.dtype in dtypes and v.on_device(t)
                for t in tensors_of((args, kwargs), v.tensor)):
            v.refusals.check_whole(func, args)
            with v.refusals.mode():
                return call(v, func, args, kwargs)
        return call(v, func, args, kwargs)
    return run


def _mode(refusals):
    mode: Any = torch_private.dispatch_mode()

    class Refusing(mode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            refusals.check(func, args)
            with torch_private.unseen():
                return func(*args, **(kwargs or {}))

    return Refusing
