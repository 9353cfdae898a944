"""A comparison of a tensor that no launch wrote.

The script made it, by torch.empty or torch.zeros, and gave its kernel another
one, or a copy.  Where a launch has written what is expected, its kernel is
right, and the tensor that is compared is the wrong one.
"""
from __future__ import annotations

import linecache
from collections.abc import Callable
from typing import Any

from . import arrays, hostlines, origins
from .comparisons import Comparison
from .launchlog import Log, Logged


def is_of_host(log: Log, array: Any) -> bool:
    """Whether the host has certainly worked an array out by itself: nothing of
    it comes from what a launch has changed."""
    roots = log.history.of(array)
    if roots is None:
        return False
    numbers = {number for number, _ in roots}
    made_by = [each for each in log.launches if each.number in numbers]
    if not len(numbers) == len(made_by) <= origins.MOST_REPLAYS:
        return False  # of launches that were not recorded, or of too many
    return not any((each.number, name) in roots for each in made_by
                   for name in origins.changed(log.session.lib, each))


def lines(log: Log, seen: Comparison,
          host: Callable[[Logged, str], list[str]]) -> list[str]:
    """What is said if one of two arrays is of no launch; none if it is not so,
    or if nobody knows.  host(): the script's lines about a launch."""
    if log.left_out:
        return []
    for found, expected in ((seen.found, seen.expected),
                            (seen.expected, seen.found)):
        site = log.history.made(found)
        if site is None or _is_given(log, found) or (
                not is_of_host(log, found)):
            continue
        told = _agreeing(log, found, expected, host)
        if told:
            text = linecache.getline(site.file, site.line).strip()
            return [f"tkdbg: {seen.name} compares a tensor that no launch was "
                    "given: it was made here, in "
                    f"{hostlines.shown(site.file)}",
                    f"  {site.line:5} | {text}", *told]
    return []


def agreeing(log: Log, expected: Any) -> tuple[Logged, str] | None:
    """(launch, parameter): a launch that has written what is expected."""
    for origin in origins.by_values(log.session.lib, log, expected):
        if origin.parameter in origins.changed(log.session.lib,
                                               origin.logged):
            return origin.logged, origin.parameter
    return None


def _agreeing(log, found, expected, host):
    """The lines about the launch that has written what is expected."""
    is_known = is_of_host(log, expected)
    if not is_known and not (log.history.is_plain(found) and
                             log.history.of(expected) is None):
        return []  # it may be a copy of what the launch wrote
    at = agreeing(log, expected)
    if at is None:
        return []
    logged, name = at
    wrote = f"  launch {logged.number}, {logged.kernel}, wrote "
    return [f"{wrote}what is expected to its {name}, which is another tensor, "
            "or a copy" if is_known else
            f"{wrote}what it is compared with to its {name}: if that is the "
            "reference, the kernel is right", *host(logged, name)]


def _is_given(log, array):
    """Whether a launch had a tensor in the memory of an array."""
    lies = arrays.memory(array)
    return lies is None or any(
        held is not None and held.meets(lies.storage, lies.nbytes)
        for each in log.launches
        for held in map(arrays.memory, each.tensors.values()))
