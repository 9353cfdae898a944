"""Test runners: pytest's own end by Ctrl-C is told of.  Under the debugger they
stop where a test raises, before pytest or unittest catches that, and pytest
leaves the terminal to it.

Also a plug-in of pytest.  PYTEST_DONT_REWRITE
"""
from __future__ import annotations

import os
import sys

from . import dapserver, gdbserver, session as session_



def hooks(patches, options):
    """{module: what to do once it was imported}."""
    calls = {"_pytest.terminal": lambda: _after_terminal(patches)}
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


def note_ctrl_c(excinfo) -> None:
    """What has ended pytest: KeyboardInterrupt itself, or what is derived from
    it, which other reasons are."""
    if excinfo.type is KeyboardInterrupt:
        session_.current().watch.ended = True


def _after_unittest(patches):
    """What a test raises comes to a result first."""
    result = sys.modules["unittest.result"].TestResult

    def follow(name):
        method = getattr(result, name)

        def told(self, test, *args):
            if args[-1] is not None:  # of a part that went well
                session_.current().raised_by(args[-1][1], test)
            method(self, test, *args)
        patches.set(result, name, told)
    for name in ("addError", "addFailure", "addSubTest"):
        follow(name)


def pytest_exception_interact(node, call):
    session_.current().raised_by(call.excinfo.value, node.nodeid)
