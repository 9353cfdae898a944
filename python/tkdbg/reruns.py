"""The whole script once more with its text changed: does it then end well?

Where a launch stops, nothing has been compared yet; where the host is wrong,
launches alone do not show it; and what makes one comparison pass may make the
next one fail.  So the script runs again from its beginning, each time in a
process that is split off this one, with a line of it changed.  That is only
done to a script whose text shows that it computes, and neither reads nor
writes anything (purity.py).
"""
from __future__ import annotations

import json
import os
import resource
import signal
import sys
import time
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

from . import interrupt, parsing, purity, session as session_, source
from .edits import Edit

SECONDS_MORE = 2      # that a run may take longer than the first one took
MOST_TIMES = 4        # ... and how many times as long
PASSES, FAILS = 0, 1  # exit statuses


class Script(NamedTuple):
    """A script that may run again."""
    path: str
    text: bytes
    run: Callable[[bytes], None]  # runs a text in its place
    seconds: float  # of the processor that it took

    def has(self, file: str) -> bool:
        """Whether a file that edits name is the script."""
        try:
            return os.path.samefile(file, self.path)
        except OSError:
            return False

    def passes(self, edit: Edit) -> bool:
        """Whether the script ends well with an edit, and finds nothing
        unequal."""
        end = edit.at + len(edit.old.encode())
        text = self.text[:edit.at] + edit.new.encode() + self.text[end:]
        return self._split_off(lambda: self._outcome(text)) == PASSES

    def watched(self, text: bytes,
                watch: Callable[[Callable[[], None]], Any]) -> Any:
        """What watch(run) gives in the process that is split off, as JSON
        holds it; run() runs a text in the place of the script's.  None: it
        took too long, or the process has died."""
        with open(os.memfd_create("tkdbg-rerun"), "w+b") as file:
            def work():
                self._begin_anew(text)
                said = watch(lambda: self.run(text))
                file.write(json.dumps(said).encode())
                file.flush()
                return PASSES
            if self._split_off(work) != PASSES:
                return None
            file.seek(0)
            return json.loads(file.read())

    def _split_off(self, work):
        """How a process ends that does work()."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of threads, none of which run
            child = interrupt.fork()
        if not child:
            self._become(work)
        return self._status(child)

    def _status(self, child):
        """How a process ends, which is given a time."""
        end = time.monotonic() + 3 * self._limit()
        while True:
            ended, status = os.waitpid(child, os.WNOHANG)
            if ended:
                return status
            if time.monotonic() > end:
                os.kill(child, signal.SIGKILL)
                end += 3600
            time.sleep(0.005)

    def _limit(self):
        return int(MOST_TIMES * self.seconds) + SECONDS_MORE

    def _become(self, work):
        """Works in the process that was split off, which ends here."""
        status = FAILS
        try:
            null = os.open(os.devnull, os.O_RDWR)
            for each in range(3):
                os.dup2(null, each)
            resource.setrlimit(resource.RLIMIT_CPU, (self._limit(),) * 2)
            status = work()
        except BaseException:
            status = FAILS
        finally:
            os._exit(status)

    def _outcome(self, text):
        seen = session_.current().setup.comparisons
        self._begin_anew(text)
        try:
            self.run(text)
        except SystemExit as e:
            if e.code not in (None, 0):
                return FAILS
        return FAILS if seen is not None and seen.last else PASSES

    def _begin_anew(self, text):
        """A text is about to run, of whose launches and comparisons nobody has
        been told."""
        session = session_.current()
        session.runs.log_to(None)
        seen = session.setup.comparisons
        if seen is not None:
            seen.forget()
        torch = sys.modules.get("torch")
        if torch is not None:  # its threads are those of the first process
            torch.set_num_threads(1)
        source.keep_lines(self.path, text.decode("utf-8", "replace"))


def script(path: str, run: Callable[[bytes], None],
           seconds: float) -> Script | None:
    """A Script, if it may run again; run: what executes a text as if it stood
    in the file."""
    try:
        with open(path, "rb") as f:
            text = f.read()
        tree: Any = parsing.tree(text.decode())
    except (OSError, ValueError, SyntaxError):
        return None
    if not hasattr(os, "fork") or _holds_device() or (
            not purity.only_computes(tree)):
        return None
    return Script(path, text, run, seconds)


def _holds_device():
    """Whether PyTorch uses a real GPU, which a process that is split off
    cannot."""
    torch = sys.modules.get("torch")
    return (torch is not None and session_.current().setup.cuda is None and
            torch.cuda.is_initialized())
