"""Kernels that the installed Triton's own run() binds, compiles and launches.

Triton's ``JITFunction.run`` stays as it is: it binds the arguments, finds the
kernel in its caches, calls every hook and raises its own errors.  What is
ours is ``compile``, which gives it a kernel to be interpreted instead of
machine code, and what that kernel's launcher does.  The text forms in
``kernel.asm`` are what Triton itself makes of the kernel, when somebody asks
for them.
"""
from __future__ import annotations

import collections
import contextlib
import hashlib
import importlib
import itertools
import operator
import os
import re
import threading
import time
import types
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from . import (arguments, binder, compiled, device, environment, mock,
               scratch, session as session_, tensors, typed)
from .modules import driver as driver_

if TYPE_CHECKING:
    from .prepared import Prepared


# of a source that was compiled for its signature, not for a launch
TYPED = "_tkdbg_typed"


def release(version: str) -> tuple[int, ...]:
    """(major, minor) of a version of Triton."""
    return tuple(map(int, re.findall(r"\d+", version)[:2]))


class NoCode(bytes):
    """What stands for the machine code of a kernel of ours."""
    registers: tuple[int, ...]

    def __new__(cls, registers: tuple[int, int]) -> NoCode:
        """registers: those of a thread, and how many are in memory."""
        code = super().__new__(cls)
        code.registers = registers
        return code


class Bound(threading.local):
    """(function, values) of the launch that Triton compiles for in this
    thread, so that the kernel is compiled for the arguments themselves."""
    launch: tuple[Any, tuple[Any, ...]] | None = None

    def take(self, function: Any) -> tuple[Any, ...] | None:
        """The values for function, once; None if Triton was not asked to
        launch it but to compile it for a signature."""
        launch, self.launch = self.launch, None
        if launch is None or launch[0] is not function:
            return None
        return launch[1]


class Compiler:
    """Stands in for triton.compile while Triton is taken over."""

    def __init__(self, ours: Callable[..., Any]) -> None:
        """ours: the JITFunction of ours for a real one."""
        from triton.compiler import code_generator, compiler
        self.ours = ours
        self.triton = compiler
        self.triton_compile = compiler.compile
        self.check_name = code_generator.check_identifier_legality
        self.version = compiler.__version__
        self.variables = compiler.get_cache_invalidating_env_vars
        self.asks_stages = release(self.version) >= (3, 7)
        self.bound = Bound()
        self.kernel_class = type("CompiledKernel",
                                 (Kernel, compiler.CompiledKernel), {})

    def pack_args(self, pack: Callable[..., Any]) -> Callable[..., Any]:
        """JITFunction._pack_args, which Triton calls right before it
        compiles; pack: Triton's own."""
        def _pack_args(function, backend, kwargs, bound_args, *rest):
            self.bound.launch = function, tuple(bound_args.values())
            return pack(function, backend, kwargs, bound_args, *rest)
        return _pack_args

    def compile(self, src: Any, target: Any = None,
                options: dict[Any, Any] | None = None, **others: Any) -> Any:
        """triton.compile: a kernel to be interpreted, for the source of a
        jit function; all else is compiled as without tkdbg."""
        __tracebackhide__ = True
        if type(src) is not self.triton.ASTSource:
            return self.triton_compile(src, target=target, options=options,
                                       **others)
        if target is None:
            target = self.triton.driver.active.get_current_target()
        assert isinstance(target, self.triton.GPUTarget), \
            "target must be of GPUTarget type"
        started = time.time()
        backend = self.triton.make_backend(target)
        parsed = backend.parse_options(
            dict(options or {}, **src.parse_options()))
        binder.check_compiled(vars(parsed),
                              session_.current().real.error_class)
        key = self._key(src, target, parsed)
        backend.add_stages({}, parsed, src.language)  # it tells a hook
        function = self.ours(src.fn)
        values = self.bound.take(src.fn)
        if values is None:
            vars(src)[TYPED] = True
            values = self._values(src)
        prepared = function.compile(values, launch_options(parsed.__dict__))
        kernel = self.kernel_class(self, src, target, parsed, backend, key,
                                   prepared)
        self._tell_listener(kernel, started)
        return kernel

    @staticmethod
    def _values(src):
        """Arguments of the types of a source, which may have some."""
        if "values" in vars(src):
            return src.values()
        return mock.values(src.fn, src.signature, src.constants, src.attrs)

    def _key(self, src, target, parsed):
        """What tells a kernel from others; since 3.7 the stages' hook has a
        part in it, which it gives when it is called without arguments."""
        key = f"{src.hash()}-{target}-{vars(parsed)}"
        hook = self.triton.knobs.runtime.add_stages_inspection_hook
        if hook is not None and self.asks_stages:
            key += hook()[0]
        return hashlib.sha256(key.encode()).hexdigest()

    def name(self, src: Any) -> str:
        """The name of the compiled kernel, which the user's repr may make;
        raises what Triton raises on one that is not an identifier."""
        constants = {src.fn.arg_names[path[0]]: value
                     for path, value in src.constants.items()
                     if len(path) == 1}
        name = src.fn.repr(SpecializationProxy(constants, src.signature))
        return self.check_name(name[name.rfind(".") + 1:], "function")

    def allocated(self, src: Any, target: Any, parsed: Any) -> int | None:
        """Bytes of shared memory that Triton's compiler gives a kernel, or
        None if it is not known where that compiler decides on them.

        It does before it leaves its own forms for LLVM's, which takes minutes
        for a kernel of tiles that are far too large."""
        backend = self.triton.make_backend(target)
        lower = getattr(type(backend), "make_llir", None)
        if (target.backend != "cuda" or getattr(parsed, "min_shared_mem", None)
                or not hasattr(lower, "__globals__")):
            return None
        stages: dict[str, Any] = {}
        backend.add_stages(stages, parsed, src.language)
        context, metadata = self.triton.ir.context(), dict(vars(parsed))
        self.triton.ir.load_dialects(context)
        backend.load_dialects(context)
        form = src.make_ir(
            target, parsed, backend.get_codegen_implementation(parsed),
            backend.get_module_map(), context)
        for name in itertools.takewhile("llir".__ne__, stages):
            form = stages[name](form, metadata)
        with contextlib.suppress(_Allocated):
            _without_llvm(lower, form)(
                backend, form, metadata, parsed,
                int("".join(filter(str.isdigit, str(parsed.arch)))))
        return form.get_int_attr("ttg.shared")

    def _tell_listener(self, kernel, started):
        knobs = self.triton.knobs
        listener = getattr(knobs.compilation, "listener", None)
        if listener is not None:
            took = int((time.time() - started) * 1e6)
            listener(src=kernel.src, metadata=kernel.metadata._asdict(),
                     metadata_group=kernel.metadata_group,
                     times=knobs.CompileTimes(
                         ir_initialization=took, lowering_stages=[],
                         store_results=0),
                     cache_hit=False)


class _Allocated(Exception):
    """A stage of Triton's compiler has decided on shared memory."""


class _Instead:
    """A module of which some names mean something else."""

    def __init__(self, module: Any, **names: Any) -> None:
        self._module = module
        vars(self).update(names)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._module, name)


def _without_llvm(stage, form):
    """The stage of Triton's compiler that lowers a form to LLVM's, which only
    makes the passes before that step."""
    def run(passes, *_):
        passes.run(form, "allocate")
        raise _Allocated
    nvidia = stage.__globals__["nvidia"]
    own = _Instead(nvidia, passes=_Instead(nvidia.passes, ttgpuir=_Instead(
        nvidia.passes.ttgpuir, add_to_llvmir=run)))
    return types.FunctionType(
        stage.__code__, {**stage.__globals__, "nvidia": own},
        stage.__name__, stage.__defaults__, stage.__closure__)


SpecializationProxy = collections.namedtuple(
    "SpecializationProxy", ("constants", "signature"))


def launch_options(options: dict[Any, Any]) -> dict[str, Any]:
    """The options of a backend that launches of tkdbg have, too."""
    known = {name: options[name] for name in ("num_warps", "num_stages")}
    if options.get("num_ctas", 1) != 1:
        known["num_ctas"] = options["num_ctas"]
    for name in environment.KEYWORDS:
        value = options.get(name)
        if value is not None:  # a list cannot be part of a key
            known[name] = value if isinstance(value, str) else tuple(value)
    return known


class AsmDict(dict):
    """``kernel.asm``: Triton's own forms of the kernel, made on demand."""

    def __init__(self, kernel: Any) -> None:
        super().__init__()
        self._kernel = kernel
        self._made = False

    def _make(self):
        if not self._made:
            self._made = True
            self.update(self._kernel.triton_asm())
        return super()

    def __missing__(self, key: str) -> str:
        value = self[key] = self._kernel.triton_asm()[key]  # "sass" too
        return value

    def __contains__(self, key: object) -> bool:
        return self._make().__contains__(key)

    def __iter__(self) -> Any:
        return self._make().__iter__()

    def __len__(self) -> int:
        return self._make().__len__()

    def keys(self) -> Any:
        return self._make().keys()

    def values(self) -> Any:
        return self._make().values()

    def items(self) -> Any:
        return self._make().items()

    def get(self, key: Any, default: Any = None) -> Any:
        return self[key] if key in self else default


class Kernel:
    """Triton's CompiledKernel, without machine code."""

    module = function = _run = _module_pid = None

    def __init__(self, compiler: Compiler, src: Any, target: Any, options: Any,
                 backend: Any, hash_: str, prepared: Prepared) -> None:
        self._compiler = compiler
        self._target, self._options = target, options
        self._real = None  # what Triton makes of it
        self.src = src
        self.hash = hash_
        self.name = compiler.name(src)
        self.metadata = compiled.metadata(
            self.name, hash_, {**vars(options), **compiler.variables(),
                               "target": target,
                               "triton_version": compiler.version,
                               "shared": self._shared(prepared),
                               "global_scratch_size": prepared.scratch,
                               "global_scratch_align": scratch.alignment(
                                   prepared.scratch)})
        self.packed_metadata = backend.pack_metadata(self.metadata)
        self.metadata_group: dict[Any, Any] = {}
        self.asm = AsmDict(self)
        self.kernel = NoCode(prepared.registers)

    def _shared(self, prepared):
        """Bytes of shared memory; where the estimate would not fit, Triton's
        own compiler says."""
        if (prepared.shared or 0) > prepared.most_shared:
            nbytes = self._compiler.allocated(self.src, self._target,
                                              self._options)
            if nbytes is None:
                nbytes = self._triton_kernel().metadata.shared
            prepared.use_shared(nbytes)
        return prepared.shared or 0

    def _triton_kernel(self):
        """What Triton makes of the same source with the same options."""
        if self._real is None:
            self._real = self._compiler.triton_compile(
                self.src, target=self._target, options=vars(self._options))
        return self._real

    def triton_asm(self) -> Any:
        return self._triton_kernel().asm

    def __del__(self) -> None:
        """What Triton's does since 3.8; nothing is unloaded by a driver,
        which may be another one by now."""
        hook = getattr(self._compiler.triton.knobs.runtime,
                       "kernel_unload_hook", None)
        if (self.module is not None and hook is not None and
                self._module_pid in (None, os.getpid())):
            hook(self.module, self.function, self.name, self.metadata_group,
                 self.hash)
        self.module = None

    def __getitem__(self, grid: Any) -> Any:
        launcher: Any = super()
        follower = session_.current().sizes
        if follower is None:
            return launcher.__getitem__(grid)

        def runner(*args: Any, stream: Any = None) -> Any:
            values, plain = follower.begin_compiled(self.src.fn, args, grid)
            return launcher.__getitem__(plain)(*values, stream=stream)
        return runner

    def __repr__(self) -> str:
        return f"CompiledKernel({self.name}, {self.hash[:12]})"


# ---- arguments --------------------------------------------------------------


class _Array:
    """A NumPy array or another one that only tkdbg takes, as a tensor."""

    def __init__(self, array, dtype):
        self.dtype = dtype
        self._array = array

    def data_ptr(self):
        return self._array.__array_interface__["data"][0]


class _Tensor:
    """A tensor for Triton to look at: whether its address is divisible is
    no reason to think that somebody else may write there now."""

    def __init__(self, tensor):
        self.dtype = tensor.dtype
        self._tensor = tensor

    def data_ptr(self):
        with tensors.without_torch_functions():
            return tensors.data_ptr(self._tensor)


def specialize(native: Callable[..., Any]) -> Callable[..., Any]:
    """Triton's function for the type of an argument, which also knows the
    arrays that launches of ours take."""
    def native_specialize_impl(backend, arg, *rest):
        if arguments.kind_of(type(arg)) == "torch":
            return native(backend, _Tensor(arg), *rest)
        try:
            return native(backend, arg, *rest)
        except TypeError:
            known = _with_arrays(arg)
            if known is arg:
                raise
        return native(backend, known, *rest)
    return native_specialize_impl


def _with_arrays(arg):
    """An argument that Triton knows in place of an array, or of a tuple that
    holds one; others as they are."""
    kind = arguments.kind_of(type(arg))
    if kind in ("numpy", "interface"):
        dtype = arg.__array_interface__["typestr"]
        return _Array(arg, tensors.numpy().dtype(dtype).name)
    if not isinstance(arg, tuple):
        return arg
    items = [_with_arrays(item) for item in arg]
    if all(item is old for item, old in zip(items, arg)):
        return arg
    make = getattr(type(arg), "_make", type(arg))
    return make(items)


# ---- the driver -------------------------------------------------------------


class Utils(driver_.Utils):
    """What Triton loads and launches kernels with."""

    def load_binary(self, name: str, kernel: NoCode, shared: int,
                    device_: int) -> Any:
        """(module, function, registers, spills, threads) of a kernel of
        ours; machine code is refused."""
        if not isinstance(kernel, NoCode):
            return super().load_binary(name, kernel, shared, device_)
        handle = id(kernel)
        return (handle, handle, *kernel.registers,
                device.most_threads(kernel.registers[0]))


class Driver(driver_.CudaDriver):
    """``triton.runtime.driver.active`` while Triton is taken over."""

    _compiler: Any = None  # an object of the class that driver_classes makes

    def __init__(self) -> None:
        super().__init__()
        self.utils = Utils()

    def get_current_target(self) -> Any:
        """The target, of Triton's own class.

        Triton's C++ imports PyTorch for its first argument, and drops a
        KeyboardInterrupt that comes meanwhile; an import here does not.
        """
        with contextlib.suppress(ImportError):
            importlib.import_module("torch")
        target = device.target()
        return self._compiler.triton.GPUTarget(
            target.backend, target.arch, target.warp_size)

    def launcher_cls(self, src: Any, metadata: Any) -> Launcher:
        return Launcher(self._compiler, src, metadata)


class NoGPU:
    """Of a driver that is not active until a program makes it so."""

    @staticmethod
    def is_active() -> bool:
        return False


def driver_classes(compiler: Compiler) -> dict[str, type]:
    """{backend: the class of its driver}, whose kernels are all ours: PyTorch
    makes the driver of the backend that it has generated code for."""
    ours = {"_compiler": compiler}
    return {"nvidia": type("CudaDriver", (Driver,), ours),
            "cpu": type("CpuDriver", (NoGPU, Driver), ours)}


def backends(installed: dict[str, Any], drivers: dict[str, type],
             compiler: type) -> dict[str, Any]:
    """Triton's backends with drivers of ours; a compiler for the CPU, which
    only some builds of Triton have, is not asked for.

    installed: {name: Backend}; compiler: Triton's class for NVIDIA's GPUs."""
    made = dict(installed)
    for name, driver in drivers.items():
        of = installed[name].compiler if name in installed else type(
            "NoBackend", (compiler,),
            {"supports_target": staticmethod(lambda target: False)})
        made[name] = type(installed["nvidia"])(compiler=of, driver=driver)
    return made


class Launcher:
    """Runs a kernel as Triton's launchers do: (grid, stream, function,
    packed metadata, launch metadata, hooks, arguments)."""

    def __init__(self, compiler: Compiler, src: Any, metadata: Any) -> None:
        self.ours = compiler.ours
        self.real: Any = getattr(src, "fn", None)
        self.typed = src if getattr(src, TYPED, False) else None
        self.options = launch_options(metadata._asdict())

    def __call__(self, x: int, y: int, z: int, stream: int, function: int,
                 packed: Any, launch_metadata: Any, enter_hook: Any,
                 exit_hook: Any, *values: Any) -> None:
        __tracebackhide__ = True
        wanted = len(self.real.arg_names)
        if len(values) != wanted:
            raise TypeError(
                f"{self.real.__name__} takes exactly {wanted} arguments "
                f"({len(values)} given): a compiled kernel is called with "
                "all of its function's, constexprs included")
        if self.typed is not None:
            values = typed.values(self.real.arg_names, self.typed.signature,
                                  self.typed.constants, values)
        if enter_hook is not None:
            enter_hook(launch_metadata)
        grid = tuple(map(operator.index, (x, y, z)))
        if max(grid) >= 1 << 31:
            raise OverflowError("signed integer is greater than maximum")
        self.ours(self.real).launch(values, self.options, grid)
        if exit_hook is not None:
            exit_hook(launch_metadata)
