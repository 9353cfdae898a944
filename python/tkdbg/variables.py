"""Every knob and environment variable of Triton 3.6 to 3.9, and what it does
here.

docs/knobs.md is made from this table (tools/knobs.py), the warnings are, and
a test holds it beside an installed Triton.
"""
from __future__ import annotations

from typing import NamedTuple

FOLLOWED = "follows it"
SILENT = "no effect on results"
WARNED = "a warning"


class Setting(NamedTuple):
    names: tuple     # environment variables
    knob: str        # "group.name" in triton.knobs; "": it has none
    how: str         # FOLLOWED, SILENT or WARNED
    text: str        # what it means here; of a warning, why


def _rows(how, *rows):
    return [Setting(tuple(names.split()), knob, how, text)
            for names, knob, text in rows]


SETTINGS = (
    _rows(
        FOLLOWED,
        ("TRITON_F32_DEFAULT", "language.fp32_default",
         "the precision of a `tl.dot` of fp32 that names none"),
        ("TRITON_OVERRIDE_ARCH", "runtime.override_arch",
         "which 8-bit floats there are: before sm89 no fp8e4nv"),
        ("TRITON_ALLOW_NON_CONSTEXPR_GLOBALS",
         "compilation.allow_non_constexpr_globals",
         "whether kernels may read globals that are not constexprs"),
        ("TRITON_PRINT_AUTOTUNING", "autotuning.print",
         "a tuned kernel says which configuration was chosen")) +
    _rows(
        SILENT,
        ("TRITON_DEFAULT_FP_FUSION TRITON_FORCE_DISABLE_FP_FUSION",
         "language.default_fp_fusion",
         "a product and a sum are always rounded twice: no compiler "
         "chooses; [accuracy.md](accuracy.md)"),
        ("TRITON_DEBUG", "runtime.debug",
         "`tl.device_assert` always holds; `--no-asserts` leaves it out"),
        ("TRITON_INTERPRET", "runtime.interpret", "tkdbg runs kernels"),
        ("TRITON_DEFAULT_BACKEND", "", "there is one device, the virtual one"),
        ("TRITON_ALWAYS_COMPILE", "compilation.always_compile",
         "compiled kernels are kept in memory alone"),
        ("TRITON_CACHE_DIR TRITON_HOME TRITON_DUMP_DIR TRITON_OVERRIDE_DIR "
         "TRITON_CACHE_MANAGER TRITON_REMOTE_CACHE_BACKEND "
         "TRITON_STORE_BINARY_ONLY TRITON_REDIS_KEY_FORMAT "
         "TRITON_REDIS_HOST TRITON_REDIS_PORT", "cache",
         "where a compiler keeps what it made"),
        ("TRITON_CACHE_AUTOTUNING", "autotuning.cache",
         "tuning is not kept between processes"),
        ("TRITON_FRONT_END_DEBUGGING", "compilation.front_end_debugging",
         "errors of kernels are reports of tkdbg's"),
        ("TRITON_DISABLE_LINE_INFO USE_IR_LOC "
         "LLVM_EXTRACT_DI_LOCAL_VARIABLES", "compilation",
         "lines and variables of machine code"),
        ("CC TRITON_CUDACRT_PATH TRITON_CUDART_PATH TRITON_LIBCUDA_PATH "
         "TRITON_PTXAS_PATH TRITON_PTXAS_BLACKWELL_PATH "
         "TRITON_CUOBJDUMP_PATH TRITON_NVDISASM_PATH "
         "TRITON_MOCK_PTX_VERSION TRITON_BACKENDS_IN_TREE", "nvidia",
         "tools that compile, assemble and take apart"),
        ("DISABLE_PTXAS_OPT DISABLE_LLVM_OPT DISABLE_MMA_V3 DISABLE_MMA_V5 "
         "ALLOW_LHS_TMEM_LAYOUT_CONVERSION LLVM_PASS_PLUGIN_PATH "
         "TRITON_PLUGIN_PATHS TRITON_PLUGIN_VERSION_CHECK", "",
         "how code is made, not what it computes"),
        ("MLIR_ENABLE_DIAGNOSTICS MLIR_ENABLE_TIMING LLVM_ENABLE_TIMING "
         "MLIR_DISABLE_MULTITHREADING TRITON_ENABLE_LLVM_DEBUG "
         "TRITON_LLVM_DEBUG_ONLY TRITON_ENABLE_PYTHON_STACKTRACE "
         "TRITON_PARTITION_SCHEDULING_DUMP_DATA_ONLY "
         "TRITON_PARTITION_SCHEDULING_DUMP_LOOP_ONLY "
         "TRITON_PARTITION_SCHEDULING_ENABLE_DUMP_DOT", "",
         "how the compiler runs and what it says of itself"),
        ("AMDGCN_USE_BUFFER_OPS AMDGCN_USE_BUFFER_ATOMICS "
         "AMDGCN_ANALYZE_SMALL_TENSOR_RANGE AMDGCN_ENABLE_DUMP "
         "AMDGCN_SCALARIZE_PACKED_FOPS TRITON_LIBHIP_PATH "
         "TRITON_HIP_USE_BLOCK_PINGPONG TRITON_HIP_USE_IN_THREAD_TRANSPOSE "
         "TRITON_HIP_USE_ASYNC_COPY TRITON_HIP_USE_COEXEC_SCHEDULER "
         "TRITON_HIP_USE_EXPERT_SCHEDULING TRITON_HSA_RUNTIME_LIBRARY "
         "TRITON_HSA_RUNTIME_PATH TRITON_AMD_CODEGEN_PATH TRITON_SWAP_MIR "
         "TRITON_SWAP_MIR_ENABLE_MISCHED HIP_PATH ROCM_PATH", "amd",
         "AMD's GPUs"),
        ("TRITON_PROTON_DISABLE TRITON_CUPTI_LIB_PATH "
         "TRITON_CUPTI_LIB_BLACKWELL_PATH TRITON_ENABLE_HW_TRACE "
         "TRITON_PROFILE_BUFFER_SIZE TRITON_PROFILE_METRIC_BUFFER_SIZE "
         "TRITON_ROCPROFILER_SDK_INCLUDE_PATH "
         "TRITON_ROCPROFILER_SDK_LIBRARY TRITON_ROCPROFILER_SDK_LIB_PATH "
         "TRITON_ROCTRACER_LIBRARY TRITON_ROCTRACER_LIB_PATH "
         "TRITON_ROCTX_LIBRARY TRITON_ROCTX_LIB_PATH "
         "TRITON_ENABLE_NVTX", "proton", "a profiler of GPUs")) +
    _rows(
        WARNED,
        ("TRITON_KERNEL_OVERRIDE", "compilation.override",
         "the kernel's own source is run"),
        ("TRITON_LIBDEVICE_PATH", "nvidia.libdevice_path",
         "functions of libdevice are tkdbg's own"),
        ("PTXAS_OPTIONS", "nvidia.ptxas_options", "no PTX is assembled"),
        ("TRITON_INSTRUMENTATION_MODE TRITON_CONSAN_INIT_ALLOCATIONS "
         "TRITON_FPSAN_HOMOMORPHIC_CASTS TRITON_ENABLE_EXPERIMENTAL_CONSAN",
         "compilation.instrumentation_mode",
         "nothing is instrumented; --check looks for races"),
        ("TRITON_ENABLE_ASAN", "compilation.enable_asan",
         "nothing is instrumented; every access is checked as it is"),
        ("TRITON_KERNEL_DUMP MLIR_ENABLE_DUMP MLIR_DUMP_PATH "
         "LLVM_IR_ENABLE_DUMP NVPTX_ENABLE_DUMP TRITON_DUMP_MIR "
         "TRITON_DUMP_PTXAS_LOG TRITON_REPRODUCER_PATH",
         "compilation.dump_ir",
         "launches make no code to write out; `tkdbg ir` and "
         "`tkdbg compile` print forms of a kernel")))


def page() -> str:
    """docs/knobs.md."""
    lines = [
        "# Knobs and environment variables of Triton", "",
        "What each of Triton 3.6's to 3.9's means under tkdbg.  Those that are",
        "followed hold for the launches that come after they are set.", "",
        "| variables | `triton.knobs` | tkdbg |", "|---|---|---|"]
    for s in SETTINGS:
        names = ", ".join(f"`{n}`" for n in s.names)
        how = s.text if s.how == SILENT else f"{s.how}: {s.text}"
        knob = f"`{s.knob}`" if s.knob else ""
        lines.append(f"| {names} | {knob} | {how} |")
    return "\n".join(lines) + "\n"
