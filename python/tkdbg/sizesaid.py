"""What is said of a script's runs with other sizes: as text, as JSON, as test
cases of JUnit."""
from __future__ import annotations

import os
import re
import sys
from typing import TYPE_CHECKING, Any

from .hostnumbers import Number
from .sizejudge import FOUND, NOTHING

if TYPE_CHECKING:
    from .session import Session

_CONTROL = re.compile(r"[^\t\n\x20-\ud7ff\ue000-\ufffd]")  # no XML


class Said:
    """Of a script; each run is told of when it is judged."""

    def __init__(self, session: Session, path: str,
                 aloud: bool = True) -> None:
        """aloud: at once; else lines() has it."""
        self._session = session
        self._aloud = aloud
        self._path = path
        self._cases: list[tuple[Number, str, str, Any]] = []
        self.wrong: list[tuple[Number, str, list[Any]]] = []

    def add(self, at: Number, what: str, verdict: str, came: Any) -> None:
        """What came of a change: findings, or why it is not judged."""
        self._cases.append((at, what, verdict, came))
        if verdict == FOUND:
            self.wrong.append((at, what, came))
            self._report(at, what, came)
        else:
            self.note(at, f"{what}: nothing found" if verdict == NOTHING else
                      f"{what}: not judged: {came}")

    def note(self, at: Number, text: str) -> None:
        """What is no finding."""
        session = self._session
        if not self._aloud:
            return
        if session.options.json:
            session.json.tell([{"kind": "sizes", "severity": "note",
                                "file": self._path, "line": at.line,
                                "column": at.column, "message": text}])
        elif not session.options.quiet:
            sys.stderr.write(f"{self._place(at)}: {text}\n")

    def _place(self, at):
        return f"{os.path.relpath(self._path)}:{at.line}:{at.column}"

    def lines(self) -> list[str]:
        """The findings, each in two lines or more."""
        return [line for each in self.wrong for line in self._lines(*each)]

    def _lines(self, at, what, wrong):
        return [f"{self._place(at)}: {what}:",
                *(f"    {line_of(f)}" for f in wrong)]

    def _report(self, at, what, wrong):
        if not self._aloud:
            return
        if self._session.options.json:
            self._session.json.tell([
                dict({k: v for k, v in f.items() if k != "at"},
                     notes=[*f.get("notes", ()), {
                         "file": self._path, "line": at.line,
                         "column": at.column, "text": what}])
                for f in wrong])
            return
        sys.stderr.write("\n".join(self._lines(at, what, wrong)) + "\n")

    # ---- JUnit -----------------------------------------------------------

    def write(self) -> list[str]:
        """Writes the file of --junit, if that is given; returns what went
        wrong, which is empty or a line."""
        path = self._session.options.junit
        if path is None:
            return []
        try:
            self._suite().write(path, encoding="utf-8", xml_declaration=True)
        except OSError as e:
            return [f"--junit: cannot write {path}: {e.strerror}"]
        return []

    def _suite(self):
        from xml.etree import ElementTree
        suite = ElementTree.Element(
            "testsuite", name=_plain(os.path.relpath(self._path)),
            tests=str(len(self._cases)), failures=str(len(self.wrong)),
            skipped=str(sum(v not in (FOUND, NOTHING)
                            for _, _, v, _ in self._cases)))
        for at, what, verdict, came in self._cases:
            case = ElementTree.SubElement(
                suite, "testcase", name=_plain(f"{self._place(at)}: {what}"),
                classname=_plain(os.path.relpath(self._path)),
                file=_plain(self._path), line=str(at.line))
            if verdict == FOUND:
                failure = ElementTree.SubElement(
                    case, "failure", type=came[0]["kind"],
                    message=_plain(line_of(came[0])))
                failure.text = _plain("\n".join(map(line_of, came)))
            elif verdict != NOTHING:
                ElementTree.SubElement(case, "skipped", message=_plain(came))
        return ElementTree.ElementTree(suite)


def line_of(finding: dict[str, Any]) -> str:
    """A finding in a line, with its place."""
    where = ":".join([os.path.relpath(finding["file"]), str(finding["line"]),
                      str(finding["column"]), " "]) if (
        "file" in finding) else ""
    return (f"{where}{finding['severity']}: {finding['message']} "
            f"[{finding['kind']}]")


def _plain(text):
    return _CONTROL.sub("?", text)
