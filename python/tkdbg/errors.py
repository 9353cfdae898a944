"""What a launch raises, and how it is shown.

The names follow Triton's, so that scripts which catch them keep working::

    TritonError
      KernelError                  a fault in the user's kernel
        CompilationError           ... found before the first program ran
          CompileTimeAssertionFailure
          UnsupportedLanguageConstruct
        LaunchError (RuntimeError) ... found while a program ran
      InterpreterError, OutOfResources, PTXASError, AutotunerError
    UsageError (ValueError)        a bad option or argument of ours
    InternalError (RuntimeError)   our own fault, or out of memory
"""
from __future__ import annotations

import json


class TritonError(Exception):
    """Base of everything that Triton itself raises."""


class KernelError(TritonError):
    """A fault in a kernel.

    report       the finding as text, with source lines and carets
    report_json  the same as the text of a JSON array
    colour       the text again, for a terminal
    kernel       name of the kernel that was launched
    """

    def __init__(self, report="", report_json="[]", kernel="", colour=None):
        Exception.__init__(self, report)  # real Triton's may come next
        self.report = report
        self.report_json = report_json
        self.kernel = kernel
        self.colour = colour if colour is not None else report

    def __str__(self):
        return self.report

    def __reduce__(self):
        return type(self), (self.report, self.report_json, self.kernel)

    def copy(self):
        """An equal error without a traceback."""
        return type(self)(self.report, self.report_json, self.kernel,
                          self.colour)

    @property
    def findings(self):
        """The report's entries as a list of dicts."""
        return json.loads(self.report_json)


class CompilationError(KernelError):
    """A kernel that does not compile."""

    @property
    def error_message(self):
        return self.report


class CompileTimeAssertionFailure(CompilationError):
    """A tl.static_assert that does not hold."""


class UnsupportedLanguageConstruct(CompilationError):
    """Python that the kernel language does not have."""


class LaunchError(KernelError, RuntimeError):
    """A kernel that went wrong while it ran."""


class _Messaged(TritonError):
    def __init__(self, error_message=None):
        super().__init__(error_message)
        self.error_message = error_message

    def __str__(self):
        return self.error_message or ""


class InterpreterError(_Messaged):
    """Raised by Triton's interpreter only; here so that it can be caught."""


class PTXASError(_Messaged):
    """Raised by a GPU assembler only; here so that it can be caught."""


class AutotunerError(_Messaged):
    """An autotuner that has no configuration left."""

    def __str__(self):
        return f"Autotuner error: {self.error_message or ''}"


class OutOfResources(TritonError):
    """A kernel too large for a device; here so that it can be caught."""

    def __init__(self, required, limit, name):
        super().__init__(required, limit, name)
        self.required = required
        self.limit = limit
        self.name = name

    def __str__(self):
        return (f"out of resource: {self.name}, Required: {self.required}, "
                f"Hardware limit: {self.limit}")


class UsageError(ValueError):
    """A bad option, argument or file."""


class InternalError(RuntimeError):
    """A fault of tkdbg itself, or no memory left."""


class NotOpened(Exception):
    """A jit function whose text C refused; the report says why."""


# Diagnostics that only a running program can cause, by the name that
# diag.def gives them; everything else is found while compiling.
RUN_TIME = frozenset((
    "out-of-bounds", "null-pointer", "wild-pointer", "misaligned",
    "read-only", "assert", "division", "runaway"))

_COMPILE_CLASSES = {
    "static-assert": CompileTimeAssertionFailure,
    "unsupported": UnsupportedLanguageConstruct,
}


def first_error(report_json):
    """Name of the first diagnostic that is an error, "" when none is."""
    try:
        entries = json.loads(report_json)
    except ValueError:
        return ""
    for entry in entries:
        if entry.get("severity", "error") == "error":
            return entry.get("kind", "")
    return ""


def finding(report, report_json, kernel, colour=None, classes=None):
    """The exception for a report, by the kind of its first error.

    classes: {class above: the class to raise in its place}."""
    name = first_error(report_json)
    if name in RUN_TIME:
        chosen = LaunchError
    else:
        chosen = _COMPILE_CLASSES.get(name, CompilationError)
    chosen = (classes or {}).get(chosen, chosen)
    return chosen(report, report_json, kernel, colour)
