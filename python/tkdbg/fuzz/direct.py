"""A kernel's launch, made by the C API without a script."""
from __future__ import annotations

import ctypes
import re
from collections.abc import Iterator
from typing import Any

import numpy as np

from .. import _capi
from .kernel import HEAD, Kernel

DTYPES = {"float16": "fp16", "float32": "fp32", "float64": "fp64"}
FILE = "kernel.py"  # what reports call the source


class Failed(Exception):
    """With what the report says; usage: it is no fault of the kernel's."""

    def __init__(self, said: str, usage: bool = False) -> None:
        super().__init__(said)
        self.usage = usage


class Launch:
    """One kernel on arguments of its own, in a session of its own; version:
    the Triton whose language it is in, the newest if none is given."""

    def __init__(self, lib: Any, kernel: Kernel, version: str = "") -> None:
        self.lib, self.kernel = lib, kernel
        self.arrays = kernel.arrays()
        self._kept: list[Any] = []
        self.session = lib.tk_session_new()
        self.launch: Any = None
        if version:
            self.check(lib.tk_session_triton_version(self.session,
                                                     version.encode()))

    def __enter__(self) -> Launch:
        return self

    def __exit__(self, *unused: Any) -> None:
        self.lib.tk_session_free(self.session)

    def check(self, status: int) -> None:
        if status:
            raise Failed(self.report(), status == _capi.USAGE)

    def report(self) -> str:
        return _capi.text(self.lib.tk_report(self.session, False))

    def _out(self, function: Any, *args: Any) -> Any:
        found = ctypes.c_void_p()
        self.check(function(*args, ctypes.byref(found)))
        return found

    def of_source(self) -> Launch:
        source = (HEAD + "\n\n" + self.kernel.text()).encode()
        module = self._out(self.lib.tk_module_open, self.session,
                           FILE.encode(), source, len(source))
        return self._prepare(self._out(self.lib.tk_function_named, module,
                                       self.kernel.name.encode()))

    def of_form(self, form: bytes) -> Launch:
        return self._prepare(self._out(
            self.lib.tk_ir_open, self.session, b"kernel.tk", form, len(form)))

    def _prepare(self, function: Any) -> Launch:
        lib, k = self.lib, self.kernel
        self.launch = self._out(lib.tk_launch_new, self.session, function)
        self.check(lib.tk_launch_grid(self.launch, *k.grid))
        for name, value in k.options.items():
            self.check(lib.tk_launch_option(self.launch, name.encode(),
                                            int(value)))
        for name, value in self.arrays.items():
            self.check(self._give(name.encode(), value))
        return self

    def _give(self, name: bytes, value: Any) -> int:
        if isinstance(value, np.ndarray):
            return self.lib.tk_launch_tensor(self.launch, name,
                                             ctypes.byref(self._tensor(value)))
        return self.lib.tk_launch_scalar(
            self.launch, name, self.lib.tk_dtype_from_name(b"int32"),
            value & 0xffffffff)

    def _tensor(self, array: Any) -> Any:
        name = str(array.dtype)
        t = _capi.Tensor(
            data=array.ctypes.data, rank=1,
            dtype=self.lib.tk_dtype_from_name(DTYPES.get(name, name).encode()))
        t.shape[0], t.strides[0] = len(array), 1
        self._kept.append(t)
        return t

    def text(self) -> bytes:
        """The typed form that it is specialised to."""
        self.check(self.lib.tk_launch_compile(self.launch))
        return self.lib.tk_launch_ir(self.launch)

    def after_passes(self) -> Iterator[tuple[str, bytes]]:
        """(pass, typed form after it), those that change nothing left out."""
        text = ctypes.c_char_p()
        self.check(self.lib.tk_launch_emit(self.launch, ctypes.byref(
            _capi.EmitOptions(after_all=True)), ctypes.byref(text)))
        after = re.split(rb"^// after (.*)\n", text.value or b"", flags=re.M)
        last = None
        for name, form in zip(after[1::2], after[2::2]):
            if form != last:
                yield name.decode(), form
            last = form

    def record(self, path: str) -> None:
        self.check(self.lib.tk_launch_record(self.launch, path.encode()))

    def run(self, engine: str, **options: Any) -> dict[str, Any]:
        """What an engine leaves in the outputs."""
        self.check(self.lib.tk_launch_run(self.launch, ctypes.byref(
            _capi.RunOptions(dot=b"exact", engine=engine.encode(),
                             **options)), None))
        return self.kernel.results(self.arrays)
