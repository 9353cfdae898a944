"""What is known of functions while kernels are compiled: which kernel asks,
what C has read so far, and which objects stand for which functions."""
from __future__ import annotations

from typing import Any


class Compiling:
    """Of a session."""

    def __init__(self) -> None:
        self.scope: Any = None  # the Scope of the kernel that is compiled
        self.asked = 0          # how often C has asked for what it reads
        self.edits = 0          # changes of what kernels call or read
        # launch.JITFunction, once one is opened
        self.function_class: Any = None
        # Python function -> its text, in one
        self.python_functions: dict[Any, Any] = {}
        # Python function -> what kernels call
        self.plain_functions: dict[Any, Any] = {}
        # tk_function -> what a kernel named
        self.jit_functions: dict[int, Any] = {}

    def begin(self, scope: Any) -> None:
        """The kernel of a Scope is compiled from here on."""
        self.scope = scope

    def ask(self) -> None:
        """C has asked what a name of a kernel means, or for an attribute."""
        self.asked += 1

    def edit(self) -> None:
        """Something has changed that a kernel calls or reads."""
        self.edits += 1

    def open_with(self, function_class: Any) -> None:
        """The class of functions that are opened from a Python function."""
        self.function_class = function_class
