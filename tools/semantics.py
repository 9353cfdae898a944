"""Writes the tables of docs/semantics.md: what the language leaves open.

    python3 tools/semantics.py [--check]

They are made from include/tkdbg/semantics.def, and what versions changed from
src/typing/version.def.  --check changes nothing and
fails when the page differs.
"""
from __future__ import annotations

import re
import sys
import textwrap
from typing import NamedTuple

from page import between, options, publish, read

VERSIONS = '<!-- versions: make docs -->', '<!-- end of versions -->'
BEGIN, END = '<!-- semantics: make docs -->', '<!-- end of semantics -->'
STRING = r'"((?:[^"\\]|\\.)*)"'


class Found(NamedTuple):
    """A finding that shows an open point, and the case that has it."""
    check: str
    kind: str
    test: str


class Open(NamedTuple):
    """A row of the table."""
    id: str
    degree: str
    what: str
    says: str
    where: str
    does: str
    found: list[Found]
    shown: list[str]


def calls(text: str, macro: str) -> list[list[str]]:
    """The arguments of each row: words as they are, strings joined."""
    rows = []
    for row in re.findall(r'^%s\(((?:%s|[^")])*)\)$' % (
            macro, STRING.replace('(', '(?:', 1)), text, re.M):
        parts = re.findall(r'(\w+)|((?:%s\s*)+)' % STRING.replace(
            '(', '(?:', 1), row)
        rows.append([word or ''.join(re.findall(STRING, strings)).replace(
            '\\"', '"') for word, strings in parts])
    return rows


def table() -> str:
    return re.sub(r'/\*.*?\*/', '', read('include', 'tkdbg', 'semantics.def'),
                  flags=re.S)


def degrees() -> list[list[str]]:
    return calls(table(), 'DEGREE')


def legends() -> list[list[str]]:
    return calls(table(), 'LEGEND')


def points() -> list[Open]:
    text = table()
    made = {row[0]: Open(*row, [], []) for row in calls(text, 'OPEN')}
    for id, *rest in calls(text, 'FOUND'):
        made[id].found.append(Found(*rest))
    for id, test in calls(text, 'SHOWN'):
        made[id].shown.append(test)
    return list(made.values())


def names(path: str, macro: str, at: int) -> dict[str, str]:
    """{id of a row: its string number `at`} of a table."""
    return {row[0]: row[at] for row in calls(read(*path.split('/')), macro)}


def test_of(test: str) -> tuple[str, str]:
    name, _, case = test.partition(': ')
    return name, case


def cell(text: str) -> str:
    return text.replace('|', '\\|')


def found(point: Open, kinds: dict[str, str], checks: dict[str, str]) -> str:
    seen: dict[str, None] = {}
    for f in point.found:
        by = checks.get(f.check, 'always')
        kind = kinds[f.kind]
        seen[f'`{kind}`' if by == kind else f'`{kind}` ({by})'] = None
    return ', '.join(seen) or '–'


def page() -> str:
    kinds = names('include/tkdbg/diag.def', 'DIAG', 2)
    checks = names('interp/check/check.def', 'CHECK', 1)
    out = []
    for degree, title, text in degrees():
        out += ['', f'### {title}', '', *textwrap.wrap(text, 80), '',
                '| what | Triton | tkdbg | found as (by) | tests |',
                '|---|---|---|---|---|']
        for p in points():
            if p.degree != degree:
                continue
            tests = [f.test for f in p.found] + p.shown
            out.append('| ' + ' | '.join(map(cell, [
                p.what, f'{p.says} ({p.where})', p.does,
                found(p, kinds, checks), '; '.join(tests)])) + ' |')
    out += ['', '### Where Triton says so', '', '| name | text |', '|---|---|']
    out += [f'| {name} | {text} |' for name, text in legends()]
    return '\n'.join(out[1:])


def versions() -> str:
    """A table of what each version of Triton changed, the newest first."""
    text = re.sub(r'/\*.*?\*/', '', read('src', 'typing', 'version.def'),
                  flags=re.S)
    rows = [(int(since), f'before: {before}')
            for _, since, before in calls(text, 'CHANGE')]
    rows += [(int(since), f'removed: `{name}`; {instead}')
             for name, since, instead in calls(text, 'REMOVED')]
    news: dict[int, list[str]] = {}
    for name, since in calls(text, 'ADDED'):
        news.setdefault(int(since), []).append(f'`{name}`')
    rows += [(since, 'new: ' + ', '.join(names))
             for since, names in news.items()]
    rows.sort(key=lambda row: -row[0])
    out = ['| since | what changed |', '|---|---|']
    out += [f'| {since // 100}.{since % 100} | {cell(what)} |'
            for since, what in rows]
    return '\n'.join(out)


def main() -> int:
    text = read('docs', 'semantics.md')
    made = between(text, BEGIN, END, page())
    made = between(made, *VERSIONS, versions())
    return publish('semantics.md', made, options().check)


if __name__ == '__main__':
    sys.exit(main())
