"""The two ways in which a kernel runs: the interpreter, and what `tkdbg fuzz`
is asked to compare with it."""
from __future__ import annotations

import ctypes
import functools
import importlib.util
import itertools
import json
import os
import tempfile
from typing import Any, NamedTuple

from .. import _capi, _results
from .direct import Failed, Launch
from .kernel import HEAD, Kernel, Tensor
from .recorded import Recorded, Replayed

EXACT = _capi.Bound(0.0, 0.0, 0)
COMPILED = "triton-ptx", "ttir"  # what Triton's compiler alone is needed for


class Way(NamedTuple):
    """backend: an engine, or "ttir"; arch: the GPU that code is for;
    version: the Triton whose language kernels are in, "": the newest."""
    backend: str
    arch: str
    version: str


class Outcome(NamedTuple):
    """kind: a row of KINDS; cause: what tells causes apart; says: what is
    wrong, in a few lines."""
    kind: str
    cause: str
    says: str


# What may come of a kernel: how that is said of some, and of one.
KINDS = {
    "differs": ("leave something different", "leaves something different"),
    "fails": ("end with a finding", "ends with a finding"),
    "not compiled": ("are not compiled", "is not compiled"),
    "refused": ("are refused by the interpreter alone",
                "is refused by the interpreter alone"),
    "neither": ("are taken by neither", "is taken by neither"),
    "ends": ("end the process", "ends the process"),
    "script": ("fail in the script itself", "fails in the script itself"),
    "unsound": ("end with a finding by the interpreter",
                "ends with a finding by the interpreter"),
    "slow": ("take too long", "takes too long"),
}
COUNTED = "neither", "unsound", "slow"  # what is no cause


def library() -> Any:
    """The C API, with what tells of differences."""
    lib = _capi.load()
    _capi.bind(lib, _results.PROTOTYPES)
    return lib


# ---- what is there -----------------------------------------------------------

def triton_version() -> str:
    """Of the Triton that this Python has, "3.9"; "": it has none."""
    if importlib.util.find_spec("triton") is None:
        return ""
    import triton
    return ".".join(triton.__version__.split(".")[:2])


def missing(lib: Any, backend: str) -> str:
    """Why a backend cannot be used here; "": it can."""
    if backend in COMPILED:
        if importlib.util.find_spec("triton") is None:
            return ("this Python has no Triton: 'pip install triton', or name "
                    "another Python (--python PATH)")
        return ""
    for i in itertools.count():
        name = lib.tk_engine_name(i)
        if name is None:
            break
        if _capi.text(name) == backend:
            why = ctypes.c_char_p()
            there = lib.tk_engine_available(i, ctypes.byref(why))
            return "" if there else _capi.text(why.value)
    return "there is no such engine"


# ---- Triton's compiler in this process ---------------------------------------

@functools.cache
def compiler() -> Any:
    """A tk_compiler_fn, which calls the Triton of this process."""
    from .. import triton_replay
    kept: list[bytes] = []

    def compile_file(_ud: Any, file: bytes, arch: bytes, why: Any) -> bool:
        try:
            made = triton_replay.code(file.decode(), int(arch[3:]))
            with open(file, "w", encoding="utf-8") as f:
                json.dump(made, f)
            return True
        except BaseException as e:  # C cannot raise it
            kept[:] = [f"{type(e).__name__}: {e}".encode()]
            why[0] = kept[0]
            return False
    return _capi.CompilerFn(compile_file)


def triton_ir(launch: Launch, arch: str) -> bytes:
    """The TTIR that Triton's compiler makes of a launch; raises Failed."""
    from .. import triton_replay
    with tempfile.TemporaryDirectory(prefix="tkdbg-") as folder:
        path = os.path.join(folder, "launch.safetensors")
        launch.text()
        launch.record(path)
        try:
            return triton_replay.code(path, int(arch[3:]))["ttir"].encode()
        except Exception as e:
            raise Failed("Triton did not compile this launch: "
                         f"{type(e).__name__}: {e}") from e


def triton_takes(kernel: Kernel, arch: str) -> bool:
    """Whether Triton compiles a kernel, as its text stands."""
    import triton

    from .. import triton_replay
    triton.runtime.driver.set_active(triton_replay.driver_of(
        triton, int(arch[3:])))
    with tempfile.TemporaryDirectory(prefix="tkdbg-") as folder:
        path = os.path.join(folder, f"{kernel.name}.py")
        with open(path, "w", encoding="utf-8") as f:
            f.write(HEAD + "\n\n" + kernel.text())
        try:
            spec: Any = importlib.util.spec_from_file_location(
                kernel.name, path)
            module = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(module)
            made = getattr(module, kernel.name).warmup(
                grid=kernel.grid, **kernel.options, **{
                    name: triton_replay.Addressed(1 << 20, a.dtype,
                                                  [a.length], [1])
                    if isinstance(a, Tensor) else a
                    for name, a in kernel.args.items()})
            if hasattr(made, "result"):  # compiled in another thread
                made.result()
        except Exception:
            return False
    return True


# ---- one after the other -----------------------------------------------------

def opened(lib: Any, kernel: Kernel, version: str) -> Launch:
    """A launch, which is closed at the end of a with statement."""
    if isinstance(kernel, Recorded):
        return Replayed(lib, kernel, version)
    return Launch(lib, kernel, version)


def ready(lib: Any, kernel: Kernel, way: Way) -> Launch:
    """A launch that has Triton's compiler, where the way needs it."""
    launch = opened(lib, kernel, way.version)
    if way.backend == "triton-ptx":
        lib.tk_session_compiler(launch.session, compiler(), None)
    return launch


def by_interpreter(lib: Any, kernel: Kernel, way: Way) -> dict[str, Any]:
    """What the kernel must leave; raises Failed."""
    with opened(lib, kernel, way.version) as launch:
        return launch.of_source().run("interp")


def by_backend(lib: Any, kernel: Kernel, way: Way) -> dict[str, Any]:
    with ready(lib, kernel, way) as launch:
        launch.of_source()
        if way.backend != "ttir":
            return launch.run(way.backend, arch=way.arch.encode())
        form = triton_ir(launch, way.arch)
        with opened(lib, kernel, "") as other:
            return other.of_form(form).run("interp")


def ir_differs(lib: Any, kernel: Recorded, way: Way,
               wanted: dict[str, bytes]) -> str:
    """What the IR of a launch leaves in another way; raises Failed."""
    with Replayed(lib, kernel, way.version) as launch:
        form = triton_ir(launch.of_source(), way.arch)
    with Replayed(lib, kernel) as other:
        left = other.of_form(form).left()
    names = [a["name"] for a in kernel.meta["args"] if a["kind"] == "tensor"
             and left[a["storage"]] != wanted[a["storage"]]]
    return f"other values in {', '.join(names)}" if names else ""


def is_sound(lib: Any, kernel: Kernel, way: Way) -> bool:
    """Whether a kernel that was changed still has a result of its own: nothing
    in it depends on the order of programs, or on memory that nobody wrote."""
    with opened(lib, kernel, way.version) as launch:
        launch.check(lib.tk_session_check(launch.session, b"race,twice,undef",
                                          None))
        try:
            launch.of_source().run("interp")
        except Failed:
            return False
    return True


def is_judged_wrong(lib: Any, kernel: Kernel, way: Way) -> bool:
    """Whether `tkdbg diff` says so, by more than rounding explains."""
    if way.backend == "ttir":
        return True
    with ready(lib, kernel, way) as launch:
        try:
            return bool(judged(lib, launch, way))
        except Failed:
            return False


def judged(lib: Any, launch: Launch, way: Way) -> str:
    """What `tkdbg diff` says of the first tensor that differs by more than
    rounding explains; "": of none.  Raises Failed."""
    launch.of_source().run("interp", against=way.backend.encode(),
                           arch=way.arch.encode())
    for i in itertools.count():
        found = lib.tk_launch_difference(launch.launch, i)
        if not found:
            return ""
        if found[0].wrong or found[0].all_wrong:
            return (f"{_capi.text(found[0].tensor)} differs in "
                    f"{found[0].wrong} of {found[0].total} elements")
    return ""
