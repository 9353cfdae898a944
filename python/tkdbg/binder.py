"""From call arguments to parameters, as fast as Python can.

For each kernel one Python function is made with the kernel's own parameter
list, so that binding, defaults and the errors for wrong calls are Python's.
"""
from __future__ import annotations

import inspect
import keyword

from . import tltypes as tl_types

# Launch options by who knows them.  Those of other backends are accepted,
# because scripts pass them unconditionally; none changes what runs.
OPTIONS = frozenset((
    # every backend
    "num_warps", "num_ctas", "num_stages", "warp_size", "debug",
    "enable_fp_fusion", "extern_libs", "allow_fp8e4nv", "arch",
    "backend_name", "sanitize_overflow", "instrumentation_mode",
    "ir_override", "supported_fp8_dtypes", "default_dot_input_precision",
    "allowed_dot_input_precisions", "deprecated_fp8_dot_operand_dtypes",
    "deprecated_fp8_dtypes", "max_num_imprecise_acc_default",
    "launch_cooperative_grid", "noinline",
    # NVIDIA
    "maxnreg", "ptx_version", "ptx_options", "launch_pdl", "cluster_dims",
    "enable_reflect_ftz", "enable_warp_specialization",
    "enable_persistent", "optimize_epilogue", "num_buffers_warp_spec",
    "num_consumer_groups", "reg_dec_producer", "reg_inc_consumer",
    # AMD
    "waves_per_eu", "matrix_instr_nonkdim", "kpack", "schedule_hint",
    "allow_flush_denorm",
    # Intel, Ascend, CPU
    "grf_mode", "threads_per_warp", "one_matrix_per_load_for_bt",
    "generate_native_code", "split_barriers_scope", "multibuffer",
    "vec_lib", "num_threads",
))

_DEPRECATED = {
    "device_type": "current target", "device": "current device",
    "stream": "current stream"}


def check_options(options):
    """Raises what Triton raises on bad launch options."""
    for name, instead in _DEPRECATED.items():
        if name in options:
            raise AssertionError(f"{name} option is deprecated; {instead} "
                                 "will be used")
    for name in options:
        if name not in OPTIONS:
            raise KeyError(f"Keyword argument {name} was specified but "
                           "unrecognised")
    warps = options.get("num_warps")
    if warps is not None and (warps < 1 or warps & (warps - 1)):
        raise AssertionError("num_warps must be a power of 2")


def make(name, signature):
    """A function (*args, **kwargs) -> (tuple of values, dict of options).

    signature: an inspect.Signature; raises TypeError when it has *args or
    **kwargs, which kernels cannot have.
    """
    parts, defaults = [], {}
    star = False
    for p in signature.parameters.values():
        if p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD):
            raise TypeError(f"{name}: a kernel cannot have *{p.name}")
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


def normalise(annotation):
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

    def __init__(self, num, parameter, do_not_specialize,
                 do_not_specialize_on_alignment):
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
    def annotation_type(self):
        """The annotation when it names a type, else ""."""
        bare = self.annotation.lstrip("*")
        bare = bare[1:] if self.annotation.startswith("*k") else bare
        known = (bare in _SHORT.values() or bare.startswith("fp8") or
                 (bare[:1] in ("i", "u") and bare[1:].isdigit()))
        return self.annotation if known else ""

    @property
    def default(self):
        return self._param.default

    @property
    def has_default(self):
        return self._param.default is not inspect.Parameter.empty

    def __repr__(self):
        return f"KernelParam({self.num}, {self.name!r})"
