"""Puzzles in a notebook: the same checks, shown as a cell's value."""
from __future__ import annotations

import html
from typing import TYPE_CHECKING, Any

from .. import functions, session, source, viewpage
from . import apart, checker, look, page, pack, report
from .answer import Answer, Submission
from .manifest import KeyFault

if TYPE_CHECKING:
    from .pack import Entry


class Text(str):
    """A text that is shown as it is, without quotes."""

    def _repr_pretty_(self, printer, _cycle):
        printer.text(str(self))


class Result:
    """What became of a kernel, as text and with a picture."""

    def __init__(self, answer: Answer, drawn: str, after: str) -> None:
        self.answer, self.page, self.after = answer, drawn, after

    def __bool__(self) -> bool:
        return self.answer.ok

    def __repr__(self) -> str:
        text = report.answer(self.answer, report.Style())
        return f"{text}\n  {self.after}" if self and self.after else text

    def _repr_pretty_(self, printer, _cycle):
        printer.text(repr(self))

    def _repr_html_(self):
        shown = viewpage.Page(self.page, None)
        return f"<pre>{html.escape(repr(self))}</pre>{shown._repr_html_()}"


class Live:
    """Kernels of this process: names in them mean what they mean here, in
    whatever cell they were given."""

    def __init__(self, kernel: Any) -> None:
        self.bridge = session.current()
        self.main = functions.as_jit_function(self.bridge, kernel)
        self.session = self.bridge.ptr

    def open(self, name: Any) -> Any:
        """The tk_function of a kernel."""
        found = self.main
        if name != found.__name__:
            found = functions.as_jit_function(
                self.bridge, found.fn.__globals__.get(name))
        if found is None:
            raise KeyFault(f"there is no @triton.jit function {name!r}")
        return found.open(self.bridge)


def find(id_: str, folder: Any) -> Entry:
    return pack.Pack(folder or pack.built_in()).find(id_)


def check(kernel: Any, id_: str, folder: Any = None) -> Result:
    """A Result; raises KeyFault for what is not a kernel."""
    entry = find(id_, folder)
    live = Live(kernel)
    if live.main is None:
        raise KeyFault(f"{kernel!r} is not a kernel: pass a @triton.jit "
                       "function")
    found = source.find(live.main.fn)
    submission = Submission(entry, found.text, found.name,
                            live.main.__name__, live)

    def work():
        answer = checker.check(submission)
        return vars(answer), look.scene(submission, answer)["page"]
    try:
        result, drawn = apart.one(work, apart.Limits())
    except apart.Failed as e:
        failure = {"kind": e.kind, "message": str(e)}
        return Result(Answer(entry.id, found.name, [failure]),
                      page.refused(submission, str(e)), "")
    return Result(Answer(**result), drawn, entry.key.after)
