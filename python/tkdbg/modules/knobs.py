"""triton.knobs: settings that scripts set; none changes what runs."""
from __future__ import annotations

import contextlib

from .. import device


class Knobs:
    """An object that has every attribute: None until it is set."""

    def __init__(self, **values):
        self.__dict__.update(values)

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return None

    def set(self, **values):
        self.__dict__.update(values)

    def reset(self):
        self.__dict__.clear()

    @contextlib.contextmanager
    def scope(self):
        """Restores the settings on leaving."""
        before = dict(self.__dict__)
        try:
            yield
        finally:
            self.__dict__.clear()
            self.__dict__.update(before)


def namespace():
    """{name: Knobs} of every group that Triton has."""
    return {
        "runtime": Knobs(interpret=False, debug=False),
        "compilation": Knobs(always_compile=False,
                             instrumentation_mode="",
                             allow_non_constexpr_globals=False),
        "autotuning": Knobs(print=False, cache=False),
        "cache": Knobs(dir="", dump_dir="", override_dir=""),
        "language": Knobs(default_fp_fusion=True),
        "nvidia": Knobs(ptxas=Knobs(version=device.CUDA_VERSION)),
        "amd": Knobs(), "proton": Knobs(),
        "build": Knobs(), "redis": Knobs(),
        "refresh_knobs": lambda: None,
        "base_knobs": Knobs,
    }
