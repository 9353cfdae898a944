"""Test runners: pytest's own end by Ctrl-C is told of, and its reports show the
test's own frames and say what to do about a mistake in a launch.  Under the
debugger they stop where a test raises, before pytest or unittest catches that,
and pytest leaves the terminal to it.

Also a plug-in of pytest.  PYTEST_DONT_REWRITE
"""
from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from . import dapserver, errors, excepthook, gdbserver, session as session_

if TYPE_CHECKING:
    from .patches import Patches
    from .settings import Options

_BEFORE = "tkdbg_before"  # of our function: the one that it stands for


def hooks(patches: Patches, options: Options) -> dict[str, Callable[..., Any]]:
    """{module: what to do once it was imported}."""
    calls = {"_pytest.terminal": lambda: _after_terminal(patches),
             "_pytest.runner": lambda: _after_runner(patches)}
    served = gdbserver.wanted(options) or dapserver.wanted(options)
    if not (options.debug or options.breakpoints or served):
        return calls
    added = f"-p {__name__}" if served else f"-s -p {__name__}"
    before = os.environ.get("PYTEST_ADDOPTS", "")
    if added not in before:
        os.environ["PYTEST_ADDOPTS"] = f"{added} {before}".strip()
    return {**calls, "unittest.result": lambda: _after_unittest(patches)}


def _after_terminal(patches):
    """pytest says on the terminal that Ctrl-C has ended it."""
    reporter = sys.modules["_pytest.terminal"].TerminalReporter
    before = getattr(reporter, "pytest_keyboard_interrupt", None)
    if before is None:
        return

    def told(self, excinfo):
        note_ctrl_c(excinfo)
        before(self, excinfo)
    patches.set(reporter, "pytest_keyboard_interrupt", told)


def _after_runner(patches):
    """The reports of a pytest that has no plug-in of ours are explained."""
    runner = sys.modules["_pytest.runner"]
    before = runner.pytest_runtest_makereport

    def pytest_runtest_makereport(item, call):
        advice = explain(call)
        report = before(item, call)
        add_advice(report, advice)
        return report
    setattr(pytest_runtest_makereport, _BEFORE, before)
    patches.set(runner, "pytest_runtest_makereport", pytest_runtest_makereport)


def explains(config: Any) -> bool:
    """Whether pytest's own reports are explained already: it had not read its
    functions yet when ours was put there."""
    return any(hasattr(each.function, _BEFORE) for each in
               config.hook.pytest_runtest_makereport.get_hookimpls())


def explain(call: Any) -> str:
    """Leaves the frames of tkdbg out of what a test has raised, a
    pytest.CallInfo; where a kernel has raised it, also those of an installed
    Triton, which pytest would show a page of.  Returns what to do about it,
    or ""."""
    if call.excinfo is None:
        return ""
    error = call.excinfo.value
    advice = excepthook.advice(error)
    triton = getattr(sys.modules.get("triton"), "__file__", None)
    hidden = os.path.dirname(triton) + os.sep if triton and isinstance(
        error, errors.KernelError) else None
    frames = excepthook.strip(
        error.__traceback__,
        lambda name: hidden is not None and name.startswith(hidden))
    if frames is not None:
        call.excinfo = type(call.excinfo).from_exception(
            error.with_traceback(frames))
    return advice


def add_advice(report: Any, advice: str) -> None:
    """Puts what explain() has returned into a pytest.TestReport."""
    if advice:
        report.sections.append(("tkdbg: what is wrong with it",
                                advice.strip("\n")))


def note_ctrl_c(excinfo: Any) -> None:
    """What has ended pytest: KeyboardInterrupt itself, or what is derived from
    it, which other reasons are."""
    if excinfo.type is KeyboardInterrupt:
        session_.current().watch.end()


def _after_unittest(patches):
    """What a test raises comes to a result first."""
    result = sys.modules["unittest.result"].TestResult

    def follow(name):
        method = getattr(result, name)

        def told(self, test, *args):
            if args[-1] is not None:  # of a part that went well
                session_.current().debugging.raised(args[-1][1], test)
            method(self, test, *args)
        patches.set(result, name, told)
    for name in ("addError", "addFailure", "addSubTest"):
        follow(name)


def pytest_exception_interact(node: Any, call: Any) -> None:
    session_.current().debugging.raised(call.excinfo.value, node.nodeid)
