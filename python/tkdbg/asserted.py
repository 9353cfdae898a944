"""What an assert compared: read from its source, in the frame that failed.

For what no function compares: ``assert (out - ref).abs().max() < 1e-3``,
``assert (out == ref).all()``, ``assert out == pytest.approx(ref)``, also where
the difference was given a name first.  Nothing is evaluated but names,
attributes, indices, functions of NumPy and PyTorch, and methods that do not
change their object.
"""
from __future__ import annotations

import ast
import linecache
import types

from .comparisons import UNKNOWN, Comparison

_PURE = frozenset(("numpy", "torch", "math"))  # modules of functions
_DEPTH = 4  # names that stand for a difference


def comparison(error):
    """The Comparison that an exception came from, the innermost one, or
    None."""
    frames, tb = [], error.__traceback__
    while tb is not None:
        frames.append((tb.tb_frame, tb.tb_lineno))
        tb = tb.tb_next
    for frame, line in reversed(frames):
        tree = _tree(frame)
        for node in _tests_at(tree, line) if tree else ():
            found = _compared(node, tree, frame, line)
            if found is not None:
                return found
    return None


def _compared(node, tree, frame, line):
    """The Comparison of arrays that an assert or if makes, or None.  What a
    call gave, which is not made again, is UNKNOWN."""
    name = ("assert" if isinstance(node, ast.Assert) else
            f"the check in line {node.lineno}")
    for pair in _pairs(node.test, tree, line, _DEPTH):
        sides = [_value(side, frame) for side in pair]
        known = [s for s in sides if s is not UNKNOWN]
        if known and all(hasattr(s, "shape") or isinstance(s, (int, float))
                         for s in known) and any(
                hasattr(s, "shape") for s in known):
            return Comparison(name, *sides, *_tolerance(node.test, frame))
    return None


def _value(node, frame):
    try:
        return _evaluate(node, frame)
    except Exception:
        return UNKNOWN


def _tree(frame):
    lines = linecache.getlines(frame.f_code.co_filename, frame.f_globals)
    try:
        return ast.parse("".join(lines))
    except SyntaxError:
        return None


def _tests_at(tree, line):
    """The assert at a line and the ifs around it, the innermost first."""
    return [node for node in reversed(list(ast.walk(tree)))
            if isinstance(node, (ast.Assert, ast.If))
            and node.lineno <= line <= node.end_lineno]


def _pairs(node, tree, line, depth):
    """The pairs of expressions that are compared or subtracted in node, those
    in names that stand for a difference last."""
    for part in ast.walk(node):
        if isinstance(part, ast.BinOp) and isinstance(part.op, ast.Sub):
            yield part.left, part.right
        if isinstance(part, ast.Call) and _name(part.func) == "approx":
            other = _other_side(node, part)
            if other is not None:
                yield other, part.args[0]
    for part in ast.walk(node):
        if isinstance(part, ast.Compare) and isinstance(
                part.ops[0], (ast.Eq, ast.NotEq)) and not isinstance(
                part.comparators[0], ast.Constant):
            yield part.left, part.comparators[0]
    for part in _left_first(node) if depth else ():
        value = _assigned(tree, part.id, line)
        if value is not None:
            yield from _pairs(value, tree, line, depth - 1)


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
    found = [n for n in ast.walk(tree) if isinstance(n, ast.Assign)
             and n.lineno < line and len(n.targets) == 1
             and isinstance(n.targets[0], ast.Name)
             and n.targets[0].id == name]
    return max(found, key=lambda n: n.lineno).value if found else None


def _tolerance(test, frame):
    """(rtol, atol) of "... < 1e-3"; exact for anything else."""
    for part in ast.walk(test):
        if isinstance(part, ast.Compare) and isinstance(
                part.ops[0], (ast.Lt, ast.LtE, ast.Gt, ast.GtE)):
            try:
                return 0.0, float(_evaluate(part.comparators[0], frame))
            except Exception:
                continue
    approx = any(isinstance(p, ast.Call) and _name(p.func) == "approx"
                 for p in ast.walk(test))
    return (1e-6, 1e-12) if approx else (0.0, 0.0)


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
    if not isinstance(function, ast.Attribute) or function.attr.endswith("_"):
        return False
    root = function
    while isinstance(root, (ast.Attribute, ast.Subscript, ast.Call)):
        root = root.func if isinstance(root, ast.Call) else root.value
    if not isinstance(root, ast.Name):
        return False
    known = frame.f_locals.get(root.id, frame.f_globals.get(root.id))
    if isinstance(known, types.ModuleType):
        return known.__name__.partition(".")[0] in _PURE
    return known is not None and (hasattr(known, "shape"))
