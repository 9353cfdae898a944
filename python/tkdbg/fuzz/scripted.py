"""A script's launches for a search, and what is wrong in the script itself."""
from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import zlib
from collections.abc import Callable

from ..othertries import LIST
from . import ways
from .corpus import Corpus
from .makers import Launches

FOLDER = "launches"  # of a corpus


class Cannot(Exception):
    """Why a script has no launches to try."""


def key(script: list[str]) -> str:
    """What a search is known by; script: its file and arguments."""
    with open(script[0], "rb") as f:
        text = f.read()
    return f"{' '.join(script)} ({zlib.crc32(text):08x})"


def launches(script: list[str], corpus: Corpus,
             say: Callable[[str], None]) -> Launches:
    """Those of a search, made when it begins; raises Cannot and OSError."""
    folder = os.path.join(corpus.path, FOLDER)
    if not os.path.exists(os.path.join(folder, LIST)):
        _make(script, folder)
        made = Launches(folder)
        for fault in made.faults:
            _take(script, corpus, fault, say)
        for kernel in made.large:
            say(f"{kernel}: launches of more than 64 MiB are not compared")
        return made
    return Launches(folder)


def _make(script, folder):
    """Runs the script, and again in other ways."""
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    package = os.path.dirname(os.path.dirname(os.path.dirname(
        os.path.abspath(__file__))))
    path = os.pathsep.join(filter(None, [package,
                                         os.environ.get("PYTHONPATH")]))
    options = {"tries": os.path.abspath(folder), "quiet": True}
    done = subprocess.run(
        [sys.executable, "-m", "tkdbg", "run", *script], check=False,
        stdout=subprocess.DEVNULL, env=dict(
            os.environ, PYTHONPATH=path, TKDBG_OPTIONS=json.dumps(options)))
    if not os.path.exists(os.path.join(folder, LIST)):
        raise Cannot(f"{script[0]} has given no launches to try (its status "
                     f"is {done.returncode})")


def _take(script, corpus, fault, say):
    """Keeps what the script shows to be wrong by itself."""
    first = fault["says"][0]
    corpus.count("script")
    folder = tempfile.mkdtemp(prefix="part-", dir=corpus.path)
    with open(os.path.join(folder, "report.txt"), "w", encoding="utf-8") as f:
        f.write(f"{script[0]}, with another number or array, "
                f"{ways.KINDS['script'][1]}\n{fault['what']}\n\n" +
                "\n".join(fault["says"]) + "\n")
    shutil.copyfile(script[0], os.path.join(folder, "script.py"))
    cause = f"script: {fault['cause']}"
    name = corpus.take(cause, "script", "", 1, folder)
    shutil.rmtree(folder, ignore_errors=True)
    if name:
        say(f"{fault['what']}: {first}\n  cause: {cause}\n  "
            f"{os.path.join(corpus.path, name)}")
