"""Results of the public C API (include/tkdbg/results.h) through ctypes.

``findings()`` gives those of a session's report as dicts with the keys that
the JSON of the command line has.  Structures have the header's member names,
without the ``tk_`` prefix on their types.
"""
from __future__ import annotations

from ctypes import (POINTER, Structure, c_bool, c_char_p, c_int, c_int64,
                    c_size_t, c_uint32, c_uint64, c_void_p)

from ._capi import MAX_RANK, text


class Place(Structure):
    """tk_place: a stretch of a source text."""
    _fields_ = [("file", c_char_p), ("line", c_int), ("column", c_int),
                ("end_line", c_int), ("end_column", c_int),
                ("offset", c_uint32), ("length", c_uint32),
                ("text", c_void_p), ("text_length", c_size_t)]


class Element(Structure):
    """tk_element: an element of a tensor, or an address that is none."""
    _fields_ = [("tensor", c_char_p), ("rank", c_int),
                ("index", c_int64 * MAX_RANK), ("address", c_uint64),
                ("text", c_char_p)]


class FindingNote(Structure):
    """tk_finding_note."""


FindingNote._fields_ = [("next", POINTER(FindingNote)), ("place", Place),
                        ("text", c_char_p)]


class Finding(Structure):
    """tk_finding."""
    _fields_ = [("kind", c_int), ("severity", c_int), ("message", c_char_p),
                ("help", c_char_p), ("place", Place), ("from_", Place),
                ("function", c_char_p), ("has_program", c_bool),
                ("program", c_int64 * 3), ("lane_rank", c_int),
                ("lane", c_int64 * MAX_RANK), ("lane_text", c_char_p),
                ("has_element", c_bool), ("element", Element),
                ("count", c_uint64), ("shown", c_uint64),
                ("notes", POINTER(FindingNote)), ("nnotes", c_size_t)]


class Lane(Structure):
    """tk_lane: one lane of a value."""
    _fields_ = [("dtype", c_int), ("pointer", c_bool), ("bits", c_uint64),
                ("text", c_char_p)]


class Write(Structure):
    """tk_write: a store, or an atomic operation, of one lane."""
    _fields_ = [("program", c_int64 * 3), ("place", Place),
                ("function", c_char_p), ("element", Element),
                ("value", Lane), ("atomic", c_bool), ("masked", c_bool),
                ("in_loop", c_bool), ("trip", c_uint64), ("ops", c_uint64)]


class Blame(Structure):
    """tk_blame: who wrote an element."""
    _fields_ = [("element", Element), ("value", Lane), ("times", c_uint64),
                ("writes", POINTER(Write)), ("nwrites", c_size_t),
                ("first", POINTER(Write)), ("before", POINTER(Write)),
                ("after", POINTER(Write))]


# name: (result, argument types), as in _capi
PROTOTYPES = {
    "tk_launch_blame": (POINTER(Blame), [c_void_p, c_size_t]),
    "tk_report_finding": (POINTER(Finding), [c_void_p, c_size_t]),
    "tk_finding_kind_name": (c_char_p, [c_int]),
    "tk_severity_name": (c_char_p, [c_int]),
}


def findings(lib, session):
    """What is in the report of a session, by its address, oldest first."""
    found = []
    while True:
        at = lib.tk_report_finding(session, len(found))
        if not at:
            return found
        found.append(_finding(lib, at.contents))


def writes(lib, launch, i=0):
    """Who wrote the i-th element that the last run of a launch was asked to
    blame, newest first, as dicts."""
    blame = lib.tk_launch_blame(launch, i)
    if not blame:
        return []
    blame = blame.contents
    return [{**_place(w.place), "program": list(w.program),
             "value": text(w.value.text)}
            for w in blame.writes[:blame.nwrites]]


def _finding(lib, f):
    entry = {"kind": text(lib.tk_finding_kind_name(f.kind)),
             "severity": text(lib.tk_severity_name(f.severity)),
             **_place(f.place), "count": f.count}
    if f.has_program:
        entry["program"] = list(f.program)
    if f.lane_text is not None:
        entry["lane"] = f.lane[:f.lane_rank]
    entry["message"] = text(f.message)
    if f.help is not None:
        entry["help"] = text(f.help)
    entry["notes"] = [{**_place(n.place), "text": text(n.text)}
                      for n in _notes(f)]
    return entry


def _notes(f):
    at = f.notes
    while at:
        yield at.contents
        at = at.contents.next


def _place(p):
    if p.file is None:
        return {}
    return {"file": text(p.file), "line": p.line, "column": p.column,
            "length": p.length}

