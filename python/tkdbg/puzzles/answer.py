"""A submission, and what became of it.

A failure is a dict: kind, message; perhaps line, source, program, notes,
help; of a wrong element tensor, index, element, got, want, ulps, wrong, of.
"""
from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any


@dataclass
class Submission:
    """What a learner hands in for a puzzle."""
    entry: Any       # pack.Entry
    text: str
    name: str        # of the text, in messages
    kernel: str = ""  # its kernel, if not called as in the learner's file
    live: Any = None  # notebook.Live, if its kernels live in this process

    @property
    def main_kernel(self) -> str:
        """The kernel that a launch means if it names none."""
        return self.kernel or self.entry.kernel


@dataclass
class Answer:
    """What became of one submission."""
    id: str
    file: str
    failures: list = field(default_factory=list)
    case: str = ""      # that it failed in
    number: int = 0     # ... of so many
    cases: int = 0
    order: str = "serial"
    printed: str = ""
    score: dict = field(default_factory=dict)
    seconds: float = 0.0

    @property
    def ok(self) -> bool:
        return not self.failures

    def as_dict(self) -> dict[str, Any]:
        return {"ok": self.ok, **asdict(self)}
