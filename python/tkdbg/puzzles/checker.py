"""The checker: whether an answer is right, and what is first wrong with it.

An answer runs on every size of its key, in each regime, on every block
configuration, under all detectors and in strict language; then in other
orders of the programs.  It is right if nothing was found, if every
element of its outputs was written as often as the puzzle says and is what
the reference gives in float64, and if its inputs are as they were.
"""
from __future__ import annotations

import inspect
import itertools
import time
import zlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from typing import TYPE_CHECKING, Any

from . import cost, data, engine, words
from .answer import Answer, Submission
from .manifest import KeyFault, Puzzle
from .running import Refused

if TYPE_CHECKING:
    from .accesses import Accesses
    from .data import Launch, Output
    from .engine import Engine
    from .pack import Entry

PRINTED = 4000  # characters that are kept of what a kernel prints
ORDERS = "reverse", "shuffle:1", "shuffle:2", "turns"
# the detectors for each schedule: programs that take turns after each atomic
# operation show conflicts that programs which run one by one do not
DETECTORS = {"serial": "all", "turns": "race,deadlock"}


@dataclass
class Case:
    """One way to call the kernel."""
    size: dict
    block: dict
    regime: str
    seed: list
    order: str = "serial"

    def __str__(self) -> str:
        numbers = {**self.size, **self.block}
        text = ", ".join(f"{k}={v}" for k, v in numbers.items())
        text += f", {self.regime} values"
        if self.order == "turns":
            return f"{text}, programs taking turns"
        return text if self.order == "serial" else (
            f"{text}, programs in the order {self.order}")

    def options(self) -> dict[str, str]:
        """How programs run, as tk_run_options says it."""
        return ({"schedule": "yield"} if self.order == "turns" else
                {"order": self.order})


def cases(entry: Entry) -> list[Case]:
    """Every case of a puzzle."""
    key, seed = entry.key, zlib.crc32(entry.id.encode())
    found = [Case(size, block, regime, [seed, i]) for i, (regime, block, size)
             in enumerate(itertools.product(key.regimes, key.blocks,
                                            key.sizes))]
    for i, order in enumerate(ORDERS):
        found.append(Case(key.sizes[0], key.blocks[i % len(key.blocks)],
                          key.regimes[0], [seed, i, 1], order))
    return found


def scored(case: Case, key: Puzzle) -> bool:
    """Whether a case is the one whose cost is the score."""
    return (case.order == "serial" and case.size is key.sizes[-1] and
            case.block is key.blocks[0] and case.regime == key.regimes[0])


def check(submission: Submission) -> Answer:
    """The Answer for a Submission."""
    began = time.monotonic()
    entry, text = submission.entry, submission.text
    answer = Answer(entry.id, submission.name)
    answer.failures = words.failures(text, entry.key)
    if not answer.failures:
        with engine.Engine(submission) as e:
            _check_runs(e, submission, answer)
    if entry.key.verdict is not None:
        _judge(submission, answer)
    _show_sources(answer.failures, text)
    answer.seconds = time.monotonic() - began
    return answer


def _judge(submission, answer):
    """Adds what is wrong with a verdict.  As long as something is, nothing is
    said of what the detectors found: to find it is the task."""
    found = words.verdict_failures(submission.text, submission.entry)
    if found and answer.failures:
        answer.failures = [{"kind": "case", "message":
                            "the kernel is still wrong here; tkdbg says how "
                            "once the verdict is right"}]
    answer.failures += found


def _check_runs(e, submission, answer):
    key, listed = submission.entry.key, cases(submission.entry)
    answer.cases = len(listed)
    for answer.number, case in enumerate(listed, 1):
        answer.case, answer.order = str(case), case.order
        trial = Trial(e, case)
        answer.failures = trial.failures()
        if answer.number == 1 or answer.failures:
            answer.printed = "".join(e.printed)[:PRINTED]
        e.printed.clear()
        if answer.failures:
            return
        if scored(case, key):
            answer.score = cost.score(trial.made, trial.logs,
                                      submission.text)
    answer.case, answer.number, answer.order = "", 0, "serial"


def _show_sources(failures, text):
    lines = text.split("\n")
    for f in failures:
        if 0 < f.get("line", 0) <= len(lines):
            f["source"] = lines[f["line"] - 1].strip()


class Trial:
    """An answer in one case."""

    def __init__(self, e: Engine, case: Case) -> None:
        self.engine, self.case = e, case
        self.entry = e.submission.entry

    def launches(self) -> Any:
        """The launches of the case, with new data, which are always the
        same."""
        make = data.Make(self.case.seed, self.case.regime)
        made = self.entry.key.launch(make, **self.case.size,
                                     **self.case.block)
        return made if isinstance(made, (list, tuple)) else [made]

    def run(self, launches: list[Launch], detectors: str | None = None,
            explain: dict[str, Any] | None = None) -> tuple[Any, ...]:
        """Runs launches; returns their findings, and the accesses of each.

        explain: a failure whose element is explained, to the engine's
        output."""
        findings, logs = [], []
        self.engine.check(detectors)
        for launch in launches:
            running = self.engine.launch(launch)
            try:
                asked = (explain["element"] if explain is not None and
                         explain["tensor"] in launch.arguments else None)
                found, log = running.run(**self.case.options(), explain=asked)
            finally:
                running.free()
            findings += found
            logs.append(log)
            if any(f["severity"] == "error" for f in found):
                break
        return findings, logs

    def failures(self) -> list[dict[str, Any]]:
        """What is wrong in this case, the cause before its effects."""
        try:
            self.made = launches = self.launches()
            findings, logs = self.run(launches,
                                      DETECTORS.get(self.case.order))
            self.logs = logs
        except Refused as e:
            return e.findings
        allowed = self.entry.key.allow
        found = [f for f in findings if f["severity"] in engine.FAULTS
                 and f["kind"] not in allowed]
        if any(f["kind"] in engine.FATAL for f in found):
            return found
        wrong = mismatches(self.entry, launches, logs)
        if any(w["kind"] == "unwritten" for w in wrong):  # it says more
            found = [f for f in found if f["kind"] != "unwritten"]
        return (found + changed_inputs(launches) +
                rewritten(launches, logs, found) + wrong)


# ---- values -----------------------------------------------------------------

def all_buffers(launches: list[Launch]) -> dict[str, Any]:
    """{parameter: Buffer} of all launches."""
    found: dict[str, data.Buffer] = {}
    for launch in launches:
        for name, buffer in launch.buffers().items():
            found.setdefault(name, buffer)
    return found


def expected(entry: Entry,
             launches: list[Launch]) -> list[tuple[str, Any, Any]]:
    """(parameter, Output, values that it should have) of each output."""
    known: dict[str, Any] = {}
    for launch in launches:
        for name, value in launch.arguments.items():
            if isinstance(value, data.Buffer):
                value = value.values_before()
                name = name[:-4] if name.endswith("_ptr") else name
            known.setdefault(name, value)
    reference = entry.reference
    asked = inspect.signature(reference).parameters
    with np.errstate(all="ignore"):
        want = reference(**{k: known[k] for k in asked})
    outputs = [(n, b) for n, b in all_buffers(launches).items()
               if isinstance(b, data.Output)
               and not isinstance(b, data.Scratch)]
    if not isinstance(want, tuple):
        want = want,
    if len(want) != len(outputs):
        raise KeyFault(f"{entry.file}: reference() gives {len(want)} arrays, "
                       f"and the launch has {len(outputs)} outputs")
    return [(n, b, np.broadcast_to(w, b.array.shape))
            for (n, b), w in zip(outputs, want)]


def changed_inputs(launches: list[Launch]) -> list[dict[str, Any]]:
    found = []
    for name, buffer in all_buffers(launches).items():
        if not buffer.written and (buffer.array.tobytes() !=
                                   buffer.before.tobytes()):
            found.append({"kind": "input", "message":
                          f"{name} is an input, and has been changed"})
    return found


def rewritten(launches: list[Launch], logs: list[Accesses],
              found: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Elements of outputs that are written more than once, unless a detector
    has said it."""
    said = {f["kind"] for f in found} & {"race", "twice", "lint-dead-store"}
    failures = []
    for name, output in all_buffers(launches).items():
        if not isinstance(output, data.Output) or not output.once or said:
            continue
        times = sum(log.counts(name, output.array.size) for log in logs)
        if np.max(times, initial=0) > 1 and all(log.known for log in logs):
            at = int(np.argmax(times > 1))
            failures.append({
                "kind": "rewritten", **writer(name, at, logs), "message":
                f"{element(name, index_of(at, output))} is written "
                f"{times[at]} times; each element must be written once"})
    return failures


def mismatches(entry: Entry, launches: list[Launch],
               logs: list[Accesses]) -> list[dict[str, Any]]:
    """The first wrong element of each output, and who wrote it."""
    found = []
    for name, output, want in expected(entry, launches):
        wrong = mismatch(name, output, want)
        if wrong:
            at = int(np.ravel_multi_index(tuple(wrong["index"]) or (0,),
                                          output.array.shape or (1,)))
            wrote = writer(name, at, logs)
            kind = "value" if wrote else "unwritten"
            found.append({**wrong, **wrote, "kind": kind})
    return found


def writer(name: str, at: int, logs: list[Accesses]) -> dict[str, Any]:
    """The last write of an element (accesses.Accesses.last), or {}."""
    writes = (log.last(name, at) for log in reversed(logs))
    return next(filter(None, writes), {})


def index_of(at: int, output: Output) -> list[int]:
    """The index of an element by its place in memory."""
    return [int(i) for i in np.unravel_index(at, output.array.shape)]


def element(name: str, index: Sequence[int]) -> str:
    """An element as messages call it: "z_ptr[0, 1]"."""
    return f"{name}[{', '.join(map(str, index))}]" if index else name


def close(got: Any, want: Any, output: Output) -> Any:
    """Where the values of an output are near enough to the expected ones."""
    if not data.is_float(output.dtype):
        return got == want
    work = data.epsilon(output.work) * 8 * np.sqrt(output.terms)
    relative = 2 * data.epsilon(output.dtype) + work
    finite = np.abs(want[np.isfinite(want)])
    scale = output.scale
    if scale is None:
        scale = finite.max() if finite.size else 0
    with np.errstate(all="ignore"):
        near = np.abs(got - want) <= relative * np.abs(want) + work * scale
    same = (got == want) | (np.isnan(got) & np.isnan(want))
    return same | (near & np.isfinite(want) & np.isfinite(got))


def mismatch(name: str, output: Output, want: Any) -> dict[str, Any] | None:
    """The first element that is not as expected, as a failure, or
    None."""
    got = output.values()
    want = np.asarray(want, got.dtype)
    if data.is_float(output.dtype):
        want = np.where(np.isfinite(want),
                        data.decode(data.encode(want, output.dtype),
                                    output.dtype), want)
    bad = ~close(got, want, output)
    if not bad.any():
        return None
    index = tuple(int(i) for i in np.argwhere(bad)[0])
    stored = (data.encode(want[index], output.dtype)
              if data.is_float(output.dtype)
              else np.asarray(want[index], output.array.dtype))
    return {"tensor": name, "index": list(index),
            "element": element(name, index),
            "got": number(got[index]), "want": number(want[index]),
            "ulps": data.ulps(output.array[index], stored[()], output.dtype),
            "wrong": int(bad.sum()), "of": int(bad.size)}


def number(x: Any) -> str:
    """A value as messages show it."""
    return f"{x:.7g}" if isinstance(x, (float, np.floating)) else str(x)
