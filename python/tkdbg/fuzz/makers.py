"""Where the kernels of a search come from: a kernel for each number."""
from __future__ import annotations

import json
import os
from typing import Any, Protocol

from ..othertries import LIST
from .generate import generate
from .kernel import Kernel
from .recorded import Recorded


class Maker(Protocol):
    """slow: the kind of what does not end in time; end: the first number
    without a kernel, None: there is none."""
    slow: str
    end: int | None

    def make(self, number: int) -> Kernel:
        """A kernel."""

    def title(self, number: int) -> str:
        """What is said of it."""


class Random:
    """Kernels at random, by their seeds."""
    slow = "ends"  # none of them is large
    end: int | None = None

    def __init__(self, features: frozenset[str]) -> None:
        self._features = features

    def make(self, number: int) -> Kernel:
        return generate(number, self._features)

    def title(self, number: int) -> str:
        return f"seed {number}"


class Launches:
    """The launches of a script, which othertries.py has written."""
    slow = "slow"

    def __init__(self, folder: str) -> None:
        """Raises OSError and ValueError."""
        self._folder = folder
        with open(os.path.join(folder, LIST), encoding="utf-8") as f:
            said: dict[str, Any] = json.load(f)
        self.faults: list[dict[str, Any]] = said["faults"]
        self.large: list[str] = said["large"]
        self._list = [each for launch in said["launches"]
                      for each in self._with_options(launch)]
        self.end: int | None = len(self._list)

    @staticmethod
    def _with_options(launch):
        """A launch, and if it is one of the script itself, others that are
        compiled in another way."""
        yield dict(launch, options={})
        if launch["options"]:
            for name, values in (("num_warps", (1, 2, 4, 8)),
                                 ("num_stages", (1, 2, 3, 4))):
                now = launch["options"].get(name)
                for value in values if now is not None else ():
                    if value != now:
                        yield dict(launch, options={name: value},
                                   what=f"with {name}={value}")

    def make(self, number: int) -> Kernel:
        each = self._list[number]
        return Recorded(number, os.path.join(self._folder, each["file"]),
                        self.title(number), each["options"])

    def title(self, number: int) -> str:
        each = self._list[number]
        return f"launch {number} ({each['kernel']}, {each['what']})"
