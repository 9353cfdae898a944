"""triton.tools.mxfp: test data in the microscaling formats.

MXFP4Tensor holds 4-bit floats (sign, two bits of exponent, one of mantissa)
in the low half of bytes; MXScaleTensor powers of two as their biased
exponents, 255 being NaN.  Imported only when asked for: it needs PyTorch.
"""
from __future__ import annotations

import torch
from typing import Any

# the magnitudes of the codes 0 to 7
_MAGNITUDES = (0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0)
_BIAS, _NAN = 127, 255


class _Tensor:
    """Codes made from floats (data), or of a size to be filled."""
    _from_float: Any  # of the class for a format

    def __init__(self, data=None, size=None, device=None):
        if data is None and size is None:
            raise ValueError("Either parameter data or size must be provided")
        self.device = device
        if data is None:
            self.size = size if isinstance(size, tuple) else (size,)
            return
        assert isinstance(data, torch.Tensor), \
            "Parameter data must be a torch tensor"
        self.device = data.device
        self.data = self._from_float(data)


class MXFP4Tensor(_Tensor):
    """4-bit floats, one in a byte."""

    def random(self) -> Any:
        """Fills it with any codes; returns itself."""
        self.data = torch.randint(0, 16, size=self.size, dtype=torch.uint8,
                                  device=self.device)
        return self

    def to(self, dtype: Any) -> Any:
        """The values as float32."""
        assert dtype == torch.float32, \
            "Currently only float32 is supported for fp4e2m1 to float " \
            "conversion"
        table = torch.tensor(_MAGNITUDES + tuple(-x for x in _MAGNITUDES),
                             dtype=dtype, device=self.data.device)
        return table[self.data.long() & 15]

    @staticmethod
    def _from_float(values):
        """Nearest codes, ties to even mantissas; NaN and beyond: the
        largest magnitude."""
        table = torch.tensor(_MAGNITUDES, device=values.device)
        x = values.float().abs().nan_to_num(_MAGNITUDES[-1])
        upper = torch.bucketize(x, table).clamp(1, len(_MAGNITUDES) - 1)
        middle = (table[upper] + table[upper - 1]) / 2
        up = (x > middle) | ((x == middle) & (upper % 2 == 0))
        code = torch.where(up, upper, upper - 1)
        return (code | (torch.signbit(values).long() << 3)).to(torch.uint8)

    def to_packed_tensor(self, dim: int) -> Any:
        """Two codes in each byte along dim, the first in the low half."""
        data = self.data
        assert 0 <= dim < data.ndim, \
            "The dimension to pack along is not within the range of tensor " \
            "dimensions"
        if data.size(dim) % 2:
            pad = torch.zeros_like(data.narrow(dim, 0, 1))
            data = torch.cat((data, pad), dim)
        pairs = data.unflatten(dim, (-1, 2))
        return pairs.select(dim + 1, 0) | (pairs.select(dim + 1, 1) << 4)

    @staticmethod
    def unpack_packed_tensor(packed_tensor: Any, dim: int,
                             original_shape: tuple[int, ...]) -> Any:
        """One code in each byte again."""
        pairs = torch.stack((packed_tensor & 15, packed_tensor >> 4 & 15),
                            dim + 1)
        return pairs.flatten(dim, dim + 1).narrow(
            dim, 0, original_shape[dim]).to(torch.uint8)


class MXScaleTensor(_Tensor):
    """Powers of two."""

    def random(self, low: float | None = None,
               high: float | None = None) -> MXScaleTensor:
        """Fills it with powers between low and high; returns itself."""
        def exponent(x, default):
            if x is None:
                return default
            at = int(torch.log2(torch.tensor(x)).item()) + _BIAS
            return min(max(at, 0), _NAN - 1)
        first, last = exponent(low, 0), exponent(high, _NAN - 1)
        assert first <= last, "Low must be less than or equal to high"
        self.data = torch.randint(first, last + 1, size=self.size,
                                  dtype=torch.uint8, device=self.device)
        return self

    def to(self, dtype: Any) -> Any:
        """The values as float32."""
        assert dtype == torch.float32, \
            "Currently only float32 is supported for f8e8m0 to float " \
            "conversion"
        value = torch.exp2(self.data.to(dtype) - _BIAS)
        return torch.where(self.data == _NAN, torch.nan, value)

    @staticmethod
    def _from_float(values):
        """Powers rounded down; what is not a positive number: NaN."""
        good = torch.isfinite(values) & (values > 0)
        exponent = torch.frexp(torch.where(good, values, 1.0)).exponent - 1
        code = (exponent + _BIAS).clamp(0, _NAN - 1)
        return torch.where(good, code, _NAN).to(torch.uint8)
