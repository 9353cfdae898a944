"""``tkdbg puzzles``: the command line.

Exit status: 0 when what was asked holds (an answer is right, a pack keeps its
promises), 1 when it does not, 2 for bad usage.
"""
from __future__ import annotations

import argparse
import importlib.util
import sys

from .. import interrupt
from . import apart, commands, manifest


# options of every command, which may come before or after its name
COMMON = (
    ("--pack", dict(metavar="DIR", help="a folder of puzzles to use instead "
                    "of tkdbg's own; docs/puzzle-authors.md says how to write "
                    "one")),
    ("--plain", dict(action="store_true", help="only words, for screen "
                     "readers: no symbols, bars or colours")),
    ("--color", dict(choices=("auto", "always", "never"), help="whether to "
                     "use colours: auto does on a terminal, unless NO_COLOR "
                     "is set")),
    ("--seconds", dict(type=float, metavar="S", help="the most that checking "
                       "one answer may take; 20 if not given")),
    ("--memory", dict(type=int, metavar="MIB", help="the most memory that it "
                      "may use; 2048 if not given")),
    ("--poll", dict(action="store_true", help="look for changed files five "
                    "times a second, where inotify does not report changes "
                    "(network file systems)")))
DEFAULTS = dict(pack=None, plain=False, color="auto", seconds=20.0,
                memory=2048, poll=False)


def parser() -> argparse.ArgumentParser:
    p = argparse.ArgumentParser(
        prog="tkdbg puzzles", description="Puzzles that teach Triton's "
        "language; without a command, 'watch'. docs/puzzles.md is the "
        "manual.")
    for name, options in COMMON:
        p.add_argument(name, default=DEFAULTS[name[2:]], **options)
    p.add_argument("--html", metavar="DIR", help="write a page for each "
                   "puzzle, with what your answer loads and stores")
    s = p.add_subparsers(dest="command", metavar="COMMAND")

    def command(name, help_, *arguments, among=s):
        c = among.add_parser(name, help=help_, description=help_)
        for words, options in arguments:
            c.add_argument(*words, **options)
        for word, options in COMMON:
            c.add_argument(word, default=argparse.SUPPRESS, **options)

    one = ("id",), {"help": "the puzzle, or its file"}
    maybe = ("id",), {"nargs": "?", "help": "the puzzle, or its file; the "
                                            "current one if left out"}
    command("watch", "check the current puzzle whenever it is saved")
    command("init", "make a folder with the files of the puzzles",
            (("dir",), {"help": "where"}))
    command("list", "all puzzles, and your progress",
            (("--track",), {"metavar": "LETTER", "help": "only this track"}))
    command("next", "go on to the next puzzle that is not solved")
    command("run", "check one answer", maybe)
    command("hint", "the next hint for a puzzle", maybe)
    command("reset", "put a puzzle's file back as it was shipped", one)
    command("solution", "print the solution of a puzzle that you have solved",
            maybe,
            (("--now",), {"action": "store_true",
                          "help": "even if you have not"}))
    command("debug", "open the debugger where an answer goes wrong", maybe)
    command("why", "say where a wrong element came from", maybe)
    command("view", "draw what each program loads and stores", maybe,
            (("--html",), {"metavar": "FILE", "dest": "html_file", "help":
                           "where to write the page"}))
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
    command("check", "check that every puzzle follows the rules",
            (("ids",), {"nargs": "*", "metavar": "id",
                        "help": "only these"}), among=d)
    command("new", "write the files of a new puzzle",
            (("name",), {"help": "such as b01_add_ten"}), among=d)
    return p


def run(argv: list[str]) -> int:
    """Runs a command line; returns the exit status."""
    args = parser().parse_args(argv)
    if importlib.util.find_spec("numpy") is None:
        print(f"tkdbg: puzzles need NumPy, which {sys.executable} lacks: "
              "install it (pip install numpy), or name another Python in "
              "TKDBG_PYTHON", file=sys.stderr)
        return 2
    try:
        what = args.command or ("html" if args.html else "watch")
        return getattr(commands.Commands(args), what)()
    except (manifest.KeyFault, apart.Failed, OSError) as e:
        if isinstance(e, BrokenPipeError):
            raise
        print(f"tkdbg: {e}", file=sys.stderr)
        return 2


def main() -> None:
    interrupt.program(run)


if __name__ == "__main__":
    main()
