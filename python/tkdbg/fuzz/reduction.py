"""A kernel that fails, made small, and written where it can be looked at."""
from __future__ import annotations

import os
from typing import Any

from .. import standalone, triton_replay
from . import apart, check, ways
from .direct import Failed
from .kernel import HEAD, Kernel
from .shrink import shrink
from .simplify import launches, simplify
from .ways import Outcome, Way


def reduced(lib: Any, kernel: Kernel, way: Way, found: Outcome) -> Kernel:
    """The smallest kernel found that fails in the same way.  Statements go
    first, as what a generator has made stays defined bit for bit without them;
    what else is made simpler is judged as `tkdbg diff` judges."""
    look = apart.outcome if found.kind == "ends" else check.outcome

    def fails(k: Kernel) -> bool:
        now = look(lib, k, way)
        return now is not None and now[:2] == found[:2] and (
            found.kind != "differs" or
            k.is_defined and k.grid == (1, 1, 1) or
            ways.is_sound(lib, k, way))

    def still_fails(k: Kernel) -> bool:
        return fails(k) and (found.kind != "differs" or (
            ways.is_sound(lib, k, way) and ways.is_judged_wrong(lib, k, way)))
    for simpler in launches(kernel):  # faster, and programs do not meet
        if fails(simpler):
            kernel = simpler
            break
    small = shrink(kernel, fails)
    if not still_fails(small):
        return small
    return shrink(simplify(small, still_fails), still_fails)


def script(lib: Any, kernel: Kernel, way: Way, launch: str) -> str:
    """The kernel as a program that fails where it is compiled wrongly; of one
    that no such program can be made of, its text, and why."""
    try:
        return standalone.report(launch, "tkdbg fuzz", 0.0, 0.0)
    except (triton_replay.CannotReplay, standalone.Finding) as e:
        return (f"# No program of its own can be made of this launch: "
                f"{e.args[-1]}\n{HEAD}\n\n{kernel.describe()}\n")


def write(lib: Any, kernel: Kernel, way: Way, folder: str,
          report: str) -> None:
    """kernel.py, launch.safetensors and report.txt."""
    path = os.path.join(folder, "launch.safetensors")
    text = f"{HEAD}\n\n{kernel.describe()}\n"
    try:
        with ways.opened(lib, kernel, way.version) as launch:
            launch.of_source().text()
            launch.record(path)
        text = script(lib, kernel, way, path)
    except Failed as e:  # it is refused, which is what is to be seen
        report += f"\n{e}"
    for name, said in ("kernel.py", text), ("report.txt", report):
        with open(os.path.join(folder, name), "w", encoding="utf-8") as f:
            f.write(said)


def reduce_into(lib: Any, kernel: Kernel, way: Way, found: Outcome,
                folder: str) -> tuple[str, int, str]:
    """(its cause, its lines, what is wrong) of a kernel that fails, which is
    made small and written into a folder."""
    small = reduced(lib, kernel, way, found)
    now = found
    if found.kind != "ends":
        now = check.outcome(lib, small, way) or found
    report = ""
    if found.kind == "differs" and way.backend != "ttir":
        report = check.explained(lib, small, way)
    cause = check.cause(lib, small, way, now, report)
    lines = sum(len(list(s.lines(0))) for f in small.functions for s in f.body)
    write(lib, small, way, folder,
          f"{kernel.title}: compared with '{way.backend}', the kernel "
          f"{ways.KINDS[now.kind][1]}\ncause: {cause}\n\n{now.says}\n\n"
          f"{small.describe()}\n\n{report}")
    return cause, lines, now.says
