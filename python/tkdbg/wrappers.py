"""What stands for a tensor: one without memory, one whose memory is read as
another type."""
from __future__ import annotations

import operator
import sys
from typing import Any

from .tensors import contiguous


class MockTensor:
    """A tensor with a type and no memory, for warmup."""

    @staticmethod
    def wrap_dtype(arg: Any) -> Any:
        cls = type(arg)
        if cls.__name__ == "dtype" and cls.__module__ == "torch":
            return MockTensor(arg)
        return arg

    def __init__(self, dtype: Any, shape: Any = None,
                 is_const: bool = False) -> None:
        self.dtype = dtype
        self.is_const = is_const
        self.shape = [1] if shape is None else shape

    def stride(self) -> tuple[int, ...]:
        return contiguous(self.shape)

    @staticmethod
    def data_ptr() -> int:
        return 0

    @staticmethod
    def ptr_range() -> int:
        return 0


class MockScalar:
    """A number with a type (0), for compiling."""

    def __init__(self, dtype: Any) -> None:
        self.dtype = dtype

    def tobytes(self) -> bytes:
        return bytes(max(self.dtype.primitive_bitwidth // 8, 1))

    def item(self) -> Any:
        """A number of Python's that has this type as an item of a tuple."""
        return _ITEMS.get(self.dtype.name, 0.0)


class TypedScalar(MockScalar):
    """A number that has a type of its own, whatever its value is."""

    def __init__(self, dtype: Any, value: Any, bits: Any) -> None:
        super().__init__(dtype)
        self.value = value
        self.bits = bits  # that the type has for it

    def tobytes(self) -> bytes:
        size = max(self.dtype.primitive_bitwidth // 8, 1)
        return self.bits.to_bytes(size, sys.byteorder)

    def item(self) -> Any:
        return self.value

    def __int__(self) -> int:
        return int(self.value)

    def __index__(self) -> Any:
        return operator.index(self.value)

    def __repr__(self) -> str:
        return repr(self.value)


_ITEMS = {"int1": False, "int32": 0, "int64": 1 << 40, "uint64": 1 << 63}


class TensorWrapper:
    """A tensor whose elements are read as another type."""

    def __init__(self, base: Any, dtype: Any) -> None:
        self.base = base
        self.dtype = dtype
        self.data = base.data
        self.device = base.device
        self.shape = base.shape

    def data_ptr(self) -> int:
        return self.base.data_ptr()

    def stride(self, *args: Any) -> Any:
        return self.base.stride(*args)

    def element_size(self) -> Any:
        return self.base.element_size()

    def cpu(self) -> Any:
        return TensorWrapper(self.base.cpu(), self.dtype)

    def clone(self) -> Any:
        return TensorWrapper(self.base.clone(), self.dtype)

    def to(self, device: Any) -> Any:
        return TensorWrapper(self.base.to(device), self.dtype)

    def new_empty(self, sizes: Any) -> Any:
        return TensorWrapper(self.base.new_empty(sizes), self.dtype)

    def copy_(self, other: Any) -> None:
        self.base.copy_(other.base)

    def __str__(self) -> str:
        return f"TensorWrapper[{self.dtype}]({self.base})"


def reinterpret(tensor: Any, dtype: Any) -> Any:
    """tensor with its elements read as dtype; TypeError without memory."""
    if isinstance(tensor, TensorWrapper):
        if dtype == tensor.base.dtype:
            return tensor.base
        return TensorWrapper(tensor.base, dtype)
    if hasattr(tensor, "data_ptr"):
        return TensorWrapper(tensor, dtype)
    raise TypeError(f"Cannot reinterpret a {type(tensor)}.")
