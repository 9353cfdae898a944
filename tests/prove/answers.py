"""The solutions of the puzzles as launches that `tkdbg prove` takes."""
from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from typing import Any

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.join(ROOT, "python"))

from tkdbg.puzzles import checker, data, pack  # noqa: E402


def _argument(name: str, value: Any) -> str:
    if not isinstance(value, data.Buffer):
        return f"{name}={value}"
    sizes = ",".join(str(n) for n in value.array.shape)
    fill = ("empty" if value.unwritten else
            "ones" if value.array.dtype.kind == "f" else "zeros")
    return f"{name}={value.dtype}[{sizes}]:{fill}"


def _is_view(launch: data.Launch) -> bool:
    """Whether some tensor has gaps, which a text does not say."""
    return any(not b.array.flags.c_contiguous
               for b in launch.buffers().values())


def _options(entry: pack.Entry, launch: data.Launch) -> list[str]:
    kernel = launch.kernel or entry.kernel
    options = ["--kernel", str(kernel),
               "--grid", ",".join(str(n) for n in launch.grid)]
    for name, value in launch.arguments.items():
        options += ["--arg", _argument(name, value)]
    return options


def _tells_most(case: checker.Case) -> tuple[int, int]:
    """Sizes that differ, and large ones, say best what is which."""
    sizes = [n for n in case.size.values() if isinstance(n, int)]
    return len(set(sizes)), sum(sizes)


def launches(folder: str, into: str) -> Iterator[tuple[str, list[str]]]:
    """(a file with a solution, the options of a launch of it), for a case of
    each puzzle of a pack; files are written to `into`.  Launches on
    views of larger arrays are left out."""
    for entry in pack.Pack(folder).entries:
        case = max(checker.cases(entry), key=_tells_most)
        path = os.path.join(into, f"{entry.id}.py")
        with open(path, "w", encoding="utf-8") as file:
            file.write(entry.solution())
        make = data.Make(case.seed, case.regime)
        made = entry.key.launch(make, **case.size, **case.block)
        for launch in made if isinstance(made, (list, tuple)) else [made]:
            if not _is_view(launch):
                yield path, _options(entry, launch)
