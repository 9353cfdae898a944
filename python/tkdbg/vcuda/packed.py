"""Products with weights of four bits, packed for tensor cores.

CUDA alone has them.  The layout is that of PyTorch's int4mm.cu: a lane of a
warp holds, of tiles of 8 rows and 16 columns, the values that it multiplies,
eight in each int32.
"""
from __future__ import annotations

from collections.abc import Callable

from typing import Any

from .. import torch_private


def functions() -> dict[Any, Callable[..., Any]]:
    """{function of PyTorch, or name of an operator: what runs it}"""
    found = {}
    for name, run in (("_convert_weight_to_int4pack", _pack),
                      ("_weight_int4pack_mm", _multiply)):
        found["aten::" + name] = run
        found.update(dict.fromkeys(torch_private.functions(name), run))
    return found


def _need(holds, text):
    """What CUDA's kernels check, and say by the text of their code."""
    if not holds:
        raise RuntimeError(
            f"Expected {text} to be true, but got false.  (Could this error "
            "message be improved?  If so, please report an enhancement "
            "request to PyTorch.)")


def _pack(v, func, args, kwargs):
    """uint8 [n, k / 2], the even column in the high half, to int32
    [n / 8, k / (16 * tiles), 32, tiles / 2]; tiles: inner tiles along k."""
    given = {**dict(zip(("self", "innerKTiles"), args)), **kwargs}
    weight, tiles = given["self"], given["innerKTiles"]
    if not v.on_device(weight):
        return v.plain(func, args, kwargs)
    _need(weight.dim() == 2, "in.dim() == 2")
    _need(weight.dtype == v.torch.uint8, "in.dtype() == at::kByte")
    _need(weight.is_contiguous(), "in.is_contiguous()")
    _need(tiles in (2, 4, 8),
          "innerKTiles == 2 || innerKTiles == 4 || innerKTiles == 8")
    return v.plain(_packed, (weight, tiles), {})


def _packed(weight, tiles):
    functional = _torch().nn.functional
    n, pairs = weight.shape
    wide = 8 * tiles
    weight = functional.pad(weight.int(), (0, -pairs % wide, 0, -n % 8))
    # [n / 8, 8, k / (16 * tiles), tiles / 2, half of 8 columns, a quad]
    w = weight.view(-(-n // 8), 8, -1, tiles // 2, 4, 4)
    low, high = w & 15, w >> 4
    shifts = _torch().arange(0, 16, 4, dtype=_torch().int32)[:, None]
    packed = ((low << (shifts + 16)) | (high << shifts)).sum(4)
    return packed.int().permute(0, 2, 1, 4, 3).reshape(
        w.shape[0], w.shape[2], 32, tiles // 2)


def _unpacked(packed):
    """int32 [n, k] of the values."""
    torch = _torch()
    n, k, _, pairs = packed.shape
    shifts = torch.arange(0, 16, 4, dtype=torch.int32)
    shifts = torch.stack([shifts, shifts + 16], -1)  # high half, low half
    values = (packed[..., None, None] >> shifts) & 15
    # [n / 8, k / .., 8, a quad, tiles / 2, half of 8 columns, even or odd]
    values = values.view(n, k, 8, 4, pairs, 4, 2)
    return values.permute(0, 2, 1, 4, 5, 3, 6).reshape(8 * n, -1)


def _multiply(v, func, args, kwargs):
    """bf16 [m, k] times packed weights of [n, k], in groups of columns that
    share a scale and a zero; each weight is rounded to bf16."""
    names = "self", "mat2", "qGroupSize", "qScaleAndZeros"
    given = {**dict(zip(names, args)), **kwargs}
    a, packed, group, scales = (given[name] for name in names)
    if not v.on_device(a):
        return v.plain(func, args, kwargs)
    torch = v.torch
    _need(a.dtype == torch.bfloat16, "A.dtype() == at::kBFloat16")
    _need(a.is_contiguous(), "A.is_contiguous()")
    _need(packed.dtype == torch.int32, "B.dtype() == at::kInt")
    _need(packed.dim() == 4, "B.dim() == 4")
    _need(group in (32, 64, 128, 256), " || ".join(
        f"qGroupSize == {n}" for n in (32, 64, 128, 256)))
    _need(scales.dim() == 3, "qScaleAndZeros.dim() == 3")
    for axis, size, name in ((0, a.shape[1] // group, "numQGroups"),
                             (1, 8 * packed.shape[0], "n"), (2, 2, "2")):
        _need(scales.shape[axis] == size,
              f"qScaleAndZeros.size({axis}) == {name}")

    def product(a, packed, scales):
        values = _unpacked(packed)[:, :a.shape[1]].float() - 8
        scale, zero = scales.float().repeat_interleave(group, 0).unbind(-1)
        weight = (values.t() * scale + zero).to(a.dtype)
        return (a.float() @ weight.float()).to(a.dtype)

    return v.plain(product, (a, packed, scales), {})


def _torch():
    import torch
    return torch
