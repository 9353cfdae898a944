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
from ctypes import byref, c_void_p

from . import (_capi, _results, arguments, errors, hostlines,
               session as session_)

MOST_LAUNCHES = 256


class Logged:
    """One launch that was recorded."""

    def __init__(self, number, kernel, nth, path, values, grid):
        self.number = number
        self.site = hostlines.site()
        self.grid = grid
        self.values = values
        self.kernel = kernel
        self.nth = nth  # launch of this kernel
        self.path = path
        self.bytes = os.path.getsize(path)
        self.tensors = {n: v for n, v in values.items()
                        if arguments.kind_of(type(v)) in arguments.TENSORS}


class Log:
    """The launches that a session has made, oldest first."""

    def __init__(self, session, most_bytes):
        self.session = session
        self.most_bytes = most_bytes
        self.folder = tempfile.mkdtemp(prefix="tkdbg-why-")
        self.launches = []
        self.left_out = None  # why the last one that was not recorded was not
        self.last_left_out = 0  # its number
        self.times = collections.Counter()  # that each kernel was launched

    def add(self, launch, kernel, number):
        """Records a tk_launch that is about to run, if there is room."""
        session, lib = self.session, self.session.lib
        self.times[kernel] += 1
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
                                    session.launched, session.grid))
        while len(self.launches) > 1 and (
                len(self.launches) > MOST_LAUNCHES or
                sum(each.bytes for each in self.launches) > self.most_bytes):
            os.unlink(self.launches.pop(0).path)

    def _leave_out(self, number, why):
        self.left_out, self.last_left_out = why, number

    def _size(self, launch):
        """Bytes of the memory that arguments lie in."""
        found = [self.session.lib.tk_launch_get_tensor(launch, name.encode())
                 for name in self.session.launched]
        return sum({t.contents.storage: t.contents.storage_bytes
                    for t in found if t}.values())

    def close(self):
        shutil.rmtree(self.folder, ignore_errors=True)


class Replay:
    """A recorded launch in a session of its own; used in a with statement."""

    def __init__(self, lib, logged, check=None):
        self.lib = lib
        self.logged = logged
        self.check = check

    def __enter__(self):
        lib = self.lib
        self.ptr = lib.tk_session_new()
        if self.check is not None:
            options = _capi.CheckOptions(collect=True)
            lib.tk_session_check(self.ptr, self.check.encode(),
                                 byref(options))
        out = c_void_p()
        self.ok = lib.tk_launch_replay(
            self.ptr, self.logged.path.encode(), byref(out)) == _capi.OK
        self.launch = out.value
        if not self.launch:
            said = _capi.text(lib.tk_report(self.ptr, False))
            lib.tk_session_free(self.ptr)
            raise errors.UsageError("tkdbg: the record of a launch is gone\n"
                                    + said)
        return self

    def __exit__(self, *_):
        self.lib.tk_session_free(self.ptr)

    def run(self, explain=None):
        """Whether it ran to its end.  explain: an element to explain."""
        options = _capi.RunOptions(
            explain=explain and explain.encode(), silent_answers=True,
            no_asserts=session_.current().options.no_asserts)
        return self.ok and self.lib.tk_launch_run(
            self.launch, byref(options), None) == _capi.OK

    def tensor(self, name):
        """The tk_tensor of a parameter, or None."""
        found = self.lib.tk_launch_get_tensor(self.launch, name.encode())
        return found.contents if found else None

    def difference(self):
        """The tk_difference of what was expected, or None."""
        found = self.lib.tk_launch_difference(self.launch, 0)
        return found.contents if found and found.contents.wrong else None

    def difference_lines(self, source):
        """The same as lines; source: how many lines of source, at most."""
        return _capi.text(self.lib.tk_launch_difference_text(
            self.launch, 0, source)).splitlines()

    def explanation(self):
        """The tk_explanation that run() was asked for, or None."""
        found = self.lib.tk_launch_explanation(self.launch, 0)
        return found.contents if found and found.contents.nsteps else None

    def explained(self, parameter, index):
        """The tk_explanation of an element, for which the launch runs; None
        if it did not write it."""
        at = f"[{','.join(map(str, index))}]" if index else ""
        why = self.explanation() if self.run(parameter + at) else None
        return why if why is not None and why.blame.times else None

    def source_lines(self, explanation, most):
        """The lines of the source that a value came from."""
        return _capi.text(self.lib.tk_launch_source_lines(
            self.launch, byref(explanation), most)).splitlines()

    def findings(self):
        """What detectors have found, as dicts."""
        return _results.findings(self.lib, self.ptr)
