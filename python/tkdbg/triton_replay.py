"""Runs a launch file by the Triton that is installed, on a GPU or, with
--interpret, by Triton's interpreter on the CPU; or, with --ptx, asks Triton's
compiler for its code, which needs no GPU, or with --emit for one of its stages:

    python triton_replay.py FILE [--interpret | --ptx sm_80 |
                                  --emit=ttir|ttgir|llir|ptx|sass|all sm_80]

The kernel and the functions that it calls are put into modules of their own,
on the lines that they were on, with the values that their globals had when the
launch was recorded; nothing else of the script runs.  What the launch leaves in
memory takes the place of what the file holds; code or a stage takes the place
of the file, as a JSON object (`code`, `stage`).  Exit code 3: Triton did not
run it, and the last text on standard output, behind a record separator, says
why.

This file imports nothing of tkdbg: it is started by its path, where the package
tkdbg must not take Triton's place.
"""
from __future__ import annotations

import sys

if sys.path and sys.path[0].endswith("tkdbg"):  # its modules are not ours here
    del sys.path[0]

import __future__
import ast
import collections
import json
import os
import re
import struct
import tempfile
import types
from typing import Any

USUAL_OPTIONS = {"num_warps": 4, "num_ctas": 1, "num_stages": 3, "maxnreg": 0,
                 "enable_fp_fusion": 1, "enable_reflect_ftz": 1,
                 "launch_cooperative_grid": 0, "launch_pdl": 0}
FLAGS = {"enable_fp_fusion", "enable_reflect_ftz", "launch_cooperative_grid",
         "launch_pdl"}
KNOBS = {"fp32_default": "TRITON_F32_DEFAULT"}
# what a decorator may say that a kernel means something else by
JIT_WORDS = {"noinline", "debug", "do_not_specialize",
             "do_not_specialize_on_alignment"}
TORCH_NAMES = {"int1": "bool", "fp16": "float16", "bf16": "bfloat16",
               "fp32": "float32", "fp64": "float64",
               "fp8e4nv": "float8_e4m3fn", "fp8e5": "float8_e5m2",
               "fp8e4b8": "float8_e4m3fnuz", "fp8e5b16": "float8_e5m2fnuz",
               "fp8e4b15": "uint8"}


class CannotReplay(Exception):
    """Something of a launch that Triton cannot be told."""


def signed(v: int) -> int:
    return v - (1 << 64) if v >> 63 else v


class LaunchFile:
    """The parts of a launch file: src/launch/record.c says what they are."""

    def __init__(self, path: str) -> None:
        self.path = path
        with open(path, "rb") as f:
            size, = struct.unpack("<Q", f.read(8))
            header = json.loads(f.read(size))
            self.data_at = f.tell()
        self.meta = json.loads(header.pop("__metadata__")["tkdbg"])
        self.storages = {name: entry["data_offsets"]
                         for name, entry in header.items()}

    def read(self, name: str) -> Any:
        lo, hi = self.storages[name]
        with open(self.path, "rb") as f:
            f.seek(self.data_at + lo)
            return bytearray(f.read(hi - lo))

    def write(self, name: str, data: bytes) -> None:
        with open(self.path, "r+b") as f:
            f.seek(self.data_at + self.storages[name][0])
            f.write(data)


# ---- memory ------------------------------------------------------------------


class Memory:
    """The storages of a launch on the device, and tensors that lie in them."""

    def __init__(self, file: LaunchFile, device: str) -> None:
        import torch
        self.torch, self.file = torch, file
        self.buffers = {
            name: torch.frombuffer(file.read(name) or bytearray(1),
                                   dtype=torch.uint8).to(device)
            for name in file.storages}
        described = [a for a in file.meta["args"] + file.meta["extras"]
                     if a["kind"] == "tensor"]
        self.moves = sorted({self._move(t) for t in described})
        self.tables = {t["storage"] for t in described
                       if t["dtype"] in ("int64", "uint64")}
        for name in self.tables:
            self._translate(name, [(lo, hi, to - lo)
                                   for lo, hi, to in self.moves])

    def _move(self, t):
        """Where a tensor's storage was, and where it is now."""
        lo, hi = self.file.storages[t["storage"]]
        at = t["address"] - t["offset"]
        return at, at + hi - lo, self.buffers[t["storage"]].data_ptr()

    def _translate(self, name, moves):
        """Pointers that lie in memory lead where the storages are."""
        buffer = self.buffers[name]
        words = buffer[:buffer.numel() // 8 * 8].view(self.torch.int64)
        was = words.clone()
        for lo, hi, by in moves:
            words[(was >= lo) & (was < hi)] += by

    def tensor(self, t: dict[str, Any]) -> Any:
        torch = self.torch
        dtype = getattr(torch, TORCH_NAMES.get(t["dtype"], t["dtype"]))
        if t["offset"] % dtype.itemsize:
            raise CannotReplay("a tensor lies at an address that is not a "
                               f"multiple of its element size, {t['dtype']}")
        if any(s < 0 for s in t["strides"]):
            raise CannotReplay("a tensor has a negative stride, which PyTorch "
                               "does not support")
        out = torch.empty(0, dtype=dtype,
                          device=self.buffers[t["storage"]].device)
        out.set_(self.buffers[t["storage"]].untyped_storage(),
                 t["offset"] // dtype.itemsize, t["shape"], t["strides"])
        if t["dtype"] != "fp8e4b15":
            return out
        import triton
        return triton.reinterpret(out, triton.language.float8e4b15)

    def write_back(self) -> None:
        for name in self.tables:
            self._translate(name, [(to, to + hi - lo, lo - to)
                                   for lo, hi, to in self.moves])
        for name, (lo, hi) in self.file.storages.items():
            data = self.buffers[name].cpu().numpy().tobytes()
            self.file.write(name, data[:hi - lo])


class Addresses:
    """Stands for Memory where code is made and nothing runs."""

    def tensor(self, t: dict[str, Any]) -> Any:
        name = t["dtype"]
        dtype = "float8e4b15" if name == "fp8e4b15" else TORCH_NAMES.get(
            name, name)
        return Addressed(t["address"], dtype, t["shape"], t["strides"])


class DtypeName(str):
    """The name of a type, which knows how large that is."""

    @property
    def itemsize(self) -> int:
        bits = re.search(r"\d+", self)
        return 1 if self == "bool" or not bits else int(bits[0]) // 8


class Addressed:
    """What Triton's compiler looks at in a tensor; dtype: by PyTorch's name,
    so that PyTorch need not be imported."""

    def __init__(self, address: int, dtype: str, shape: list[int],
                 strides: list[int]) -> None:
        self.address, self.dtype = address, DtypeName(dtype)
        self.shape, self.strides = tuple(shape), tuple(strides)

    @property
    def ndim(self) -> int:
        return len(self.shape)

    def data_ptr(self) -> int:
        return self.address

    def stride(self, axis: Any = None) -> Any:
        return self.strides if axis is None else self.strides[axis]


# ---- functions ---------------------------------------------------------------


def text_of(value: Any) -> Any:
    """Text as a launch file has it: what is not UTF-8 is in hex."""
    if isinstance(value, dict):
        return bytes.fromhex(value["hex"]).decode("utf-8", "surrogateescape")
    return value


def is_jit(decorator: ast.AST) -> bool:
    call = decorator.func if isinstance(decorator, ast.Call) else decorator
    return getattr(call, "attr", getattr(call, "id", "")) == "jit"


def jit_words(node: ast.FunctionDef) -> dict[str, Any]:
    """What the decorator of a function says, of what matters here."""
    words = {}
    for decorator in filter(is_jit, node.decorator_list):
        for word in getattr(decorator, "keywords", []):
            if word.arg in JIT_WORDS:
                words[word.arg] = ast.literal_eval(word.value)
    return words


def is_constant(node: ast.stmt) -> bool:
    """Whether a statement gives a name a value that follows from the text."""
    calls = [n for n in ast.walk(node) if isinstance(n, ast.Call)]
    return (isinstance(node, (ast.Assign, ast.AnnAssign)) and
            all(ast.unparse(c.func).endswith("constexpr") for c in calls))


def tree_of(text: str) -> ast.Module:
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError) as e:  # of a null byte, by the version
        raise CannotReplay(f"the text of a module is not Python: {e}") from None


class Sources:
    """Modules whose texts are a launch file's, in a folder of files."""

    def __init__(self, modules: list[dict[str, Any]], folder: str) -> None:
        self.texts = [text_of(m["text"]) for m in modules]
        self.trees = [tree_of(text) for text in self.texts]
        self.paths = []
        for i, m in enumerate(modules):
            name = os.path.basename(m["name"]) or "kernel.py"
            self.paths.append(os.path.join(folder, f"{i}_{name}"))

    def node(self, module: int, name: str, line: int) -> Any:
        for node in ast.walk(self.trees[module]):
            if isinstance(node, ast.FunctionDef) and node.name == name:
                first = min([node.lineno] +
                            [d.lineno for d in node.decorator_list])
                if first <= line <= node.body[0].lineno:
                    return node
        raise CannotReplay(f"the source of '{name}' is not in its module")

    def run(self, module: Any, nodes: Any, namespace: Any,
            prefix: str = "") -> None:
        """Runs statements of a module, which stand alone in a file that has
        them on their own lines."""
        lines = self.texts[module].splitlines()
        kept = [""] * len(lines)
        for node in nodes:
            for i in range(node.lineno - 1, node.end_lineno):
                line = lines[i]
                blank = line[:node.col_offset].strip() == ""
                kept[i] = line[node.col_offset:] if blank else line
        path = self.paths[module].replace(".py", f"{prefix}.py")
        with open(path, "w", encoding="utf-8",
                  errors="surrogateescape") as f:
            f.write("\n".join(kept) + "\n")
        flags = __future__.annotations.compiler_flag
        exec(compile("\n".join(kept) + "\n", path, "exec", flags,
                     dont_inherit=True), namespace)


class Functions:
    """The functions of a launch as Triton's."""

    def __init__(self, meta: dict[str, Any], triton: Any,
                 folder: str) -> None:
        self.triton, self.meta = triton, meta
        self.sources = Sources(meta["modules"], folder)
        self.made: dict[Any, Any] = {}
        self.objects: dict[Any, Any] = {}
        self.answers = [a for f in meta["functions"] for a in f["answers"]]

    def value(self, v: dict[str, Any], tensors: Any = ()) -> Any:
        """A value as Python has it."""
        made = self._value(v, tensors)
        return self.triton.language.constexpr(made) if (
            v.get("constexpr") and v["kind"] not in
            ("builtin", "function")) else made

    def _value(self, v, tensors):
        kind = v["kind"]
        if kind == "none":
            return None
        if kind == "bool":
            return bool(v["lo"])
        if kind == "int":
            return (v["hi"] << 64) + (v["lo"] & (1 << 64) - 1)
        if kind == "float":
            return struct.unpack("<d", struct.pack("<q", v["bits"]))[0]
        if kind == "str":
            return text_of(v["text"])
        if kind == "dtype":
            return self._dtype(v)
        if kind == "tuple":
            return self._tuple(v, tensors)
        if kind == "tensor":
            return tensors[v["extra"]]
        if kind == "descriptor":
            return self._descriptor(v, tensors)
        if kind == "builtin":
            return self._builtin(v["text"])
        if kind == "function":
            return self.function(v["index"])
        return self._object(v)

    def _dtype(self, v):
        language = self.triton.language
        made = language.dtype(v["dtype"])
        for _ in range(v["depth"]):
            made = language.pointer_type(made)
        return made

    def _tuple(self, v, tensors):
        items = [self.value(i, tensors) for i in v["items"]]
        if not v.get("fields"):
            return tuple(items)
        make: Any = collections.namedtuple  # a class that only a file knows
        return make("Fields", v["fields"].split(","))(*items)

    def _descriptor(self, v, tensors):
        from triton.tools.tensor_descriptor import TensorDescriptor
        base, shape, strides, block, padding = (
            self.value(i, tensors) for i in v["items"])
        rounds = {"round_f32_to_tf32": True} if v.get("tf32") else {}
        return TensorDescriptor(base, list(shape), list(strides), list(block),
                                padding=padding, **rounds)

    def _builtin(self, name):
        head, *path = name.split(".")
        roots = {"tl": "triton.language", "triton": "triton",
                 "builtins": "builtins",
                 "libdevice": "triton.language.extra.libdevice"}
        found = __import__(roots.get(head, head), fromlist=["*"])
        for part in path:
            found = getattr(found, part)
        return found

    def _object(self, v):
        """A host object, which has the attributes that kernels asked it for."""
        made = self.objects.get(v["index"])
        if made is None:
            made = types.ModuleType(v["text"])
            self.objects[v["index"]] = made
            for a in self.answers:
                if a.get("object") != v["index"] or a["found"] <= 0:
                    continue
                if a["question"] == "call":
                    raise CannotReplay(
                        "it calls an object of the host's, of type "
                        f"'{v['text']}', while it is compiled")
                setattr(made, a["name"], self.value(a["value"]))
        return made

    def function(self, index: int) -> Any:
        """The index-th function of the file."""
        if index in self.made:
            return self.made[index]
        f = self.meta["functions"][index]
        node = self.sources.node(f["module"], f["name"], f["line"])
        namespace = self._namespace(f["module"])
        if not f["host"]:
            self._run_helpers(f["module"], node, namespace)
        self.sources.run(f["module"], [node], namespace, f"_{index}")
        plain = namespace[f["name"]]
        jit = any(map(is_jit, node.decorator_list)) or index == 0
        made = (self.triton.jit(plain, **jit_words(node)) if jit else
                self.triton.constexpr_function(plain))
        self.made[index] = namespace[f["name"]] = made
        for a in f["answers"]:
            if a["question"] == "global" and a["found"] > 0:
                namespace[a["name"]] = self.value(a["value"])
        return made

    def _namespace(self, module):
        namespace = {"__name__": f"launch_{module}", "triton": self.triton,
                     "tl": self.triton.language}
        for node in self.sources.trees[module].body:
            try:
                if isinstance(node, (ast.Import, ast.ImportFrom)):
                    if "triton" in ast.unparse(node):
                        self.sources.run(module, [node], namespace, "_i")
                elif is_constant(node):
                    self.sources.run(module, [node], namespace, "_c")
            except Exception:  # pylint: disable=broad-except
                continue  # who needs the name is told that it is missing
        return namespace

    def _run_helpers(self, module, kernel, namespace):
        """No host said what the globals are: a module's own functions."""
        for node in self.sources.trees[module].body:
            if (isinstance(node, ast.FunctionDef) and node is not kernel and
                    any(map(is_jit, node.decorator_list))):
                self.sources.run(module, [node], namespace, f"_{node.name}")
                namespace[node.name] = self.triton.jit(
                    namespace[node.name], **jit_words(node))


# ---- the launch --------------------------------------------------------------


def scalar(arg: dict[str, Any]) -> Any:
    """A number of a given type, which Triton must take for one of that."""
    dtype, bits = arg["dtype"], arg["bits"]
    if dtype == "fp32":
        return struct.unpack("<f", struct.pack("<I", bits & 0xffffffff))[0]
    if dtype == "int32":  # only its low bits are given
        return signed(bits << 32 & (1 << 64) - 1) >> 32
    if dtype in ("int64", "uint64", "int1"):
        value = bits & (1 << 64) - 1 if dtype == "uint64" else signed(bits)
        small = -(1 << 31) <= value < 1 << 31
        if (dtype == "uint64") == (value >= 1 << 63):
            if dtype != "int64" or not small:
                return bool(value) if dtype == "int1" else value
    raise CannotReplay(f"argument '{arg['name']}' is a number of type {dtype}; "
                       "Triton would give it another type")


def arguments(file: LaunchFile, memory: Memory | Addresses,
              functions: Functions) -> dict[str, Any]:
    tensors = [memory.tensor(t) for t in file.meta["extras"]]
    found = {}
    for arg in file.meta["args"]:
        if arg["kind"] == "tensor":
            found[arg["name"]] = memory.tensor(arg)
        elif arg["kind"] == "scalar":
            found[arg["name"]] = scalar(arg)
        elif arg["kind"] == "value":
            value = functions.value(arg["value"], tensors)
            found[arg["name"]] = getattr(value, "value", value)
    return found


def options(meta: dict[str, Any]) -> dict[str, Any]:
    return {name: bool(meta[name]) if name in FLAGS else meta[name]
            for name, usual in USUAL_OPTIONS.items()
            if meta.get(name, usual) != usual and
            not any(arg["name"] == name for arg in meta["args"])}


def set_knobs(meta: dict[str, Any]) -> None:
    for name, text in meta.get("compile", {}).items():
        if name in KNOBS:
            os.environ[KNOBS[name]] = text


def replay(path: str, device: str) -> None:
    import torch
    import triton
    if hasattr(triton, "set_allocator"):  # descriptors made in a kernel
        triton.set_allocator(lambda size, alignment, stream: torch.empty(
            size, dtype=torch.int8, device=device))
    file = LaunchFile(path)
    set_knobs(file.meta)
    with tempfile.TemporaryDirectory(prefix="tkdbg-") as folder:
        functions = Functions(file.meta, triton, folder)
        memory = Memory(file, device)
        kernel = functions.function(0)
        kernel[tuple(file.meta["grid"])](**arguments(file, memory, functions),
                                         **options(file.meta))
        memory.write_back()


# ---- its code ----------------------------------------------------------------


def driver_of(triton: Any, arch: int) -> Any:
    """A driver of a GPU sm_ARCH that is not there, for who only compiles."""
    from triton.backends.compiler import GPUTarget
    from triton.backends.driver import GPUDriver

    class Driver(GPUDriver):

        def __init__(self) -> None:
            self.get_current_device = lambda: 0
            self.get_current_stream = lambda device: 0
            self.set_current_device = lambda device: None
            self.get_device_capability = lambda device=0: divmod(arch, 10)

        @classmethod
        def is_active(cls) -> bool:
            return True

        def get_current_target(self) -> Any:
            return GPUTarget("cuda", arch, 32)

        def map_python_to_cpp_type(self, ty: str) -> str:
            return ty

        def get_active_torch_device(self) -> Any:
            import torch
            return torch.device("cuda", 0)

        def get_benchmarker(self) -> Any:
            return None

        def get_empty_cache_for_benchmark(self) -> Any:
            return None

        def clear_cache(self, cache: Any) -> None:
            pass

        def get_device_interface(self) -> Any:
            import torch
            return torch.cuda

    return Driver()


def descriptor(name: str, type_: str, meta: Any, triton: Any) -> Any:
    """What Triton's launcher passes for a descriptor of the host's: a tensor
    map, or its parts, of which since 3.7 two are flags."""
    blocks = re.search(r"\[([^\]]*)\]", type_)
    if blocks is None or "im2col" in type_ or meta and meta["fp4_padded"]:
        raise CannotReplay(f"'{name}' is a descriptor of this kind")
    version = tuple(map(int, triton.__version__.split(".")[:2]))
    return {"rank": blocks[1].count(",") + 1,
            "flags": 1 if version < (3, 7) else 2,
            "map": meta and {"type": meta["elem_type"],
                             "swizzle": meta["swizzle"],
                             "box": list(meta["block_size"])}}


def parameters(compiled: Any, triton: Any) -> list[Any]:
    """The names of what a kernel's code is passed, in order; of a tuple, each
    item; of a descriptor, what the launcher makes of it.  Two pointers follow,
    to memory that Triton's launcher allocates."""
    names: list[Any] = []
    maps = list(getattr(compiled.metadata, "tensordesc_meta", None) or [])

    def add(name: str, type_: Any) -> None:
        if isinstance(type_, (tuple, list)):
            for i, item in enumerate(type_):
                add(f"{name}.{i}", item)
        elif type_ != "constexpr":
            if not str(type_).startswith("tensordesc"):
                names.append(name)
            elif "." in name:
                raise CannotReplay(f"'{name}' is a descriptor in a tuple")
            else:
                names.append(descriptor(name, type_,
                                        maps.pop(0) if maps else None, triton))

    for name, type_ in compiled.src.signature.items():
        add(name, type_)
    return names


ASSEMBLY = re.compile(r"// begin inline asm\n.*?// end inline asm\n", re.S)


def without_lines_of_assembly(ptx: str) -> str:
    """PTX in which an inline assembly is at the line that it was before.  LLVM,
    since that of Triton 3.9, counts its lines on from there."""
    return ASSEMBLY.sub(
        lambda match: re.sub(r"(?m)^\s*\.loc\s.*\n", "", match[0]), ptx)


# where a text of each kind names a file of its source; PTX does so in comments
# as well, which say what was inlined into what
PTX_FILE = r'(\.file\s+\d+\s+"|// |@\[ )([^":\s]+)(?="|:\d+:\d+)'
LLVM_FILE = r'(!DIFile\(filename: )"([^"]*)"(?:, directory: "[^"]*")?'
MLIR_FILE = r'(\bloc\()"([^"]*)"(?=:)'


def named(text: str, file: str, sources: Sources,
          modules: list[dict[str, Any]]) -> str:
    """A text whose lines are those of the script's own files.  Folders do not
    count: Triton may have compiled the same text before, in another one."""
    def own(match: re.Match[str]) -> str:
        name = os.path.basename(match[2])
        for path, module in zip(sources.paths, modules):
            stem = os.path.basename(path)
            stem = stem[:-len(".py")] if stem.endswith(".py") else stem
            if name.startswith(stem):
                quote = '"' if match[0].endswith('"') else ""
                return f'{match[1]}{quote}{module["name"]}{quote}'
        return match[0]
    return re.sub(file, own, text)


def set_llvm_options() -> None:
    """What TKDBG_LLVM_OPTIONS says, by the module that lies beside this one."""
    words = os.environ.get("TKDBG_LLVM_OPTIONS", "").split()
    if not words:
        return
    import importlib.util
    spec = importlib.util.spec_from_file_location(
        "tkdbg_llvmoptions",
        os.path.join(os.path.dirname(os.path.abspath(__file__)),
                     "llvmoptions.py"))
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    try:
        module.set_options(words)
    except module.CannotSet as e:
        raise CannotReplay(f"LLVM's options cannot be set: {e}") from e


def compiled_by_triton(path: str, arch: int, folder: str) -> tuple[Any, ...]:
    """(triton, the launch's kernel compiled for a GPU sm_ARCH, its Sources,
    its modules)."""
    # what it means where it is not set; 3.9 warns then
    os.environ.setdefault("TRITON_DEFAULT_FP_FUSION", "1")
    import triton
    set_llvm_options()
    triton.runtime.driver.set_active(driver_of(triton, arch))
    file = LaunchFile(path)
    set_knobs(file.meta)
    functions = Functions(file.meta, triton, folder)
    kernel = functions.function(0)
    compiled = kernel.warmup(
        grid=tuple(file.meta["grid"]),
        **arguments(file, Addresses(), functions), **options(file.meta))
    if hasattr(compiled, "result"):  # compiled in another thread
        compiled = compiled.result()
    return triton, compiled, functions.sources, file.meta["modules"]


def code(path: str, arch: int) -> dict[str, Any]:
    """What Triton's compiler makes of a launch for a GPU sm_ARCH: ptx, the
    text; ttir, Triton's IR before layouts; entry, its kernel; shared, bytes of
    dynamic shared memory; warps; params, the names of what is passed; scratch,
    bytes of a program's global memory."""
    with tempfile.TemporaryDirectory(prefix="tkdbg-") as folder:
        triton, compiled, sources, modules = compiled_by_triton(path, arch,
                                                                folder)
        meta = compiled.metadata
        ptx = without_lines_of_assembly(compiled.asm["ptx"])
        return {"ptx": named(ptx, PTX_FILE, sources, modules),
                "ttir": compiled.asm["ttir"],
                "entry": meta.name, "shared": meta.shared,
                "warps": meta.num_warps, "params": parameters(compiled, triton),
                "scratch": getattr(meta, "global_scratch_size", 0) or 0}


STAGE_FILES = {"ttir": MLIR_FILE, "ttgir": MLIR_FILE, "llir": LLVM_FILE,
               "ptx": PTX_FILE}


def machine_code(compiled: Any) -> str:
    """SASS, by NVIDIA's programs, of which Triton has its own."""
    try:
        return str(compiled.asm["sass"])
    except Exception as e:  # pylint: disable=broad-except
        raise CannotReplay(
            "machine code is printed by cuobjdump and nvdisasm, which this "
            "Triton did not find or which failed (TRITON_CUOBJDUMP_PATH and "
            f"TRITON_NVDISASM_PATH name them): {type(e).__name__}: {e}"
        ) from e


def stage(path: str, arch: int, name: str) -> dict[str, Any]:
    """A stage of Triton's compiler, as it is for a GPU sm_ARCH: text; or "all"
    that are text: stages, in the order in which they are made."""
    with tempfile.TemporaryDirectory(prefix="tkdbg-") as folder:
        _, compiled, sources, modules = compiled_by_triton(path, arch, folder)
        if name == "sass":
            return {"text": machine_code(compiled)}
        texts = {each: named(compiled.asm[each], file, sources, modules)
                 for each, file in STAGE_FILES.items() if name in (each, "all")}
        if name != "all":
            return {"text": texts[name]}
        return {"stages": [{"name": each, "text": text}
                           for each, text in texts.items()]}


def main(argv: list[str]) -> int:
    interpret = "--interpret" in argv
    emitted = [a.split("=")[1] for a in argv if a.startswith("--emit=")]
    path, *arch = (a for a in argv if not a.startswith("--"))
    if interpret:
        os.environ["TRITON_INTERPRET"] = "1"
    try:
        if "--ptx" in argv or emitted:
            # Of 9.0 Triton makes code for sm_90a anyway.
            number = int(arch[0].removeprefix("sm_").rstrip("a"))
            made = (stage(path, number, emitted[0]) if emitted else
                    code(path, number))
            with open(path, "w", encoding="utf-8") as f:
                json.dump(made, f)
        else:
            replay(path, "cpu" if interpret else "cuda")
    except Exception as e:  # pylint: disable=broad-except
        text = str(e) if isinstance(e, CannotReplay) else (
            f"{type(e).__name__}: {e}")
        print("\x1e" + text)
        return 3
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
