"""What a kernel of PyTorch's compiler computes, as operations of PyTorch.

Above each kernel that Inductor writes (2.11 and later) stands the part of the
graph that it stands for ("Graph fragment:", get_kernel_metadata in
torch/_inductor/utils.py): what it reads, with dtype, shape and strides, the
operations in their order, and what it writes.  Here that text is read, and
computed by PyTorch itself.
"""
from __future__ import annotations

import math
import operator
import re
from collections.abc import Iterable
from typing import Any, NamedTuple

from . import torch_private

_BEGINS = "# Graph fragment:"
_FAR = 2000  # lines of comments above a kernel, at most
_READ = re.compile(r'#   %(\w+) : Tensor "(\w+)\[(.*?)\]\[(.*?)\](.*?)" = '
                   r"PlaceHolder\[")
_NODE = re.compile(r"#   %(\w+) : .*?= call_function\[target=([\w.]+)\]"
                   r"\(args = (.*), kwargs = (\{.*\})\)$")
_SEVERAL = re.compile(r"#   %(\w+) : \[num_users=(\d+)\] = call_function")
_ITEM = re.compile(r"%?(getitem(?:_(\d+))?)\b")
_RETURN = re.compile(r"#   return (.*)$")
# What vcuda/traced.py has the compiler write as well.
_BOUND = re.compile(r"#   (\w+) (reads|writes) %(\w+)$")
_PART = re.compile(r"#   %(\w+) is part (\d+) of %(\w+)$")
_SIZE = re.compile(r"#   (%?\w+) is the size (\w+)$")
# Operators of the compiler whose numbers a kernel makes in its own way.
_RANDOM = "inductor_"
_COPY = "torch.ops.aten.copy_.default"
_COPIED = re.compile(r"\(%(\w+), ")

_DTYPES = {"f64": "float64", "f32": "float32", "f16": "float16",
           "bf16": "bfloat16", "b8": "bool", "u8": "uint8", "i8": "int8",
           "i16": "int16", "i32": "int32", "i64": "int64"}


class Layout(NamedTuple):
    """Of what a kernel reads; numbers are None where they are not known
    when a kernel is compiled."""
    dtype: str
    shape: tuple[int | None, ...]
    strides: tuple[int | None, ...]

    def is_known(self) -> bool:
        return None not in self.shape and None not in self.strides


class Node(NamedTuple):
    """An operation; args and kwargs: as they are printed."""
    name: str
    target: str
    args: str
    kwargs: str


class Fragment(NamedTuple):
    """Of the graph.  reads, writes: {parameter of the kernel: node}, parts:
    {node: (node, which part of its result)}, and sizes: {parameter, or "%" and
    a node: name of a size}, as far as they are known."""
    inputs: dict[str, Layout]
    nodes: list[Node]
    returns: list[str]
    reads: dict[str, str]
    writes: dict[str, str]
    parts: dict[str, tuple[str, int]]
    sizes: dict[str, str]

    def numbers(self, values: dict[str, Any]) -> dict[str, Any]:
        """{node: number} of the nodes that are sizes; values: of the
        parameters of a launch."""
        known = {size: values[name] for name, size in self.sizes.items()
                 if name in values}
        return {node[1:]: int(known[size]) for node, size in self.sizes.items()
                if node[0] == "%" and size in known}


def bound_lines(reads: dict[str, str], writes: dict[str, str],
                parts: dict[str, tuple[str, int]],
                sizes: dict[str, str]) -> list[str]:
    """The lines from which read() knows these."""
    return [*(f"#   {parameter} {word} %{node}"
              for word, nodes in (("reads", reads), ("writes", writes))
              for parameter, node in nodes.items()),
            *(f"#   %{part} is part {i} of %{node}"
              for part, (node, i) in parts.items()),
            *(f"#   {name} is the size {size}"
              for name, size in sizes.items())]


def read(lines: list[str]) -> Fragment | None:
    """The fragment in the comment that ends these lines; None: there is
    none."""
    comment = []
    for line in reversed(lines[-_FAR:]):
        line = line.rstrip("\n")
        if line.strip() and not line.startswith("#"):
            break
        comment.append(line)
    comment.reverse()
    if _BEGINS not in comment:
        return None
    found = Fragment({}, [], [], {}, {}, {}, {})
    for line in comment[comment.index(_BEGINS):]:
        _read_line(found, line)
    found.parts.update(found.parts or _guessed_parts(comment, found))
    for part in found.parts:
        found.inputs.pop(part, None)  # it reads what it computes
    for node in found.nodes:
        layout = found.inputs.pop(node.name, None)  # ... as well
        copied = _COPIED.match(node.args)
        if layout and copied and node.target == _COPY:
            _rename(found, node.name, copied[1], layout)
    return found


def _guessed_parts(comment, found):
    """The same where nothing says them: the parts of the only operation with
    several results are numbered in their order."""
    several = [m.groups() for m in map(_SEVERAL.match, comment) if m]
    named = {m[1]: int(m[2] or 0) for line in comment
             for m in _ITEM.finditer(line)}
    if len(several) != 1 or int(several[0][1]) != len(named):
        return {}
    return {part: (several[0][0], i) for i, part in enumerate(
        sorted(named, key=lambda part: named[part]))}


def _rename(found, node, name, layout):
    """What an operation writes in place is called by its node, before as
    after."""
    found.inputs[name] = layout
    for parameter, read_ in found.reads.items():
        if read_ == node:
            found.reads[parameter] = name


def _read_line(found, line):
    input_, node, returns, bound, part, size = (
        pattern.match(line) for pattern in (
            _READ, _NODE, _RETURN, _BOUND, _PART, _SIZE))
    if input_ is not None:
        name, dtype, shape, strides, _ = input_.groups()
        if dtype in _DTYPES:
            found.inputs[name] = Layout(_DTYPES[dtype], _numbers(shape),
                                        _numbers(strides))
    elif node is not None:
        found.nodes.append(Node(*node.groups()))
    elif returns is not None:
        found.returns.extend(returns[1].replace("%", "").split(","))
    elif bound is not None:
        parameter, word, name = bound.groups()
        (found.reads if word == "reads" else found.writes)[parameter] = name
    elif part is not None:
        found.parts[part[1]] = part[3], int(part[2])
    elif size is not None:
        found.sizes[size[1]] = size[2]


def _numbers(text):
    return tuple(int(n) if n.isdigit() else None
                 for n in text.split(", ") if n)


# ---- computing it -----------------------------------------------------------


class _Unknown(Exception):
    """A node cannot be computed."""


def compute(fragment: Fragment, values: dict[str, Any],
            wide: bool) -> dict[str, Any]:
    """{node: tensor} of what PyTorch's own operations give for the values of
    the inputs (tensors, and numbers that are sizes), on the CPU; nodes that
    cannot be computed are missing.

    wide: in float64, whatever floating-point types the operations name.
    """
    import torch
    torch_private.import_operators()
    known = {name: v if not torch.is_tensor(v) else
             _widened(torch, v).clone() if wide else v.clone()
             for name, v in values.items()}
    for node in fragment.nodes:
        reader = _Reader(node.args, known, wide)
        try:
            args = reader.value()
            kwargs = _Reader(node.kwargs, known, wide).value()
            result = _function(torch, node.target)(*args, **kwargs)
        except Exception:  # of an operation that runs in no other place
            continue
        known[node.name] = result
        for part, (of, i) in fragment.parts.items():
            if of == node.name:
                known[part] = result[i]
    return known


def _widened(torch, value):
    return (value.to(torch.float64) if torch.is_tensor(value)
            and value.is_floating_point() else value)


def _function(torch, target):
    """The function that a node names."""
    if target.startswith(("_operator.", "operator.")):
        return getattr(operator, target.rpartition(".")[2])
    parts = target.split(".")
    if (parts[:2] != ["torch", "ops"] or parts[2] not in ("aten", "prims") or
            parts[3].startswith(_RANDOM)):
        raise _Unknown
    found = torch
    for part in parts[1:]:
        found = getattr(found, part)
    return found


class _Reader:
    """Reads an argument as fx.Node.format_node prints it."""

    _TOKEN = re.compile(r"\s*(%?[\w.:+-]+|\S)")
    _WORDS: dict[str, Any] = {
        "True": True, "False": False, "None": None, "inf": math.inf,
        "-inf": -math.inf, "nan": math.nan, "Ellipsis": ...}

    def __init__(self, text: str, known: dict[str, Any], wide: bool) -> None:
        self.tokens = self._TOKEN.findall(text)
        self.known = known
        self.wide = wide

    def value(self) -> Any:
        token = self.tokens.pop(0)
        if token in "[(":
            items = list(self._items("])"))
            return items if token == "[" else tuple(items)
        if token == "{":
            return dict(self._named())
        if token[0] == "%":
            if token[1:] not in self.known:
                raise _Unknown
            return self.known[token[1:]]
        if token == "slice":
            return slice(*self.value())
        return self._word(token)

    def _items(self, ends: str) -> Iterable[Any]:
        while self.tokens[0] not in ends:
            yield self.value()
            if self.tokens[0] == ",":
                self.tokens.pop(0)
        self.tokens.pop(0)

    def _named(self) -> Iterable[tuple[str, Any]]:
        while self.tokens[0] != "}":
            name = self.tokens.pop(0).rstrip(":")
            yield name, self.value()
            if self.tokens[0] == ",":
                self.tokens.pop(0)

    def _word(self, token: str) -> Any:
        import torch
        if token in self._WORDS:
            return self._WORDS[token]
        if token.startswith("torch."):
            found = getattr(torch, token[6:])
            return (torch.float64 if self.wide and
                    isinstance(found, torch.dtype) and found.is_floating_point
                    else found)
        if re.fullmatch(r"(cuda|cpu)(:\d+)?", token):
            return "cpu"
        for kind in int, float, complex:
            try:
                return kind(token)
            except ValueError:
                pass
        return token  # a string, which is printed without quotes
