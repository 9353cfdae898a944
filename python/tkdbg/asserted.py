"""What a script compared: read from its source, in the frame that failed.

For what no wrapped function compares: ``assert (out - ref).abs().max() <
1e-3``, ``assert (out == ref).all()``, ``assert out == pytest.approx(ref)``,
``self.assertLess(torch.dist(out, ref), 1e-3)``, also where the difference was
given a name first, or a function of the script is given both arrays.  Nothing
is evaluated but names, attributes, indices, functions of NumPy and PyTorch,
functions of the script that only compute (purity.py), and methods that do not
change their object.
"""
from __future__ import annotations

import ast
import functools
import linecache
import sysconfig
import types
from collections.abc import Iterator
from typing import Any

from . import arrays, purity, source
from .comparisons import UNKNOWN, Comparison

_PURE = frozenset(("numpy", "torch", "math"))  # modules of functions
_LIBRARIES = frozenset(("numpy", "torch", "triton", "tkdbg", "unittest",
                        "pytest", "_pytest", "pluggy"))  # wherever they lie
_DEPTH = 4  # names that stand for a difference
_SIZES = frozenset(("max", "amax", "norm", "mean", "sum", "std", "item"))
_TO_PYTHON = frozenset(("item", "tolist", "float", "int", "list"))
_ASKS = frozenset(("isnan", "isinf", "isfinite"))
_SIMPLE = (ast.Assert, ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Expr,
           ast.Raise, ast.Return)


def comparisons(error: BaseException) -> Iterator[Comparison]:
    """The Comparisons that an exception may have come from, or those that it
    was raised while handling, the innermost first.  Of who called the
    function that raised it, asserts and conditions count alone."""
    for each in _chain(error):
        kinds: tuple[Any, ...] = _SIMPLE
        for frame, line in _frames(each):
            tree = _tree(frame)
            nodes = _statements_at(tree, line, kinds) if tree else []
            for i, node in enumerate(nodes):
                # what is raised stands under the condition with the bound
                tests = [getattr(n, "test", n) for n in nodes[i:]]
                yield from _compared(node, tests, tree, frame, line)
            kinds = ast.Assert,


def places(error: BaseException) -> Iterator[tuple[str, int]]:
    """The (file, line)s of what raised an exception in the script, and of the
    conditions around it."""
    for frame, line in _frames(error)[:1]:
        file, tree = frame.f_code.co_filename, _tree(frame)
        yield file, line
        for node in _statements_at(tree, line, ()) if tree else ():
            for each in range(node.lineno, node.test.end_lineno + 1):
                yield file, each


def is_asserted(file: str, line: int) -> bool:
    """Whether a script's line is in an assert, or gives a name its value that
    stands in one."""
    tree = source.tree("".join(linecache.getlines(file)))
    if tree is None:
        return False
    at = _statements_at(tree, line, _SIMPLE)
    names = {part.id for node in at if isinstance(node, ast.Assign)
             for target in node.targets for part in ast.walk(target)
             if isinstance(part, ast.Name)}
    return any(isinstance(node, ast.Assert) and (
        node in at or not names.isdisjoint(n.id for n in _left_first(node)))
        for node in ast.walk(tree))


def _chain(error):
    seen = []
    while error is not None and error not in seen:
        seen.append(error)
        error = error.__cause__ or error.__context__
    return seen


def _frames(error):
    """(frame, line) of a traceback, the innermost first; those of libraries
    are left out."""
    found, tb = [], error.__traceback__
    while tb is not None:
        found.append((tb.tb_frame, tb.tb_lineno))
        tb = tb.tb_next
    return [(frame, line) for frame, line in reversed(found)
            if not _is_of_library(frame)]


def _is_of_library(frame):
    module = str(frame.f_globals.get("__name__")).partition(".")[0]
    return (module in _LIBRARIES or
            frame.f_code.co_filename.startswith(_folders()))


@functools.cache
def _folders():
    return ("<frozen ", *(sysconfig.get_path(name)
                          for name in ("stdlib", "purelib", "platlib")))


def _compared(node, tests, tree, frame, line):
    """The Comparisons of arrays that a statement makes.  tests: what it
    asks, and the conditions that it stands under.  What a call gave, which
    is not made again, is UNKNOWN.  Of an array that is asked for something
    else, such as NaN, the other side is None."""
    name = ("assert" if isinstance(node, ast.Assert) else
            f"the check in line {node.lineno}")
    test = getattr(node, "test", node)
    for pair in _pairs(test, tree, line, _DEPTH):
        if ast.dump(pair[0]) == ast.dump(pair[1]):
            continue
        sides = [_value(side, frame) for side in pair]
        if _are_compared(pair, sides):
            yield Comparison(name, *sides, *_tolerance(
                tests, tree, frame, line, sides[1]))
    if isinstance(node, (ast.Assert, ast.If)):
        asks = next((_name(part.func) for part in ast.walk(test)
                     if isinstance(part, ast.Call) and
                     _name(part.func) in _ASKS), "")
        for part in _names(test, tree, line, _DEPTH):
            value = _value(part, frame)
            if _is_array(value):
                yield Comparison(name, value, None, asks=asks)


def _are_compared(pair, sides):
    """Whether one of two sides is an array, and the other one may be what is
    expected of it; a number that the script has written down says something
    of more than one element."""
    known = [s for s in sides if s is not UNKNOWN]
    arrays = [s for s in known if _is_array(s)]
    if any(isinstance(node, ast.Constant) for node in pair):
        arrays = [a for a in arrays if len(a.shape)]
    return bool(arrays) and all(
        _is_array(s) or isinstance(s, (int, float, list, tuple))
        for s in known)


def _is_array(value):
    return isinstance(getattr(value, "shape", None), tuple)


def _value(node, frame):
    """The value of one of two sides; an array rather than the numbers that
    were made of it."""
    while isinstance(node, ast.Call) and _name(node.func) in _TO_PYTHON:
        node = (node.args[0] if node.args else
                getattr(node.func, "value", node.func))
    try:
        return _evaluate(node, frame)
    except Exception:
        return UNKNOWN


def _tree(frame):
    lines = linecache.getlines(frame.f_code.co_filename, frame.f_globals)
    return source.tree("".join(lines))


def _statements_at(tree, line, kinds):
    """The statement at a line, if it is of these kinds, and the ifs around
    it, the innermost first."""
    nodes: list[Any] = list(ast.walk(tree))
    return [node for node in reversed(nodes)
            if isinstance(node, (*kinds, ast.If))
            and node.lineno <= line <= node.end_lineno]


def _pairs(node, tree, line, depth):
    """The pairs of expressions that are compared or subtracted in node, then
    those that a function is called with, then those in names that stand for
    a difference.  What makes one of the two sides is called with something
    else."""
    sides: set[ast.AST] = set()
    for part in ast.walk(node):
        if isinstance(part, ast.BinOp) and isinstance(
                part.op, (ast.Sub, ast.BitXor)):
            yield part.left, part.right
            sides.update(ast.walk(part.left), ast.walk(part.right))
        if isinstance(part, ast.Call) and _name(part.func) == "approx":
            other = _other_side(node, part)
            if other is not None:
                yield other, part.args[0]
    for part in ast.walk(node):
        if isinstance(part, ast.Compare) and isinstance(
                part.ops[0], (ast.Eq, ast.NotEq)):
            yield part.left, part.comparators[0]
    for part in ast.walk(node):
        if isinstance(part, ast.Call) and part not in sides:
            given = [a for a in [*part.args, *(k.value for k in part.keywords)]
                     if not isinstance(a, ast.Starred) and not _is_number(a)]
            if isinstance(part.func, ast.Attribute):
                yield from [(part.func.value, a) for a in given[:1]]
            yield from zip(given, given[1:])
    for part in _left_first(node) if depth else ():
        value = _assigned(tree, part.id, line)
        if value is not None:
            yield from _pairs(value, tree, line, depth - 1)


def _is_number(node):
    """Whether an expression is a number that the script has written down, or
    another constant."""
    return isinstance(node, ast.Constant) or isinstance(
        node, ast.UnaryOp) and isinstance(node.operand, ast.Constant)


def _names(node, tree, line, depth):
    """The names in an expression, those that it was made of included."""
    for part in _left_first(node):
        yield part
        value = _assigned(tree, part.id, line) if depth else None
        if value is not None:
            yield from _names(value, tree, line, depth - 1)


def _left_first(node):
    """The names in an expression, from left to right."""
    names = [part for part in ast.walk(node) if isinstance(part, ast.Name)]
    return sorted(names, key=lambda n: (n.lineno, n.col_offset))


def _name(function):
    return getattr(function, "attr", getattr(function, "id", ""))


def _other_side(node, part):
    for compared in ast.walk(node):
        if isinstance(compared, ast.Compare):
            sides = [compared.left, *compared.comparators]
            if part in sides:
                return next(s for s in sides if s is not part)
    return None


def _assigned(tree, name, line):
    """The value that a name was given last before a line."""
    found = [n for n in ast.walk(tree) if isinstance(
        n, (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.NamedExpr))
        and n.lineno < line and n.value is not None
        and any(isinstance(t, ast.Name) and t.id == name
                for t in getattr(n, "targets", [getattr(n, "target", None)]))]
    return max(found, key=lambda n: n.lineno).value if found else None


def _tolerance(tests, tree, frame, line, expected):
    """(rtol, atol) of "... < 1e-3", of the first condition that has a bound;
    exact for anything else."""
    for part in (p for test in tests for p in ast.walk(test)):
        if isinstance(part, ast.Compare) and isinstance(
                part.ops[0], (ast.Lt, ast.LtE, ast.Gt, ast.GtE)):
            try:
                bound = float(_evaluate(part.comparators[0], frame))
            except Exception:
                continue
            return _measured(_quotient(part.left, tree, line, _DEPTH), bound,
                             expected)
    approx = any(isinstance(p, ast.Call) and _name(p.func) == "approx"
                 for p in ast.walk(tests[0]))
    return (1e-6, 1e-12) if approx else (0.0, 0.0)


def _quotient(node, tree, line, depth):
    """The division in what is compared with a bound, or in what that was
    made of, or None."""
    for part in ast.walk(node):
        if isinstance(part, ast.BinOp) and isinstance(part.op, ast.Div):
            return part
    for part in _left_first(node) if depth else ():
        value = _assigned(tree, part.id, line)
        found = value and _quotient(value, tree, line, depth - 1)
        if found:
            return found
    return None


def _measured(quotient, bound, expected):
    """(rtol, atol) of a bound of a difference, of one that is divided by each
    element, or by one size of all."""
    if quotient is None:
        return 0.0, bound
    size = any(isinstance(p, ast.Call) and _name(p.func) in _SIZES
               for p in ast.walk(quotient.right))
    values = arrays.values(expected) if size and _is_array(expected) else None
    if values is None or not values.size:
        return bound, 0.0
    return 0.0, bound * float(abs(values).max())


def _evaluate(node, frame):
    """The value of an expression that changes nothing; else ValueError."""
    for part in ast.walk(node):
        if isinstance(part, ast.Call) and not _is_pure(part.func, frame):
            raise ValueError("a call")
        if isinstance(part, (ast.NamedExpr, ast.Await, ast.Yield,
                             ast.YieldFrom, ast.Lambda)):
            raise ValueError("not only a value")
    code = compile(ast.Expression(node), "<tkdbg>", "eval")
    return eval(code, frame.f_globals, frame.f_locals)


def _is_pure(function, frame):
    """Whether a function is one of a known module, or a method, as far as
    its name tells, that does not change its object."""
    if isinstance(function, ast.Name):
        return purity.is_pure(frame.f_locals.get(
            function.id, frame.f_globals.get(function.id)))
    if not isinstance(function, ast.Attribute) or function.attr.endswith("_"):
        return False
    root: ast.expr = function
    while isinstance(root, (ast.Attribute, ast.Subscript, ast.Call)):
        root = root.func if isinstance(root, ast.Call) else root.value
    if not isinstance(root, ast.Name):
        return False
    known = frame.f_locals.get(root.id, frame.f_globals.get(root.id))
    if isinstance(known, types.ModuleType):
        return known.__name__.partition(".")[0] in _PURE
    return _is_array(known)
