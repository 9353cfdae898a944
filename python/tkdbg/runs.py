"""Launches as they run: which of them options mean, what they are run with,
what is counted of them, and who is told."""
from __future__ import annotations

import ctypes
import itertools
import sys
from typing import TYPE_CHECKING, Any, Callable

from . import _capi, progress, prooftable
from .debugging import is_terminal

if TYPE_CHECKING:
    from .modelled import Model
    from .session import Session


class Runs:
    """Of a session."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self.count = 0            # launches counted for --launch
        self.totals: dict[str, Any] = {"launches": 0, "programs": 0,
                                       "seconds": 0.0, "peak": 0,
                                       "findings": 0}
        # of configurations of a kernel, or of engines
        self.disagreements = 0
        # of the launch that runs: arguments by name, and the grid
        self.launched: dict[str, Any] = {}
        self.grid: Any = None
        self.fixed: frozenset[str] = frozenset()  # compile-time parameters
        self.model: Model | None = None
        self.printed: set[Any] = set()  # forms, with --print-ir
        self.staged: set[Any] = set()   # those that `tkdbg compile` has done
        self.verdict = 0  # of proofs so far, the exit status that it makes
        self.table = prooftable.Table(session.options.table)
        self.profile: Any = None  # a tk_profile
        self.views: list[Any] = []  # tk_views
        self.graphs: Any = None   # vcuda's CUDA graphs, where it is installed
        self.garbage: list[int] = []    # tk_launches to be freed
        self._has_recorded = False
        self._access_line = 0     # see tk_run_options
        # gets each tk_launch that has run
        self._after: Callable[[int], None] | None = None
        self._log: Any = None     # a launchlog.Log, before each runs
        self._bar = progress.Bar()
        self._shown: progress.Bar | None = None  # ... on a terminal
        self._options: Any = None   # a tk_run_options ...
        self._asked: Any = ()       # ... for these settings
        self._summary = _capi.Summary()  # of the last launch

    def proved(self, verdict: int) -> None:
        """Takes a tk_verdict into account: a counterexample counts, then
        what is undecided."""
        if verdict == _capi.REFUTED or not self.verdict:
            self.verdict = self._session.lib.tk_verdict_status(verdict)

    # ---- who is told -----------------------------------------------------

    def begin_again(self) -> None:
        """Launches are counted, recorded and printed anew."""
        self.count, self._has_recorded = 0, False
        self.printed.clear()
        self.staged.clear()
        self._session.requests.begin()

    def look_at(self, line: int, after: Callable[[int], None] | None) -> None:
        """Launches keep what they access in a line; after(launch) gets each
        that has run.  0 and None: no longer."""
        self._access_line, self._after = line, after

    def log_to(self, log: Any) -> None:
        """A launchlog.Log gets each launch before it runs; None: no more."""
        self._log = log

    @property
    def history(self) -> Any:
        """The history.History of the log's tensors, or None."""
        return None if self._log is None else self._log.history

    def may_log(self) -> bool:
        """Whether no log gets the launches."""
        return self._log is None

    def profile_with(self, profile: Any) -> None:
        """A tk_profile counts launches from here on."""
        self.profile = profile

    def view_with(self, view: Any) -> None:
        """A tk_view shows launches from here on, of those that options
        select."""
        self.views.append(view)

    def view_no_more(self, view: Any) -> None:
        """A tk_view is told of no launch any more."""
        self.views.remove(view)

    def record_with(self, graphs: Any) -> None:
        """CUDA graphs that record launches while they are captured; None:
        there are none."""
        self.graphs = graphs

    def disagree(self) -> None:
        """Configurations of a kernel have given different results."""
        self.totals["findings"] += 1
        self.disagreements += 1

    # ---- which launches --------------------------------------------------

    def is_next(self, kernel: str) -> bool:
        """Whether options apply to the next launch, one of kernel."""
        o = self._session.options
        return o.kernel in (None, kernel) and o.launch in (None,
                                                           self.count + 1)

    def _select(self, kernel: str) -> bool:
        """Counts a launch of kernel; whether options apply to it."""
        selected = self.is_next(kernel)
        self.count += self._session.options.kernel in (None, kernel)
        return selected

    # ---- with what -------------------------------------------------------

    def _run_options(self, selected: bool) -> Any:
        """The tk_run_options of a launch, made anew when a setting has
        changed; what is about programs and elements is for selected ones
        only."""
        options = self._session.options
        asked = (options, options.changes, selected, self._access_line,
                 sys.stderr)
        if self._asked != asked:
            self._options = self._make_options(selected)
            self._asked = asked
        return self._options

    def _make_options(self, selected: bool) -> Any:
        o, elements = self._session.options, {}
        if selected:
            elements = {
                "pids": o.pids, "order": o.order, "against": o.against,
                "shard": o.shard, "stores": o.stores,
                "blame": "\n".join(o.blame), "explain": "\n".join(o.explain)}
        texts = dict(elements, dot=o.dot, schedule=o.schedule,
                     engine=o.engine, numerics=o.numerics, arch=o.arch)
        bound = _capi.Bound(float(-1 if o.rtol is None else o.rtol),
                            float(-1 if o.atol is None else o.atol),
                            o.ulp or 0)
        made = _capi.RunOptions(
            no_asserts=o.no_asserts, access_line=self._access_line,
            jobs=o.jobs or 0, unordered=o.unordered, pinpoint=o.pinpoint,
            bound=ctypes.pointer(bound),
            **{name: self._session.kept.text(text)
               for name, text in texts.items() if text})
        self._shown = None
        if not o.is_quiet() and is_terminal(sys.stderr):
            self._shown = self._bar
            made.progress = self._bar.callback
        return made

    def _record(self, launch: int, kernel: str) -> None:
        """Writes the launch file, for the first selected launch."""
        session, path = self._session, self._session.options.record
        if path is not None and not self._has_recorded:
            session.check(session.guarded(session.lib.tk_launch_compile,
                                          launch), kernel)
            session.check(session.guarded(session.lib.tk_launch_record,
                                          launch, path.encode()), kernel)
            self._has_recorded = True

    # ---- running ---------------------------------------------------------

    def run(self, launch: int, kernel: str, arguments: dict[str, Any],
            grid: Any, model: Model | None = None,
            fixed: frozenset[str] = frozenset()) -> None:
        """Runs a tk_launch, with arguments by name; raises its findings.
        model: of a kernel that PyTorch's compiler wrote; fixed: parameters
        that are compile-time values."""
        __tracebackhide__ = True
        self.launched, self.grid, self.model = arguments, grid, model
        self.fixed = fixed
        try:
            self._run(launch, kernel)
        finally:
            self.launched = {}

    def _run(self, launch: int, kernel: str) -> None:
        __tracebackhide__ = True
        session = self._session
        selected = self._select(kernel)
        session.requests.launched(kernel, selected)
        options = self._run_options(selected)
        if selected:
            self._record(launch, kernel)
        number = self.totals["launches"] + 1
        if self._log is not None:
            self._log.add(launch, kernel, number)
        self.totals["launches"] = number  # also if a signal ends it
        bar = self._shown
        if bar is not None:
            bar.begin(kernel)
        debugging = session.debugging
        if debugging.debugger:
            debugging.before(selected)
        if self.profile:
            session.lib.tk_profile_ignore(self.profile, not selected)
        for view in self.views:
            session.lib.tk_view_ignore(view, not selected)
        status = self._call(launch, options)
        if selected:
            session.requests.ran(launch, self._summary)
        if debugging.debugger:
            debugging.after()
        if bar is not None:
            bar.done()
        if status or not session.reports.is_empty():
            session.check(status, kernel, number)
        if options.against:
            self._count_differences(launch)
        if options.shard:  # the tensors are those of one part
            raise SystemExit(0)
        if self._after is not None:
            self._after(launch)

    def _call(self, launch: int, options: Any) -> int:
        """tk_launch_run, and its part of the totals."""
        __tracebackhide__ = True
        session, summary, totals = self._session, self._summary, self.totals
        summary.programs, summary.seconds, summary.peak_bytes = 0, 0.0, 0
        try:
            return session.guarded(
                session.lib.tk_launch_run, launch, ctypes.byref(options),
                ctypes.byref(summary))
        finally:
            totals["programs"] += summary.programs
            totals["seconds"] += summary.seconds
            totals["peak"] = max(totals["peak"], summary.peak_bytes)

    def _count_differences(self, launch: int) -> None:
        """Whether two engines gave the same, as the library has told."""
        for i in itertools.count():
            found = self._session.lib.tk_launch_difference(launch, i)
            if not found:
                return
            weak = found.contents.weak and self._session.options.strict
            self.disagreements += bool(found.contents.wrong or weak)

    def free_garbage(self) -> None:
        """Frees launches that nobody refers to any more."""
        while self.garbage:
            self._session.lib.tk_launch_free(self.garbage.pop())
