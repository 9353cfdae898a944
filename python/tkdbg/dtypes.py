"""The library's element types, by number and by name."""
from __future__ import annotations

from typing import Any

_MOST = 64  # more than there will ever be; stops a bad library


class DTypes:
    """Those of one library."""

    def __init__(self, lib: Any) -> None:
        self._lib = lib
        self._numbers: dict[str, int] = {}  # by any spelling; -1: none
        self._names: list[str] | None = None

    @property
    def names(self) -> list[str]:
        """Triton's names of the element types, by tk_dtype value."""
        if self._names is None:
            names: list[str] = []
            while len(names) < _MOST:
                name = self._lib.tk_dtype_name(len(names))
                if not name or name == b"?":
                    break
                names.append(name.decode())
            self._names = names
        return self._names

    def number(self, name: str) -> int | None:
        """The tk_dtype of any spelling of a name, or None."""
        found = self._numbers.get(name)
        if found is None:
            found = self._lib.tk_dtype_from_name(name.encode())
            if not 0 <= found < len(self.names):
                found = -1
            self._numbers[name] = found
        return None if found < 0 else found
