"""What `tkdbg profile` and `tkdbg view` have in common: something of the
library's watches the launches of a session, and is written when the script has
ended.
"""
from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from . import errors

if TYPE_CHECKING:
    from .session import Session


class Watched:
    """Heirs write what was seen, to self._out, which is standard output as it
    was: with --json, nothing else goes there."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._out = os.dup(1)
        if session.options.json:
            sys.stdout.flush()
            os.dup2(2, 1)

    def _write(self, complete):
        raise NotImplementedError

    def tell(self, complete: bool) -> None:
        """Writes it; complete: the script got to its end, so that an error
        here decides the exit status."""
        try:
            self._write(complete)
        except OSError as e:
            self._fail(f"tkdbg: cannot write to standard output: "
                       f"{e.strerror}", complete)
        except errors.UsageError as e:
            self._fail(str(e), complete)

    def _fail(self, text, complete):
        if complete:
            raise errors.UsageError(text)
        sys.stderr.write(f"{text}\n")
