"""Products of fp32 in TF32, where the program allows them to be.

cuBLAS rounds the operands of such a product to ten digits after the point,
to nearest, and adds their products in fp32.  On an RTX 3090 ties go away from
zero: 1024.5 times 1 is 1025 (PyTorch's issue 53635).  On an H200 (PyTorch 2.11,
CUDA 13) they go to even: 1 + 2^-11 times 1 is 1, and 1 + 3 * 2^-11 is
1 + 2^-9.
"""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .. import device, torch_private
from .marks import HOST

if TYPE_CHECKING:
    from .virtual import VirtualCuda

# The operators of ATen that cuBLAS's gemm computes; of each the operands.
_FACTORS = {
    "mm": ("self", "mat2"), "bmm": ("self", "mat2"),
    "addmm": ("mat1", "mat2"), "addmm_": ("mat1", "mat2"),
    "baddbmm": ("batch1", "batch2"), "baddbmm_": ("batch1", "batch2"),
    "addbmm": ("batch1", "batch2"), "addbmm_": ("batch1", "batch2")}
_LOST = 13          # digits that fp32 has more
_TIES_TO_EVEN = 90  # from this architecture on


def factors(schema: Any) -> frozenset[int]:
    """The places of the factors among the arguments of an operator; none of
    one that is not computed in TF32."""
    names = _FACTORS.get(schema.name.partition("::")[2], ())
    return frozenset(i for i, a in enumerate(schema.arguments)
                     if a.name in names)


def is_allowed(virtual: VirtualCuda, args: Any) -> bool:
    """Whether a product of fp32 is computed in TF32."""
    return torch_private.allows_tf32() and virtual.where(args) != HOST


def rounded(torch: Any, x: Any) -> Any:
    """fp32 rounded to TF32."""
    bits = x.view(torch.int32)
    half = 1 << (_LOST - 1)
    up = (half if device.model().arch < _TIES_TO_EVEN else
          half - 1 + (bits >> _LOST & 1))
    cut = (bits + up & -1 << _LOST).view(torch.float32)
    return torch.where(torch.isfinite(x), cut, x)
