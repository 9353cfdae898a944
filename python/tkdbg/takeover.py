"""Real Triton stays; launches, autotuning and driver queries are ours.

Decoration is left to Triton, so that its classes, and libraries that look
into them, keep working; a JITFunction gets one of ours when it is launched
or called from a kernel, those decorated before install() as well.
"""
from __future__ import annotations

import sys

from . import bench, errors, launch, tuner
from .modules import driver as driver_
from .patches import Patches as Attributes

OURS = "_tkdbg_function"

# methods of our Autotuner that real ones get; they use the same attributes
_TUNER = ("run", "_run_first", "_run", "warmup", "_repeated", "_choose",
          "_key", "_check_conflicts", "_compare", "prune_configs", "_top_k")


class Patches:
    """What is replaced in real Triton."""

    def __init__(self, session):
        self.session = session
        self.attributes = Attributes()

    def install(self):
        from triton.runtime import autotuner, jit
        triton = sys.modules["triton"]
        self.jit_class = jit.JITFunction
        self._knobs(triton)
        put = self.attributes.set
        put(jit.JITFunction, "run", _run)
        for name in _TUNER:
            put(autotuner.Autotuner, name, vars(tuner.Autotuner)[name])
        for name in ("do_bench", "do_bench_cudagraph"):
            put(triton.testing, name, getattr(bench, name))
        self.driver = triton.runtime.driver
        self.before = getattr(self.driver, "_active", None)
        self.driver.set_active(driver_.CudaDriver())
        self.session.adopt = self.adopt
        self.session.error_classes = _error_classes()

    def uninstall(self):
        self.attributes.undo()
        if hasattr(self.driver, "_active"):
            self.driver._active = self.before
        self.session.adopt = lambda value: None
        self.session.error_classes = {}

    @staticmethod
    def _knobs(triton):
        """Triton's own interpreter off: kernels run here."""
        runtime = getattr(getattr(triton, "knobs", None), "runtime", None)
        if runtime is not None and getattr(runtime, "interpret", False):
            runtime.interpret = False

    def adopt(self, value):
        """Our JITFunction for a real one (also an interpreted one)."""
        name = type(value).__name__
        if not (isinstance(value, self.jit_class) or
                name == "InterpretedFunction"):
            return None
        return ours(value)


def ours(real):
    """The JITFunction of ours that stands for a real one."""
    found = vars(real).get(OURS)
    if found is None:
        found = launch.JITFunction(
            real.fn, version=getattr(real, "version", None),
            do_not_specialize=getattr(real, "do_not_specialize", None),
            debug=getattr(real, "debug", None),
            noinline=getattr(real, "noinline", None))
        vars(real)[OURS] = found
    return found


def _run(self, *args, grid, warmup, **kwargs):
    """JITFunction.run of real Triton's objects."""
    for hook in self.pre_run_hooks:
        hook(*args, **kwargs)
    return ours(self).run(*args, grid=grid, warmup=warmup, **kwargs)


def _error_classes():
    """{ours: a class that is real Triton's error as well}"""
    from triton.compiler import errors as real
    classes = {}
    for ours_ in (errors.CompilationError, errors.CompileTimeAssertionFailure,
                  errors.UnsupportedLanguageConstruct):
        theirs = getattr(real, ours_.__name__, None)
        if theirs is not None:
            classes[ours_] = type(ours_.__name__, (ours_, theirs), {
                "__init__": ours_.__init__, "__str__": ours_.__str__,
                "__reduce__": ours_.__reduce__,
                "__module__": ours_.__module__})
    return classes
