"""Files that PyTorch's compiler wrote (output_code.py) run as they are.

Such a file holds each kernel as text, which it gives to AsyncCompile; the
kernel's decorator chooses configurations and makes a CachingAutotuner, whose
run() the file calls.  Here the text becomes a module in this process, at the
lines that it has in the file, and run() launches the first configuration.
PyTorch's own code does the rest: it reads the metadata, makes the
configurations and computes the grid.
"""
from __future__ import annotations

import linecache
import sys
import time

from . import operations, parsing, session as session_, torch_private

_ANY_SIZE = {"i8": "int8", "i16": "int16", "i32": "int32", "i64": "int64",
             "u8": "uint8", "u16": "uint16", "u32": "uint32",
             "u64": "uint64", "fp16": "float16", "fp32": "float32",
             "fp64": "float64"}


def hooks(patches):
    """{module: what to do once it was imported}."""
    return {
        torch_private.ASYNC_COMPILE: lambda: _after_async(patches),
        torch_private.HELPERS:
            lambda: _after_helpers(patches),
        torch_private.HEURISTICS:
            lambda: _after_heuristics(patches),
        torch_private.INDUCTOR_UTILS: lambda: _after_utils(patches),
    }


# ---- from text to a kernel --------------------------------------------------


def _after_async(patches):
    module = sys.modules[torch_private.ASYNC_COMPILE]
    patches.set(module.AsyncCompile, "triton", _triton)


def _triton(self, kernel_name, source_code, device_str="cuda"):
    """AsyncCompile.triton: the object that the text makes of the kernel."""
    caller = sys._getframe(1)
    name, line = _place(caller, source_code, kernel_name)
    module = {"__name__": f"{caller.f_globals.get('__name__')}.{kernel_name}",
              "__file__": name}
    code = parsing.code("\n" * line + source_code, name)
    exec(code, module)
    return module[kernel_name]


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
    """The helpers that a launch without Python finds are the same here; some
    of PyTorch's use parts of Triton's compiler."""
    module = sys.modules[torch_private.HELPERS]
    known = operations.names()
    for name in known.under("triton_helpers"):
        if hasattr(module, name):
            patches.set(module, name, known.builtin(f"triton_helpers.{name}"))


# ---- launching --------------------------------------------------------------


def _after_heuristics(patches):
    module = sys.modules[torch_private.HEURISTICS]
    patches.set(module.CachingAutotuner, "run", run)
    if hasattr(module, "check_autotune_cache"):
        # What a GPU found fastest once must not decide what runs here.
        patches.set(module, "check_autotune_cache",
                    lambda configs, *_, **__: (configs, None, {}))


def run(self, *args, stream=None, grid=None, **options):
    """CachingAutotuner.run with its first configuration."""
    __tracebackhide__ = True
    fn, config = self.fn, self.configs[0]
    constants = dict(_constants(self), **config.kwargs)
    values = _values(self, args, constants)
    if grid is None:
        grid = _grid(self, config, values)
    elif callable(grid):
        grid = grid({**constants, **values})
    signature = self.triton_meta.get("signature", {})
    call = {n: constants[n] for n in fn.arg_names if n in constants}
    call.update((n, _typed(v, signature.get(n))) for n, v in values.items()
                if n in fn.arg_names)
    return fn[tuple(grid)](**call)


def _constants(self):
    """{name: value} of the arguments that the metadata makes constants."""
    found = self.triton_meta.get("constants") or {}
    names = self.fn.arg_names
    return {names[k] if isinstance(k, int) else names[k[0]]
            if isinstance(k, tuple) else k: v for k, v in found.items()}


def _values(self, args, constants):
    """{name: value} of the arguments of a call.

    Those that are declared constexpr and have a value are left out of a
    call; None arguments without a type sometimes.
    """
    fn = self.fn
    declared = {fn.arg_names[i] for i in fn.constexprs}
    names = [n for n in fn.arg_names
             if n not in config_names(self) and
             not (n in declared and n in constants)]
    names += self.inductor_meta.get("extra_launcher_args", ())
    if len(args) < len(names):
        typed = self.triton_meta.get("signature", {})
        names = [n for n in names if n not in constants or n in typed]
    if len(args) != len(names):
        raise TypeError(f"{fn.__name__}.run takes {len(names)} arguments "
                        f"({', '.join(names)}), not {len(args)}")
    return dict(zip(names, args))


def config_names(self):
    return self.configs[0].kwargs


def _grid(self, config, values):
    triton_heuristics = sys.modules[torch_private.HEURISTICS]
    found = triton_heuristics.GridExpr.from_meta(self.inductor_meta, config)
    return tuple(int(n) for n in found.eval_slow(values))


def _typed(value, name):
    """A number as the type that the metadata gives it; it is not a constexpr
    even if it is 1."""
    numpy = sys.modules.get("numpy")
    if numpy is None or type(value) not in (int, float):
        return value
    scalar = _ANY_SIZE.get(name)
    return value if scalar is None else numpy.dtype(scalar).type(value)


# ---- benchmarks at the end of a file ----------------------------------------


def _after_utils(patches):
    module = sys.modules[torch_private.INDUCTOR_UTILS]
    patches.set(module, "print_performance", print_performance)


def print_performance(model, example_inputs=(), *args, **kwargs):
    """Runs the model once: times of an interpreter would mean nothing."""
    start = time.perf_counter()
    model(*example_inputs)
    seconds = time.perf_counter() - start
    if not session_.current().options.is_quiet():
        print("tkdbg: ran once instead of a benchmark, "
              f"{1e3 * seconds:.1f} ms", file=sys.stderr)
    return seconds
