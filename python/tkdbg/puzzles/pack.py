"""Packs: folders of puzzles, each a learner's file and its key.

    pack.json       {"title", "tracks": {"a": "Warm-up"}, "language", ...}
    NAME.py         what the learner edits; NAME begins with the puzzle's id
    key/NAME.py     its key (manifest.py)
"""
from __future__ import annotations

import ast
import functools
import json
import os
import re
import traceback
from collections.abc import Callable
from typing import Any

from .. import parsing
from . import manifest
from .manifest import KeyFault, Puzzle, Wrong

_NAME = re.compile(r"([a-z]\d\d[a-z]?)_[a-z0-9_]+\.py")


def built_in() -> str:
    """The folder of the puzzles that tkdbg brings."""
    here = os.path.dirname(os.path.abspath(__file__))
    tried = [os.path.join(here, "content"),
             os.path.join(here, "..", "..", "..", "puzzles")]
    for folder in map(os.path.normpath, tried):
        if os.path.exists(os.path.join(folder, "pack.json")):
            return folder
    raise KeyFault("tkdbg's own puzzles were not found; tried " +
                   ", ".join(tried))


def folder_of(word: str) -> str:
    """The folder of a pack: of one that tkdbg brings, by its name, or the
    word."""
    if re.fullmatch(r"[a-z]+", word) and not os.path.exists(word):
        named = os.path.join(built_in(), word)
        if os.path.exists(os.path.join(named, "pack.json")):
            return named
    return word


class Pack:
    """The puzzles of a folder, in the order of their ids."""

    def __init__(self, folder: str) -> None:
        folder = folder_of(folder)
        self.folder = os.path.abspath(folder)
        path = os.path.join(folder, "pack.json")
        try:
            with open(path, encoding="utf-8") as f:
                about = json.load(f)
        except OSError as e:
            raise KeyFault(f"{folder} is not a pack of puzzles: cannot read "
                           f"{path}: {e.strerror}") from None
        except ValueError as e:
            raise KeyFault(f"{path}: {e}") from None
        if not isinstance(about, dict) or "tracks" not in about:
            raise KeyFault(f'{path}: an object with "title" and "tracks" was '
                           "expected")
        self.title = about.get("title", os.path.basename(self.folder))
        self.tracks = about["tracks"]
        self.welcome = about.get("welcome", "")
        self.final = about.get("final", "")
        self.uses_tiles = self._language(path, about) == "cuda.tile"
        self.entries = [Entry(self, name) for name in
                        sorted(os.listdir(folder)) if _NAME.fullmatch(name)]

    def _language(self, path, about):
        """What kernels are written in."""
        language = about.get("language", "triton")
        if language not in ("triton", "cuda.tile"):
            raise KeyFault(f'{path}: "language" is "triton" or "cuda.tile", '
                           f"not {language!r}")
        return language

    def find(self, word: str) -> Entry:
        """The entry with this id, name or file; raises KeyFault."""
        name = os.path.basename(word)
        for entry in self.entries:
            if name in (entry.id, entry.name, entry.file):
                return entry
        raise KeyFault(f"there is no puzzle {word!r}; 'tkdbg puzzles list' "
                       "shows them all")


class Entry:
    """One puzzle of a pack; what is in its files is read when needed."""

    def __init__(self, pack: Pack, file: str) -> None:
        self.pack = pack
        self.file = file
        self.name = file[:-len(".py")]
        self.id = self.name.partition("_")[0]
        self.path = os.path.join(pack.folder, file)
        self.key_path = os.path.join(pack.folder, "key", file)

    @property
    def track(self) -> str:
        return self.id[0]

    @functools.cached_property
    def starter(self) -> str:
        """The text of the learner's file as it was shipped."""
        with open(self.path, encoding="utf-8") as f:
            return f.read()

    @functools.cached_property
    def task(self) -> str:
        """The text at the top of the learner's file."""
        return ast.get_docstring(parsing.tree(self.starter)) or ""

    @property
    def title(self) -> str:
        """Of the task's first line, "b01: Add ten"."""
        return self.task.partition("\n")[0].partition(":")[2].strip()

    @functools.cached_property
    def key(self) -> Puzzle:
        """Its manifest.Puzzle; raises KeyFault."""
        names = {"__name__": f"key_{self.name}", "__file__": self.key_path}
        try:
            with open(self.key_path, encoding="utf-8") as f:
                exec(parsing.code(f.read(), self.key_path), names)
        except OSError as e:
            raise KeyFault(f"cannot read {self.key_path}: "
                           f"{e.strerror}") from None
        except Exception as e:
            raise KeyFault(f"{place(e, self.key_path)}: "
                           f"{type(e).__name__}: {e}") from e
        puzzle = names.get("PUZZLE")
        if not isinstance(puzzle, manifest.Puzzle):
            raise KeyFault(f"{self.key_path} does not set PUZZLE")
        return puzzle

    @functools.cached_property
    def reference(self) -> Callable[..., Any]:
        """The function reference() of the learner's file as it was shipped:
        nobody can change it."""
        import numpy
        whole = parsing.tree(self.starter, self.path)
        tree = ast.Module(_plain_functions(whole), [])
        names = {"np": numpy}
        exec(compile(tree, self.path, "exec"), names)
        if "reference" not in names:
            raise KeyFault(f"{self.path} has no function reference()")
        return names["reference"]

    @property
    def reference_text(self) -> str:
        """The reference as learners read it."""
        return "\n\n\n".join(
            ast.get_source_segment(self.starter, f) or ""
            for f in _plain_functions(parsing.tree(self.starter)))

    @functools.cached_property
    def kernel(self) -> str:
        """The name of the kernel that a launch means if it names none: the
        last one of the file."""
        functions = [n.name for n in parsing.tree(self.starter).body
                     if isinstance(n, ast.FunctionDef) and n.decorator_list]
        if not functions:
            raise KeyFault(f"{self.path} has no kernel")
        return functions[-1]

    def solution(self, kernels: Any = None, verdict: Any = None) -> str:
        """The learner's file with the solution in it, or with other
        kernels."""
        key = self.key
        kernels = kernels or key.solution
        if isinstance(kernels, str):
            text = manifest.with_kernels(self.starter, kernels)
        else:
            text = manifest.edited(self.starter, kernels)
        if key.verdict is not None:
            text = self._with_verdict(text, verdict or self.right_verdict())
        return text

    def wrong_answer(self, wrong: Wrong) -> str:
        """The text of a manifest.Wrong."""
        verdict = wrong.verdict
        if verdict is not None:
            verdict = {**self.right_verdict(), **verdict}
        if wrong.kernel:
            return self.solution(wrong.kernel, verdict)
        return manifest.edited(self.solution(None, verdict), wrong.edits)

    def right_verdict(self) -> Any:
        """Of a detective case: what to write, {"kind": "race", ...}; the
        line is still a part of its text."""
        return {name: value[0] if isinstance(value, list) else value
                for name, value in (self.key.verdict or {}).items()}

    def line_of(self, fragment: Any) -> int | None:
        """The number of the line of the shipped file in which a fragment
        stands; raises KeyFault if that is not one line."""
        lines = [i for i, line in enumerate(self.starter.split("\n"), 1)
                 if fragment in line]
        if len(lines) != 1:
            raise KeyFault(f"{fragment!r} appears in {len(lines)} lines of "
                           f"{self.file}, not in one")
        return lines[0]

    def _with_verdict(self, text, verdict):
        if "line" in verdict:
            verdict = {**verdict, "line": self.line_of(verdict["line"])}
        words = " ".join(f"{k}={_word(v)}" for k, v in verdict.items())
        return re.sub(r"^# verdict:.*$", lambda _: f"# verdict: {words}",
                      text, count=1, flags=re.M)


def _plain_functions(tree):
    return [n for n in tree.body if isinstance(n, ast.FunctionDef)
            and not n.decorator_list]


def place(error: Any, path: Any) -> Any:
    """"FILE:LINE" of the innermost line of a file that an exception passed
    through, or the file alone."""
    lines = [f.lineno for f in traceback.extract_tb(error.__traceback__)
             if f.filename == path]
    if isinstance(error, SyntaxError) and error.filename == path:
        lines.append(error.lineno)
    return f"{path}:{lines[-1]}" if lines else path


def _word(value):
    """A value of a verdict as learners write it, without blanks."""
    if isinstance(value, (tuple, list)):
        return "(" + ",".join(map(str, value)) + ")"
    return str(value)
