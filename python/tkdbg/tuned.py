"""What tuning has done that a script does not show: tensors that it cleared,
configurations that did not run.  And how other compilers' configurations are
tried, which come in a stated order."""
from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from . import compare, session as session_

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


def clear(kernel: str, names: Iterable[str], named: dict[str, Any]) -> None:
    """Makes arguments 0, as reset_to_zero names them."""
    said = session_.current().part(Tuned)
    for name in names:
        said.will_clear(kernel, name, named[name])
        named[name].zero_()


def _holds_values(tensor: Any) -> bool:
    """Whether a tensor or array has an element other than 0."""
    try:
        return bool((tensor != 0).any())
    except Exception:  # a type that compares in its own way
        return False


# ---- configurations in a stated order ---------------------------------------


def try_all(kernel: str, configs: Sequence[Any],
            named: Callable[[], dict[str, Any]],
            call: Callable[..., Any]) -> None:
    """Before one of some configurations runs: all run on the same contents and
    are compared, if that is wanted; else it is noted that the others do not.

    named gives {name: argument}; call: as compare.configurations takes it."""
    session = session_.current()
    session.requests.note("autotune")
    if session.options.autotune != "all":
        session.part(Tuned).left_out(kernel, configs)
    elif len(configs) > 1:
        compare.configurations(kernel, list(configs), named(), call)


def first_that_fits(configs: Iterable[Any],
                    attempt: Callable[[Any], Any]) -> Any:
    """attempt(config) for the first configuration that the device can launch;
    raises what the first one did, if there is none."""
    __tracebackhide__ = True
    failure: Any = None
    for config in configs:
        try:
            return attempt(config)
        except _too_large() as e:
            failure = failure or e
    if failure is not None:
        raise failure
    return None


def fitting(attempt: Callable[[Any], Any]) -> Callable[[Any], bool]:
    """attempt(config) as try_all() calls it: whether the device could launch
    the configuration."""
    def has_run(config):
        try:
            attempt(config)
        except _too_large():
            return False
        return True
    return has_run


def _too_large():
    """The error of a configuration that a device cannot launch."""
    return sys.modules["triton"].runtime.OutOfResources
