"""Which functions of a script may be called once more, to learn what they give.

A reference that a failing condition calls, ``(out - reference(x)).max() < t``,
is gone once the condition has been evaluated.  It is made again if the
function's text shows that it only computes: it changes no argument and nothing
global, draws no random numbers, writes no files, launches no kernel.
"""
from __future__ import annotations

import ast
import inspect
import textwrap
import types
from typing import Any

from . import parsing

MODULES = ("math", "numpy", "torch", "functools", "itertools", "operator",
           "triton")
_BUILTINS = frozenset((
    "abs", "all", "any", "bool", "dict", "divmod", "enumerate", "float", "int",
    "len", "list", "max", "min", "range", "reversed", "round", "set",
    "slice", "sorted", "str", "sum", "tuple", "zip", "isinstance"))
# methods that change their object, and functions that are not the same twice
_CHANGING = frozenset((
    "sort", "fill", "put", "resize", "itemset", "setflags", "update", "pop",
    "clear", "remove", "insert", "reverse", "copyto", "place", "putmask",
    "backward", "save", "savez", "tofile", "dump", "load", "write",
    "manual_seed", "seed", "rand", "randn", "randint", "random", "normal",
    "randperm", "multinomial", "bernoulli", "dropout", "shuffle", "choice",
    "set_default_dtype", "set_default_device", "synchronize", "cuda"))
_DEPTH = 4  # of functions that call each other
# what a script may import that runs again and again, and what it may not call
_IMPORTED = frozenset((*MODULES, "__future__", "abc", "argparse", "collections",
                       "contextlib", "copy", "dataclasses", "enum", "random",
                       "re", "statistics", "string", "sys", "time", "tkdbg",
                       "types", "typing", "unittest", "warnings"))
_REACHING = frozenset(("__import__", "breakpoint", "compile", "eval", "exec",
                       "input", "open", "setattr"))
_LASTING = frozenset((
    "dump", "fromfile", "import_module", "load", "loadtxt", "memmap", "open",
    "save", "savetxt", "savez", "savez_compressed", "system", "to_csv",
    "tofile", "write", "writelines", "from_file", "modules", "settrace"))


def only_computes(tree: ast.AST) -> bool:
    """Whether the text of a script shows that nothing is left of it when it
    has ended: it reads and writes no files and starts no programs."""
    for node in _outside_jit(tree):
        names = ([a.name for a in node.names] if isinstance(node, ast.Import)
                 else [node.module or "."] if isinstance(node, ast.ImportFrom)
                 else [])
        if any(n.partition(".")[0] not in _IMPORTED for n in names) or (
                isinstance(node, ast.ImportFrom) and node.level):
            return False
        if isinstance(node, ast.Name) and node.id in _REACHING or isinstance(
                node, ast.Attribute) and node.attr in _LASTING and not (
                    _is_of_kernels(node)):
            return False
        if _keeps_by_tkdbg(node):
            return False
    return True


def _outside_jit(node):
    """The nodes of a tree but for what stands in a function of triton.jit,
    which reaches nothing but tensors; its decorators are the host's."""
    yield node
    children = ast.iter_child_nodes(node)
    if isinstance(node, ast.FunctionDef) and any(
            ast.unparse(d) in ("jit", "triton.jit")
            for d in node.decorator_list):
        children = iter([*node.decorator_list, node.args])
    for child in children:
        yield from _outside_jit(child)


def _keeps_by_tkdbg(node):
    """Whether a use of tkdbg's own module may write files, as a page, a
    record and options do, or is not seen to be none."""
    if isinstance(node, ast.Import):
        return any(a.name == "tkdbg" and a.asname for a in node.names)
    if isinstance(node, ast.ImportFrom):
        return node.module == "tkdbg"
    if isinstance(node, ast.Call) and _is_tkdbg(node.func, "install"):
        return any(k.arg != "triton" for k in node.keywords)
    return _is_tkdbg(node, "options", "verify", "view")


def _is_tkdbg(node, *names):
    """tkdbg.NAME, for one of the names."""
    return (isinstance(node, ast.Attribute) and node.attr in names and
            isinstance(node.value, ast.Name) and node.value.id == "tkdbg")


def _is_of_kernels(node):
    """tl.load, which loads from tensors, and the like."""
    root = node.value
    while isinstance(root, ast.Attribute):
        root = root.value
    return isinstance(root, ast.Name) and root.id in ("tl", "triton",
                                                      "language")


def is_pure(function: Any, depth: int = _DEPTH) -> bool:
    """Whether a function's text shows that it only computes."""
    if not isinstance(function, types.FunctionType) or not depth:
        return False
    try:
        text = textwrap.dedent(inspect.getsource(function))
        tree = parsing.tree(text).body[0]
    except (OSError, TypeError, SyntaxError, IndexError):
        return False
    if not isinstance(tree, ast.FunctionDef) or tree.decorator_list:
        return False
    made = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and
            isinstance(n.ctx, ast.Store)}
    given = {a.arg for a in ast.walk(tree) if isinstance(a, ast.arg)}
    own = made - given
    return all(_is_harmless(node, function, own, made | given, depth)
               for node in ast.walk(tree))


def _is_harmless(node, function, own, local, depth):
    if isinstance(node, (ast.Global, ast.Nonlocal, ast.Yield, ast.YieldFrom,
                         ast.Await, ast.Import, ast.ImportFrom, ast.ClassDef,
                         ast.Delete, ast.With, ast.Try)):
        return False
    if isinstance(node, (ast.Assign, ast.AugAssign, ast.AnnAssign)):
        targets = node.targets if isinstance(node, ast.Assign) else [
            node.target]
        return all(_is_own(t, own, isinstance(node, ast.AugAssign))
                   for t in targets)
    if isinstance(node, ast.Call):
        return _is_computing(node.func, function, local, depth)
    return True


def _is_own(target, own, in_place):
    """Whether what is assigned to is the function's: a name, or an element
    of what it has made itself."""
    if isinstance(target, (ast.Tuple, ast.List)):
        return all(_is_own(t, own, in_place) for t in target.elts)
    if isinstance(target, ast.Starred):
        return _is_own(target.value, own, in_place)
    if isinstance(target, ast.Name):
        return not in_place or target.id in own
    while isinstance(target, ast.Subscript):
        target = target.value
        if isinstance(target, ast.Name):
            return target.id in own
    return False


def _is_computing(func, function, local, depth):
    """Whether a call of this changes nothing."""
    if isinstance(func, ast.Attribute):
        if func.attr in _CHANGING or func.attr.endswith("_"):
            return False
        root: Any = func
        while isinstance(root, (ast.Attribute, ast.Subscript, ast.Call)):
            root = root.func if isinstance(root, ast.Call) else root.value
        if not isinstance(root, ast.Name):
            return isinstance(root, (ast.BinOp, ast.UnaryOp, ast.Constant,
                                     ast.Compare))
        if root.id in local:
            return True  # a method of a value
        known = _known(root.id, function)
        return isinstance(known, types.ModuleType) and (
            known.__name__.partition(".")[0] in MODULES)
    if not isinstance(func, ast.Name):
        return False  # k[grid](...), and what else is made to be called
    if func.id in local:
        return False
    known = _known(func.id, function)
    if known is None:
        return func.id in _BUILTINS
    return is_pure(known, depth - 1)


def _known(name, function):
    """What a free name of a function stands for."""
    closed = inspect.getclosurevars(function)
    return closed.nonlocals.get(name, function.__globals__.get(name))
