"""PyTorch's private names, which any release may move or drop.

No other file of the package has one (tests/python/test_private.py).  Each
function says what it does where its name is missing, if it can do without,
and which releases have which form: where none is named, all that were tried
(2.11, 2.13, 2.14, 2.15) have the one that is used here.  So a new release is
read against this file alone: a row for it in tests/matrix/pairs.txt, and
`make bridge-matrix` says what it has changed.

PyTorch is the program's: it is imported here by no function that may run
before the program has done so.
"""
from __future__ import annotations

import contextlib
import importlib
import operator
import sys
from collections.abc import Iterator
from typing import Any, Callable


def _torch() -> Any:
    return sys.modules["torch"]


def _module(name: str) -> Any:
    """A module of PyTorch's, or None where this release has none."""
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


# ---- modes ------------------------------------------------------------------


def unseen() -> Any:
    """A context in which functions of PyTorch are called past the modes that
    watch them.   The documented twin, DisableTorchFunctionSubclass, leaves
    modes on.  Without PyTorch, or without the name, nothing watches."""
    c = getattr(sys.modules.get("torch"), "_C", None)
    disable = getattr(c, "DisableTorchFunction", None)
    return contextlib.nullcontext() if disable is None else disable()


def seen() -> Any:
    """A context in which modes watch, even where C++ code of PyTorch has
    turned them off; without the names, as it is."""
    enable = getattr(_torch()._C, "_EnableTorchFunction", None)
    if enable is None or _watched():
        return contextlib.nullcontext()
    return enable()


def _watched() -> bool:
    """Whether a mode watches here; without the name, one does."""
    enabled = getattr(_torch()._C, "_is_torch_function_mode_enabled", None)
    return enabled is None or enabled()


def function_modes() -> list:
    """The modes that watch functions here; without the name, none is known,
    and the bridge's own is entered once more."""
    from torch import overrides
    stack = getattr(overrides, "_get_current_function_mode_stack", None)
    return [] if stack is None or not _watched() else stack()


def number_operator() -> Any:
    """What tensor.item() becomes when it is traced."""
    return _torch().ops.aten._local_scalar_dense.default


def undispatched() -> Any:
    """A context in which operators are called past modes of the dispatcher;
    without the name, as it is."""
    disable = getattr(_torch()._C, "_DisableTorchDispatch", None)
    return contextlib.nullcontext() if disable is None else disable()


def dispatch_mode() -> type:
    """The class of modes of the dispatcher.  PyTorch documents it by this
    path: there is no other."""
    from torch.utils._python_dispatch import TorchDispatchMode
    return TorchDispatchMode


# ---- dispatch keys ----------------------------------------------------------


def key(name: str) -> Any:
    """A dispatch key by its name."""
    return getattr(_torch()._C.DispatchKey, name)


def keys_below(name: str) -> Any:
    """The keys that the dispatcher comes to after one."""
    return _torch()._C._dispatch_keyset_full_after(key(name))


def without_key(name: str) -> Any:
    """A context in which kernels under a key are not called."""
    c = _torch()._C
    return c._ExcludeDispatchKeyGuard(c.DispatchKeySet(key(name)))


def turn_key(name: str, on: bool) -> bool:
    """Turns a key on or off for this thread; what it was before."""
    c, which = _torch()._C, key(name)
    before = c._dispatch_tls_is_dispatch_key_included(which)
    c._dispatch_tls_set_dispatch_key_included(which, on)
    c._dispatch_tls_set_dispatch_key_excluded(which, not on)
    return before


def fall_through(name: str) -> Any:
    """Lets operators without a kernel under a key pass; reset() of what comes
    back ends it.  torch.library.Library.fallback ends with its library alone,
    which has other kernels."""
    library = _torch()._C._dispatch_library("IMPL", "_", name)
    library.fallback_fallthrough()
    return library


# ---- operators --------------------------------------------------------------


def schema(op: Any) -> Any:
    """What an operator takes and gives."""
    return op._schema


def operator_name(op: Any) -> str:
    """The name of an operator of torch.ops, whatever its overload: packets
    have no schema."""
    found = getattr(op, "_schema", None)
    return op._qualified_op_name if found is None else found.name


def operator_classes() -> tuple:
    """The classes of torch.ops.aten.add and torch.ops.aten.add.Tensor. Without
    the module no operator is known by its name."""
    module = _module("torch._ops")
    return tuple(getattr(module, name) for name in (
        "OpOverload", "OpOverloadPacket") if hasattr(module, name))


def higher_order() -> tuple:
    """The class of operators that call functions of the program's, such as
    torch.cond and flex_attention.  Without the module, or with other names in
    it, they run as if they called none."""
    module = _module("torch._ops")
    own = getattr(module, "HigherOrderOperator", None)
    return (own,) if hasattr(own, "dispatch") and hasattr(
        module, "_compute_keyset") else ()


def call_higher_order(op: Any, args: tuple, kwargs: dict) -> Any:
    """What such an operator does once no mode wants to see its call."""
    keys = _module("torch._ops")._compute_keyset(args, kwargs,
                                                 op.non_fallthrough_keys)
    return op.dispatch(keys.highestPriorityTypeId(), *args, **kwargs)


def call_under(op: Any, which: Any, args: tuple, kwargs: dict) -> Any:
    """Calls the kernel of an operator under one key."""
    return op._op_dk(which, *args, **kwargs)


def has_kernel(name: str, under: str) -> bool:
    """Whether an operator has a kernel under a key."""
    return _torch()._C._dispatch_has_kernel_for_dispatch_key(name, under)


def composite_key(of: Any) -> Any:
    """The dispatch key of the kernel of an operator that serves every
    backend, by its schema, or None."""
    name = of.name + ("." + of.overload_name if of.overload_name else "")
    return next((key(n) for n in (
        "CompositeExplicitAutograd", "CompositeImplicitAutograd")
        if has_kernel(name, n)), None)


def copied(tensor: Any, **to: Any) -> Any:
    """A copy, made by the operator that Tensor.to comes to."""
    return _torch().ops.aten._to_copy.default(tensor, **to)


def pinned(tensor: Any) -> Any:
    """A copy in pinned memory, made by the class of the tensor."""
    return _torch().ops.aten._pin_memory.default(tensor)


def spaces() -> tuple:
    """Where the functions are that PyTorch's own Python code calls, beside
    the documented modules; those that a release lacks are left out."""
    torch = _torch()
    named = [getattr(torch, "_VF", None)]
    named += [getattr(torch._C, name, None)
              for name in ("_nn", "_VariableFunctions", "_linalg")]
    return tuple(space for space in named if space is not None)


def functions(name: str) -> frozenset:
    """What Python code calls an operator of ATen with a private name by."""
    torch = _torch()
    return frozenset(getattr(space, name)
                     for space in (torch, getattr(torch, "_VF", None))
                     if hasattr(space, name))


def packing() -> frozenset:
    """What torch.nn.utils.rnn packs sequences with."""
    return functions("_pack_padded_sequence")


def padding() -> frozenset:
    """What torch.nn.utils.rnn pads sequences with."""
    return functions("_pad_packed_sequence")


def flattening() -> frozenset:
    """What nn.LSTM and its kin lay out weights for cuDNN with: called where
    PyTorch is built with cuDNN, as its default wheels are."""
    return functions("_cudnn_rnn_flatten_weight")


# ---- kernels of libraries ---------------------------------------------------


def known_kernels() -> set:
    """'namespace/operator/key' of all that torch.library has registered.
    Since 2.13 the program may register a second kernel under one key, if it
    says allow_override; before, nobody may.  Without the name torch.library
    refuses nothing."""
    return getattr(_torch().library, "_impls", set())


def own_kernels(library: Any) -> set:
    """Those of one torch.library.Library."""
    return getattr(library, "_op_impls", set())


def end(library: Any) -> None:
    """Takes a library's kernels away."""
    library._destroy()


# ---- tensors ----------------------------------------------------------------


def version(tensor: Any) -> int | None:
    """PyTorch's count of writes; None where it keeps none."""
    try:
        return tensor._version
    except RuntimeError:  # a tensor of torch.inference_mode
        return None


def is_view(tensor: Any) -> bool:
    return tensor._is_view()


def text_of(*args: Any, **kwargs: Any) -> str:
    """A tensor as repr() prints it."""
    from torch import _tensor_str
    return _tensor_str._str(*args, **kwargs)


def unwrapped(tensor: Any) -> Any:
    """What the wrappers of torch.func hold.  Without the
    module, nothing is wrapped."""
    inside = getattr(_torch()._C, "_functorch", None)
    if inside is not None:
        while inside.is_functorch_wrapped_tensor(tensor):
            tensor = inside.get_unwrapped(tensor)
    return tensor


def unwrapping() -> list:
    """[(module, name)] of what torch.func takes its wrappers off with, of
    those modules that the program has imported."""
    found = []
    for part in "vmap", "eager_transforms":
        module = sys.modules.get("torch._functorch." + part)
        found += [(module, name) for name in (
            "_remove_batch_dim", "_unwrap_for_grad") if hasattr(module, name)]
    return found


# What makes a tensor of a class that holds others.
MAKE_WRAPPER = "_make_wrapper_subclass"


def wrapper_maker() -> Callable | None:
    return getattr(_torch().Tensor, MAKE_WRAPPER, None)


def makers() -> frozenset:
    """The functions that make tensors, where PyTorch is told to, not where
    their arguments are; without the name, none is known."""
    module = _module("torch.utils._device")
    find = getattr(module, "_device_constructors", None)
    return frozenset() if find is None else frozenset(find())


# ---- fake tensors -----------------------------------------------------------

_FAKES = "torch._subclasses.fake_tensor"
# Answers to questions about fake tensors that need no dispatch; without the
# name, none does.
FAKE_ANSWERS = "_DISPATCH_META_HANDLERS"


def fakes() -> Any:
    """The module of fake tensors, or None."""
    return _module(_FAKES)


def faking() -> Callable[[], Any]:
    """A function that gives the mode of fake tensors that is active here, or
    None; without the names, none ever is."""
    c = _torch()._C
    key = getattr(getattr(c, "_TorchDispatchModeKey", None), "FAKE", None)
    get = getattr(c, "_get_dispatch_mode", None)
    if key is None or get is None:
        return lambda: None
    return lambda: get(key)


def fake_answers(module: Any) -> dict:
    return getattr(module, FAKE_ANSWERS, {})


def is_fake(tensor: Any) -> bool:
    """Whether a tensor is one of those by which PyTorch traces programs; they
    have no memory, and warn who asks for its address."""
    cls = getattr(sys.modules.get(_FAKES), "FakeTensor", ())
    return isinstance(tensor, cls)


def describer() -> Any:
    """The class that describes real tensors for fake ones, or None."""
    return getattr(_module("torch._subclasses.meta_utils"),
                   "MetaTensorDescriber", None)


def compared_mode() -> Any:
    """The mode in which operators run with fake tensors as well as with real
    ones, or None."""
    return getattr(_module("torch._subclasses.fake_utils"),
                   "CrossRefFakeMode", None)


def copy_operator() -> Any:
    """What a move of a tensor becomes when it is traced."""
    return _torch().ops.aten._to_copy.default


@contextlib.contextmanager
def uncompiled() -> Iterator[None]:
    """A context in which torch.compile compiles no frame that is called from
    outside of what it has compiled."""
    frames = sys.modules.get("torch._C._dynamo.eval_frame")
    if frames is None:
        yield
        return
    before = frames.set_eval_frame(None)
    try:
        yield
    finally:
        frames.set_eval_frame(before)


def never_compile(function: Any) -> None:
    """torch.compile leaves the function, and what it calls, as they are; unlike
    torch.compiler.disable this costs nothing at a call."""
    frames = sys.modules.get("torch._C._dynamo.eval_frame")
    choose = getattr(frames, "set_code_exec_strategy", None)
    if choose is not None:  # since 2.7
        types: Any = sys.modules["torch._dynamo.types"]
        choose(function.__code__, types.FrameExecStrategy(
            types.FrameAction.SKIP, types.FrameAction.SKIP))


def formula() -> Any:
    """The node of autograd whose gradient C++ computes now, or None."""
    node = _torch()._C._current_autograd_node()
    own = _module("torch.autograd.function").BackwardCFunction
    return None if isinstance(node, own) else node


def number_of(node: Any) -> int:
    """A number that no other node of this thread has."""
    return node._sequence_nr()


def functional_tensor() -> Any:
    """The class of tensors by which writes are traced, or None."""
    return getattr(_module("torch._subclasses.functional_tensor"),
                   "FunctionalTensor", None)


def functional_mode() -> Any:
    """The mode in which they are made."""
    return _module("torch._subclasses.functional_tensor").FunctionalTensorMode


def inside(functional: Any) -> Any:
    """The tensor inside one of that class; None: there is none yet."""
    wrapper = vars(functional).get("elem")
    return (None if wrapper is None
            else _torch()._from_functional_tensor(wrapper))


def device_by_c(tensor: Any) -> Any:
    """A tensor's device as C++ keeps it, whatever its class says."""
    return _torch()._C.TensorBase.device.__get__(tensor)


# ---- storages ---------------------------------------------------------------

# Who names a storage's device in a file, and reads it: a list of (priority,
# tag, restore).  torch.serialization.register_package adds to it, and nothing
# documented takes away.
PACKAGES = "_package_registry"


def packages() -> list:
    return getattr(_torch().serialization, PACKAGES, [])


def untyped(storage: Any) -> Any:
    """A storage without its dtype: torch.TypedStorage has one inside."""
    return getattr(storage, "_untyped_storage", storage)


def identity(storage: Any) -> int | None:
    """The address of a storage's C++ object."""
    return getattr(untyped(storage), "_cdata", None)


def storage_of(weak: Any) -> Any:
    """The storage that a StorageWeakRef is to, or None."""
    return _torch().UntypedStorage._new_with_weak_ptr(weak.cdata)


# ---- autograd ---------------------------------------------------------------

# What torch.autograd's functions run a backward pass with; it is imported
# by name from torch.autograd.graph.
ENGINE = "_engine_run_backward"


def engine() -> Callable | None:
    return getattr(_torch().autograd, ENGINE, None)


def apply_of(function: type) -> Callable:
    """torch.autograd.Function.apply as a function of a class: a classmethod
    of Python until 2.13, a descriptor of C's since 2.14."""
    own = vars(function)["apply"]

    def forward(cls: type, *args: Any, **kwargs: Any) -> Any:
        return own.__get__(None, cls)(*args, **kwargs)
    return forward


# What optimisers and clip_grad_norm_ group tensors with; without
# the name they do not.
GROUPS = "_group_tensors_by_device_and_dtype"


def grouping() -> tuple:
    """(owner, function or None) of it."""
    owner = _torch()._C
    return owner, getattr(owner, GROUPS, None)


# ---- torch.nn ---------------------------------------------------------------

# What reads the arguments of Module.to and Tensor.to.
PARSE_TO = "_parse_to"


def parser() -> Any:
    """(owner, function) of it."""
    owner = _torch()._C._nn
    return owner, getattr(owner, PARSE_TO)


# ---- PyTorch's compiler -----------------------------------------------------

# Modules in which the files that it wrote find what inductor.py replaces.
ASYNC_COMPILE = "torch._inductor.async_compile"
HELPERS = "torch._inductor.runtime.triton_helpers"
HEURISTICS = "torch._inductor.runtime.triton_heuristics"
INDUCTOR_UTILS = "torch._inductor.utils"
DEVICES = "torch._dynamo.device_interface"

def traces(kernel_name: str) -> list[str]:
    """Where the program computes what a kernel of PyTorch's compiler does, as
    tracebacks: known while it is compiled.  Without the name, or before 2.9,
    none is."""
    found = getattr(sys.modules.get("torch._inductor.debug"),
                    "_inductor_kernel_stack_trace", {})
    return [trace for name, its in found.items()
            if name.rpartition(":")[0] == kernel_name for trace in its]


def import_operators() -> None:
    """The compiler's own operators can be called from here on."""
    importlib.import_module("torch._inductor.inductor_prims")


def _graph():
    """What PyTorch's compiler is compiling."""
    return sys.modules["torch._inductor.virtualized"].V.graph


def wrapper_code() -> Any:
    """The code that it is writing."""
    return _graph().wrapper_code


def kernel_nodes(kernel: Any, schedule: Any) -> (
        tuple[dict[str, str], dict[str, str]]):
    """({parameter: node that it reads}, {parameter: node that it writes}) of a
    kernel that PyTorch's compiler is writing."""
    graph = _graph()
    computed = _computed(schedule)
    args = kernel.args
    reads = [(inner, outer) for outer, inner in args.input_buffers.items()]
    writes = [(inner, outer) for outer, inner in args.output_buffers.items()]
    for both in args.inplace_buffers.values():
        names = getattr(both, "other_names", None)  # else it is not passed
        if names:
            reads.append((both.inner_name, names[0]))
            writes.append((both.inner_name, names[-1]))
    return (_nodes(graph, reads, lambda node: node),
            _nodes(graph, writes, lambda node: _viewed(node, computed)))


def kernel_sizes(kernel: Any) -> dict[str, str]:
    """{parameter of a kernel, or node of the graph with a "%": its size as the
    compiler calls it} of sizes that are not known while it is written."""
    known = {inner: str(size) for size, inner in kernel.args.sizevars.items()}
    for name, value in _graph().graph_inputs.items():
        if type(value).__module__.startswith("sympy."):
            known["%" + name] = str(value)
    return known


def result_parts(schedule: Any) -> dict[str, tuple[str, int]]:
    """{node: (the one that it is a part of the result of, which part)} of
    what a kernel that PyTorch's compiler is writing computes."""
    return {user.name: (node.name, user.args[1])
            for node in _computed(schedule) for user in node.users
            if user.target is operator.getitem}


def _computed(schedule):
    """The nodes of the graph that a kernel computes."""
    return sys.modules[INDUCTOR_UTILS].aggregate_origins(schedule)


def _viewed(node, computed):
    """What a node that only views it in another shape was computed as."""
    views = ("expand", "view", "reshape", "unsqueeze", "squeeze",
             "_unsafe_view", "alias")
    seen = node
    while seen not in computed and seen.op == "call_function" and (
            getattr(seen.target, "__name__", "").partition(".")[0] in views):
        seen = seen.args[0]
    return seen if seen in computed else node


def _nodes(graph, buffers, find):
    """{parameter: the name by which comments call what it holds}; find(node):
    the one that is meant."""
    found = {}
    for parameter, name in buffers:
        buffer = graph.try_get_buffer(name)
        data = getattr(getattr(buffer, "data", None), "data", None)
        node = getattr(data if data is not None else buffer, "origin_node",
                       None)
        if isinstance(parameter, str):  # else it is not passed
            found[parameter] = name if node is None else find(node).name
    return found


# ... and modules of the compiler itself, which vcuda/traced.py changes.
TRITON_CODE = "torch._inductor.codegen.triton"
TRACED_MODES = "torch._dynamo.variables.torch_function"
PROXIES = "torch.fx.experimental.proxy_tensor"
WITHOUT_FAKES = "unset_fake_temporarily"  # there: real constants are computed
OUTPUT_CODE = "torch._inductor.output_code"
COMPILE_FX = "torch._inductor.compile_fx"
COMPILE_INNER = "_compile_fx_inner"  # there: compiles one graph
COMPILE_AHEAD = "compile_fx_aot"  # ... and this one for AOTInductor
INDUCTOR_CONFIG = "torch._inductor.config"
CHOICES = "torch._inductor.select_algorithm"


# ---- torch.cuda -------------------------------------------------------------

# Private names in torch.cuda that its own Python code and the files of
# PyTorch's compiler call.
LAZY_INIT = "_lazy_init"
PROPERTIES = "_get_device_properties"
CUDART = "_cudart"
EXCHANGE_DEVICE = "_exchange_device"
MAYBE_EXCHANGE_DEVICE = "_maybe_exchange_device"
DEVICE_GUARD = "_DeviceGuard"


def set_natives(patches: Any, functions: dict) -> None:
    """Puts functions in torch._C, where torch.cuda calls them: a name there
    is '_cuda_' and the name given.  Those that a release does not know do no
    harm."""
    for name, function in functions.items():
        patches.set(_torch()._C, "_cuda_" + name, function)


_PRECISIONS = ("_set_cublas_allow_tf32", "_set_float32_matmul_precision",
               "_set_fp32_precision_setter")


def allows_tf32() -> bool:
    """Whether CUDA may compute products of fp32 in TF32."""
    of = getattr(_torch()._C, "_get_fp32_precision_getter", None)
    if of is None:  # before 2.9
        return bool(_torch()._C._get_cublas_allow_tf32())
    return of("cuda", "matmul") == "tf32"


def watch_tf32(patches: Any, allowed: Callable[[], None]) -> None:
    """Calls allowed once TF32 is, now or later."""
    def telling(setter):
        def set_precision(*args):
            result = setter(*args)
            if allows_tf32():
                allowed()
            return result
        return set_precision

    for name in _PRECISIONS:
        before = getattr(_torch()._C, name, None)
        if before is not None:
            patches.set(_torch()._C, name, telling(before))
    if allows_tf32():
        allowed()


def set_allocators(patches: Any, functions: dict) -> None:
    """Sets what code that PyTorch's compiler wrote allocates with, on CUDA,
    on the CPU, and as parts of tensors: {name: function of what is there}.
    Without a name such code calls functions that are not private."""
    guards = getattr(getattr(_torch()._C, "_dynamo", None), "guards", None)
    for name, make in functions.items():
        before = getattr(guards, "_" + name, None)
        if before is not None:
            patches.set(guards, "_" + name, make(before))
