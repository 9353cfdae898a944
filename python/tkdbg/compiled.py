"""The compiled kernel that launches and ``warmup`` return.

There is no machine code.  What scripts compute with is present and
documented: occupancy arithmetic works on the numbers of device.py.
"""
from __future__ import annotations

import collections
import copy
import hashlib
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from . import device, hooks, mock, scratch as scratch_, session as session_

if TYPE_CHECKING:
    from .arguments import Specialization
    from .hooks import LazyDict
    from .launch import JITFunction
    from .prepared import Prepared


class AsmDict(dict):
    """``kernel.asm``: "ttir" is the typed form that tkdbg runs."""

    def __init__(self, prepared: Prepared) -> None:
        super().__init__()
        self._prepared = prepared

    def __missing__(self, key: str) -> str:
        if key != "ttir":
            raise KeyError(f"Unknown key: '{key}' (tkdbg has 'ttir' only: "
                           "it makes no GPU code)")
        text = self[key] = self._prepared.ir()
        return text

    def __contains__(self, key: object) -> bool:
        return key == "ttir"

    def keys(self) -> Any:
        self["ttir"]
        return super().keys()

    def get(self, key: Any, default: Any = None) -> Any:
        return self[key] if key in self else default


class ASTSource:
    """A jit function with the types of its arguments and the values of its
    constexprs, by name or by (index,)."""

    def __init__(self, fn: JITFunction, signature: dict[Any, Any],
                 constexprs: dict[Any, Any] | None = None,
                 attrs: dict[Any, Any] | None = None) -> None:
        self.fn = fn
        self.ext = "ttir"
        self.name = fn.__name__
        for key in signature:
            if not isinstance(key, str):
                raise TypeError("Signature keys must be string")
        self.signature = signature
        self.constants = {}
        for key, value in (constexprs or {}).items():
            if isinstance(key, str):
                key = (fn.arg_names.index(key),)
            self.constants[key] = value
        self.attrs = attrs or {}

    def hash(self) -> str:
        text = repr((self.fn.cache_key, sorted(self.signature.items()),
                     sorted(self.constants.items(), key=repr)))
        return hashlib.sha256(text.encode()).hexdigest()

    def parse_options(self) -> dict[str, Any]:
        return {}

    def values(self) -> list[Any]:
        """An argument for each parameter, of the type that it has."""
        return mock.values(self.fn, self.signature, self.constants,
                           self.attrs)


class CompiledKernel:
    """One kernel for one set of argument types and constexprs.

    n_regs, n_spills and metadata.shared are estimates (src/ir/registers.c,
    src/ir/shared.c).
    """

    is_loaded = False  # whether the hooks of loading were called

    def __init__(self, prepared: Prepared, known: Specialization,
                 options: dict[Any, Any],
                 attrs: dict[Any, Any] | None = None) -> None:
        """known: an arguments.Specialization; attrs: its attributes"""
        self._prepared = prepared
        self.src = ASTSource(prepared.function, known.signature,
                                       known.paths, attrs)
        self.name = prepared.function.compiled_name(known)
        self.metadata_group: dict[Any, Any] = {}
        self.hash = hashlib.sha256(repr(
            (prepared.function.cache_key, known.signature, known.paths,
             options)).encode()).hexdigest()
        self.metadata = metadata(self.name, self.hash, options)
        self.packed_metadata = (
            self.metadata.num_warps, self.metadata.num_ctas,
            self.metadata.shared)
        self.asm = AsmDict(prepared)
        self.kernel = b""
        self.module = self.function = id(self)  # handles, as the driver's
        self.n_regs, self.n_spills = device.registers(0, 0)
        self.n_max_threads = device.most_threads(0)

    def learn_resources(self, nbytes: int, registers: tuple[int, int],
                        scratch: int) -> None:
        """It is compiled and needs so much, by the library's estimates."""
        self.metadata = self.metadata._replace(
            shared=nbytes, global_scratch_size=scratch,
            global_scratch_align=scratch_.alignment(scratch))
        self.packed_metadata = (*self.packed_metadata[:2], nbytes)
        self.n_regs, self.n_spills = registers
        self.n_max_threads = device.most_threads(self.n_regs)

    @property
    def num_warps(self) -> int:
        return self.metadata.num_warps

    @property
    def num_stages(self) -> int:
        return self.metadata.num_stages

    @property
    def num_ctas(self) -> int:
        return self.metadata.num_ctas

    @property
    def shared(self) -> int:
        return self.metadata.shared

    def _init_handles(self):
        """Nothing to load; raises OutOfResources for more than a block can
        have."""
        self._prepared.check_resources()

    def result(self) -> Any:
        return self

    def launch_metadata(self, grid: tuple[int, int, int], stream: int,
                        *args: Any) -> LazyDict:
        """What the hooks of a launch get."""
        return hooks.metadata(self._prepared.function, self, grid, stream,
                              args)

    def __getitem__(self, grid: tuple[int, ...]) -> Callable[..., Any]:
        """A launcher for the kernel's arguments in order, with or without
        its constexprs; types and constants are those of the compilation."""
        def runner(*args, stream=None):
            prepared, src = self._prepared, self.src
            follower, plain = prepared.session.sizes, grid
            if follower is not None:
                args, plain = follower.begin_compiled(prepared.function, args,
                                                      grid)
            values = prepared.function.values_for(src.signature,
                                                  src.constants, args)
            prepared.function.run_compiled(self, values, prepared.options,
                                           plain)
        return runner

    def load(self) -> Any:
        """What the hooks of loading get, which are called now."""
        self.is_loaded = True
        return self.loaded()

    def loaded(self) -> tuple[Any, ...]:
        """What the hooks of loading and unloading get."""
        return self.module, self.function, self.name, {}, self.hash

    def __del__(self) -> None:
        if self.is_loaded:  # by a launch that told hooks of it
            hooks.unloaded(self)

    def of(self, src: ASTSource) -> CompiledKernel:
        """The same kernel, as what an ASTSource was compiled to."""
        kernel = copy.copy(self)
        kernel.src, kernel.is_loaded = src, False
        return kernel

    def run(self, grid_0: Any, grid_1: Any, grid_2: Any, stream: Any,
            function: Any, packed_metadata: Any, launch_metadata: Any,
            enter_hook: Any, exit_hook: Any, *args: Any) -> None:
        """Triton's low-level launcher; everything between is ignored."""
        self[(grid_0, grid_1, grid_2)](*args)

    def __repr__(self) -> str:
        return f"CompiledKernel({self.name}, {self.hash[:12]})"


_DEFAULTS = {
    "num_warps": 4, "num_ctas": 1, "num_stages": 3, "warp_size": 32,
    "maxnreg": None, "enable_fp_fusion": True, "enable_reflect_ftz": True,
    "launch_cooperative_grid": False, "launch_pdl": False, "debug": False,
    "backend_name": "cuda", "instrumentation_mode": "", "ir_override": None,
    "extern_libs": (), "ptx_options": None, "tensordesc_meta": (),
    "allowed_dot_input_precisions": (
        "tf32", "tf32x3", "ieee", "bf16x3", "bf16x6"),
    "supported_fp8_dtypes": ("fp8e4b15", "fp8e4nv", "fp8e5"),
    "deprecated_fp8_dot_operand_dtypes": ("fp8e4b15",),
    "max_num_imprecise_acc_default": 1 << 30,
    "global_scratch_size": 0, "global_scratch_align": 1,
    "profile_scratch_size": 0, "profile_scratch_align": 1,
    "tmem_size": 0, "ptx_version": None, "sanitize_overflow": True,
    "default_dot_input_precision": "tf32"}


def metadata(name: str, hash_: str, options: dict[Any, Any]) -> Any:
    """A named tuple with the fields that scripts read."""
    target = device.target()
    fields = dict(_DEFAULTS, name=name, hash=hash_, shared=0,
                  triton_version=session_.current().version.release(),
                  target=target, arch=f"sm{target.arch}")
    fields.update((k, v) for k, v in options.items()
                  if v is not None or k not in fields)
    names = sorted(n for n in fields if n.isidentifier())
    make: Any = collections.namedtuple  # a class that only a launch knows
    kind = make("KernelMetadata", names)
    return kind(**{n: fields[n] for n in names})
