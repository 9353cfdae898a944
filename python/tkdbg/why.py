"""From a comparison that failed to the line that made the wrong value.

Which of the two arrays a kernel wrote is found by its memory, or by its
values where the script compares a copy.  The launch that wrote it is run
again under the detectors, with what was expected of its tensor; the library
then says what is wrong with it (tk_launch_expect).
"""
from __future__ import annotations

import ctypes
import os
import shlex
import sys

from . import _capi, arrays, asserted, errors, findings
from ._capi import text
from .launchlog import Log, Replay

MOST_LINES = 25
MOST_BYTES = 1 << 30  # of recorded launches
MOST_BYTES_CHECKED = 1 << 28  # ... that nobody has asked for
MOST_REPLAYS = 16  # launches that are run again to find the one
MOST_FINDINGS = 2
MOST_EARLIER = 7  # lines about an earlier launch
SOURCE_LINES = 10
MEMORY_READ = (1, 2)  # tk_step_memory
STEP_READS = 9  # tk_step_kind


class Why:
    """What ``tkdbg why`` does around a script, and ``run --check``, which
    says nothing unless the script fails by a comparison."""

    def __init__(self, session, comparisons):
        self.session = session
        self.comparisons = comparisons
        self.asked = session.options.why
        self.log = session.log = Log(session, MOST_BYTES if self.asked else
                                     MOST_BYTES_CHECKED)

    def tell(self, error, stream, command):
        """Says why the comparison failed that error came from, if there is
        an error, or else the last one.  command: the script and its
        arguments."""
        self.session.log = None
        failed = error is not None
        # pytest keeps the one that it has caught there
        error = getattr(sys, "last_value", None) or error
        seen = self.comparisons.last
        if seen is None and isinstance(error, (AssertionError, SystemExit)):
            seen = asserted.comparison(error)
        try:
            # a KernelError says why itself
            if not isinstance(error, errors.KernelError) and (
                    self.asked or failed):
                self._tell(self._lines(seen, command), stream)
        finally:
            self.log.close()

    def _tell(self, lines, stream):
        if self.session.options.json and lines:
            findings.tell([dict(findings.entry("why", lines[0], lines[1:]),
                                severity="note")])
            return
        stream.write("".join(f"{line}\n" for line in lines))

    def _lines(self, seen, command):
        """What there is to say; nothing, if nobody asked for it and no
        launch is to blame."""
        if seen is None:
            problem = "tkdbg: no comparison of arrays has failed"
        elif not self.log.launches:
            problem = "tkdbg: no kernel was launched before the comparison"
        else:
            lines = self._blamed(seen, command)
            if lines:
                return lines
            problem = (f"tkdbg: {seen.name} compared arrays that no kernel "
                       "has as arguments: compare what a kernel stores itself")
        return [problem] if self.asked else []

    def _blamed(self, seen, command):
        for written in (True, False):  # else no launch has written it
            for found, expected in ((seen.found, seen.expected),
                                    (seen.expected, seen.found)):
                for origin in origins(self.session.lib, self.log, found):
                    lines = self._explained(origin, expected, seen, command,
                                            written)
                    if lines:
                        return lines
        return []

    def _explained(self, origin, expected, seen, command, written):
        """The lines about one launch; none if it is not to blame, or if
        programs are to have written the tensor and have not."""
        wanted = origin.expected(expected)
        if wanted is None:
            return []
        logged = origin.logged
        check = "all" if self.asked else None  # else they are shown already
        with Replay(self.session.lib, logged, check) as replay:
            expect(replay, origin.parameter, wanted, seen)
            replay.run()
            difference = replay.difference()
            if difference is None or written and not difference.programs:
                return []
            told = [_finding(f) for f in replay.findings()
                     if f["severity"] != "note"][:MOST_FINDINGS]
            offer = _offer(logged, difference, command)
            earlier = self._earlier(logged, difference)
            room = MOST_LINES - 1 - len(told) - len(offer)
            if earlier:
                room -= MOST_EARLIER
            lines = replay.difference_lines(SOURCE_LINES)
            lines = replay.difference_lines(
                max(4, SOURCE_LINES - max(0, len(lines) - room)))
        head = (f"tkdbg: {seen.name} fails on {origin.parameter} of launch "
                f"{logged.number}, {logged.kernel}")
        body = [head, *lines, *told, *earlier]
        return [*body[:MOST_LINES - len(offer)], *offer]

    def _earlier(self, logged, difference):
        """What was read from memory that an earlier launch wrote, and how it
        came to be; none if nothing was."""
        if not difference.explanation:
            return []
        steps = difference.explanation.contents
        for step in steps.steps[:steps.nsteps]:
            if not step.has_element or not (step.kind == STEP_READS or
                                            step.memory in MEMORY_READ):
                continue
            name = text(step.element.tensor)
            index = step.element.index[:max(0, step.element.rank)]
            lines = self._written(logged, name, index)
            if lines:
                return lines
        return []

    def _written(self, logged, name, index):
        lies = arrays.memory(logged.tensors.get(name))
        if lies is None:
            return []
        at = lies.data + lies.itemsize * sum(
            i * s for i, s in zip(index, lies.strides))
        for before in reversed(self.log.launches):
            if before.number >= logged.number:
                continue
            for parameter, tensor in before.tensors.items():
                element = _element_at(tensor, at)
                if element is None:
                    continue
                with Replay(self.session.lib, before) as replay:
                    asked = parameter + (
                        f"[{','.join(map(str, element))}]" if element else "")
                    why = (replay.explanation() if replay.run(asked)
                           else None)
                    if why is not None and why.blame.times:
                        return [
                            f"  {asked} was written by launch "
                            f"{before.number}, {before.kernel}, from",
                            *replay.source_lines(why, MOST_EARLIER - 1)]
        return []


def _element_at(tensor, address):
    """The indices of the element at an address, or None."""
    lies = arrays.memory(tensor)
    if lies is None or not lies.data <= address < lies.storage + lies.nbytes:
        return None
    offset, index = (address - lies.data) // lies.itemsize, {}
    for axis in sorted(range(len(lies.shape)),
                       key=lambda i: -lies.strides[i]):
        if lies.strides[axis] <= 0:
            return None
        index[axis], offset = divmod(offset, lies.strides[axis])
        if index[axis] >= lies.shape[axis]:
            return None
    return None if offset else [index[i] for i in range(len(lies.shape))]


def _finding(f):
    where = (f"{os.path.basename(f['file'])}:{f['line']}: " if "file" in f
             else "")
    return f"  {where}{f['severity']}: {f['message']} [{f['kind']}]"


def _offer(logged, difference, command):
    """How to get a debugger to the store of the first wrong element, or of
    the nearest that was stored."""
    why = difference.explanation
    if not why or not why.contents.blame.nwrites:
        return []
    store = why.contents.blame.writes[0]
    pid = ",".join(map(str, store.program))
    place = f"{os.path.basename(text(store.place.file))}:{store.place.line}"
    return [f"  to stop there: tkdbg debug --kernel {logged.kernel} --pid "
            f"{pid} -b {place} {shlex.join(command)}"]


# ---- which launch wrote an array ---------------------------------------------


class Origin:
    """A parameter of a recorded launch that an array is, or is a copy of."""

    def __init__(self, lib, logged, parameter, after, view):
        """after: the tk_tensor's storage after the launch, as arrays.elements
        gives it; view: where the array lies in it (offset, shape, strides),
        or None: it has the parameter's elements."""
        self.lib = lib
        self.logged = logged
        self.parameter = parameter
        self.after, self.layout, self.view = after, *view

    def expected(self, array):
        """What the whole parameter should hold, or None."""
        import numpy
        from numpy.lib.stride_tricks import as_strided
        wanted = arrays.values(array)
        if wanted is None:
            return None
        offset, shape, strides = self.layout
        whole = self.after.astype(numpy.result_type(self.after, wanted))
        size = whole.itemsize

        def part(where, shape, strides):
            return as_strided(whole[where:], shape,
                              [s * size for s in strides])
        parameter = part(offset, shape, strides)
        view = parameter if self.view is None else part(*self.view)
        try:
            if wanted.size == view.size and wanted.shape != view.shape:
                wanted = wanted.reshape(view.shape)
            view[...] = wanted
        except ValueError:
            return None
        return numpy.ascontiguousarray(parameter)


def origins(lib, log, array):
    """Where an array may come from, the newest launch first."""
    lies = arrays.memory(array)
    if lies is None:
        return
    for logged in reversed(log.launches[-MOST_REPLAYS:]):
        near = {n for n, t in logged.tensors.items()
                if _overlaps(arrays.memory(t), lies)}
        equal = {n for n, t in logged.tensors.items()
                 if n not in near and _is_copy(t, array)}
        if not near and not equal:
            continue
        with Replay(lib, logged) as replay:
            if not replay.run():
                continue
            for name in (*near, *equal):
                found = _origin(lib, replay, logged, name,
                                lies if name in near else None)
                if found is not None:
                    yield found


def _overlaps(a, b):
    return a is not None and a.itemsize == b.itemsize and (
        a.storage < b.storage + b.nbytes and b.storage < a.storage + a.nbytes)


def _is_copy(tensor, array):
    """Whether an array has a tensor's values, as a copy of it."""
    import numpy
    one, other = arrays.values(tensor), arrays.values(array)
    return (one is not None and other is not None and one.size == other.size
            and one.size > 0 and numpy.array_equal(
                one.ravel(), other.ravel(),
                equal_nan=one.dtype.kind == other.dtype.kind == "f"))


def _origin(lib, replay, logged, name, lies):
    tensor = replay.tensor(name)
    after = arrays.elements(lib, tensor)
    if after is None:
        return None
    size = lib.tk_dtype_size(tensor.dtype)
    offset = (tensor.data - tensor.storage) // size
    layout = (offset, tuple(tensor.shape[:tensor.rank]),
              tuple(tensor.strides[:tensor.rank]))
    view = None
    if lies is not None:
        own = arrays.memory(logged.tensors[name])
        start = offset + (lies.data - own.data) // size
        if not 0 <= start < len(after):
            return None
        view = (start, lies.shape, lies.strides)
    return Origin(lib, logged, name, after, (layout, view))


def expect(replay, parameter, wanted, seen):
    """Tells a replayed launch what its parameter should hold."""
    lib = replay.lib
    t = _capi.Tensor(data=wanted.ctypes.data, rank=wanted.ndim,
                     dtype=lib.tk_dtype_from_name(
                         b"fp64" if wanted.dtype.kind == "f" else b"int64"))
    for i, (n, step) in enumerate(zip(wanted.shape, wanted.strides)):
        t.shape[i], t.strides[i] = n, step // wanted.itemsize
    lib.tk_launch_expect_tensor(replay.launch, parameter.encode(),
                                ctypes.byref(t), seen.rtol, seen.atol)


def hint(error, session, command):
    """What a run whose script failed says at its end, or ""."""
    if not isinstance(error, (AssertionError, SystemExit)) or not (
            session.totals["launches"]):
        return ""
    return (f"tkdbg: 'tkdbg why {shlex.join(command)}' says which elements "
            "are wrong, and which lines of the kernel made them\n")
