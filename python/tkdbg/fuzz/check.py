"""What comes of a kernel in two ways, and what tells causes apart."""
from __future__ import annotations

import ctypes
import re
from typing import Any

import numpy as np

from .. import _capi
from . import ways
from .direct import Failed
from .kernel import Kernel
from .recorded import Recorded, Replayed
from .ways import Outcome, Way

# Operations of the typed form that nearly every kernel has.
USUAL = frozenset((
    "const", "arange", "load", "store", "program_id", "num_programs", "splat",
    "broadcast", "expand_dims", "full", "copy", "addptr", "binary add",
    "binary mul"))
MODE = re.compile(r"= (\w+) [^{\n]*(?:\{(?:op|fn|kind) = (\w+))?")
DID_NOT_COMPILE = "Triton did not compile this launch"
FIRST_OPERATION = re.compile(r"^    '([\w ]+)'.* by the interpreter", re.M)
CAUSE = re.compile(r"^    cause: ([\w ]+):", re.M)


def difference(wanted: dict[str, Any], left: dict[str, Any]) -> str | None:
    """What is said of the first output that differs, or None."""
    for name, array in left.items():
        bits = f"u{array.itemsize}"
        at = np.flatnonzero(array.view(bits) != wanted[name].view(bits))
        if len(at):
            return (f"{name}[{at[0]}] is {array[at[0]]}, not "
                    f"{wanted[name][at[0]]}; {len(at)} of {len(array)} differ")
    return None


def outcome(lib: Any, kernel: Kernel, way: Way) -> Outcome | None:
    """What is wrong with a kernel; None: it leaves the same."""
    if isinstance(kernel, Recorded):
        return _of_recorded(lib, kernel, way)
    try:
        wanted = ways.by_interpreter(lib, kernel, way)
    except Failed as e:
        alone = way.version and ways.triton_takes(kernel, way.arch)
        return Outcome("refused" if alone else "neither", words(str(e)),
                       first_of(str(e)))
    try:
        found = difference(wanted, ways.by_backend(lib, kernel, way))
    except Failed as e:
        return _failure(str(e))
    return Outcome("differs", "", found) if found else None


def _of_recorded(lib: Any, kernel: Recorded, way: Way) -> Outcome | None:
    """A script's launch may round, and its memory may not be defined."""
    try:
        with Replayed(lib, kernel, way.version) as replayed:
            wanted = replayed.of_source().left()
    except Failed as e:
        return Outcome("unsound", words(str(e)), first_of(str(e)))
    try:
        if way.backend == "ttir":
            found = ways.ir_differs(lib, kernel, way, wanted)
        else:
            with ways.ready(lib, kernel, way) as launch:
                found = ways.judged(lib, launch, way)
    except Failed as e:
        return _failure(str(e))
    return Outcome("differs", "", found) if found else None


def _failure(said: str) -> Outcome:
    if DID_NOT_COMPILE in said:
        return Outcome("not compiled", words(
            said[said.index(DID_NOT_COMPILE):].partition(": ")[2]),
            first_of(said))
    return Outcome("fails", words(said), first_of(said))


def first_of(report: str) -> str:
    """The first of several findings."""
    return "\n".join(report.strip().split("\n")[:9])


def words(said: str) -> str:
    """The first line of a report that says something, without names and
    numbers: equal ones are taken for one cause."""
    lines = [line.strip() for line in said.split("\n") if line.strip()]
    errors = [line for line in lines if "rror" in line or "ssert" in line]
    line = (errors or lines or [""])[0]
    line = re.sub(r"^[^ ]*:\d+:\d+: ", "", line)
    line = re.sub(r"'[^']*'|\"[^\"]*\"|%\w+", "X", line)
    return re.sub(r"0x[0-9a-f]+|-?\d+", "N", line)[:200]


# ---- what tells causes apart -------------------------------------------------

def operations(lib: Any, kernel: Kernel, way: Way) -> str:
    """Those of a small kernel, as the typed form names them."""
    with ways.opened(lib, kernel, way.version) as launch:
        form = launch.of_source().text().decode()
    names = {" ".join(filter(None, found)) for found in MODE.findall(form)}
    return ", ".join(sorted(names - USUAL or names))


def explained(lib: Any, kernel: Kernel, way: Way) -> str:
    """What `tkdbg diff --explain` says of a kernel."""
    said: list[str] = []

    def hear(_ud: Any, data: Any, size: int) -> None:
        said.append(_capi.text(data, size))
    heard = _capi.OutputFn(hear)
    with ways.ready(lib, kernel, way) as launch:
        lib.tk_session_output(launch.session, heard, None)
        try:
            launch.of_source().run(
                "interp", against=way.backend.encode(), pinpoint=True,
                arch=way.arch.encode(), bound=ctypes.pointer(ways.EXACT))
        except Failed as e:
            said.append(str(e))
    return "".join(said)


def cause(lib: Any, kernel: Kernel, way: Way, found: Outcome,
          report: str) -> str:
    """Of a kernel that was made small: the first operation that differs, and
    why, where both are known; else its operations."""
    if found.kind != "differs":
        return f"{found.kind}: {found.cause}"
    at, why = FIRST_OPERATION.search(report), CAUSE.search(report)
    if at and why:
        return f"{at[1]}: {why[1]}"
    return f"{found.kind}: {operations(lib, kernel, way)}"
