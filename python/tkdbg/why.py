"""From a comparison that failed to the line that made the wrong value.

While the script runs its launches are recorded and its comparisons watched;
when it has failed, the answer is made of both and printed.
"""
from __future__ import annotations

import json
import os
import shlex
import sys
from typing import TYPE_CHECKING, Any

from . import answer, asserted, errors, findings, interrupt, whypage
from .launchlog import Log

if TYPE_CHECKING:
    from .comparisons import Comparisons
    from .session import Session

MOST_BYTES = 1 << 30  # of recorded launches
MOST_BYTES_CHECKED = 1 << 28  # ... that nobody has asked for


class Why:
    """What ``tkdbg why`` does around a script, and ``run --check``, which
    says nothing unless the script fails by a comparison."""

    def __init__(self, session: Session, comparisons: Comparisons,
                 asked: bool = False, script: Any = None,
                 most_bytes: int | None = None) -> None:
        """asked: as if by ``tkdbg why``; script: a function that gives the
        reruns.Script, or None if it may not run again; most_bytes: of
        launches that are kept."""
        self.session = session
        self.comparisons = comparisons
        self.asked = asked or session.options.why
        self.script = script or (lambda: None)
        self.log = Log(session, most_bytes or (
            MOST_BYTES if self.asked else MOST_BYTES_CHECKED))
        session.runs.log_to(self.log)

    def close(self) -> None:
        """Nothing is to be said: what was recorded goes."""
        self.session.runs.log_to(None)
        self.log.close()

    def tell(self, error: BaseException | None, stream: Any,
             command: list[str],
             end: interrupt.Ending | None = None) -> dict[str, Any] | None:
        """Says why the comparison failed that error came from, if there is
        an error, or else the last one.  command: the script and its
        arguments; end: what Ctrl-C does meanwhile.  Returns what ``debug``
        takes, or None."""
        self.session.runs.log_to(None)
        said = self._explain(error, stream, command, end)
        return said.stop if self.asked else None

    def about(self, error: BaseException,
              command: list[str] | None) -> list[str]:
        """The lines about a test or a cell that has failed with error; none
        if no launch is to blame.  command: None, if there is none that runs
        it.  The records are gone afterwards."""
        self.session.runs.log_to(None)
        said = answer.Answer(self.session.lib, self.log, True, command,
                             tries=self.session.options.suspects != "off")
        try:
            return said.lines(self._candidates(error))
        finally:
            self.log.close()

    def _explain(self, error, stream, command, end):
        """What tell() says; returns the Answer."""
        failed = error is not None
        # pytest keeps the one that it has caught there
        error = getattr(sys, "last_value", None) or (
            self.comparisons.caught or error)
        page = self.session.options.html
        said = answer.Answer(self.session.lib, self.log, self.asked, command,
                             page is not None,
                             self.session.options.suspects != "off",
                             self.script() if self.asked else None, end)
        try:
            if isinstance(error, errors.KernelError) and self.asked:
                self._tell(said.stopped(), stream)
            # a KernelError says why itself
            elif not isinstance(error, errors.KernelError) and (
                    self.asked or failed):
                lines = self._lines(self._candidates(error), said)
                self._tell(lines, stream)
                if page is not None:
                    self._write(page, whypage.page(
                        self.session.lib, lines, said.suspects, said.scene),
                        stream)
        finally:
            self.log.close()
        return said

    def _candidates(self, error):
        """The Comparisons that may have failed, the likeliest first: those
        of a wrapped function if it was called where the error came from."""
        noted = self.comparisons.last
        if error is None:
            return noted or self._printed()
        read = list(asserted.comparisons(error))
        if not (read or noted) and isinstance(error, SystemExit):
            return list(filter(None, [self.comparisons.subtracted]))
        if noted and not noted[0].stack.isdisjoint(asserted.places(error)):
            return [*noted, *read]
        # with the tolerance that a function was given
        read = [next((n for n in noted if n.found is r.found and
                      n.expected is r.expected), r) for r in read]
        return [*read, *noted]

    def _printed(self):
        """What a script that ended well has compared last, if the two
        differ: it may have printed that.  What an assert has let through is
        as it should be."""
        last = self.comparisons.subtracted
        if last is None or not answer.differs(last) or any(
                asserted.is_asserted(*place) for place in last.stack):
            return []
        return [last._replace(name="the script ended well, but its last "
                              "comparison")]

    def _lines(self, candidates, said):
        """What there is to say; nothing, if nobody asked for it and no
        launch is to blame."""
        if not self.log.launches:
            problem = "there is nothing to explain: " + (
                self.log.left_out or "no kernel was launched")
        elif not candidates:
            lines = said.compiled(None) if self.asked else []
            if lines:
                return lines
            lines = said.detected() if self.asked else []
            if lines:
                return ["tkdbg: no comparison of arrays has failed here, where "
                        "programs run one after the other, but the detectors "
                        "find:", *lines]
            problem = ("no comparison of arrays has failed: compare what a "
                       "kernel wrote, by torch.allclose or in an assert")
        else:
            lines = said.lines(candidates)
            if lines:
                return lines
            problem = (f"{candidates[0].name} compared arrays that no kernel "
                       "has as arguments: compare what a kernel stores itself")
            if self.log.left_out:
                problem = (f"{candidates[0].name} compared arrays of no "
                           f"launch that was recorded; {self.log.left_out}")
        return [f"tkdbg: {problem}", *said.apart] if self.asked else []

    def _write(self, path, text, stream):
        beside = f"{path}.{os.getpid()}"
        try:
            if os.path.exists(path) and not os.path.isfile(path):
                beside = path  # a device, a pipe
            with open(beside, "w", encoding="utf-8") as f:
                f.write(text)
            os.replace(beside, path)
        except OSError as e:
            if beside != path and os.path.exists(beside):
                os.remove(beside)
            stream.write(f"tkdbg: cannot write {path}: {e.strerror}\n")
            return
        if not self.session.options.json:
            stream.write(f"tkdbg: written to {path}\n")

    def _tell(self, lines, stream):
        if self.session.options.json and lines:
            self.session.json.tell([dict(
                findings.entry("why", lines[0], lines[1:]), severity="note")])
            return
        stream.write("".join(f"{line}\n" for line in lines))


def _is_answered(stream, answers):
    """Asks on a terminal whether to go there, and waits for the answer."""
    try:
        if not (stream.isatty() and answers.isatty()):
            return False
        stream.write("  Debug it there? [y/N] ")
        stream.flush()
        return answers.readline().strip().lower() in ("y", "yes")
    except (AttributeError, ValueError, KeyboardInterrupt):
        return False


def debug(stop: dict[str, Any], stream: Any, command: list[str]) -> None:
    """This process becomes the script under the debugger, where stop says,
    if somebody is there and wants that."""
    if not _is_answered(stream, sys.stdin):
        return
    chosen = json.loads(os.environ.get("TKDBG_OPTIONS") or "{}")
    chosen.pop("why", None)
    os.environ.pop("TKDBG", None)
    os.environ["TKDBG_OPTIONS"] = json.dumps({**chosen, **stop})
    os.execv(sys.executable, [sys.executable, "-m", "tkdbg", "run", *command])


def hint(error: BaseException | None, session: Session,
         command: list[str]) -> str:
    """What a run whose script failed says at its end, or ""."""
    if not session.runs.totals["programs"] or isinstance(
            error, (errors.UsageError, errors.InternalError)) or not (
            isinstance(error, (AssertionError, SystemExit)) or
            error is not None and any(asserted.comparisons(error))):
        return ""
    return (f"tkdbg: 'tkdbg why {shlex.join(command)}' says which elements "
            "are wrong, and which lines of the kernel made them\n")
