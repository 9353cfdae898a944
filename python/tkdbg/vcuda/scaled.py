"""Products of scaled matrices of 8-bit floats, of which CUDA takes fewer.

PyTorch's CPU multiplies what cuBLAS refuses: two matrices of e5m2, sizes that
are not multiples of 16, a right matrix by rows.  The rules, their order and
their words are those of PyTorch's own checks and of cuBLAS 13 on an H100.
The other way round, CUDA has scales of blocks of 128, which the CPU lacks.
"""
from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from .. import device as device_, torch_private
from .marks import name_of

_FIRST = ("self", "mat2", "scale_a", "scale_b", "bias", "scale_result",
          "out_dtype", "use_fast_accum")
_SECOND = ("self", "mat2", "scale_a", "recipe_a", "swizzle_a", "scale_b",
           "recipe_b", "swizzle_b", "bias", "out_dtype")
# How the CPU of PyTorch before 2.13 refuses a scale for each row.
_ONE_SCALE = "only supports per-tensor scaling for CPU"
_UNSUPPORTED = "CUDA error: CUBLAS_STATUS_NOT_SUPPORTED"


def functions() -> dict[Any, Callable[..., Any]]:
    """{function of PyTorch, or name of an operator: what runs it}"""
    found = {}
    for name, parameters, error in (
            ("_scaled_mm", _FIRST, RuntimeError),
            ("_scaled_mm_v2", _SECOND, ValueError)):
        found["aten::" + name] = run = _runs(parameters, error)
        found.update(dict.fromkeys(torch_private.functions(name), run))
    found["aten::_int_mm"] = _int_mm
    found.update(dict.fromkeys(torch_private.functions("_int_mm"), _int_mm))
    return found


def _int_mm(v, func, args, kwargs):
    """torch._int_mm: the product of matrices of int8, for sizes that cuBLAS
    takes."""
    given = {**dict(zip(("self", "mat2"), args)), **kwargs}
    a: Any = given.get("self", given.get("input"))
    b = given["mat2"]
    if v.strict and v.on_device(a) and a.dim() == b.dim() == 2:
        for holds, text in (
                (a.shape[0] > 16, "self.size(0) needs to be greater than 16, "
                 f"but got {a.shape[0]}"),
                (a.shape[1] and a.shape[1] % 8 == 0, "self.size(1) needs to "
                 "be greater than 0 and a multiple of 8, but got "
                 f"{a.shape[1]}"),
                (a.shape[1] == b.shape[0], "self.size(1) needs to match "
                 f"mat2.size(0) but got {a.shape[1]} and {b.shape[0]}"),
                (b.shape[1] and b.shape[1] % 8 == 0, "mat2.size(1) needs to "
                 "be greater than 0 and a multiple of 8, but got "
                 f"{b.shape[1]}"),
                (a.dtype == v.torch.int8, "expected scalar type Char but "
                 f"found {name_of(a.dtype)}")):
            if not holds:
                raise RuntimeError(text)
    return v.plain(func, args, kwargs)


def _runs(parameters, error):
    def run(v, func, args, kwargs):
        given = {**dict(zip(parameters, args)), **kwargs}
        given.setdefault("self", given.get("input"))
        if not v.on_device(given["self"]):
            return v.plain(func, args, kwargs)
        if v.strict:
            _check(v.torch, given, error)
        if parameters is not _FIRST:
            blocks = _first_form(given)
            if blocks is None:
                return v.plain(func, args, kwargs)
            return v.plain(lambda *_: _multiply_blocks(blocks), tuple(
                blocks[n] for n in _FIRST[:4]), {})
        if given.get("scale_result") is not None:
            # CUDA looks at its type alone
            kwargs = dict(kwargs, scale_result=None)
            args = args[:_FIRST.index("scale_result")]
            kwargs.update((n, given[n]) for n in _FIRST[5:]
                          if n in given and n != "scale_result")
        operands = tuple(given[n] for n in _FIRST[:4])
        if _has_blocks(*operands):
            return v.plain(lambda *_: _multiply_blocks(given), operands, {})
        try:
            return v.plain(func, args, kwargs)
        except RuntimeError as e:
            if _ONE_SCALE not in str(e):
                raise
            return v.plain(lambda *_: _multiply_rows(given), operands, {})
    return run


def _name(dtype):
    """PyTorch's name of a dtype in C++."""
    name = str(dtype).partition(".")[2]
    return {"bfloat16": "BFloat16", "float16": "Half", "float32": "Float",
            "float64": "Double"}.get(name, name.capitalize())


def _by_columns(matrix):
    rows, columns = matrix.stride()
    return rows == 1 and columns >= max(1, matrix.shape[0])


def _check(torch, given, error):
    """Raises what CUDA raises; what the CPU refuses too is left to it."""
    a, b, bias = given["self"], given["mat2"], given.get("bias")
    if a.dim() != 2 or b.dim() != 2 or a.shape[1] != b.shape[0] or not (
            _is_float8(a) and _is_float8(b)) or (
            bias is not None and bias.numel() != b.shape[1]):
        return
    (m, k), n = a.shape, b.shape[1]
    out = given.get("out")
    dtype = out.dtype if out is not None else given.get("out_dtype")
    for holds, text, kind in (
            (k % 16 == 0, "Expected trailing dimension of mat1 to be "
             f"divisible by 16 but got mat1 shape: ({m}x{k}).", error),
            (n % 16 == 0, f"mat2 shape ({k}x{n}) must be divisible by 16",
             error),
            (not a.dtype == b.dtype == torch.float8_e5m2, "Multiplication "
             "of two Float8_e5m2 matrices is not supported", ValueError),
            *_rules_of_bias(torch, bias, dtype or a.dtype, error),
            (0 in (m, k, n), None, None),
            *_rules_of_cublas(torch, a, b, dtype or a.dtype)):
        if kind is None and holds:
            return
        if kind is not None and not holds:
            raise kind(text)


def _is_float8(matrix):
    return re.match(r"torch\.float8_e[45]m[23]", str(matrix.dtype))


def _rules_of_bias(torch, bias, dtype, error):
    if bias is None:
        return ()
    wanted = {torch.bfloat16: "BFloat16", torch.float16: "Float16"}
    return ((dtype != torch.float32, "Bias is not supported when out_dtype "
             "is set to Float32", error),
            (bias.dtype in wanted, "Bias must be BFloat16 or Half, but got "
             + _name(bias.dtype), error),
            (dtype not in wanted or bias.dtype == dtype, "Bias must be "
             f"{wanted.get(dtype)} to compute {_name(dtype)} output, but got "
             f"{_name(bias.dtype)}", error))


def _rules_of_cublas(torch, a, b, dtype):
    e4, e5 = torch.float8_e4m3fn, torch.float8_e5m2
    both = {a.dtype, b.dtype}
    other = next(iter(both - {e4, e5}), None)
    results = {torch.float32, torch.float16, torch.bfloat16, e4,
               e5 if e5 in both else e4}
    by_rows = device_.model().capability[0] == 9
    return ((other is None, f"Cannot convert ScalarType {_name(other)} to "
             "cudaDataType.", RuntimeError),
            (not by_rows or (not _by_columns(a) and _by_columns(b)),
             "Only multiplication of row-major and column-major matrices is "
             "supported by cuBLASLt", RuntimeError),
            (dtype in results, _UNSUPPORTED + " when calling "
             "`cublasLtMatmulAlgoGetHeuristic`", RuntimeError))


# ---- scales of blocks -----------------------------------------------------

def _block_of(matrix, scale):
    """Rows of a matrix that share a scale of 128 columns, or 0."""
    if scale.dim() != 2 or scale.shape[1] != -(-matrix.shape[1] // 128):
        return 0
    rows = matrix.shape[0]
    if scale.shape[0] == rows and scale.stride(0) == 1 and (
            scale.shape[1] == 1 or scale.stride(1) == rows):
        return 1
    return 128 if scale.shape[0] == -(-rows // 128) else 0


def _has_blocks(a, b, *scales):
    if a.dim() != 2 or b.dim() != 2 or not all(
            str(s.dtype) == "torch.float32" for s in scales) or (
            all(s.numel() == 1 for s in scales)) or (
            scales[0].shape[1:] == (1,) and scales[1].shape[:1] == (1,) and
            scales[0].numel() == a.shape[0] and
            scales[1].numel() == b.shape[1]):
        return False  # of matrices or rows
    blocks = _block_of(a, scales[0]), _block_of(b.t(), scales[1].t())
    return all(blocks) and blocks != (128, 128)


def _first_form(given):
    """What _scaled_mm_v2 is given for scales of blocks, as _scaled_mm takes
    it; None for other scales.  The second form has the scales of squares of
    128 by columns, the rows filled up to a multiple of four."""
    rows, square = 4, 5  # torch.nn.functional.ScalingType
    scales = [given["scale_a"], given["scale_b"]]
    recipes = [list(given["recipe_a"]), list(given["recipe_b"])]
    if recipes not in ([[rows], [rows]], [[rows], [square]],
                       [[square], [rows]]):
        return None
    a, b = given["self"], given["mat2"]
    deep = -(-a.shape[1] // 128)
    for name, matrix, s, recipe in zip("ab", (a, b.t()), scales, recipes):
        wanted = -(-deep // 4) * 4, -(-matrix.shape[0] // 128)
        if recipe == [square] and s[0].shape != wanted:
            raise ValueError(
                f"scale_{name} must have shape {wanted[0]} x {wanted[1]} Float "
                f"elements, got {list(s[0].shape)}")
    left, right = (s[0][:deep].t() if recipe == [square] else s[0]
                   for s, recipe in zip(scales, recipes))
    found = {**given, "scale_a": left, "scale_b": right.t()}
    return found if _has_blocks(a, b, left, right.t()) else None


def _multiply_blocks(given):
    def wide(matrix, scale):
        rows = _block_of(matrix, scale)
        scale = scale.repeat_interleave(rows, 0)[:matrix.shape[0]]
        scale = scale.repeat_interleave(128, 1)[:, :matrix.shape[1]]
        return matrix.float() * scale

    return _product(given, wide(given["self"], given["scale_a"]),
                    wide(given["mat2"].t(), given["scale_b"].t()).t())


def _multiply_rows(given):
    return _product(given, given["self"].float() * given["scale_a"],
                    given["mat2"].float() * given["scale_b"])


def _product(given, a, b):
    """The result for matrices in fp32 that were scaled."""
    product = a @ b
    if given.get("bias") is not None:
        product += given["bias"]
    product = product.to(given.get("out_dtype") or given["self"].dtype)
    out = given.get("out")
    return product if out is None else out.copy_(product)
