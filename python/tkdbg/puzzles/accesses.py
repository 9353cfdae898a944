"""Every access of a run, as NumPy arrays: what the checker counts, what the
score is made of and what pictures show."""
from __future__ import annotations

import ctypes
from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import _capi, _results


@dataclass
class Site:
    """Where accesses of one tensor are made."""
    verb: str
    tensor: str
    line: int
    writes: bool


class Accesses:
    """The log of one launch: rows has a row for each access (see
    _results.LOGGED_ACCESS), elements what its active lanes touch, counted
    from the first element of the tensor in memory."""

    def __init__(self, lib: Any, launch: Any) -> None:
        log = lib.tk_launch_access_log(launch)
        self.known = bool(log) and not log.contents.cut
        if not log:
            self.sites, self.rows, self.elements = [], np.empty(
                0, _results.LOGGED_ACCESS), np.empty(0, np.int64)
            return
        log = log.contents
        self.sites = [Site(_capi.text(s.verb), _capi.text(s.tensor),
                           s.place.line, s.writes)
                      for s in log.sites[:log.nsites]]
        self.rows = _array(log.accesses, log.naccesses,
                           _results.LOGGED_ACCESS)
        self.elements = _array(log.elements, log.nelements, np.int64)

    def of(self, row: Any) -> Any:
        """The elements that an access touches."""
        return self.elements[row["first"]:row["first"] + row["active"]]

    def chosen(self, tensor: str, writes: bool) -> Any:
        """The numbers of the rows that write, or read, a tensor."""
        sites = [i for i, s in enumerate(self.sites)
                 if s.tensor == tensor and s.writes == writes]
        return np.flatnonzero(np.isin(self.rows["site"], sites))

    def counts(self, tensor: str, size: int, writes: bool = True) -> Any:
        """How often each of the first `size` elements is written, or
        read."""
        rows = self.rows[self.chosen(tensor, writes)]
        touched = np.concatenate([np.empty(0, np.int64),
                                  *map(self.of, rows)])
        inside = (touched >= 0) & (touched < size)
        return np.bincount(touched[inside], minlength=size)

    def last(self, tensor: str, element: int) -> dict[str, Any]:
        """The last write of an element: {line, program, before}, the last
        being how often the program had been there before; or {}."""
        for i in self.chosen(tensor, True)[::-1]:
            row = self.rows[i]
            if element in self.of(row):
                same = ((self.rows["site"][:i] == row["site"]) &
                        (self.rows["program"][:i] == row["program"]).all(1))
                return {"line": self.sites[int(row["site"])].line,
                        "program": [int(p) for p in row["program"]],
                        "before": int(same.sum())}
        return {}


def _array(address, n, dtype):
    dtype = np.dtype(dtype)
    if not n:
        return np.empty(0, dtype)
    return np.frombuffer(ctypes.string_at(address, n * dtype.itemsize), dtype)
