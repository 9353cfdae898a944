"""The watch: checks the current puzzle when it is saved, and does what keys
ask for.  It never goes on by itself.

It imports NumPy, by way of look: children that check have it then."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import apart, changes, look, report, terminal
from .manifest import KeyFault

if TYPE_CHECKING:
    from .commands import Commands
    from .folder import Folder
    from .pack import Entry

KEYS = (("n", "next"), ("h", "hint"), ("l", "list"), ("c", "check all"),
        ("r", "reset"), ("d", "debug"), ("w", "why"), ("v", "view"),
        ("q", "quit"))


class Watch:
    """One session of a learner with a folder."""

    def __init__(self, commands: Commands, where: Folder,
                 polls: bool = False) -> None:
        self.commands, self.where = commands, where
        self.style = commands.style
        self.entry = where.current()
        self.job: Any = None
        self.answer: Any = None
        self.polls = polls
        self.greets = where.pack.welcome and not any(
            s.done for s in where.standings.values())
        self.wants_reset = False
        self.terminal = terminal.Terminal()

    def run(self) -> int:
        watched = changes.Changes(self.where.path, self.polls)
        try:
            with self.terminal:
                self.check()
                while self._step(watched):
                    pass
        finally:
            watched.close()
        self.say("")
        return 0

    def _step(self, watched):
        """Waits for a change or a key; whether to go on."""
        changed, readable = watched.wait(self.terminal.fd)
        if self.entry.file in changed:
            self.check()
        if readable:
            keys = self.terminal.keys()
            if keys is None:
                return False
            for key in keys:
                if not self.press(key):
                    return False
        return True

    def say(self, text: str) -> None:
        report.say(text)

    # ---- checking --------------------------------------------------------

    def check(self) -> None:
        """Checks the current puzzle and shows what came of it."""
        entry = self.entry
        self.say(f"checking {entry.id} ...")
        try:
            self.job = self.where.submission(entry)
        except KeyFault as e:
            self.say(str(e))
            self.answer = None
            self.prompt()
            return
        self.answer, said = self.commands.settled(self.where, self.job)
        path = self.where.file(entry)
        if self.terminal.is_terminal and not self.style.plain:
            self.say("\x1b[H\x1b[2J\x1b[3J")
        if self.greets:
            self.say(self.style.wrap(self.where.pack.welcome) + "\n")
        self.greets = False
        self.say(self.style("bold", f"{entry.id}: {entry.title}"))
        self.say(report.answer(self.answer, self.style, path))
        if self.answer.ok:
            self._celebrate(said)
        else:
            self.say(self.style.wrap(self._advice(), "    ", "  "))
        self.prompt()

    def _advice(self):
        """What to press next after a failure."""
        words = []
        at = look.spot(self.answer)
        if at:
            words.append(f"d to debug at line {at['line']}")
        wrong = look.wrong_element(self.answer)
        if wrong:
            words.append(f"w for where {wrong['element']} came from")
        left = (len(self.entry.key.hints) -
                self.where.standing(self.entry).hints)
        words.append(f"h for a hint ({left} left)" if left else
                     "h for the last hint again")
        return "press " + ", ".join(words)

    def _celebrate(self, said):
        key = self.entry.key
        if said:
            self.say(self.style.wrap(said, "  "))
        if key.after:
            self.say(self.style.wrap(key.after, "  "))
        if self.where.pending() is None:
            self.say("\n" + self.style.wrap(self.where.pack.final or
                                            "All puzzles are solved."))
        else:
            self.say(self.style.wrap(
                "Press n to go on, or make it better: 'tkdbg puzzles "
                f"solution {self.entry.id}' shows how others do it.", "  "))

    def prompt(self) -> None:
        done = sum(self.where.standing(e).done
                   for e in self.where.pack.entries)
        total = len(self.where.pack.entries)
        self.say("\n" + report.bar(done, total, self.style))
        path = self.where.file(self.entry)
        self.say("file: " + self.style.link(path, path))
        words = [f"{self.style('bold', key)}{':' if self.style.plain else ' '}"
                 f"{word}" for key, word in KEYS]
        self.say("  ".join(words))

    # ---- keys ------------------------------------------------------------

    def press(self, key: str) -> bool:
        """Does what a key asks for; whether to go on."""
        asked, self.wants_reset = self.wants_reset, False
        if key == "q":
            return False
        action = {"n": self._next, "h": self._hint, "l": self._list,
                  "c": self._check_all, "d": self._debug, "w": self._why,
                  "v": self._view, "?": self.prompt}.get(key)
        try:
            if key == "r":
                self._reset(asked)
            elif action:
                action()
            else:
                self.say(f"{key!r} is not a key; ? lists them")
        except (KeyFault, OSError, apart.Failed) as e:
            self.say(f"That cannot be done: {e}")
        return True

    def _next(self):
        entry = self.where.pending(self.entry)
        if entry is None:
            self.say(self.style.wrap(self.where.pack.final or
                                     "All puzzles are solved."))
            return
        self.go(entry)

    def go(self, entry: Entry) -> None:
        """Makes another puzzle the current one."""
        self.entry = entry
        self.where.turn_to(entry)
        self.check()

    def _hint(self):
        self.say(self.commands.next_hint(self.where, self.entry))

    def _list(self):
        self.commands.show_list(self.where)
        word = self.terminal.line("go to (an id, or Enter to stay): ")
        if word:
            self.go(self.where.pack.find(word))

    def _check_all(self):
        self.say("checking all puzzles ...")
        self.commands.check_all(self.where)
        self.prompt()

    def _reset(self, asked):
        if not asked:
            self.wants_reset = True
            self.say(f"Your text in {self.entry.file} will be lost; press r "
                     "again to reset it")
            return
        self.where.reset(self.entry)
        self.check()

    def _debug(self):
        if not self.answer:
            return
        self.terminal.pause()
        try:
            look.debug(self.job, self.answer, self.style.colour)
        finally:
            self.terminal.resume()
        self.prompt()

    def _why(self):
        if self.answer:
            self.say(self.commands.reason(self.job, self.answer))

    def _view(self):
        if self.answer:
            self.say(self.commands.picture(self.where, self.job, self.answer))
