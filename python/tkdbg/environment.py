"""Settings of Triton that change what a kernel computes: knobs, environment
variables, keywords of launches.  Each is honoured, or a warning says that it
is not; variables.py has the whole list.
"""
from __future__ import annotations

import os
import re
import sys
import warnings
from typing import Any

from . import variables

# keywords of launches that tk_launch_compile_option knows
KEYWORDS = ("allowed_dot_input_precisions", "default_dot_input_precision",
            "supported_fp8_dtypes")

# 8-bit floats of an NVIDIA target before and since this architecture
_FP8, _FP8_SINCE = ("fp8e4b15", "fp8e5"), (89, "fp8e4nv")



def read_variable(name: str) -> str | None:
    """os.environ.get(name), which raises and catches two exceptions when a
    variable is not set; launches ask for several of those each time."""
    held = getattr(os.environ, "_data", None)
    if held is not None and name.encode() not in held:
        return None
    return os.environ.get(name)


def flag(text: str) -> bool:
    return text.lower() in ("1", "true", "on", "yes", "y")


def knob(group: str, name: str, variable: str) -> bool | str | None:
    """What triton.knobs says, else the environment; None when neither."""
    text = read_variable(variable)
    found = getattr(sys.modules.get("triton.knobs"), group, None)
    if found is None or text is None and name not in vars(found):
        return text
    return getattr(found, name, None)  # the knob reads the environment itself


def is_set(group: str, name: str, variable: str) -> bool:
    """Whether a knob that is on or off is on."""
    value = knob(group, name, variable)
    return flag(value) if isinstance(value, str) else bool(value)


def allow_globals() -> bool:
    """Whether kernels may read globals that are not constexprs."""
    return is_set("compilation", "allow_non_constexpr_globals",
                  "TRITON_ALLOW_NON_CONSTEXPR_GLOBALS")


def compile_options(options: dict[Any, Any],
                    device_arch: int) -> tuple[tuple[str, str], ...]:
    """((name, text), ...) of what tk_launch_compile_option is told for a
    launch with these keywords on a device of this architecture, now."""
    default = knob("language", "fp32_default", "TRITON_F32_DEFAULT")
    arch = options and options.get("arch") or knob(
        "runtime", "override_arch", "TRITON_OVERRIDE_ARCH")
    if not (options or default or arch) and device_arch >= _FP8_SINCE[0]:
        return ()
    found = [(name, _joined(options[name])) for name in KEYWORDS
             if options.get(name) is not None] if options else []
    if default:
        found.append(("fp32_default", str(default)))
    if arch is None and device_arch < _FP8_SINCE[0]:
        arch = f"sm{device_arch}"
    if arch and "supported_fp8_dtypes" not in dict(found):
        found.append(("supported_fp8_dtypes", ",".join(_fp8_of(str(arch)))))
    return tuple(found)


def _joined(value):
    return value if isinstance(value, str) else ",".join(value)


def _fp8_of(arch):
    match = re.fullmatch(r"sm(\d+)", arch)
    if match is None:
        raise ValueError(r"TRITON_OVERRIDE_ARCH must have the form ^sm(\d+)$")
    since, name = _FP8_SINCE
    return _FP8 + ((name,) if int(match.group(1)) >= since else ())


def report() -> None:
    """Warns of settings that are not followed, once for each."""
    for setting in variables.SETTINGS:
        for name in setting.names if setting.how == variables.WARNED else ():
            value = os.environ.get(name)
            if value and value.lower() not in ("0", "false", "off", "no", "n"):
                warnings.warn(f"{name} is set, and tkdbg does not follow it: "
                              f"{setting.text}", stacklevel=2)
