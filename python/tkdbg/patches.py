"""Replacing attributes of other people's modules, and putting them back."""
from __future__ import annotations

from typing import Any

ABSENT = object()


class Patches:
    """Attributes that were replaced, so that they can be put back."""

    def __init__(self) -> None:
        self._saved: list[Any] = []

    def set(self, owner: Any, name: str, value: Any) -> None:
        before = vars(owner).get(name, ABSENT)
        self._saved.append((owner, name, before))
        setattr(owner, name, value)

    def undo(self) -> None:
        for owner, name, before in reversed(self._saved):
            if before is ABSENT:
                delattr(owner, name)
            else:
                setattr(owner, name, before)
        self._saved.clear()
