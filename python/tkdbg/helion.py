"""Helion's kernels: which configuration runs, and what is measured.

Helion writes many kernels of Triton for one function, times them on the
device, and keeps the fastest.  Times of an interpreter would choose what no
GPU would, so nothing is timed here: of the configurations in a stated order
the first one runs that the device can launch.  Helion's own code does the
rest.
"""
from __future__ import annotations

import functools
import random
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from . import bench, compare, session as session_, tuned, tuner

if TYPE_CHECKING:
    from .patches import Patches

_SEARCH = "helion.autotuner.base_search"
_CACHE = "helion.autotuner.base_cache"
_BENCHMARKS = "helion.autotuner.benchmarking"
# Searches that need scikit-learn, which learns from times.
_LEARNING = ("helion.autotuner.surrogate_pattern_search",
             "helion.autotuner.de_surrogate_hybrid")

# How many configurations of a space too large to try are drawn from it.
DRAWN = 8


def hooks(patches: Patches) -> dict[str, Callable[..., Any]]:
    """{module: what to do once it was imported}."""
    return {
        _SEARCH: lambda: patches.set(
            sys.modules[_SEARCH].BaseSearch, "autotune", choose),
        # What a GPU found fastest once must not decide what runs here.
        _CACHE: lambda: patches.set(
            sys.modules[_CACHE].AutotuneCacheBase, "autotune",
            lambda cache, **_: choose(cache.autotuner)),
        _BENCHMARKS: lambda: _after_benchmarks(patches),
        **{name: functools.partial(_after_learning, patches, name)
           for name in _LEARNING},
    }


def _after_learning(patches, name):
    """Nothing is learnt here: such a search does without what it needs."""
    patches.set(sys.modules[name], "HAS_ML_DEPS", True)


# ---- choosing a configuration -----------------------------------------------


def choose(search: Any, **_: Any) -> Any:
    """BaseSearch.autotune: the first configuration that the device can launch;
    all of them may run before, and are compared."""
    __tracebackhide__ = True
    kernel, args = search.kernel, search.args
    configs = _candidates(search)
    if not isinstance(args, (tuple, list)):
        return configs[0]  # for the arguments of several calls at once
    tuned.try_all(_name(kernel), configs, lambda: _arguments(kernel, args),
                  lambda config: _results(kernel, config, args))
    return next((config for config in configs
                 if _can_launch(kernel, config, args)), configs[0])


def _candidates(search):
    """The configurations that a program names, in its order; where it names
    none: Helion's default, those that Helion begins a search with, and some
    drawn from the space, always the same."""
    named = list(getattr(search, "configs", ()))
    if named:
        return named
    spec = search.config_spec
    found = [spec.default_config(),
             *getattr(spec, "compiler_seed_configs", ())]
    drawn = spec.create_config_generation(
        overrides=search.settings.autotune_config_overrides or None)
    before = random.getstate()
    random.seed(0)
    try:
        found += (drawn.random_config() for _ in range(DRAWN))
    finally:
        random.setstate(before)
    return list({str(config): config for config in found}.values())


def _name(kernel):
    """Of a function of Helion's, or of one that it only tunes."""
    return getattr(getattr(kernel, "kernel", None), "name", "the kernel")


def _arguments(kernel, args):
    """{name: tensor} of the arguments of a call."""
    function = getattr(kernel, "kernel", None)
    names = function.signature.parameters if function else ()
    given = dict(zip(names or map("argument {}".format, range(len(args))),
                     args))
    return {n: t for name, value in given.items()
            for n, t in _tensors(name, value)}


def _can_launch(kernel, config, args):
    """Whether the kernels of a configuration fit the device; they are only
    compiled, while the code around them runs."""
    if not hasattr(kernel, "kernel"):
        return True  # none of Helion's: nothing is known without running it
    launcher = sys.modules["helion.runtime"].default_launcher

    def compiles(function, grid, *args, **options):
        launcher(_Compiled(function), grid, *args, **options)
    memory = compare.Memory(_arguments(kernel, args).values())
    try:
        with session_.current().reports.catching(_not_tuned()):
            kernel.compile_config(config, allow_print=False)(
                *args, _launcher=compiles)
    except _not_tuned():
        return False
    finally:
        memory.restore()
    return True


class _Compiled:
    """A kernel that is compiled where it would be launched."""

    def __init__(self, function: Any) -> None:
        self.function = function

    def run(self, *args: Any, warmup: bool, **options: Any) -> Any:
        compiled = self.function.run(*args, warmup=True, **options)
        compiled._init_handles()
        return compiled


def _results(kernel, config, args):
    """{name: tensor} of what a configuration gives; None: it is left out."""
    try:
        with session_.current().reports.catching(_not_tuned()):
            found = kernel.compile_config(config, allow_print=False)(*args)
    except _not_tuned():
        return None
    return dict(_tensors("result", found))


def _not_tuned():
    """What a configuration may fail with and only be left out."""
    invalid = sys.modules["helion.exc"].InvalidConfig
    return (*tuner.not_tuned(), invalid)


def _tensors(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    """(name, tensor) of a value and of all that it holds."""
    if isinstance(value, (tuple, list)):
        for i, part in enumerate(value):
            yield from _tensors(f"{name}[{i}]", part)
    elif isinstance(value, dict):
        for key, part in value.items():
            yield from _tensors(f"{name}[{key!r}]", part)
    elif hasattr(value, "untyped_storage"):
        yield name, value


# ---- benchmarks -------------------------------------------------------------


def _after_benchmarks(patches):
    module = sys.modules[_BENCHMARKS]
    patches.set(module, "compute_repeat", lambda fn, **_: 1)
    patches.set(module, "interleaved_bench", interleaved_bench)
    patches.set(module, "do_bench", do_bench)


def interleaved_bench(fns: Sequence[Callable[[], Any]],
                      **_: Any) -> list[float]:
    """Milliseconds of each function, which is called once."""
    times: list[float] = []
    bench.once(lambda: times.extend(map(bench.time, fns)))
    return times


def do_bench(fn: Callable[[], Any], warmup: float = 25, rep: float = 100,
             grad_to_none: Any = None,
             quantiles: Sequence[float] | None = None,
             return_mode: str = "mean", *_: Any, **__: Any) -> Any:
    """... of one function."""
    return bench.summarise([bench.once(fn)], quantiles, return_mode)
