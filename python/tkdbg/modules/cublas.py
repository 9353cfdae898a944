"""triton._C.libtriton.nvidia.cublas: products of matrices by cuBLASLt, which
scripts compare their kernels with.  They run in PyTorch here."""
from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any

from .. import session

_DTYPES = {
    "matmul": ("float8_e4m3fn", "float16", "float32", "bfloat16"),
    "gemm": ("float16", "float32", "bfloat16")}


class CublasLt:
    """A handle; the workspace is not used."""

    def __init__(self, workspace: Any) -> None:
        pass

    def matmul(self, A: Any, B: Any, C: Any) -> None:
        """C = A @ B.T"""
        _check("matmul", A, B, C)
        C.copy_(A.float() @ B.float().T)

    def gemm(self, A: Any, B: Any, C: Any, D: Any, alpha: Any,
             beta: Any) -> None:
        """D = alpha * (A @ B.T) + beta * C"""
        _check("gemm", A, B, C, D)
        D.copy_(alpha * (A.float() @ B.float().T) + beta * C.float())


def handle() -> CublasLt:
    """The handle of the current device."""
    return CublasLt(None)


def _check(name, a, b, *outputs):
    """Raises what Triton's extension raises on operands that do not fit."""
    kinds = [str(t.dtype).rpartition(".")[2] for t in (a, b, *outputs)]
    if len(set(kinds)) > 1:
        raise RuntimeError("Data types do not match: " + ", ".join(
            f"{n}={kind}" for n, kind in zip("ABCD", kinds)))
    if kinds[0] not in _DTYPES[name]:
        raise RuntimeError(
            f"Unsupported dtype for cublasLt.{name}: {kinds[0]}")
    shape = (a.shape[0], b.shape[0])
    for other, what in [(b.shape[1:], a.shape[1:]),
                        *((t.shape, shape) for t in outputs)]:
        if tuple(other) != tuple(what):
            raise RuntimeError(
                "Matrix dimensions do not match: "
                f"A is {list(a.shape)}, B is {list(b.shape)}, outputs are "
                f"{[list(t.shape) for t in outputs]}. "
                "Note that B needs to be transposed.")


def in_place_of(real: type) -> Callable[..., Any]:
    """What makes handles: ours while there is a virtual device, else real
    ones."""
    def make_handle(workspace):
        virtual = session.current().setup.cuda
        return (CublasLt if virtual else real)(workspace)
    return make_handle


def namespaces() -> dict[str, dict[str, Any]]:
    """The modules around it, as Triton's extension has them."""
    cublas = types.SimpleNamespace(CublasLt=CublasLt)
    nvidia = types.SimpleNamespace(cublas=cublas)
    return {"triton._C": {}, "triton._C.libtriton": dict(nvidia=nvidia)}
