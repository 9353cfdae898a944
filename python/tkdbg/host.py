"""Answers to C: what a kernel's free names mean in the host program.

Callbacks never let an exception pass through C: it is kept in
``session.pending``, and C is told that the host raised.
"""
from __future__ import annotations

import types
from typing import TYPE_CHECKING, Any

from . import (_capi, aggregates, constexprs, convert, environment, errors,
               functions)
from . import tltypes as tl_types
from .scope import MISSING, Scope, is_constexpr_annotation, module_annotations

if TYPE_CHECKING:
    from ._capi import Value
    from .session import Session

FOUND, UNKNOWN, RAISED = 1, 0, -1


def _allowed_global(value):
    """Whether kernels may read this global: constexprs, types of the
    language, modules, and what says that it is the language's own."""
    if isinstance(value, (types.ModuleType, types.FunctionType,
                          tl_types.dtype)):
        return True  # of a plain function the call is refused
    module = getattr(value, "__module__", None) or ""
    return (tl_types.is_constexpr(value) or
            getattr(value, "__triton_builtin__", False) or
            getattr(value, "__triton_aggregate__", False) or
            isinstance(value, type) and issubclass(value, tuple) and
            hasattr(value, "_fields") or
            type(value).__name__ in ("ConstexprFunction",
                                     "BoundConstexprFunction") or
            isinstance(module, str) and
            module.startswith(("triton.language", "tkdbg")))


class Host:
    """The callbacks of one session."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.scope: Any = None   # that asked for a name last ...
        self.kernel: Any = None  # ... while this one was compiled
        self.struct = _capi.Host(
            None, _capi.GlobalFn(self._global), _capi.AttrFn(self._attr),
            _capi.CallFn(self._call))

    def _guard(self, out, answer):
        """answer(out's tk_value); what it points to is kept alive."""
        try:
            value = self.session.kept.structure(out.contents)
            return answer(value)
        except BaseException as e:
            if not isinstance(e, errors.NotOpened):
                self.session.reports.swallow(e)
            text = f"{type(e).__name__}: {e}"
            try:
                out.contents.str = self.session.kept.text(text)
            except Exception:
                out.contents.str = b"the host program raised"
            return RAISED

    # ---- names -----------------------------------------------------------

    def _global(self, _ud, scope, name, out):
        return self._guard(out, lambda value: self.find_global(
            self.session.kept.object(scope), name.decode(), value))

    def find_global(self, scope: Scope, name: str, out: Value) -> int:
        """Fills out with what name means in scope; "name=" is the default of
        the parameter."""
        if name.endswith("="):
            return self._find_default(scope, name[:-1], out)
        value, holder = scope.find(name)
        if value is MISSING:
            return UNKNOWN
        convert.fill(self.session, out, value, name)
        convert.set_raw(out, value)
        if holder is not None:
            self._note_name(scope, name, value, holder)
            if _allowed_global(value) or environment.allow_globals():
                out.is_constexpr = True
        return FOUND

    def _find_default(self, scope, name, out):
        value = scope.default(name)
        if value is MISSING:
            return UNKNOWN
        convert.fill(self.session, out, value, name)
        self._note_callees(value, [scope.reads])
        self.session.compiling.ask()
        return FOUND

    def _note_name(self, scope, name, value, holder):
        scope.reads.add_name(name, value, holder)
        self._note_callees(value, [scope.reads])
        self.scope, self.kernel = scope, self.session.compiling.scope
        self.session.compiling.ask()

    def _note_callees(self, value, readers):
        """Whoever gets a function may call it, and is compiled again after
        it has changed."""
        for function in functions.inside(self.session, value):
            for reads in readers:
                reads.add_callee(function.scope)

    def _reading(self):
        """Who asks for an attribute or a call: the function that asked for a
        name last, and the kernel that is compiled."""
        self.session.compiling.ask()
        kernel = self.session.compiling.scope
        asker = self.scope if self.kernel is kernel else kernel
        return kernel.reads, asker.reads

    # ---- attributes ------------------------------------------------------

    def _attr(self, _ud, handle, name, out):
        return self._guard(out, lambda value: self.find_attr(
            self.session.kept.object(handle), name.decode(), value))

    def find_attr(self, obj: Any, name: str, out: Value) -> int:
        """Fills out with obj.name."""
        if name == "__str__":
            convert.fill(self.session, out, str(obj))
            return FOUND
        if name in ("__call__", "__code__"):
            return self._find_text(obj, name == "__code__", out)
        of_class = aggregates.is_class(obj)
        if of_class and name in ("__fields__", "__types__"):
            convert.fill(self.session, out, aggregates.fields(obj, name))
            return FOUND
        if of_class and name == "__base_aggregate__":
            base = aggregates.base(obj)
            if base is None:
                return UNKNOWN
            convert.fill_object(self.session, out, base)
            return FOUND
        if of_class and name.endswith("="):
            return self._find_field_default(obj, name[:-1], out)
        if of_class and name == "__init__" and (
                not aggregates.has_constructor(obj)):
            return UNKNOWN
        if of_class:
            obj = aggregates.holder(obj, name)
        value = getattr(obj, name, MISSING)
        if value is MISSING or value is object.__init__:
            return UNKNOWN
        for reads in self._reading():
            reads.add_attribute(obj, name, value)
        self._note_callees(value, self._reading())
        function = constexprs.python_function(value) if of_class else None
        if function is not None and functions.as_jit_function(
                self.session, value) is None:
            self._fill_python(out, function)
            return FOUND
        module = isinstance(obj, types.ModuleType)
        known = value
        if module:
            known = convert.known_function(self.session, value)
        convert.fill(self.session, out, known, name)
        convert.set_raw(out, known)
        if module:
            note = module_annotations(vars(obj)).get(name)
            if note is not None and is_constexpr_annotation(note):
                out.is_constexpr = True
            if environment.allow_globals():
                out.is_constexpr = True
        return FOUND

    def _find_field_default(self, cls, name, out):
        value = aggregates.default(cls, name, MISSING)
        if value is MISSING:
            return UNKNOWN
        convert.fill(self.session, out, value, name)
        return FOUND

    def _find_text(self, obj, any_function, out):
        """Fills out with the Python function behind obj, which kernels call
        with values of their own; any_function: one of Python's calls it."""
        if not any_function and compile_time_function(obj) is None:
            return UNKNOWN
        function = constexprs.python_function(obj)
        if function is None:
            return UNKNOWN
        self._fill_python(out, function)
        return FOUND

    def _fill_python(self, out, function):
        convert.fill_python(self.session, out, function)
        scope = functions.as_python_function(self.session, function).scope
        for reads in self._reading():
            reads.add_callee(scope)

    # ---- calls -----------------------------------------------------------

    def _call(self, _ud, handle, args, nargs, kwnames, nkw, out):
        return self._guard(out, lambda value: self.call(
            self.session.kept.object(handle), args, nargs, kwnames, nkw, value))

    def call(self, obj: Any, args: Any, nargs: int, kwnames: Any, nkw: int,
             out: Value) -> int:
        """Calls a host function that may run at compile time.

        The last nkw of the nargs values belong to the keywords.  Unknown
        for functions that Triton would not call.
        """
        function = compile_time_function(obj)
        if function is None:
            return UNKNOWN
        values = [convert.read(self.session, args[i])
                  for i in range(nargs)]
        if _is_builtin(obj):  # these see what the compiler sees
            values = [v if isinstance(v, tuple) else
                      tl_types.constexpr(v) for v in values]
        first = nargs - nkw
        keywords = {kwnames[i].decode(): values[first + i]
                    for i in range(nkw)}
        if isinstance(obj, types.BuiltinFunctionType):
            _check_keywords(obj, keywords)
        if _is_builtin(obj):  # it wants the compiler, but makes no use of it
            taken = constexprs.python_function(obj).__code__.co_varnames
            keywords.update((name, self) for name in constexprs.COMPILER
                            if name in taken)
        result = function(*values[:first], **keywords)
        for reads in self._reading():
            reads.add_call(function)
        self._note_callees(result, self._reading())
        convert.fill(self.session, out, result)
        out.is_constexpr = True
        return FOUND


# An operator of an object, as Python finds it.
_METHODS = (types.MethodType, types.MethodWrapperType)
_OPERATORS = {f"__{r}{name}__" for r in ("", "r") for name in (
    "add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "lshift",
    "rshift", "and", "or", "xor")} | {
        "__neg__", "__pos__", "__invert__", "__bool__"}

# where the classes are that say what numbers a dtype has: torch.finfo
_LIMITS = ("torch", "numpy", "numpy.core.getlimits", "numpy._core.getlimits")
_DTYPES = {"fp16": "float16", "bf16": "bfloat16", "fp32": "float32",
           "fp64": "float64", "fp8e4nv": "float8_e4m3fn",
           "fp8e5": "float8_e5m2", "int1": "bool"}


def _limits(of):
    """finfo or iinfo of PyTorch or NumPy, for a dtype of the language, which
    is what kernels take theirs for."""
    def limits(dtype):
        name = getattr(dtype, "name", dtype)
        name = _DTYPES.get(name, name)
        if of.__module__ == "torch":
            import torch
            name = getattr(torch, str(name), dtype)
        return of(name)
    return limits


def compile_time_function(obj: Any) -> Any:
    """The Python function to call at compile time, or None."""
    kind = type(obj).__name__
    if kind in ("ConstexprFunction", "BoundConstexprFunction",
                "PlainFunction") or _is_builtin(obj):
        return obj
    if isinstance(obj, types.BuiltinFunctionType):
        return obj if obj.__module__ == "math" else None
    if isinstance(obj, _METHODS) and obj.__name__ in _OPERATORS:
        return obj
    if isinstance(obj, type) and obj.__name__ in ("finfo", "iinfo") and (
            obj.__module__ in _LIMITS):
        return _limits(obj)
    return None


def _check_keywords(function, keywords):
    """Triton hands keywords on as constexprs, which a function written in C
    takes for an int alone."""
    for name, value in keywords.items():
        if not isinstance(value, int):
            raise TypeError(
                f"{function.__name__}({name}={value!r}): Triton 3.6 hands "
                "keywords to functions of math as constexprs, and they take "
                "no such float: call it in a @triton.constexpr_function")


def _is_builtin(obj):
    """A Python function that says it is one of the compiler's own."""
    return (isinstance(obj, types.FunctionType) and
            getattr(obj, "__triton_builtin__", False))
