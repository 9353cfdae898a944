"""jax_triton.triton_call where JAX has no GPU.

jax-triton gives its primitive a meaning on GPUs only: it compiles the kernel
and hands the code to XLA.  On the CPU it gets one here.  Outside of jax.jit a
call runs at once, in the program's own thread; within, XLA calls back.  Arrays
of JAX do not change, so the kernel gets copies, and its outputs become new
arrays.
"""
from __future__ import annotations

import copy
import functools
import inspect
import sys
import types
import warnings
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from . import device, errors, tuned, typed

if TYPE_CHECKING:
    from .patches import Patches

_PLUGIN = "jaxlib.gpu_triton"
_LIBRARY = "jax_triton.triton_lib"

# What triton_call gives its primitive and changes nothing here.
_WITHOUT_MEANING = {"name", "serialized_metadata"}
_TARGET = "triton_kernel_call"


def hooks(patches: Patches) -> dict[str, Callable[..., Any]]:
    """{module: what to do once it was imported}."""
    return {_PLUGIN: lambda: _after_plugin(patches),
            _LIBRARY: lambda: _after_library(patches)}


def _after_plugin(patches):
    """jax_triton asks for these names before it lets itself be imported; JAX
    has them where it has a GPU."""
    plugin = sys.modules[_PLUGIN]
    if hasattr(plugin, "get_compute_capability"):
        return
    patches.set(plugin, "get_compute_capability",
                lambda index: device.target().arch)
    patches.set(plugin, "get_serialized_metadata", lambda opaque: b"")


def _after_library(patches):
    library = sys.modules[_LIBRARY]
    if not library.CAN_USE_TRITON:  # it looks for Triton's compiler
        patches.set(library, "CAN_USE_TRITON", True)
        for name, module in (("triton", "triton"), ("tl", "triton.language"),
                             ("autotuner", "triton.runtime.autotuner")):
            patches.set(library, name, sys.modules[module])
    primitive, jax = library.triton_kernel_call_p, library.jax

    def traced(*arrays, **params):
        shapes = [jax.ShapeDtypeStruct(out.shape, out.dtype)
                  for out in params["out_shapes"]]
        return jax.pure_callback(functools.partial(call, **params), shapes,
                                 *arrays)
    library.mlir.register_lowering(
        primitive, library.mlir.lower_fun(traced, multiple_results=True),
        platform="cpu")
    by_xla = primitive.impl

    def at_once(*arrays, **params):
        __tracebackhide__ = True
        if jax.default_backend() != "cpu":
            return by_xla(*arrays, **params)
        return [library.jnp.asarray(out) for out in call(*arrays, **params)]
    patches.set(primitive, "impl", at_once)


def call(*arrays: Any, **params: Any) -> list[Any]:
    """Runs the kernel of a triton_call; its outputs as NumPy arrays.

    params: those of jax-triton's primitive."""
    __tracebackhide__ = True
    return Call(arrays, params).run()


class Call:
    """One call of a kernel."""

    def __init__(self, arrays: Sequence[Any], params: dict[str, Any]) -> None:
        import numpy
        library = sys.modules[_LIBRARY]
        own = inspect.signature(library.triton_kernel_call_lowering).parameters
        self.metaparams = {name: value for name, value in params.items()
                           if name not in own}
        self.params = types.SimpleNamespace(**{
            name: value for name, value in params.items() if name in own})
        self.library = library
        _check(self.params)
        self.given = [numpy.asarray(array) for array in arrays]
        self.inputs = [array.copy(order="C") for array in self.given]
        self.aliases = dict(self.params.input_output_aliases)
        self.outputs = self._make_outputs(numpy)

    def _make_outputs(self, numpy):
        """Memory for the outputs: what no kernel writes is not a number."""
        inputs = {output: i for i, output in self.aliases.items()}
        outputs = []
        for i, shape in enumerate(self.params.out_shapes):
            if i in inputs:
                made = self.inputs[inputs[i]]
                if (made.shape, made.dtype) != (shape.shape, shape.dtype):
                    raise ValueError(
                        f"input_output_aliases={self.aliases}: input "
                        f"{inputs[i]} is {made.dtype}{list(made.shape)}, "
                        f"output {i} is {shape.dtype}{list(shape.shape)}")
            else:
                made = numpy.zeros(shape.shape, shape.dtype)
                if made.dtype != bool and made.size:
                    made.reshape(-1).view("u1").fill(0xFF)
            outputs.append(made)
        return outputs

    def run(self) -> list[Any]:
        __tracebackhide__ = True
        fn, args, configs = self._choices()
        launch = functools.partial(self._launch, fn, args)
        if len(configs) > 1:
            tuned.try_all(fn.__name__, configs, lambda: args,
                          tuned.fitting(launch))
        tuned.first_that_fits(configs, launch)
        self._check_inputs(fn)
        return self.outputs

    # ---- what jax-triton makes of its arguments ---------------------------

    def _choices(self):
        """(kernel, {name: argument}, configurations) of the call."""
        fn, library = self.params.fn, self.library
        values = list(self.inputs)
        for i, _, value in self.params.scalar_args:
            values.insert(i, value)
        named = dict(zip(fn.arg_names, (*values, *self.outputs)))
        configs = [library.triton.Config(
            {}, num_warps=self.params.num_warps or 4,
            num_stages=self.params.num_stages or 3,
            num_ctas=self.params.num_ctas)]
        if isinstance(fn, library.autotuner.Autotuner):
            configs = self._pruned(fn, named)
            fn = fn.fn
        if isinstance(fn, library.autotuner.Heuristics):
            for config in configs:
                kwargs = dict(config.kwargs)
                for name, compute in fn.values.items():
                    kwargs[name] = compute({**named, **self.metaparams,
                                            **kwargs})
                vars(config).update(kwargs=kwargs)
            fn = fn.fn
        if not isinstance(fn, library.triton.JITFunction):
            raise ValueError("`kernel` must be a Triton `JITFunction`, "
                             "`Heuristics` or `Autotuner`.")
        return fn, named, configs

    def _pruned(self, tuner, named):
        """Copies of the configurations that agree with the metaparameters of
        the call, as far as the kernel's own pruning leaves them."""
        own = tuner.early_config_prune

        def prune(configs, args, **_):
            if any(config.pre_hook is not None for config in configs):
                raise NotImplementedError("`pre_hook` is not supported")
            left = [config for config in configs
                    if all(config.kwargs.get(name, value) == value
                           for name, value in self.metaparams.items())]
            return left if own is None else own(left, args)
        pruning = copy.copy(tuner)
        vars(pruning).update(early_config_prune=prune, nargs=named)
        return list(map(copy.copy, pruning.prune_configs(self.metaparams)))

    # ---- launching --------------------------------------------------------

    def _launch(self, fn, args, config):
        __tracebackhide__ = True
        meta = {**self.metaparams, **config.kwargs}
        zeroed = self.params.zeroed_outputs
        for i in zeroed(meta) if callable(zeroed) else zeroed:
            self.outputs[i].fill(0)
        grid = self.library.normalize_grid(self.params.grid, meta)
        kernel, values = self._compile(fn, args, meta, config)
        if self.params.debug:
            print(kernel.asm["ttir"])
        kernel[grid](*values)

    def _compile(self, fn, args, meta, config):
        """(the kernel for the types of the call, its arguments in order)

        Triton is told what jax-triton tells it: arrays are aligned to 16
        bytes, of numbers nothing is known but that they are 1, and a float
        is an fp64."""
        types_ = {fn.arg_names[i]: "u1" if kind == "B" else kind
                  for i, kind, _ in self.params.scalar_args}
        constants = dict(meta)
        constants.update({fn.arg_names[i]: 1 for i, _, value
                          in self.params.scalar_args if value == 1})
        signature = {
            name: "constexpr" if name in constants or name not in args
            else types_.get(name) or _pointer_type(self.library, args[name])
            for name in fn.arg_names}
        values = [constants[n] if n in constants else args[n] if n in args
                  else _default(fn, n) for n in fn.arg_names]
        unknown = constants.keys() - set(fn.arg_names)
        if unknown:
            raise TypeError(f"{fn.__name__} has no parameter "
                            f"{', '.join(sorted(unknown))}, which triton_call "
                            "was given")
        attributes = {
            (i,): [["tt.divisibility", 16]]
            for i, name in enumerate(fn.arg_names) if name in args
            and name not in types_ and name not in constants}
        options = {"num_warps": config.num_warps,
                   "num_stages": config.num_stages,
                   "num_ctas": config.num_ctas,
                   "enable_fp_fusion": self.params.enable_fp_fusion}
        fixed = {name: value for name, value in zip(fn.arg_names, values)
                 if signature[name] == "constexpr"}
        return typed.kernel_of(fn, signature, fixed, attributes, options,
                               values), values

    def _check_inputs(self, fn):
        """JAX takes its arrays for unchanged: on a GPU a kernel that writes
        one changes it behind JAX's back."""
        scalars = {i for i, _, _ in self.params.scalar_args}
        names = [name for i, name in enumerate(fn.arg_names)
                 if i not in scalars]
        for i, (before, after) in enumerate(zip(self.given, self.inputs)):
            if i not in self.aliases and before.tobytes() != after.tobytes():
                warnings.warn(
                    f"{fn.__name__} writes {names[i]}, an input, which JAX "
                    "takes for unchanged: what it wrote is lost here, and on "
                    "a GPU the array changes; make it an output by "
                    f"input_output_aliases={{{i}: OUTPUT}}",
                    errors.KernelWarning, stacklevel=4)


def _check(params):
    """Refuses what a call asks for and does not get."""
    arch = device.target().arch
    if params.compute_capability not in (None, arch):
        raise NotImplementedError(
            f"triton_call(..., compute_capability={params.compute_capability})"
            f": the virtual device has {arch}; --device chooses another")
    if params.custom_call_target_name != _TARGET:
        raise NotImplementedError(
            "triton_call(..., custom_call_target_name="
            f"{params.custom_call_target_name!r}): there are no custom calls "
            "of XLA on the virtual device")
    known = {*_WITHOUT_MEANING, "fn", "scalar_args", "out_shapes", "grid",
             "num_warps", "num_stages", "num_ctas", "compute_capability",
             "custom_call_target_name", "enable_fp_fusion", "debug",
             "input_output_aliases", "zeroed_outputs"}
    for name in vars(params).keys() - known:
        raise NotImplementedError(
            f"triton_call(..., {name}=): tkdbg does not know this argument of "
            "a newer jax-triton")


def _pointer_type(library, array):
    return library.get_triton_type(
        library.jax.core.ShapedArray(array.shape, array.dtype))


def _default(fn, name):
    """The default of a parameter that a call does not give."""
    default = fn.signature.parameters[name].default
    if default is inspect.Parameter.empty:
        raise TypeError(f"{fn.__name__}: triton_call gives no argument for "
                        f"{name}")
    return default
