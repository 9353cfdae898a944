"""``tkdbg prove --table FILE``: the proofs of a script or a test run as one
table, a page or JSON by the name of the file.

A kernel is proved once for each of its forms, when that is first launched.
The file is written anew after each proof, so that it is complete even if the
run ends early.
"""
from __future__ import annotations

import html
import json
import os
from typing import Any

from . import errors

VERDICTS = "proved", "counterexample", "depends on data", "undecided"
# Which of the verdicts of a kernel's questions is the kernel's.
_WORST = "counterexample", "undecided", "depends on data", "proved"

_STYLE = """
:root { color-scheme: light dark; --ink: #1d2129; --soft: #5d6675;
  --paper: #fff; --box: #f3f5f8; --line: #d5dae2;
  --bad: #d0312d; --none: #fff; --light: 68%; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e9ee;
  --soft: #9aa4b2; --paper: #15181d; --box: #1f242b; --line: #39414c;
  --good: #3a4557; --bad: #ff5d55; --none: #15181d; --light: 45%; } }
body { margin: 0 auto; max-width: 60rem; padding: 1rem;
  background: var(--paper); color: var(--ink);
  font: 16px/1.5 system-ui, sans-serif; }
h1 { font-size: 1.25rem; overflow-wrap: anywhere; }
h2 { font-size: 1rem; margin: 1.5rem 0 .5rem; }
.scroll { overflow-x: auto; background: var(--box);
  border: 1px solid var(--line); border-radius: 6px; padding: .5rem .75rem; }
p { margin: .375rem 0; }
table { border-collapse: collapse; }
p.caption { font-weight: 600; }
td, pre { font: 13px/1.6 ui-monospace, monospace; white-space: pre;
  margin: 0; }
td { padding: 0 1.25rem 0 0; }
td:first-child, td:last-child { color: var(--soft); }
td:first-child { text-align: right; padding-right: .75rem; }
td.counterexample { color: var(--bad); font-weight: 600; }
th { text-align: left; padding-right: 1.25rem; color: var(--soft); }
td:first-child, td:last-child { color: inherit; text-align: left; }
summary { cursor: pointer; }
details p { white-space: pre-wrap; }
"""


def verdict_of(proof: dict[str, Any]) -> str:
    """That of a kernel: a counterexample before what is undecided, before what
    depends on data."""
    found = {item["verdict"] for item in proof["items"]}
    return next((v for v in _WORST if v in found), "proved")


class Table:
    """The proofs so far."""

    def __init__(self, paths: list[str]) -> None:
        self._paths = [os.path.abspath(p) for p in paths]
        self._rows: dict[str, dict[str, Any]] = {}

    def begin(self) -> None:
        """Writes the files, still without a kernel; raises UsageError where
        that cannot be done."""
        try:
            self._write()
        except OSError as e:
            raise errors.UsageError(f"tkdbg: cannot write {e.filename}: "
                                    f"{e.strerror}") from None

    def add(self, text: str, seconds: float) -> None:
        """Takes the JSON of a launch's proofs, a line for each form, and how
        long they took."""
        proofs = [json.loads(line) for line in text.splitlines()]
        test = os.environ.get("PYTEST_CURRENT_TEST", "").rpartition(" ")[0]
        for proof in proofs:
            if "absent" not in proof:
                self._rows.setdefault(json.dumps(proof), dict(
                    proof, verdict=verdict_of(proof), test=test,
                    seconds=round(seconds / len(proofs), 4)))
        self._write()

    def refuse(self, kernel: str, why: str) -> None:
        """Takes a launch that nothing could be proved about."""
        row = {"kernel": kernel, "for": "", "items": [], "refused": why,
               "verdict": "undecided", "seconds": 0.0, "test": ""}
        self._rows.setdefault(kernel + "\n" + why, row)
        self._write()

    def counts(self) -> dict[str, int]:
        """How many kernels have each verdict."""
        return {v: sum(r["verdict"] == v for r in self._rows.values())
                for v in VERDICTS}

    def by_duty(self) -> dict[str, dict[str, int]]:
        """{question: {verdict: how many}}"""
        counted: dict[str, dict[str, int]] = {}
        for row in self._rows.values():
            for item in row["items"]:
                duty = counted.setdefault(item["duty"],
                                          dict.fromkeys(VERDICTS, 0))
                duty[item["verdict"]] += 1
        return counted

    def _write(self):
        for path in self._paths:
            text = (self.json() if path.endswith(".json") else self.page())
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)

    def json(self) -> str:
        """As an object: all kernels, and what is counted of them."""
        return json.dumps({"kernels": list(self._rows.values()),
                           "counts": self.counts(),
                           "by_duty": self.by_duty()}, indent=1) + "\n"

    def page(self) -> str:
        """As a document."""
        counts = self.counts()
        title = f"{len(self._rows)} kernels: " + ", ".join(
            f"{n} {v}" for v, n in counts.items() if n)
        duties = [[duty, *counted.values()]
                  for duty, counted in self.by_duty().items()]
        rows = "".join(_row(r) for r in self._rows.values())
        return (f'<!doctype html>\n<html lang="en">\n<meta charset="utf-8">\n'
                '<meta name="viewport" content="width=device-width">\n'
                f"<title>{title}</title>\n<style>{_STYLE}</style>\n"
                f"<h1>{title}</h1>\n<h2>Questions</h2>\n"
                + _table(["question", *VERDICTS], "".join(
                    _cells(row) for row in duties))
                + "\n<h2>Kernels</h2>\n"
                + _table(["kernel", "verdict", *VERDICTS, "seconds", "test"],
                         rows)
                + "\n</html>\n")


def _table(heads, rows):
    head = "".join(f"<th>{html.escape(h)}</th>" for h in heads)
    return f'<div class="scroll"><table><tr>{head}</tr>{rows}</table></div>'


def _cells(row):
    return "<tr>" + "".join(f"<td>{html.escape(str(c))}</td>"
                            for c in row) + "</tr>"


def _row(row):
    """A kernel, whose questions that are not proved can be unfolded."""
    verdicts = [i["verdict"] for i in row["items"]]
    numbers = "".join(f"<td>{verdicts.count(v)}</td>" for v in VERDICTS)
    name = row["kernel"] + (f", where {row['form']}" if "form" in row else "")
    if row["for"]:
        name += f"; for {row['for']}"
    lines = [_line(i) for i in row["items"] if i["verdict"] != "proved"]
    if "refused" in row:
        lines.append(row["refused"])
    shown = html.escape(name)
    if lines:
        texts = "".join(f"<p>{html.escape(line)}</p>" for line in lines)
        shown = f"<details><summary>{shown}</summary>{texts}</details>"
    verdict = row["verdict"]
    return (f'<tr><td>{shown}</td><td class="{verdict}">{verdict}</td>'
            f'{numbers}<td>{row["seconds"]:.2f}</td>'
            f'<td>{html.escape(row["test"])}</td></tr>')


def _line(item):
    place = f"{item['file']}:{item['line']}: " if "file" in item else ""
    why = item.get("finding") or item.get("reason") or ""
    see = ""
    if item.get("fails") == "always":
        see = "\n    fails for all sizes"
    elif "fails" in item:
        see = f"\n    fails where: {item['fails']}, and nowhere else"
    elif "holds" in item:
        see = f"\n    right where: {item['holds']}"
    if "command" in item and "file" in item:
        what = "run" if "finding" in item else "debug"
        see += (f"\n    see: tkdbg {what} --check {item['file']} "
                f"{item['command']}")
    return (f"{place}{item['subject']}: {item['duty']}: {item['verdict']}: "
            f"{why}{see}")
