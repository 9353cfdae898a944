"""What stands for a tensor: one without memory, one whose memory is read as
another type."""
from __future__ import annotations

import operator
import sys

from .tensors import contiguous


class MockTensor:
    """A tensor with a type and no memory, for warmup."""

    @staticmethod
    def wrap_dtype(arg):
        cls = type(arg)
        if cls.__name__ == "dtype" and cls.__module__ == "torch":
            return MockTensor(arg)
        return arg

    def __init__(self, dtype, shape=None):
        self.dtype = dtype
        self.shape = [1] if shape is None else shape

    def stride(self):
        return contiguous(self.shape)

    @staticmethod
    def data_ptr():
        return 0

    @staticmethod
    def ptr_range():
        return 0


class MockScalar:
    """A number with a type (0), for compiling."""

    def __init__(self, dtype):
        self.dtype = dtype

    def tobytes(self):
        return bytes(max(self.dtype.primitive_bitwidth // 8, 1))

    def item(self):
        """A number of Python's that has this type as an item of a tuple."""
        return _ITEMS.get(self.dtype.name, 0.0)


class TypedScalar(MockScalar):
    """A number that has a type of its own, whatever its value is."""

    def __init__(self, dtype, value, bits):
        super().__init__(dtype)
        self.value = value
        self.bits = bits  # that the type has for it

    def tobytes(self):
        size = max(self.dtype.primitive_bitwidth // 8, 1)
        return self.bits.to_bytes(size, sys.byteorder)

    def item(self):
        return self.value

    def __int__(self):
        return int(self.value)

    def __index__(self):
        return operator.index(self.value)

    def __repr__(self):
        return repr(self.value)


_ITEMS = {"int1": False, "int32": 0, "int64": 1 << 40, "uint64": 1 << 63}


class TensorWrapper:
    """A tensor whose elements are read as another type."""

    def __init__(self, base, dtype):
        self.base = base
        self.dtype = dtype
        self.data = base.data
        self.device = base.device
        self.shape = base.shape

    def data_ptr(self):
        return self.base.data_ptr()

    def stride(self, *args):
        return self.base.stride(*args)

    def element_size(self):
        return self.base.element_size()

    def cpu(self):
        return TensorWrapper(self.base.cpu(), self.dtype)

    def clone(self):
        return TensorWrapper(self.base.clone(), self.dtype)

    def to(self, device):
        return TensorWrapper(self.base.to(device), self.dtype)

    def new_empty(self, sizes):
        return TensorWrapper(self.base.new_empty(sizes), self.dtype)

    def copy_(self, other):
        self.base.copy_(other.base)

    def __str__(self):
        return f"TensorWrapper[{self.dtype}]({self.base})"


def reinterpret(tensor, dtype):
    """tensor with its elements read as dtype; TypeError without memory."""
    if isinstance(tensor, TensorWrapper):
        if dtype == tensor.base.dtype:
            return tensor.base
        return TensorWrapper(tensor.base, dtype)
    if hasattr(tensor, "data_ptr"):
        return TensorWrapper(tensor, dtype)
    raise TypeError(f"Cannot reinterpret a {type(tensor)}.")
