"""``tkdbg report``: a launch file as one Python file that can be attached.

The file holds the kernel and the functions that it calls, what memory held, and
what the interpreter leaves there.  It needs PyTorch and Triton alone: it
launches the kernel on a GPU, or by Triton's interpreter, and fails where the
tensors are not what they must be.  What cannot be said in such a file is
refused by name, as a launch that is nearly the same would prove nothing.

Exit status: 0 if it is written, 1 if the launch has a finding, 2 if a file can
neither be read nor written, or no such file can be made of the launch.
"""
from __future__ import annotations

import base64
import ctypes
import json
import os
import re
import sys
import tempfile
import textwrap
import zlib
from typing import Any

from . import _capi, interrupt
from .triton_replay import (KNOBS, TORCH_NAMES, CannotReplay, LaunchFile,
                            Sources, is_constant, is_jit, jit_words, options,
                            scalar, tree_of)

ROOTS = {"tl": "", "triton": "", "builtins": "import builtins",
         "libdevice": "from triton.language.extra import libdevice"}
ALIGNED = 16  # bytes; Triton compiles for addresses that are multiples of it
HEAD = '''"""A launch of {kernel}, and what it must leave in memory.

Needs PyTorch and Triton, and a GPU or TRITON_INTERPRET=1.  The exit status is 1
if a tensor is not what the language defines, {bound}.

Made by: {command}
tkdbg {version}, whose interpreter computed the expected values.
"""
from __future__ import annotations

import base64
import os
import sys
import zlib

{knobs}import torch
import triton
import triton.language as tl
{imports}
RTOL, ATOL = {rtol}, {atol}


def data(text):
    return zlib.decompress(base64.b64decode(text))
'''
TAIL = '''

def on(device, held):
    """Memory on the device, each part with the alignment that it had."""
    memory = {}
    for name, bytes_ in held.items():
        lead = LEADS[name]
        memory[name] = torch.zeros(lead + len(bytes_), dtype=torch.uint8)
        if bytes_:
            memory[name][lead:] = torch.frombuffer(bytearray(bytes_),
                                                   dtype=torch.uint8)
        memory[name] = memory[name].to(device)
    return memory


def tensors(memory):
    made = {}
    for name, (storage, dtype, offset, shape, strides) in TENSORS.items():
        at = (LEADS[storage] + offset) // dtype.itemsize
        made[name] = torch.empty(0, dtype=dtype, device=memory[storage].device)
        made[name].set_(memory[storage].untyped_storage(), at, shape, strides)
    return made


def differ(got, want):
    """Which elements are further off than RTOL and ATOL allow."""
    if not got.dtype.is_floating_point:
        return got != want
    got, want = got.double(), want.double()
    far = (got - want).abs() > ATOL + RTOL * want.abs()
    same = (got == want) | got.isnan() & want.isnan()
    return torch.where(got.isfinite() & want.isfinite(), far, ~same)


def main():
    interpreted = os.environ.get("TRITON_INTERPRET") == "1"
    device = "cpu" if interpreted else "cuda"
    print("Triton", triton.__version__, "PyTorch", torch.__version__,
          "on the CPU" if interpreted else torch.cuda.get_device_name())
    if hasattr(triton, "set_allocator"):
        triton.set_allocator(lambda size, alignment, stream: torch.empty(
            size, dtype=torch.int8, device=device))
    memory = on(device, BEFORE)
    KERNEL[GRID](**tensors(memory), **NUMBERS, **OPTIONS)
    left = tensors({name: part.cpu() for name, part in memory.items()})
    wrong = False
    for name, want in tensors(on("cpu", {**BEFORE, **AFTER})).items():
        at = differ(left[name], want).nonzero()
        if len(at):
            first = tuple(at[0].tolist())
            print(f"{name}: {len(at)} of {want.numel()} elements are wrong; "
                  f"{name}{list(first)} is {left[name][first].item()}, not "
                  f"{want[first].item()}")
            wrong = True
    print("wrong" if wrong else "all tensors are as they must be")
    return int(wrong)


if __name__ == "__main__":
    sys.exit(main())
'''


# ---- Python's words for what a launch file holds -----------------------------


def literal(v: dict[str, Any]) -> str:
    """A value as an expression."""
    kind = v["kind"]
    if kind == "none":
        return "None"
    if kind == "bool":
        return repr(bool(v["lo"]))
    if kind == "int":
        return repr((v["hi"] << 64) + (v["lo"] & (1 << 64) - 1))
    if kind == "float":
        return number(ctypes.c_double.from_buffer(
            ctypes.c_int64(v["bits"])).value)
    if kind == "str" and isinstance(v["text"], str):
        return repr(v["text"])
    if kind == "dtype":
        made = f'tl.dtype({v["dtype"]!r})'
        for _ in range(v["depth"]):
            made = f"tl.pointer_type({made})"
        return made
    if kind == "tuple" and not v.get("fields"):
        return "(" + "".join(literal(i) + ", " for i in v["items"]) + ")"
    raise CannotReplay(f"a value of kind '{kind}' has no place in it")


def number(value: Any) -> str:
    made = repr(value)
    return f'float("{made}")' if re.search("inf|nan", made) else made


def packed(held: bytes) -> str:
    """Bytes as an expression."""
    if not any(held):
        return f"bytes({len(held)})"
    text = base64.b64encode(zlib.compress(held, 9)).decode()
    return 'data("""\n' + "\n".join(textwrap.wrap(text, 76)) + '""")'


# ---- the kernel --------------------------------------------------------------


class Program:
    """The functions of a launch, and what their names mean, as text."""

    def __init__(self, meta: dict[str, Any]) -> None:
        self.meta = meta
        self.sources = Sources(meta["modules"], "")
        self.means: dict[str, str] = {}  # a name, and the text that defines it
        self.imports: set[str] = set()
        for f in meta["functions"]:
            self._add_function(f)
        for f in meta["functions"]:
            for answer in f["answers"]:
                if answer["question"] == "global" and answer["found"] > 0:
                    self._add_global(answer["name"], answer["value"])

    def text(self) -> str:
        """Plain values first, for parameters may have them as defaults."""
        functions = [t for t in self.means.values() if t.startswith("@")]
        values = [t for t in self.means.values() if t not in functions]
        return "\n\n" + "\n".join(values + [""]) + "".join(
            f"\n\n{t}\n" for t in functions)

    def _define(self, name, text):
        if self.means.setdefault(name, text) != text:
            raise CannotReplay(f"'{name}' means one thing in one function and "
                               "something else in another")

    def _add_function(self, f):
        module = f["module"]
        node = self.sources.node(module, f["name"], f["line"])
        first = f is self.meta["functions"][0]
        self._define(f["name"], self._function(module, node, first))
        if f["host"]:
            return
        for other in self.sources.trees[module].body:
            if is_constant(other):
                self._define_constants(module, other)
            elif (isinstance(other, type(node)) and other is not node and
                    any(map(is_jit, other.decorator_list))):
                self._define(other.name, self._function(module, other, True))

    def _define_constants(self, module, node):
        lines = self.sources.texts[module].splitlines()
        text = "\n".join(lines[node.lineno - 1:node.end_lineno])
        for target in getattr(node, "targets", None) or [node.target]:
            if hasattr(target, "id"):
                self._define(target.id, text)

    def _function(self, module, node, is_kernel):
        lines = self.sources.texts[module].splitlines()
        text = textwrap.dedent("\n".join(
            lines[node.lineno - 1:node.end_lineno]))
        tree_of(text)
        if not is_kernel and not any(map(is_jit, node.decorator_list)):
            return "@triton.constexpr_function\n" + text
        words = ", ".join(f"{k}={v!r}" for k, v in jit_words(node).items())
        return f"@triton.jit{f'({words})' if words else ''}\n{text}"

    def _add_global(self, name, value):
        kind = value["kind"]
        if kind == "function":
            called = self.meta["functions"][value["index"]]["name"]
            if called != name:
                raise CannotReplay(f"it calls '{called}' by another name, "
                                   f"'{name}'")
        elif kind == "builtin":
            self._add_builtin(name, value["text"])
        else:
            text = literal(value)
            self._define(name, f"{name} = tl.constexpr({text})"
                         if value.get("constexpr") else f"{name} = {text}")

    def _add_builtin(self, name, path):
        root = path.split(".")[0]
        if root not in ROOTS:
            raise CannotReplay(f"it uses '{path}', which is not Triton's")
        if path in (name, f"builtins.{name}") and root != "libdevice":
            return
        self.imports.add(ROOTS[root])
        if path != name:
            self._define(name, f"{name} = {path}")


# ---- the launch --------------------------------------------------------------


def checked(lib: Any, session: Any, status: int) -> None:
    if status:
        raise Finding(status, _capi.text(lib.tk_report(session, False)))


class Finding(Exception):
    """What a call of the library's has to say: its status, its report."""


def run_launch(lib: Any, path: str, left: str) -> None:
    """Writes a launch file as it is when the launch has run."""
    session = lib.tk_session_new()
    try:
        launch = ctypes.c_void_p()
        checked(lib, session, lib.tk_launch_replay(
            session, os.fsencode(path), ctypes.byref(launch)))
        checked(lib, session, lib.tk_launch_run(launch, ctypes.byref(
            _capi.RunOptions(dot=b"exact", engine=b"interp")), None))
        checked(lib, session, lib.tk_launch_record(launch, os.fsencode(left)))
    finally:
        lib.tk_session_free(session)


def memory_after(path: str) -> dict[str, bytes]:
    """{part of memory: what the interpreter leaves there}."""
    handle, left = tempfile.mkstemp(prefix="tkdbg-", suffix=".safetensors")
    os.close(handle)
    try:
        with interrupt.ending(lambda: os.unlink(left)):
            run_launch(_capi.load(), path, left)
        file = LaunchFile(left)
        return {name: bytes(file.read(name)) for name in file.storages}
    finally:
        os.unlink(left)


def tensor(arg: dict[str, Any]) -> str:
    """What a tensor looks at, as an expression."""
    dtype = TORCH_NAMES.get(arg["dtype"], arg["dtype"])
    if arg["dtype"] == "fp8e4b15":
        raise CannotReplay(f"'{arg['name']}' has the type fp8e4b15, which "
                           "PyTorch lacks")
    if any(s < 0 for s in arg["strides"]):
        raise CannotReplay(f"'{arg['name']}' has a negative stride, which "
                           "PyTorch does not support")
    return (f"({arg['storage']!r}, torch.{dtype}, {arg['offset']}, "
            f"{tuple(arg['shape'])}, {tuple(arg['strides'])})")


def arguments(meta: dict[str, Any]) -> tuple[dict[str, str], dict[str, str]]:
    """({tensor: expression}, {other parameter: expression})."""
    views, numbers = {}, {}
    for arg in meta["args"]:
        if arg["kind"] == "tensor":
            views[arg["name"]] = tensor(arg)
        elif arg["kind"] == "scalar":
            numbers[arg["name"]] = number(scalar(arg))
        elif arg["kind"] == "value":
            numbers[arg["name"]] = literal(arg["value"])
    return views, numbers


def refuse_pointers(file: LaunchFile) -> None:
    """Addresses that lie in memory would lead nowhere."""
    described = [a for a in file.meta["args"] if a["kind"] == "tensor"]
    places = []
    for t in described:
        lo, hi = file.storages[t["storage"]]
        at = t["address"] - t["offset"]
        places.append((at, at + hi - lo))
    for t in described:
        if t["dtype"] not in ("int64", "uint64"):
            continue
        held = file.read(t["storage"])
        for i in range(0, len(held) // 8 * 8, 8):
            word = int.from_bytes(held[i:i + 8], "little")
            if any(lo <= word < hi for lo, hi in places):
                raise CannotReplay(f"'{t['name']}' holds the address of a "
                                   "tensor")


def table(name: str, rows: dict[str, str]) -> str:
    return f"{name} = {{" + "".join(
        f"\n    {key!r}: {text}," for key, text in rows.items()) + "\n}\n"


def launch_text(file: LaunchFile, before: dict[str, bytes],
                after: dict[str, bytes]) -> str:
    """How the kernel is launched, and what memory holds before and after."""
    meta = file.meta
    if meta["extras"]:
        raise CannotReplay("a tuple or a descriptor of it holds tensors")
    refuse_pointers(file)
    views, numbers = arguments(meta)
    leads = {a["storage"]: str((a["address"] - a["offset"]) % ALIGNED)
             for a in meta["args"] if a["kind"] == "tensor"}
    return "".join([
        f"KERNEL = {meta['functions'][0]['name']}\n",
        f"GRID = {tuple(meta['grid'])}\n",
        table("NUMBERS", numbers),
        table("OPTIONS", {k: repr(v) for k, v in options(meta).items()}),
        "# a tensor: its memory, type, offset in bytes, shape, strides\n",
        table("TENSORS", views),
        f"# how far beyond a multiple of {ALIGNED} bytes memory begins\n",
        table("LEADS", leads),
        "# what memory holds before the launch, and what of it changes\n",
        table("BEFORE", {name: packed(held) for name, held in before.items()}),
        table("AFTER", {name: packed(after[name])
                        for name, held in before.items()
                        if after[name] != held})])


def report(path: str, command: str, rtol: float, atol: float) -> str:
    """The text of the file."""
    after = memory_after(path)  # says what is wrong with a file that is none
    file = LaunchFile(path)
    program = Program(file.meta)
    before = {a["storage"]: bytes(file.read(a["storage"]))
              for a in file.meta["args"] if a["kind"] == "tensor"}
    knobs = "".join(f"os.environ[{KNOBS[name]!r}] = {text!r}\n"
                    for name, text in file.meta.get("compile", {}).items()
                    if name in KNOBS)
    head = HEAD.format(
        kernel=file.meta["functions"][0]["name"], command=command,
        bound="within RTOL and ATOL" if rtol or atol else "bit for bit",
        version=_capi.text(_capi.load().tk_version()), knobs=knobs,
        imports="".join(f"{text}\n" for text in sorted(program.imports)
                        if text),
        rtol=rtol, atol=atol)
    return (head + program.text() + "\n\n" +
            launch_text(file, before, after) + TAIL)


# ---- the command -------------------------------------------------------------


class BadOption(Exception):
    """An option with a value that it cannot have."""


def bound(given: dict[str, Any], name: str) -> float:
    try:
        value = float(given.get(name, 0))
    except ValueError:
        value = -1.0
    if not 0 <= value < float("inf"):
        raise BadOption(f"--{name} {given[name]}: a number is expected that is "
                        "not negative")
    return value


def run(argv: list[str]) -> int:
    given = json.loads(os.environ.pop("TKDBG_OPTIONS", "{}"))
    path = argv[0]
    words = [f"--{name} {given[name]}" for name in ("rtol", "atol")
             if name in given]
    command = " ".join(["tkdbg report", *words, os.path.basename(path)])
    try:
        text = report(path, command, bound(given, "rtol"),
                      bound(given, "atol"))
        if "output" in given:
            with open(given["output"], "w", encoding="utf-8",
                      errors="surrogateescape") as f:
                f.write(text)
        else:
            sys.stdout.write(text)
        return 0
    except Finding as e:
        sys.stderr.write(e.args[1])
        return e.args[0]
    except CannotReplay as e:
        print(f"tkdbg report: {path}: no file can be made of this launch: {e}",
              file=sys.stderr)
    except BadOption as e:
        print(f"tkdbg report: {e}", file=sys.stderr)
    except OSError as e:
        print(f"tkdbg report: {e.filename or path}: {e.strerror}",
              file=sys.stderr)
    return 2


def main() -> None:
    interrupt.program(run)


if __name__ == "__main__":
    main()
