"""triton.knobs: settings that scripts set.  environment.py says which of them
change what runs."""
from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from typing import Any

from .. import device, hooks
from ..environment import flag, read_variable

# (group, name): (variable, what it is when nobody sets it)
_VARIABLES: dict[tuple[str | None, str], tuple[str | None, Any]] = {
    ("runtime", "override_arch"): ("TRITON_OVERRIDE_ARCH", None),
    ("compilation", "allow_non_constexpr_globals"):
        ("TRITON_ALLOW_NON_CONSTEXPR_GLOBALS", False),
    ("compilation", "always_compile"): ("TRITON_ALWAYS_COMPILE", False),
    ("compilation", "front_end_debugging"):
        ("TRITON_FRONT_END_DEBUGGING", False),
    ("autotuning", "print"): ("TRITON_PRINT_AUTOTUNING", False),
    ("autotuning", "cache"): ("TRITON_CACHE_AUTOTUNING", False),
    ("language", "fp32_default"): ("TRITON_F32_DEFAULT", None),
    ("language", "default_fp_fusion"): ("TRITON_DEFAULT_FP_FUSION", True),
}


def _set_variable(name, text):
    if text is None:
        os.environ.pop(name, None)
    else:
        os.environ[name] = str(text)


class Knobs:
    """An object that has every attribute: what was set, else what the
    environment says, else None."""

    _group = None

    def __init__(self, **values: Any) -> None:
        self.__dict__.update(values, _first=values)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        variable, usual = _VARIABLES.get((self._group, name), (None, None))
        text = read_variable(variable) if variable else None
        if text is None:
            return usual
        return flag(text) if isinstance(usual, bool) else text

    def __setattr__(self, name: str, value: Any) -> None:
        """Sets the variable of the environment too, as Triton does."""
        self.__dict__[name] = value
        variable, _ = _VARIABLES.get((self._group, name), (None, None))
        if variable:
            text = str(int(value)) if isinstance(value, bool) else value
            _set_variable(variable, text)

    def __delattr__(self, name: Any) -> None:
        self.__dict__.pop(name, None)

    @property
    def knob_descriptors(self) -> dict[str, str | None]:
        """The variables that stand for this group's settings, by name."""
        return {name: variable for (group, name), (variable, _) in
                _VARIABLES.items() if group == self._group}

    @property
    def knobs(self) -> dict[str, bool | str]:
        return {name: getattr(self, name) for name in self.knob_descriptors}

    def copy(self) -> Any:
        """Settings of their own, which start as these are."""
        other = type(self)(**self._first)
        other.__dict__.update(self.__dict__)
        return other

    def set(self, **values: Any) -> None:
        self.__dict__.update(values)

    def reset(self) -> None:
        first = self._first
        self.__dict__.clear()
        vars(self).update(first, _first=first)

    @contextlib.contextmanager
    def scope(self) -> Iterator[Any]:
        """Restores the settings on leaving."""
        before = dict(self.__dict__)
        variables = [v for (group, _), (v, _) in _VARIABLES.items()
                     if v is not None and group == self._group]
        told = {v: os.environ.get(v) for v in variables}
        try:
            yield
        finally:
            self.__dict__.clear()
            self.__dict__.update(before)
            for variable, text in told.items():
                _set_variable(variable, text)


def _group_class(name):
    """As in Triton each group is the one object of a class of its own."""
    return type(f"{name}_knobs", (Knobs,), {"_group": name})


def namespace() -> dict[str, Any]:
    """{name: Knobs} of every group that Triton has."""
    return {
        "runtime": _group_class("runtime")(
            interpret=False, debug=False, **hooks.namespace()),
        "compilation": _group_class("compilation")(instrumentation_mode=""),
        "autotuning": _group_class("autotuning")(),
        "cache": Knobs(dir="", dump_dir="", override_dir=""),
        "language": _group_class("language")(),
        "nvidia": Knobs(ptxas=Knobs(version=device.CUDA_VERSION)),
        "amd": Knobs(), "proton": Knobs(),
        "build": Knobs(), "redis": Knobs(),
        "refresh_knobs": lambda: None,
        "setenv": _set_variable, "getenv": os.environ.get,
        "propagate_env": True,
        "base_knobs": Knobs,
    }
