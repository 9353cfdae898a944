"""Pages: views (tkdbg/view.h) with a part that says what the puzzle is; the
library draws them as it draws those of ``tkdbg view``."""
from __future__ import annotations

import json
from ctypes import byref, c_char_p, c_void_p
from typing import TYPE_CHECKING, Any

import numpy as np

from . import checker, engine, words
from .answer import Submission

if TYPE_CHECKING:
    from .answer import Answer
    from .checker import Case
    from .data import Launch
    from .pack import Entry

MEGABYTES = 4  # of a page


class Recording:
    """The launches of an engine from now on, as a page."""

    def __init__(self, e: engine.Engine) -> None:
        self._engine, self._view = e, c_void_p()
        e.must(e.lib.tk_view_new(e.session, MEGABYTES, byref(self._view)))
        e.lib.tk_view_expect_many(self._view)

    def __enter__(self) -> Recording:
        return self

    def __exit__(self, *_: Any) -> None:
        self._engine.lib.tk_view_free(self._view)

    def html(self, **parts: Any) -> str:
        """The page with parts beside the launches; those that are None are
        left out."""
        e, out = self._engine, c_char_p()
        for key, part in parts.items():
            if part is not None:
                e.must(e.lib.tk_view_add(self._view, key.encode(),
                                         json.dumps(part).encode()))
        e.must(e.lib.tk_view_html(self._view, byref(out)))
        return (out.value or b"").decode("utf-8", "replace")


def puzzle(entry: Entry, text: str, case: Case | None = None,
           solved: bool = False, refused: str = "") -> dict[str, Any]:
    """The part "puzzle": docs/view.md says what is in it.

    text: the answer's file; refused: why there is nothing to be seen."""
    lines = text.rstrip().split("\n")[words.first_kernel(text) - 1:]
    return {"id": entry.id, "title": entry.title,
            "task": entry.task.partition("\n")[2].strip("\n"),
            "reference": entry.reference_text, "source": "\n".join(lines),
            "case": str(case or ""), "solved": solved, "refused": refused}


def wrong(entry: Entry, answer: Answer, launches: list[Launch],
          logs: list[Any]) -> dict[str, Any] | None:
    """The part "why" of an answer whose first failure that can be looked at is
    a wrong element; else None."""
    failure = next((f for f in answer.failures if "tensor" in f), None)
    if failure is None or not logs:
        return None
    for name, output, want in checker.expected(entry, launches):
        if name == failure["tensor"]:
            return _why(name, output, want, launches, logs, failure)
    return None


def _why(name, output, want, launches, logs, failure):
    bad = np.flatnonzero(~checker.close(
        output.values(), np.asarray(want, output.values().dtype), output))
    if not bad.size:
        return None
    number = max(i for i in range(len(logs))
                 if name in launches[i].arguments)
    part = {"title": "What is wrong", "lines": [], "suspects": [],
            "tensor": name, "launch": number, "wrong": _stretches(bad),
            "first": failure["index"], "found": failure["got"],
            "expected": failure["want"]}
    if "program" in failure:
        x, y, _ = launches[number].grid
        a, b, c = failure["program"]
        part["program"] = a + x * (b + y * c)
    return part


def _stretches(elements):
    """[first, count, ...] of numbers that ascend."""
    ends = np.flatnonzero(np.diff(elements) != 1)
    first = elements[np.concatenate(([0], ends + 1))]
    last = elements[np.concatenate((ends, [-1]))]
    return [int(x) for pair in zip(first, last - first + 1) for x in pair]


def _alone(**parts):
    """A page without launches."""
    with engine.Engine(Submission(None, "", "")) as e, \
            Recording(e) as recording:
        return recording.html(**parts)


def refused(submission: Submission, why: str) -> str:
    """The page of an answer of which there is nothing to be seen."""
    return _alone(puzzle=puzzle(submission.entry, submission.text,
                                refused=why))


def index(pack: Any, rows: Any) -> str:
    """The page that leads to those of all puzzles: rows are (entry, whether
    it is solved)."""
    tracks: dict[str, list[Any]] = {}
    for entry, solved in rows:
        tracks.setdefault(entry.track, []).append(
            {"id": entry.id, "title": entry.title, "solved": solved})
    return _alone(puzzles={"title": pack.title, "tracks": [
        {"title": pack.tracks.get(track, track), "puzzles": puzzles}
        for track, puzzles in tracks.items()]})
