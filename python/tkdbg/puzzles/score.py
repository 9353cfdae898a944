"""What is said of what a right answer costs (cost.py), and the personal
best."""
from __future__ import annotations

from typing import Any


def rank(found: dict[str, Any]) -> tuple[float, float, float]:
    """What is compared with the personal best: less is better."""
    return found["moved"], found["idle"], found["lines"]


def text(found: dict[str, Any], about: int, best: tuple[Any, ...]) -> str:
    """One line about a score.  about: the lines of a good answer; best: the
    rank of the best one before, or ()."""
    said = (f"moved {found['moved']:,} bytes (at least {found['least']:,}), "
            f"{found['idle']:g} % of lanes idle, "
            f"{_many(found['programs'], 'program')}, "
            f"{_many(found['lines'], 'line')} (about {about})")
    if best and rank(found) < tuple(best):
        said += ": your best so far"
    return said


def _many(n, word):
    return f"{n:,} {word}" + "s" * (n != 1)
