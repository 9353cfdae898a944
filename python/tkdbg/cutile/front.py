"""The installed cuda.tile: its private names, each looked up here alone, and
its intermediate form as plain data (model.py).

Asked for: the form right after its front end, before the passes that fuse,
hoist and rename.  What a version has under another name, or lacks, is looked
for in the places listed, and refused by name where it is in none of them.
"""
from __future__ import annotations

import enum
import functools
import importlib
import inspect
import linecache
import os
import sys
from collections.abc import Sequence
from typing import Any

from ..patches import Patches
from .model import Block, Kernel, Op, Param, Place, Refused, Tile, Value, View

OLDEST = (1, 5)


def version() -> str:
    """Of cuda.tile."""
    return str(getattr(sys.modules["cuda.tile"], "__version__", "unknown"))


def check_version() -> None:
    """Raises Refused for a version without the form that is converted."""
    numbers = tuple(int(n) for n in version().split(".")[:2] if n.isdigit())
    if numbers < OLDEST:
        raise Refused(f"cuda.tile {version()} is too old: tkdbg runs kernels "
                      "of cuda.tile 1.5 and newer (pip install -U cuda-tile)")


def lookup(*paths: str) -> Any:
    """The first of "module:name" that this version has."""
    for path in paths:
        module, _, name = path.partition(":")
        try:
            found: Any = importlib.import_module(module)
            for part in name.split("."):
                found = getattr(found, part)
            return found
        except (ImportError, AttributeError):
            continue
    name = paths[0].replace(":", ".")
    raise Refused(f"cuda.tile {version()} has no {name}, which tkdbg needs to "
                  "read its kernels")


def is_kernel(value: Any) -> bool:
    return hasattr(value, "_annotated_function")


def parameters_of(kernel: Any) -> tuple[Any, Any]:
    """(the Python function, an annotation for each parameter) of a kernel."""
    if not is_kernel(kernel):
        raise Refused(f"{kernel!r} is not a kernel of cuda.tile: @ct.kernel "
                      "makes one")
    function = kernel._annotated_function
    return function.pyfunc, function.parameter_annotations


@functools.cache
def bytecode_version() -> Any:
    """The newest that this version of cuda.tile supports."""
    try:
        known = lookup("cuda.tile._compile:_SUPPORTED_VERSIONS")
    except Refused:
        known = lookup("cuda.tile._bytecode.version:BytecodeVersion")
    return max(known, key=lambda v: v.value)


def _convention() -> Any:
    make = lookup("cuda.tile.compilation:CallingConvention",
                  "cuda.tile._cext:CallingConvention")
    for name in ("cutile_python_v2", "cutile_python_v1"):
        if hasattr(make, name):
            return getattr(make, name)()
    raise Refused(f"cuda.tile {version()} has another calling convention than "
                  "those that tkdbg knows")


def signature(constraints: Sequence[Any], symbol: str) -> Any:
    """A KernelSignature."""
    make = lookup("cuda.tile.compilation:KernelSignature")
    return make(list(constraints), _convention(), symbol=symbol)


def _raw_block(kernel: Any, sig: Any) -> Any:
    """What the front end makes of a kernel, with dead operations dropped and
    nothing else done to it."""
    compile_tile = lookup("cuda.tile._compile:compile_tile")
    module = sys.modules["cuda.tile._compile"]  # whoever wraps the function
    drop_dead = lookup("cuda.tile._compile:dead_code_elimination_pass",
                       "cuda.tile._passes.dce:dead_code_elimination_pass")
    lookup("cuda.tile._compile:_transform_ir")
    replaced = Patches()
    try:
        replaced.set(module, "_transform_ir",
                     lambda body, *_, **__: drop_dead(body))
        if "check_dtype_support" in vars(module):  # of one GPU
            replaced.set(module, "check_dtype_support",
                         lambda *_, **__: None)
        result = compile_tile(
            kernel._annotated_function, [sig], sm_arch="sm_100",
            return_final_ir=True, return_cubin=False,
            bytecode_version=bytecode_version())
    finally:
        replaced.undo()
    return result.final_ir[0]


# ---- its form as plain data -----------------------------------------------


def _plain(value: Any) -> Any:
    if isinstance(value, enum.Enum):
        inner = value.value
        return inner if isinstance(inner, str) else value.name
    if isinstance(value, (tuple, list)):
        return tuple(map(_plain, value))
    return value


class _Reader:
    """One kernel's form, read once."""

    def __init__(self) -> None:
        self.values: dict[str, Value] = {}
        self.library = os.path.dirname(sys.modules["cuda.tile"].__file__ or "")
        self.sources: dict[str, list[str]] = {}

    def type(self, ty: Any) -> Tile | View | None:
        name = type(ty).__name__
        if name == "TileTy":
            return Tile(str(ty.dtype), tuple(ty.shape))
        if name == "ListTy":
            return View("list", str(ty.item_type.dtype),
                        len(ty.item_type.shape),
                        wide=_is_wide(ty.item_type))
        if name == "ArrayTy":
            return View("array", str(ty.dtype), len(ty.shape),
                        wide=_is_wide(ty))
        kind = {"PartitionViewTy": "partition", "StridedViewTy": "strided",
                "GatherScatterViewTy": "gather"}.get(name)
        if kind is None:
            return None
        array = ty.array_ty
        tile, rank = tuple(ty.tile_shape), len(array.shape)
        return View(kind, str(array.dtype), rank, tile,
                    tuple(getattr(ty, "traversal_steps", None) or tile),
                    tuple(getattr(ty, "order", range(rank))),
                    _plain(ty.padding_mode), getattr(ty, "sparse_dim", -1),
                    _is_wide(array))

    def value(self, var: Any) -> Value:
        found = self.values.get(var.name)
        if found is None:
            name = var.get_original_name()
            parts = (tuple(map(self.value, var.flatten_aggregate()))
                     if var.is_aggregate() else ())
            found = Value("" if name.startswith("$") else name,
                          self.type(var.get_type()), parts)
            if var.is_constant():
                found.constant = _plain(var.get_constant())
            self.values[var.name] = found
        return found

    def operand(self, operand: Any) -> Any:
        if isinstance(operand, tuple):
            return tuple(map(self.value, operand))
        return None if operand is None else self.value(operand)

    def places(self, loc: Any) -> list[Place]:
        """The places of users' files, the innermost first."""
        found = []
        while loc is not None:
            if loc.filename and not loc.filename.startswith(self.library):
                found.append(self.place(loc))
            loc = loc.call_site
        return found

    def place(self, loc: Any) -> Place:
        function = loc.function
        which = "" if function is None else (
            f"{function.name}.{function.specialization_id or ''}"
            if not function.is_entry else "")
        line = max(1, loc.line)
        lines = self.lines(loc.filename)
        last = loc.last_line or line

        def column(number: int, at: int) -> int:  # of bytes
            return min(at, len(lines[number - 1].encode().rstrip(b"\n"))
                       if number <= len(lines) else 0) + 1

        begin = column(line, loc.col)
        end = column(last, loc.end_col if loc.end_col is not None
                     else loc.col + 1)
        return Place(loc.filename, line, begin, last,
                     max(end, begin if last == line else 1), which)

    def lines(self, file: str) -> list[str]:
        if file not in self.sources:
            self.sources[file] = linecache.getlines(file)
        return self.sources[file]

    def block(self, block: Any) -> Block:
        return Block([self.value(v) for v in block.params],
                     [self.op(op) for op in block.operations])

    def op(self, op: Any) -> Op:
        return Op(op.op, [self.value(v) for v in op.result_vars],
                  {k: self.operand(v) for k, v in op.operands.items()},
                  {k: _plain(v) for k, v in op.attributes.items()},
                  [self.block(b) for b in op.nested_blocks],
                  self.places(op.loc))


def _is_wide(array: Any) -> bool:
    return getattr(array.index_dtype, "bitwidth", 32) > 32


def read(kernel: Any, sig: Any, params: list[Param],
         arguments: list[tuple[str, str | None]]) -> Kernel:
    """A kernel's form for a signature; raises what cuda.tile finds wrong."""
    function, _ = parameters_of(kernel)
    reader = _Reader()
    body = reader.block(_raw_block(kernel, sig))
    code = inspect.unwrap(function).__code__
    file, line = code.co_filename, code.co_firstlineno
    lines = reader.lines(file)
    while line < len(lines) and not lines[line - 1].lstrip().startswith("def"):
        line += 1
    text = lines[line - 1] if line <= len(lines) else ""
    begin = text.find(code.co_name) + 1
    place = Place(file, line, max(1, begin), line,
                  max(1, begin) + (len(code.co_name) if begin else 0))
    return Kernel(code.co_name, place, body, params, arguments,
                  reader.sources, version())


# ---- signatures -----------------------------------------------------------


@functools.cache
def constraints() -> Any:
    """The module whose classes describe parameters."""
    found = lookup("cuda.tile.compilation:TupleConstraint")
    return sys.modules[found.__module__]


def dtype(name: str) -> Any:
    """An element type by cuda.tile's name."""
    return lookup(f"cuda.tile:{name}", f"cuda.tile._datatype:{name}")


def is_dtype(value: Any) -> bool:
    return isinstance(value, lookup("cuda.tile:DType")) or (
        type(value).__module__ == "torch" and
        type(value).__name__ == "dtype")


def dtype_of(array: Any) -> Any:
    """The element type of an array of PyTorch's or NumPy's."""
    name = str(array.dtype).rpartition(".")[2]
    try:
        return dtype({"bool": "bool_"}.get(name, name))
    except Refused:
        raise TypeError("Unsupported array dtype") from None


def key_of(sig: Any) -> Any:
    """What tells one signature from another; 1, 1.0 and True are three."""
    return repr(sig)


# ---- what is taken over ---------------------------------------------------


def modules_with(names: Any) -> list[Any]:
    """The modules of cuda.tile that have one of the names."""
    lookup("cuda.tile._compile:compile_tile")  # it is imported late
    return [module for name, module in list(sys.modules.items())
            if (name == "cuda.tile" or name.startswith("cuda.tile.")) and
            module is not None and any(n in vars(module) for n in names)]


def tuning() -> Any:
    """The module that tunes, which older versions lack."""
    return sys.modules.get("cuda.tile.tune._tune", sys)
