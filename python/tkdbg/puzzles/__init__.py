"""Puzzles that teach Triton's language: ``tkdbg puzzles``, and in a notebook

    import tkdbg.puzzles
    tkdbg.puzzles.check(kernel, "b03")

The modules stand in layers; a module uses those below it.

front    __main__  the command line
         commands  ... what each command does
         watch     ... checking whenever a file is saved
         notebook  the same answers in a notebook
looks    look      debugger, explanation and picture of an answer
         page      pages, which tkdbg view draws
         dev       whether a pack keeps its promises
checker  checker   runs an answer in all its cases and compares
         cost      what a right answer costs
         words     what is said by the text alone: forbidden words, verdicts
         engine    launches, by the C API; accesses are its log
         data      arguments, by regime
         apart     processes with limits
text     report, score, drawing, junit
ground   folder    a learner's files and progress
         pack      a folder of puzzles; manifest is what a key is made of
         answer    what became of a submission
         changes, terminal
"""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .puzzles.notebook import Result, Text

__all__ = ["check", "task", "hint"]


def check(kernel: Any, id_: str, pack: Any = None) -> Result:
    """Whether a kernel solves a puzzle: the answer, which a notebook shows
    with a picture; bool(answer) says it in a word.

    kernel: a @triton.jit function.  pack: the folder of a pack that is not
    tkdbg's own."""
    from . import notebook
    return notebook.check(kernel, id_, pack)


def task(id_: str, pack: Any = None) -> Text:
    """The text of a puzzle, with its reference in NumPy."""
    from . import notebook
    return notebook.Text(notebook.find(id_, pack).starter)


def hint(id_: str, number: int = 1, pack: Any = None) -> Text:
    """One of a puzzle's three hints."""
    from . import notebook
    return notebook.Text(notebook.find(id_, pack).key.hints[number - 1])
