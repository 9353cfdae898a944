"""From call arguments to parameters, as fast as Python can.

For each kernel one Python function is made with the kernel's own parameter
list, so that binding, defaults and the errors for wrong calls are Python's.
"""
from __future__ import annotations

import inspect
import keyword
import re
from collections.abc import Callable
from typing import Any

from . import errors, tltypes as tl_types

# What Triton 3.6 knows for NVIDIA's GPUs: the fields of its CUDAOptions.
OPTIONS = frozenset((
    "num_warps", "num_ctas", "num_stages", "warp_size", "maxnreg",
    "ptx_version", "ptx_options", "ir_override", "enable_fp_fusion",
    "enable_reflect_ftz", "launch_cooperative_grid", "launch_pdl",
    "supported_fp8_dtypes", "deprecated_fp8_dot_operand_dtypes",
    "default_dot_input_precision", "allowed_dot_input_precisions",
    "max_num_imprecise_acc_default", "extern_libs", "debug", "backend_name",
    "sanitize_overflow", "arch", "instrumentation_mode"))

# ... and since Triton 3.9.
_OPTIONS_39 = frozenset(("clc", "sched4reg", "min_shared_mem"))

# Those of other backends, and of older versions, which it refuses.
_ELSEWHERE = {
    "waves_per_eu": "AMD", "matrix_instr_nonkdim": "AMD", "kpack": "AMD",
    "schedule_hint": "AMD", "allow_flush_denorm": "AMD", "grf_mode": "Intel",
    "threads_per_warp": "Intel", "num_buffers_warp_spec": "Triton 3.2",
    "num_consumer_groups": "Triton 3.2", "reg_dec_producer": "Triton 3.2",
    "reg_inc_consumer": "Triton 3.2", "cluster_dims": "Triton 3.5"}

_DEPRECATED = {
    "device_type": "current target", "device": "current device",
    "stream": "current stream"}


def check_options(options: dict[Any, Any], capability: int = 90,
                  error_class: Callable[..., Any] = lambda ours: ours,
                  new: bool = False) -> None:
    """Raises what Triton raises on bad launch options, of its own classes
    where error_class gives them; new: it is Triton 3.9 or newer."""
    _check_numbers(options, capability)
    known = OPTIONS | _OPTIONS_39 if new else OPTIONS
    if new and options.get("clc") and capability < 100:
        raise ValueError("clc=True requires NVIDIA SM100+ (Blackwell); current "
                         f"target is sm_{capability}")
    for name, instead in _DEPRECATED.items():
        if name in options:
            raise AssertionError(f"{name} option is deprecated; {instead} "
                                 "will be used")
    for name in options:
        if name not in known:
            of = _ELSEWHERE.get(name)
            raise KeyError(f"Keyword argument {name} was specified but "
                           "unrecognised" + (
                               f" (it is an option of {of})" if of else ""))
    check_compiled(options, error_class)


def _check_numbers(options, capability):
    """What is found before anything is compiled."""
    arch = options.get("arch")
    if arch is not None and not re.fullmatch(r"sm(\d+)", arch):
        raise ValueError("TRITON_OVERRIDE_ARCH must have the form ^sm(\\d+)$")
    ctas = options.get("num_ctas")
    if ctas is not None and ctas > 1 and capability < 90:
        raise ValueError(
            "num_ctas > 1 requires NVIDIA SM90+ (Hopper). Current target is "
            f"sm_{capability}. This configuration will fail. Please set "
            "num_ctas=1 or target an SM90+ GPU.")
    warps = options.get("num_warps")
    if warps is not None and not (warps > 0 and warps & (warps - 1) == 0):
        raise AssertionError("num_warps must be a power of 2")


def check_compiled(options: dict[Any, Any],
                   error_class: Callable[..., Any]) -> None:
    """What the compiler or the assembler finds."""
    for name in ("num_ctas", "num_stages", "maxnreg"):
        value = options.get(name)
        if value is not None and not isinstance(value, int):
            raise TypeError(f"{name} is an int, not {value!r}: incompatible "
                            "function arguments")
    ctas = options.get("num_ctas")
    if ctas is not None and (ctas < 1 or ctas & (ctas - 1)):
        raise RuntimeError("PassManager::run failed: num_ctas must be a power "
                           f"of 2, not {ctas}")
    if options.get("maxnreg") == 0:
        raise error_class(errors.PTXASError)(
            "Positive non-zero value expected for maxnreg")


def make(name: str, signature: inspect.Signature) -> Callable[..., Any]:
    """A function (*args, **kwargs) -> (tuple of values, dict of options).

    signature: an inspect.Signature; raises TypeError when it has **kwargs,
    which kernels cannot have.  The value of *args is a tuple.
    """
    parts, defaults = [], {}
    star = False
    for p in signature.parameters.values():
        if p.kind is p.VAR_KEYWORD:
            raise TypeError(f"{name}: a kernel cannot have **{p.name}")
        if p.kind is p.VAR_POSITIONAL:
            parts.append(f"*{p.name}")
            star = True
            continue
        if p.kind is p.KEYWORD_ONLY and not star:
            parts.append("*")
            star = True
        if p.default is inspect.Parameter.empty:
            parts.append(p.name)
        else:
            defaults[f"default_{p.name}"] = p.default
            parts.append(f"{p.name}=default_{p.name}")
    options = "options"
    while options in signature.parameters:
        options += "_"
    if not name.isidentifier() or keyword.iskeyword(name):
        name = "kernel"
    values = "".join(n + ", " for n in signature.parameters)
    text = (f"def {name}({', '.join(parts + ['**' + options])}):\n"
            f"    return ({values}), {options}\n")
    namespace = dict(defaults)
    exec(compile(text, "<tkdbg binder>", "exec"), namespace)
    return namespace[name]


# ---- annotations ------------------------------------------------------------


def normalise(annotation: Any) -> str:
    """An annotation as text: "constexpr", "i32", "*fp16", "" for none."""
    if annotation is inspect.Parameter.empty or annotation is None:
        return ""
    if isinstance(annotation, str):
        return _normalise_text(annotation.strip())
    if (isinstance(annotation, tl_types.pointer_type) or
            hasattr(annotation, "element_ty")):
        return "*" + normalise(annotation.element_ty)
    if hasattr(annotation, "primitive_bitwidth"):
        return _short(annotation.name)
    if isinstance(annotation, type):
        return _short(annotation.__name__)
    return _short(str(annotation))


def _normalise_text(text):
    for prefix in ("tl.", "triton.language.", "language."):
        if text.startswith(prefix):
            return _normalise_text(text[len(prefix):])
    if text.startswith("const "):
        inner = _normalise_text(text[6:].strip())
        return "*k" + inner.lstrip("*")
    if text.endswith("*"):
        return "*" + _normalise_text(text[:-1].strip())
    if text.startswith("*"):
        return "*" + _normalise_text(text[1:].strip())
    return _short(text)


_SHORT = {"bool": "u1", "int1": "u1", "uint1": "u1", "i1": "u1",
          "int": "i32", "float": "fp32", "half": "fp16", "double": "fp64",
          "bfloat16": "bf16", "float16": "fp16", "float32": "fp32",
          "float64": "fp64"}


def _short(name):
    if name in _SHORT:
        return _SHORT[name]
    for long, short in (("uint", "u"), ("int", "i")):
        if name.startswith(long) and name[len(long):].isdigit():
            return short + name[len(long):]
    if name.startswith("float8"):
        return "fp8" + name[6:].lstrip("_")
    return name


class KernelParam:
    """One parameter of a kernel."""

    def __init__(self, num: int, parameter: inspect.Parameter,
                 do_not_specialize: bool,
                 do_not_specialize_on_alignment: bool) -> None:
        self.num = num
        self._param = parameter
        self.name = parameter.name
        self.do_not_specialize = do_not_specialize
        self.do_not_specialize_on_alignment = do_not_specialize_on_alignment
        self.annotation_text = parameter.annotation
        self.annotation = normalise(parameter.annotation)
        self.is_constexpr = "constexpr" in self.annotation
        self.is_const = not self.is_constexpr and (
            "const" in self.annotation or self.annotation.startswith("*k"))

    @property
    def annotation_type(self) -> str:
        """The annotation when it names a type, else ""."""
        bare = self.annotation.lstrip("*")
        bare = bare[1:] if self.annotation.startswith("*k") else bare
        known = (bare in _SHORT.values() or bare.startswith("fp8") or
                 (bare[:1] in ("i", "u") and bare[1:].isdigit()))
        return self.annotation if known else ""

    @property
    def default(self) -> Any:
        return self._param.default

    @property
    def has_default(self) -> bool:
        return self._param.default is not inspect.Parameter.empty

    def __repr__(self) -> str:
        return f"KernelParam({self.num}, {self.name!r})"
