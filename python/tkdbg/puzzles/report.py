"""What is said of an answer: the first thing that is wrong and what to press
next, never more than a screenful."""
from __future__ import annotations

import os
import sys
import textwrap
import urllib.parse
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .answer import Answer

SHOWN = 3  # failures
# kinds of failures that are found without running anything
STATIC = "verdict", "forbidden", "required"
_COLOURS = {"bold": "1", "dim": "2", "red": "31", "green": "32",
            "yellow": "33", "cyan": "36"}


class Style:
    """How a terminal wants its text: coloured or not, or plain, which is
    for screen readers: words in place of signs and pictures."""

    def __init__(self, colour: bool = False, plain: bool = False,
                 width: int = 80, links: bool = False) -> None:
        self.colour, self.plain = colour and not plain, plain
        self.width, self.links = width, links and not plain

    def __call__(self, colour: str, text: str) -> str:
        if not self.colour:
            return text
        return f"\x1b[{_COLOURS[colour]}m{text}\x1b[0m"

    def link(self, text: str, path: str) -> str:
        """text, which a terminal opens the file for."""
        if not self.links:
            return text
        where = urllib.parse.quote(os.path.abspath(path))
        return f"\x1b]8;;file://{where}\x1b\\{text}\x1b]8;;\x1b\\"

    def wrap(self, text: str, indent: str = "",
             first: str | None = None) -> str:
        return "\n".join(textwrap.wrap(
            text, self.width, initial_indent=indent if first is None else
            first, subsequent_indent=indent, break_long_words=False,
            break_on_hyphens=False))


def style_for(stream: Any, color: str = "auto", plain: bool = False) -> Style:
    """The Style for a stream, as --color and --plain say."""
    terminal = stream.isatty()
    wants = {"always": True, "never": False}.get(
        color, terminal and "NO_COLOR" not in os.environ)
    width = 80
    if terminal:
        try:
            width = min(os.get_terminal_size(stream.fileno()).columns, 100)
        except OSError:
            pass
    return Style(wants, plain, max(width, 40), terminal and wants)


def answer(found: Answer, style: Style, path: str | None = None) -> str:
    """The text about an Answer."""
    path = path or found.file
    if found.ok:
        lines = [_headline(found, style, path, "green", "solved")]
    else:
        lines = [_headline(found, style, path, "red", "not yet")]
        if found.case and any(f["kind"] not in STATIC for f in found.failures):
            lines.append(style.wrap(
                f"case {found.number} of {found.cases}: {found.case}", "  "))
        shown: set[str] = set()
        for failure in found.failures[:SHOWN]:
            lines += _failure(failure, style, shown)
        more = len(found.failures) - SHOWN
        if more > 0:
            lines.append(f"  and {more} more, perhaps for the same reason")
    if found.printed:
        lines.append("  the kernel printed:")
        printed = found.printed.rstrip("\n").split("\n")
        lines += [f"    {line}" for line in printed[:12]]
        if len(printed) > 12:
            lines.append(f"    ... {len(printed) - 12} more lines")
    return "\n".join(lines)


def _headline(found, style, path, colour, word):
    sign = "" if style.plain else {"green": "ok ", "red": "x "}[colour]
    return (style(colour, f"{sign}{word}: ") +
            style("bold", style.link(found.file, path)))


def _failure(f, style, shown):
    """The lines about one failure; shown are the source lines that stand
    above."""
    if "tensor" in f:
        return _wrong_value(f, style, shown)
    where = f"line {f['line']}: " if f.get("line") else ""
    lines = [style.wrap(f"{f['kind']}: {where}{f['message']}", "    ", "  ")]
    lines += _source(f, style, shown)
    if f.get("help"):
        lines.append(style.wrap(f"help: {f['help']}", "      ", "    "))
    for note in f.get("notes", ()):
        if "line" in note and note["line"] != f.get("line"):
            lines.append(style.wrap(f"line {note['line']}: {note['text']}",
                                    "      ", "    "))
    return lines


def _wrong_value(f, style, shown):
    few = f"{f['wrong']} of {f['of']} elements are wrong"
    if f["kind"] == "unwritten":
        return [style.wrap(f"unwritten: no program writes {f['element']}, "
                           f"expected {f['want']}; {few}", "    ", "  ")]
    apart = f", {ulps(f['ulps'])}" if f["ulps"] else ""
    lines = [style.wrap(f"value: {f['element']} is {f['got']}, expected "
                        f"{f['want']}{apart}; {few}", "    ", "  ")]
    if "line" in f:
        program = ", ".join(map(str, f["program"]))
        lines.append(f"    written by program ({program}) at line "
                     f"{f['line']}")
        lines += _source(f, style, shown)
    return lines


def _source(f, style, shown):
    if not f.get("source") or f["line"] in shown:
        return []
    shown.add(f["line"])
    return [style("cyan", f"    {f['line']:4} | {f['source']}")]


def ulps(n: int) -> str:
    """A distance, in representable values between two."""
    if n < 1_000_000:
        return f"{n} ULP"
    return f"{n:.1e} ULP".replace("e+0", "e").replace("e+", "e")


def bar(done: int, total: int, style: Style) -> str:
    """How far the learner is."""
    if style.plain:
        return f"{done} of {total} solved"
    width = min(40, style.width - 20)
    filled = width * done // max(total, 1)
    return f"[{'#' * filled}{'.' * (width - filled)}] {done}/{total}"


def say(text: str, stream: Any = None) -> None:
    print(text, file=stream or sys.stdout, flush=True)
