"""What C may keep pointing to, alive for as long as the session."""
from __future__ import annotations

from typing import Any


class Kept:
    """Objects of the host's by number, texts as bytes, ctypes objects."""

    def __init__(self) -> None:
        self._objects: list[Any] = []       # by handle - 1
        self._handles: dict[int, int] = {}  # id(object) -> handle
        self._texts: dict[bytes, bytes] = {}
        self._structures: list[Any] = []

    def handle(self, obj: Any) -> int:
        """A number that stands for obj in C, never 0; keeps obj alive."""
        found = self._handles.get(id(obj))
        if found is None:
            self._objects.append(obj)
            found = self._handles[id(obj)] = len(self._objects)
        return found

    def object(self, handle: int) -> Any:
        """The object that a handle stands for."""
        return self._objects[handle - 1]

    def text(self, text: str | bytes) -> bytes:
        """A text as bytes that live as long as the session."""
        data = text if isinstance(text, bytes) else text.encode()
        return self._texts.setdefault(data, data)

    def structure(self, obj: Any) -> Any:
        """Keeps a ctypes object alive; returns it."""
        self._structures.append(obj)
        return obj
