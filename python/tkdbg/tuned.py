"""What tuning has done that a script does not show: tensors that it cleared,
configurations that did not run."""
from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from . import session as session_

if TYPE_CHECKING:
    from .session import Session


class Tuned:
    """Of a session: what is said at its end."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._cleared: dict[tuple[str, str], None] = {}
        self._configs: dict[str, int] = {}  # kernel -> configurations

    def will_clear(self, kernel: str, name: str, tensor: Any) -> None:
        """Before reset_to_zero clears an argument."""
        if _holds_values(tensor):
            self._cleared[kernel, name] = None

    def left_out(self, kernel: str, configs: Sequence[Any]) -> None:
        """One of these configurations runs."""
        if len(configs) > 1:
            self._configs[kernel] = max(len(configs),
                                        self._configs.get(kernel, 0))

    def lines(self) -> list[str]:
        """What there is to say since this was asked last."""
        said = [f"{kernel}: tuning cleared {name}, which held values, as "
                f"reset_to_zero=['{name}'] says: if the kernel updates it in "
                f"place, restore_value=['{name}'] keeps them"
                for kernel, name in self._cleared]
        if self._session.options.check is not None:
            said += [f"{kernel}: --check saw 1 of {n} configurations; "
                     "--autotune all runs all of them"
                     for kernel, n in self._configs.items()]
        self._cleared.clear()
        self._configs.clear()
        return said


def note(tuner: Any, configs: Sequence[Any], named: dict[str, Any]) -> None:
    """Notes what tuning is about to clear and to leave out; named: the
    arguments of the call."""
    session = session_.current()
    said, kernel = session.part(Tuned), tuner.base_fn.__name__
    if not tuner.user_defined_pre_hook:
        for name in tuner.reset_to_zero:
            said.will_clear(kernel, name, named.get(name))
    if session.options.autotune != "all":
        said.left_out(kernel, configs)


def _holds_values(tensor: Any) -> bool:
    """Whether a tensor or array has an element other than 0."""
    try:
        return bool((tensor != 0).any())
    except Exception:  # a type that compares in its own way
        return False
