"""What ``tkdbg fuzz FILE.py`` compares: the launches of a script, as they are
and with other sizes, strides, types, compile-time values and configurations.

Each is written to a launch file before it runs.  The script runs again as for
``--sizes`` (othersizes.py), and what is said of each run is handed over, too:
what a kernel does to memory, and what the script's own comparisons say.
"""
from __future__ import annotations

import ast
import json
import os
import zlib
from typing import TYPE_CHECKING, Any

from . import othersizes, otherstrides, sizejudge, sizesaid
from .triton_replay import LaunchFile, Sources

if TYPE_CHECKING:
    from .hostnumbers import Number
    from .reruns import Script
    from .session import Session
    from .sizeruns import Run

LIST = "launches.json"  # of a folder of launches
EACH = 14               # other values of a size that are tried
MOST_BYTES = 1 << 26    # of a launch that is kept
TOO_LARGE = "too large"  # in the place of a file
AS_IT_IS = "as it is"


class Kept:
    """The launches of a script, each once."""

    def __init__(self, session: Session, path: str, folder: str) -> None:
        self._session, self._folder = session, folder
        self._name = os.path.basename(path)
        self._known: set[int] = set()
        self._all = ""  # what is said of a run of all configurations
        self.launches: list[dict[str, Any]] = []
        self.large: set[str] = set()  # kernels with launches that are not kept

    def keep(self, launch: int, kernel: str) -> str:
        """A launch file, written in the process that runs the script; "": it
        is known."""
        session = self._session
        if _bytes(session.runs.launched) > MOST_BYTES:
            return TOO_LARGE
        path = os.path.join(self._folder, f"{os.getpid()}-"
                            f"{session.runs.totals['launches']}.safetensors")
        session.check(session.guarded(session.lib.tk_launch_compile, launch),
                      kernel)
        session.check(session.guarded(session.lib.tk_launch_record, launch,
                                      os.fsencode(path)), kernel)
        if digest(path) in self._known:
            os.unlink(path)
            return ""
        return path

    def take(self, run: Run, what: tuple[Number, str] | None) -> None:
        """What a run has kept, in the process that asked for it."""
        says = self._all or (placed(self._name, *what) if what else AS_IT_IS)
        for launch in run.launches:
            if launch.file == TOO_LARGE:
                self.large.add(launch.kernel)
            elif launch.file:
                self._add(launch.file, launch.kernel, says)

    def _add(self, path, kernel, says):
        key = digest(path)
        if key in self._known:
            os.unlink(path)
            return
        self._known.add(key)
        name = f"{len(self.launches):05}.safetensors"
        options = self._options(path) if says == AS_IT_IS else {}
        os.rename(path, os.path.join(self._folder, name))
        self.launches.append({"file": name, "kernel": kernel, "what": says,
                              "options": options})

    @staticmethod
    def _options(path):
        """Options that the kernel is not told of."""
        meta = LaunchFile(path).meta
        told = {arg["name"] for arg in meta["args"]}
        return {name: meta[name] for name in ("num_warps", "num_stages")
                if name not in told}

    def all_configurations(self, tries: othersizes.Tries,
                           script: Script) -> None:
        """Takes the launches of each configuration of autotuned kernels."""
        options = self._session.options
        before, self._all = options.autotune, "with another configuration"
        options.autotune = "all"
        tries.run(script.text)
        options.autotune, self._all = before, ""


def _bytes(given):
    """How much the tensors among some arguments hold."""
    return sum(getattr(v, "nbytes", 0) for v in given.values()
               if hasattr(v, "shape"))


def digest(path: str) -> int:
    """Equal ones are taken for one launch: by all but where memory was, what
    it held, and the host's part of the script."""
    meta = json.loads(json.dumps(LaunchFile(path).meta))
    for each in (*meta["args"], *meta["extras"]):
        if each["kind"] == "tensor":
            each["address"] %= 16
    sources = Sources(meta.pop("modules"), "")
    for f in meta["functions"]:
        f["text"] = ast.unparse(sources.node(f["module"], f["name"],
                                             f.pop("line")))
    return zlib.crc32(json.dumps(meta, sort_keys=True).encode())


def placed(name: str, at: Number, what: str) -> str:
    return f"{name}:{at.line}:{at.column}: {what}"


class Said(sizesaid.Said):
    """Keeps what was found with other sizes and strides."""

    def __init__(self, session: Session, path: str) -> None:
        super().__init__(session, path, aloud=False)
        self.faults: list[dict[str, Any]] = []
        self._name = os.path.basename(path)

    def add(self, at: Number, what: str, verdict: str, came: Any) -> None:
        super().add(at, what, verdict, came)
        if verdict == sizejudge.FOUND:
            first = came[0]
            where = [str(first[k]) for k in ("line", "column") if k in first]
            self.faults.append({
                "what": placed(self._name, at, what), "kind": first["kind"],
                "cause": ":".join([first["kind"], *where]),
                "says": [sizesaid.line_of(f) for f in came]})


def tell(session: Session, script: Script | None) -> list[str]:
    """Writes launches and what was found into the folder that is asked for;
    returns why that cannot be, which is empty or a line."""
    if script is None:
        return ["only a script in a file can run again, and one that neither "
                "reads nor writes files nor imports modules of its own"]
    folder = session.options.tries
    kept = Kept(session, script.path, folder)
    tries = othersizes.Tries(session, script, EACH, lambda n: n, kept)
    if tries.base is None or tries.base.stops:
        return ["the script does not end well a second time"]
    kept.all_configurations(tries, script)
    said = Said(session, script.path)
    for at, dtype, text in otherstrides.with_types(script):
        tries.run(text, what=(at, f"with arrays of {dtype}"))
    for number in tries.fixed:
        for value in (2 * number.value, number.value // 2):
            tries.with_number(number, value)
    othersizes.judge_all(tries, script, EACH, said)
    with open(os.path.join(folder, LIST), "w", encoding="utf-8") as f:
        json.dump({"launches": kept.launches, "faults": said.faults,
                   "large": sorted(kept.large)}, f)
    return []
