"""A kernel in a process of its own, which it may end."""
from __future__ import annotations

import os
import signal
from typing import Any

from . import check
from .kernel import Kernel
from .ways import Outcome, Way

PATIENCE = 120  # seconds that a kernel may take


def slow(seconds: int) -> str:
    return f"it does not end within {seconds} seconds"


def ended(code: Any) -> str:
    """How a process did, for an exit code as multiprocessing has it."""
    if code is not None and code < 0:
        return f"the process ends with {signal.Signals(-code).name}"
    return f"the process ends with exit status {code}"


def outcome(lib: Any, kernel: Kernel, way: Way) -> Outcome | None:
    """check.outcome, of which only that counts which ends the process."""
    child = os.fork()
    if not child:
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.alarm(PATIENCE)
        try:
            check.outcome(lib, kernel, way)
        finally:
            os._exit(0)
    _, status = os.waitpid(child, 0)
    code = (-os.WTERMSIG(status) if os.WIFSIGNALED(status)
            else os.WEXITSTATUS(status))
    if code == 0:
        return None
    words = slow(PATIENCE) if code == -signal.SIGALRM else ended(code)
    return Outcome("ends", words, words)
