"""Small host objects: tensors without memory, memory read as another type,
and Python functions that run while a kernel is compiled."""
from __future__ import annotations

import functools

from .modules import tltypes as tl_types
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


# ---- functions that run while a kernel is compiled --------------------------


class ConstexprFunction:
    """A Python function that kernels call while they are compiled."""

    def __init__(self, fn):
        self.fn = fn
        functools.update_wrapper(self, fn)

    def __get__(self, instance, owner=None):
        if instance is None:
            return self
        return BoundConstexprFunction(instance, self)

    def __call__(self, *args, _semantic=None, **kwargs):
        return self.fn(*map(tl_types.unwrap, args),
                       **{k: tl_types.unwrap(v) for k, v in kwargs.items()})


class KnownType(tl_types.constexpr):
    """A dtype in a constexpr, that answers as the dtype too: functions that
    run at compile time are given either."""

    def __getattr__(self, name):
        return getattr(self.value, name)


class PlainFunction:
    """A Python function without decorator that kernels reach through a
    constexpr or a module: it sees its arguments as the compiler does."""

    def __init__(self, fn):
        self.fn = fn
        self.__name__ = fn.__name__

    def __call__(self, *args, **kwargs):
        return self.fn(*map(_compiler_value, args),
                       **{k: _compiler_value(v) for k, v in kwargs.items()})


def _compiler_value(value):
    if isinstance(value, tl_types.dtype):
        return KnownType(value)
    return value if isinstance(value, tuple) else tl_types.constexpr(value)


class BoundConstexprFunction:
    """A ConstexprFunction as method."""

    def __init__(self, instance, function):
        self.__self__ = instance
        self.__func__ = function

    def __call__(self, *args, **kwargs):
        return self.__func__(self.__self__, *args, **kwargs)


def constexpr_function(fn):
    return ConstexprFunction(fn)


# ---- compiling ahead --------------------------------------------------------


class FutureKernel:
    """A kernel that is ready at once."""

    def __init__(self, kernel):
        self.kernel = kernel

    def result(self):
        return self.kernel


class AsyncCompileMode:
    """A context in which launches compile as always."""

    def __init__(self, executor=None):
        self.executor = executor

    def __enter__(self):
        return self

    def __exit__(self, *_):
        return False
