"""@triton.autotune and @triton.heuristics.

An interpreter has nothing to measure: by default the first configuration
that pruning leaves is the best one, and runs once.  Where the script brings a
do_bench of its own, that is called for each and decides.  With the option
``autotune="all"`` every configuration runs, each on the arguments' original
contents, and those whose results differ from the first one's are reported;
see compare.py.
"""
from __future__ import annotations

import functools
import hashlib
import inspect
import json
import math
import sys
import time
import warnings
from collections.abc import Callable, Sequence
from typing import Any, cast

from . import (bench, compare, device, environment, errors,
               session as session_, tuned)
from .functions import KernelInterface

_PRINT = "autotuning", "print", "TRITON_PRINT_AUTOTUNING"


def _say_chosen(tuner, key):
    """What Triton prints of a choice, if it is asked to."""
    if environment.is_set(*_PRINT):
        took = getattr(tuner, "bench_time", 0.0)
        print(f"Triton autotuning for function {tuner.base_fn.__name__},\n"
              f"with key as {key},\nfinished after {took:.2f}s,\n"
              f"best config selected: {tuner.best_config};")


def _tell_listener(tuner, key):
    """What knobs.autotuning.listener of Triton 3.8 is told of a choice."""
    knobs = sys.modules.get("triton.knobs")
    listener = getattr(getattr(knobs, "autotuning", None), "listener", None)
    if listener is None or not session_.current().version.since(3, 8):
        return
    fn = tuner.fn
    while not hasattr(fn, "cache_key"):
        fn = fn.fn
    listener(fn=fn, key=key, best_config=tuner.best_config,
             configs_timings=tuner.configs_timings,
             duration=tuner.bench_time, cache_hit=False)


def not_tuned() -> tuple[type[BaseException], ...]:
    """What a configuration may fail with and only be left out."""
    return (errors.CompileTimeAssertionFailure, errors.OutOfResources,
            errors.PTXASError, *session_.current().real.not_tuned)


class Config:
    """Values for meta-parameters, and launch options.

    kwargs: {meta-parameter: value}; pre_hook(args) is called before each
    launch with this configuration.
    """

    def __init__(self, kwargs: Any, num_warps: int = 4, num_stages: int = 3,
                 num_ctas: int = 1, maxnreg: int | None = None,
                 pre_hook: Callable[..., Any] | None = None,
                 ir_override: Any = None, **others: Any) -> None:
        if others:
            known = ("num_buffers_warp_spec", "num_consumer_groups",
                     "reg_dec_producer", "reg_inc_consumer")
            for name in others:
                if name not in known:
                    raise TypeError("Config.__init__() got an unexpected "
                                    f"keyword argument '{name}'")
        self.kwargs = kwargs
        self.num_warps = num_warps
        self.num_stages = num_stages
        self.num_ctas = num_ctas
        self.maxnreg = maxnreg
        self.pre_hook = pre_hook
        self.ir_override = ir_override

    def all_kwargs(self) -> dict[str, Any]:
        """kwargs and the launch options that are set."""
        options = {n: getattr(self, n) for n in (
            "num_warps", "num_ctas", "num_stages", "maxnreg", "ir_override")}
        return {**self.kwargs,
                **{n: v for n, v in options.items() if v is not None}}

    def __setstate__(self, state: dict[str, Any]) -> None:
        type(self).__init__(self, state.get("kwargs", {}))
        self.__dict__.update(state)

    def __str__(self) -> str:
        shown = dict(self.kwargs, num_warps=self.num_warps,
                     num_ctas=self.num_ctas, num_stages=self.num_stages,
                     maxnreg=self.maxnreg)
        return ", ".join(f"{n}: {v}" for n, v in shown.items())

    def _identity(self):
        return (*self.all_kwargs().items(), self.pre_hook)

    def __eq__(self, other: object) -> bool:
        return (isinstance(other, Config) and
                self._identity() == other._identity())

    def __hash__(self) -> int:
        return hash(self._identity())


class Autotuner(KernelInterface):
    """A kernel with configurations to choose from."""

    def __init__(self, fn: Any, arg_names: list[str], configs: list[Config],
                 key: Sequence[str], reset_to_zero: Sequence[str] | None = None,
                 restore_value: Sequence[str] | None = None,
                 pre_hook: Callable[..., Any] | None = None,
                 post_hook: Callable[..., Any] | None = None,
                 prune_configs_by: dict[str, Any] | None = None,
                 warmup: Any = None, rep: Any = None,
                 use_cuda_graph: bool = False,
                 do_bench: Callable[..., Any] | None = None,
                 cache_results: bool = False) -> None:
        self.fn = fn
        self.arg_names = arg_names
        self.configs = configs or [Config({})]
        self.keys = key
        self.cache: dict[Any, Any] = {}
        self.cache_results = cache_results
        self.reset_to_zero = list(reset_to_zero or ())
        self.restore_value = list(restore_value or ())
        self.restore_copies: dict[Any, Any] = {}
        self._check_names()
        self.user_defined_pre_hook = bool(pre_hook)
        self.user_defined_post_hook = bool(post_hook)
        self.pre_hook = pre_hook or self._reset
        self.post_hook = post_hook or self._restore
        prune = prune_configs_by or {}
        self.perf_model = prune.get("perf_model")
        self.configs_top_k = prune.get("top_k", 1.0)
        self.early_config_prune = prune.get("early_config_prune")
        self.num_warmups, self.num_reps = warmup, rep
        self.use_cuda_graph = use_cuda_graph
        self._do_bench = do_bench
        self.best_config = None
        self.configs_timings: dict[Any, Any] = {}
        self.nargs: Any = None
        self.bench_time = 0.0
        if warmup is not None or rep is not None or use_cuda_graph:
            warnings.warn("warmup, rep, and use_cuda_graph parameters are "
                          "deprecated. See https://github.com/triton-lang/"
                          "triton/pull/4496 for details.",
                          DeprecationWarning, stacklevel=3)

    def _check_names(self):
        """A name that is not a parameter would be left out of the key without a
        word; Triton 3.9 refuses it."""
        if not session_.current().version.since(3, 9):
            return
        for what, names in (("key", self.keys),
                            ("reset_to_zero", self.reset_to_zero),
                            ("restore_value", self.restore_value)):
            unknown = [n for n in names if n not in self.arg_names]
            if unknown:
                raise ValueError(
                    f"{what} contains names that are not kernel arguments: "
                    f"{', '.join(unknown)}. Valid argument names are: "
                    f"{', '.join(self.arg_names)}.")

    @property
    def base_fn(self) -> Any:
        """The Python function under all wrappers."""
        fn = self.fn
        while not inspect.isfunction(fn):
            fn = fn.fn
        return fn

    @functools.cached_property
    def do_bench(self) -> Callable[..., Any]:
        """What measures a configuration; scripts may assign another."""
        if self._do_bench is None:
            return bench.do_bench
        return self._do_bench

    # ---- hooks -----------------------------------------------------------

    def _reset(self, kwargs, reset_only=False):
        skips = session_.current().version.since(3, 8)
        for name in self.reset_to_zero:
            if not (skips and kwargs[name] is None):
                zero(kwargs[name])
        if not reset_only:
            self.restore_copies = {
                n: compare.clone(kwargs[n]) for n in self.restore_value
                if not (skips and kwargs[n] is None)}

    def _restore(self, kwargs, exception):
        for name, copy in self.restore_copies.items():
            compare.copy_into(kwargs[name], copy)
        self.restore_copies = {}

    # ---- running ---------------------------------------------------------

    def run(self, *args: Any, **kwargs: Any) -> Any:
        self.nargs = dict(zip(self.arg_names, args))
        self._tuned = False  # this call is the first with its key
        try:
            return self._run_first(self._choose(args, kwargs), args, kwargs)
        finally:
            self.nargs = None
            session_.current().reader.repeat(())

    def _run_first(self, configs, args, kwargs):
        """Runs the first configuration that can be launched and whose static
        assertions hold: tuning leaves the others out."""
        failure: Any = None
        reports = session_.current().reports
        for config in configs:
            try:
                with reports.catching(not_tuned()):
                    result = self._run(config, args, kwargs)
            except not_tuned() as e:
                failure = failure or e
                _say_left_out(self.base_fn.__name__, config, e)
                self._tell_hooks(config, kwargs, e)
                continue
            if self._tuned:
                self.cache[self._key(kwargs)] = config
                _say_chosen(self, self._key(kwargs))
                _tell_listener(self, self._key(kwargs))
            return result
        reports.tell(failure)
        raise failure

    def _tell_hooks(self, config, kwargs, error):
        """The user's hooks, as around a configuration that tuning tries."""
        if self._tuned and self.user_defined_post_hook:
            named = {**self.nargs, **kwargs, **config.all_kwargs()}
            self.pre_hook(named)
            self.post_hook(named, exception=error)

    def _run(self, config, args, kwargs):
        self.best_config = config
        if config.pre_hook is not None:
            config.pre_hook({**self.nargs, **kwargs, **config.all_kwargs()})
        session_.current().reader.repeat(self._repeated(config))
        return self.fn.run(*args, **kwargs, **config.all_kwargs())

    def _repeated(self, config):
        """Parameters that real tuning would hand on from run to run: the
        detectors then look at what a second run would change."""
        if not self._tuned or self.user_defined_pre_hook or config.pre_hook:
            return ()
        kept = (*self.reset_to_zero, *self.restore_value)
        return frozenset(self.arg_names).difference(kept)

    def _choose(self, args, kwargs):
        """The configurations for these arguments, best first."""
        session_.current().requests.note("autotune")
        if len(self.configs) == 1:
            return self.configs
        key = self._key(kwargs)
        if key in self.cache:
            return [self.cache[key]]
        pruned = self.prune_configs(kwargs)
        if len(pruned) == 1 and session_.current().version.since(3, 8):
            self.cache[key] = pruned[0]  # there is nothing to measure
            return pruned
        self._check_conflicts(kwargs, pruned)
        if session_.current().options.autotune == "all":
            self._compare(pruned, args, kwargs)
        kept = self._kept_timings(key, pruned)
        if kept:
            self.configs_timings = kept
            self.cache[key] = min(kept, key=kept.get)
            return [self.cache[key]]
        self.configs_timings = dict.fromkeys(pruned, 0.0)
        if self._has_own_bench():
            pruned = self._measure(pruned, args, kwargs)
        # min() raises what Triton raises where none is left
        self.cache[key] = pruned[0] if pruned else min(cast(Any, pruned))
        self._keep_timings(key)
        self._tuned = len(pruned) > 1
        named = {**self.nargs, **kwargs, **pruned[0].all_kwargs()}
        tuned.note(self, pruned, named)
        self.pre_hook(named, reset_only=True)
        return pruned

    # ---- on disk ---------------------------------------------------------

    def _timings_file(self, key):
        """(who keeps files, name of the one) of the timings for a key; the
        choice depends on the kernel and the configurations."""
        fn = self.fn
        while not hasattr(fn, "cache_key"):
            fn = fn.fn
        text = "-".join(["tkdbg", str(device.target()), fn.cache_key,
                         str(key), *map(str, self._tried)])
        manager = sys.modules["triton.runtime.cache"].get_cache_manager(
            hashlib.sha256(text.encode()).hexdigest())
        return manager, f"{fn.__name__[:150]}.autotune.json"

    def _is_kept(self, key):
        on = getattr(self, "cache_results", False) or environment.is_set(
            "autotuning", "cache", "TRITON_CACHE_AUTOTUNING")
        return on and key and not any(c.pre_hook for c in self._tried)

    def _kept_timings(self, key, configs):
        """{configuration: timing} that an earlier process has kept; None."""
        self._tried = list(configs)
        if not self._is_kept(key):
            return None
        manager, name = self._timings_file(key)
        path = manager.get_file(name)
        if path is None:
            return None
        with open(path, encoding="utf-8") as file:
            timings = json.load(file)["configs_timings"]
        cls = type(self.configs[0])
        return {cls(**config): timing for config, timing in timings}

    def _keep_timings(self, key):
        if self._is_kept(key):
            manager, name = self._timings_file(key)
            manager.put(json.dumps({
                "key": key, "configs_timings": [
                    (vars(config), timing) for config, timing in
                    self.configs_timings.items()]}), name, binary=False)

    def _has_own_bench(self):
        """Whether the script says how to measure, other than for how long."""
        return (self._do_bench is not None and self.num_warmups is None and
                self.num_reps is None and not self.use_cuda_graph)

    def _measure(self, configs, args, kwargs):
        """The configurations, those first that the script's do_bench finds
        fastest; one that cannot be launched takes for ever."""
        started = time.time()
        for config in configs:
            if environment.is_set(*_PRINT):
                print(f"Autotuning kernel {self.base_fn.__name__} with "
                      f"config {config}")
            try:
                with session_.current().reports.catching(not_tuned()):
                    took = self.do_bench(
                        functools.partial(self._call, config, args, kwargs),
                        quantiles=(0.5, 0.2, 0.8))
            except not_tuned() as e:
                _say_left_out(self.base_fn.__name__, config, e)
                took = [math.inf] * 3
            self.configs_timings[config] = took
        self.bench_time = time.time() - started
        return sorted(configs, key=lambda c: self.configs_timings[c])

    def _bench(self, *args, config, **meta):
        """Quantiles of the time of one configuration, for subclasses that
        choose by themselves.

        All take the same time, so that the choice does not depend on the
        machine; a configuration runs only where all of them are to run.
        """
        self._check_conflicts(meta, [config])
        if session_.current().options.autotune != "all":
            meta = {**meta, "warmup": True}
        took = 1.0 if self._has_run(config, args, meta) else math.inf
        return [took] * 3

    def _key(self, kwargs):
        named = {n: v for n, v in {**self.nargs, **kwargs}.items()
                 if n in self.arg_names}
        key = [named[n] for n in self.keys if n in named]
        key += [str(v.dtype) for v in named.values() if hasattr(v, "dtype")]
        return tuple(key)

    @staticmethod
    def _check_conflicts(kwargs, configs):
        for config in configs:
            both = kwargs.keys() & config.kwargs.keys()
            if both:
                raise ValueError(
                    "Conflicting meta-parameters: "
                    f"{', '.join(sorted(both))}. Make sure that you don't "
                    "re-define auto-tuned symbols.")

    def _compare(self, configs, args, kwargs):
        """Runs every configuration on the same contents; reports."""
        compare.configurations(self.base_fn.__name__, configs,
                               {**self.nargs, **kwargs},
                               lambda c: self._has_run(c, args, kwargs))

    def _has_run(self, config, args, kwargs):
        """Runs one configuration; whether tuning does not leave it out."""
        try:
            with session_.current().reports.catching(not_tuned()):
                self._call(config, args, kwargs)
        except not_tuned():
            return False
        return True

    def _call(self, config, args, kwargs):
        """Runs one configuration between the hooks."""
        current = {**kwargs, **config.all_kwargs()}
        named = {**self.nargs, **current}
        if config.pre_hook:
            config.pre_hook(named)
        self.pre_hook(named)
        try:
            self.fn.run(*args, **current)
        except Exception as e:
            self.post_hook(named, exception=e)
            raise
        self.post_hook(named, exception=None)

    def prune_configs(self, kwargs: Any) -> list[Config]:
        """The configurations that early_config_prune and perf_model leave;
        raises AutotunerError when none is left."""
        configs = self.configs
        if self.early_config_prune:
            configs = list(self.early_config_prune(configs, self.nargs,
                                                   **kwargs))
            if not configs:
                raise session_.current().real.error_class(
                    errors.AutotunerError)(
                    "No valid autotuner configs after pruning. "
                    "`early_config_prune` should return at least one config.")
        if self.perf_model:
            top = self._top_k(len(configs))
            if len(configs) > top:
                expected = {c: self.perf_model(**{**self.nargs, **kwargs,
                                                  **c.all_kwargs()})
                            for c in configs}
                configs = sorted(configs, key=lambda c: expected[c])[:top]
        return configs

    def _top_k(self, left):
        """How many configurations to keep of those that are left."""
        top = self.configs_top_k
        if isinstance(top, float) and top <= 1.0:
            if session_.current().version.since(3, 9):
                return max(1, int(left * top))
            return int(len(self.configs) * top)
        if not isinstance(top, int):
            raise TypeError("Error while pruning configs, top_k must be "
                            "either 1) a float <= 1.0 or 2) an int")
        return top

    def warmup(self, *args: Any, **kwargs: Any) -> Any:
        """The compiled kernels of every configuration."""
        self.nargs = dict(zip(self.arg_names, args))
        try:
            return [self.fn.warmup(*args, **kwargs, **c.all_kwargs())
                    for c in self.prune_configs(kwargs)]
        finally:
            self.nargs = None


def _say_left_out(kernel, config, error):
    """Says that a configuration does not fit the device; one whose static
    assertion fails is left out without a word, as in Triton."""
    if getattr(error, "required", None) is not None:
        warnings.warn(f"{kernel}: the configuration ({config}) is left out: "
                      f"{error}", errors.KernelWarning, stacklevel=5)


def zero(tensor: Any) -> None:
    """Fills a tensor or array with zeros."""
    if hasattr(tensor, "zero_"):
        tensor.zero_()
    else:
        tensor[...] = 0


def autotune(configs: list[Config], key: Sequence[str],
             prune_configs_by: dict[str, Any] | None = None,
             reset_to_zero: Sequence[str] | None = None,
             restore_value: Sequence[str] | None = None,
             pre_hook: Callable[..., Any] | None = None,
             post_hook: Callable[..., Any] | None = None, warmup: Any = None,
             rep: Any = None, use_cuda_graph: bool = False,
             do_bench: Callable[..., Any] | None = None,
             cache_results: bool = False) -> Callable[..., Any]:
    """Decorator: gives a kernel configurations to choose from."""
    def decorate(fn):
        return Autotuner(fn, fn.arg_names, configs, key, reset_to_zero,
                         restore_value, pre_hook=pre_hook,
                         post_hook=post_hook,
                         prune_configs_by=prune_configs_by, warmup=warmup,
                         rep=rep, use_cuda_graph=use_cuda_graph,
                         do_bench=do_bench, cache_results=cache_results)
    return decorate


class Heuristics(KernelInterface):
    """A kernel some of whose meta-parameters are computed."""

    def __init__(self, fn: Any, arg_names: list[str],
                 values: dict[str, Callable[..., Any]]) -> None:
        self.fn = fn
        self.arg_names = arg_names
        self.values = values

    def run(self, *args: Any, **kwargs: Any) -> Any:
        for name, compute in self.values.items():
            kwargs[name] = compute({**dict(zip(self.arg_names, args)),
                                    **kwargs})
        return self.fn.run(*args, **kwargs)


def heuristics(values: dict[str, Callable[..., Any]]) -> Callable[..., Any]:
    """Decorator: values is {meta-parameter: function of the arguments}."""
    def decorate(fn):
        return Heuristics(fn, fn.arg_names, values)
    return decorate
