"""The folder of a search: how far it has come, and each cause that it found.

    fuzz.json          the search: its settings, the next seed, counts, causes
    001-binary-add/    a cause: kernel.py, launch.safetensors, report.txt
"""
from __future__ import annotations

import json
import os
import re
import shutil
from typing import Any

STATE = "fuzz.json"


class OtherSearch(Exception):
    """The folder is one of a search with other settings, or of none."""


class Corpus:
    """Of one search; what it holds is on disk whenever a method returns."""

    def __init__(self, path: str) -> None:
        self.path = path
        self._state: dict[str, Any] = {}

    def open(self, settings: dict[str, Any], seed: int | None) -> bool:
        """Begins a search, or goes on with the one that is there, which must
        have the same settings; whether it goes on.  seed: the first one, None:
        0, or that of the search.  Raises OtherSearch and OSError."""
        os.makedirs(self.path, exist_ok=True)
        name = os.path.join(self.path, STATE)
        if not os.path.exists(name):
            self._state = {"settings": dict(settings, seed=seed or 0),
                           "next": seed or 0, "counts": {}, "causes": {}}
            self.save()
            return False
        try:
            with open(name, encoding="utf-8") as f:
                self._state = json.load(f)
            was = self._state["settings"]
        except (ValueError, KeyError, TypeError):
            raise OtherSearch(f"{name} is not the state of a search; name "
                              "another folder") from None
        wanted = {"script": None, **settings,
                  "seed": was["seed"] if seed is None else seed}
        for key, value in wanted.items():
            if was.get(key) != value:
                what = ("other features" if key == "features" else
                        f"the launches of {was.get(key)}" if key == "script"
                        and was.get(key) else
                        "random kernels" if key == "script" else
                        f"{key} {was.get(key)}, not {value}")
                raise OtherSearch(
                    f"{self.path} holds a search with {what}; name "
                    "another folder (--corpus), or leave the option out to go "
                    "on with that search")
        return True

    def save(self) -> None:
        name = os.path.join(self.path, STATE)
        with open(name + ".part", "w", encoding="utf-8") as f:
            json.dump(self._state, f, indent=1)
            f.write("\n")
        os.replace(name + ".part", name)

    @property
    def next(self) -> int:
        """The first seed that is not done."""
        return self._state["next"]

    @property
    def counts(self) -> dict[str, int]:
        """How many kernels came to what, by kind; "same" is one."""
        return self._state["counts"]

    @property
    def causes(self) -> dict[str, dict[str, Any]]:
        return self._state["causes"]

    def cause_of(self, kind: str, words: str) -> str | None:
        """A cause that such a kernel is known to have, before it is made
        small."""
        for cause, entry in self.causes.items():
            if words and entry["kind"] == kind and entry["words"] == words:
                return cause
        return None

    def count(self, kind: str) -> None:
        """Something that has no seed came to that."""
        self.counts[kind] = self.counts.get(kind, 0) + 1
        self.save()

    def done(self, seed: int, kind: str, cause: str | None = None) -> None:
        """A seed came to that."""
        self._state["next"] = seed + 1
        if cause is not None:
            self.causes[cause]["seeds"].append(seed)
        self.count(kind)

    def take(self, cause: str, kind: str, words: str, lines: int,
             folder: str) -> str:
        """Keeps a folder of what was written of a cause, if that is new, or
        smaller than what is known; its name here, "": it is not kept."""
        known = self.causes.get(cause)
        if known is not None and known["lines"] <= lines:
            return ""
        name = known["folder"] if known else (
            f"{len(self.causes) + 1:03}-" + re.sub(
                r"[^a-z0-9]+", "-", cause.lower()).strip("-")[:48].strip("-"))
        path = os.path.join(self.path, name)
        shutil.rmtree(path, ignore_errors=True)
        shutil.move(folder, path)
        self.causes[cause] = {
            "folder": name, "kind": kind, "words": words, "lines": lines,
            "seeds": known["seeds"] if known else []}
        return name
