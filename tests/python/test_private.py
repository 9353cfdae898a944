"""One file of the bridge knows PyTorch's private names: torch_private.py.

Read from the sources, so that it holds where PyTorch is not installed.
"""
import ast
import glob
import os
import sys
import types
import unittest
import unittest.mock

import support
from tkdbg import torch_private

PACKAGE = os.path.join(support.PYTHON, "tkdbg")
ONE = "torch_private.py"
# Private names of Python's and Triton's that the bridge uses, and of its own
# that it sets by text.
OTHERS = frozenset("""
    _aggregate_init_complete _allocator _asdict _data _exit _extra_reducers
    _fields _filename_map _first _generator _getframe _replace _semantic
    _setitem""".split())
TILE = os.path.join("cutile", "front.py")  # those of cuda.tile
NAMED = "getattr", "hasattr", "setattr", "delattr", "set"  # f(owner, name)


def is_private(name):
    return name.startswith("_") and not name.endswith("__")


def sources():
    """[(path in the package, its tree)]"""
    found = []
    for path in sorted(glob.glob(os.path.join(PACKAGE, "**", "*.py"),
                                 recursive=True)):
        with open(path, encoding="utf-8") as f:
            found.append((os.path.relpath(path, PACKAGE), ast.parse(f.read())))
    return found


def defined(tree):
    """The names that a file gives to something of its own."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            found.add(node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.add(node.id)
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx,
                                                            ast.Store):
            found.add(node.attr)
    return found


def chain(node):
    """The names of an expression like a.b.c, the first first."""
    names = []
    while isinstance(node, ast.Attribute):
        names.append(node.attr)
        node = node.value
    if isinstance(node, ast.Call):
        node = node.func
        return chain(node) + names[::-1]
    if isinstance(node, ast.Name):
        names.append(node.id)
    return names[::-1]


def of_torch(names):
    """Whether such an expression goes through PyTorch to a private name."""
    where = next((i for i, n in enumerate(names)
                  if n in ("torch", "_torch")), None)
    return where is not None and any(map(is_private, names[where + 1:]))


def used(tree):
    """(line, name) of what may be a private name of somebody else's; a name
    with a dot is PyTorch's in any case."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            names = chain(node)
            if of_torch(names):
                yield node.lineno, ".".join(names)
            elif is_private(node.attr):
                yield node.lineno, node.attr
        elif isinstance(node, ast.Call):
            name = getattr(node.func, "id", getattr(node.func, "attr", ""))
            text = node.args[1] if len(node.args) > 1 else None
            if name in NAMED and isinstance(text, ast.Constant) and (
                    isinstance(text.value, str) and is_private(text.value)):
                yield node.lineno, text.value
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            if node.value.startswith(("torch._", "_cuda_")) and (
                    " " not in node.value):
                yield node.lineno, "torch." + node.value
        else:
            yield from imported(node)


def imported(node):
    if isinstance(node, ast.Import):
        modules = [a.name for a in node.names]
    elif isinstance(node, ast.ImportFrom) and not node.level:
        modules = [f"{node.module}.{a.name}" for a in node.names]
    else:
        return
    for name in modules:
        first, *rest = name.split(".")
        if first == "torch" and any(map(is_private, rest)):
            yield node.lineno, name


def violations(files):
    """[path:line: name] of private names of PyTorch's in files."""
    own = set(OTHERS).union(*(defined(tree) for _, tree in files))
    return [f"{path}:{line}: {name}" for path, tree in files
            for line, name in used(tree)
            if path not in (ONE, TILE) and ("." in name or name not in own)]


class Private(unittest.TestCase):
    def test_in_one_file(self):
        self.assertEqual(violations(sources()), [], "a private name of "
                         f"PyTorch's belongs in python/tkdbg/{ONE}")

    def test_what_is_refused(self):
        for text in ("torch._C.x()", "self.torch._C.DispatchKey",
                     "v.torch.ops.aten._to_copy.default(t)", "op._schema",
                     "from torch import _tensor_str", "t._version",
                     "from torch._ops import OpOverload",
                     "import torch._dynamo", "getattr(t, '_is_view')",
                     "x = 'torch._inductor.utils'",
                     "patches.set(c, '_cuda_init', f)", "_torch()._VF",
                     "found = {'_cuda_init': 1}",
                     "from torch.utils._python_dispatch import Mode"):
            files = [("a.py", ast.parse(text))]
            self.assertTrue(violations(files), text)
            self.assertFalse(violations([(ONE, ast.parse(text))]), text)

    def test_what_is_taken(self):
        for text in ("self._own = 1; x._own", "torch.cuda.synchronize()",
                     "'torch._C is private'", "import torch.nn.functional",
                     "from . import _capi", "os._exit(1)", "t.__class__",
                     "find(torch, '_flash_attention_forward')"):
            files = [("a.py", ast.parse(text))]
            self.assertFalse(violations(files), text)

    def test_apply_of_either_kind(self):
        """PyTorch 2.13's is a classmethod of Python, 2.14's one of C's."""
        class OfPython(dict):
            @classmethod
            def apply(cls, keys):
                return cls.fromkeys(keys)

        class OfC(dict):
            apply = dict.__dict__["fromkeys"]

        for base in OfPython, OfC:
            forward = torch_private.apply_of(base)
            derived = type("Derived", (base,), {})
            found = forward(derived, "ab")
            self.assertIs(type(found), derived)
            self.assertEqual(list(found), ["a", "b"])

    def test_without_a_name(self):
        """What each function does where PyTorch has dropped it."""
        bare = types.ModuleType("torch")
        bare._C = bare.autograd = bare.library = types.SimpleNamespace(
            _nn=None)
        bare.serialization = bare.Tensor = types.SimpleNamespace()
        with unittest.mock.patch.dict(sys.modules, {
                "torch": bare, "torch._subclasses.fake_tensor": None}):
            for context in (torch_private.unseen, torch_private.seen,
                            torch_private.undispatched):
                with context():
                    pass
            self.assertEqual(torch_private.functions("_int_mm"), frozenset())
            self.assertEqual(torch_private.spaces(), ())
            self.assertEqual(torch_private.known_kernels(), set())
            self.assertEqual(torch_private.packages(), [])
            self.assertEqual(torch_private.makers(), frozenset())
            self.assertEqual(torch_private.operator_classes(), ())
            self.assertIsNone(torch_private.fakes())
            self.assertIsNone(torch_private.engine())
            self.assertIsNone(torch_private.grouping()[1])
            self.assertIsNone(torch_private.wrapper_maker())
            self.assertFalse(torch_private.is_fake(3))
            self.assertEqual(torch_private.unwrapped(3), 3)


if __name__ == "__main__":
    unittest.main()
