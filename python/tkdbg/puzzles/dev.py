"""For authors: whether every puzzle of a pack keeps its promises, and the
files of a new one."""
from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Any

from . import checker, manifest, words
from . import pack as packs
from .answer import Submission
from .manifest import KeyFault

if TYPE_CHECKING:
    from .pack import Entry, Pack

SECONDS = 2.0  # no puzzle takes longer to check
HINTS, WRONG, SIZES, BLOCKS = 3, 3, 3, 2


def faults(entry: Entry) -> tuple[Any, ...]:
    """What is wrong with a puzzle, as lines; and how many wrong answers it
    rejects."""
    try:
        found = [*_faults_of_text(entry), *_faults_of_key(entry),
                 *_faults_of_hints(entry), *_faults_of_answers(entry)]
    except KeyFault as e:
        return [str(e)], 0
    except Exception as e:  # of the key's own code
        return [f"{packs.place(e, entry.key_path)}: {type(e).__name__}: {e}"
                ], 0
    return found, len(entry.key.wrong)


def _faults_of_text(entry):
    if "TODO" not in entry.starter:
        yield "the learner's file has no TODO"
    if not entry.task.startswith(f"{entry.id}: "):
        yield f'the first line is not """{entry.id}: TITLE'
    if entry.track not in entry.pack.tracks:
        yield f"pack.json has no track {entry.track!r}"
    if entry.key.verdict is not None:
        if not re.search(r"^# verdict: ", entry.starter, re.M):
            yield "the learner's file has no line '# verdict: kind=? ...'"
        elif words.read_verdict(entry.starter):
            yield "the learner's file has a verdict already"


def _faults_of_key(entry):
    key = entry.key
    if len(key.sizes) < SIZES:
        yield f"{len(key.sizes)} sizes: at least {SIZES} are needed"
    if not any(1 in size.values() for size in key.sizes):
        yield "no size is 1"
    if len(key.blocks) < BLOCKS:
        yield f"{len(key.blocks)} blocks: at least {BLOCKS} are needed"
    unknown = set(key.regimes) - set(manifest.REGIMES)
    if unknown or not key.regimes:
        yield f"regimes are some of {manifest.REGIMES}, not {key.regimes}"
    if len(key.wrong) < WRONG:
        yield f"{len(key.wrong)} wrong answers: at least {WRONG} are needed"


def _faults_of_hints(entry):
    key = entry.key
    if len(key.hints) != HINTS:
        yield f"{len(key.hints)} hints: {HINTS} are needed"
    given = {_squeezed(line) for line in entry.starter.split("\n")}
    answer = {_squeezed(line) for line in entry.solution().split("\n")}
    telling = [line for line in answer - given if len(line) > 12]
    for number, hint in enumerate(key.hints[:-1], 1):
        for line in telling:
            if line in _squeezed(hint):
                yield f"hint {number} gives away a line: {line}"


def _squeezed(line):
    return re.sub(r"\s", "", line)


def _answer(entry, text):
    return checker.check(Submission(entry, text, entry.file))


def _faults_of_answers(entry):
    if _answer(entry, entry.starter).ok:
        yield "the learner's file is right as it is shipped"
    for name, kernels in ("solution", None), ("other", entry.key.other):
        if name == "solution" or kernels:
            yield from _faults_of_right(entry, name, kernels)
    for wrong in entry.key.wrong:
        yield from _faults_of_wrong(entry, wrong)


def _faults_of_right(entry, name, kernels):
    answer = _answer(entry, entry.solution(kernels))
    for failure in answer.failures:
        yield (f"the {name} fails ({answer.case}): "
               f"{failure['kind']}: {failure.get('message', failure)}")
    if answer.seconds > SECONDS:
        yield f"the {name} takes {answer.seconds:.1f} s to check"


def _faults_of_wrong(entry, wrong):
    try:
        text = entry.wrong_answer(wrong)
    except KeyFault as e:
        yield f"wrong answer ({wrong.why}): {e}"
        return
    answer = _answer(entry, text)
    kinds = [f["kind"] for f in answer.failures]
    if answer.ok:
        yield f"this wrong answer is accepted: {wrong.why}"
    elif wrong.cause not in kinds:
        yield (f"wrong answer ({wrong.why}): named by "
               f"{', '.join(dict.fromkeys(kinds))}, not by {wrong.cause}")
    if answer.seconds > SECONDS:
        yield f"wrong answer ({wrong.why}): {answer.seconds:.1f} s to check"


def stray(pack: Pack) -> list[str]:
    """Files of a pack that belong to no puzzle, and puzzles without key."""
    files = {entry.file for entry in pack.entries}
    key = os.path.join(pack.folder, "key")
    keys = {f for f in os.listdir(key) if f.endswith(".py")} if (
        os.path.isdir(key)) else set()
    found = [f"key/{f}: there is no {f}" for f in sorted(keys - files)]
    found += [f"{f}: there is no key/{f}" for f in sorted(files - keys)]
    known = {"key", "pack.json", "README.md", "__pycache__"}
    return found + [f"{f} does not belong here: a puzzle's file has a name "
                    "like b01_add_ten.py" for f in
                    sorted(set(os.listdir(pack.folder)) - files - known)
                    if not _is_pack(os.path.join(pack.folder, f))]


def _is_pack(folder):
    return os.path.exists(os.path.join(folder, "pack.json"))


# ---- a new puzzle -----------------------------------------------------------

_FILE = '''"""{id}: TITLE

What to do, for somebody who has done the puzzles before this one.

    z[i] = x[i] + 1                          for 0 <= i < N

    x_ptr   float32, N elements              given
    z_ptr   float32, N elements              to be written
    grid    ceil(N / B) programs

About 5 lines.
"""
import triton
import triton.language as tl


def reference(x):
    return x + 1


@triton.jit
def {kernel}(x_ptr, z_ptr, N, B: tl.constexpr):
    # TODO: what comes first?
    pass
'''

_KEY = """from tkdbg.puzzles.manifest import Puzzle, Wrong, cdiv


def launch(make, N, B):
    return make.launch((cdiv(N, B),), N=N, B=B, x_ptr=make.floats(N),
                       z_ptr=make.output(N))


PUZZLE = Puzzle(
    launch=launch,
    sizes=[dict(N=100), dict(N=1), dict(N=1000)],
    blocks=[dict(B=32), dict(B=64)],
    lines=5,
    hints=["A nudge.", "The concept.", "Nearly the line itself."],
    solution='''
@triton.jit
def {kernel}(x_ptr, z_ptr, N, B: tl.constexpr):
    offs = tl.program_id(0) * B + tl.arange(0, B)
    x = tl.load(x_ptr + offs, mask=offs < N)
    tl.store(z_ptr + offs, x + 1, mask=offs < N)
''',
    wrong=[
        Wrong("value", "it adds 2", [("x + 1", "x + 2")]),
        Wrong("out-of-bounds", "the load is not masked",
              [("x_ptr + offs, mask=offs < N", "x_ptr + offs")]),
        Wrong("unwritten", "the last element is left out",
              [("x + 1, mask=offs < N", "x + 1, mask=offs < N - 1")]),
    ],
)
"""


def new(folder: str, name: str) -> list[str]:
    """Writes the files of a new puzzle; returns their paths."""
    if not re.fullmatch(r"[a-z]\d\d[a-z]?_[a-z0-9_]+", name):
        raise KeyFault(f"{name!r} is not a puzzle's name, which begins with "
                       "its id, as b01_add_ten does")
    words_ = {"id": name.partition("_")[0], "kernel": name.partition("_")[2]}
    paths = [os.path.join(folder, f"{name}.py"),
             os.path.join(folder, "key", f"{name}.py")]
    os.makedirs(os.path.dirname(paths[1]), exist_ok=True)
    for path, text in zip(paths, (_FILE, _KEY)):
        if os.path.exists(path):
            raise KeyFault(f"{path} exists already")
        with open(path, "w", encoding="utf-8") as f:
            f.write(text.replace("{id}", words_["id"])
                    .replace("{kernel}", words_["kernel"]))
    return paths
