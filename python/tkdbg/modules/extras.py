"""Modules of Triton's that few scripts import, and names of its own that
some do: what works without a compiler works, what needs one says so.

tests/python/exports.txt lists what Triton 3.6 exports; the test that reads
it says which of it tkdbg lacks, and why.
"""
from __future__ import annotations

import collections
import contextvars
import types
from typing import TYPE_CHECKING, Any

from .. import (constexprs, device, errors, functions, hooks, launch,
                tltypes)
from . import (allocation, cache, compiling, cublas, driver as driver_,
               profiler, utils)

if TYPE_CHECKING:
    from ..device import GPUTarget
    from .driver import DriverConfig

_INSTEAD = "where Triton is installed, --triton installed keeps its compiler"
Language = types.SimpleNamespace(TRITON="triton", GLUON="gluon")


def _absent(module, *names):
    return {n: utils.absent(f"{module}.{n}", _INSTEAD) for n in names}


class BaseBackend:
    """What a compiler for one kind of device answers to; ours makes no
    code."""

    def __init__(self, target: GPUTarget) -> None:
        self.target = target

    @staticmethod
    def supports_target(target: Any) -> Any:
        return target.backend == "cuda"

    def hash(self) -> str:
        return f"tkdbg-{self.target.arch}"

    def parse_options(self, options: dict[Any, Any]) -> CUDAOptions:
        return CUDAOptions(**options)

    def get_module_map(self) -> Any:
        return {}


class CUDAOptions:
    """The options of a kernel, with Triton's defaults."""

    def __init__(self, num_warps: int = 4, num_ctas: int = 1,
                 num_stages: int = 3, **others: Any) -> None:
        self.num_warps, self.num_ctas = num_warps, num_ctas
        self.num_stages = num_stages
        vars(self).update(others)

    def hash(self) -> Any:
        return repr(sorted(vars(self).items()))


Backend = collections.namedtuple("Backend", ("compiler", "driver"))


def _utils():
    names = {n: getattr(utils, n) for n in (
        "get_iterable_path", "set_iterable_path", "find_paths_if",
        "is_power_of_two", "is_namedtuple", "canonicalize_dtype",
        "canonicalize_ptr_dtype", "get_primitive_bitwidth")}
    widths = {d: utils.get_primitive_bitwidth(d) for d in (
        "u1", "u8", "u16", "u32", "u64", "i1", "i8", "i16", "i32", "i64",
        "fp16", "fp32", "fp64", "bf16", "fp8e4nv", "fp8e4b15", "fp8e4b8",
        "fp8e5", "fp8e5b16", "void")}
    return dict(names, BITWIDTH_DICT=widths)


def _jit(driver):
    names = {n: getattr(utils, n) for n in (
        "get_full_name", "get_jit_fn_file_line", "convert_to_tuple_if_list",
        "find_paths_if", "get_iterable_path", "is_namedtuple")}
    return dict(
        names, driver=driver, BaseBackend=BaseBackend,
        JitFunctionInfo=hooks.JitFunctionInfo,
        BoundConstexprFunction=constexprs.BoundConstexprFunction,
        TRITON_MODULE="triton.language",
        GLUON_MODULE="triton.experimental.gluon.language",
        get_cache_invalidating_env_vars=dict,
        **_absent("triton.runtime.jit", "DependenciesFinder",
                  "compute_cache_key", "create_function_from_signature",
                  "get_cache_key", "mangle_type", "native_specialize_impl",
                  "serialize_specialization_data"))


def _compiler(driver):
    managers = {n: getattr(cache, n) for n in (
        "get_cache_manager", "get_dump_manager", "get_override_manager")}
    return dict(
        managers, BaseBackend=BaseBackend, GPUTarget=device.GPUTarget,
        Language=Language, LazyDict=hooks.LazyDict, driver=driver,
        OutOfResources=errors.OutOfResources,
        get_cache_invalidating_env_vars=dict,
        max_shared_mem=lambda index: device.properties(index)[
            "max_shared_mem"],
        filter_traceback=lambda error: None,
        **_absent("triton.compiler", "IRSource", "CompileTimer", "get_sass",
                  "get_cache_key", "parse", "convert_type_repr"))


def _code_generator():
    return dict(
        CompilationError=errors.CompilationError,
        CompileTimeAssertionFailure=errors.CompileTimeAssertionFailure,
        UnsupportedLanguageConstruct=errors.UnsupportedLanguageConstruct,
        JITFunction=launch.JITFunction, JITCallable=functions.JITCallable,
        constexpr=tltypes.constexpr, tensor=tltypes.tensor,
        str_to_ty=tltypes.str_to_ty,
        ConstexprFunction=constexprs.ConstexprFunction,
        **_absent("triton.compiler.code_generator", "ast_to_ttir",
                  "CodeGenerator", "mangle_fn"))


def _filecheck():
    return dict(
        stub_target=device.target(), ASTSource=compiling.ASTSource,
        GPUTarget=device.GPUTarget,
        MatchError=type("MatchError", (ValueError,), {}),
        **_absent("triton._filecheck", "run_filecheck", "run_parser",
                  "run_filecheck_test", "filecheck_test"))


def namespaces(driver: DriverConfig) -> dict[str, dict[Any, Any]]:
    """{module: its names}, of modules that table.py has as well or not."""
    found = {
        "triton._utils": _utils(),
        "triton._filecheck": _filecheck(),
        "triton.experimental": {},
        "triton._compile_warmup_state": dict(is_compile_warmup=lambda: False),
        "triton.backends": dict(
            Backend=Backend, BaseBackend=BaseBackend,
            DriverBase=driver_.CudaDriver),
        "triton.backends.compiler": dict(
            BaseBackend=BaseBackend, Language=Language),
        "triton.backends.nvidia": {},
        "triton.backends.nvidia.compiler": dict(
            CUDABackend=BaseBackend, CUDAOptions=CUDAOptions,
            BaseBackend=BaseBackend, GPUTarget=device.GPUTarget,
            Language=Language, PTXASError=errors.PTXASError,
            sm_arch_from_capability=lambda capability: (
                f"sm_{capability}{'a' if capability >= 90 else ''}"),
            min_dot_size=lambda target: lambda lhs, rhs: (1, 1, 16),
            **_absent("triton.backends.nvidia.compiler", "get_ptxas",
                      "get_ptxas_version")),
        "triton.backends.nvidia.driver": dict(
            CudaDriver=driver_.CudaDriver, CudaUtils=driver_.Utils,
            GPUDriver=driver_.CudaDriver, GPUTarget=device.GPUTarget,
            **_absent("triton.backends.nvidia.driver", "CudaLauncher",
                      "compile_module_from_src", "make_launcher")),
        "triton.compiler": dict(
            LazyDict=hooks.LazyDict,
            **_absent("triton.compiler", "IRSource", "get_cache_key")),
        "triton.compiler.compiler": _compiler(driver),
        "triton.compiler.code_generator": _code_generator(),
        "triton.knobs": dict(
            HookChain=hooks.HookChain, CompileTimes=hooks.CompileTimes),
        "triton.runtime._allocation": allocation.namespace(),
        "triton.runtime._async_compile": dict(
            AsyncCompileMode=compiling.AsyncCompileMode,
            FutureKernel=compiling.FutureKernel,
            active_mode=contextvars.ContextVar("active_mode", default=None)),
        "triton.runtime.build": _absent(
            "triton.runtime.build", "compile_module_from_src", "platform_key"),
        "triton.runtime.driver": dict(
            DriverBase=driver_.CudaDriver, DriverConfig=driver_.DriverConfig),
        "triton.runtime.jit": _jit(driver),
        "triton.runtime.autotuner": dict(
            JITFunction=launch.JITFunction, driver=driver,
            get_cache_manager=cache.get_cache_manager),
        "triton.tools.disasm": _absent(
            "triton.tools.disasm", "get_sass", "extract", "path_to_cuobjdump",
            "path_to_nvdisasm", "processSassLines"),
        "triton.tools.tensor_descriptor": dict(
            validate_block_shape=tltypes.validate_block_shape),
        "triton.language.core": dict(slice_type=tltypes.tl_slice),
        **cublas.namespaces(),
    }
    for name, names in profiler.namespaces().items():
        found[f"triton.profiler.{name}".rstrip(".")] = names
    found["triton"] = dict(
        set_allocator=found["triton.runtime._allocation"]["set_allocator"])
    return found
