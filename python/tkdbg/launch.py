"""@triton.jit functions: decoration and launch."""
from __future__ import annotations

import inspect
import operator
import re
import textwrap
import warnings
from collections.abc import Callable, Sequence
from ctypes import byref, c_void_p
from typing import TYPE_CHECKING, Any

from . import (_capi, arguments, binder, device, environment, errors, hooks,
               session as session_)
from . import functions, hostlines, typed
from .functions import JITCallable, KernelInterface
from .host import Host
from .prepared import Prepared
from .scope import Scope, names_in, trees_of
from .tensors import without_torch_functions

if TYPE_CHECKING:
    from .arguments import Specialization
    from .compiled import CompiledKernel
    from .modelled import Model
    from .session import Session
    from .source import Source

MAX_PREPARED = 256  # signatures remembered per kernel


class Kernels(dict):
    """A look at what a function was compiled to: what is taken out is
    compiled again."""

    def __init__(self, function: JITFunction, kernels: dict[Any, Any]) -> None:
        super().__init__(kernels)
        self._function = function

    def clear(self) -> None:
        self._function._forget()
        super().clear()

    def pop(self, *args: Any) -> Any:
        self._function._forget()
        return super().pop(*args)

    def popitem(self) -> Any:
        self._function._forget()
        return super().popitem()

    def __delitem__(self, key: Any) -> None:
        self._function._forget()
        super().__delitem__(key)


class JITFunction(JITCallable, KernelInterface):
    """A kernel, or a function that kernels call."""

    def __init__(self, fn: Any, version: Any = None,
                 do_not_specialize: Any = None,
                 do_not_specialize_on_alignment: Any = None,
                 debug: bool | None = None, noinline: bool | None = None,
                 repr: Callable[..., Any] | None = None,
                 launch_metadata: Callable[..., Any] | None = None,
                 source: Source | None = None) -> None:
        super().__init__(fn, source)
        self.module = fn.__module__
        self.version = version
        self.do_not_specialize = list(do_not_specialize or ())
        self.do_not_specialize_on_alignment = list(
            do_not_specialize_on_alignment or ())
        self.debug = debug
        self.noinline = noinline
        self._repr = repr
        self.launch_metadata = launch_metadata
        self.params = [
            binder.KernelParam(i, p, _named(self.do_not_specialize, i, p),
                               _named(self.do_not_specialize_on_alignment,
                                      i, p))
            for i, p in enumerate(self.signature.parameters.values())]
        self.arg_names = [p.name for p in self.params]
        self.constexprs = [p.num for p in self.params if p.is_constexpr]
        self.pre_run_hooks: list[Any] = []
        self.kernel = None
        self.scope = Scope(fn)
        self._is_constexpr = tuple(p.is_constexpr for p in self.params)
        self._bind: Any = None
        self._opened: dict[Any, Any] = {}    # session -> tk_function
        self._refused = None  # the error when C refused the text
        self._checked = False
        self._prepared: dict[Any, Any] = {}  # signature -> Prepared
        # Triton's key -> kernel, once there are hooks
        self.specialized: dict[Any, Any] = {}
        self._reads: Any = ()  # the Dependencies of it and what it calls ...
        self._asked = -1     # ... when Compiling.asked was this
        self._edits = 0      # Compiling.edits when it was compiled
        self._real_text: Any = None  # of real Triton's function

    # ---- what scripts read -----------------------------------------------

    def repr(self, specialization: Any) -> Any:
        return (self._fn_name if self._repr is None
                else self._repr(specialization))

    def compiled_name(self, known: Specialization) -> str:
        """The name of the kernel for an arguments.Specialization."""
        if self._repr is None:
            return self.__name__
        name = self._repr(known)
        name = name[name.rfind(".") + 1:]
        if not re.fullmatch("[a-zA-Z_][a-zA-Z0-9_]*", name):
            error = session_.current().real.error_class(
                errors.CompilationError)
            raise error(f"invalid function identifier: {name}",
                        kernel=self.__name__)
        return name

    def is_gluon(self) -> bool:
        return False

    @property
    def device_caches(self) -> Kernels:
        """{device: (compiled kernels by signature, ...)} as in Triton."""
        kernels = Kernels(self, self.specialized or {
            key: p.kernel for key, p in self._prepared.items()})
        return Kernels(self, {
            0: (kernels, {}, device.target(), None, self._bind)})

    @property
    def cache(self) -> Any:
        """{device: compiled kernels by signature}, its older name."""
        return {0: self.device_caches[0][0]}

    def add_pre_run_hook(self, hook: Callable[..., Any]) -> None:
        """hook(*args, **kwargs) is called before each launch."""
        assert callable(hook)
        self.pre_run_hooks.append(hook)

    def preload(self, specialization_data: str) -> CompiledKernel:
        """The kernel that a hook was told about, perhaps in another
        process (``compile["specialization_data"]``), compiled here."""
        return hooks.preload(self, specialization_data)

    def __call__(self, *args: Any, **kwargs: Any) -> None:
        raise RuntimeError("Cannot call @triton.jit'd outside of the scope "
                           "of a kernel")

    def __repr__(self) -> str:
        return f"JITFunction({self.module}:{self.__qualname__})"

    @property
    def model(self) -> Model | None:
        """What PyTorch's compiler says that the kernel computes, if it wrote
        it."""
        return getattr(self.fn, "tkdbg_model", None)

    # ---- the C side ------------------------------------------------------

    def _unsafe_update_src(self, text):
        """Gives the function another text; what was made of the one before
        is forgotten."""
        super()._unsafe_update_src(text)
        self._refused = None
        self._forget()
        session_.current().compiling.edit()  # its callers are compiled again

    def follow_real(self, text: str) -> None:
        """The text of the real function that this one stands for, which may
        have got another one."""
        if text is not self._real_text:
            if text != self.src:
                self._unsafe_update_src(text)
            self._real_text = text

    def _forget(self):
        """The next launch compiles again."""
        self._opened.clear()
        self._prepared.clear()
        self.specialized.clear()
        self.scope.reads.clear()
        self._reads, self._asked = (), -1

    def _renew(self, session):
        """Forgets what was compiled before a function was changed."""
        if self._edits != session.compiling.edits:
            self._forget()
            self._edits = session.compiling.edits

    def open(self, session: Session) -> int:
        """The tk_function; raises errors.NotOpened when C refuses the text,
        the same error again later."""
        if self._refused is not None:
            raise self._refused.copy()
        self._renew(session)
        found = self._opened.get(session)
        if found is None:
            found = self._open(session)
            host = session.part(Host)
            session.compiling.open_with(JITFunction)
            session.lib.tk_function_host(found, byref(host.struct),
                                         session.kept.handle(self.scope))
            for remark in self.model.remarks if self.model else ():
                session.check(session.lib.tk_function_remark(
                    found, remark.encode()))
            self._opened[session] = found
        return found

    def _open(self, session):
        """Opens the whole file, or, when that fails, the function alone at
        its own line.  A text that replaced another has a function of any
        name."""
        file, line, name = self._source.name, self._source.line, None
        silent = session.reports.is_empty()
        if self._src is None:
            name = inspect.unwrap(self.fn).__code__.co_name
            found = _function_at(session, file, self._source.text, name, line)
            if found is not None:
                return found
            lines = "".join(self.raw_src)
        else:
            lines = self._src
        alone = "\n" * (line - 1) + textwrap.dedent(lines)
        found = _function_at(session, file, alone, name, line)
        if found is None:
            raise errors.NotOpened(f"{self.__name__} cannot be read")
        if silent:  # what was wrong with the rest of the file
            session.reports.forget()
        return found

    # ---- launching -------------------------------------------------------

    def with_settings(self, options: dict[str, Any]) -> dict[Any, Any]:
        """The keywords of a launch, and those that Triton adds."""
        debug = options.get("debug", self.debug) or environment.is_set(
            "runtime", "debug", "TRITON_DEBUG")
        return {**options, "debug": bool(debug), "instrumentation_mode": ""}

    def bind(self, *args: Any, **kwargs: Any) -> tuple[Any, ...]:
        """(values of the parameters, launch options) of a call."""
        if self._bind is None:
            self._bind = binder.make(self.__name__, self.signature)
        values, options = self._bind(*args, **kwargs)
        if options:
            _check_options(options)
        return values, options

    def run(self, *args: Any, grid: Any, warmup: bool, **kwargs: Any) -> Any:
        """Launches; warmup: only compiles.  Returns a CompiledKernel."""
        __tracebackhide__ = True  # pytest shows the caller
        for hook in self.pre_run_hooks:
            hook(*args, **self.with_settings(kwargs))
        follower = session_.current().sizes
        if follower is not None:
            args, kwargs, grid = follower.begin(self.arg_names, args, kwargs,
                                                grid)
        values, options = (self._bind or self.bind)(*args, **kwargs)
        if options:
            _check_options(options)
        grid = (None if warmup else
                resolve_grid(grid, self.arg_names, values))
        knobs = hooks.watching()
        if knobs is not None:
            return hooks.launch(self, values, options, grid, knobs)
        return self.launch(values, options, grid).kernel

    def launch(self, values: Sequence[Any], options: dict[str, Any],
               grid: tuple[int, int, int] | None) -> Prepared:
        """Launches with the values of the parameters in order; grid: three
        ints, or None to compile only.  Returns the Prepared."""
        __tracebackhide__ = True
        session = session_.current()
        with session.lock, without_torch_functions():
            prepared = self.prepare(session, values, options)
            if grid is None or not (prepared.scratch and _on_gpus(values)):
                prepared.run(values, grid)
                return prepared
        prepared.allocate(grid)  # by a function of the program's
        with session.lock, without_torch_functions():
            prepared.run(values, grid)
        return prepared

    def compile(self, values: Sequence[Any],
                options: dict[str, Any]) -> Prepared:
        """Compiles for values of these types; raises what is wrong."""
        __tracebackhide__ = True
        return self.launch(values, options, None)

    def prepare(self, session: Session, values: Sequence[Any],
                options: dict[str, Any]) -> Prepared:
        """The Prepared for these values, new or known; raises RuntimeError
        after a global variable has changed that the kernel was compiled
        with."""
        self._check_reads(session)
        session.compiling.begin(self.scope)
        key_of, constexpr_key = arguments.key_of, arguments.constexpr_key
        named = self._repr and arguments.Specialization(self.params, values)
        key = (session, tuple(options.items()) if options else (),
               environment.compile_options(options, device.model().arch),
               named and repr(named.signature),
               tuple([constexpr_key(v) if is_constexpr else key_of(v)
                      for v, is_constexpr in zip(values,
                                                 self._is_constexpr)]))
        prepared = self._find(key)
        if prepared is None:
            self._check_params(session)
            try:
                prepared = Prepared(self, session, values, options)
            except errors.NotOpened:
                self._refuse(session)
            self._check_conflicts()
            for function in functions.inside(session, values):
                self.scope.reads.add_callee(function.scope)
                self._asked = -1  # those among arguments are called too
            prepared.fill_and_compile(values)
            self.scope.note_named(self.src)
            self._check_reads(session)  # it may call what others called
            if not self._opened:
                return self.prepare(session, values, options)
            self._keep(key, prepared)
        return prepared

    def _check_reads(self, session):
        """Compiles again what has changed; raises RuntimeError for a global
        variable, as Triton does."""
        if self._asked != session.compiling.asked:
            self._reads = self.scope.reads.all()
            self._asked = session.compiling.asked
        for reads in self._reads:
            if reads.is_stale():
                session.compiling.edit()  # what it calls is read again as well
        self._renew(session)
        for reads in self._reads:
            changed = reads.changed()
            if changed:
                raise RuntimeError(
                    "Global variable {} has changed since we compiled this "
                    "kernel, from {} to {}".format(*changed))

    def _check_conflicts(self):
        """A kernel and what it calls read one value of a global variable."""
        for function in self.named():
            changed = function.scope.reads.changed()
            if changed and changed[0] in names_in(trees_of(self.src)):
                raise RuntimeError(
                    f"Global variable {changed[0]} has value {changed[2]} when "
                    f"compiling {self._fn_name}, but inner kernel "
                    f"{function.__name__} has conflicting value {changed[1]} "
                    "from when it was first compiled.  This is not allowed.")

    def _check_params(self, session):
        """A constexpr has nothing that do_not_specialize could say."""
        for p in () if self._checked else self.params:
            if p.is_constexpr and (p.do_not_specialize or
                                   p.do_not_specialize_on_alignment):
                text = (f"{p.name} marked as constexpr and listed in "
                        "do_not_specialize/do_not_specialize_on_alignment. "
                        "Remove constexpr designation to skip specialization.")
                raise session.real.error_class(errors.CompilationError)(
                    text, kernel=self.__name__)
        self._checked = True

    def _refuse(self, session):
        """Raises the report; C gives the details only once."""
        try:
            session.check(_capi.FINDING, self.__name__)
        except errors.KernelError as e:
            self._refused = e.copy()
            raise

    def _find(self, key):
        try:
            return self._prepared.get(key)
        except TypeError:  # an option that cannot be hashed
            return None

    def _keep(self, key, prepared):
        try:
            hash(key)
        except TypeError:
            return
        if len(self._prepared) >= MAX_PREPARED:
            del self._prepared[next(iter(self._prepared))]
        self._prepared[key] = prepared

    def values_for(self, signature: dict[str, str], constants: dict[Any, Any],
                   args: Any) -> Sequence[Any]:
        """The values of the parameters of a kernel that was compiled for a
        signature; args: all of them, or all but constexprs."""
        names = self.arg_names
        if len(args) == len(names) - len(self.constexprs) != len(names):
            rest = iter(args)
            args = [None if p.is_constexpr else next(rest)
                    for p in self.params]
        elif len(args) != len(names):
            raise TypeError(f"{self.__name__} takes {len(names)} arguments, "
                            f"{len(args)} were given")
        return typed.values(names, signature, constants, args)

    def run_compiled(self, kernel: CompiledKernel, values: Sequence[Any],
                     options: dict[str, Any], grid: tuple[int, ...]) -> None:
        """compiled[grid](*args), which calls the hooks of a launch."""
        grid = resolve_grid(grid, self.arg_names, values)
        knobs = hooks.watching()
        if knobs is not None:
            hooks.run(self, kernel, values, options, grid, knobs.runtime)
        else:
            self.launch(values, options, grid)


def _check_parameters(signature):
    """Triton 3.9 refuses **kw where the function is defined."""
    for p in signature.parameters.values():
        if p.kind is p.VAR_KEYWORD and (
                session_.current().version.since(3, 9)):
            raise TypeError(
                f"JIT functions do not support **{p.name} parameters")


def _check_options(options):
    binder.check_options(options, device.model().arch,
                         session_.current().real.error_class,
                         new=session_.current().version.since(3, 9))


def _on_gpus(values):
    """Whether a launch could be one on a GPU: NumPy's arrays are tkdbg's."""
    return any(hasattr(value, "data_ptr") for value in values)


def _named(listed, index, parameter):
    return index in listed or parameter.name in listed


def _function_at(session, file, text, name, line):
    """The tk_function at a line, of that name unless it is None; or None
    with the reason in the report."""
    lib, data = session.lib, text.encode("utf-8", "replace")
    module, out = c_void_p(), c_void_p()
    if session.attended(lib.tk_module_open, session.ptr,
                        file.encode("utf-8", "replace"), data, len(data),
                        byref(module)) != _capi.OK:
        return None
    if session.attended(lib.tk_function_at, module, name and name.encode(),
                        line, byref(out)) != _capi.OK:
        return None
    return out.value


# ---- grids ------------------------------------------------------------------


def resolve_grid(grid: Any, names: list[str],
                 values: Sequence[Any]) -> tuple[int, int, int]:
    """Three ints.  grid: a tuple or list of up to three, an int, or a
    function of {parameter: value} that gives one."""
    assert grid is not None
    if callable(grid):
        grid = grid(dict(zip(names, values)))
    if isinstance(grid, int):
        at = hostlines.site() or hostlines.Site("<unknown>", 0)
        warnings.warn_explicit(
            f"a grid is a tuple: Triton refuses the int {grid!r}, write "
            f"({grid},)", UserWarning, at.file, at.line)
        grid = (grid,)
    size = len(grid)
    index = operator.index
    return (index(grid[0]), index(grid[1]) if size > 1 else 1,
            index(grid[2]) if size > 2 else 1)


# ---- decorators -------------------------------------------------------------


def jit(fn: Any = None, *, version: Any = None,
        repr: Callable[..., Any] | None = None,
        launch_metadata: Callable[..., Any] | None = None,
        do_not_specialize: Any = None,
        do_not_specialize_on_alignment: Any = None, debug: bool | None = None,
        noinline: bool | None = None) -> Any:
    """Makes a function a kernel; as decorator, with arguments, or called."""
    def decorate(fn):
        assert callable(fn)
        made = JITFunction(
            fn.fn if isinstance(fn, JITFunction) else fn, version=version,
            do_not_specialize=do_not_specialize,
            do_not_specialize_on_alignment=do_not_specialize_on_alignment,
            debug=debug, noinline=noinline, repr=repr,
            launch_metadata=launch_metadata)
        _check_parameters(made.signature)
        return made
    return decorate if fn is None else decorate(fn)
