"""``tkdbg puzzles``: the command line.

Exit status: 0 when what was asked holds (an answer is right, a pack keeps its
promises), 1 when it does not, 2 for bad usage.
"""
from __future__ import annotations

import argparse
import json
import os
import sys

from . import apart, folder, manifest, report
from . import pack as packs

COMMANDS = ("watch", "init", "list", "next", "run", "verify", "hint", "reset",
            "solution", "dev")


def parser():
    p = argparse.ArgumentParser(
        prog="tkdbg puzzles", description="Puzzles that teach Triton's "
        "language; without a command, 'watch'. docs/puzzles.md is the "
        "manual.")
    p.add_argument("--pack", metavar="DIR", help="another folder of puzzles "
                   "than tkdbg's own; docs/puzzle-authors.md says how to "
                   "write one")
    p.add_argument("--plain", action="store_true", help="words alone, for "
                   "screen readers: no signs, bars or colours")
    p.add_argument("--color", choices=("auto", "always", "never"),
                   default="auto")
    p.add_argument("--seconds", type=float, default=20.0, metavar="S",
                   help="the most that checking one answer may take")
    p.add_argument("--memory", type=int, default=2048, metavar="MIB",
                   help="the most memory that it may use")
    s = p.add_subparsers(dest="command", metavar="COMMAND")

    def command(name, help_, *arguments):
        c = s.add_parser(name, help=help_, description=help_)
        for words, options in arguments:
            c.add_argument(*words, **options)

    def one(help_, **more):
        return (("id",), {"help": help_, **more})
    command("init", "make a folder with the puzzles' files",
            (("dir",), {"help": "where"}))
    command("list", "all puzzles, and how far you are",
            (("--track",), {"metavar": "LETTER", "help": "of one track"}))
    command("next", "go on to the next puzzle that is not solved")
    command("run", "check one answer", one("the puzzle, or its file"))
    command("hint", "the next hint for a puzzle",
            one("the puzzle; else the current one", nargs="?"))
    command("reset", "put a puzzle's file back as it was shipped",
            one("the puzzle"))
    command("solution", "print the solution of a puzzle that you have solved",
            one("the puzzle"),
            (("--now",), {"action": "store_true", "help": "also before"}))
    command("verify", "check answers: of some puzzles, or --all; changes no "
            "progress",
            (("ids",), {"nargs": "*", "metavar": "id", "help": "puzzles"}),
            (("--all",), {"action": "store_true", "help": "every one"}),
            (("--json",), {"action": "store_true", "help": "the results as "
                           "one JSON object"}),
            (("--junit",), {"metavar": "FILE", "help": "write them as JUnit's "
                            "XML too"}))
    dev = s.add_parser("dev", help="for authors: check a pack, or begin a "
                       "puzzle")
    d = dev.add_subparsers(dest="dev", required=True, metavar="WHAT")
    check = d.add_parser("check", help="whether every puzzle keeps its "
                         "promises")
    check.add_argument("ids", nargs="*", metavar="id", help="these alone")
    new = d.add_parser("new", help="write the files of a new puzzle")
    new.add_argument("name", help="such as b01_add_ten")
    return p


# ---- checking ---------------------------------------------------------------

def checked(jobs, limits, workers=None):
    """(entry, check.Answer) for each (entry, text, name), as they end."""
    from . import check

    def work(entry, text, name):
        return lambda: check.check(entry, text, name).__dict__
    works = [work(*job) for job in jobs]
    for i, result, reason in apart.each(works, limits, workers):
        entry, _, name = jobs[i]
        if reason is not None:
            result = dict(id=entry.id, file=name, failures=[
                {"kind": "limit", "message": reason}])
        yield entry, check.Answer(**result)


def settle(where, entry, answer):
    """Remembers whether a puzzle is solved; whether that is new."""
    standing = where.standing(entry)
    new = answer.ok and not standing.done
    standing.done = answer.ok
    where.save()
    return new


# ---- commands ---------------------------------------------------------------

class Commands:
    """One method a command; each returns the exit status."""

    def __init__(self, args):
        self.args = args
        self.style = report.style_for(sys.stdout, args.color, args.plain)
        self.limits = apart.Limits(args.seconds, args.memory)

    def where(self):
        return folder.find(self.args.pack)

    def init(self):
        where = folder.make(self.args.dir, self.args.pack)
        report.say(f"{len(where.pack.entries)} puzzles are in "
                   f"{self.args.dir}; to begin:\n"
                   f"  cd {self.args.dir} && tkdbg puzzles")
        return 0

    def list(self):
        where = self.where()
        track, done = None, 0
        for entry in where.pack.entries:
            done += where.standing(entry).done
            if self.args.track not in (None, entry.track):
                continue
            if entry.track != track:
                track = entry.track
                report.say(self.style("bold", where.pack.tracks.get(
                    track, track)))
            report.say(self._row(where, entry))
        report.say(report.bar(done, len(where.pack.entries), self.style))
        return 0

    def _row(self, where, entry):
        word = "solved" if where.standing(entry).done else "pending"
        here = entry is where.current()
        sign = "  (current)" if here and self.style.plain else ""
        row = (f"{'>' if here and not self.style.plain else ' '} "
               f"{entry.id:5}{word:9}{entry.title}{sign}")
        return self.style("green", row) if word == "solved" else row

    def next(self):
        where = self.where()
        entry = where.pending(where.current())
        if entry is None:
            report.say(where.pack.final or "All puzzles are solved.")
            return 0
        where.now = entry.id
        where.save()
        report.say(f"{entry.id}: {entry.title}: {where.file(entry)}")
        return 0

    def run(self):
        where = self.where()
        entry = where.pack.find(self.args.id)
        job = entry, where.text(entry), entry.file
        for entry, answer in checked([job], self.limits, 1):
            settle(where, entry, answer)
            report.say(report.answer(answer, self.style, where.file(entry)))
            if answer.ok and entry.key.after:
                report.say(self.style.wrap(entry.key.after, "  "))
            if not answer.ok:
                left = len(entry.key.hints) - where.standing(entry).hints
                report.say(f"  next: tkdbg puzzles hint {entry.id} "
                           f"({left} left)")
        return 0 if answer.ok else 1

    def verify(self):
        where = self.where()
        entries = (where.pack.entries if self.args.all else
                   [where.pack.find(i) for i in self.args.ids])
        if not entries:
            raise manifest.KeyFault("verify what? Name puzzles, or --all")
        jobs = [(e, where.text(e), e.file) for e in entries]
        found = {e.id: a for e, a in checked(jobs, self.limits)}
        answers = [found[e.id] for e in entries]
        solved = sum(a.ok for a in answers)
        if self.args.junit:
            from . import junit
            junit.write(self.args.junit, where.pack.title, answers)
        if self.args.json:
            report.say(json.dumps({"solved": solved, "of": len(answers),
                                   "answers": [a.as_dict() for a in answers]},
                                  indent=1))
        else:
            for a in answers:
                report.say(report.answer(a, self.style))
            if len(answers) > 1:
                report.say(f"{solved} of {len(answers)} solved")
        return 0 if solved == len(answers) else 1

    def hint(self):
        where = self.where()
        entry = (where.pack.find(self.args.id) if self.args.id
                 else where.current())
        report.say(self.next_hint(where, entry))
        return 0

    def next_hint(self, where, entry):
        hints, standing = entry.key.hints, where.standing(entry)
        standing.hints = min(standing.hints + 1, len(hints))
        where.save()
        return self.style.wrap(
            f"hint {standing.hints} of {len(hints)}: "
            f"{hints[standing.hints - 1]}", "  ", "")

    def reset(self):
        where = self.where()
        entry = where.pack.find(self.args.id)
        where.reset(entry)
        where.standing(entry).done = False
        where.save()
        report.say(f"{where.file(entry)} is as it was shipped")
        return 0

    def solution(self):
        where = self.where()
        entry = where.pack.find(self.args.id)
        if not (where.standing(entry).done or self.args.now):
            report.say(f"{entry.id} is not solved yet; --now shows its "
                       "solution all the same")
            return 1
        report.say(entry.solution().rstrip("\n"))
        if entry.key.other:
            report.say("\n\n# ---- another way\n\n" +
                       entry.key.other.strip())
        return 0

    def dev(self):
        from . import dev
        folder_ = self.args.pack or packs.built_in()
        if self.args.dev == "new":
            for path in dev.new(folder_, self.args.name):
                report.say(path)
            return 0
        return self._dev_check(dev, packs.Pack(folder_))

    def _dev_check(self, dev, pack):
        chosen = ([pack.find(i) for i in self.args.ids] or pack.entries)
        found, rejected = {}, 0
        works = [lambda e=e: dev.faults(e) for e in chosen]
        limits = apart.Limits(5 * self.limits.seconds,
                              self.limits.mebibytes)
        for i, result, reason in apart.each(works, limits):
            faults, wrong = result or ([reason], 0)
            found[chosen[i].id] = faults
            rejected += wrong
        faults = [f"{entry.name}: {fault}" for entry in chosen
                  for fault in found[entry.id]]
        if not self.args.ids:
            faults += dev.stray(pack)
        for fault in faults:
            report.say(fault)
        report.say(f"{len(chosen)} puzzles, {rejected} wrong answers, "
                   f"{len(faults)} faults")
        return 1 if faults else 0


def run(argv):
    """Runs a command line; returns the exit status."""
    args = parser().parse_args(argv)
    try:
        return getattr(Commands(args), args.command or "watch")()
    except manifest.KeyFault as e:
        print(f"tkdbg: {e}", file=sys.stderr)
        return 2


def main():
    try:
        status = run(sys.argv[1:])
    except KeyboardInterrupt:
        status = 130
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        status = 141
    sys.exit(status)


if __name__ == "__main__":
    main()
