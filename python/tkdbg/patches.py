"""Replacing attributes of other people's modules, and putting them back."""
from __future__ import annotations

ABSENT = object()


class Patches:
    """Attributes that were replaced, so that they can be put back."""

    def __init__(self):
        self._saved = []

    def set(self, owner, name, value):
        before = vars(owner).get(name, ABSENT)
        self._saved.append((owner, name, before))
        setattr(owner, name, value)

    def undo(self):
        for owner, name, before in reversed(self._saved):
            if before is ABSENT:
                delattr(owner, name)
            else:
                setattr(owner, name, before)
        self._saved.clear()
