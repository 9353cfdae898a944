"""What the key of a puzzle is made of; docs/puzzle-authors.md explains it.

A key is a Python file, ``key/NAME.py`` beside the learner's ``NAME.py``,
that sets PUZZLE.  It is part of the pack, so it is trusted and executed; what
learners write is not.
"""
from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Callable
from collections.abc import Sequence

# where the first kernel begins, in Triton's language or CUDA Tile's
KERNEL = re.compile(r"^@(triton\.jit|ct\.(kernel|function))\b", re.M)
REGIMES = "uniform", "large", "special"

# (old, new) pairs: each old appears in the kernels exactly once
Edits = Sequence[tuple]


class KeyFault(Exception):
    """What is wrong with a pack, a learner's folder or a key."""


@dataclass
class Wrong:
    """An answer that the checker must reject.

    cause: the kind of one of the failures that the learner is then shown.
    """
    cause: str
    why: str
    edits: Edits = ()       # of the solution
    kernel: str = ""        # ... or the whole text, in its place
    verdict: dict | None = None  # written instead of the right one


@dataclass
class Puzzle:
    """All that is known of a puzzle but its file."""
    launch: Callable            # launch(make, **size, **block)
    sizes: Sequence[dict]
    blocks: Sequence[dict]
    lines: int                  # of code that a good answer has, about
    hints: Sequence[str]
    solution: str | Edits  # its kernels; or edits of the learner's file
    wrong: Sequence[Wrong]
    other: str = ""             # a second way
    after: str = ""             # said when it is solved
    forbid: dict = field(default_factory=dict)   # {name: why}
    require: dict = field(default_factory=dict)  # {name: why}
    allow: Sequence[str] = ()   # kinds of findings that do not count here
    regimes: Sequence[str] = REGIMES
    verdict: dict | None = None


def cdiv(a: int, b: int) -> int:
    """How many blocks of b cover a."""
    return -(-a // b)


def split(text: str) -> tuple[str, str]:
    """(what appears before the first kernel, the kernels)."""
    found = KERNEL.search(text)
    at = found.start() if found else len(text)
    return text[:at], text[at:]


def edited(text: str, edits: Sequence[tuple[str, str]]) -> str:
    """text with each (old, new) applied to its kernels; raises KeyFault."""
    head, kernels = split(text)
    for old, new in edits:
        if kernels.count(old) != 1:
            raise KeyFault(f"{old!r} appears {kernels.count(old)} times in "
                           "the kernels, not once")
        kernels = kernels.replace(old, new)
    return head + kernels


def with_kernels(text: str, kernels: str) -> str:
    """text with other kernels."""
    return split(text)[0] + kernels.strip() + "\n"
