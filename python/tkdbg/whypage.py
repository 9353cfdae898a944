"""The answer of ``tkdbg why`` as a page: the launch that wrote the wrong
elements, as ``tkdbg view`` shows it, and a part about what is wrong there
(docs/view.md).
"""
from __future__ import annotations

import ctypes
import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from . import errors
from ._capi import text
from .launchlog import Replay

if TYPE_CHECKING:
    from .launchlog import Logged

# of tk_step_kind, tk_step_role and tk_step_memory, as the page calls them
_KINDS = ("value", "argument", "loop variable", "loop", "trips", "again",
          "carried", "term", "more", "reads", "written", "held", "unknown")
_ROLES = (None, "mask", "other=", "index", "address", "operand", "stored here",
          "condition", "chosen", "before the loop", "first term", "odd term")
_MEMORY = (None, "read", "read", "other", "undefined", "held")


class Scene(NamedTuple):
    """What is wrong, and the launch that made it."""
    logged: Logged
    about: dict[str, Any]  # of the part "why"


def scene(logged: Logged, difference: Any, parameter: str) -> Scene:
    """The Scene of a tk_difference."""
    d, first = difference, difference.first
    x, y, _ = logged.grid
    about = {"tensor": parameter, "wrong": _stretches(d),
             "first": list(first.index[:d.rank]),
             "found": text(first.found.text),
             "expected": text(first.expected.text)}
    if first.written:
        i, j, k = first.program
        about["program"] = i + x * (j + y * k)
    if d.explanation:
        why = d.explanation.contents
        about["slice"] = [_step(step) for step in why.steps[:why.nsteps]]
    return Scene(logged, about)


def _stretches(d):
    """The wrong elements, counted row by row: [first, count, ...]."""
    import numpy
    wrong = numpy.ctypeslib.as_array(d.is_wrong, (d.total,)).astype(bool)
    ends = numpy.flatnonzero(numpy.diff(wrong, prepend=False, append=False))
    firsts = ends[::2]
    return numpy.stack([firsts, ends[1::2] - firsts], 1).ravel().tolist()


def _step(step):
    """A tk_step; what it does not have is left out."""
    said = {"kind": _KINDS[step.kind], "parent": step.parent,
            "role": _ROLES[step.role], "name": text(step.name),
            "source": text(step.source),
            "value": text(step.value.text), "memory": _MEMORY[step.memory],
            "lane": list(step.lane[:max(0, step.lane_rank)])}
    if step.place.line:
        said.update(file=text(step.place.file), line=step.place.line)
    if step.has_element:
        element = step.element
        said.update(tensor=text(element.tensor),
                    index=list(element.index[:max(0, element.rank)]))
    said.update(_OF_KIND.get(said["kind"], lambda _: {})(step))
    return {key: value for key, value in said.items()
            if value not in (None, "", [])}


# what only steps of a kind have
_OF_KIND: dict[str, Callable[[Any], dict[str, Any]]] = {
    "again": lambda step: {"same": step.same},
    "carried": lambda step: {"trip": step.trip},
    "loop variable": lambda step: {"trip": step.trip},
    "more": lambda step: {"count": step.count},
    "reads": lambda step: {"count": step.count},
    "written": lambda step: {"program": list(step.program)},
    "term": lambda step: {"factors": [
        [text(f.text), text(f.value.text)]
        for f in step.factors[:step.nfactors]]},
    "trips": lambda step: {"values": [
        text(value.text) for value in step.values[:step.nvalues]]}}


def page(lib: Any, lines: list[str], suspects: list[dict[str, Any]],
         seen: Scene | None) -> str:
    """The page: what the terminal is told, the changes that mend it, and
    the Scene, if there is one."""
    head, *rest = lines
    about = {"title": head.removeprefix("tkdbg: "), "lines": rest,
             "suspects": suspects, **(seen.about if seen else {})}
    if seen is None:
        session = lib.tk_session_new()
        try:
            return _html(lib, session, _view(lib, session), about)
        finally:
            lib.tk_session_free(session)
    with Replay(lib, seen.logged) as replay:
        view = _view(lib, replay.ptr)
        if "program" in about:
            lib.tk_view_keep(view, about["program"])
        replay.run()
        return _html(lib, replay.ptr, view, about)


def _view(lib, session):
    view = ctypes.c_void_p()
    _check(lib, session, lib.tk_view_new(session, 0, ctypes.byref(view)))
    return view


def _html(lib, session, view, about):
    out = ctypes.c_char_p()
    _check(lib, session, lib.tk_view_add(view, b"why",
                                         json.dumps(about).encode()))
    _check(lib, session, lib.tk_view_html(view, ctypes.byref(out)))
    return (out.value or b"").decode("utf-8", "replace")


def _check(lib, session, status):
    if status:
        raise errors.UsageError(
            f"tkdbg: the page cannot be made\n"
            f"{text(lib.tk_report(session, False))}")
