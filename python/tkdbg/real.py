"""What the session needs to know of a real Triton that is taken over."""
from __future__ import annotations

from typing import Any, Callable


def _nothing(_value: Any) -> None:
    return None


class RealTriton:
    """Of a session; as long as no Triton is taken over, nothing."""

    def __init__(self) -> None:
        # a real JITFunction -> the one of ours, or None
        self.adopt: Callable[[Any], Any] = _nothing
        # ours -> a class that is real Triton's as well
        self.error_classes: dict[type, type] = {}
        # real Triton's errors that tuning passes over
        self.not_tuned: tuple[type[BaseException], ...] = ()

    def take_over(self, adopt: Callable[[Any], Any],
                  error_classes: dict[type, type],
                  not_tuned: tuple[type[BaseException], ...]) -> None:
        """A Triton is taken over."""
        self.adopt, self.error_classes = adopt, error_classes
        self.not_tuned = not_tuned

    def leave(self) -> None:
        """It is left."""
        self.take_over(_nothing, {}, ())

    def error_class(self, ours: Any) -> Any:
        """The class to raise for one of errors.py: where Triton is taken over
        it is also Triton's own."""
        return self.error_classes.get(ours, ours)
