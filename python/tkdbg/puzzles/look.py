"""A closer look at an answer: the debugger where it goes wrong, where a wrong
element came from, what each program loads and stores."""
from __future__ import annotations

import ctypes
import os
import signal
import sys
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import _capi
from . import checker, data, engine, page
from .running import Refused

if TYPE_CHECKING:
    from .answer import Answer, Submission
    from .checker import Case

HIDDEN = ("case", "verdict")  # kinds that say no more than they say


def spot(answer: Answer) -> dict[str, Any] | None:
    """The failure of an answer to look at: the first with a place, or
    None."""
    placed = [f for f in answer.failures if f.get("line")]
    return placed[0] if placed else None


def wrong_element(answer: Answer) -> dict[str, Any] | None:
    """The failure of an answer that is a wrong element, or None."""
    return next((f for f in answer.failures if "tensor" in f and
                 f["kind"] == "value"), None)


def case_of(submission: Submission, answer: Answer) -> Case:
    """The case that an answer failed in, or the first one."""
    listed = checker.cases(submission.entry)
    return listed[max(answer.number - 1, 0) if not answer.ok else 0]


# ---- why -----------------------------------------------------------------

def why(submission: Submission, answer: Answer, colour: bool) -> str:
    """Where a wrong element came from, or the whole report of what was
    found, as text."""
    if answer.ok:
        return "Nothing is wrong."
    if any(f["kind"] in HIDDEN for f in answer.failures):
        return ("Finding that out is the task. In the debugger (d) 'set check "
                "all' turns the\ndetectors on and 'catch finding' stops at "
                "what they find; the picture (v)\nhelps, too.")
    if any(f["kind"] == "limit" for f in answer.failures):
        return "The debugger (d) shows what it is doing all that time."
    wrong = wrong_element(answer)
    with engine.Engine(submission, colour) as e:
        trial = checker.Trial(e, case_of(submission, answer))
        if wrong is None:
            trial.failures()
            return e.report.rstrip("\n") or "There is nothing more to say."
        trial.run(trial.launches(), explain=wrong)
        return "".join(e.printed).rstrip("\n")


# ---- the debugger -----------------------------------------------------------

def breakpoints(answer: Answer) -> tuple[list[str], list[str]]:
    """Where the debugger stops: at what went wrong, in the program in which
    it did; and commands at the first stop, which pass the times before."""
    at = spot(answer)
    if at is None or any(f["kind"] in HIDDEN for f in answer.failures):
        return [], []
    program = at.get("program") or ()
    condition = " and ".join(f"pid_{i} == {p}"
                             for i, p in enumerate(program))
    before = at.get("before", 0)
    commands = ([f"ignore 1 {before - 1}"] * (before > 1) +
                ["continue"] * (before > 0))
    line = str(at["line"])
    return [f"{line} if {condition}" if condition else line], commands


def debug(submission: Submission, answer: Answer, colour: bool) -> None:
    """Runs the case that failed under the debugger, in a process of its own
    that has this terminal."""
    sys.stdout.flush()
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        pid = os.fork()
        if pid == 0:
            try:
                signal.signal(signal.SIGINT, signal.SIG_DFL)
                _debug(submission, answer, colour)
            except Refused as e:
                print(e)
            finally:
                sys.stdout.flush()
                os._exit(0)
        os.waitpid(pid, 0)
    finally:
        signal.signal(signal.SIGINT, before)


def _debug(submission, answer, colour):
    stops, commands = breakpoints(answer)
    options = _capi.ConsoleOptions(
        breakpoints=_strings(stops), nbreakpoints=len(stops),
        commands=_strings(commands), ncommands=len(commands), colour=colour,
        stop_at_start=not stops, no_init=True)
    case = case_of(submission, answer)
    with engine.Engine(submission, colour) as e:
        e.show()
        out = ctypes.c_void_p()
        trial = checker.Trial(e, case)
        launches = trial.launches()
        e.must(e.lib.tk_console_new(e.session, ctypes.byref(options),
                                    ctypes.byref(out)))
        print(f"{answer.id}, {case}; 'help' explains, 'quit' leads back",
              flush=True)
        trial.run(launches)
        print(e.report, end="")  # what is known only at the end


def _strings(items):
    return (ctypes.c_char_p * (len(items) + 1))(*(s.encode() for s in items))


# ---- pictures ---------------------------------------------------------------

ELEMENTS = 1 << 16  # in a picture, at most


def scene(submission: Submission, answer: Answer) -> dict[str, Any]:
    """What the programs of a case load and store: plain data for the
    picture in the terminal, and a page."""
    case, entry = case_of(submission, answer), submission.entry
    with engine.Engine(submission) as e, page.Recording(e) as recording:
        trial = checker.Trial(e, case)
        launches = trial.launches()
        refused = ""
        try:
            _, logs = trial.run(launches)
        except Refused as error:
            logs, refused = [], str(error)
        drawn = recording.html(
            puzzle=page.puzzle(entry, submission.text, case, answer.ok,
                               refused),
            why=page.wrong(entry, answer, launches, logs))
    buffers = checker.all_buffers(launches)
    names = list(buffers)
    return {"case": str(case), "refused": refused, "page": drawn,
            "grids": [list(n.grid) for n in launches],
            "tensors": [_tensor(n, buffers[n], answer) for n in names],
            "steps": [step for number, log in enumerate(logs)
                      for step in _steps(log, number, names)]}


def _tensor(name, buffer, answer):
    wrong = [f["index"] for f in answer.failures if f.get("tensor") == name]
    shape = buffer.array.shape or (1,)
    role = ("scratch" if isinstance(buffer, data.Scratch) else
            "output" if buffer.written else "input")
    return {"name": name, "dtype": buffer.dtype, "role": role,
            "shape": list(shape), "wrong": wrong[0] if wrong else None,
            "strides": [s // buffer.array.itemsize
                        for s in buffer.array.strides] or [1]}


def _steps(log, launch, names):
    """One step for each access: [launch, program, tensor, writes, line,
    lanes, runs], runs being [first, last, step] of elements."""
    left = ELEMENTS
    for row in log.rows:
        site = log.sites[int(row["site"])]
        elements = log.of(row)
        left -= len(elements)
        if left < 0 or site.tensor and site.tensor not in names:
            return
        yield {"launch": launch, "program": [int(p) for p in row["program"]],
               "tensor": names.index(site.tensor) if site.tensor else -1,
               "writes": site.writes, "line": site.line,
               "lanes": int(row["lanes"]), "active": len(elements),
               "runs": runs(elements)}


def runs(elements: Any) -> list[list[int]]:
    """Elements as [first, last, step] with equal steps between them."""
    found, i = [], 0
    elements = np.asarray(elements, np.int64)
    gaps = np.diff(elements)
    while i < len(elements):
        k = i
        while k < len(gaps) and gaps[k] == gaps[i]:
            k += 1
        if k == i or (k == i + 1 and gaps[i] != 1):
            k = i
        found.append([int(elements[i]), int(elements[k]),
                      int(gaps[i]) if k > i else 1])
        i = k + 1
    return found
