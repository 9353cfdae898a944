"""Whether what was found with another size, or strides, is a fault.

A launch whose grid or argument stays as it is, whichever size changes, may be
meant for the script's sizes alone, so that nothing is said against it.  Nor is
it where a block is as large as the size, or a tensor that is missed has a size
of its own, or rounding may be all that differs.
"""
from __future__ import annotations

import re
from typing import Any

from .sizeruns import Launch, Run, unequal

FOUND, NOTHING, UNJUDGED = "found", "nothing", "unjudged"

# What a kernel does to memory.  Numbers that are not finite come from what a
# script computes, and hints and assertions are what kernels ask of sizes.
KINDS = frozenset(("out-of-bounds", "null-pointer", "wild-pointer", "race",
                   "twice", "unwritten", "undef", "deadlock"))

Verdict = tuple[str, Any]  # with findings, or why it is not judged


class Judge:
    """Of the runs of a script."""

    def __init__(self, base: Run, moving: set[Any],
                 factors: set[int]) -> None:
        """moving: (number of a launch, argument or axis of its grid) that is
        another one with some size; factors: sizes that are divided by each
        other."""
        self._base = base
        self._factors = factors
        self._moving = moving
        self._known = {_key(f) for f in base.findings}

    def of_size(self, was: int, now: int, run: Run | None) -> Verdict:
        """What came of a number that was another one."""
        if run is None:
            return UNJUDGED, "it takes too long"
        wrong, why = [], ""
        for finding in run.findings:
            if _key(finding) in self._known or finding["kind"] not in KINDS:
                continue
            doubt = self._parts(was, now) or self._is_missed(
                finding, run) or self._doubt(finding["at"], was, now, run)
            why = why or doubt
            if not doubt:
                wrong.append(finding)
        if run.unequal and not (wrong or why or run.findings):
            why = _unlike(self._base, run) or self._parts(
                was, now) or self._doubt(
                    len(self._base.launches) - 1, was, now, run)
            if not why:
                wrong.append(unequal(run))
        return _verdict(wrong, why, run)

    def _parts(self, was, now):
        """Whether sizes that were multiples of each other no longer are, such
        as heads and groups of heads."""
        for factor in sorted(self._factors - {was}):
            if was % factor == 0 and now % factor:
                return f"{was} is a multiple of {factor}, and {now} is not"
            if factor % was == 0 and factor % now:
                return f"{factor} is a multiple of {was}, and not of {now}"
        return ""

    def _doubt(self, last, was, now, run):
        """Why nothing is said of launches up to one of a run."""
        launches = self._base.launches
        if last >= len(launches) or [
                a.kernel for a in launches[:last + 1]] != [
                    a.kernel for a in run.launches[:last + 1]]:
            last = len(launches) - 1
        for i in range(last + 1):
            why = self._own(i) or (i < len(run.launches) and _covers(
                launches[i], run.launches[i], was, now))
            if why:
                return why
        return ""

    def _own(self, i):
        """What of a launch is the same for every size; "": nothing."""
        launch = self._base.launches[i]
        of = launch.kernel
        moves = any((i, name) in self._moving for name in launch.fixed)
        for name, value in launch.given.items():
            if type(value) is int and value > 1 and (
                    name not in launch.fixed and
                    (i, name) not in self._moving):
                return f"{name} of {of}, {value}, is the same for every size"
        for axis, count in enumerate(launch.grid):
            if count > 1 and (i, axis) not in self._moving:
                return (f"grid[{axis}] of {of}, {count}, is the same for "
                        "every size")
        if launch.grid == [1, 1, 1] and not moves and not any(
                (i, axis) in self._moving for axis in range(3)):
            return (f"the grid of {of}, a single program, is the same for "
                    "every size")
        return ""

    def _is_missed(self, finding, run):
        """Whether an access misses a tensor whose size has not changed: it
        would have had to."""
        named = re.search(r"\b(?:of|to) (\w+):", finding["message"])
        at = finding["at"]
        if finding["kind"] != "out-of-bounds" or named is None or not (
                0 <= at < min(len(run.launches), len(self._base.launches))):
            return ""
        old, new = self._base.launches[at], run.launches[at]
        shape = new.given.get(named[1])
        if old.kernel == new.kernel and isinstance(
                shape, list) and old.given.get(named[1]) == shape:
            return (f"{named[1]} of {new.kernel} has {shape} elements as "
                    "before")
        return ""


def _covers(old: Launch, new: Launch, was: int, now: int) -> str:
    """Whether a block is meant to hold the whole of a size."""
    changed = [name for name, value in old.given.items()
               if new.given.get(name) != value]
    if old.kernel != new.kernel or not changed or old.grid != new.grid or any(
            name in old.fixed for name in changed):
        return ""
    for name in old.fixed:
        block = old.given[name]
        if type(block) is int and (block == was or was <= block < now):
            return (f"{name} of {old.kernel}, {block}, holds the whole of the "
                    "size in the script")
    return ""


def _unlike(base: Run, run: Run) -> str:
    """Why a comparison that fails does not count."""
    if base.unequal:
        return f"{base.unequal} also says so with the script's sizes"
    if len(run.launches) < len(base.launches):
        return f"{run.unequal} says no, but there are fewer launches"
    if not run.is_far:
        return f"{run.unequal} says no, but not by more than rounding explains"
    if run.unequal.startswith("the difference") and not any(
            run.unequal.endswith(f" {line}") for line in base.nearly):
        return f"{run.unequal} is not small with the script's sizes"
    return ""


def _verdict(wrong: list[Any], why: str, run: Run) -> Verdict:
    if wrong:
        return FOUND, wrong
    if why:
        return UNJUDGED, why
    return (UNJUDGED, run.stops) if run.stops else (NOTHING, "")


# ---- strides ----------------------------------------------------------------


def of_strides(base: Run, run: Run | None, like: bool) -> Verdict | None:
    """What came of a tensor with other strides; None: no launch was given it
    so.  like: its elements are what they were."""
    if run is None:
        return UNJUDGED, "it takes too long"
    pairs = []
    for old, new in zip(base.launches, run.launches):
        if old.kernel != new.kernel:
            break
        pairs.append((old, new))
    changed = [(old, new, name) for old, new in pairs
               for name, strides in new.strides.items()
               if old.strides.get(name) != strides]
    if not changed:
        return (UNJUDGED, run.stops) if run.stops else None
    known = {_key(f) for f in base.findings}
    wrong = [f for f in run.findings
             if _key(f) not in known and f["kind"] in KINDS]
    if not (wrong or run.unequal):
        return _verdict([], "", run)
    for old, new, name in changed:
        why = _untold(old, new, name)
        if not why and not like and old.written(name):
            why = f"{old.kernel} writes to {name}, whose elements are shared"
        if why:
            return UNJUDGED, why
    if wrong:
        return FOUND, wrong
    why = _unlike(base, run)
    if not why and like and all(
            old.after == new.after for old, new in pairs):
        why = (f"{run.unequal} says no, but kernels have written what they "
               "did before")
    return _verdict([] if why else [unequal(run)], why, run)


def _untold(old: Launch, new: Launch, name: str) -> str:
    """Whether a launch is not told of the strides of a tensor: its kernel is
    for the strides that tensors of the script have."""
    was, strides = old.strides.get(name), new.strides[name]
    shape = new.given[name]
    told = {value for argument, value in new.given.items()
            if type(value) is int and old.given.get(argument) != value}
    for axis, stride in enumerate(strides):
        inner = next((strides[i] * shape[i] for i in range(
            axis + 1, len(strides)) if shape[i] > 1), 1)
        if shape[axis] > 1 and stride not in told and stride != inner and (
                was is None or len(was) != len(strides) or
                was[axis] != stride):
            return (f"{new.kernel} is not told the stride of {name} along "
                    f"axis {axis}, {stride}")
    return ""


def _key(finding):
    return finding["kind"], finding.get("file"), finding.get("line")
