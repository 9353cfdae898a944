"""Findings as JSON objects, one a line on standard error (--json).

They are written when they are found, also those whose exception the script
catches, so that a reader sees all of them in the order of the launches.
"""
from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from typing import Any


def tell(entries: list[dict[str, Any]], kernel: str = "",
         launch: int | None = None) -> None:
    """Writes entries, which are dicts.

    kernel: whose launch they belong to; launch: its number, from 1."""
    for entry in entries:
        if kernel:
            entry = dict(entry, kernel=kernel)
        if launch is not None:
            entry = dict(entry, launch=launch)
        sys.stderr.write(json.dumps(entry) + "\n")
    sys.stderr.flush()


def entry(kind: str, message: str, notes: Sequence[str] = ()) -> dict[str, Any]:
    """A finding of our own, without a place in a kernel."""
    return {"kind": kind, "severity": "error", "count": 1,
            "message": message, "notes": [{"text": n} for n in notes]}
