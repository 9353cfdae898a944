"""Types and values of the kernel language, as host code sees them.

Host code compares, prints and hashes these, and passes them as constexpr
arguments; what they mean inside a kernel is decided in C.
"""
from __future__ import annotations

import enum
import re
from typing import Any

TRITON_MAX_TENSOR_NUMEL = 1048576


def unwrap(value: Any) -> Any:
    """A constexpr's value; lists and tuples element by element."""
    if isinstance(value, list):
        return [unwrap(v) for v in value]
    if type(value) is tuple:
        return tuple(unwrap(v) for v in value)
    if is_constexpr(value):
        return value.value
    return value


def is_constexpr(value: Any) -> bool:
    """True for our constexpr and for real Triton's."""
    return isinstance(value, constexpr) or (
        type(value).__name__ == "constexpr" and hasattr(value, "value"))


# ---- constexpr --------------------------------------------------------------


class constexpr_type:
    """The type of one compile-time value."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, constexpr_type) and self.value == other.value

    def __hash__(self) -> int:
        return hash(self.value)

    def __repr__(self) -> str:
        return f"constexpr_type[{self.value}]"


class constexpr:
    """A value known at compile time; its operators give constexprs."""

    value: Any

    def __init__(self, value: Any) -> None:
        while isinstance(value, constexpr):
            value = value.value
        self.value = value

    @property
    def type(self) -> Any:
        return constexpr_type(self.value)

    def __repr__(self) -> str:
        return f"constexpr[{self.value}]"

    def __hash__(self) -> int:
        return hash((self.value, constexpr))

    def __bool__(self) -> bool:
        return bool(self.value)

    def __index__(self) -> Any:
        return self.value

    def __iter__(self) -> Any:
        return iter(self.value)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.value(*args, **kwargs)

    def __getitem__(self, key: Any) -> Any:
        return self.value[unwrap(key)]

    def logical_and(self, other: Any) -> Any:
        return constexpr(self.value and unwrap(other))

    def logical_or(self, other: Any) -> Any:
        return constexpr(self.value or unwrap(other))


def _operators():
    import operator as op
    binary = {"add": op.add, "sub": op.sub, "mul": op.mul, "mod": op.mod,
              "truediv": op.truediv, "floordiv": op.floordiv, "pow": op.pow,
              "and": op.and_, "or": op.or_, "xor": op.xor,
              "lshift": op.lshift, "rshift": op.rshift}
    compare = {"lt": op.lt, "le": op.le, "gt": op.gt, "ge": op.ge,
               "eq": op.eq, "ne": op.ne}
    unary = {"neg": op.neg, "pos": op.pos, "invert": op.invert,
             "not": op.not_}

    def forward(apply):
        return lambda self, other: constexpr(apply(self.value, unwrap(other)))

    def backward(apply):
        return lambda self, other: constexpr(apply(unwrap(other), self.value))

    def single(apply):
        return lambda self: constexpr(apply(self.value))

    for name, apply in {**binary, **compare}.items():
        setattr(constexpr, f"__{name}__", forward(apply))
    for name, apply in binary.items():
        setattr(constexpr, f"__r{name}__", backward(apply))
    for name, alone in unary.items():
        setattr(constexpr, f"__{name}__", single(alone))


_operators()


class const:
    """Annotation of pointers that a kernel does not store through."""


# ---- element types ----------------------------------------------------------


class dtype:
    """An element type, ``dtype("fp32")``."""

    SINT_TYPES = ["int8", "int16", "int32", "int64"]
    UINT_TYPES = ["int1", "uint8", "uint16", "uint32", "uint64"]
    FP_TYPES = ["fp8e4b15", "fp8e4nv", "fp8e4b8", "fp8e5", "fp8e5b16",
                "fp16", "bf16", "fp32", "fp64"]
    STANDARD_FP_TYPES = ["fp16", "bf16", "fp32", "fp64"]
    OTHER_TYPES = ["void"]

    class SIGNEDNESS(enum.Enum):
        SIGNED = 0
        UNSIGNED = 1

    class KIND(enum.Enum):
        BOOLEAN = 0
        INTEGRAL = 1
        FLOATING = 2

    def __init__(self, name: str) -> None:
        name = unwrap(name)
        if not dtype.is_dtype(name):
            raise AssertionError(name)
        self.name = name
        width = re.search(r"\d+", name)
        self.primitive_bitwidth = int(width.group()) if width else 0
        self.itemsize = self.primitive_bitwidth // 8
        if self.is_int():
            kinds = dtype.SIGNEDNESS
            self.int_signedness = (kinds.SIGNED if self.is_int_signed()
                                   else kinds.UNSIGNED)
            self.int_bitwidth = self.primitive_bitwidth
        elif self.is_floating():
            self.fp_mantissa_width, self.exponent_bias = _FLOAT_FORMAT[name]

    @staticmethod
    def is_dtype(name: str) -> bool:
        return name in (dtype.SINT_TYPES + dtype.UINT_TYPES + dtype.FP_TYPES
                        + dtype.OTHER_TYPES)

    def is_fp8(self) -> bool:
        return "fp8" in self.name

    def is_floating(self) -> bool:
        return self.name in dtype.FP_TYPES

    def is_standard_floating(self) -> Any:
        return self.name in dtype.STANDARD_FP_TYPES

    def is_int_signed(self) -> bool:
        return self.name in dtype.SINT_TYPES

    def is_int_unsigned(self) -> bool:
        return self.name in dtype.UINT_TYPES

    def is_int(self) -> bool:
        return self.is_int_signed() or self.is_int_unsigned()

    def is_bool(self) -> bool:
        return self.name == "int1"

    def is_block(self) -> bool:
        return False

    def is_ptr(self) -> bool:
        return False

    def is_const(self) -> Any:
        return False

    def kind(self) -> Any:
        kinds = dtype.KIND
        if self.is_bool():
            return kinds.BOOLEAN
        return kinds.INTEGRAL if self.is_int() else kinds.FLOATING

    def get_int_max_value(self) -> int:
        return 2**(self.int_bitwidth - self.is_int_signed()) - 1

    def get_int_min_value(self) -> int:
        return -2**(self.int_bitwidth - 1) if self.is_int_signed() else 0

    @property
    def scalar(self) -> Any:
        return self

    def with_element_ty(self, element_ty: Any) -> Any:
        return element_ty

    def codegen_name(self) -> str:
        """The name in ``triton.language``: fp32 is float32 there."""
        for short, long in (("fp", "float"), ("bf", "bfloat")):
            if self.name.startswith(short):
                return long + self.name[2:]
        return self.name

    @property
    def cache_key_part(self) -> Any:
        return self.name

    def mangle(self) -> Any:
        if self.is_int():
            return ("i" if self.is_int_signed() else "u") + str(
                self.int_bitwidth)
        return "V" if self.name == "void" else self.name

    def __eq__(self, other: object) -> bool:
        other = unwrap(other)
        return isinstance(other, dtype) and self.name == other.name

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash((self.name,))

    def __str__(self) -> str:
        return self.name

    def __repr__(self) -> str:
        return f"triton.language.{self.codegen_name()}"


# mantissa bits, exponent bias
_FLOAT_FORMAT = {
    "fp8e4b15": (3, 15), "fp8e4nv": (3, 7), "fp8e4b8": (3, 8),
    "fp8e5": (2, 15), "fp8e5b16": (2, 16), "fp16": (10, 15),
    "bf16": (7, 127), "fp32": (23, 127), "fp64": (52, 1023)}


def _predicates():
    for name in (dtype.SINT_TYPES + dtype.UINT_TYPES + dtype.FP_TYPES):
        setattr(dtype, f"is_{name}",
                lambda self, name=name: self.name == name)


_predicates()


class pointer_type(dtype):
    """Pointer to an element type."""

    def __init__(self, element_ty: Any, address_space: int = 1,
                 const: bool = False) -> None:
        element_ty = unwrap(element_ty)
        if not isinstance(element_ty, dtype):
            raise TypeError("element_ty has type "
                            f"`{type(element_ty).__name__}`; expected "
                            "`dtype`.")
        self.element_ty = element_ty
        self.address_space = address_space
        self.const = const
        self.name = f"{'const_' if const else ''}pointer<{element_ty}>"
        self.primitive_bitwidth = 64
        self.itemsize = 8

    def is_ptr(self) -> bool:
        return True

    def is_const(self) -> Any:
        return self.const

    def mangle(self) -> Any:
        return f"P{self.element_ty.mangle()}"

    def __eq__(self, other: object) -> bool:
        other = unwrap(other)
        return (isinstance(other, pointer_type) and
                (self.element_ty, self.address_space, self.const) ==
                (other.element_ty, other.address_space, other.const))

    __hash__ = dtype.__hash__

    def __repr__(self) -> str:
        return self.name


class block_type(dtype):
    """Block of a shape of an element type."""

    def __init__(self, element_ty: Any, shape: Any) -> None:
        self.element_ty = element_ty
        self.shape = tuple(unwrap(list(shape)))
        if not self.shape:
            raise TypeError("0d block_type is forbidden")
        self.numel = validate_block_shape(self.shape)
        self.name = f"<{self.shape}, {self.element_ty}>"

    def is_block(self) -> bool:
        return True

    def get_block_shapes(self) -> Any:
        return self.shape

    def with_element_ty(self, element_ty: Any) -> Any:
        return block_type(element_ty, self.shape)

    @property
    def scalar(self) -> Any:
        return self.element_ty

    @property
    def nbytes(self) -> int:
        return self.numel * (self.element_ty.primitive_bitwidth // 8)

    def __eq__(self, other: object) -> bool:
        return (isinstance(other, block_type) and
                self.element_ty == other.element_ty and
                self.shape == other.shape)

    __hash__ = dtype.__hash__

    def __repr__(self) -> str:
        return self.name


def validate_block_shape(shape: Any) -> int:
    """Elements of a block; raises as the compiler does on a bad shape."""
    numel = 1
    for i, d in enumerate(shape):
        if not isinstance(d, int):
            raise TypeError(f"Shape element {i} must have type "
                            f"`constexpr[int]`, got `constexpr[{type(d)}]")
        if d & (d - 1):
            raise ValueError(f"Shape element {i} must be a power of 2")
        numel *= d
    if numel > TRITON_MAX_TENSOR_NUMEL:
        raise ValueError(f"numel ({numel}) exceeds triton maximum tensor "
                         f"numel ({TRITON_MAX_TENSOR_NUMEL})")
    return numel


def dtypes() -> dict[str, dtype]:
    """{name in triton.language: dtype} of every element type."""
    names = (dtype.SINT_TYPES + dtype.UINT_TYPES + dtype.FP_TYPES +
             dtype.OTHER_TYPES)
    return {dtype(n).codegen_name(): dtype(n) for n in names}


def str_to_ty(name: str, _: Any = None) -> Any:
    """A signature's spelling as a type: "*fp32", "i32", "u1"."""
    if name[0] == "*":
        const = name[1:2] == "k"
        return pointer_type(str_to_ty(name[1 + const:]), const=const)
    short = {"u1": "int1", "i1": "int1"}
    if name in short:
        return dtype(short[name])
    if re.fullmatch(r"[iu]\d+", name):
        name = ("int" if name[0] == "i" else "uint") + name[1:]
    return dtype(name)


# ---- what a type of another library is called here --------------------------


def is_tl_tuple_class(cls: type) -> bool:
    """True for our tl.tuple and for real Triton's."""
    return (cls.__name__ == "tuple" and
            cls.__module__ in (__name__, "triton.language.core"))


def pointer_depth(value: Any) -> tuple[Any, ...]:
    """(element dtype, pointers around it) of a dtype object."""
    depth = 0
    while hasattr(value, "element_ty") and not hasattr(value, "shape"):
        value = value.element_ty
        depth += 1
    return value, depth


def dtype_name(value: Any) -> str | None:
    """The name of a tl, torch or NumPy dtype object, or None."""
    kind = type(value)
    if isinstance(value, dtype):
        return value.name
    if kind.__name__ == "dtype":
        if kind.__module__.startswith("torch"):
            return str(value).rpartition(".")[2]
        if kind.__module__.startswith("triton."):
            return value.name
    if kind.__module__.startswith("numpy") and hasattr(value, "isnative"):
        return value.name if value.isnative else None
    return None


# ---- values that exist only inside kernels ----------------------------------


class _KernelOnly:
    """Base of classes that host code only names."""

    def __init__(self, *args, **kwargs):
        raise RuntimeError(f"a tl.{type(self).__name__} exists only inside "
                           "a kernel")


class tensor(_KernelOnly):
    """A block; for annotations and isinstance."""


class tensor_descriptor(_KernelOnly):
    """A tensor descriptor; for annotations and isinstance."""


tensor_descriptor_base = tensor_descriptor


class tuple_type:
    """The type of a tuple."""

    def __init__(self, types: Any, fields: Any = None) -> None:
        self.types = types
        self.fields = fields or [""] * len(types)

    def __iter__(self) -> Any:
        return iter(self.types)


class tensor_descriptor_type(_KernelOnly):
    """The type of a tensor descriptor; for isinstance."""


class tl_slice:
    """tl.slice: start, stop and step of a slice inside a kernel."""

    def __init__(self, start: Any, stop: Any = None, step: Any = None) -> None:
        self.start, self.stop, self.step = start, stop, step


tl_slice.__name__ = tl_slice.__qualname__ = "slice"


class tl_tuple:
    """tl.tuple: a sequence that kernels can take."""

    def __init__(self, args: Any, type: Any = None) -> None:
        self.values = list(args)
        self.type = type

    def __len__(self) -> int:
        return len(self.values)

    def __iter__(self) -> Any:
        return iter(self.values)

    def __getitem__(self, key: Any) -> Any:
        key = unwrap(key)
        if isinstance(key, slice):
            return tl_tuple(self.values[key])
        return self.values[key]

    def __eq__(self, other: object) -> bool:
        return list(self) == list(unwrap(other))

    def __hash__(self) -> int:
        return hash(tuple(self.values))

    def __repr__(self) -> str:
        return f"({', '.join(map(repr, self.values))})"


tl_tuple.__name__ = tl_tuple.__qualname__ = "tuple"


class PropagateNan(enum.Enum):
    """What maximum and minimum do with NaN."""
    NONE = 0
    ALL = 0xFFFF
