"""Options of a session: what the command line sets, with its defaults."""
from __future__ import annotations

import json
import os
from dataclasses import dataclass, fields
from typing import Optional

from .errors import UsageError

CHOICES = {
    "triton": ("auto", "ours", "installed"),
    "autotune": ("first", "all"),
    "color": ("auto", "always", "never"),
    "dot": (None, "blas", "exact"),
    "schedule": (None, "auto", "serial", "yield"),
}


@dataclass
class Options:
    """How kernels are run.

    pids          program conditions, "0,>1"; None: all programs
    order         "serial", "reverse" or "shuffle:SEED"
    dot           "blas" or "exact"
    schedule      when programs give way: "auto", "serial" or "yield"
    blame         elements whose writers are told, "C[0,1]" a line
    explain       elements whose values are followed back, the same
    no_asserts    device assertions off
    kernel        pids, order, record, blame, explain and the debugger are
                  about this kernel only
    launch        ... and only to its N-th launch, counted from 1
    record        write the first selected launch to this file
    autotune      "first": run the first configuration; "all": compare all
    triton        who answers ``import triton``, see modules/__init__.py
    virtual_cuda  device='cuda' in host memory: True, False, or None for
                  "when PyTorch has no CUDA of its own"
    quiet         no progress bar, no summary line
    json          findings as JSON objects, one a line; implies quiet;
                  of debug, events in place of text
    color         "auto" (a terminal), "always" or "never"
    debug         a debugger stands over all launches; breakpoints, commands,
                  command_files are for it, no_init: do not read .tkdbgrc
    print_ir      print the typed form of each kernel as it is compiled
    check         detectors: "all" or names separated by commas
    limit         findings shown at most
    suppressions  a file of findings that are left out
    gen_suppressions  print lines for such a file
    assume_written  memory of torch.empty counts as written
    stop_on_finding  the first finding ends its launch
    triton_version  "2.1" to "3.6": whose meaning kernels have
    """
    pids: Optional[str] = None
    order: Optional[str] = None
    dot: Optional[str] = None
    schedule: Optional[str] = None
    blame: Optional[str] = None
    explain: Optional[str] = None
    no_asserts: bool = False
    kernel: Optional[str] = None
    launch: Optional[int] = None
    record: Optional[str] = None
    autotune: str = "first"
    triton: str = "auto"
    virtual_cuda: Optional[bool] = None
    quiet: bool = False
    json: bool = False
    color: str = "auto"
    print_ir: bool = False
    debug: bool = False
    breakpoints: tuple = ()
    commands: tuple = ()
    command_files: tuple = ()
    no_init: bool = False
    triton_version: Optional[str] = None
    check: Optional[str] = None
    limit: Optional[int] = None
    suppressions: Optional[str] = None
    gen_suppressions: bool = False
    assume_written: bool = False
    stop_on_finding: bool = False

    def update(self, values):
        """Sets options by name; raises UsageError on an unknown one."""
        known = {f.name for f in fields(self)}
        for name, value in values.items():
            if name not in known:
                raise UsageError(f"tkdbg: unknown option {name!r}; known: "
                                 + ", ".join(sorted(known)))
            setattr(self, name, self._checked(name, value))
        return self

    @staticmethod
    def _checked(name, value):
        if name == "color" and isinstance(value, bool):
            return "always" if value else "never"
        if name == "launch" and value is not None and int(value) < 1:
            raise UsageError("tkdbg: launches are counted from 1")
        allowed = CHOICES.get(name)
        if allowed and value is None and allowed[0] == "auto":
            return "auto"
        if allowed and value not in allowed:
            raise UsageError(
                f"tkdbg: {name} is one of "
                + ", ".join(a for a in allowed if a) + f", not {value!r}")
        return value

    def is_quiet(self):
        """Whether only findings and the script write to stderr."""
        return self.quiet or self.json

    def colour(self, stream):
        """Whether text for stream is to be coloured."""
        if self.color != "auto":
            return self.color == "always"
        if (os.environ.get("NO_COLOR") or
                os.environ.get("TERM", "dumb") == "dumb"):
            return False
        try:
            return stream.isatty()
        except (AttributeError, ValueError):
            return False


def from_environment():
    """Options from TKDBG_OPTIONS, a JSON object; raises UsageError."""
    text = os.environ.get("TKDBG_OPTIONS")
    options = Options()
    if not text:
        return options
    try:
        values = json.loads(text)
    except ValueError as e:
        raise UsageError(f"tkdbg: TKDBG_OPTIONS is not JSON: {e}") from e
    if not isinstance(values, dict):
        raise UsageError("tkdbg: TKDBG_OPTIONS is not a JSON object")
    return options.update(values)
