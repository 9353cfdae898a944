"""The launches of a script, recorded so that they can be run again.

Each launch is written to a launch file in a temporary folder before it runs,
and its tensors are kept, so that nobody else gets their memory.  The oldest
are dropped when there are too many, and one that is too large by itself is
not recorded.
"""
from __future__ import annotations

import collections
import ctypes
import os
import shutil
import tempfile
from collections.abc import Callable, Sequence
from ctypes import byref, c_void_p
from typing import TYPE_CHECKING, Any

from . import (_capi, _results, arguments, errors, history, hostlines,
               session as session_)

if TYPE_CHECKING:
    from ._capi import Tensor
    from ._results import Difference
    from .modelled import Model
    from .session import Session

MOST_LAUNCHES = 256


class Logged:
    """One launch that was recorded."""

    def __init__(self, number: int, kernel: str, nth: int, path: str,
                 values: dict[str, Any], tensors: dict[str, Any],
                 grid: tuple[int, int, int],
                 model: Model | None = None) -> None:
        """values: of its parameters; tensors: those that are; model: of a
        kernel that PyTorch's compiler wrote."""
        self.number = number
        self.site = hostlines.site()
        self.grid = grid
        self.model = model
        self.values = values
        self.kernel = kernel
        self.nth = nth  # launch of this kernel
        self.path = path
        self.bytes = os.path.getsize(path)
        self.tensors = tensors
        self._changed: frozenset[str] | None = None

    def changed(self, find: Callable[[Logged], frozenset[str]]) -> (
            frozenset[str]):
        """The parameters whose tensors it changed; find: asked once."""
        if self._changed is None:
            self._changed = find(self)
        return self._changed


class Log:
    """The launches that a session has made, oldest first."""

    def __init__(self, session: Session, most_bytes: int) -> None:
        self.session = session
        self.most_bytes = most_bytes
        self.folder = tempfile.mkdtemp(prefix="tkdbg-why-")
        self.launches: list[Any] = []
        self.left_out = None  # why the last one that was not recorded was not
        self.last_left_out = 0  # its number
        # how often each kernel was launched
        self.times: collections.Counter[str] = collections.Counter()
        self.history = history.History()
        session.fresh.keep_host_maps()

    def add(self, launch: int, kernel: str, number: int) -> None:
        """Records a tk_launch that is about to run, if there is room."""
        session, lib = self.session, self.session.lib
        self.times[kernel] += 1
        values = session.runs.launched
        tensors = {n: v for n, v in values.items()
                   if arguments.kind_of(type(v)) in arguments.TENSORS}
        self.history.launched(number, tensors)
        session.check(session.guarded(lib.tk_launch_compile, launch), kernel)
        size = self._size(launch)
        if size > self.most_bytes:
            self._leave_out(
                number, f"launch {number}, {kernel}, was not recorded: its "
                f"tensors take {size >> 20} MiB, and at most "
                f"{self.most_bytes >> 20} are kept. Try it with smaller ones")
            return
        path = os.path.join(self.folder, f"{number}.safetensors")
        if session.guarded(lib.tk_launch_record, launch,
                           path.encode()) != _capi.OK:
            lib.tk_report_clear(session.ptr)
            self._leave_out(
                number, f"launch {number}, {kernel}, was not recorded: its "
                f"{size >> 20} MiB do not fit into {tempfile.gettempdir()}. "
                "TMPDIR names another folder")
            return
        self.launches.append(Logged(number, kernel, self.times[kernel], path,
                                    values, tensors, session.runs.grid,
                                    session.runs.model))
        while len(self.launches) > 1 and (
                len(self.launches) > MOST_LAUNCHES or
                sum(each.bytes for each in self.launches) > self.most_bytes):
            os.unlink(self.launches.pop(0).path)

    def _leave_out(self, number, why):
        self.left_out, self.last_left_out = why, number

    def _size(self, launch):
        """Bytes of the memory that arguments lie in."""
        found = [self.session.lib.tk_launch_get_tensor(launch, name.encode())
                 for name in self.session.runs.launched]
        return sum({t.contents.storage: t.contents.storage_bytes
                    for t in found if t}.values())

    def close(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)


class Recording:
    """The file of a recorded launch, open to be replayed many times; closed
    by close()."""

    def __init__(self, lib: Any, logged: Logged) -> None:
        self.lib = lib
        self.session = lib.tk_session_new()
        out = c_void_p()
        if lib.tk_recording_open(self.session, logged.path.encode(),
                                 byref(out)) != _capi.OK:
            raise _gone(lib, self.session)
        self.ptr = out.value

    def close(self) -> None:
        self.lib.tk_session_free(self.session)


def _gone(lib, session):
    """The error of a launch file that cannot be read; frees the session."""
    said = _capi.text(lib.tk_report(session, False))
    lib.tk_session_free(session)
    return errors.UsageError(
        f"tkdbg: the record of a launch is gone\n{said}")


class Replay:
    """A recorded launch in a session of its own; used in a with statement."""

    def __init__(self, lib: Any, logged: Logged, check: str | None = None,
                 recording: Recording | None = None,
                 edits: Sequence[_capi.Edit] = ()) -> None:
        """recording: the launch's file, if it is open; edits: of the kernel's
        source in it, with which the kernel then may not run."""
        self.lib = lib
        self.logged = logged
        self.check = check
        self.recording = recording
        self.edits = edits
        self._kept: list[Any] = []

    def keep(self, memory: Any) -> None:
        """What the launch was lent lives as long as it does."""
        self._kept.append(memory)

    def __enter__(self) -> Replay:
        lib = self.lib
        self.ptr = lib.tk_session_new()
        if self.check is not None:
            options = _capi.CheckOptions(collect=True)
            lib.tk_session_check(self.ptr, self.check.encode(),
                                 byref(options))
        out = c_void_p()
        self.ok = self._open(out) == _capi.OK
        self.launch = out.value
        if not (self.launch or self.edits):
            raise _gone(lib, self.ptr)
        return self

    def _open(self, out):
        if self.recording is None:
            return self.lib.tk_launch_replay(
                self.ptr, self.logged.path.encode(), byref(out))
        edits = (_capi.Edit * len(self.edits))(*self.edits)
        return self.lib.tk_recording_replay(
            self.recording.ptr, self.ptr, edits, len(edits), byref(out))

    def __exit__(self, *_: Any) -> None:
        self.lib.tk_session_free(self.ptr)

    def run(self, explain: str | None = None,
            stop: Sequence[int] | None = None) -> bool:
        """Whether it ran to its end.  explain: an element to explain; stop: a
        program, (x, y, z), that stops, whose last address is."""
        options = _capi.RunOptions(
            explain=explain and explain.encode(), silent_answers=True,
            explain_stop=stop and (ctypes.c_int64 * 3)(*stop),
            no_asserts=session_.current().options.no_asserts)
        return self.ok and self.lib.tk_launch_run(
            self.launch, byref(options), None) == _capi.OK

    def tensor(self, name: str) -> Tensor | None:
        """The tk_tensor of a parameter, or None."""
        found = self.lib.tk_launch_get_tensor(self.launch, name.encode())
        return found.contents if found else None

    def difference(self) -> Difference | None:
        """The tk_difference of what was expected, or None."""
        found = self.lib.tk_launch_difference(self.launch, 0)
        return found.contents if found and found.contents.wrong else None

    def difference_lines(self, source: int) -> list[str]:
        """The same as lines; source: how many lines of source, at most."""
        return _capi.text(self.lib.tk_launch_difference_text(
            self.launch, 0, source)).splitlines()

    def explanation(self) -> Any:
        """The tk_explanation that run() was asked for, or None."""
        found = self.lib.tk_launch_explanation(self.launch, 0)
        return found.contents if found and found.contents.nsteps else None

    def explained(self, parameter: str, index: Sequence[int]) -> Any:
        """The tk_explanation of an element, for which the launch runs; None
        if it did not write it."""
        at = f"[{','.join(map(str, index))}]" if index else ""
        why = self.explanation() if self.run(parameter + at) else None
        return why if why is not None and why.blame.times else None

    def source_lines(self, explanation: Any, most: int) -> list[str]:
        """The lines of the source that a value came from."""
        return _capi.text(self.lib.tk_launch_source_lines(
            self.launch, byref(explanation), most)).splitlines()

    def findings(self) -> list[dict[str, Any]]:
        """What detectors have found, as dicts."""
        return _results.findings(self.lib, self.ptr)
