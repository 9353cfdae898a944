"""Pages: a scene (look.scene) as one HTML file that needs nothing else."""
from __future__ import annotations

import html
import json
import os
import string
import textwrap
from typing import Any

from . import words

_HERE = os.path.dirname(os.path.abspath(__file__))


def _read(name):
    with open(os.path.join(_HERE, name), encoding="utf-8") as f:
        return f.read()


def _whole(title, body):
    return string.Template(_read("page.html")).substitute(
        title=html.escape(title), body=body)


def page(scene: dict[str, Any]) -> str:
    """The page of a puzzle."""
    state = ('<span class="good">solved</span>' if scene["ok"] else
             '<span class="bad">not yet solved</span>')
    body = f"""<header>
<h1>{html.escape(scene["id"])}: {html.escape(scene["title"])}</h1>
<p class="soft">{state}; drawn for {html.escape(scene["case"])}</p>
</header>
<div class="columns">
<div>
<section><h2>Task</h2>
{_task(scene["task"])}</section>
<section><h2>The same in NumPy</h2>
<pre>{html.escape(scene["reference"])}</pre></section>
<section><h2>The kernel</h2><pre>{_source(scene["source"])}</pre></section>
</div>
<div>{_pictures(scene)}</div>
</div>
<script type="application/json" id="scene">{_json(scene)}</script>
"""
    if scene["grids"]:
        body += f"<script>\n{_read('page.js')}</script>"
    return _whole(f"{scene['id']}: {scene['title']}", body)


def _task(text):
    """The text below a task's title: paragraphs flow, what is indented
    stays as it is."""
    parts = text.partition("\n")[2].strip("\n").split("\n\n")
    return "\n".join(
        f"<pre>{html.escape(textwrap.dedent(part))}</pre>"
        if part.startswith(" ") else f"<p>{html.escape(part)}</p>"
        for part in parts)


def _json(scene):
    """A scene as text that no script element ends in."""
    said = {k: scene[k] for k in ("grids", "tensors", "steps")}
    return json.dumps(said, separators=(",", ":")).replace("<", "\\u003c")


def _source(text):
    """The kernels of a file, a span for each line."""
    first = words.first_kernel(text)
    return "".join(
        f'<span class="line" data-line="{n}">{html.escape(line) or " "}'
        "</span>" for n, line in enumerate(text.rstrip().split("\n"), 1)
        if n >= first)


def _pictures(scene):
    if not scene["grids"]:
        return f"<section><p>{html.escape(scene['refused'])}</p></section>"
    grids = "".join(
        f'<p class="soft">grid {" by ".join(map(str, grid))}'
        f'{_of(g, scene["grids"])}</p>'
        f'<canvas id="grid{g}"></canvas>'
        for g, grid in enumerate(scene["grids"]))
    tensors = "".join(_tensor(t, tensor)
                      for t, tensor in enumerate(scene["tensors"]))
    hidden, why = "", ""
    if not scene["steps"]:
        hidden = " hidden"
        why = scene["refused"] or "No program loads or stores anything yet."
    return f"""<section><h2>Programs</h2>
<div class="bar"{hidden}><button id="play">Play</button>
<button id="back" aria-label="program before">&#8592;</button>
<button id="on" aria-label="next program">&#8594;</button>
<input type="range" id="where" min="0" value="0" aria-label="program"></div>
<p id="told" aria-live="polite">{html.escape(why)}</p>
{grids}</section>
<section><h2>What it loads and stores</h2>
<p class="legend">
<span><span class="key" style="background:var(--load)"></span>loaded now</span>
<span><span class="key" style="background:var(--store)"></span>stored now</span>
<span><span class="key" style="background:var(--done)"></span>touched before
</span>
<span><span class="key" style="border:2px solid var(--bad)"></span>first wrong
element</span></p>
{tensors}</section>"""


def _of(g, grids):
    return f" of launch {g + 1}" if len(grids) > 1 else ""


def _tensor(t, tensor):
    shape = " by ".join(map(str, tensor["shape"]))
    name = html.escape(tensor["name"])
    return (f'<div class="tensor"><p><b>{name}</b> <span class="soft">'
            f'{tensor["role"]}, {tensor["dtype"]}, {shape}</span></p>'
            f'<canvas id="tensor{t}" role="img" aria-label="elements of '
            f'{name} that are touched"></canvas></div>')


def index(pack: Any, rows: Any) -> Any:
    """The page that leads to those of all puzzles: rows are (entry, whether
    it is solved)."""
    parts, track = [], None
    for entry, ok in rows:
        if entry.track != track:
            parts.append("</ul></section>" if track else "")
            track = entry.track
            title = html.escape(pack.tracks.get(track, track))
            parts.append(f"<section><h2>{title}</h2><ul>")
        word = ('<span class="good">solved</span>' if ok else
                '<span class="soft">pending</span>')
        parts.append(f'<li><a href="{entry.id}.html">{entry.id}: '
                     f"{html.escape(entry.title)}</a> {word}</li>")
    solved = sum(ok for _, ok in rows)
    return _whole(pack.title, (
        f"<header><h1>{html.escape(pack.title)}</h1>"
        f'<p class="soft">{solved} of {len(rows)} solved</p></header>'
        + "".join(parts) + "</ul></section>"))
