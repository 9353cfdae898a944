"""A launch of a user's script, as a kernel of which statements can be deleted.

Only the kernel itself is taken apart.  What it calls, and what its names mean,
stays as the launch file has it.
"""
from __future__ import annotations

import ast
import copy
import json
import os
import struct
import tempfile
from collections.abc import Iterator
from typing import Any

from ..triton_replay import LaunchFile, Sources
from .direct import Launch
from .kernel import Body, Function, Kernel, Statement

OPTIONS = "num_warps", "num_stages", "enable_fp_fusion"


class Recorded(Kernel):
    """path: a launch file; its arguments are what that holds."""
    is_defined = False

    def __init__(self, seed: int, path: str, title: str,
                 options: dict[str, int]) -> None:
        super().__init__(seed)
        self.file = LaunchFile(path)
        self.meta: dict[str, Any] = copy.deepcopy(self.file.meta)
        self.title = title
        f = self.meta["functions"][0]
        self.name = f["name"]
        self._sources = Sources(self.meta["modules"], "")
        self._node = self._sources.node(f["module"], f["name"], f["line"])
        self._lines = self._sources.texts[f["module"]].splitlines()
        self.functions = [Function(
            f["name"], [a["name"] for a in self.meta["args"]],
            self._body(self._node.body))]
        self.grid = tuple(self.meta["grid"])
        self.options = {name: self.meta[name] for name in OPTIONS
                        if not any(a["name"] == name
                                   for a in self.meta["args"])}
        self.launch_with(**options)
        self.outputs = {a["name"]: a["dtype"] for a in self.meta["args"]
                        if a["kind"] == "tensor"}

    # ---- its statements --------------------------------------------------

    def _body(self, nodes: list[Any]) -> Body:
        return [s for node in nodes for s in self._statements(node)]

    def _statements(self, node: Any) -> Iterator[Statement]:
        if isinstance(node, (ast.For, ast.While, ast.If)):
            yield Statement(ast.unparse(node).split("\n")[0],
                            body=self._body(node.body))
            if node.orelse:
                yield Statement("else:", body=self._body(node.orelse))
        elif not _is_text(node):
            yield Statement(self._one_line(node))

    def _one_line(self, node):
        """As it stands, if that is a line, so that it is read in the same way;
        else as Python writes it."""
        text = self._lines[node.lineno - 1]
        if node.lineno == node.end_lineno and text[:node.col_offset].isspace():
            return text[node.col_offset:node.end_col_offset]
        return ast.unparse(node)

    def copy(self) -> Recorded:
        out = copy.copy(self)
        out.functions = [Function(f.name, list(f.params),
                                  [s.copy() for s in f.body], f.how)
                         for f in self.functions]
        out.meta = copy.deepcopy(self.meta)
        out.options = dict(self.options)
        return out

    def with_dtype(self, old: str, new: str) -> Kernel:
        return self.copy()

    def without_unused(self) -> Kernel:
        return self.copy()

    def smaller(self) -> Iterator[Kernel]:
        """With a compile-time value that is half of what it was."""
        for i, arg in enumerate(self.meta["args"]):
            value = arg.get("value", {})
            if value.get("kind") == "int" and value["lo"] > 1 and (
                    not value["hi"] and arg["name"] not in OPTIONS):
                out = self.copy()
                out.meta["args"][i]["value"]["lo"] = value["lo"] // 2
                yield out

    # ---- as texts --------------------------------------------------------

    def _head(self):
        """The lines of the kernel before its first statement."""
        lines = self._lines[self._node.lineno - 1:self._node.body[0].lineno - 1]
        return lines or [self._lines[self._node.lineno - 1].rstrip()]

    def text(self) -> str:
        lines = self._head()
        for s in self.functions[0].body:
            lines += s.lines(1)
        if not self.functions[0].body:
            lines.append("    pass")
        return "\n".join(lines) + "\n"

    def describe(self) -> str:
        lines = [self.text(), f"# grid {self.grid}, " + ", ".join(
            f"{name}={value}" for name, value in self.options.items())]
        for a in self.meta["args"]:
            if a["kind"] == "tensor":
                lines.append(f"# {a['name']}: {a['dtype']} {a['shape']}, "
                             f"strides {a['strides']}")
            elif a.get("value", {}).get("kind") == "int":
                lines.append(f"# {a['name']} = {a['value']['lo']}")
        return "\n".join(lines)

    def arrays(self) -> dict[str, Any]:
        return {}  # the launch file has them

    def results(self, arrays: dict[str, Any]) -> dict[str, Any]:
        return {}  # Replayed.left() gives them

    def write(self, path: str) -> None:
        """Its launch file.  Lines behind the kernel stay where they are."""
        meta = copy.deepcopy(self.meta)
        meta["grid"] = list(self.grid)
        meta.update({n: int(v) for n, v in self.options.items()})
        first, last = self._node.lineno - 1, self._node.end_lineno
        new = self.text().rstrip("\n").split("\n")
        gap = [""] * max(0, last - first - len(new))
        module = meta["modules"][meta["functions"][0]["module"]]
        module["text"] = "\n".join(
            [*self._lines[:first], *new, *gap, *self._lines[last:], ""])
        with open(self.file.path, "rb") as f:
            size, = struct.unpack("<Q", f.read(8))
            header = json.loads(f.read(size))
            data = f.read()
        header["__metadata__"]["tkdbg"] = json.dumps(meta)
        head = json.dumps(header).encode()
        with open(path, "wb") as f:
            f.write(struct.pack("<Q", len(head)) + head + data)


def _is_text(node):
    """Whether a statement says nothing but a text."""
    return isinstance(node, ast.Expr) and isinstance(
        node.value, ast.Constant) and isinstance(node.value.value, str)


class Replayed(Launch):
    """A recorded launch, in a session of its own."""

    def __enter__(self) -> Replayed:
        return self

    def of_source(self) -> Replayed:
        assert isinstance(self.kernel, Recorded)
        with tempfile.TemporaryDirectory(prefix="tkdbg-") as folder:
            path = os.path.join(folder, "launch.safetensors")
            self.kernel.write(path)
            self.launch = self._out(self.lib.tk_launch_replay, self.session,
                                    os.fsencode(path))
        return self

    def of_form(self, form: bytes) -> Replayed:
        self.of_source()
        made = self._out(self.lib.tk_ir_open, self.session, b"kernel.mlir",
                         form, len(form))
        self.check(self.lib.tk_launch_take_form(self.launch, made))
        return self

    def left(self) -> dict[str, bytes]:
        """What memory holds, by its parts, when the interpreter has run;
        raises Failed."""
        self.run("interp")
        with tempfile.TemporaryDirectory(prefix="tkdbg-") as folder:
            path = os.path.join(folder, "left.safetensors")
            self.record(path)
            file = LaunchFile(path)
            return {name: bytes(file.read(name)) for name in file.storages}
