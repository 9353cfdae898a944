"""Findings as JSON objects, one a line on standard error (--json).

They are written when they are found, also those whose exception the script
catches, so that a reader sees all of them in the order of the launches.
"""
from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Sequence
from typing import Any, TextIO


class Lines:
    """Where they are written."""

    def __init__(self) -> None:
        self._kept: TextIO | None = None

    def keep_stream(self) -> None:
        """Standard error is what it is now, whatever takes its place later:
        a test runner drops the output of tests that pass."""
        try:
            self._kept = open(os.dup(2), "w", encoding="utf-8")
        except OSError:  # it is closed
            self._kept = None

    def tell(self, entries: Iterable[dict[str, Any]], kernel: str = "",
             launch: int | None = None) -> None:
        """Writes entries, which are dicts.

        kernel: whose launch they belong to; launch: its number, from 1."""
        sys.stderr.flush()
        stream = self._kept or sys.stderr
        for entry in entries:
            if kernel:
                entry = dict(entry, kernel=kernel)
            if launch is not None:
                entry = dict(entry, launch=launch)
            stream.write(json.dumps(entry) + "\n")
        stream.flush()


def entry(kind: str, message: str, notes: Sequence[str] = ()) -> dict[str, Any]:
    """A finding of our own, without a place in a kernel."""
    return {"kind": kind, "severity": "error", "count": 1,
            "message": message, "notes": [{"text": n} for n in notes]}
