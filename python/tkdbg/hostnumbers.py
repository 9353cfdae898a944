"""The numbers of a script that its sizes can be.

A size that has a name can be changed in one place: ``n = 1000``,
``for n in (33, 40)``, ``def main(n=1000)``, ``main(1000)``, ``bench(M=512)``,
``dict(n=1000)``, ``add_argument("--n", default=1000)``.  So can one without a
name that stands where sizes do, such as ``torch.randn(1024, 64)``, together
with all that are equal to it.  A number that stands somewhere else may mean
something else, and nobody can tell.
"""
from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from .edits import Source

LEAST = 2  # 0 and 1 are seldom sizes, and often something else
LEAST_FACTOR = 8  # a smaller factor, as in 2 * 1024, is hardly a size itself
MOST_BITS = 40    # of what a constant expression is worth

# functions, by their last name, whose numbers are sizes or what bounds them
_SIZED = frozenset((
    "empty", "zeros", "ones", "full", "rand", "randn", "randint", "arange",
    "eye", "linspace", "random", "standard_normal", "normal", "uniform",
    "integers", "randperm", "permutation", "new_empty", "new_zeros",
    "new_ones", "new_full", "empty_strided", "reshape", "view", "expand",
    "broadcast_to", "range", "cdiv", "next_power_of_2", "prod", "Size",
    "Linear", "LayerNorm", "RMSNorm", "Embedding", "Conv1d", "Conv2d"))
# ... or of axes, seeds and the like
_UNSIZED = frozenset((
    "seed", "manual_seed", "default_rng", "RandomState", "stride", "size",
    "transpose", "permute", "swapaxes", "movedim", "unsqueeze", "squeeze",
    "sum", "mean", "max", "min", "amax", "amin", "softmax", "cumsum", "flip",
    "argmax", "argmin", "all", "any", "print", "Config", "autotune", "topk",
    "round", "cat", "stack", "concatenate", "expand_dims"))
_UNSIZED_KEYS = frozenset((
    "dim", "axis", "seed", "num_warps", "num_stages", "num_ctas", "maxnreg",
    "fill_value", "keepdims", "dims"))


class Number(NamedTuple):
    """A number of the text."""
    name: str  # "": it has none
    value: int
    line: int
    column: int
    span: tuple[int, int]  # the bytes of the text where it stands
    call: int = -1  # where the innermost call that it is an argument of begins


class Numbers(NamedTuple):
    """Those of a script."""
    named: list[Number]
    plain: list[Number]     # that stand where sizes do
    others: dict[int, int]  # a value that stands elsewhere: its line


def of(source: Source, tree: ast.AST) -> Numbers:
    """The numbers of the host's part of a script, in their order."""
    return _Reader(source, tree).numbers()


def with_values(text: bytes, numbers: list[Number], value: int) -> bytes:
    """A text in which some numbers are another one."""
    for number in sorted(numbers, key=lambda n: n.span, reverse=True):
        lo, hi = number.span
        text = text[:lo] + str(value).encode() + text[hi:]
    return text


# ---- the host's part --------------------------------------------------------


def is_kernel(node: ast.AST) -> bool:
    """Whether it is a function of a device."""
    return isinstance(node, ast.FunctionDef) and any(
        "jit" in ast.unparse(d) or "kernel" in ast.unparse(d)
        for d in node.decorator_list)


def outside_kernels(node: ast.AST) -> Iterator[Any]:
    """The nodes of a tree that are not in a kernel."""
    if not is_kernel(node):
        yield node
        for child in ast.iter_child_nodes(node):
            yield from outside_kernels(child)


def host(tree: ast.AST) -> list[Any]:
    """The nodes of a tree that are not in a kernel, nor in a function that
    nothing mentions."""
    found = list(_outside(tree))
    waiting = [n for n in found if isinstance(n, _FUNCTIONS)]
    while True:
        mentioned = {n.id if isinstance(n, ast.Name) else n.attr
                     for n in found if isinstance(n, (ast.Name,
                                                      ast.Attribute))}
        reached = [f for f in waiting if f.name in mentioned]
        if not reached:
            return found
        waiting = [f for f in waiting if f.name not in mentioned]
        for function in reached:
            inner = [n for child in (function.args, *function.body)
                     for n in _outside(child)]
            found += inner
            waiting += [n for n in inner if isinstance(n, _FUNCTIONS)]


_FUNCTIONS = ast.FunctionDef, ast.AsyncFunctionDef


def _outside(node: ast.AST, method: bool = False) -> Iterator[Any]:
    """The nodes of a tree without the functions in it, which are given, but
    methods: who calls them is not told by their names."""
    if is_kernel(node):
        return
    yield node
    if isinstance(node, _FUNCTIONS) and not method:
        return
    for child in ast.iter_child_nodes(node):
        yield from _outside(child, isinstance(node, ast.ClassDef))


def divides(tree: ast.AST) -> bool:
    """Whether a script divides a size by another one: numbers of the host, or
    of a kernel that a launch gives it."""
    kernels = [node for node in ast.walk(tree) if is_kernel(node)]
    return any(_divides(node, None) for node in outside_kernels(tree)) or any(
        _divides(node, _runtime(kernel)) for kernel in kernels
        for node in ast.walk(kernel))


def _runtime(kernel):
    """The parameters of a kernel that are no compile-time values."""
    return {a.arg for a in kernel.args.args if a.annotation is None or
            "constexpr" not in ast.unparse(a.annotation)}


def _divides(node, runtime):
    if not (isinstance(node, ast.BinOp) and isinstance(
            node.op, (ast.FloorDiv, ast.Mod))):
        return False
    names = {_last(n) for n in ast.walk(node.right)
             if isinstance(n, (ast.Name, ast.Attribute))}
    if runtime is not None:
        return bool(names & runtime)
    return bool(names) and not names & {"itemsize", "element_size"}


# ---- numbers ----------------------------------------------------------------


def _folded(node: Any) -> int | None:
    """What an expression of whole numbers alone is worth."""
    if isinstance(node, ast.Constant):
        return node.value if type(node.value) is int else None
    if not isinstance(node, ast.BinOp):
        return None
    left, right = _folded(node.left), _folded(node.right)
    if left is None or right is None:
        return None
    if isinstance(node.op, ast.Mult):
        return left * right
    if isinstance(node.op, ast.Add):
        return left + right
    if isinstance(node.op, ast.Sub):
        return left - right
    if isinstance(node.op, (ast.LShift, ast.Pow)) and (
            0 <= right < MOST_BITS and 0 < left < 1 << 10):
        value = left << right if isinstance(node.op, ast.LShift) else (
            left ** right)
        return value if value < 1 << MOST_BITS else None
    return None


def _value(node: Any) -> int | None:
    """The number that an expression is, if it could be a size."""
    value = _folded(node)
    return value if value is not None and value >= LEAST else None


def _last(node: Any) -> str:
    """The last name of what is called."""
    return getattr(node, "attr", getattr(node, "id", ""))


class _Reader:
    """Finds them, and what each is for."""

    def __init__(self, source: Source, tree: ast.AST) -> None:
        self._source = source
        self._nodes = host(tree)
        every: Any = list(ast.walk(tree))
        self._parents = {child: node for node in every
                         for child in ast.iter_child_nodes(node)}
        self._functions = {n.name: n for n in every
                           if isinstance(n, ast.FunctionDef)}
        self._classes = {n.name: n for n in every
                         if isinstance(n, ast.ClassDef)}
        self._named: dict[Any, Number] = {}
        self._ignored: set[Any] = set()

    def numbers(self) -> Numbers:
        for node in self._nodes:
            for name, value in self._names(node):
                if name:
                    self._named.setdefault(value, self._number(value, name))
                else:
                    self._ignored.add(value)
        plain: list[Number] = []
        others: dict[int, int] = {}
        for node in self._nodes:
            if not self._is_whole(node) or node in self._named:
                continue
            self._add_factors(node, others)
            purpose = self._purpose(node)
            if purpose == "size":
                plain.append(self._number(node, ""))
            elif purpose == "unknown":
                others.setdefault(_value(node) or 0, node.lineno)
        for node in self._named:
            self._add_factors(node, others)
        return Numbers(sorted(self._named.values(), key=lambda n: n.span),
                       sorted(plain, key=lambda n: n.span), others)

    def _is_whole(self, node):
        """Whether it is a number, and no part of one."""
        return isinstance(node, (ast.Constant, ast.BinOp)) and (
            _value(node) is not None and
            _folded(self._parents.get(node)) is None)

    def _add_factors(self, node, others):
        """The numbers in 4 * 1024 may stand for sizes of their own."""
        if isinstance(node, ast.BinOp) and not isinstance(
                node.op, (ast.LShift, ast.Pow)):
            for leaf in ast.walk(node):
                value = _folded(leaf)
                if isinstance(leaf, ast.Constant) and (
                        value is not None and value >= LEAST_FACTOR):
                    others.setdefault(value, leaf.lineno)

    def _number(self, node, name):
        call = self._call(node)
        return Number(name, _value(node) or 0, node.lineno,
                      node.col_offset + 1, self._source.span(node),
                      -1 if call is None else self._source.span(call)[0])

    def _call(self, node):
        """The innermost call that a number is an argument of."""
        while node is not None and not isinstance(node, ast.stmt):
            node = self._parents.get(node)
            if isinstance(node, ast.Call):
                return node
        return None

    # ---- names -----------------------------------------------------------

    def _names(self, node: Any) -> Iterator[tuple[str, Any]]:
        """(name, number) of what a node gives names to; "": it is none that a
        size can be."""
        if isinstance(node, ast.Assign):
            for target in node.targets:
                yield from _pairs(target, node.value)
        elif isinstance(node, ast.AnnAssign) and node.value is not None:
            if "constexpr" not in ast.unparse(node.annotation):
                yield from _pairs(node.target, node.value)
        elif isinstance(node, (ast.For, ast.comprehension)) and isinstance(
                node.iter, (ast.Tuple, ast.List)):
            for each in node.iter.elts:
                yield from _pairs(node.target, each)
        elif isinstance(node, ast.arguments):
            yield from _defaults(node)
        elif isinstance(node, ast.Dict):
            for key, value in zip(node.keys, node.values):
                if isinstance(key, ast.Constant) and type(key.value) is str:
                    yield from _pairs(ast.Name(key.value), value)
        elif isinstance(node, ast.Call):
            yield from self._given(node)

    def _given(self, call):
        """Names that arguments of a call have."""
        if isinstance(call.func, ast.Subscript):
            yield from self._launched(call)
            return
        name = _last(call.func)
        if name == "add_argument":
            flag = call.args[-1] if call.args else None
            for word in call.keywords:
                if word.arg == "default" and isinstance(flag, ast.Constant):
                    yield from _pairs(ast.Name(str(flag.value)), word.value)
        elif name == "dict" or isinstance(call.func, ast.Name) and (
                self._parameters(name)):
            names = self._parameters(name) if name != "dict" else []
            for parameter, value in zip(names, call.args):
                yield from _pairs(ast.Name(parameter), value)
            for word in call.keywords:
                if word.arg and (name == "dict" or word.arg in names):
                    yield from _pairs(ast.Name(word.arg), word.value)

    def _parameters(self, name):
        """Those of a function or class of the script, in their order."""
        function = self._functions.get(name)
        if function is None and name in self._classes:
            for each in self._classes[name].body:
                if getattr(each, "name", "") == "__init__":
                    return _positional(each)[1:]
        return [] if function is None or is_kernel(function) else (
            _positional(function))

    def _launched(self, call):
        """The compile-time values of a launch, which are no sizes."""
        kernel = self._functions.get(_last(call.func.value))
        fixed = [] if kernel is None else [
            a for a in (*kernel.args.args, *kernel.args.kwonlyargs)
            if a.annotation and "constexpr" in ast.unparse(a.annotation)]
        names = {a.arg for a in fixed}
        for argument, value in [
                *zip(_positional(kernel) if kernel else (), call.args),
                *((w.arg, w.value) for w in call.keywords)]:
            if argument in names and _value(value) is not None:
                yield "", value

    # ---- what a number without a name is for -----------------------------

    def _purpose(self, node: Any) -> str:
        """ "size", "none" or "unknown" """
        if node in self._ignored:
            return "none"
        parent = self._parents.get(node)
        while isinstance(parent, (ast.Tuple, ast.List, ast.UnaryOp)):
            node, parent = parent, self._parents.get(parent)
        if isinstance(parent, ast.BinOp) and isinstance(
                parent.op, ast.Pow) and node is parent.right:
            return "none"  # x ** 2
        if isinstance(parent, ast.Slice):
            return "size"
        if isinstance(parent, ast.Subscript):
            grand = self._parents.get(parent)
            is_grid = isinstance(grand, ast.Call) and grand.func is parent
            return "size" if is_grid else "none"  # k[(4,)](x), x.shape[2]
        if isinstance(parent, ast.keyword):
            if parent.arg in _UNSIZED_KEYS:
                return "none"
            parent = self._parents.get(parent)
        if isinstance(parent, ast.Call) and node is not parent.func:
            return _purpose_in(parent, node)
        if isinstance(parent, ast.Compare):
            return "size"  # x.shape == (64, 32)
        return "unknown"


def _purpose_in(call, argument):
    """What a number is for that is an argument of a call."""
    if isinstance(call.func, ast.Subscript):
        return "size"  # k[grid](x, y, 64)
    name = _last(call.func)
    if name in ("full", "new_full") and argument in call.args[1:]:
        return "none"
    if name in _SIZED:
        return "size"
    return "none" if name in _UNSIZED else "unknown"


def _positional(function):
    return [a.arg for a in (*function.args.posonlyargs, *function.args.args)]


def _defaults(node):
    given = [*node.posonlyargs, *node.args]
    for arg, default in [
            *zip(given[len(given) - len(node.defaults):], node.defaults),
            *zip(node.kwonlyargs, node.kw_defaults)]:
        if default is not None:
            yield from _pairs(ast.Name(arg.arg), default)


def _pairs(target: Any, value: Any) -> Iterable[tuple[str, Any]]:
    if _value(value) is not None:
        if isinstance(target, ast.Name):
            yield target.id, value
    elif isinstance(value, (ast.Tuple, ast.List)):
        targets = (target.elts if isinstance(target, (ast.Tuple, ast.List)) and
                   len(target.elts) == len(value.elts)
                   else [target] * len(value.elts))
        for one, each in zip(targets, value.elts):
            yield from _pairs(one, each)
