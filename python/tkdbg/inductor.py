"""Files that PyTorch's compiler wrote (output_code.py) run as they are.

Such a file holds each kernel as text, which it gives to AsyncCompile; the
kernel's decorator chooses configurations and makes a CachingAutotuner, whose
run() the file calls.  Here the text becomes a module in this process, at the
lines that it has in the file, and run() launches the first configuration, as
a kernel of the types that the file's metadata gives it.  PyTorch's own code
does the rest: it reads the metadata, makes the configurations and computes
the grid.
"""
from __future__ import annotations

import linecache
import operator
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from . import (bench, functions, modelled, operations, parsing,
               torch_private, tuned, typed, written)

if TYPE_CHECKING:
    from .patches import Patches


def hooks(patches: Patches) -> dict[str, Callable[..., Any]]:
    """{module: what to do once it was imported}."""
    return {
        torch_private.DEVICES: lambda: _after_devices(patches),
        torch_private.ASYNC_COMPILE: lambda: _after_async(patches),
        torch_private.HELPERS:
            lambda: _after_helpers(patches),
        torch_private.HEURISTICS:
            lambda: _after_heuristics(patches),
        torch_private.INDUCTOR_UTILS: lambda: _after_utils(patches),
    }


# ---- streams ----------------------------------------------------------------


def _after_devices(patches):
    """A PyTorch that was built without CUDA has no function there."""
    interface = sys.modules[torch_private.DEVICES].CudaInterface
    if interface.get_raw_stream is None:
        patches.set(interface, "get_raw_stream", staticmethod(_raw_stream))


def _raw_stream(index):
    cuda = sys.modules["torch"].cuda
    return cuda.current_stream(index).cuda_stream


# ---- from text to a kernel --------------------------------------------------


def _after_async(patches):
    module = sys.modules[torch_private.ASYNC_COMPILE]
    patches.set(module.AsyncCompile, "triton", _triton)
    # Processes that would compile kernels import PyTorch once more each, and a
    # program that ends early waits for them.
    if hasattr(module, "maybe_warm_pool"):
        patches.set(module, "maybe_warm_pool", lambda: None)
    if hasattr(module.AsyncCompile, "use_process_pool"):
        patches.set(module.AsyncCompile, "use_process_pool",
                    classmethod(lambda cls: False))


def _triton(self, kernel_name, source_code, device_str="cuda"):
    """AsyncCompile.triton: the object that the text makes of the kernel."""
    caller = sys._getframe(1)
    name, line = _place(caller, source_code, kernel_name)
    module = {"__name__": f"{caller.f_globals.get('__name__')}.{kernel_name}",
              "__file__": name}
    text = "\n" * line + source_code
    lines = linecache.getlines(name)[:line]
    exec(written.at_its_place(parsing.code(text, name), text, lines), module)
    kernel = module[kernel_name]
    kernel.fn.fn.tkdbg_model = modelled.of(kernel_name, lines)
    return kernel


def _place(caller, text, kernel_name):
    """(file, lines before the text in it) of a kernel's text."""
    name = caller.f_code.co_filename
    whole = "".join(linecache.getlines(name, caller.f_globals))
    at = whole.find(text)
    if at >= 0:
        return name, whole.count("\n", 0, at)
    name = f"<{kernel_name}>"  # the file spells the text in another way
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    return name, 0


def _after_helpers(patches):
    """Helpers that use parts of Triton's compiler are those that a launch
    without Python finds; jit functions are PyTorch's own, of its release."""
    module = sys.modules[torch_private.HELPERS]
    known = operations.names()
    for name in known.under("triton_helpers"):
        own = getattr(module, name, None)
        if own is not None and not functions.is_jit_class(type(own)):
            patches.set(module, name, known.builtin(f"triton_helpers.{name}"))


# An attribute of a CachingAutotuner: its configurations were compared.
_COMPARED = "tkdbg_compared"


# ---- launching --------------------------------------------------------------


def _after_heuristics(patches):
    module = sys.modules[torch_private.HEURISTICS]
    patches.set(module.CachingAutotuner, "run", run)
    patches.set(module.CachingAutotuner, "precompile", precompile)
    if hasattr(module, "check_autotune_cache"):
        # What a GPU found fastest once must not decide what runs here.
        patches.set(module, "check_autotune_cache",
                    lambda configs, *_, **__: (configs, None, {}))


def run(self: Any, *args: Any, stream: int | None = None, grid: Any = None,
        **options: Any) -> Any:
    """CachingAutotuner.run with its first configuration that the device can
    launch; the first call may run all of them, and compare."""
    __tracebackhide__ = True
    if not hasattr(self, _COMPARED):
        setattr(self, _COMPARED, True)
        _clear(self, args)
        _compare(self, args, stream, grid)
    if len(self.launchers) == 1:
        return self.launchers[0](*args, stream=stream, grid=grid)
    return _settle(self, operator.methodcaller("__call__", *args,
                                               stream=stream, grid=grid))


def _settle(self, attempt):
    """Keeps a launcher of the first configuration that the device can launch,
    as attempt(launcher) finds out."""
    __tracebackhide__ = True

    def keep(config):
        launcher = Launcher(self, config)
        attempt(launcher)
        self.launchers = [launcher]
    tuned.first_that_fits(self.configs, keep)


def _clear(self, args):
    """What times of several configurations leave: the arguments that the
    program's tuner resets are 0 when the first call runs."""
    names = getattr(self, "reset_to_zero_arg_names", None) or ()
    if names and len(self.configs) > 1:
        tuned.clear(self.fn.__name__, names, _values(
            self, args, Launcher(self, self.configs[0]).constants))


def _compare(self, args, stream, grid):
    """Runs all configurations on the same contents if that is wanted, else
    notes that all but one are left out."""
    def named():
        return _values(self, args, Launcher(self, self.configs[0]).constants)

    def launch(config):
        Launcher(self, config)(*args, stream=stream, grid=grid)
    tuned.try_all(self.fn.__name__, self.configs, named,
                  tuned.fitting(launch))


def precompile(self: Any, *_: Any, **__: Any) -> None:
    """CachingAutotuner.precompile: what run will launch, compiled."""
    if not self.launchers:
        _settle(self, operator.methodcaller("compile", None))


class Launcher:
    """Launches a kernel with one configuration: PyTorch makes functions with
    these attributes."""

    store_cubin = False

    def __init__(self, tuner: Any, config: Any) -> None:
        self.tuner, self.config = tuner, config
        self.fn = tuner.fn
        self.bin: Any = None  # the compiled kernel
        self.constants = {**_options(tuner.fn, config), **_constants(tuner),
                          **config.kwargs}
        self.signature = _signature(tuner, self.constants)

    def __call__(self, *args: Any, stream: int | None = None,
                 grid: Any = None) -> None:
        __tracebackhide__ = True
        values = _values(self.tuner, args, self.constants)
        if grid is None:
            grid = _grid(self.tuner, self.config, values)
        elif callable(grid):
            grid = grid({**self.constants, **values})
        named = {**_defaults(self.fn), **values, **self.constants}
        call = [named[name] for name in self.fn.arg_names]
        if self.bin is None:
            self.compile(call)
        self.bin[(*grid, 1, 1)[:3]](*call)

    def compile(self, args: list[Any] | None) -> None:
        """args: those of the first launch, or None."""
        self.bin = typed.kernel_of(
            self.fn, self.signature, self.constants, _attributes(self.tuner),
            {"num_warps": self.config.num_warps,
             "num_stages": self.config.num_stages}, args)

    @property
    def n_regs(self) -> int:
        return self.bin.n_regs

    @property
    def n_spills(self) -> int:
        return self.bin.n_spills

    @property
    def shared(self) -> int:
        return self.bin.metadata.shared

    @property
    def cache_hash(self) -> str:
        return self.bin.hash


def _options(fn, config):
    """{name: value} of the options of a configuration that a kernel of the
    program's declares as parameters: Triton's tuner fills them, and calls
    leave them out."""
    declared = {p.name for p in fn.params if p.is_constexpr}
    return {name: getattr(config, name)
            for name in ("num_warps", "num_stages") if name in declared}


def _constants(self):
    """{name: value} of the arguments that the metadata makes constants."""
    found = self.triton_meta.get("constants") or {}
    names = self.fn.arg_names
    return {names[k] if isinstance(k, int) else names[k[0]]
            if isinstance(k, tuple) else k: v for k, v in found.items()}


def _signature(self, constants):
    """{name: type} of all parameters; older versions of PyTorch name only
    those that are not constants, or give the numbers of parameters."""
    names = self.fn.arg_names
    types = {names[k] if isinstance(k, int) else k: kind for k, kind in
             (self.triton_meta.get("signature") or {}).items()}
    return {name: "constexpr" if name in constants else
            types.get(name, "constexpr") for name in names}


def _attributes(self):
    """{(number of a parameter,): what is known of it} of the metadata."""
    found = (self.triton_meta.get("configs") or [{}])[0]
    if not isinstance(found, dict):
        found = {(i,): [["tt.divisibility", 16]] for i in
                 getattr(found, "divisible_by_16", ())}
    return found


def _defaults(fn):
    """{name: default} of the parameters that have one."""
    return {name: p.default for name, p in fn.signature.parameters.items()
            if p.default is not p.empty}


def _values(self, args, constants):
    """{name: value} of the arguments of a call.

    Those that are declared constexpr and have a value are left out of a
    call; None arguments without a type sometimes.
    """
    fn = self.fn
    declared = {p.name for p in fn.params if p.is_constexpr}
    names = [n for n in fn.arg_names
             if not (n in declared and n in constants)]
    names += self.inductor_meta.get("extra_launcher_args", ())
    if len(args) < len(names):
        typed_ = self.triton_meta.get("signature", {})
        names = [n for n in names if n not in constants or n in typed_]
    if len(args) != len(names):
        raise TypeError(f"{fn.__name__}.run takes {len(names)} arguments "
                        f"({', '.join(names)}), not {len(args)}")
    return dict(zip(names, args))


def _grid(self, config, values):
    triton_heuristics = sys.modules[torch_private.HEURISTICS]
    found = triton_heuristics.GridExpr.from_meta(self.inductor_meta, config)
    return tuple(int(n) for n in found.eval_slow(values))


# ---- benchmarks at the end of a file ----------------------------------------


def _after_utils(patches):
    module = sys.modules[torch_private.INDUCTOR_UTILS]
    patches.set(module, "print_performance", print_performance)


def print_performance(model: Callable[..., Any],
                      example_inputs: tuple[Any, ...] = (), *args: Any,
                      **kwargs: Any) -> float:
    """Runs the model once."""
    return bench.once(lambda: model(*example_inputs)) / 1e3
