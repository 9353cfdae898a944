"""What each module of ``triton`` holds, by module name.

``build()`` gives {module name: (namespace, prefixes)}: the namespace of
host objects, and the canonical prefixes under which the module's operations
are looked up ("tl" for triton.language).
"""
from __future__ import annotations

import functools
import inspect
from typing import Any

from .. import (aggregates, bench, binder, compiled, constexprs, device,
                errors, functions, launch, session, tltypes as t, tuner,
                wrappers)
from . import (cache, compiling, cublas, descriptor, driver as driver_, extras,
               knobs as knobs_, report)


@constexprs.constexpr_function
def cdiv(x: Any, y: Any) -> Any:
    """x / y, rounded up."""
    return (x + y - 1) // y


@constexprs.constexpr_function
def next_power_of_2(n: Any) -> Any:
    """The smallest power of 2 that is at least n."""
    return 1 << (n - 1).bit_length() if n > 0 else 0


for _function in (cdiv, next_power_of_2):
    _function.__module__ = "triton"


def must_use_result(x: Any, s: bool | str = True) -> Any:
    """Marks a function whose result kernels have to use; a text says why."""
    if isinstance(x, str):
        return lambda fn: must_use_result(fn, x)
    x._must_use_result = s
    return x


TRITON_BUILTIN = "__triton_builtin__"


def _builtin(fn):
    """triton.language.core.builtin: a Python function that kernels call and
    that calls operations with ``_semantic=_semantic``."""
    assert callable(fn)

    @functools.wraps(fn)
    def wrapper(*args, **kwargs):
        if kwargs.get("_semantic", wrapper) is None or (
                "_semantic" not in kwargs):
            raise ValueError("Did you forget to add @triton.jit ? "
                             "(`_semantic` argument must be provided outside "
                             "of JIT functions.)")
        return fn(*args, **kwargs)
    setattr(wrapper, TRITON_BUILTIN, True)
    vars(wrapper)["signature"] = inspect.signature(fn)
    return wrapper


def _extern(fn):
    return _builtin(fn)


def _target_info(driver):
    def current_target():
        return driver.active.get_current_target()

    def constant(value):
        return constexprs.constexpr_function(lambda *a, **k: value)
    return {
        "current_target": constexprs.constexpr_function(current_target),
        "is_cuda": constant(True), "is_hip": constant(False),
        "cuda_capability_geq": constexprs.constexpr_function(
            lambda major, minor=0: device.model().arch >= major * 10 + minor),
        "is_hip_cdna3": constant(False), "is_hip_cdna4": constant(False),
    }


def _core():
    """Host objects of triton.language."""
    return dict(
        t.dtypes(), dtype=t.dtype, pointer_type=t.pointer_type,
        block_type=t.block_type, tuple_type=t.tuple_type,
        constexpr=t.constexpr, constexpr_type=t.constexpr_type,
        const=t.const, tensor=t.tensor, tuple=t.tl_tuple,
        tensor_descriptor=t.tensor_descriptor, slice=t.tl_slice,
        tensor_descriptor_type=t.tensor_descriptor_type,
        tensor_descriptor_base=t.tensor_descriptor_base,
        PropagateNan=t.PropagateNan,
        TRITON_MAX_TENSOR_NUMEL=t.TRITON_MAX_TENSOR_NUMEL,
        pi32_t=t.pointer_type(t.dtype("int32")), str_to_ty=t.str_to_ty,
        must_use_result=must_use_result)


def _standard():
    """What triton.language.standard has beside triton.language."""
    def log2(x):
        if x < 1 or x & (x - 1):
            raise ValueError(f"{x} is not a power of 2")
        return x.bit_length() - 1
    return dict(_core(), _log2=constexprs.constexpr_function(log2))


def _int_dtype(bitwidth, signed):
    """The integer type with this many bits."""
    prefix = "int" if bitwidth == 1 or signed else "uint"
    return t.dtypes()[f"{prefix}{bitwidth}"]


def _core_only():
    """Names of triton.language.core that triton.language lacks."""
    return dict(
        get_int_dtype=constexprs.constexpr_function(_int_dtype),
        builtin=_builtin, extern=_extern, _aggregate=aggregates.decorator(),
        is_builtin=lambda fn: getattr(fn, TRITON_BUILTIN, False),
        TRITON_BUILTIN=TRITON_BUILTIN, CONSTEXPR_0=t.constexpr(0),
        JITCallable=functions.JITCallable,
        constexpr_function=constexprs.constexpr_function,
        validate_block_shape=t.validate_block_shape,
        _unwrap_if_constexpr=t.unwrap, _constexpr_to_value=t.unwrap,
        base_type=t.dtype, base_value=t.tensor)


def _runtime(driver):
    return dict(
        autotune=tuner.autotune, Autotuner=tuner.Autotuner,
        Config=tuner.Config, heuristics=tuner.heuristics,
        Heuristics=tuner.Heuristics, driver=driver,
        JITFunction=launch.JITFunction,
        KernelInterface=functions.KernelInterface,
        MockTensor=wrappers.MockTensor,
        TensorWrapper=wrappers.TensorWrapper,
        reinterpret=wrappers.reinterpret,
        OutOfResources=errors.OutOfResources,
        InterpreterError=errors.InterpreterError)


def _errors():
    return {n: getattr(errors, n) for n in (
        "InterpreterError", "OutOfResources", "PTXASError",
        "AutotunerError", "TritonError")}


def _compiler_errors():
    return {n: getattr(errors, n) for n in (
        "CompilationError", "CompileTimeAssertionFailure",
        "UnsupportedLanguageConstruct", "TritonError")}


def _testing():
    names = {n: getattr(bench, n) for n in (
        "do_bench", "do_bench_cudagraph", "assert_close", "nvsmi",
        "get_dram_gbps", "get_max_tensorcore_tflops", "get_max_simd_tflops",
        "set_gpu_clock", "cuda_memcheck")}
    names.update(Benchmark=report.Benchmark, Mark=report.Mark,
                 perf_report=report.perf_report)
    if session.current().version.since(3, 8):
        names.update(
            do_bench_proton=bench.do_bench_proton,
            do_bench_cudagraph_proton=bench.do_bench_cudagraph_proton)
    if session.current().version.since(3, 9):
        names.update(cublas=cublas.handle,
                     cuda_graph_without_gc=bench.cuda_graph_without_gc)
    return names


def _triton():
    names = _runtime(None)
    names.pop("driver")
    names.pop("Autotuner")
    names.pop("Heuristics")
    names.update(
        __version__=session.current().version.release(), jit=launch.jit,
        cdiv=cdiv, next_power_of_2=next_power_of_2,
        constexpr_function=constexprs.constexpr_function,
        compile=compiling.compile,
        must_use_result=must_use_result,
        CompilationError=errors.CompilationError,
        TritonError=errors.TritonError,
        AsyncCompileMode=compiling.AsyncCompileMode,
        FutureKernel=compiling.FutureKernel)
    if session.current().version.since(3, 8):
        names.update(aggregate=aggregates.decorator())
    return names


def _compiled():
    return dict(compile=compiling.compile, ASTSource=compiling.ASTSource,
                make_backend=extras.BaseBackend,
                CompiledKernel=compiled.CompiledKernel,
                AsmDict=compiled.AsmDict,
                CompilationError=errors.CompilationError)


def _jit():
    return dict(
        jit=launch.jit, JITFunction=launch.JITFunction,
        JITCallable=functions.JITCallable,
        KernelInterface=functions.KernelInterface,
        KernelParam=binder.KernelParam,
        ConstexprFunction=constexprs.ConstexprFunction,
        constexpr_function=constexprs.constexpr_function,
        MockTensor=wrappers.MockTensor,
        TensorWrapper=wrappers.TensorWrapper,
        reinterpret=wrappers.reinterpret,
        type_canonicalisation_dict=_spellings())


def _spellings():
    """What signatures call each element type, by every name it has."""
    torch_float8 = {"float8_e4m3fn": "fp8e4nv", "float8_e5m2": "fp8e5",
                    "float8_e4m3fnuz": "fp8e4b8",
                    "float8_e5m2fnuz": "fp8e5b16", "void": "void"}
    names = set(t.dtypes()) | {d.name for d in t.dtypes().values()}
    known = {n: binder.normalise(n) for n in names | {
        "bool", "half", "double", "float", "int", "uint1", "i1"}}
    return {**known, **{v: v for v in known.values()}, **torch_float8}


def _backends():
    """Backends for kernels of either device.  One driver is active, as
    projects expect that look whether Triton works."""
    def backend(driver):
        return extras.Backend(extras.BaseBackend, driver)
    return dict(backends={"nvidia": backend(driver_.CudaDriver),
                          "cpu": backend(driver_.CpuDriver)})


def _cache_key():
    """A key that no cache on disk has."""
    return f"tkdbg-{session.current().version.release()}"


def _cache():
    names = {n: getattr(cache, n) for n in (
        "CacheManager", "FileCacheManager", "get_cache_manager",
        "get_dump_manager", "get_override_manager")}
    return dict(names, triton_key=_cache_key)


def build() -> dict[str, tuple[Any, ...]]:
    """Builds the table that the top of this file describes."""
    core, no_ops = _core(), ()
    tl = ("tl",)
    lib = ("libdevice",)
    cuda = ("tl.extra.cuda",)
    only = _core_only()
    tuning = {n: getattr(tuner, n) for n in (
        "autotune", "Autotuner", "Config", "heuristics", "Heuristics")}
    driver = driver_.DriverConfig()
    runtime, target = _runtime(driver), _target_info(driver)
    L, R = "triton.language", "triton.runtime"
    modules = {
        "triton": (_triton(), no_ops),
        "triton.knobs": (knobs_.namespace(), no_ops),
        "triton.errors": (_errors(), no_ops),
        L: (core, tl),
        f"{L}.core": ({**core, **only}, tl),
        f"{L}.standard": (_standard(), tl),
        f"{L}.math": ({}, tl + lib),  # before Triton 3 it was libdevice
        f"{L}.libdevice": ({}, lib),  # the same
        f"{L}.random": ({}, tl),
        f"{L}.semantic": ({}, no_ops),
        f"{L}.target_info": (target, no_ops),
        f"{L}.extra": ({}, ("tl.extra",)),
        f"{L}.extra.libdevice": ({}, lib),
        f"{L}.extra.cuda": ({}, cuda),
        f"{L}.extra.cuda.libdevice": ({}, lib),
        f"{L}.extra.cuda.utils": ({}, cuda),
        f"{L}.extra.cuda.gdc": ({}, cuda),
        f"{L}.extra.hip": ({}, no_ops),
        f"{L}.extra.hip.libdevice": ({}, lib),
        R: (runtime, no_ops),
        f"{R}.jit": (_jit(), no_ops),
        f"{R}.autotuner": ({**tuning, **_errors()}, no_ops),
        f"{R}.driver": (dict(driver=driver), no_ops),
        f"{R}.errors": (_errors(), no_ops),
        f"{R}.cache": (_cache(), no_ops),
        f"{R}.interpreter": ({}, no_ops),
        "triton.compiler": (_compiled(), no_ops),
        "triton.compiler.compiler": ({**_compiled(),
                                      "triton_key": _cache_key}, no_ops),
        "triton.compiler.errors": (_compiler_errors(), no_ops),
        "triton.backends": (_backends(), no_ops),
        "triton.backends.compiler": (dict(GPUTarget=device.GPUTarget),
                                     no_ops),
        "triton.backends.driver": (dict(
            GPUDriver=driver_.CudaDriver, DriverBase=driver_.CudaDriver),
            no_ops),
        "triton.testing": (_testing(), no_ops),
        "triton.tools": ({}, no_ops),
        "triton.tools.tensor_descriptor": (dict(
            TensorDescriptor=descriptor.TensorDescriptor), no_ops),
        "triton._utils": (dict(
            type_canonicalisation_dict=_spellings(),
            validate_block_shape=t.validate_block_shape,
            TRITON_MAX_TENSOR_NUMEL=t.TRITON_MAX_TENSOR_NUMEL), no_ops),
    }
    for name, names in extras.namespaces(driver).items():
        known, prefixes = modules.get(name, ({}, no_ops))
        modules[name] = {**known, **names}, prefixes
    return modules
