"""``tkdbg bisect FILE``: the first pass of Triton's compiler after
which a launch leaves something else in memory than the kernel's text means.

The installed Triton compiles the launch and tells of its IR before each of its
passes (MLIR_ENABLE_DUMP).  Each text that a pass has changed is run by the
interpreter, from the front end's own TTIR on, and must leave the bits that the
source leaves; at the end the PTX is run, as by `tkdbg diff --backend
triton-ptx`.  A text that is not read is named, and what lies between two that
are read is not told apart.  Nor is what a layout does to values: it has none in
the interpreter.

Exit status: 0 if no stage differs, 1 if one does or Triton's compiler fails, 2
if there is nothing to run.
"""
from __future__ import annotations

import ctypes
import difflib
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from typing import Any, NamedTuple

from . import _capi, interrupt
from .standalone import Finding, checked, memory_after
from .triton_replay import LaunchFile

HEADER = re.compile(r"^// -----// IR Dump Before (\w+):? .*$", re.M)
ANY_HEADER = re.compile(r"^// -----// ", re.M)
LLVM_PASS = re.compile(r"^BISECT: running pass \((\d+)\) (.+?) on ", re.M)
ALL_PASSES = 1 << 20  # more than LLVM has: each that runs is named
AROUND, MOST_LINES = 2, 40
LIMIT = 300  # seconds for a compilation, or a run of the PTX


class Cannot(Exception):
    """Why there is nothing to bisect."""


class Stage(NamedTuple):
    """The IR before a pass runs; text: '' where nothing was printed."""
    next: str
    text: str


class Verdict(NamedTuple):
    """What came of running a text: 'same', 'differs' or 'not read'; and why."""
    word: str
    why: str = ""


# ---- what Triton makes ------------------------------------------------------


def stages_of(dump: str) -> list[Stage]:
    """The texts of a dump, each with the pass that comes next."""
    found = []
    for head in HEADER.finditer(dump):
        end = ANY_HEADER.search(dump, head.end())
        text = dump[head.end():end.start() if end else len(dump)]
        found.append(Stage(head[1], text.strip() + "\n"))
    return found


def outside(**more: str) -> dict[str, str]:
    """The environment of a Python in which Triton is itself."""
    made = {name: text for name, text in os.environ.items()
            if name not in ("TKDBG", "TKDBG_OPTIONS")}
    return {**made, **more}


def compilation(path: str, arch: str, folder: str,
                **more: str) -> subprocess.CompletedProcess[str]:
    """Has Triton compile the launch anew, and say what `more` asks for."""
    copy = os.path.join(folder, "compiled")
    shutil.copyfile(path, copy)
    script = os.path.join(os.path.dirname(os.path.abspath(__file__)),
                          "triton_replay.py")
    return subprocess.run(
        [sys.executable, script, copy, "--ptx", arch], capture_output=True,
        text=True, errors="replace", timeout=LIMIT, check=False,
        env=outside(**{"TRITON_ALWAYS_COMPILE": "1",
                       "TRITON_CACHE_DIR": os.path.join(folder, "cache"),
                       **more}))


def compiled(path: str, arch: str, folder: str) -> tuple[list[Stage], str]:
    """(the stages, why Triton did not compile it or '')."""
    if importlib.util.find_spec("triton") is None:
        raise Cannot(f"Triton is not installed for {sys.executable}; --python "
                     "names one that has it")
    done = compilation(path, arch, folder, MLIR_ENABLE_DUMP="1")
    said = done.stdout.rsplit("\x1e", 1)
    why = "" if not done.returncode else (
        said[1].strip() if len(said) > 1 else
        f"its process ended with status {done.returncode}")
    stages = stages_of(done.stderr)
    if not stages and not why:
        raise Cannot("this Triton does not tell of its passes "
                     "(MLIR_ENABLE_DUMP)")
    return stages, why


def llvm_options(limit: int) -> dict[str, str]:
    """What leaves out all of LLVM's passes but so many (llvmoptions.py).  Those
    of its optimiser ask whether they may run only where Triton has LLVM print
    its IR."""
    return {"TKDBG_LLVM_OPTIONS": f"-opt-bisect-limit={limit}",
            "LLVM_IR_ENABLE_DUMP": "1",
            "TRITON_ALWAYS_COMPILE": "1"}


def llvm_passes(path: str, arch: str, folder: str) -> list[str]:
    """LLVM's passes, in the order in which they run; [] where LLVM's options
    cannot be set."""
    said = compilation(path, arch, folder,
                       **llvm_options(ALL_PASSES)).stderr
    found = LLVM_PASS.findall(said)
    numbers = [int(number) for number, _ in found]
    return [name for _, name in found] \
        if numbers == list(range(1, len(found) + 1)) else []


# ---- running ---------------------------------------------------------------


def run_form(lib: Any, path: str, text: str, left: str) -> None:
    """Writes the launch file as it is when that text has run."""
    session = lib.tk_session_new()
    form, launch, data = ctypes.c_void_p(), ctypes.c_void_p(), text.encode()
    try:
        checked(lib, session, lib.tk_launch_replay(
            session, os.fsencode(path), ctypes.byref(launch)))
        checked(lib, session, lib.tk_ir_open(
            session, b"stage.mlir", data, len(data), ctypes.byref(form)))
        checked(lib, session, lib.tk_launch_take_form(launch, form))
        checked(lib, session, lib.tk_launch_run(launch, ctypes.byref(
            _capi.RunOptions(dot=b"exact", engine=b"interp")), None))
        checked(lib, session, lib.tk_launch_record(launch, os.fsencode(left)))
    finally:
        lib.tk_session_free(session)


def judged(path: str, text: str, want: dict[str, bytes],
           folder: str) -> Verdict:
    """What a text leaves, beside what the source leaves."""
    left = os.path.join(folder, "left.safetensors")
    if "allow_reorder" in text:
        return Verdict("not read", "a tt.reshape may put its lanes in any "
                       "order (allow_reorder)")
    try:
        run_form(_capi.load(), path, text, left)
    except Finding as e:
        line = next((line for line in e.args[1].split("\n") if line), "")
        return Verdict("differs" if e.args[0] == 1 and "[syntax]" not in line
                       else "not read", line)
    file = LaunchFile(left)
    other = [name for name in file.storages
             if bytes(file.read(name)) != want.get(name)]
    names = sorted({arg["name"] for arg in file.meta["args"]
                    if arg["kind"] == "tensor" and arg["storage"] in other})
    return Verdict("differs", "other values in " + ", ".join(names)) \
        if other else Verdict("same")


def ptx_differs(path: str, arch: str, **more: str) -> tuple[bool, str]:
    """Whether Triton's PTX leaves something else, and what was said."""
    command = os.path.join(os.path.dirname(_capi.load()._name), "tkdbg")
    done = subprocess.run(
        [command, "diff", "-q", "--backend", "triton-ptx", "--arch", arch,
         "--python", sys.executable, path], capture_output=True, text=True,
        errors="replace", timeout=LIMIT, check=False, env=outside(**more))
    return done.returncode == 1, done.stdout + done.stderr


# ---- the search ------------------------------------------------------------


class Search(NamedTuple):
    """What was found: last, the last stage that is the same (-1: the source);
    first, the first that differs, or None; skipped: (stage, why)."""
    last: int
    first: int | None
    why: str
    skipped: list[tuple[int, str]]


def search(path: str, stages: list[Stage], want: dict[str, bytes],
           folder: str) -> Search:
    last, known = -1, ""
    skipped: list[tuple[int, str]] = []
    for i, stage in enumerate(stages):
        if re.search(r"^\s*llvm\.func", stage.text, re.M):
            break  # from here on it is LLVM's
        if stage.text == known:
            if not skipped or skipped[-1][0] != i - 1:
                last = i
            else:
                skipped.append((i, skipped[-1][1]))
            continue
        known = stage.text
        verdict = judged(path, stage.text, want, folder)
        if verdict.word == "differs":
            return Search(last, i, verdict.why, skipped)
        if verdict.word == "same":
            last = i
        else:
            skipped.append((i, verdict.why))
    return Search(last, None, "", skipped)


def without_places(text: str) -> list[str]:
    """The lines of a text that say what it does."""
    return [re.sub(r" loc\((#loc\d*|unknown)\)", "", line)
            for line in text.split("\n") if not line.startswith("#loc")]


def both_texts(before: str, after: str) -> str:
    lines = list(difflib.unified_diff(
        without_places(before), without_places(after), "before", "after",
        lineterm="", n=AROUND))
    more = len(lines) - MOST_LINES
    if more > 0:
        lines[MOST_LINES:] = [f"... and {more} lines more"]
    return "\n".join("  " + line for line in lines)


def passes_between(stages: list[Stage], last: int, first: int) -> list[str]:
    """The passes that ran between two stages and changed the text."""
    return [stages[i].next for i in range(last, first)
            if stages[i].text != stages[i + 1].text]


def tell_stage(stages: list[Stage], found: Search) -> str:
    assert found.first is not None
    if found.last < 0:
        if found.first == 0:
            return f"front end: its own TTIR differs: {found.why}"
        return ("between the source and the pass "
                f"{stages[found.first].next}: {found.why}")
    names = passes_between(stages, found.last, found.first)
    head = ("pass " if len(names) == 1 else "one of the passes ") + ", ".join(
        names)
    return (f"{head}: {found.why}\n" +
            both_texts(stages[found.last].text, stages[found.first].text))


def tell_failure(stages: list[Stage], why: str) -> str:
    return (f"pass {stages[-1].next}: Triton's compiler fails in it, or behind "
            f"it: {why}")


def llvm_pass(path: str, arch: str, folder: str) -> str:
    """The pass of LLVM's with which the PTX differs, and does not without it
    and all behind it; '' where that cannot be told."""
    passes = llvm_passes(path, arch, folder)
    right, wrong = 0, len(passes)
    if not passes or ptx_differs(path, arch, **llvm_options(0))[0] or \
            not ptx_differs(path, arch, **llvm_options(wrong))[0]:
        return ""
    while wrong - right > 1:
        at = (right + wrong) // 2
        if ptx_differs(path, arch, **llvm_options(at))[0]:
            wrong = at
        else:
            right = at
    return (f"pass {passes[wrong - 1]} of LLVM's, number {wrong} of "
            f"{len(passes)}: the PTX differs, and does not where LLVM stops "
            f"before it (-opt-bisect-limit={right})\n")


def tell_code(path: str, arch: str, folder: str, stages: list[Stage],
              found: Search, said: str) -> str:
    """Behind the IR: whether LLVM's optimiser is needed for the difference."""
    plain, _ = ptx_differs(path, arch, DISABLE_LLVM_OPT="1",
                           TRITON_ALWAYS_COMPILE="1")
    behind = [s.next for s in stages[max(found.last, 0):]]
    if not plain:
        return (llvm_pass(path, arch, folder) or
                "LLVM's optimiser: the PTX differs, and does not without it "
                "(DISABLE_LLVM_OPT=1)\n") + said
    if behind[0] == "ConvertTritonGPUToLLVM":
        where = ("pass ConvertTritonGPUToLLVM, one behind it, or the layouts "
                 "that it was given")
    elif found.last < 0:
        where = "one of Triton's passes, as none of its IR was read"
    else:
        where = f"pass {behind[0]}, or one behind it"
    return (f"{where}: the PTX differs, with and without LLVM's optimiser\n" +
            said)


def bisect(path: str, arch: str) -> tuple[int, str]:
    """(the exit status, what there is to say)."""
    want = memory_after(path)
    with tempfile.TemporaryDirectory(prefix="tkdbg-") as folder:
        stages, why = compiled(path, arch, folder)
        if not stages:
            return 1, ("before the first pass: Triton does not compile it: "
                       + why)
        found = search(path, stages, want, folder)
        notes = "".join(
            f"not read, before {stages[i].next}: {text}\n"
            for i, text in found.skipped[:1])
        if found.first is not None:
            return 1, notes + tell_stage(stages, found)
        if why:
            return 1, notes + tell_failure(stages, why)
        differs, said = ptx_differs(path, arch)
        if differs:
            return 1, notes + tell_code(path, arch, folder, stages, found, said)
        if "'triton-ptx' beside the interpreter" not in said:
            return 2, notes + "the PTX was not run: " + said
        return 0, notes + ("no stage differs, up to the PTX: what a GPU gives "
                           "otherwise comes from ptxas or from the GPU")


# ---- the command -----------------------------------------------------------


def recorded(path: str, given: dict[str, Any], folder: str) -> str:
    """The launch file of a script's launch."""
    launch = os.path.join(folder, "launch.safetensors")
    options = {name: given[name] for name in ("kernel", "launch")
               if name in given}
    done = subprocess.run(
        [sys.executable, "-m", "tkdbg", "run", path], check=False,
        stdout=subprocess.DEVNULL, env=outside(
            PYTHONPATH=os.pathsep.join(filter(None, [
                os.path.dirname(os.path.dirname(os.path.abspath(__file__))),
                os.environ.get("PYTHONPATH")])),
            TKDBG_OPTIONS=json.dumps(
                {**options, "record": launch, "quiet": True})))
    if not os.path.exists(launch):
        raise Cannot("the script launched no such kernel (status "
                     f"{done.returncode})")
    return launch


def run(argv: list[str]) -> int:
    """argv: the file; TKDBG_OPTIONS: kernel and launch of a script, arch."""
    given = json.loads(os.environ.pop("TKDBG_OPTIONS", "{}"))
    file = path = argv[0]
    try:
        with tempfile.TemporaryDirectory(prefix="tkdbg-") as folder:
            if path.endswith(".py"):
                path = recorded(path, given, folder)
            status, text = bisect(path, given.get("arch", "sm_80"))
    except Finding as e:
        sys.stderr.write(e.args[1])
        return int(e.args[0])
    except OSError as e:
        print(f"tkdbg bisect: {e.filename or file}: {e.strerror}",
              file=sys.stderr)
        return 2
    except (Cannot, subprocess.TimeoutExpired) as e:
        print(f"tkdbg bisect: {file}: {e}", file=sys.stderr)
        return 2
    print(text.rstrip())
    return status


def main() -> None:
    interrupt.program(run)


if __name__ == "__main__":
    main()
