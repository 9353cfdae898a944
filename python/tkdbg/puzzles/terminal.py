"""The learner's terminal: single keys, and lines where one is asked for."""
from __future__ import annotations

import os
import sys
import termios
import tty
from typing import Any


class Terminal:
    """Keys from standard input: at once if it is a terminal."""

    def __init__(self) -> None:
        self.fd = sys.stdin.fileno()
        self.is_terminal = os.isatty(self.fd)
        self.before = termios.tcgetattr(self.fd) if self.is_terminal else None

    def __enter__(self) -> Terminal:
        self.resume()
        return self

    def __exit__(self, *_: Any) -> None:
        self.pause()

    def resume(self) -> None:
        """Keys come without Enter, and are not shown."""
        if self.is_terminal:
            tty.setcbreak(self.fd, termios.TCSANOW)

    def pause(self) -> None:
        """The terminal is as it was, for others to use."""
        if self.before is not None:
            termios.tcsetattr(self.fd, termios.TCSADRAIN, self.before)

    def keys(self) -> list[str] | None:
        """The keys that have been pressed; None at the end of input.  An
        escape sequence (an arrow) does not count as a key."""
        data = os.read(self.fd, 1024).decode("utf-8", "ignore")
        if not data:
            return None
        if data.startswith("\x1b"):
            return []
        return [c for c in data if not c.isspace()]

    def line(self, prompt: str) -> str:
        """A line that is typed after a prompt."""
        self.pause()
        try:
            sys.stdout.write(prompt)
            sys.stdout.flush()
            data = b""
            while not data.endswith(b"\n"):
                byte = os.read(self.fd, 1)
                if not byte:
                    break
                data += byte
            return data.decode("utf-8", "ignore").strip()
        finally:
            self.resume()
