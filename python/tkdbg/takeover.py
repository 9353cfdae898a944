"""Real Triton stays; compiling, running, autotuning and driver queries are
ours.

Decoration is left to Triton, so that its classes, and libraries that look
into them, keep working (it is told the text of what exec() made); a
JITFunction gets one of ours when it is compiled or called from a kernel,
those decorated before install() as well.  Launches
go through Triton's own ``run``, see beside.py.
"""
from __future__ import annotations

import contextlib
import functools
import inspect
import sys
from typing import TYPE_CHECKING, Any

from . import (bench, beside, convert, errors, launch, session as session_,
               source, tuner)
from .modules import cublas, profiler
from .patches import Patches as Attributes

if TYPE_CHECKING:
    from .launch import JITFunction
    from .session import Session

OURS = "_tkdbg_function"

# methods of our Autotuner that real ones get; they use the same attributes
_TUNER = ("run", "_run_first", "_run", "_tell_hooks", "warmup", "_repeated",
          "_choose", "_key", "_check_conflicts", "_compare", "_call",
          "_has_run", "_has_own_bench", "_measure", "prune_configs", "_top_k",
          "_timings_file", "_is_kept", "_kept_timings", "_keep_timings")


def _with_pasted(record):
    """Triton's record_reference, except for helpers that users paste into
    their files and tkdbg has built in: Triton takes them for functions that
    kernels cannot call."""
    def record_reference(finder, value, *others):
        if not any(convert.is_pasted(value, name) for name in others[1:]):
            record(finder, value, *others)
    return record_reference


class Patches:
    """What is replaced in real Triton."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.attributes = Attributes()

    def install(self) -> None:
        from triton.runtime import autotuner, jit
        triton = sys.modules["triton"]
        self.jit_class = jit.JITFunction
        self._knobs(triton)
        put = self.attributes.set
        compiler = beside.Compiler(ours)
        for module in (triton, triton.compiler, compiler.triton):
            put(module, "compile", compiler.compile)
        put(jit.JITFunction, "_pack_args",
            compiler.pack_args(jit.JITFunction._pack_args))
        if self.session.sizes is not None:
            put(jit.JITFunction, "run", _followed(
                jit.JITFunction.run, self.session.sizes))
        put(jit.JITCallable, "__init__", _with_text(jit.JITCallable.__init__))
        put(jit.JITCallable, "_unsafe_update_src",
            self._counted(jit.JITCallable._unsafe_update_src))
        put(jit.DependenciesFinder, "record_reference", _with_pasted(
            jit.DependenciesFinder.record_reference))
        put(jit, "native_specialize_impl",
            beside.specialize(jit.native_specialize_impl))
        for name in _TUNER:
            put(autotuner.Autotuner, name, vars(tuner.Autotuner)[name])
        for name, ours_ in bench.measuring(dir(triton.testing)).items():
            put(triton.testing, name, ours_)
        handles = sys.modules.get("triton._C.libtriton.nvidia.cublas")
        if handles is not None:
            put(handles, "CublasLt", cublas.in_place_of(handles.CublasLt))
        with contextlib.suppress(ImportError):
            from triton._C.libproton import proton
            profiler.Library().put(proton, put)
        self._drivers(triton, compiler)
        self.session.version.follow(triton.__version__)
        self.session.real.take_over(self.adopt, _error_classes(),
                                         _not_tuned())

    def uninstall(self) -> None:
        self.attributes.undo()
        self.known.clear()
        self.known.update(self.others)
        if hasattr(self.driver, "_active"):
            self.driver._active = self.before
        self.session.version.follow(None)
        self.session.real.leave()

    def _drivers(self, triton, compiler):
        """Drivers of ours in place of Triton's: the active one, and those
        that a program makes."""
        drivers = beside.driver_classes(compiler)
        self.known = triton.backends.backends
        self.others = dict(self.known)
        self.known.update(beside.backends(
            self.others, drivers, self.others["nvidia"].compiler))
        module = sys.modules[self.others["nvidia"].driver.__module__]
        self.attributes.set(module, "CudaDriver", drivers["nvidia"])
        self.driver = triton.runtime.driver
        self.before = getattr(self.driver, "_active", None)
        self.driver.set_active(drivers["nvidia"]())

    def _counted(self, update):
        """Triton's _unsafe_update_src, after which callers are stale."""
        def _unsafe_update_src(function, text):
            update(function, text)
            self.session.compiling.edit()
        return _unsafe_update_src

    @staticmethod
    def _knobs(triton):
        """Triton's own interpreter off: kernels run here."""
        runtime = getattr(getattr(triton, "knobs", None), "runtime", None)
        if runtime is not None and getattr(runtime, "interpret", False):
            runtime.interpret = False

    def adopt(self, value: Any) -> JITFunction | None:
        """Our JITFunction for a real one (also an interpreted one)."""
        name = type(value).__name__
        if not (isinstance(value, self.jit_class) or
                name == "InterpretedFunction"):
            return None
        return ours(value)


def _followed(run, follower):
    """Triton's run, which is given plain numbers; the follower has seen those
    that know where they come from."""
    @functools.wraps(run)
    def launch_(function, *args, grid, **kwargs):
        args, kwargs, grid = follower.begin(function.arg_names, args, kwargs,
                                            grid)
        return run(function, *args, grid=grid, **kwargs)
    return launch_


def _with_text(init):
    """Triton's constructor, which asks inspect for a function's text."""
    @functools.wraps(init)
    def __init__(function, fn):
        with source.shown_to_inspect(fn):
            init(function, fn)
    return __init__


def ours(real: Any) -> JITFunction:
    """The JITFunction of ours that stands for a real one, with the text that
    the real one has now."""
    found = vars(real).get(OURS)
    if found is None:
        found = launch.JITFunction(
            real.fn, source=_source(real),
            **{name: getattr(real, name, None) for name in _DECORATED})
        vars(real)[OURS] = found
    text = getattr(real, "_src", None)
    if text is not None:
        found.follow_real(text)
    return found


# what the decorator was given
_DECORATED = ("version", "do_not_specialize",
              "do_not_specialize_on_alignment", "debug", "noinline")


def _source(real):
    """Where the function stands: in its file, or in the lines that Triton
    read when it was decorated, if the file has changed meanwhile."""
    lines = getattr(real, "raw_src", None)
    try:
        found = source.find(real.fn)
        if lines is None or source.lines_of(found)[0] == lines:
            return found
    except (ValueError, SyntaxError, IndexError):
        if lines is None:
            raise
    first = real.starting_line_number
    name = inspect.unwrap(real.fn).__code__.co_filename
    return source.Source(name, ["\n"] * (first - 1) + list(lines), first)


def _error_classes():
    """{ours: a class that is real Triton's error as well}"""
    from triton.compiler import errors as compiler
    from triton.runtime import errors as runtime
    classes = {}
    for ours_, module, name in (
            (errors.CompilationError, compiler, None),
            (errors.CompileTimeAssertionFailure, compiler, None),
            (errors.UnsupportedLanguageConstruct, compiler, None),
            (errors.LaunchError, runtime, "InterpreterError"),
            (errors.OutOfResources, runtime, None),
            (errors.PTXASError, runtime, None),
            (errors.AutotunerError, runtime, None)):
        theirs = getattr(module, name or ours_.__name__, None)
        if theirs is not None:
            classes[ours_] = type(ours_.__name__, (ours_, theirs), {
                "__init__": ours_.__init__, "__str__": ours_.__str__,
                "__reduce__": _pickled(ours_),
                "__module__": ours_.__module__})
    return classes


def _pickled(cls):
    """__reduce__ of an error that is of Triton's class as well: no module
    has such a class, which is made for the session."""
    def __reduce__(error):
        _, args, *state = cls.__reduce__(error)
        return _made_again, (cls.__name__, *args), *state
    return __reduce__


def _made_again(name, *args):
    cls = getattr(errors, name)
    return session_.current().real.error_class(cls)(*args)


def _not_tuned():
    """Triton's own errors that only leave a configuration out."""
    from triton.compiler.errors import CompileTimeAssertionFailure
    from triton.runtime.errors import OutOfResources, PTXASError
    return CompileTimeAssertionFailure, OutOfResources, PTXASError
