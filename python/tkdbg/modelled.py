"""From a kernel that PyTorch's compiler wrote to the model: what it computes,
and at which lines of the program.

The compiler writes above each kernel which nodes of the graph it stands for,
and keeps tracebacks of their operations while it compiles.
"""
from __future__ import annotations

import os
import re

from typing import NamedTuple

from . import fragments, torch_private

# Above a kernel, and above each call of one.
_NODES = re.compile(r"# Topologically Sorted Source Nodes: \[(.*?)\](?:, "
                    r"Original ATen: \[(.*?)\])?")
_FRAME = re.compile(r'File "(.*?)", line (\d+), in (\S+)\n\s*(.*)')
_FAR = 400  # lines of comments between them and a kernel, at most


class Model(NamedTuple):
    """Of a kernel.  remarks: what findings in it also say; fragment: None
    where the compiler does not say what it computes."""
    remarks: list[str]
    fragment: fragments.Fragment | None


def of(kernel_name: str, lines: list[str]) -> Model:
    """lines: of the kernel's file, before it."""
    return Model(remarks(kernel_name, lines), fragments.read(lines))


def remarks(kernel_name: str, lines: list[str]) -> list[str]:
    """What findings in a kernel also say.

    lines: of its file, before it."""
    return _computed(lines) + _program(kernel_name)


def _computed(lines):
    """The nodes that a comment right above a kernel names."""
    for line in reversed(lines[-_FAR:]):
        if not line.lstrip().startswith("#") and line.strip():
            break
        named = _NODES.search(line)
        if named and named[1]:
            nodes = ", ".join(filter(None, named[1].split(", ")))
            operators = f" ({named[2]})" if named[2] else ""
            return [f"the kernel computes {nodes}{operators}"]
    return []


def _program(kernel_name):
    """The lines of the program that it computes, in their order."""
    found: dict[tuple[str, int], str] = {}
    for trace in torch_private.traces(kernel_name):
        inner = None
        for file, line, function, text in _FRAME.findall(trace):
            if not _is_torch(file):
                inner = file, int(line), function, text
        if inner is not None:
            file, line, function, text = inner
            found.setdefault((file, line), (
                f"of {_short(file)}:{line}, in {function}: {text}"))
    return [found[place] for place in sorted(found)]


def _is_torch(file):
    return f"{os.sep}site-packages{os.sep}torch{os.sep}" in file


def _short(file):
    """A file as from the folder that the program runs in, if it is there."""
    near = os.path.relpath(file)
    return file if near.startswith("..") else near
