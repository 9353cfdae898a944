"""What the commands of ``tkdbg puzzles`` do; the watch uses them too."""
from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from . import apart, folder, report, score
from . import pack as packs
from .answer import Answer, Submission
from .manifest import KeyFault

if TYPE_CHECKING:
    from .folder import Folder
    from .pack import Entry


class Commands:
    """One method a command; each returns the exit status."""

    def __init__(self, args: Any) -> None:
        self.args = args
        self.style = report.style_for(sys.stdout, args.color, args.plain)
        self.limits = apart.Limits(args.seconds, args.memory)

    def where(self) -> Folder:
        return folder.find(self.args.pack)

    def chosen(self, where: Folder) -> Entry:
        """The puzzle that was named, or the current one."""
        return (where.pack.find(self.args.id) if self.args.id
                else where.current())

    # ---- checking --------------------------------------------------------

    def checked(self, jobs: list[Submission]) -> Iterator[tuple[Entry, Answer]]:
        """(entry, Answer) of each Submission, as they end."""
        works = [_work(job) for job in jobs]
        if len(works) > 1:
            from . import checker  # so that not each child imports NumPy
            assert checker
        _load_language([job.entry for job in jobs])
        for i, result, failed in apart.each(works, self.limits):
            entry = jobs[i].entry
            if failed is not None:
                result = dict(id=entry.id, file=jobs[i].name, failures=[
                    {"kind": failed.kind, "message": str(failed)}])
            yield entry, Answer(**result)

    def all_checked(self, where: Folder,
                    entries: list[Entry]) -> Iterator[tuple[Entry, Answer]]:
        """(entry, Answer) of each puzzle; a file that is not there is an
        answer too."""
        jobs = []
        for entry in entries:
            try:
                jobs.append(where.submission(entry))
            except KeyFault as e:
                yield entry, Answer(entry.id, entry.file, [
                    {"kind": "missing", "message": str(e)}])
        yield from self.checked(jobs)

    def settled(self, where: Folder, job: Submission) -> tuple[Answer, str]:
        """The Answer for a Submission, and what is said of its score;
        remembers both."""
        (entry, answer), = self.checked([job])
        return answer, settle(where, entry, answer)

    # ---- commands --------------------------------------------------------

    def watch(self) -> int:
        from . import watch
        return watch.Watch(self, self.where(), self.args.poll).run()

    def html(self) -> Any:
        from . import page
        where = self.where()
        os.makedirs(self.args.html, exist_ok=True)
        rows = []
        for entry in where.pack.entries:
            job = where.submission(entry)
            answer, _ = self.settled(where, job)
            path = os.path.join(self.args.html, f"{entry.id}.html")
            self._write_page(path, self._scene(job, answer))
            rows.append((entry, answer.ok))
        index = os.path.join(self.args.html, "index.html")
        with open(index, "w", encoding="utf-8") as f:
            f.write(page.index(where.pack, rows))
        report.say(self.style.link(index, index))
        return 0

    def init(self) -> int:
        where = folder.make(self.args.dir, self.args.pack)
        report.say(f"{len(where.pack.entries)} puzzles are in "
                   f"{self.args.dir}; to begin:\n"
                   f"  cd {self.args.dir} && tkdbg puzzles")
        return 0

    def list(self) -> int:
        self.show_list(self.where(), self.args.track)
        return 0

    def show_list(self, where: Folder, only: Any = None) -> None:
        track, done = None, 0
        for entry in where.pack.entries:
            done += where.standing(entry).done
            if only not in (None, entry.track):
                continue
            if entry.track != track:
                track = entry.track
                report.say(self.style("bold", where.pack.tracks.get(
                    track, track)))
            report.say(self._row(where, entry))
        report.say(report.bar(done, len(where.pack.entries), self.style))

    def _row(self, where, entry):
        word = "solved" if where.standing(entry).done else "pending"
        here = entry is where.current()
        sign = "  (current)" if here and self.style.plain else ""
        row = (f"{'>' if here and not self.style.plain else ' '} "
               f"{entry.id:5}{word:9}{entry.title}{sign}")
        return self.style("green", row) if word == "solved" else row

    def next(self) -> Any:
        where = self.where()
        entry = where.pending(where.current())
        if entry is None:
            report.say(self.style.wrap(where.pack.final or
                                       "All puzzles are solved."))
            return 0
        where.turn_to(entry)
        report.say(f"{entry.id}: {entry.title}\n"
                   f"file: {where.file(entry)}")
        return 0

    def run(self) -> int:
        where = self.where()
        entry = self.chosen(where)
        answer, said = self.settled(where, where.submission(entry))
        report.say(report.answer(answer, self.style, where.file(entry)))
        for line in filter(None, (said, entry.key.after if answer.ok
                                  else "")):
            report.say(self.style.wrap(line, "  "))
        if not answer.ok:
            left = len(entry.key.hints) - where.standing(entry).hints
            report.say(f"  next: tkdbg puzzles hint {entry.id} ({left} left),"
                       f" or debug {entry.id}, why {entry.id}, view "
                       f"{entry.id}")
        return 0 if answer.ok else 1

    def verify(self) -> int:
        where = self.where()
        entries = (where.pack.entries if self.args.all else
                   [where.pack.find(i) for i in self.args.ids])
        if not entries:
            raise KeyFault("name the puzzles to verify, or give --all")
        found = dict(self.all_checked(where, entries))
        answers = [found[e] for e in entries]
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

    def check_all(self, where: Folder) -> None:
        """Checks every puzzle and says which have changed."""
        solved = 0
        for entry, answer in self.all_checked(where, where.pack.entries):
            before = where.standing(entry).done
            settle(where, entry, answer)
            solved += answer.ok
            if before != answer.ok:
                report.say(f"{entry.id} is solved" if answer.ok else
                           f"{entry.id} was solved, and is pending again: "
                           f"{answer.failures[0]['kind']}")
        report.say(f"{solved} of {len(where.pack.entries)} solved")

    def hint(self) -> int:
        where = self.where()
        report.say(self.next_hint(where, self.chosen(where)))
        return 0

    def next_hint(self, where: Folder, entry: Entry) -> str:
        hints, standing = entry.key.hints, where.standing(entry)
        standing.hints = min(standing.hints + 1, len(hints))
        where.save()
        return self.style.wrap(
            f"hint {standing.hints} of {len(hints)}: "
            f"{hints[standing.hints - 1]}", "  ", "")

    def reset(self) -> int:
        where = self.where()
        entry = where.pack.find(self.args.id)
        where.reset(entry)
        where.save()
        report.say(f"{where.file(entry)} is as it was shipped")
        return 0

    def solution(self) -> int:
        where = self.where()
        entry = self.chosen(where)
        if not (where.standing(entry).done or self.args.now):
            report.say(f"{entry.id} is not solved yet; --now shows its "
                       "solution all the same")
            return 1
        report.say(entry.solution().rstrip("\n"))
        if entry.key.other:
            report.say("\n\n# ---- another way\n\n" +
                       entry.key.other.strip())
        return 0

    # ---- a closer look ---------------------------------------------------

    def _looked_at(self):
        """(folder, Submission, Answer) of what a command looks at."""
        where = self.where()
        job = where.submission(self.chosen(where))
        return where, job, self.settled(where, job)[0]

    def debug(self) -> int:
        from . import look
        _, job, answer = self._looked_at()
        look.debug(job, answer, self.style.colour)
        return 0

    def why(self) -> Any:
        _, job, answer = self._looked_at()
        report.say(self.reason(job, answer))
        return 0

    def reason(self, job: Submission, answer: Answer) -> str:
        """Where the wrong element of an answer came from."""
        from . import look
        return apart.one(lambda: look.why(job, answer, self.style.colour),
                         self.limits)

    def view(self) -> Any:
        where, job, answer = self._looked_at()
        report.say(self.picture(where, job, answer, self.args.html_file))
        return 0

    def picture(self, where: Folder, job: Submission, answer: Answer,
                path: Any = None) -> str:
        """The picture of what an answer loads and stores; the page of it is
        written beside the progress file, if not elsewhere."""
        from . import drawing
        scene = self._scene(job, answer)
        path = path or os.path.join(where.path, f".tkdbg-{answer.id}.html")
        self._write_page(path, scene)
        return (drawing.draw(scene, self.style) +
                f"\nas a page: {self.style.link(path, path)}")

    def _scene(self, job, answer):
        from . import look
        return apart.one(lambda: look.scene(job, answer), self.limits)

    @staticmethod
    def _write_page(path, scene):
        with open(path, "w", encoding="utf-8") as f:
            f.write(scene["page"])

    # ---- authors ---------------------------------------------------------

    def dev(self) -> int:
        from . import dev
        folder_ = self.args.pack or packs.built_in()
        if self.args.dev == "new":
            for path in dev.new(folder_, self.args.name):
                report.say(path)
            return 0
        pack = packs.Pack(folder_)
        chosen = [pack.find(i) for i in self.args.ids] or pack.entries
        faults, rejected = self._faults(dev, chosen)
        if not self.args.ids:
            faults += dev.stray(pack)
        for fault in faults:
            report.say(fault)
        report.say(f"{len(chosen)} puzzles, {rejected} wrong answers, "
                   f"{len(faults)} faults")
        return 1 if faults else 0

    def _faults(self, dev, entries):
        """What is wrong with puzzles, in their order, and how many wrong
        answers they reject."""
        works = [lambda e=e: dev.faults(e) for e in entries]
        _load_language(entries)
        limits = apart.Limits(5 * self.limits.seconds, self.limits.mebibytes)
        found, rejected = [], 0
        for i, result, failed in apart.each(works, limits):
            faults, wrong = result or ([str(failed)], 0)
            found.append((i, faults))
            rejected += wrong
        return [f"{entries[i].name}: {fault}" for i, faults in sorted(found)
                for fault in faults], rejected


def _load_language(entries):
    """Imports cuda.tile for puzzles in it, so that not each child does."""
    if any(entry.pack.uses_tiles for entry in entries):
        from . import tiles
        tiles.load()


def _work(submission):
    def work():
        from . import checker  # NumPy is for the child alone
        return vars(checker.check(submission))
    return work


def settle(where: Folder, entry: Entry, answer: Answer) -> str:
    """Remembers whether a puzzle is solved, and the best score; what is said
    of the score."""
    standing = where.standing(entry)
    standing.done = answer.ok
    said = ""
    if answer.ok and answer.score:
        said = score.text(answer.score, entry.key.lines, standing.best)
        rank = score.rank(answer.score)
        standing.best = min(rank, standing.best or rank)
    where.save()
    return said
