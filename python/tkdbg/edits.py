"""One-expression edits of kernels: what a subtle bug is often undone by.

An edit stands where the source has an expression or a short statement; it is
never said to be the fix until somebody has run the kernel with it (repairs.py).
The rules are those of bugs that public kernels were corrected for: an axis, a
stride, a limit that is off by one, a comparison, a sign, an operand, exp for
exp2, a mask, a scale, a dtype, an initial value, the order of a tuple.
"""
from __future__ import annotations

import ast
import difflib
import itertools
import re
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, Union

from . import parsing

MOST_NAMES = 8     # that may stand where another one does
MOST_LIKEST = 3    # ... where each try takes long
MOST_FACTORS = 6   # names that a value may be multiplied by
MOST_PAIRS = 12    # of buffers that a loop may exchange
MOST_SIZES = 8     # names that steps and lengths may have
MOST_PARAMETERS = 16  # names that may stand where a number does
LOG2_E = "1.4426950408889634"
LN_2 = "0.6931471805599453"
SQRT_HALF = "0.7071067811865476"

Node = Union[ast.expr, ast.stmt]


class Edit(NamedTuple):
    """Text of one line that gives way to another."""
    file: str
    function: str
    line: int
    at: int   # bytes of the file before it
    old: str
    new: str
    rank: int = 1  # of its kind: 0, few, and often right; 2, many, and seldom


class Source:
    """A file with kernels: its text, as bytes, and its jit functions."""

    def __init__(self, file: str, text: bytes) -> None:
        """Raises SyntaxError."""
        self.file = file
        self.text = text
        self.starts = [0]
        for line in text.splitlines(keepends=True):
            self.starts.append(self.starts[-1] + len(line))
        tree = parsing.tree(text.decode("utf-8", "replace"))
        self.functions = {
            node.name: node for node in ast.walk(tree)
            if isinstance(node, ast.FunctionDef) and any(
                "jit" in ast.unparse(d) for d in node.decorator_list)}
        # a method may have the name of a kernel
        self.hosts = {f"{node.name}:{node.lineno}": node
                      for node in _hosts(tree, self.functions.values())}
        mentioned = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name)}
        self.unlaunched = [name for name in self.functions
                           if name not in mentioned]

    def reached(self, kernel: str) -> list[str]:
        """The jit functions that run when a kernel does, the kernel first."""
        found = [kernel]
        for name in found:
            function = self.functions.get(name)
            for node in ast.walk(function) if function else ():
                if isinstance(node, ast.Name) and (
                        node.id in self.functions and node.id not in found):
                    found.append(node.id)
        return found

    def span(self, node: Any) -> tuple[int, int]:
        """The bytes from where to where a node stands."""
        return (self.starts[node.lineno - 1] + node.col_offset,
                self.starts[node.end_lineno - 1] + node.end_col_offset)

    def of(self, node: Any) -> str:
        lo, hi = self.span(node)
        return self.text[lo:hi].decode("utf-8", "replace")


def _hosts(tree, kernels):
    """The functions of the host that launch kernels, or call one that does,
    and do not judge what they give: what is compared must stay as it is."""
    found = [node for node in ast.walk(tree)
             if isinstance(node, ast.FunctionDef) and
             all(node is not kernel for kernel in kernels)]
    launching: set[str] = set()
    while True:
        more = {f.name for f in found if f.name not in launching and any(
            isinstance(n, ast.Call) and (isinstance(n.func, ast.Subscript) or
                                         _called_name(n) in launching)
            for n in ast.walk(f))}
        if not more:
            break
        launching |= more
    return [f for f in found if f.name in launching and not _judges(f)]


def _judges(function):
    return any(
        isinstance(n, (ast.Assert, ast.Raise, ast.FunctionDef)) and
        n is not function or isinstance(n, ast.Call) and re.search(
            r"close|equal|assert|check|print|exit", _called_name(n))
        for n in ast.walk(function))


class Scope(NamedTuple):
    """What a rule may ask of the function that an expression stands in."""
    source: Source
    names: list[str]    # its parameters, and what it assigns to
    masks: list[str]    # names of comparisons
    factors: list[str]  # names that a value may be multiplied by
    pointers: set[str]  # names that addresses are made from
    parents: dict[ast.AST, ast.AST]
    unused: list[str]   # names that are given a value, and never read
    rescales: list[str]  # factors of a maximum that has grown: exp(m - m_new)
    indices: list[str]  # names of what is counted: programs, tiles, groups
    module: str  # that has cdiv where the function runs
    parameters: int  # how many of the names are those

    def of(self, node: Any) -> str:
        return self.source.of(node)


Rule = Callable[[Any, Scope], Iterator[str]]


def edits(source: Source, function: str) -> Iterator[Edit]:
    """All edits of one function, the likeliest kinds first."""
    tree = source.functions[function]
    scope = _scope(source, tree)
    nodes: list[Any] = [n for stmt in tree.body for n in ast.walk(stmt)
                        if hasattr(n, "lineno")]
    yield from _edits(source, function, scope, nodes,
                      (PLAIN, RULES, RARER))


def host_edits(source: Source, function: str) -> Iterator[Edit]:
    """Edits of a function that launches kernels: the few that launches alone
    cannot be tried with, those of what is given to launches, all others."""
    tree = source.hosts[function]
    scope = _scope(source, tree)
    nodes: list[Any] = [n for stmt in tree.body for n in ast.walk(stmt)
                        if hasattr(n, "lineno")]
    given = [part for n in nodes if isinstance(n, ast.Call) and isinstance(
        n.func, ast.Subscript) for part in ast.walk(n)
        if hasattr(part, "lineno")]
    yield from _missing(source, function, tree)
    for rules, of in ((UNREAD, given), (HOST_FIRST, nodes),
                      (HOST_GIVEN, given), (HOST_RULES, nodes)):
        yield from _edits(source, function, scope, of, (rules,))


# ---- statements that lack ---------------------------------------------------

def _missing(source, function, tree):
    """Two buffers that a loop does not exchange, a kernel of the file that
    nobody launches: statements that stand before or after another one."""
    for loop in ast.walk(tree):
        last = loop.body[-1] if isinstance(loop, (ast.For, ast.While)) else None
        if isinstance(last, (ast.Assign, ast.AugAssign, ast.Expr)):
            for one, other in _pairs(loop):
                yield Edit(source.file, function, last.end_lineno or 0,
                           source.span(last)[1], "",
                           f"; {one}, {other} = {other}, {one}")
    launches = [n for n in ast.walk(tree) if isinstance(n, ast.Expr) and
                isinstance(n.value, ast.Call) and
                isinstance(n.value.func, ast.Subscript)]
    launches.sort(key=lambda n: n.lineno)
    for name in source.unlaunched:
        for call in _calls_of(source, tree, name, launches):
            for before in launches:
                yield Edit(source.file, function, before.lineno,
                           source.span(before)[0], "", f"{call}; ")


def _pairs(loop):
    """Names that are given to one call in a loop, those that are alike
    first."""
    found = set()
    for node in ast.walk(loop):
        if isinstance(node, ast.Call):
            names = [a.id for a in node.args if isinstance(a, ast.Name)]
            found |= set(itertools.combinations(names, 2))
    swapped = {t.id for n in ast.walk(loop) if isinstance(n, ast.Assign)
               for target in n.targets if isinstance(target, ast.Tuple)
               for t in target.elts if isinstance(t, ast.Name)}
    alike = sorted((-difflib.SequenceMatcher(None, *pair).ratio(), pair)
                   for pair in found if not swapped & set(pair) and
                   pair[0] != pair[1])
    return [pair for _, pair in alike[:MOST_PAIRS]]


def _calls_of(source, tree, kernel, launches):
    """Launches of a kernel that nobody launches, with what other launches of
    a function are given for parameters of the same name, or what is called
    like them."""
    given: dict[str, str] = {}
    for launch in launches:
        func = source.functions.get(getattr(launch.value.func.value, "id", ""))
        positional = [a.arg for a in func.args.args] if func else []
        pairs = [*zip(positional, launch.value.args),
                 *((k.arg, k.value) for k in launch.value.keywords)]
        for name, value in pairs:
            if name and not isinstance(value, ast.Starred):
                given.setdefault(name, source.of(value))
    local = [a.arg for a in tree.args.args] + [
        n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and
        isinstance(n.ctx, ast.Store)]
    known = {name.lower(): name for name in local}
    args = []
    for parameter in source.functions[kernel].args.args:
        name = parameter.arg
        text = given.get(name) or known.get(name.lower()) or next(
            (known[n] for n in difflib.get_close_matches(name.lower(), known,
                                                         1)), "")
        if not text:
            return
        args.append(f"{name}={text}")
    for grid in dict.fromkeys(itertools.chain.from_iterable(
            _grids_like(source, tree, n.value.func.slice) for n in launches)):
        yield f"{kernel}[{grid}]({', '.join(args)})"


def _grids_like(source, tree, grid):
    """A grid, and those that have one axis of it."""
    yield source.of(grid)
    made = next((n.value for n in ast.walk(tree) if isinstance(n, ast.Assign)
                 and isinstance(grid, ast.Name) and any(
                     isinstance(t, ast.Name) and t.id == grid.id
                     for t in n.targets)), grid)
    for axis in made.elts if isinstance(made, ast.Tuple) else ():
        yield f"({source.of(axis)},)"


def _edits(source, function, scope, nodes, kinds):
    """By rules of several kinds, the best first."""
    seen = set()
    for rank, rules in enumerate(kinds):
        for types, rule in rules:
            for node in nodes:
                if not isinstance(node, types):
                    continue
                lo, hi = source.span(node)
                old = source.of(node)
                for new in rule(node, scope):
                    if new == old or new.count("\n") != old.count("\n") or (
                            lo, new) in seen:
                        continue
                    seen.add((lo, new))
                    yield _narrowed(Edit(source.file, function, node.lineno,
                                         lo, old, new, rank))


def _narrowed(edit):
    """An edit of an expression on several lines, at the line that differs."""
    old, new = edit.old.split("\n"), edit.new.split("\n")
    same = 0
    while same < len(old) - 1 and old[same] == new[same]:
        same += 1
    if not same:
        return edit
    skipped = len("\n".join(old[:same]).encode()) + 1
    return edit._replace(line=edit.line + same, at=edit.at + skipped,
                         old="\n".join(old[same:]), new="\n".join(new[same:]))


def _scope(source, tree):
    args = tree.args
    names = [a.arg for a in (*args.posonlyargs, *args.args, *args.kwonlyargs)]
    masks: list[str] = []
    factors = [n for n in names if _is_factor(n)]
    parents = {child: node for node in ast.walk(tree)
               for child in ast.iter_child_nodes(node)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.append(node.id)
            parent = parents.get(node)
            value = getattr(parent, "value", None)
            if isinstance(parent, ast.Assign) and _is_mask(value, masks):
                masks.append(node.id)
            elif isinstance(value, (ast.Call, ast.BinOp)) and (
                    _is_factor(node.id) or _is_math(value)):
                factors.append(node.id)
    read = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and
            isinstance(n.ctx, ast.Load)}
    names = list(dict.fromkeys(names))
    return Scope(source, names, list(dict.fromkeys(masks)),
                 list(dict.fromkeys(factors)), set(_bases(tree)), parents,
                 [n for n in names if n not in read and n.strip("_")],
                 list(dict.fromkeys(_rescales(source, tree))),
                 list(dict.fromkeys(_indices(tree))),
                 "tl" if tree in source.functions.values() else "triton",
                 len(args.posonlyargs) + len(args.args) + len(args.kwonlyargs))


def _rescales(source, tree):
    """What a sum is multiplied by when its maximum has grown."""
    exps = list(dict.fromkeys(
        source.of(n.func) for n in ast.walk(tree) if isinstance(n, ast.Call) and
        _called_name(n) in ("exp", "exp2")))
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and isinstance(
                node.value, ast.Call) and _called_name(
                    node.value) == "maximum" and isinstance(
                        node.targets[0], ast.Name):
            for old in node.value.args:
                if isinstance(old, ast.Name):
                    yield from (f"{exp}({old.id} - {node.targets[0].id})"
                                for exp in exps)


def _indices(tree):
    """Names of programs, of what a loop counts, of what is divided out of
    these."""
    for node in ast.walk(tree):
        if isinstance(node, (ast.For, ast.AugAssign)) and isinstance(
                node.target, ast.Name) and (
                    isinstance(node, ast.For) or
                    isinstance(node.value, ast.Constant)):
            yield node.target.id
        elif isinstance(node, ast.Assign) and isinstance(
                node.targets[0], ast.Name):
            value = node.value
            if isinstance(value, ast.BinOp) and isinstance(
                    value.op, (ast.FloorDiv, ast.Mod)) or isinstance(
                        value, ast.Call) and _called_name(value) in (
                            "program_id", "min", "max"):
                yield node.targets[0].id


def _bases(tree):
    """The names that the addresses of accesses begin with."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and node.args and _is_access(node):
            base = node.args[0]
            while isinstance(base, ast.BinOp):
                base = base.left
            if isinstance(base, ast.Name):
                yield base.id


def _called_name(node):
    """The name of a call's function, without its module."""
    return getattr(node.func, "attr", getattr(node.func, "id", ""))


def _is_access(node):
    name = getattr(node.func, "attr", "")
    return name in ("load", "store") or name.startswith("atomic")


def _is_factor(name):
    return bool(re.search(
        r"scale|alpha|beta|norm|rstd|inv|corr|decay|gate|weight|prob|eps|smooth"
        r"|rate|temp|gamma|momentum",
        name, re.I)) and "stride" not in name


def _is_math(node):
    return any(isinstance(n, ast.Attribute) and n.attr in (
        "exp", "exp2", "rsqrt", "sqrt", "log", "log2", "sigmoid", "sum")
        for n in ast.walk(node))


def _is_mask(node, masks):
    return isinstance(node, ast.Compare) or (
        isinstance(node, ast.Name) and node.id in masks) or (
        isinstance(node, ast.BinOp) and isinstance(
            node.op, (ast.BitAnd, ast.BitOr)) and
        _is_mask(node.left, masks)) or (
        isinstance(node, ast.Subscript) and _is_mask(node.value, masks))


def _text(node, scope):
    """An expression as an operand of whatever stands around it."""
    text = scope.of(node)
    return text if isinstance(node, (
        ast.Name, ast.Constant, ast.Call, ast.Attribute, ast.Subscript,
        ast.Tuple)) else f"({text})"


def _with(node, part, new, scope):
    """The text of a node in which one part gives way."""
    lo, _ = scope.source.span(node)
    a, b = (at - lo for at in scope.source.span(part))
    whole = scope.of(node).encode()
    return (whole[:a] + new.encode() + whole[b:]).decode("utf-8", "replace")


# ---- the rules ---------------------------------------------------------------
#
# Each gives texts that may stand in place of a node.

_COMPARED = {ast.Lt: ("<=", ">", ">=", "!="), ast.LtE: ("<", ">=", ">", "=="),
             ast.Gt: (">=", "<", "<=", "!="), ast.GtE: (">", "<=", "<", "=="),
             ast.Eq: ("!=", "<=", ">="), ast.NotEq: ("==", "<", ">")}
_OPERATORS = {
    ast.Add: ("-", "*"), ast.Sub: ("+",), ast.Mult: ("/", "+", "//", "%"),
    ast.Div: ("*",), ast.FloorDiv: ("%", "*"), ast.Mod: ("//", "*"),
    ast.BitAnd: ("|", "^"), ast.BitOr: ("&", "^"), ast.BitXor: ("&", "|"),
    ast.LShift: (">>",), ast.RShift: ("<<",), ast.Pow: ("*",)}
_SIGNS = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/",
          ast.FloorDiv: "//", ast.Mod: "%", ast.BitAnd: "&", ast.BitOr: "|",
          ast.BitXor: "^", ast.LShift: "<<", ast.RShift: ">>", ast.Pow: "**"}
_CALLED = {
    "exp": ("exp2",), "exp2": ("exp",), "log": ("log2",), "log2": ("log",),
    "max": ("min", "sum"), "min": ("max",), "sum": ("max",),
    "maximum": ("minimum",), "minimum": ("maximum",), "sin": ("cos",),
    "cos": ("sin",), "rsqrt": ("sqrt",), "sqrt": ("rsqrt",),
    "argmax": ("argmin",), "argmin": ("argmax",), "floor": ("ceil",),
    "ceil": ("floor",), "atomic_max": ("atomic_min", "atomic_add"),
    "atomic_min": ("atomic_max",), "zeros": ("ones",),
    "num_programs": ("program_id",), "cumsum": ("cumprod",),
    "cumprod": ("cumsum",)}
_DTYPES = {"float16": ("float32", "bfloat16"), "bfloat16": ("float32",),
           "float32": ("float16",), "int8": ("int32", "uint8"),
           "uint8": ("int8", "int32"), "int16": ("int32",),
           "int32": ("float32", "int64"), "int64": ("int32",),
           "float8e4nv": ("float32",), "float8e5": ("float32",)}


def _compared(node, scope):
    if len(node.ops) != 1:
        return
    left, right = scope.of(node.left), scope.of(node.comparators[0])
    for sign in _COMPARED.get(type(node.ops[0]), ()):
        yield f"{left} {sign} {right}"


def _operator(node, scope):
    left, right = _text(node.left, scope), _text(node.right, scope)
    for sign in _OPERATORS.get(type(node.op), ()):
        yield f"({left} {sign} {right})"


def _rounded_up(node, scope):
    """A quotient that is rounded the other way."""
    if isinstance(node, ast.BinOp):
        if isinstance(node.op, ast.FloorDiv):
            left, right = scope.of(node.left), scope.of(node.right)
            yield f"{scope.module}.cdiv({left}, {right})"
    elif _called_name(node) == "cdiv" and len(node.args) == 2:
        left, right = (_text(a, scope) for a in node.args)
        yield f"({left} // {right})"


def _called(node, scope):
    """Another function of the same arguments."""
    name = _called_name(node)
    for other in _CALLED.get(name, ()):
        func = scope.of(node.func)
        yield _with(node, node.func, func[:len(func) - len(name)] + other,
                    scope)


def _powers(node, scope):
    """exp and exp2 of what a factor turns into the other, and the factor that
    the normal distribution has within erf."""
    name = _called_name(node)
    factor = {"exp": LN_2, "exp2": LOG2_E, "log": LOG2_E, "log2": LN_2,
              "erf": SQRT_HALF}.get(name)
    if factor is None or len(node.args) != 1:
        return
    inner, func = _text(node.args[0], scope), scope.of(node.func)
    if name.startswith("e"):
        yield _with(node, node.args[0], f"{inner} * {factor}", scope)
    else:
        yield f"({scope.of(node)} * {factor})"
        other = func[:len(func) - len(name)] + (
            "log2" if name == "log" else "log")
        yield f"({_with(node, node.func, other, scope)} * {factor})"


def _axes(node, scope):
    """x[:, None] and x[None, :]."""
    index = node.slice
    if isinstance(index, ast.Tuple) and len(index.elts) == 2 and any(
            isinstance(e, ast.Constant) and e.value is None
            for e in index.elts):
        one, other = map(scope.of, index.elts)
        yield f"{scope.of(node.value)}[{other}, {one}]"


def _constant(node, scope):
    value = node.value
    if value in ("tf32", "tf32x3", "bf16x3"):
        yield '"ieee"'
    elif isinstance(value, bool):
        yield str(not value)
    elif isinstance(value, int):
        yield from (str(n) for n in dict.fromkeys(
            (value + 1, abs(value - 1), value * 2, value // 2))
            if n != value)
        if value == 0:
            yield "-1"
        elif value & (value + 1) == 0:
            yield str(2 * value + 1)
    elif isinstance(value, float):
        yield from ("0.0", "1.0", f"(-{scope.of(node)})", 'float("-inf")')
        yield from (f"({scope.of(node)} - {name})" for name in scope.factors)
        if value and value == int(value) and abs(value) < 1e6:
            yield from (repr(value + 1), repr(value - 1))
        if value:
            yield f"({scope.of(node)} * 2.0)"
            yield f"({scope.of(node)} * 0.5)"


def _size(node, scope):
    """A size that has a name where a number is written down."""
    if isinstance(node.value, int) and node.value > 1:
        yield from (n for n in scope.names if _is_size(n) or n.isupper())


def _infinity(node, scope):
    """-inf for 0, 0 for -inf."""
    if scope.of(node.func) == "float" and len(node.args) == 1:
        yield "0.0"
        yield f"-{scope.of(node)}"
    if getattr(node.func, "attr", "") == "zeros":
        shape = scope.of(node.args[0]) if node.args else ""
        rest = ", ".join([scope.of(a) for a in node.args[1:]] + [
            scope.of(k) for k in node.keywords])
        func = scope.of(node.func)[:-len("zeros")] + "full"
        if shape and rest:
            for value in ('float("-inf")', "1.0"):
                yield f"{func}({shape}, {value}, {rest})"


def _limits(node, scope):
    """A limit that is off by one, or by the whole step."""
    if _called_name(node) not in (
            "range", "static_range", "arange"):
        return
    step = scope.of(node.args[2]) if len(node.args) > 2 else "1"
    for arg in node.args[:2]:
        for by in dict.fromkeys(("1", step)):
            for sign in "+-":
                yield _with(node, arg, f"{_text(arg, scope)} {sign} {by}",
                            scope)
    if len(node.args) == 2:
        yield _with(node, node.args[0], "0", scope)


def _bounds(node, scope):
    """A side of a comparison that is off by one."""
    for side in (node.left, *node.comparators):
        for sign in "+-":
            yield _with(node, side, f"{_text(side, scope)} {sign} 1", scope)


def _alike(name, scope):
    """The names of the function that may stand for one, the likest first."""
    kind = _kind(name, scope)

    def parts(n):
        return set(re.split(r"_|(?<=[a-z])(?=[A-Z])", n))
    near = []
    for other in scope.names:
        if other == name or _kind(other, scope) != kind:
            continue
        ratio = difflib.SequenceMatcher(None, name, other).ratio()
        far = 1 - ratio - bool(parts(name) & parts(other)) / 2
        near.append((far, other))
    return [other for _, other in sorted(near)]


def _kind(name, scope):
    """Names of two kinds do not stand for each other."""
    return ("mask" if name in scope.masks else
            "pointer" if name in scope.pointers else "")


def _names(node, scope):
    if isinstance(node.ctx, ast.Load) and node.id in scope.names:
        yield from _alike(node.id, scope)[:MOST_NAMES]


def _likest(node, scope):
    """Those that stand in the same statement, and those most alike."""
    if isinstance(node.ctx, ast.Load) and node.id in scope.names:
        around = node
        while not isinstance(around, ast.stmt):
            around = scope.parents[around]
        beside = {n.id for n in ast.walk(around) if isinstance(n, ast.Name)}
        alike = _alike(node.id, scope)
        near = [n for n in alike if n in beside and len(n) <= len(node.id) + 2]
        yield from dict.fromkeys([*near, *alike[:MOST_LIKEST]])


def _neighbours(node, scope):
    """Two arguments or elements beside each other that are exchanged."""
    items = node.elts if isinstance(node, ast.Tuple) else node.args
    for one, other in zip(items, items[1:]):
        a, b = scope.of(one), scope.of(other)
        if a != b and not isinstance(one, ast.Constant):
            yield _with_both(node, one, b, other, a, scope)


def _other_names(node, scope):
    """Those that are less alike."""
    if isinstance(node.ctx, ast.Load) and node.id in scope.names:
        yield from _alike(node.id, scope)[MOST_NAMES:]


def _counted(node, scope):
    """A factor or a divisor that stands elsewhere as a sum or a maximum."""
    if not isinstance(node.op, (ast.Mult, ast.Div)) or not isinstance(
            node.right, ast.Name):
        return
    for other in scope.parents:
        if isinstance(other, ast.Call) and _called_name(other) in (
                "sum", "max", "min") and other.args and (
                    isinstance(other.args[0], ast.Name)):
            yield _with(node, node.right, scope.of(other), scope)


def _unused_names(node, scope):
    """What is computed, and never read, where something else is."""
    if isinstance(node.ctx, ast.Load) and node.id in scope.names:
        for other in scope.unused:
            if other != node.id:
                yield other
                yield f"tl.sum({other}, 0)"


def _unread_names(node, scope):
    """What a function of the host never reads."""
    if isinstance(node.ctx, ast.Load) and node.id in scope.names:
        yield from (name for name in scope.unused if name != node.id)


def _swapped(node, scope):
    """Two arguments or elements that are exchanged."""
    if isinstance(node, ast.Tuple):
        if isinstance(scope.parents.get(node), ast.Subscript):
            return  # an index: _axes exchanges those
        items = node.elts
    else:
        name = getattr(node.func, "attr", "")
        items = node.args[1:] if name == "where" else node.args
        if name not in ("where", "dot", "") and not isinstance(
                node.func, ast.Name):
            return
    for i, one in enumerate(items):
        for other in items[i + 1:]:
            a, b = scope.of(one), scope.of(other)
            if a != b:
                yield _with_both(node, one, b, other, a, scope)


def _with_both(node, one, a, other, b, scope):
    lo, _ = scope.source.span(node)
    whole = scope.of(node).encode()
    for part, new in ((other, b), (one, a)):
        start, end = (at - lo for at in scope.source.span(part))
        whole = whole[:start] + new.encode() + whole[end:]
    return whole.decode("utf-8", "replace")


def _turned(node, scope):
    """a - b as b - a."""
    if isinstance(node.op, (ast.Sub, ast.Div, ast.FloorDiv, ast.Mod)):
        yield (f"({_text(node.right, scope)} {_SIGNS[type(node.op)]} "
               f"{_text(node.left, scope)})")


def _dropped(node, scope):
    """One operand alone."""
    yield _text(node.left, scope)
    yield _text(node.right, scope)


def _negated(node, scope):
    """An argument with the other sign."""
    name = _called_name(node)
    if name in ("exp", "exp2", "sigmoid", "sin", "cos", "where", "maximum",
                "max", "sum", "cumsum"):
        for arg in node.args[-1:] if name == "where" else node.args[:1]:
            yield _with(node, arg, f"-{_text(arg, scope)}", scope)


def _joined(node, scope):
    """An argument that lacks an operand, which stands elsewhere."""
    name = _called_name(node)
    if name not in ("exp", "exp2", "log", "log2", "sum", "max", "store",
                    "sqrt", "rsqrt", "dot", "where", "cumsum"):
        return
    arg = node.args[1:2] if name in ("store", "where") else node.args[:1]
    for part in arg:
        text = _text(part, scope)
        for other in _operands(scope):
            if other.partition("[")[0] in text:
                continue
            for sign in "-", "*", "/", "+":
                yield _with(node, part, f"{text} {sign} {other}", scope)
            yield _with(node, part, f"{other} - {text}", scope)


def _operands(scope):
    """What values are subtracted by or multiplied with in the function."""
    found: dict[str, None] = {}
    for node in scope.parents:
        if isinstance(node, ast.BinOp) and isinstance(
                node.op, (ast.Sub, ast.Mult, ast.Div)):
            inner = node.right
            while isinstance(inner, ast.Subscript):
                inner = inner.value
            if isinstance(inner, ast.Name) and "stride" not in inner.id:
                found[scope.of(node.right)] = None
                found[inner.id] = None
    for name in [*scope.names[scope.parameters:], *scope.names]:
        if name not in scope.masks and name not in scope.pointers and (
                len(name) <= 6 and name not in scope.indices):
            found.setdefault(name)
    return list(found)[:2 * MOST_FACTORS]


def _exchanged(node, scope):
    """Two names of a statement in each other's place."""
    names = list(dict.fromkeys(
        n.id for n in ast.walk(node) if isinstance(n, ast.Name) and
        isinstance(n.ctx, ast.Load) and n.id in scope.names))
    for i, one in enumerate(names):
        for other in names[i + 1:]:
            if _kind(one, scope) == _kind(other, scope):
                yield _with_exchanged(scope.of(node), one, other)


def _with_exchanged(text, one, other):
    names = {one: other, other: one}
    return re.sub(rf"(?<![\w.])({'|'.join(map(re.escape, names))})(?![\w(=])",
                  lambda m: names[m[1]], text)


def _in_base_two(node, scope):
    """A scale that exp2 needs."""
    if isinstance(node.ctx, ast.Load) and node.id in scope.factors:
        yield f"({node.id} * {LOG2_E})"
        yield f"({node.id} * {LN_2})"


def _unsigned(node, scope):
    yield _text(node.operand, scope)


def _unwrapped(node, scope):
    """f(x) as x, x.f(...) as x."""
    if isinstance(node.func, ast.Attribute) and node.func.attr in (
            "to", "trans", "reshape"):
        inner = node.func.value
        if scope.of(inner) not in ("tl", "tl.math"):
            yield _text(inner, scope)
    if len(node.args) == 1 and not isinstance(node.args[0], ast.Starred):
        yield _text(node.args[0], scope)


def _masks(node, scope):
    """Masks of accesses: one that lacks, or that another one joins."""
    name = getattr(node.func, "attr", "")
    if not _is_access(node):
        return
    given = {k.arg: k.value for k in node.keywords}
    text = scope.of(node)
    for mask in _mask_texts(scope):
        if "mask" in given:
            joined = f"{_text(given['mask'], scope)} & {mask}"
            yield _with(node, given["mask"], joined, scope)
            yield _with(node, given["mask"], mask, scope)
        else:
            yield f"{text[:-1].rstrip(', ')}, mask={mask})"
    if name == "load" and "mask" in given and "other" not in given:
        for other in ("0.0", '-float("inf")'):
            yield f"{text[:-1].rstrip(', ')}, other={other})"


def _mask_texts(scope):
    return _as_used(scope.masks, scope)


def _masks_written(scope):
    """The same, and masks that accesses have, which have no name."""
    found = dict.fromkeys(_mask_texts(scope))
    for node in scope.parents:
        if isinstance(node, ast.keyword) and node.arg == "mask" and (
                _is_mask(node.value, scope.masks)):
            found[_text(node.value, scope)] = None
    return list(found)


def _factor_texts(scope):
    return _as_used(scope.factors[:MOST_FACTORS], scope)


def _as_used(names, scope):
    """Names, and those with axes that stand in the function."""
    used = dict.fromkeys(names)
    for node in scope.parents:
        if isinstance(node, ast.Subscript) and isinstance(
                node.value, ast.Name) and node.value.id in names and (
                "None" in scope.of(node.slice)):
            used[scope.of(node)] = None
    for name in names:
        used[f"{name}[:, None]"] = None
    return list(used)


def _scaled(node, scope):
    """A value that is scaled, or whose sign changes."""
    value = getattr(node, "value", None)
    if value is None or isinstance(value, (ast.Compare, ast.Tuple)) or any(
            isinstance(n, ast.Attribute) and n.attr in (
                "program_id", "arange", "load", "num_programs", "cdiv")
            for n in ast.walk(value)):
        return
    if not any(isinstance(n, ast.Call) or isinstance(n, ast.Name) and
               n.id in scope.factors for n in ast.walk(value)):
        return
    yield from _times_factors(node, value, scope)


def _scaled_store(node, scope):
    """The same of a value that is stored."""
    if getattr(node.func, "attr", "") in ("store", "atomic_add") and (
            len(node.args) > 1):
        yield from _times_factors(node, node.args[1], scope)


def _times_factors(node, value, scope):
    """A node with a value of it negated, and times and over each factor that
    it has not."""
    text = _text(value, scope)
    yield _with(node, value, f"-{text}", scope)
    for factor in _factor_texts(scope):
        if factor not in text:
            yield _with(node, value, f"{text} * {factor}", scope)
            yield _with(node, value, f"{text} / {factor}", scope)


def _accumulated(node, scope):
    """acc += x for acc = x, and a sum that is rescaled before."""
    target, text = scope.of(node.target), scope.of(node.value)
    sign = _SIGNS.get(type(node.op), "+")
    for other in ("+", "-", "*"):
        if other != sign:
            yield f"{target} {other}= {text}"
    yield f"{target} = {text}"
    for factor in _factor_texts(scope):
        value = _text(node.value, scope)
        yield f"{target} = {target} * {factor} {sign} {value}"


def _unsummed(node, scope):
    """acc = x, which may be meant to be added."""
    if len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
        target = node.targets[0].id
        if target not in {n.id for n in ast.walk(node.value)
                          if isinstance(n, ast.Name)} and (
                isinstance(scope.parents.get(node), (ast.For, ast.While))):
            yield f"{target} += {scope.of(node.value)}"


def _exclusive(node, scope):
    """A scan that does not count the element itself."""
    if getattr(node.func, "attr", "") == "cumsum" and node.args:
        yield f"({scope.of(node)} - {_text(node.args[0], scope)})"
        yield f"({scope.of(node)} - 1)"
    if getattr(node.func, "attr", "") in ("cumsum", "cumprod",
                                          "associative_scan"):
        if not any(k.arg == "reverse" for k in node.keywords):
            yield f"{scope.of(node)[:-1]}, reverse=True)"


def _dtypes(node, scope):
    for other in _DTYPES.get(node.attr, ()):
        yield scope.of(node)[:-len(node.attr)] + other


def _cast(node, scope):
    """A loaded value in fp32, the number of a program in int64."""
    if getattr(node.func, "attr", "") == "load":
        yield f"{scope.of(node)}.to(tl.float32)"
    if getattr(node.func, "attr", "") == "program_id":
        yield f"{scope.of(node)}.to(tl.int64)"


def _multiplied(node, scope):
    """A summand, or what a function is given, times a factor that lacks."""
    parts = ([node.left, node.right] if isinstance(node, ast.BinOp) else
             node.args if isinstance(node, ast.Call) else [node.value])
    if isinstance(node, ast.BinOp) and not isinstance(
            node.op, (ast.Add, ast.Sub)) or isinstance(node, ast.Call) and (
                not isinstance(node.func, ast.Name) or
                _called_name(node) in ("range", "min", "max")):
        return
    for part in parts:
        text = _text(part, scope)
        if isinstance(part, (ast.Constant, ast.Starred)) or (
                text in scope.pointers or text in scope.masks):
            continue
        for factor in [*scope.rescales, *_values(scope)]:
            if factor.partition("[")[0] not in text:
                yield _with(node, part, f"{text} * {factor}", scope)


def _values(scope):
    """Names that something may be multiplied by: no masks, no addresses, no
    sizes."""
    counted = set(scope.indices)
    found = [n for n in scope.names if n not in scope.masks and
             n not in scope.pointers and n not in counted and
             not n.isupper() and not _is_size(n)]
    first = [n for n in found if n in scope.factors or n in scope.unused]
    return list(dict.fromkeys([*first, *found]))[:2 * MOST_FACTORS]


def _is_size(name):
    return len(name) == 1 and name in "nmkNMK" or bool(re.search(
        r"stride|step|size|width|rows|cols|len|ptrs|offs|start|_n$|^n_", name))


def _offsets(node, scope):
    """A base that something else lies at."""
    if not isinstance(node.ctx, ast.Load) or not _is_base(node, scope):
        return
    params = [n for n in scope.names if n not in scope.pointers and
              n not in scope.masks and n not in scope.indices]
    short = [n for n in params if len(n) <= 2 and n.islower()]
    for index in dict.fromkeys([*scope.indices, *short]):
        for size in params:
            if _is_size(size) and size != index:
                yield f"{node.id} + {index} * {size}"


def _is_base(node, scope):
    """Whether a name is a pointer that nothing was added to before."""
    if node.id in scope.pointers:
        return True
    parent = scope.parents.get(node)
    return isinstance(parent, ast.Call) and isinstance(
        parent.func, ast.Name) and node.id[:1].isupper()


def _regrouped(node, scope):
    """a * b - c as (a - c) * b, and back."""
    sums, products = (ast.Add, ast.Sub), (ast.Mult, ast.Div)
    for side, other in (node.left, node.right), (node.right, node.left):
        if not isinstance(side, ast.BinOp):
            continue
        a, b = _text(side.left, scope), _text(side.right, scope)
        c = _text(other, scope)
        inner = _SIGNS.get(type(side.op))
        sign = _SIGNS.get(type(node.op))
        if isinstance(node.op, sums) and isinstance(side.op, products):
            yield f"(({a} {sign} {c}) {inner} {b})"
            yield f"({a} {inner} ({b} {sign} {c}))"
            yield f"({c} {inner} {a} {sign} {b})"
            yield f"({c} {inner} {b} {sign} {a})"
        elif isinstance(node.op, products) and isinstance(side.op, sums):
            yield f"({a} {sign} {c} {inner} {b})"
            yield f"({a} {inner} {b} {sign} {c})"


def _rounded(node, scope):
    """What a cast to an integer cuts off."""
    if getattr(node.func, "attr", "") != "to" or not node.args or not (
            _is_integer(node.args[0])):
        return
    inner = _text(node.func.value, scope)
    for text in (f"tl.floor({inner} + 0.5)", f"tl.floor({inner})",
                 f"tl.ceil({inner})"):
        yield _with(node, node.func.value, text, scope)
        yield f"{text}.to(tl.float32)"


def _is_integer(node):
    return "int" in getattr(node, "attr", "")


def _precise(node, scope):
    """A product in full precision."""
    if _called_name(node) == "dot" and not any(
            k.arg == "input_precision" for k in node.keywords):
        yield f'{scope.of(node)[:-1].rstrip(", ")}, input_precision="ieee")'


def _shifted(node, scope):
    """An index or a length that is off by one."""
    if not isinstance(node.ctx, ast.Load) or node.id not in scope.names:
        return
    parent = scope.parents.get(node)
    if node.id in scope.masks or node.id in scope.factors or (
            "stride" in node.id or node.id.isupper()):
        return
    if isinstance(parent, ast.BinOp) and isinstance(
            parent.op, (ast.Add, ast.Mult, ast.Sub)):
        yield f"({node.id} + 1)"
        yield f"({node.id} - 1)"


def _covered(node, scope):
    """A value that is 0 where a mask is off, a mask that another one joins."""
    value = node.value
    if not isinstance(value, (ast.BinOp, ast.Compare, ast.Call)) or (
            isinstance(value, ast.Call) and _called_name(value) in (
                "load", "program_id", "arange", "zeros", "full")):
        return
    text = scope.of(value)
    for mask in _masks_written(scope):
        if mask in text:
            continue
        if _is_mask(value, scope.masks):
            yield _with(node, value, f"({text}) & {mask}", scope)
        else:
            bare = mask[1:-1] if mask[:1] == "(" else mask
            yield _with(node, value, f"tl.where({bare}, {text}, 0.0)", scope)


def _chosen(node, scope):
    """The condition of a tl.where: another one, or one more."""
    if _called_name(node) != "where" or len(node.args) != 3:
        return
    condition = node.args[0]
    text = _text(condition, scope)
    for mask in _masks_written(scope):
        if mask != text:
            yield _with(node, condition, f"{text} & {mask}", scope)
            yield _with(node, condition, mask, scope)


def _sizes(scope):
    """Names of what steps and lengths are, and of how many there are of
    something."""
    many = {n for n in scope.names[:scope.parameters] if n[-1] == "s"}
    return [n for n in scope.names if (_is_size(n) or n.isupper() or n in many)
            and n not in scope.pointers and n not in scope.masks][:MOST_SIZES]


def _strided(node, scope):
    """An index that lacks the size of what it counts."""
    parts = ([node.left, node.right] if isinstance(node, ast.BinOp) else
             [node.value])
    if isinstance(node, ast.BinOp) and not isinstance(node.op, ast.Add):
        return
    for part in parts:
        if isinstance(part, ast.Name) and part.id not in scope.pointers and (
                part.id not in scope.masks):
            for size in ("2", *_sizes(scope)):
                if size != part.id:
                    yield _with(node, part, f"{part.id} * {size}", scope)


def _linear(node, scope):
    """The index b * T + a for a * S + b, with the same size or another one."""
    if not isinstance(node.op, ast.Add) or _is_sum(scope.parents.get(node)):
        return
    terms = _terms(node)
    texts = [scope.of(term) for term in terms]
    for i, product in enumerate(terms):
        if not isinstance(product, ast.BinOp) or not isinstance(
                product.op, ast.Mult):
            continue
        for a, size in ((product.left, product.right),
                        (product.right, product.left)):
            for j, b in enumerate(terms):
                if i == j or not isinstance(size, (
                        ast.Name, ast.Constant, ast.Call)) or (
                            isinstance(b, ast.Name) and
                            b.id in scope.pointers):
                    continue
                for new in (scope.of(size), *_sizes(scope)):
                    made = list(texts)
                    made[i] = _text(a, scope)
                    made[j] = f"{_text(b, scope)} * {new}"
                    yield f"({' + '.join(made)})"


def _is_sum(node):
    return isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add)


def _terms(node):
    if _is_sum(node):
        return [*_terms(node.left), *_terms(node.right)]
    return [node]


def _divided(node, scope):
    """// or % with another size, or with what a size goes into another one:
    heads of a group."""
    if not isinstance(node.op, (ast.FloorDiv, ast.Mod)):
        return
    left, right = _text(node.left, scope), _text(node.right, scope)
    for size in _sizes(scope):
        if size != right:
            yield f"({left} // {size})"
            yield f"({left} % {size})"
            yield f"({left} // ({size} // {right}))"
            yield f"({left} % ({size} // {right}))"


def _indexed(node, scope):
    """An address that is off by one, or lacks an index."""
    if not _is_access(node) or not node.args:
        return
    address = node.args[0]
    names = {n.id for n in ast.walk(address) if isinstance(n, ast.Name)}
    for sign in "+-":
        yield _with(node, address, f"{scope.of(address)} {sign} 1", scope)
    for index in scope.indices:
        if index not in names:
            yield _with(node, address, f"{scope.of(address)} + {index}", scope)


def _extreme(node, scope):
    """What a loop computes anew, joined with what it was before."""
    target = node.targets[0]
    if len(node.targets) != 1 or not isinstance(target, ast.Name) or (
            not isinstance(scope.parents.get(node), (ast.For, ast.While))):
        return
    text = scope.of(node.value)
    if target.id not in {n.id for n in ast.walk(node.value)
                         if isinstance(n, ast.Name)}:
        for name in ("maximum", "minimum"):
            yield f"{target.id} = tl.{name}({target.id}, {text})"


def _absolute(node, scope):
    """An argument without its sign."""
    if _called_name(node) in ("maximum", "minimum", "max", "min", "sum", "log",
                              "log2", "sqrt", "rsqrt"):
        for arg in node.args[:2]:
            if not isinstance(arg, (ast.Constant, ast.UnaryOp, ast.Starred)):
                yield _with(node, arg, f"tl.abs({scope.of(arg)})", scope)


def _ends(node, scope):
    """A limit of a range that is one of the names in it."""
    if _called_name(node) not in ("range", "static_range"):
        return
    for arg in node.args[:2]:
        if isinstance(arg, (ast.BinOp, ast.Call)):
            for name in dict.fromkeys(n.id for n in ast.walk(arg) if isinstance(
                    n, ast.Name) and n.id in scope.names):
                yield _with(node, arg, name, scope)


def _named(node, scope):
    """A number that is compared with, or other=, that has a name."""
    if isinstance(node, ast.Compare):
        parts = [node.left, *node.comparators]
    else:
        parts = [k.value for k in node.keywords if k.arg == "other"]
    for part in parts:
        inner = part.operand if isinstance(part, ast.UnaryOp) else part
        if isinstance(inner, ast.Constant):
            for name in scope.names[:MOST_PARAMETERS]:
                if name not in scope.pointers and name not in scope.masks:
                    yield _with(node, part, name, scope)


def _renumbered(node, scope):
    """1 and 2, or a and b, in each other's place at the end of names."""
    text = scope.of(node)
    for one, other in ("1", "2"), ("0", "1"), ("a", "b"), ("x", "y"):
        names = {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and
                 isinstance(n.ctx, ast.Load)}
        stems = {n[:-1] for n in names if n[-1:] in (one, other) and
                 {n[:-1] + one, n[:-1] + other} <= set(scope.names)}
        new = text
        for stem in sorted(stems):
            new = _with_exchanged(new, stem + one, stem + other)
        yield new


def _unit(node, scope):
    """1 where a length is added or subtracted."""
    if isinstance(node.op, (ast.Add, ast.Sub)) and isinstance(
            node.right, ast.Name) and node.right.id not in scope.pointers:
        yield _with(node, node.right, "1", scope)


def _twofold(node, scope):
    """Twice a product or an argument, and half of it."""
    if isinstance(node, ast.BinOp):
        if isinstance(node.op, ast.Mult):
            yield f"(2 * {_text(node, scope)})"
            yield f"(0.5 * {_text(node, scope)})"
    elif isinstance(node.func, ast.Name):
        for arg in node.args:
            if isinstance(arg, ast.Name):
                yield _with(node, arg, f"2 * {arg.id}", scope)


def _squares(node, scope):
    """The square of another value."""
    if isinstance(node.op, ast.Mult) and isinstance(node.left, ast.Name) and (
            ast.dump(node.left) == ast.dump(node.right)):
        for other in _alike(node.left.id, scope)[:MOST_NAMES]:
            yield f"({other} * {other})"


def _unread(node, scope):
    """A tensor that is never read, where something begins with 0."""
    if _called_name(node) not in ("zeros", "full"):
        return
    for name in scope.unused:
        for access in scope.parents:
            if isinstance(access, ast.Call) and _is_access(access) and (
                    access.args):
                base = access.args[0]
                while isinstance(base, ast.BinOp):
                    base = base.left
                if isinstance(base, ast.Name) and base is not access.args[0]:
                    at = _with(access.args[0], base, name, scope)
                    yield f"tl.load({at})"


def _signed(node, scope):
    """A name that has the other sign wherever a statement has it."""
    names = [n.id for n in ast.walk(node) if isinstance(n, ast.Name) and
             isinstance(n.ctx, ast.Load) and n.id in scope.names]
    for name in dict.fromkeys(n for n in names if names.count(n) > 1):
        yield re.sub(rf"(?<![\w.]){re.escape(name)}(?![\w(=])", f"(-{name})",
                     scope.of(node))


def _averaged(node, scope):
    """A sum, divided by how many there are."""
    if isinstance(node, ast.Call) and _called_name(node) == "sum":
        for size in _sizes(scope):
            yield f"({scope.of(node)} / {size})"


def _widened(node, scope):
    """A value that lacks a factor before it gets an axis."""
    if isinstance(node.value, ast.Name) and "None" in scope.of(node.slice):
        for factor in _values(scope):
            if factor != node.value.id:
                yield (f"({node.value.id} * {factor})"
                       f"[{scope.of(node.slice)}]")


def _left_out(node, scope):
    """A statement that does nothing."""
    if isinstance(node, ast.Assign) and not all(
            isinstance(t, ast.Name) and scope.names.count(t.id)
            for t in node.targets):
        return
    yield "pass" + "\n" * scope.of(node).count("\n")


PLAIN: list[tuple[Any, Rule]] = [
    (ast.Name, _unused_names),
    (ast.Compare, _compared),
    (ast.BinOp, _operator),
    ((ast.BinOp, ast.Call), _rounded_up),
    (ast.Call, _called),
    (ast.Call, _powers),
    (ast.Subscript, _axes),
    (ast.Constant, _constant),
    (ast.Call, _infinity),
    (ast.Call, _limits),
    (ast.Compare, _bounds),
    (ast.BinOp, _turned),
    (ast.BinOp, _dropped),
    (ast.UnaryOp, _unsigned),
    (ast.Call, _negated),
    (ast.Call, _masks),
    (ast.Call, _chosen),
    (ast.AugAssign, _accumulated),
    (ast.Assign, _unsummed),
    (ast.Assign, _extreme),
    (ast.Call, _ends),
    (ast.Attribute, _dtypes),
    (ast.Call, _precise),
    (ast.BinOp, _squares),
    (ast.Call, _unread),
]

RULES: list[tuple[Any, Rule]] = [
    (ast.Name, _names),
    (ast.Call, _unwrapped),
    (ast.Assign, _covered),
    (ast.Assign, _strided),
    (ast.Call, _absolute),
    (ast.Call, _exclusive),
    ((ast.Tuple, ast.Call), _swapped),
    ((ast.Assign, ast.AugAssign, ast.Return), _scaled),
    (ast.Call, _scaled_store),
    (ast.Name, _shifted),
    (ast.Name, _in_base_two),
    ((ast.Assign, ast.AugAssign, ast.Return, ast.Expr), _exchanged),
    (ast.Call, _joined),
    (ast.Call, _cast),
    ((ast.Assign, ast.AugAssign, ast.Expr), _left_out),
    (ast.BinOp, _regrouped),
    (ast.BinOp, _unit),
    (ast.Call, _indexed),
    ((ast.Assign, ast.Return), _signed),
    ((ast.Assign, ast.Return), _renumbered),
    (ast.BinOp, _counted),
    (ast.Call, _rounded),
]

# Each is tried by running the whole script, so there are few.
UNREAD: list[tuple[Any, Rule]] = [(ast.Name, _unread_names)]
HOST_FIRST: list[tuple[Any, Rule]] = [
    (ast.Attribute, _dtypes),
    ((ast.BinOp, ast.Call), _rounded_up),
    (ast.Tuple, _neighbours),
]
HOST_GIVEN: list[tuple[Any, Rule]] = [
    (ast.Call, _neighbours),
    (ast.Name, _likest),
]
HOST_RULES: list[tuple[Any, Rule]] = [
    (ast.BinOp, _dropped),
    (ast.Call, _limits),
    (ast.Constant, _constant),
    (ast.BinOp, _operator),
    (ast.Name, _shifted),
    (ast.Compare, _compared),
    (ast.Name, _names),
]

RARER: list[tuple[Any, Rule]] = [
    (ast.BinOp, _linear),
    (ast.BinOp, _strided),
    ((ast.BinOp, ast.AugAssign, ast.Call), _multiplied),
    (ast.BinOp, _divided),
    ((ast.Compare, ast.Call), _named),
    (ast.Call, _averaged),
    (ast.Subscript, _widened),
    ((ast.BinOp, ast.Call), _twofold),
    (ast.Name, _offsets),
    (ast.Constant, _size),
    (ast.Name, _other_names),
]
