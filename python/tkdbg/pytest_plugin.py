"""``pytest -p tkdbg``: the kernels of a test suite under the detectors.

Each test has findings of its own: they are in its report, are properties of
it in JUnit's XML, and fail it where --tkdbg-fail-on says so.  The summary
at the end has those of all tests, by place.  Workers of pytest-xdist run the
same plug-in; what they find comes back with their reports.

PYTEST_DONT_REWRITE
"""
from __future__ import annotations

import argparse
import os
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

from . import (errors, othersizes, runners, sizetests, why,
               session as session_, setup)

if TYPE_CHECKING:
    from .session import Session

LEVELS = ("error", "warning")
NEVER = "never"
MARKER = "tkdbg_sizes"


def pytest_addoption(parser: Any) -> None:
    group = parser.getgroup("tkdbg", "kernels under tkdbg")
    group.addoption(
        "--tkdbg-check", default="all", metavar="LIST",
        help="the detectors that run: all, none, or a list such as "
             "undef,race ('tkdbg run --check=help' names them)")
    group.addoption(
        "--tkdbg-fail-on", default=NEVER, choices=(*LEVELS, NEVER),
        help="fail tests that have findings: errors, or warnings as well; "
             "never, the default, only reports them")
    group.addoption(
        "--tkdbg-keep-going", action="store_true",
        help="do not stop launches at the first invalid access: let bad "
             "stores write nothing and bad loads give NaN, report one for each "
             "place, and fail the test at its end")
    group.addoption(
        "--tkdbg-why", default="on", choices=("on", "off"),
        help="say which elements are wrong where a comparison of a test "
             "fails, and which lines of which kernel made them")
    group.addoption(
        "--tkdbg-error-exitcode", type=_exit_status, metavar="N",
        help="the exit status where kernels had findings, whatever the tests "
             "say")
    group.addoption(
        "--tkdbg-debug", action="store_true",
        help="stop in the debugger at the first launch, and where a test "
             "fails")


def _most(marker):
    """How many other values of a size a marker asks for."""
    given = [*marker.args, *marker.kwargs.values()]
    if len(given) > 1 or set(marker.kwargs) - {"n"} or given and (
            type(given[0]) is not int or given[0] < 1):
        raise errors.UsageError(f"@pytest.mark.{MARKER} takes a number from "
                                "1, as in tkdbg_sizes(4)")
    return given[0] if given else othersizes.EACH


def _exit_status(text):
    if not text.isdecimal() or not 1 <= int(text) <= 255:
        raise argparse.ArgumentTypeError(
            f"an exit status is a number from 1 to 255, not {text!r}")
    return int(text)


@pytest.hookimpl(hookwrapper=True, tryfirst=True)
def pytest_load_initial_conftests(early_config: Any) -> Iterator[Any]:
    """Before anybody imports triton, and output is captured: a debugger needs
    the terminal."""
    chosen = early_config.known_args_namespace
    session = _start(chosen)
    if session.options.debug:
        chosen.capture = "no"
    yield


def pytest_configure(config: Any) -> None:
    session = _start(config.option)
    plugin = Plugin(session, config.option.tkdbg_fail_on,
                    config.option.tkdbg_why == "on")
    config.pluginmanager.register(plugin, "tkdbg-findings")
    config.addinivalue_line(
        "markers", f"{MARKER}(n={othersizes.EACH}): run the test again with "
        "other sizes, at most n for each one, and with other strides")
    if session.options.debug:
        config.pluginmanager.register(runners, "tkdbg-runners")


def _start(chosen):
    """Takes over; Pythons that are started from here on do it as well."""
    session = session_.current()
    check = None if chosen.tkdbg_check == "none" else chosen.tkdbg_check
    if session.setup is None or session.options.check != check:
        values = {"check": check, "quiet": True}
        if chosen.tkdbg_debug:
            values["debug"] = True
        elif chosen.tkdbg_why == "on":
            values["why"] = True
        if chosen.tkdbg_keep_going:
            values["keep_going"] = True
        if chosen.tkdbg_error_exitcode is not None:
            values["error_exitcode"] = chosen.tkdbg_error_exitcode
        try:
            setup.install(values)
        except errors.UsageError as e:
            raise pytest.UsageError(str(e)) from None
        try:
            session.reports.use_checks()
            session.open()  # where a list with mistakes is found out
        except errors.UsageError as e:
            raise pytest.UsageError(str(e)) from None
    paths = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    if _python_path() not in paths:
        os.environ["PYTHONPATH"] = os.pathsep.join(
            [_python_path(), *filter(None, paths)])
    os.environ["TKDBG"] = "1"
    return session


def _python_path():
    """The folder with our sitecustomize."""
    package = os.path.dirname(os.path.abspath(__file__))
    installed = os.path.join(package, "path")
    return installed if os.path.isdir(installed) else os.path.dirname(package)


def _belongs(entry, session):
    """Whether an entry of a report is about what a kernel did.  What does
    not compile, and notes, are not findings."""
    return entry.get("severity") in LEVELS and (
        entry["kind"] in errors.RUN_TIME or entry["severity"] == "warning")


class Found:
    """A finding: a dict that a report can carry between processes."""

    @staticmethod
    def make(entry: dict[str, Any]) -> dict[str, str]:
        return {"kind": entry["kind"], "severity": entry["severity"],
                "place": _place(entry), "message": entry["message"]}

    @staticmethod
    def line(found: dict[str, str]) -> str:
        return "{place}: {severity}: {message} [{kind}]".format(**found)


def _place(entry):
    if "file" not in entry:
        return "(no place)"
    return f"{os.path.relpath(entry['file'])}:{entry['line']}"


class Plugin:
    """What listens while tests run, and sums up."""

    def __init__(self, session: Session, fail_on: str,
                 asked: bool = False) -> None:
        """asked: why a comparison of a test has failed."""
        self.session = session
        self.asked = asked and not session.options.debug
        self.why: why.Why | None = None  # of the test that runs
        self.fatal = LEVELS[:LEVELS.index(fail_on) + 1
                            if fail_on in LEVELS else 0]
        self.item = None
        self.found: list[Any] = []  # of the test that runs
        self.texts: list[Any] = []
        self.places: dict[Any, Any] = {}  # (severity, kind, place) -> Place
        self.tests: set[Any] = set()  # those that have findings
        session.reports.listen(self._hear)

    # ---- one test --------------------------------------------------------

    def _hear(self, entries, text, _coloured, _raised):
        new = [Found.make(e) for e in entries if _belongs(e, self.session)]
        self.found += new
        if new or any(e["kind"] == "kept-going" for e in entries):
            self.texts.append(text)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self, item: Any) -> None:
        with self.session.lock:
            self.session.reports.use_checks()
        self.found.clear()
        self.texts.clear()
        comparisons = self.session.setup.comparisons
        if self.asked and comparisons is not None:
            comparisons.forget()
            self.why = why.Why(self.session, comparisons, True)

    @pytest.hookimpl(trylast=True)
    def pytest_runtest_teardown(self, item: Any) -> None:
        if self.why is not None:
            self.why.close()
            self.why = None

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_call(self, item: Any) -> Any:
        began = time.process_time()
        outcome: Any = yield
        marker = item.get_closest_marker(MARKER)
        if marker is None or outcome.excinfo is not None:
            return
        try:
            text = self._other_sizes(item, _most(marker),
                                     time.process_time() - began)
        except errors.UsageError as e:
            text = str(e)
        if text:
            try:
                pytest.fail(text, pytrace=False)
            except pytest.fail.Exception as e:
                outcome.force_exception(e)

    def _other_sizes(self, item, most, seconds):
        """What a test that has passed does not do with other sizes."""
        said, unmet = sizetests.try_test(self.session, item, most, seconds)
        if unmet:
            item.warn(pytest.PytestWarning(
                f"{MARKER}: {unmet.removeprefix('--sizes: ')}"))
        lines = said.lines() if said is not None else []
        item.user_properties += [(f"tkdbg.{MARKER.partition('_')[2]}",
                                  line.strip()) for line in lines]
        return "\n".join(lines)

    def _why(self, item, call):
        """The lines about a comparison that has failed in a test."""
        asked, error = self.why, call.excinfo and call.excinfo.value
        if asked is None or call.when != "call" or not isinstance(
                error, AssertionError):
            return []
        with self.session.lock:
            lines = asked.about(error, ["-m", "pytest", item.nodeid])
        item.user_properties += [("tkdbg.why", line.strip())
                                 for line in lines[:1]]
        return lines

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_makereport(self, item: Any, call: Any) -> Any:
        kept_going = self.session.reports.kept_going(tell=True)
        found, texts = list(self.found), "\n".join(self.texts)
        self.found.clear()
        self.texts.clear()
        for each in found:
            item.user_properties.append(
                (f"tkdbg.{each['kind']}", Found.line(each)))
        advice = "" if runners.explains(item.config) else runners.explain(call)
        told = self._why(item, call)
        outcome: Any = yield
        report = outcome.get_result()
        runners.add_advice(report, advice)
        if told:
            report.sections.append(("tkdbg: why it is wrong",
                                    "\n".join(told)))
        if not found:
            return
        report.tkdbg = found
        report.sections.append(("tkdbg", texts))
        if report.passed and (kept_going or any(
                f["severity"] in self.fatal for f in found)):
            report.outcome = "failed"
            report.longrepr = texts

    # ---- all of them -----------------------------------------------------

    def pytest_runtest_logreport(self, report: Any) -> None:
        for found in getattr(report, "tkdbg", ()):
            key = found["severity"], found["kind"], found["place"]
            place = self.places.setdefault(key, Place(found["message"]))
            place.add(report.nodeid)
            self.tests.add(report.nodeid)

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        write = terminalreporter.write_line
        if self.session.runs.totals["launches"]:
            terminalreporter.write(self.session.version.unfollowed())
        if not self.places:
            return
        terminalreporter.section(
            f"tkdbg: findings at {_count(len(self.places), 'place')}, in "
            f"{_count(len(self.tests), 'test')}")
        ranked = sorted(self.places.items(), key=lambda item: (
            LEVELS.index(item[0][0]), -len(item[1].tests), item[0]))
        for (severity, kind, where), place in ranked:
            write(f"{where}: {severity}: {place.message} [{kind}]",
                  red=severity == "error", yellow=severity == "warning")
            first = next(iter(place.tests))
            more = len(place.tests) - 1
            write(f"    {_count(place.count, 'finding')} in {first}"
                  + (f" and {_count(more, 'more test')}" if more else ""))

    def pytest_sessionfinish(self, session: Any) -> None:
        code = self.session.options.error_exitcode
        if self.places and code:
            session.exitstatus = code

    def pytest_keyboard_interrupt(self, excinfo: Any) -> None:
        runners.note_ctrl_c(excinfo)

    def pytest_unconfigure(self) -> None:
        self.session.reports.listen(None)


class Place:
    """What was found at one place: in which tests, how often."""

    def __init__(self, message: str) -> None:
        self.message = message
        self.count = 0
        self.tests: dict[Any, Any] = {}  # in the order that they came

    def add(self, test: str) -> None:
        self.count += 1
        self.tests[test] = True


def _count(n, what):
    return f"{n} {what}" if n == 1 else f"{n} {what}s"
