"""A learner's folder: one file a puzzle, and a file that says how far they
are, plain text that can be read, edited and kept in git:

    # progress of tkdbg puzzles
    pack: /path/to/a/pack            (only if it is not tkdbg's own)
    now: b03
    a01 done hints=1 best=4096,0.0,4,5
    b03 hints=2
"""
from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from . import pack as packs
from .answer import Submission
from .manifest import KeyFault

if TYPE_CHECKING:
    from .pack import Entry

STATE = ".tkdbg-puzzles"


@dataclass
class Standing:
    """How far a learner is with one puzzle."""
    done: bool = False
    hints: int = 0      # that were shown
    best: tuple = ()    # the smallest score, see score.py


class Folder:
    """A folder that ``init`` made."""

    def __init__(self, path: str, pack: str | None = None) -> None:
        self.path = path
        self.state = os.path.join(path, STATE)
        self.now = ""
        self.standings: dict[Any, Any] = {}
        named = self._read()
        self.pack = packs.Pack(pack or named or packs.built_in())
        self.named = self.pack.folder if pack or named else ""

    def _read(self):
        """Reads the state; the folder of the pack that it names."""
        named = ""
        try:
            with open(self.state, encoding="utf-8") as f:
                lines = f.read().splitlines()
        except FileNotFoundError:
            return named
        for line in lines:
            words = line.split()
            if not words or words[0].startswith("#"):
                continue
            if words[0] == "pack:":
                named = os.path.join(self.path, line.partition(":")[2].strip())
            elif words[0] == "now:":
                self.now = words[1] if len(words) > 1 else ""
            else:
                self.standings[words[0]] = _standing(words[1:])
        return named

    def save(self) -> None:
        lines = ["# progress of tkdbg puzzles"]
        if self.named:
            lines.append(f"pack: {self.named}")
        if self.now:
            lines.append(f"now: {self.now}")
        for id_, s in sorted(self.standings.items()):
            words = ["done"] * s.done + [f"hints={s.hints}"] * bool(s.hints)
            if s.best:
                words.append("best=" + ",".join(f"{x:g}" for x in s.best))
            if words:
                lines.append(" ".join([id_, *words]))
        partial = self.state + ".new"
        with open(partial, "w", encoding="utf-8") as f:
            f.write("\n".join(lines) + "\n")
        os.replace(partial, self.state)

    def standing(self, entry: Entry) -> Standing:
        return self.standings.setdefault(entry.id, Standing())

    def turn_to(self, entry: Entry) -> None:
        """Makes a puzzle the current one."""
        self.now = entry.id
        self.save()

    def file(self, entry: Entry) -> str:
        return os.path.join(self.path, entry.file)

    def text(self, entry: Entry) -> str:
        """The learner's text; raises KeyFault if the file is gone."""
        try:
            with open(self.file(entry), encoding="utf-8") as f:
                return f.read()
        except OSError as e:
            raise KeyFault(f"cannot read {self.file(entry)}: {e.strerror}; "
                           f"'tkdbg puzzles reset {entry.id}' restores it"
                           ) from None
        except UnicodeDecodeError as e:
            raise KeyFault(f"{self.file(entry)} is not UTF-8: {e}") from None

    def submission(self, entry: Entry) -> Submission:
        return Submission(entry, self.text(entry), entry.file)

    def reset(self, entry: Entry) -> None:
        """Puts the file back as it was shipped, no longer solved."""
        self.standing(entry).done = False
        with open(self.file(entry), "w", encoding="utf-8") as f:
            f.write(entry.starter)

    def current(self) -> Any:
        """The puzzle that the learner is at."""
        for entry in self.pack.entries:
            if entry.id == self.now:
                return entry
        return self.pending() or self.pack.entries[-1]

    def pending(self, after: Entry | None = None) -> Entry | None:
        """The first puzzle that is not done, after an entry if there is
        one; None when all are."""
        entries = self.pack.entries
        start = entries.index(after) + 1 if after else 0
        for entry in entries[start:] + entries[:start]:
            if not self.standing(entry).done:
                return entry
        return None


def _standing(words):
    found = Standing(done="done" in words)
    for word in words:
        name, _, value = word.partition("=")
        try:
            if name == "hints":
                found.hints = int(value)
            elif name == "best":
                found.best = tuple(map(float, value.split(",")))
        except ValueError:
            pass  # edited by hand; the next save writes it anew
    return found


def make(path: str, pack: str | None = None) -> Folder:
    """Makes a learner's folder, or adds what is missing in one."""
    os.makedirs(path, exist_ok=True)
    folder = Folder(path, pack)
    for entry in folder.pack.entries:
        if not os.path.exists(folder.file(entry)):
            folder.reset(entry)
    folder.now = folder.now or folder.pack.entries[0].id
    folder.save()
    return folder


def find(pack: Any = None) -> Folder:
    """The learner's folder that this directory lies in, or this directory
    if it holds a file of the pack; raises KeyFault."""
    path = os.getcwd()
    if not os.path.exists(os.path.join(path, STATE)):
        here = Folder(path, pack)
        if any(os.path.exists(here.file(e)) for e in here.pack.entries) and (
                path != here.pack.folder):
            return here
    while not os.path.exists(os.path.join(path, STATE)):
        above = os.path.dirname(path)
        if above == path:
            raise KeyFault("this is not a folder of puzzles: 'tkdbg puzzles "
                           "init DIR' makes one")
        path = above
    return Folder(path, pack)
