"""What is said of what a right answer costs (cost.py), and the personal
best."""
from __future__ import annotations


def rank(found):
    """What is compared with the personal best: less is better."""
    return found["moved"], found["idle"], found["lines"]


def text(found, about, best):
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
