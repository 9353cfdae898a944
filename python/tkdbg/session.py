"""The one session of a process: library, options, lock, report, totals.

``current()`` is the only global state of the package.  The C session is
made on first use; every call into it happens under ``lock``, because a
session serves one thread at a time (autograd may launch from another).
"""
from __future__ import annotations

import collections
import ctypes
import itertools
import os
import re
import sys
import threading
import warnings

from . import (_capi, _results, dapserver, environment, errors, findings,
               fresh, gdbserver, interrupt, progress, requests, settings,
               tensors)

OUT_OF_DTYPES = 64  # more than there will ever be; stops a bad library


class Session:
    """State shared by all launches of this process."""

    def __init__(self, options=None, lib=None):
        """options: None: those of the environment; lib: a loaded library;
        None: the one that _capi.load finds, or ImportError."""
        self.lib = lib or _capi.load()
        # the Python that the engine 'triton' starts
        os.environ.setdefault("TKDBG_PYTHON", sys.executable)
        _capi.bind(self.lib, _results.PROTOTYPES)
        self.options = options or settings.from_environment(self.lib)
        self.lock = threading.RLock()
        self.pending = None       # exception that a callback swallowed
        self.compiled = None      # the Scope of the kernel that is compiled
        self.asked = 0            # how often C has asked for what it reads
        self.edits = 0            # changes of what kernels call or read
        self.launches = 0         # launches counted for --launch
        self.setup = None         # setup.State while install() holds
        self.installed = None     # the version of the Triton that stays
        self._follows = None      # the version that C was told to follow
        self._noted = False       # ... in place of another one
        self._parts = {}          # class -> this session's instance of it
        self.recorded = False
        self.requests = requests.Requests(self)  # and which were met
        self.unmet = False        # ... one was not, as has been said
        self.lost = False         # standard output, as has been said
        self.printed = set()      # forms, with --print-ir
        self.staged = set()       # those that `tkdbg compile` has done
        self.launched = {}        # the arguments of the launch that runs
        self.grid = None          # its grid
        self.disagreements = 0    # of configurations of a kernel, or of engines
        self.raised = collections.Counter()  # headlines of LaunchErrors
        self.error_classes = {}   # ours -> real Triton's; takeover.py
        self.not_tuned = ()       # real Triton's that tuning passes over
        self.adopt = lambda value: None  # real JITFunction -> ours
        self.addresses = tensors.Addresses()
        self.fresh = fresh.Fresh(follow=self.options.check is not None)
        self.reader = tensors.Reader(self)
        self.graphs = None        # vcuda_graphs.Graphs of a virtual device
        self.garbage = []         # tk_launches to be freed
        self._run_options = None  # a tk_run_options ...
        self._asked_options = ()  # ... for these settings
        self._summary = _capi.Summary()  # of the last launch
        self.totals = {"launches": 0, "programs": 0, "seconds": 0.0,
                       "peak": 0, "findings": 0}
        self._ptr = None
        self._handles = []        # host objects by handle - 1
        self._handle_of = {}      # id(object) -> handle
        self.function_class = None  # launch.JITFunction, once one is opened
        self.python_functions = {}  # Python function -> its text, in one
        self.plain_functions = {}  # Python function -> what kernels call
        self.jit_functions = {}  # tk_function -> what a kernel named
        self._strings = {}        # bytes that C may keep pointing to
        self._kept = []           # ctypes objects that C may point to
        self._dtypes = {}
        self._dtype_names = None
        self._output = _capi.OutputFn(self._print)
        self._forking = None      # the lock, while a process forks
        self.watch = interrupt.Watch()
        # gets what launches find, in place of warnings: hear([entry, ...],
        # text, coloured text, whether it is raised as well)
        self.hear = None
        self.access_line = 0      # see tk_run_options
        self.after = None         # gets each tk_launch that has run
        self.log = None           # a launchlog.Log gets each before it runs
        self.busy = False         # a call of C's that takes long goes on
        self.debugger = None      # a tk_debugger
        self.failed = False       # the host has raised something
        self.server = None        # ... that gdb or an editor drives
        self.profile = None       # a tk_profile
        self.arguments = -1       # words of the script's; -1: not known
        self.bar = progress.Bar()
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(before=self._before_fork,
                                after_in_parent=self._after_fork,
                                after_in_child=self._after_fork_in_child)

    def part(self, make):
        """The one make(session) of this session: what a module above keeps
        for as long as the session lives."""
        found = self._parts.get(make)
        if found is None:
            found = self._parts[make] = make(self)
        return found

    # ---- the C session ---------------------------------------------------

    @property
    def ptr(self):
        """The tk_session, made on first use."""
        if self._ptr is None:
            self._ptr = self.lib.tk_session_new()
            if not self._ptr:
                raise errors.InternalError("tkdbg: no memory for a session")
            self.lib.tk_session_output(self._ptr, self._output, None)
            environment.report()
            self._choose_version()
            if self.options.check is not None:
                self._set_checks()
            self.watch.target = lambda: self.lib.tk_interrupt(self._ptr)
            self.lib.tk_session_attend(self._ptr, self.watch.callback, None)
            servers = [module.Server for module in (gdbserver, dapserver)
                       if module.wanted(self.options)]
            if servers:
                self.server = servers[0](self)
                self._stand_over(self.server.debugger)
            elif (self.options.debug or self.options.breakpoints or
                    not (self.options.json or self.options.profile) and
                    _is_terminal(sys.stdin) and _is_terminal(sys.stdout)):
                self._debug()
        return self._ptr

    def follow(self, installed):
        """Kernels mean what they mean in the installed Triton of this
        version; None: no Triton is installed, or it is left."""
        self.installed = installed
        if self._ptr:
            self._choose_version()

    def meaning(self, version=None):
        """The version whose meaning kernels have under this version of
        Triton; None: the newest that is followed."""
        found = self.lib.tk_triton_meaning(version and version.encode())
        return _capi.text(found) if found else None

    def release(self):
        """What triton.__version__ is where no Triton is installed."""
        return f"{self.options.triton_version or self.meaning()}.0"

    def _choose_version(self):
        """The version that --triton-version names, else the one that is
        installed; says so, once, where another one is followed."""
        newest = self.meaning()
        named = (self.options.triton_version or
                 self.meaning(self.installed) or newest)
        if named != (self._follows or newest):
            self.check(self.lib.tk_session_triton_version(
                self._ptr, named.encode()))
            self._follows = named
        if not (self._noted or self.options.is_quiet()):
            said = self.unfollowed()
            self._noted = bool(said)
            sys.stderr.write(said)

    def unfollowed(self):
        """A line on the version that is followed in place of the one that
        was asked for or is installed; "" where that one is."""
        asked = self.options.triton_version
        version = asked or self.installed or self.meaning()
        meaning = self.meaning(version) or self.meaning()
        short = ".".join(version.split(".")[:2])
        if meaning == short:
            return ""
        what = (f"--triton-version {asked}" if asked else
                f"Triton {short} is installed")
        return (f"tkdbg: {what}: kernels mean what they mean in Triton "
                f"{meaning}; docs/compatibility.md lists the differences\n")

    def use_checks(self):
        """Turns on the detectors that the options name, and no others;
        what they have found is forgotten."""
        self.fresh.follow = self.options.check is not None
        if self._ptr:
            self._set_checks()

    def _set_checks(self):
        o = self.options
        path = None if o.suppressions is None else o.suppressions.encode()
        checks = _capi.CheckOptions(
            suppressions=path, limit=o.limit or 0,
            assume_written=o.assume_written, stop=o.stop_on_finding,
            collect=True)
        self.check(self.lib.tk_session_check(
            self._ptr, None if o.check is None else o.check.encode(),
            ctypes.byref(checks)))
        self.fresh.follow = any(
            self.lib.tk_check_is_on(self._ptr, name)
            for name in (b"undef", b"unwritten"))

    def findings(self):
        """How many findings the detectors have had, but for those that the
        host may still make untrue."""
        if not self._ptr:
            return 0
        return self.lib.tk_check_findings(self.ptr) - self.fresh.unsaid

    def _debug(self):
        """Puts a debugger on this process's terminal over all launches."""
        o, out = self.options, ctypes.c_void_p()

        def strings(items):
            return (ctypes.c_char_p * (len(items) + 1))(
                *(str(i).encode() for i in items))
        console = _capi.ConsoleOptions(
            commands=strings(o.commands), ncommands=len(o.commands),
            files=strings(o.command_files), nfiles=len(o.command_files),
            breakpoints=strings(o.breakpoints),
            nbreakpoints=len(o.breakpoints), stop_at_start=o.debug,
            json=o.json, colour=o.colour(sys.stdout), no_init=o.no_init,
            wait_for_call=not (o.debug or o.breakpoints), script=True)
        self.check(self.lib.tk_console_new(
            self._ptr, ctypes.byref(console), ctypes.byref(out)))
        self._stand_over(out)

    def _stand_over(self, debugger):
        self.debugger = debugger
        self.watch.debugged = lambda: self.lib.tk_debugger_is_active(debugger)

    def _before_fork(self):
        """A launch of another thread ends first: its state would be copied
        as it is, and nobody would go on with it."""
        self._forking = self.lock
        self._forking.acquire()

    def _after_fork(self):
        self._forking.release()

    def _after_fork_in_child(self):
        self.lock = threading.RLock()
        self.watch.reset()

    def _print(self, _ud, data, size):
        try:
            sys.stdout.write(_capi.text(data, size))
        except BaseException as e:  # must not pass through C
            self.watch.stop(e)

    # ---- element types ---------------------------------------------------

    @property
    def dtype_names(self):
        """Triton's names of the element types, by tk_dtype value."""
        if self._dtype_names is None:
            names = []
            while len(names) < OUT_OF_DTYPES:
                name = self.lib.tk_dtype_name(len(names))
                if not name or name == b"?":
                    break
                names.append(name.decode())
            self._dtype_names = names
        return self._dtype_names

    def dtype(self, name):
        """The tk_dtype of any spelling of a name, or None."""
        found = self._dtypes.get(name)
        if found is None:
            found = self.lib.tk_dtype_from_name(name.encode())
            if not 0 <= found < len(self.dtype_names):
                found = -1
            self._dtypes[name] = found
        return None if found < 0 else found

    # ---- things that C points to -----------------------------------------

    def handle(self, obj):
        """A number that stands for obj in C, never 0; keeps obj alive."""
        found = self._handle_of.get(id(obj))
        if found is None:
            self._handles.append(obj)
            found = self._handle_of[id(obj)] = len(self._handles)
        return found

    def object(self, handle):
        return self._handles[handle - 1]

    def string(self, text):
        """text as bytes that live as long as the session."""
        data = text if isinstance(text, bytes) else text.encode()
        return self._strings.setdefault(data, data)

    def keep(self, obj):
        """Keeps a ctypes object alive for the session; returns it."""
        self._kept.append(obj)
        return obj

    # ---- reports ---------------------------------------------------------

    def take_report(self):
        """(text, coloured text, findings) of the report, which is cleared."""
        plain = _capi.text(self.lib.tk_report(self.ptr, False))
        colour = _capi.text(self.lib.tk_report(self.ptr, True))
        found = _results.findings(self.lib, self.ptr)
        self.lib.tk_report_clear(self.ptr)
        return plain, colour, found

    def check(self, status, kernel="", launch=None):
        """Raises what a tk_status stands for; shows warnings on success.

        launch: the number of the launch that has run, if one has."""
        __tracebackhide__ = True
        pending, self.pending = self.pending, None
        if pending is not None and not isinstance(pending, Exception):
            self.lib.tk_report_clear(self.ptr)
            raise pending
        if status == _capi.OK:
            if self.lib.tk_report_count(self.ptr):
                self._warn(kernel, launch)
            if pending is not None:
                raise pending
            return
        shown = not self.lib.tk_report_unshown(self.ptr, False)
        plain, colour, found = self.take_report()
        if status == _capi.INTERRUPTED:
            raise KeyboardInterrupt
        if status == _capi.FINDING:
            self.totals["findings"] += 1
            if launch is not None and self.hear is not None:
                self.hear(found, plain, colour, True)
            if self.options.json:
                findings.tell(found, kernel, launch)
            error = errors.finding(plain, found, kernel, colour,
                                   self.error_classes, pending)
            if isinstance(error, errors.LaunchError):
                self.raised[error.headline] += 1
            error.told = self.options.json
            error.shown = shown
            raise error
        if status == _capi.USAGE:
            raise errors.UsageError(plain.rstrip() or "tkdbg: bad input"
                                    ) from pending
        raise errors.InternalError(plain.rstrip() or
                                   "tkdbg: internal error") from pending

    def _warn(self, kernel, launch):
        coloured = self.options.colour(sys.stderr)
        text = _capi.text(self.lib.tk_report_unshown(self.ptr, coloured))
        plain, colour, entries = self.take_report()
        if self._can_hold(entries):
            for entry, *both in zip(entries, _parts(plain), _parts(colour)):
                self._say_or_hold(entry, *both, kernel, launch)
            return
        self._say(entries, plain, colour, text, kernel, launch)

    def _can_hold(self, entries):
        """Whether the host's writes are seen, and one of the findings is
        about elements that it may still write."""
        return (self.setup is not None and self.setup.cuda is not None and
                not self.debugger and
                any(e["kind"] == "unwritten" for e in entries))

    def _say_or_hold(self, entry, plain, colour, kernel, launch):
        def say():
            text = colour if self.options.colour(sys.stderr) else plain
            self._say([entry], plain, colour, text, kernel, launch)
        named = re.match(r"no program writes (\w+)\[", entry["message"])
        tensor = self.launched.get(named.group(1)) if named else None
        if tensor is None or not self.fresh.hold(tensor, say):
            say()

    def _say(self, entries, plain, colour, text, kernel, launch):
        if self.hear is not None:
            self.hear(entries, plain, colour, False)
            return
        if self.options.json:
            findings.tell(entries, kernel, launch)
            return
        if not text:
            return  # the debugger has shown it
        before = warnings.formatwarning
        warnings.formatwarning = lambda *_, **__: text
        try:  # the report names the place: no file and line of the host's
            warnings.warn_explicit(errors.KernelWarning(plain),
                                   errors.KernelWarning, "kernel", 1)
        finally:
            warnings.formatwarning = before

    def error_class(self, ours):
        """The class to raise for one of errors.py: where Triton is installed
        it is also Triton's own."""
        return self.error_classes.get(ours, ours)

    # ---- running ---------------------------------------------------------

    def is_next(self, kernel):
        """Whether options apply to the next launch, one of kernel."""
        wanted, number = self.options.kernel, self.options.launch
        return wanted in (None, kernel) and number in (None, self.launches + 1)

    def select(self, kernel):
        """Counts a launch of kernel; whether options apply to it."""
        selected = self.is_next(kernel)
        self.launches += self.options.kernel in (None, kernel)
        return selected

    def run_options(self, selected):
        """The tk_run_options of a launch, made anew when a setting has
        changed; what is about programs and elements is for selected ones
        only."""
        asked = (self.options, self.options.changes, selected,
                 self.access_line, sys.stderr)
        if self._asked_options != asked:
            self._run_options = self._make_run_options(selected)
            self._asked_options = asked
        return self._run_options

    def _make_run_options(self, selected):
        o, elements = self.options, {}
        if selected:
            elements = dict(
                pids=o.pids, order=o.order, against=o.against,
                shard=o.shard, stores=o.stores,
                blame="\n".join(o.blame), explain="\n".join(o.explain))
        texts = dict(elements, dot=o.dot, schedule=o.schedule,
                     engine=o.engine, numerics=o.numerics)
        bound = _capi.Bound(float(-1 if o.rtol is None else o.rtol),
                            float(-1 if o.atol is None else o.atol),
                            o.ulp or 0)
        made = _capi.RunOptions(
            no_asserts=o.no_asserts, access_line=self.access_line,
            jobs=o.jobs or 1, unordered=o.unordered, pinpoint=o.pinpoint,
            bound=ctypes.pointer(bound),
            **{name: self.string(text) for name, text in texts.items()
               if text})
        made.bar = None  # reading a callback of a structure makes an object
        if not o.is_quiet() and _is_terminal(sys.stderr):
            made.bar = self.bar
            made.progress = self.bar.callback
        return made

    def record(self, launch, kernel):
        """Writes the launch file, for the first selected launch."""
        path = self.options.record
        if path is not None and not self.recorded:
            self.check(self.guarded(self.lib.tk_launch_compile, launch),
                       kernel)
            self.check(self.guarded(self.lib.tk_launch_record, launch,
                                    path.encode()),
                       kernel)
            self.recorded = True

    def guarded(self, call, *args):
        """call(*args), a function of C's that may take long: signals are
        attended to meanwhile, and what a handler raises is raised."""
        __tracebackhide__ = True
        if self.busy:
            raise RuntimeError("a kernel cannot be launched or compiled "
                               "while another one runs in the same thread "
                               "(from a signal handler, or from what prints "
                               "its output)")
        self.busy = True
        try:
            with self.watch:
                return call(*args)
        except BaseException:
            self.lib.tk_report_clear(self.ptr)
            self.pending = None
            raise
        finally:
            self.busy = False

    def attended(self, call, *args):
        """guarded(), also in what a launch that runs asks of the host: signals
        are attended to there already."""
        __tracebackhide__ = True
        return call(*args) if self.busy else self.guarded(call, *args)

    def run(self, launch, kernel):
        """Runs a tk_launch; raises its findings."""
        __tracebackhide__ = True
        selected = self.select(kernel)
        self.requests.launched(kernel, selected)
        options = self.run_options(selected)
        if selected:
            self.record(launch, kernel)
        number = self.totals["launches"] + 1
        if self.log is not None:
            self.log.add(launch, kernel, number)
        self.totals["launches"] = number  # one that a signal ends counts, too
        if options.bar:
            options.bar.begin(kernel)
        summary = self._summary
        if self.debugger:
            sys.stdout.flush()
            self.lib.tk_debugger_ignore(self.debugger, not selected)
        if self.profile:
            self.lib.tk_profile_ignore(self.profile, not selected)
        summary.programs, summary.seconds, summary.peak_bytes = 0, 0.0, 0
        totals = self.totals
        try:
            status = self.guarded(
                self.lib.tk_launch_run, launch, ctypes.byref(options),
                ctypes.byref(summary))
        finally:
            totals["programs"] += summary.programs
            totals["seconds"] += summary.seconds
            totals["peak"] = max(totals["peak"], summary.peak_bytes)
        if selected:
            self.requests.ran(launch, summary)
        if self.debugger:
            self.guarded(self.lib.tk_debugger_go_back, self.debugger)
        if self.debugger and self.lib.tk_debugger_has_quit(self.debugger):
            self.lib.tk_report_clear(self.ptr)
            if self.server and self.watch.unanswered:
                self.watch.ended = True
                raise SystemExit(interrupt.STATUS)
            raise SystemExit(0)
        if options.bar:
            options.bar.done()
        if (status or self.pending is not None or
                self.lib.tk_report_count(self.ptr)):
            self.check(status, kernel, number)
        if options.against:
            self._count_differences(launch)
        if options.shard:  # the tensors are those of one part
            raise SystemExit(0)
        if self.after is not None:
            self.after(launch)

    def _count_differences(self, launch):
        """Whether two engines gave the same, as the library has told."""
        for i in itertools.count():
            found = self.lib.tk_launch_difference(launch, i)
            if not found:
                return
            self.disagreements += found.contents.wrong > 0

    def raised_by(self, error, test=None):
        """The script, or one of its tests, has failed: the debugger may go
        back into launches.  Where a kernel has failed it stopped already."""
        self.failed = True
        if not self.debugger or isinstance(error, errors.KernelError):
            return
        if test is not None and not (self.server or self.options.json):
            print(f"\n{test}", flush=True)
        lines = str(error).strip().splitlines()
        text = ": ".join([type(error).__name__, *lines[:1]])
        with self.lock:  # editors are answered between launches
            self.guarded(self.lib.tk_debugger_raised, self.debugger,
                         text.encode("utf-8", "replace"))

    def free_garbage(self):
        """Frees launches that nobody refers to any more."""
        while self.garbage:
            self.lib.tk_launch_free(self.garbage.pop())


def _parts(report):
    """The findings of a report's text: what is indented goes on with one."""
    parts = []
    for line in report.splitlines(keepends=True):
        if parts and re.match(r"(\x1b\[[0-9;]*m)* ", line):
            parts[-1] += line
        else:
            parts.append(line)
    return parts


def _is_terminal(stream):
    try:
        return stream.isatty()
    except (AttributeError, ValueError):
        return False


_current = None


def current():
    """The process's session."""
    global _current
    if _current is None:
        _current = Session()
    return _current


def existing():
    """The process's session, if it was made; None."""
    return _current


def replace(session):
    """Makes session the current one and returns the one before; tests."""
    global _current
    before, _current = _current, session
    return before
