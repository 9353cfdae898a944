"""A launch of a puzzle's kernel, ready to run any number of times."""
from __future__ import annotations

from ctypes import byref, c_void_p
from typing import TYPE_CHECKING, Any

from .. import _capi
from . import accesses, data

if TYPE_CHECKING:
    from .data import Launch
    from .engine import Engine


class Refused(Exception):
    """A launch that could not be made; findings say why."""

    def __init__(self, findings: list[dict[str, Any]]) -> None:
        self.findings = findings or [
            {"kind": "launch", "message": "the kernel cannot be launched"}]
        super().__init__(self.findings[0]["message"])


class Running:
    """A tk_launch, ready to run any number of times."""

    def __init__(self, engine: Engine, function: Any, launch: Launch) -> None:
        self.engine, self.lib, self.launch = engine, engine.lib, launch
        self.ptr = c_void_p()
        engine.must(self.lib.tk_launch_new(engine.session, function,
                                           byref(self.ptr)))
        try:
            self._set_arguments()
        except Refused:
            self.free()
            raise

    def free(self) -> None:
        self.lib.tk_launch_free(self.ptr)

    def _set_arguments(self):
        for status in self._each_argument():
            self.engine.must(status)
        self.engine.must(self.lib.tk_launch_grid(self.ptr,
                                                  *self.launch.grid))

    def _each_argument(self):
        """Sets one after the other, and yields how that went."""
        for name, value in self.launch.arguments.items():
            if isinstance(value, data.Buffer):
                yield self._buffer(name, value)
                continue
            text = value if isinstance(value, str) else repr(value)
            yield self.lib.tk_launch_arg_text(self.ptr,
                                              f"{name}={text}".encode())

    def _buffer(self, name, buffer):
        tensor = self._tensor(buffer)
        return self.lib.tk_launch_tensor(self.ptr, name.encode(),
                                         byref(tensor))

    def _tensor(self, buffer):
        array, storage = buffer.array, buffer.storage
        unwritten = buffer.written and buffer.unwritten
        flags = (_capi.TENSOR_UNWRITTEN if unwritten else
                 0 if buffer.written else _capi.TENSOR_READONLY)
        tensor = _capi.Tensor(
            data=array.ctypes.data, dtype=self.engine.dtype(buffer.dtype),
            rank=array.ndim, storage=storage.ctypes.data,
            storage_bytes=storage.nbytes, flags=flags)
        tensor.shape[:array.ndim] = array.shape
        tensor.strides[:array.ndim] = [s // array.itemsize
                                       for s in array.strides]
        return tensor

    def run(self, **options: Any) -> tuple[Any, ...]:
        """Runs it; returns its findings, and its accesses.  options: those
        of tk_run_options."""
        given = {k: v.encode() if isinstance(v, str) else v
                 for k, v in options.items()}
        chosen = _capi.RunOptions(log_accesses=True, dot=b"exact", **given)
        self.lib.tk_launch_run(self.ptr, byref(chosen), None)
        log = accesses.Accesses(self.lib, self.ptr)
        buffers = self.launch.buffers()
        for site in log.sites:
            if site.writes and site.tensor in buffers:
                buffers[site.tensor].note_write()
        return self.engine.take_findings(), log

    def record(self, path: str) -> None:
        """Writes a launch file."""
        self.engine.must(self.lib.tk_launch_record(self.ptr, path.encode()))
