"""Results of the public C API (include/tkdbg/results.h) through ctypes.

``findings()`` gives those of a session's report as dicts with the keys that
the JSON of the command line has.  Structures have the header's member names,
without the ``tk_`` prefix on their types.
"""
from __future__ import annotations

from ctypes import (POINTER, Array, Structure, c_bool, c_char_p, c_double,
                    c_int, c_int64, c_size_t, c_uint8, c_uint32, c_uint64,
                    c_void_p)
from typing import TYPE_CHECKING, Any

from ._capi import MAX_RANK, text

if TYPE_CHECKING:
    from ctypes import _Pointer


class Place(Structure):
    """tk_place: a stretch of a source text."""
    file: bytes | None
    line: int
    column: int
    end_line: int
    end_column: int
    offset: int
    length: int
    text: int | None
    text_length: int
    origin: bytes | None
    _fields_ = [("file", c_char_p), ("line", c_int), ("column", c_int),
                ("end_line", c_int), ("end_column", c_int),
                ("offset", c_uint32), ("length", c_uint32),
                ("text", c_void_p), ("text_length", c_size_t),
                ("origin", c_char_p)]


class Element(Structure):
    """tk_element: an element of a tensor, or an address outside of every
    tensor."""
    tensor: bytes | None
    rank: int
    index: Array[c_int64]
    address: int
    text: bytes | None
    _fields_ = [("tensor", c_char_p), ("rank", c_int),
                ("index", c_int64 * MAX_RANK), ("address", c_uint64),
                ("text", c_char_p)]


class FindingNote(Structure):
    """tk_finding_note."""
    next: _Pointer[FindingNote]
    place: Place
    text: bytes | None


FindingNote._fields_ = [("next", POINTER(FindingNote)), ("place", Place),
                        ("text", c_char_p)]


class Finding(Structure):
    """tk_finding."""
    kind: int
    severity: int
    message: bytes | None
    help: bytes | None
    place: Place
    from_: Place
    function: bytes | None
    has_program: bool
    program: Array[c_int64]
    lane_rank: int
    lane: Array[c_int64]
    lane_text: bytes | None
    has_element: bool
    element: Element
    count: int
    shown: int
    notes: _Pointer[FindingNote]
    nnotes: int
    _fields_ = [("kind", c_int), ("severity", c_int), ("message", c_char_p),
                ("help", c_char_p), ("place", Place), ("from_", Place),
                ("function", c_char_p), ("has_program", c_bool),
                ("program", c_int64 * 3), ("lane_rank", c_int),
                ("lane", c_int64 * MAX_RANK), ("lane_text", c_char_p),
                ("has_element", c_bool), ("element", Element),
                ("count", c_uint64), ("shown", c_uint64),
                ("notes", POINTER(FindingNote)), ("nnotes", c_size_t)]


class AccessSite(Structure):
    """tk_access_site: where accesses of a tensor are made."""
    verb: bytes | None
    tensor: bytes | None
    place: Place
    writes: bool
    _fields_ = [("verb", c_char_p), ("tensor", c_char_p), ("place", Place),
                ("writes", c_bool)]


class AccessLog(Structure):
    """tk_access_log: every access of a run."""
    sites: _Pointer[AccessSite]
    nsites: int
    accesses: int | None
    naccesses: int
    elements: int | None
    nelements: int
    cut: bool
    _fields_ = [("sites", POINTER(AccessSite)), ("nsites", c_size_t),
                ("accesses", c_void_p), ("naccesses", c_size_t),
                ("elements", c_void_p), ("nelements", c_size_t),
                ("cut", c_bool)]


# tk_logged_access, as NumPy names its members
LOGGED_ACCESS = [("site", "u8"), ("program", "i8", 3), ("lanes", "u8"),
                 ("first", "u8"), ("active", "u8")]


class Lane(Structure):
    """tk_lane: one lane of a value."""
    dtype: int
    pointer: bool
    bits: int
    text: bytes | None
    _fields_ = [("dtype", c_int), ("pointer", c_bool), ("bits", c_uint64),
                ("text", c_char_p)]


class Write(Structure):
    """tk_write: a store, or an atomic operation, of one lane."""
    program: Array[c_int64]
    place: Place
    function: bytes | None
    element: Element
    value: Lane
    atomic: bool
    masked: bool
    in_loop: bool
    trip: int
    ops: int
    _fields_ = [("program", c_int64 * 3), ("place", Place),
                ("function", c_char_p), ("element", Element),
                ("value", Lane), ("atomic", c_bool), ("masked", c_bool),
                ("in_loop", c_bool), ("trip", c_uint64), ("ops", c_uint64)]


class Blame(Structure):
    """tk_blame: who wrote an element."""
    element: Element
    value: Lane
    times: int
    writes: _Pointer[Write]
    nwrites: int
    first: _Pointer[Write]
    before: _Pointer[Write]
    after: _Pointer[Write]
    asked: bytes | None
    _fields_ = [("element", Element), ("value", Lane), ("times", c_uint64),
                ("writes", POINTER(Write)), ("nwrites", c_size_t),
                ("first", POINTER(Write)), ("before", POINTER(Write)),
                ("after", POINTER(Write)), ("asked", c_char_p)]


class Factor(Structure):
    """tk_factor: one factor of a term."""
    text: bytes | None
    has_element: bool
    element: Element
    value: Lane
    _fields_ = [("text", c_char_p), ("has_element", c_bool),
                ("element", Element), ("value", Lane)]


class Step(Structure):
    """tk_step: a step on the way of a value."""
    kind: int
    role: int
    parent: int
    depth: int
    name: bytes | None
    source: bytes | None
    operation: bytes | None
    type: bytes | None
    constant: bool
    lane_rank: int
    lane: Array[c_int64]
    value: Lane
    place: Place
    function: bytes | None
    library: bytes | None
    in_kernel: bool
    scope: int
    memory: int
    has_element: bool
    element: Element
    is_box: bool
    last: Array[c_int64]
    count: int
    program: Array[c_int64]
    same_program: bool
    sign: bytes | None
    sides: Array[Lane]
    picked_of: int
    picked_smallest: bool
    picked_rank: int
    picked: Array[c_int64]
    loop: Place
    trip: int
    last_trip: int
    nested: bool
    times: int
    values: _Pointer[Lane]
    nvalues: int
    from_start: bool
    skipped: int
    factors: _Pointer[Factor]
    nfactors: int
    product: bool
    same: int
    not_kept: bool
    operands: _Pointer[c_int]
    noperands: int
    combined: Place
    address: Place
    _fields_ = [
        ("kind", c_int), ("role", c_int), ("parent", c_int),
        ("depth", c_int), ("name", c_char_p), ("source", c_char_p),
        ("operation", c_char_p), ("type", c_char_p), ("constant", c_bool),
        ("lane_rank", c_int), ("lane", c_int64 * MAX_RANK), ("value", Lane),
        ("place", Place), ("function", c_char_p), ("library", c_char_p),
        ("in_kernel", c_bool), ("scope", c_int), ("memory", c_int),
        ("has_element", c_bool), ("element", Element), ("is_box", c_bool),
        ("last", c_int64 * MAX_RANK), ("count", c_uint64),
        ("program", c_int64 * 3), ("same_program", c_bool),
        ("sign", c_char_p), ("sides", Lane * 2), ("picked_of", c_uint64),
        ("picked_smallest", c_bool), ("picked_rank", c_int),
        ("picked", c_int64 * MAX_RANK), ("loop", Place),
        ("trip", c_uint64), ("last_trip", c_uint64), ("nested", c_bool),
        ("times", c_uint64), ("values", POINTER(Lane)),
        ("nvalues", c_size_t), ("from_start", c_bool),
        ("skipped", c_uint64), ("factors", POINTER(Factor)),
        ("nfactors", c_size_t), ("product", c_bool), ("same", c_int),
        ("not_kept", c_bool), ("operands", POINTER(c_int)),
        ("noperands", c_size_t), ("combined", Place),
        ("address", Place)]


class Explanation(Structure):
    """tk_explanation: where a value came from."""
    blame: Blame
    steps: _Pointer[Step]
    nsteps: int
    cut: bool
    place: Place
    scope: int
    why: bytes | None
    _fields_ = [("blame", Blame), ("steps", POINTER(Step)),
                ("nsteps", c_size_t), ("cut", c_bool), ("place", Place),
                ("scope", c_int), ("why", c_char_p)]


class Mismatch(Structure):
    """tk_mismatch: one element that is wrong."""
    index: Array[c_int64]
    found: Lane
    expected: Lane
    error: float
    written: bool
    program: Array[c_int64]
    place: Place
    function: bytes | None
    _fields_ = [("index", c_int64 * MAX_RANK), ("found", Lane),
                ("expected", Lane), ("error", c_double),
                ("written", c_bool), ("program", c_int64 * 3),
                ("place", Place), ("function", c_char_p)]


class Difference(Structure):
    """tk_difference: how a tensor differs from what was expected."""
    tensor: bytes | None
    engine: bytes | None
    elsewhere: bytes | None
    here_right: int
    here_same: int
    rtol: float
    atol: float
    ulps: int
    given: bool
    judged: bool
    weak: bool
    all_wrong: bool
    size: float
    own_error: float
    engine_error: float
    error_bound: float
    written: int
    unequal: int
    absolute: float
    relative: float
    ulp: int
    ulp_of_most: int
    rank: int
    shape: Array[c_int64]
    total: int
    wrong: int
    unwritten: int
    not_finite: int
    ranges: Array[c_void_p]
    nranges: Array[c_uint64]
    exact: bool
    programs: int
    wrong_programs: int
    program_ranges: Array[c_void_p]
    nprogram_ranges: Array[c_uint64]
    programs_exact: bool
    programs_whole: bool
    patterns: int | None
    npatterns: int
    first: Mismatch
    worst: Mismatch
    explanation: _Pointer[Explanation]
    explained_nearest: bool
    tf32: Place
    is_wrong: _Pointer[c_uint8]
    writer: _Pointer[c_uint32]
    grid: Array[c_int64]
    _fields_ = [
        ("tensor", c_char_p), ("engine", c_char_p),
        ("elsewhere", c_char_p), ("here_right", c_uint64),
        ("here_same", c_uint64), ("rtol", c_double), ("atol", c_double),
        ("ulps", c_uint64), ("given", c_bool),
        ("judged", c_bool), ("weak", c_bool), ("all_wrong", c_bool),
        ("size", c_double), ("own_error", c_double),
        ("engine_error", c_double), ("error_bound", c_double),
        ("written", c_uint64), ("unequal", c_uint64),
        ("absolute", c_double), ("relative", c_double), ("ulp", c_uint64),
        ("ulp_of_most", c_uint64),
        ("rank", c_int), ("shape", c_int64 * MAX_RANK), ("total", c_uint64),
        ("wrong", c_uint64), ("unwritten", c_uint64),
        ("not_finite", c_uint64), ("ranges", c_void_p * MAX_RANK),
        ("nranges", c_size_t * MAX_RANK), ("exact", c_bool),
        ("programs", c_uint64), ("wrong_programs", c_uint64),
        ("program_ranges", c_void_p * 3), ("nprogram_ranges", c_size_t * 3),
        ("programs_exact", c_bool), ("programs_whole", c_bool),
        ("patterns", c_void_p), ("npatterns", c_size_t),
        ("first", Mismatch), ("worst", Mismatch),
        ("explanation", POINTER(Explanation)),
        ("explained_nearest", c_bool), ("tf32", Place),
        ("is_wrong", POINTER(c_uint8)), ("writer", POINTER(c_uint32)),
        ("grid", c_int64 * 3)]


# name: (result, argument types), as in _capi
PROTOTYPES = {
    "tk_launch_blame": (POINTER(Blame), [c_void_p, c_size_t]),
    "tk_launch_difference": (POINTER(Difference), [c_void_p, c_size_t]),
    "tk_launch_difference_text": (c_char_p, [c_void_p, c_size_t, c_size_t]),
    "tk_launch_explanation": (POINTER(Explanation), [c_void_p, c_size_t]),
    "tk_launch_source_lines": (c_char_p, [c_void_p, POINTER(Explanation),
                                          c_size_t]),
    "tk_report_finding": (POINTER(Finding), [c_void_p, c_size_t]),
    "tk_launch_access_log": (POINTER(AccessLog), [c_void_p]),
    "tk_finding_kind_name": (c_char_p, [c_int]),
    "tk_severity_name": (c_char_p, [c_int]),
}


def findings(lib: Any, session: Any) -> list[dict[str, Any]]:
    """What is in the report of a session, by its address, oldest first."""
    found: list[dict[str, Any]] = []
    while True:
        at = lib.tk_report_finding(session, len(found))
        if not at:
            return found
        found.append(_finding(lib, at.contents))


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

