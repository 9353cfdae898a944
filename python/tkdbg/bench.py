"""triton.testing: measuring functions and comparing results."""
from __future__ import annotations

import contextlib
import gc
import math
import statistics
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from time import perf_counter
from typing import Any, Callable

from . import device, session as session_

MODES = ("min", "max", "mean", "median", "all")


def _quantiles(times, quantiles):
    """Quantiles of times, interpolated linearly."""
    ordered, found = sorted(times), []
    for q in quantiles:
        if not 0 <= q <= 1:
            raise ValueError("Quantiles must be in the range [0, 1]")
        place = q * (len(ordered) - 1)
        low, high = math.floor(place), math.ceil(place)
        part = place - low
        found.append((1 - part) * ordered[low] + part * ordered[high])
    return found


def summarise(times: list[float], quantiles: Sequence[float] | None,
              return_mode: str) -> Any:
    """One number, the quantiles asked for, or all times."""
    if quantiles is not None:
        found = _quantiles(times, quantiles)
        return found[0] if len(found) == 1 else found
    if return_mode == "all":
        return times
    return _SUMMARIES[return_mode](times)


_SUMMARIES: dict[str, Callable[[Any], Any]] = {
    "min": min, "max": max, "mean": statistics.mean,
    "median": statistics.median}


def _synchronise():
    torch = sys.modules.get("torch")
    if torch is not None and torch.cuda.is_available():
        torch.cuda.synchronize()


def time(fn: Callable[[], Any]) -> float:
    """Milliseconds that fn() takes."""
    start = perf_counter()
    fn()
    _synchronise()
    return (perf_counter() - start) * 1e3


def once(fn: Callable[[], Any]) -> float:
    """The same, told as what there is instead of a benchmark: times of an
    interpreter would mean nothing."""
    took = time(fn)
    if not session_.current().options.is_quiet():
        print(f"tkdbg: ran once instead of a benchmark, {took:.1f} ms",
              file=sys.stderr)
    return took


def do_bench(fn: Callable[..., Any], warmup: float = 25, rep: int = 100,
             grad_to_none: Any = None, quantiles: Sequence[float] | None = None,
             return_mode: str = "mean") -> Any:
    """Milliseconds of fn(), measured for about ``rep`` ms after ``warmup``
    ms; a function that takes longer than both runs once.

    quantiles: list of numbers in [0, 1]; return_mode: one of MODES.
    """
    if return_mode not in MODES:
        raise AssertionError(f"return_mode is one of {', '.join(MODES)}")
    for x in grad_to_none or ():
        x.grad = None
    first = time(fn)
    if first > warmup + rep:
        return summarise([first], quantiles, return_mode)
    rounds = 5 if first < rep / 5 else 1
    estimate = sum(time(fn) for _ in range(rounds)) / rounds
    estimate = max(estimate, 1e-6)
    if rounds > 1:
        for _ in range(max(1, int(warmup / estimate))):
            fn()
    times = []
    for _ in range(max(1, int(rep / estimate))):
        for x in grad_to_none or ():
            x.grad = None
        times.append(time(fn))
    return summarise(times, quantiles, return_mode)


def do_bench_cudagraph(fn: Callable[..., Any], rep: int = 20,
                       grad_to_none: Any = None,
                       quantiles: Sequence[float] | None = None,
                       return_mode: str = "mean") -> Any:
    """As do_bench: there are no graphs to capture into."""
    return do_bench(fn, warmup=rep / 4, rep=rep, grad_to_none=grad_to_none,
                    quantiles=quantiles, return_mode=return_mode)


def do_bench_proton(fn: Callable[..., Any], warmup: float = 25,
                    rep: int = 100, grad_to_none: Any = None,
                    quantiles: Sequence[float] | None = None,
                    return_mode: str = "mean") -> Any:
    """As do_bench: there is no profiler that measures kernels alone."""
    return do_bench(fn, warmup, rep, grad_to_none, quantiles, return_mode)


def do_bench_cudagraph_proton(fn: Callable[..., Any], rep: int = 20,
                              grad_to_none: Any = None,
                              quantiles: Sequence[float] | None = None,
                              return_mode: str = "mean") -> Any:
    """As do_bench_cudagraph: there is no such profiler, and no graph."""
    return do_bench_cudagraph(fn, rep, grad_to_none, quantiles, return_mode)


@contextlib.contextmanager
def cuda_graph_without_gc(*args: Any, **kwargs: Any) -> Iterator[Any]:
    """torch.cuda.graph, during which no garbage is collected."""
    import torch
    collects = gc.isenabled()
    gc.disable()
    try:
        with torch.cuda.graph(*args, **kwargs) as graph:
            yield graph
    finally:
        if collects:
            gc.enable()


def measuring(names: Iterable[str]) -> dict[str, Any]:
    """Those of these names that measure a function, with ours."""
    return {n: globals()[n] for n in names if n.startswith("do_bench")
            and n in globals()}


def _as_array(x):
    """A NumPy array of anything that assert_close takes."""
    import numpy
    if hasattr(x, "detach"):
        x = x.detach().cpu()
        if "bfloat16" in str(x.dtype) or "float8" in str(x.dtype):
            x = x.float()
        return x.numpy()
    return numpy.asarray(x)


def assert_close(x: Any, y: Any, atol: float | None = None,
                 rtol: float | None = None, err_msg: str = "") -> None:
    """Raises AssertionError unless |x - y| <= atol + rtol * |y|.

    atol: 1e-2 if None; rtol: 0 if None; each may be a function of x's
    dtype.  NaN equals NaN.
    """
    import numpy
    dtype = getattr(x, "dtype", None)
    atol = 1e-2 if atol is None else atol(dtype) if callable(atol) else atol
    rtol = 0.0 if rtol is None else rtol(dtype) if callable(rtol) else rtol
    x, y = _as_array(x), _as_array(y)
    if x.size > 1 or y.size > 1:
        numpy.testing.assert_allclose(x, y, atol=atol, rtol=rtol,
                                      equal_nan=True, err_msg=err_msg)
    elif not numpy.allclose(x, y, atol=atol, rtol=rtol, equal_nan=True):
        raise AssertionError(f"{err_msg} {x} is not close to {y} "
                             f"(atol={atol}, rtol={rtol})")


# ---- what the device can do -------------------------------------------------


def nvsmi(attrs: Any) -> Any:
    """nvidia-smi's answers as ints; the virtual device's without it."""
    known = {"clocks.current.sm": "sm_clock_rate",
             "clocks.max.sm": "sm_clock_rate",
             "clocks.current.memory": "mem_clock_rate",
             "clocks.max.memory": "mem_clock_rate"}
    if all(a in known for a in attrs):
        properties = device.properties()
        return [properties[known[a]] // 1000 for a in attrs]
    out = subprocess.check_output(
        ["nvidia-smi", "-i", "0", "--query-gpu=" + ",".join(attrs),
         "--format=csv,noheader,nounits"])
    return [int(x) for x in out.decode().split(",")]


def get_dram_gbps(device_: Any = None) -> float:
    """Memory bandwidth of the device in GB/s."""
    p = device.properties(device_)
    return p["mem_clock_rate"] * p["mem_bus_width"] * 2 / 1e6 / 8


def _tflops(per_core, clock_rate):
    cores = device.model().multiprocessors * 4
    return cores * clock_rate * per_core * 1e-9


def _size(dtype):
    return getattr(dtype, "itemsize", None) or 4


def get_max_tensorcore_tflops(dtype: Any, clock_rate: float,
                              device_: Any = None) -> float:
    """Peak of the tensor cores in TFLOP/s; clock_rate in kHz."""
    per_core = {4: 256, 2: 512, 1: 1024}.get(_size(dtype))
    if per_core is None:
        raise RuntimeError("dtype not supported")
    return _tflops(per_core, clock_rate)


def get_max_simd_tflops(dtype: Any, clock_rate: float,
                        device_: Any = None) -> float:
    """Peak of the other arithmetic units in TFLOP/s."""
    per_core = {4: 32, 2: 64}.get(_size(dtype))
    if per_core is None:
        raise RuntimeError("dtype not supported")
    return _tflops(per_core, clock_rate)


@contextlib.contextmanager
def set_gpu_clock(ref_sm_clock: int = 1350,
                  ref_mem_clock: int = 1215) -> Iterator[Any]:
    """Sets nothing; gives (TFLOP/s, GB/s) at these clocks in MHz."""
    yield (1e-6 * 2 * 108 * 4 * 256 * ref_sm_clock,
           640 * 2 * ref_mem_clock * 1e-3)


def cuda_memcheck(**target_kwargs: Any) -> Callable[..., Any]:
    """Decorator without effect: every launch is checked."""
    return lambda fn: fn
