"""The hooks of triton.knobs, called as Triton calls them.

Where Triton is installed its own ``run`` does this; here is the same for our
modules.  A program without hooks pays for looking whether there are any.
"""
from __future__ import annotations

import collections
import json
import sys
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from . import arguments, device, mock, session, tensors, tltypes

if TYPE_CHECKING:
    import types
    from .compiled import CompiledKernel
    from .launch import JITFunction

JitFunctionInfo = collections.namedtuple("JitFunctionInfo",
                                         ("module", "name", "jit_function"))


class HookChain:
    """Functions that are called one after the other."""

    def __init__(self, reversed: bool = False) -> None:
        self.calls: list[Any] = []
        self.reversed = reversed

    def add(self, func: Callable[..., Any]) -> None:
        if func not in self.calls:
            self.calls.append(func)

    def remove(self, func: Callable[..., Any]) -> None:
        if func in self.calls:
            self.calls.remove(func)

    def __call__(self, *args: Any, **kwargs: Any) -> None:
        for call in self.calls[::-1] if self.reversed else list(self.calls):
            call(*args, **kwargs)

    def __bool__(self) -> bool:
        return True


class LazyDict:
    """A dict of which some parts are made when they are first needed."""

    def __init__(self, data: dict[str, int | str]) -> None:
        self.data = data
        self.extras: list[Any] = []

    def add(self, func: Callable[..., Any],
            args: tuple[tuple[int, int, int], Any, dict[str, Any]]) -> None:
        self.extras.append((func, args))

    def get(self) -> dict[Any, Any]:
        while self.extras:
            func, args = self.extras.pop(0)
            self.data = {**self.data, **func(*args)}
        return self.data


CompileTimes = collections.namedtuple(
    "CompileTimes", ("ir_initialization", "lowering_stages", "store_results"))

_CHAINS = ("launch_enter_hook", "launch_exit_hook", "kernel_load_start_hook",
           "kernel_load_end_hook", "kernel_unload_hook")


def namespace() -> dict[str, HookChain | None]:
    """What triton.knobs.runtime starts with."""
    return dict({n: HookChain("exit" in n or "end" in n) for n in _CHAINS},
                jit_cache_hook=None, jit_post_compile_hook=None,
                add_stages_inspection_hook=None)


def watching() -> types.ModuleType | None:
    """triton.knobs when a script has set a hook, else None."""
    knobs = sys.modules.get("triton.knobs")
    if knobs is None:
        return None
    try:
        held = knobs.runtime.__dict__
        if (held["jit_cache_hook"] is held["jit_post_compile_hook"] is None and
                not held["launch_enter_hook"].calls and
                not held["launch_exit_hook"].calls and
                not held["kernel_load_start_hook"].calls and
                not held["kernel_load_end_hook"].calls and
                not held["kernel_unload_hook"].calls and
                knobs.compilation.__dict__.get("listener") is None):
            return None
    except (KeyError, AttributeError):
        pass  # a script has put something of its own in their place
    return knobs


class Specialized:
    """What a launch is compiled for: keys and dicts as Triton's hooks get
    them."""

    def __init__(self, function: JITFunction, values: Sequence[Any],
                 options: dict[str, Any]) -> None:
        known = arguments.Specialization(function.params, values)
        self.signature = known.signature
        self.constants = known.paths
        with tensors.without_torch_functions():
            self.attrs = arguments.attributes(function.params, values,
                                              known.signature)
            special = [
                arguments.specialization(p, v, known.signature[p.name])
                for p, v in zip(function.params, values)]
        self.options = options
        self.key = f"{special}{function.with_settings(options)}"

    def data(self, name: str, options: dict[str, Any]) -> str:
        """The text that ``preload`` of the same function takes."""
        return json.dumps({
            "name": name, "signature": self.signature,
            "constant_keys": [list(path) for path in self.constants],
            "constant_vals": list(map(_as_json, self.constants.values())),
            "attrs_keys": [list(path) for path in self.attrs],
            "attrs_vals": list(self.attrs.values()),
            "options": options, "key": self.key, **_target()},
            default=str)


def _target():
    """Which device it was compiled for, which Triton tells since 3.7."""
    if not session.current().version.since(3, 7):
        return {}
    target = device.target()
    return {"target": {n: getattr(target, n)
                       for n in ("backend", "arch", "warp_size")}}


def _as_json(value):
    if tltypes.is_constexpr(value):
        return {"constexpr": value.value}
    return str(value) if tltypes.dtype_name(value) else value


# ---- launching --------------------------------------------------------------


def launch(function: JITFunction, values: Sequence[Any],
           options: dict[str, Any], grid: tuple[int, int, int] | None,
           knobs: types.ModuleType) -> Any:
    """JITFunction.run where hooks are set; None when jit_cache_hook has
    compiled the kernel elsewhere."""
    special = Specialized(function, values, options)
    kernel = function.specialized.get(special.key)
    if kernel is None:
        runtime = knobs.runtime
        if _call(runtime.jit_cache_hook, function, special, grid is None):
            return None
        kernel = _compile(function, values, options, knobs)
        function.specialized[special.key] = kernel
        _call(runtime.jit_post_compile_hook, function, special, grid is None)
    if grid is not None:
        run(function, kernel, values, options, grid, knobs.runtime)
    return kernel


def _compile(function, values, options, knobs):
    started = time.time()
    kernel = function.compile(values, options).kernel
    listener = vars(knobs.compilation).get("listener")
    if listener is not None:
        took = int((time.time() - started) * 1e6)
        listener(src=kernel.src, metadata=kernel.metadata._asdict(),
                 metadata_group={}, times=CompileTimes(took, [], 0),
                 cache_hit=False)
    return kernel


def run(function: JITFunction, kernel: CompiledKernel, values: Sequence[Any],
        options: dict[str, Any], grid: tuple[int, int, int],
        runtime: Any) -> None:
    """Launches a compiled kernel."""
    if not kernel.is_loaded:
        loaded = kernel.load()
        _tell(runtime.kernel_load_start_hook, None, None, *loaded[2:])
        _tell(runtime.kernel_load_end_hook, *loaded)
    facts = kernel.launch_metadata(grid, 0, *values)
    _tell(runtime.launch_enter_hook, facts)
    function.launch(values, options, grid)
    _tell(runtime.launch_exit_hook, facts)


def unloaded(kernel: CompiledKernel) -> None:
    """A kernel that was loaded is collected."""
    knobs = sys.modules.get("triton.knobs")
    runtime = getattr(knobs, "runtime", None)
    if runtime is not None:
        _tell(getattr(runtime, "kernel_unload_hook", None), *kernel.loaded())


def _tell(hook, *args):
    """Calls a hook, unless a script has put None in its place."""
    if hook is not None:
        hook(*args)


def metadata(function: JITFunction, kernel: CompiledKernel,
             grid: tuple[int, int, int], stream: int,
             values: Sequence[Any]) -> LazyDict:
    """What launch hooks get: a LazyDict."""
    facts = LazyDict({"name": kernel.name, "function": kernel.function,
                      "stream": stream})
    if function.launch_metadata is not None:
        facts.add(function.launch_metadata,
                  (grid, kernel.metadata,
                   dict(zip(function.arg_names, values))))
    return facts


# options that hooks get by name, with what they are when not given
_TOLD = {"num_warps": 4, "num_ctas": 1, "num_stages": 3,
         "enable_fp_fusion": True, "launch_cooperative_grid": False,
         "extern_libs": ()}


def _call(hook, function, special, is_warmup):
    """Calls a hook about a compilation; what it returns."""
    if not hook:
        return None
    told = {n: special.options.get(n, d) for n, d in _TOLD.items()}
    name = function.fn.__qualname__
    settings = ", ".join(f"{n}={v}" for n, v in told.items()
                         if n != "extern_libs")
    types = ", ".join(f"{n}: {t}" for n, t in special.signature.items())
    full_name = f"{function.fn.__module__}.{name}"
    return hook(
        key=special.key, repr=f"{name}[{settings}]({types})",
        fn=JitFunctionInfo(function.fn.__module__, name, function),
        compile=dict(
            told, key=special.key, signature=special.signature, device=0,
            constants=special.constants, configs=[special.attrs],
            specialization_data=special.data(full_name, special.options),
            is_warmup=is_warmup),
        is_manual_warmup=is_warmup, already_compiled=False)


# ---- compiling what another process was compiled for ------------------------


def preload(function: JITFunction, text: str) -> CompiledKernel:
    """The kernel that Specialized.data describes, compiled."""
    data = json.loads(text)
    name = f"{function.fn.__module__}.{function.fn.__qualname__}"
    if data["name"] != name:
        raise RuntimeError(f"Specialization data is for {data['name']} but "
                           f"trying to preload for {name}")
    constants = {tuple(path): _from_json(value) for path, value in zip(
        data["constant_keys"], data["constant_vals"])}
    attrs = dict(zip(map(tuple, data["attrs_keys"]), data["attrs_vals"]))
    values = mock.values(function, data["signature"], constants, attrs)
    kernel = function.compile(values, data["options"]).kernel
    function.specialized[data["key"]] = kernel
    return kernel


def _from_json(value):
    if isinstance(value, dict) and "constexpr" in value:
        return tltypes.constexpr(value["constexpr"])
    if isinstance(value, str) and tltypes.dtype.is_dtype(value):
        return tltypes.dtype(value)
    return value
