"""A browser without a window, which pages tell something of themselves."""
from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import tempfile
from typing import Any

BROWSER = shutil.which("chromium") or shutil.which("chromium-browser") or (
    shutil.which("google-chrome"))
SECONDS = 120


def run(*words: str, width: int, height: int = 900, dark: bool = False,
        profile: str) -> subprocess.CompletedProcess[str]:
    """The browser, at a size, in a folder of its own."""
    assert BROWSER
    return subprocess.run(
        [BROWSER, "--headless=new", "--no-sandbox", "--disable-gpu",
         f"--user-data-dir={profile}", f"--window-size={width},{height}",
         f"--blink-settings=preferredColorScheme={0 if dark else 1}", *words],
        capture_output=True, text=True, timeout=SECONDS)


def told(html: str, width: int, dark: bool, address: str = "") -> Any:
    """What a page says of itself: its script sets the title to the word TOLD,
    a JSON object and the word END."""
    with tempfile.TemporaryDirectory() as made:
        path = os.path.join(made, "page.html")
        with open(path, "w", encoding="utf-8") as f:
            f.write(html)
        done = run("--dump-dom", f"file://{path}{address}", width=width,
                   dark=dark, profile=f"{made}/profile")
    found = re.search(r"TOLD(\{.*\})END", done.stdout)
    assert found, done.stdout[-2000:] + done.stderr[-2000:]
    text = found.group(1)
    for entity, sign in ("&lt;", "<"), ("&gt;", ">"), ("&amp;", "&"):
        text = text.replace(entity, sign)
    return json.loads(text)
