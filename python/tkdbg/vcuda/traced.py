"""torch.compile on the virtual devices: kernels for CUDA, written and run.

PyTorch's compiler traces with fake tensors (fakes.py) and calls what it wrote
with real ones.  The tracer must not see the mode, which is none of the
program's; real tensors that compiling makes need it.

Whatever the compiler would decide by measuring times is decided without, in a
stated order: times of an interpreter would choose kernels that no GPU runs.
"""
from __future__ import annotations

import contextlib
import functools
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from .. import fragments, torch_private
from ..requests import COMPILED

if TYPE_CHECKING:
    from ..patches import Patches
    from .virtual import VirtualCuda

# Settings of the compiler.  Graphs of CUDA are the GPU's business; a matrix is
# padded, and an epilogue fused, as measured times say; what an earlier process
# compiled was perhaps compiled for a GPU; host code in C++ would launch machine
# code.
SETTINGS = {
    ("triton.cudagraphs",): False, ("triton.cudagraph_trees",): False,
    ("shape_padding",): False,
    # the second name until 2.14
    ("benchmark_template_fusion", "benchmark_epilogue_fusion"): False,
    ("benchmark_fusion",): False, ("benchmark_combo_kernel",): False,
    ("autotune_in_subproc",): False, ("coordinate_descent_tuning",): False,
    ("force_disable_caches",): True, ("cpp_wrapper",): False,
    # which lines of the program a kernel comes from: modelled.py
    ("trace.provenance_tracking_level",): 1,
}


def hooks(v: VirtualCuda,
          patches: Patches) -> dict[str, Callable[..., Any]]:
    """{module of PyTorch's: what to do once it was imported}."""
    return {
        torch_private.TRACED_MODES: lambda: _hide_mode(v, patches),
        torch_private.COMPILE_FX: lambda: _compile(v, patches),
        torch_private.OUTPUT_CODE: lambda: _run(v, patches),
        torch_private.PROXIES: lambda: _compute_constants(v, patches),
        torch_private.CHOICES: lambda: _choose(patches),
        torch_private.TRITON_CODE: lambda: _bind(patches),
    }


def _hide_mode(v, patches):
    """What is traced is traced without the bridge's mode, whose presence is
    still what a compiled function is guarded by."""
    state = sys.modules[torch_private.TRACED_MODES].SymbolicTorchFunctionState
    init = state.__init__

    def init_here(self, stack, *args, **kwargs):
        init(self, [mode for mode in stack
                    if not isinstance(mode, v.mode_class)], *args, **kwargs)
    patches.set(state, "__init__", init_here)


def _compile(v, patches):
    module = sys.modules[torch_private.COMPILE_FX]
    config = sys.modules[torch_private.INDUCTOR_CONFIG]
    known = _known(config)

    # The backward pass is compiled later, when compile_fx has returned.
    here = _here(v, config, known)
    whole, inner = module.compile_fx, getattr(module,
                                              torch_private.COMPILE_INNER)

    @functools.wraps(whole)
    def compile_fx(*args, **kwargs):
        with here():
            return whole(*args, **kwargs)

    @functools.wraps(inner)
    def compile_inner(*args, **kwargs):
        with here():
            return inner(*args, **kwargs)
    patches.set(module, "compile_fx", compile_fx)
    patches.set(module, torch_private.COMPILE_INNER, compile_inner)
    # After a break in a graph PyTorch's compiler would take the mode's own
    # frames for the program's.
    torch_private.never_compile(v.mode_class.__torch_function__)
    for launch in _launches():
        torch_private.never_compile(launch)
    patches.set(module, "cudagraphify", lambda model, *_, **__: model)
    patches.set(module, torch_private.COMPILE_AHEAD, _refuse_ahead)


def _launches():
    """... and those of Triton, ours or installed: a kernel that it does not
    take into a graph is launched between two."""
    for module, name in (("jit", "JITFunction"), ("autotuner", "Autotuner"),
                         ("autotuner", "Heuristics")):
        cls = getattr(sys.modules.get(f"triton.runtime.{module}"), name, None)
        run = getattr(cls, "run", None)
        if hasattr(run, "__code__"):
            yield run


def _refuse_ahead(*_, **__):
    """What AOTInductor makes is no Python."""
    raise NotImplementedError(
        "tkdbg: AOTInductor writes a program in C++ that launches machine "
        "code, and there is no GPU to run it; torch.compile of the same "
        "module (torch.export's is ep.module()) runs the kernels that it "
        "would write")


def _here(v, config, known):
    """A context for functions of the compiler: on the virtual device, with
    what is known.  (One wrapper for all of them would stand twice on the
    stack, where the compiler's own tests want each line once.)"""
    @contextlib.contextmanager
    def compiling():
        v.session.requests.note(COMPILED)
        with v.on(), config.patch(known):
            yield
    return compiling


def _compute_constants(v, patches):
    """Constants of the program that are moved while it is traced are real."""
    module = sys.modules[torch_private.PROXIES]
    without = getattr(module, torch_private.WITHOUT_FAKES, None)
    if without is None:
        return

    @contextlib.contextmanager
    def without_here():
        with without() as mode, v.on():
            yield mode
    patches.set(module, torch_private.WITHOUT_FAKES, without_here)


def _run(v, patches):
    """What was compiled runs with the mode on, which is gone where the tracer
    has put the program's own modes back."""
    graph = getattr(sys.modules[torch_private.OUTPUT_CODE], "CompiledFxGraph",
                    None)
    if graph is None:  # before 2.6
        return
    call = graph.__call__

    def call_here(self, inputs):
        with v.on():
            return call(self, inputs)
    patches.set(graph, "__call__", call_here)


def _known(config):
    """SETTINGS by the names that this release has."""
    found = {}
    for names, value in SETTINGS.items():
        for name in names:
            owner, _, last = name.rpartition(".")
            if hasattr(getattr(config, owner) if owner else config, last):
                found[name] = value
                break
    return found


def _choose(patches):
    """Of several ways to compute a product or a convolution the first one that
    is a kernel of Triton's is taken, else the first."""
    module = sys.modules[torch_private.CHOICES]
    kernel = module.TritonTemplateCaller

    def make_benchmark_fn(cls, *_, **__):
        def order(choices):
            ranked = sorted(choices, key=lambda c: not isinstance(c, kernel))
            return {choice: float(1 + i) for i, choice in enumerate(ranked)}
        return order
    patches.set(module.AlgorithmSelectorCache, "make_benchmark_fn",
                classmethod(make_benchmark_fn))
    # ... of times
    patches.set(module.AlgorithmSelectorCache, "log_results",
                staticmethod(lambda *_, **__: None))


def _bind(patches):
    """The comment above a kernel says which parameter is which node of the
    graph: ``tkdbg why`` computes them by PyTorch itself."""
    scheduling = sys.modules[torch_private.TRITON_CODE].TritonScheduling
    define = scheduling.define_kernel

    @functools.wraps(define)
    def define_kernel(self, src_code, node_schedule, kernel):
        wrapper = torch_private.wrapper_code()
        lines = fragments.bound_lines(
            *torch_private.kernel_nodes(kernel, node_schedule),
            torch_private.result_parts(node_schedule),
            torch_private.kernel_sizes(kernel))

        def define_with(name, body, metadata=None, *args, **kwargs):
            metadata = "\n".join([metadata or "", *lines])
            type(wrapper).define_kernel(wrapper, name, body, metadata, *args,
                                        **kwargs)
        wrapper.define_kernel = define_with
        try:
            return define(self, src_code, node_schedule, kernel)
        finally:
            del wrapper.define_kernel
    patches.set(scheduling, "define_kernel", define_kernel)
