"""The public C API (include/tkdbg/tkdbg.h) through ctypes.

Nothing here decides anything: structures, prototypes, and finding the
library.  ``load()`` returns the library; its functions carry their
prototypes.  Structures have the header's member names, without the
``tk_`` prefix on their types.
"""
from __future__ import annotations

import ctypes
import functools
import itertools
import os
from ctypes import (CFUNCTYPE, POINTER, Array, Structure, c_bool, c_char,
                    c_char_p, c_double, c_int, c_int64, c_size_t, c_uint,
                    c_uint64, c_void_p)
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ctypes import _Pointer

VERSION = "0.1.0"
MAX_RANK = 20

# tk_status, tk_option_kind and tk_value_kind, in the header's order.
OK, FINDING, USAGE, INTERNAL, INTERRUPTED = range(5)
ATTEND_STOP, ATTEND_GO_ON, ATTEND_PASS = range(3)
(OPTION_FLAG, OPTION_TEXT, OPTION_OPTIONAL, OPTION_FILE, OPTION_WORD,
 OPTION_NUMBER, OPTION_LIST) = range(7)
(V_NONE, V_BOOL, V_INT, V_FLOAT, V_STR, V_DTYPE, V_TUPLE, V_FUNCTION,
 V_BUILTIN, V_OBJECT, V_TENSOR, V_DESCRIPTOR) = range(12)

TENSOR_READONLY = 1
TENSOR_UNWRITTEN = 2
TENSOR_REPEATED = 4
TENSOR_CONST = 8


class Option(Structure):
    """tk_option: an option of the command."""
    name: bytes | None
    letter: bytes
    kind: int
    arg: bytes | None
    key: bytes | None
    help: bytes | None
    _fields_ = [("name", c_char_p), ("letter", c_char), ("kind", c_int),
                ("arg", c_char_p), ("key", c_char_p), ("help", c_char_p)]


class OptionPair(Structure):
    """tk_option_pair: an option that has no effect without others, or beside
    them."""
    needs: bool
    key: bytes
    others: bytes
    why: bytes
    _fields_ = [("needs", c_bool), ("key", c_char_p), ("others", c_char_p),
                ("why", c_char_p)]


class LaunchOptionInfo(Structure):
    """tk_launch_option_info: a launch option for a compiler."""
    name: bytes | None
    usual: int
    least: int
    most: int
    power: bool
    doc: bytes | None
    _fields_ = [("name", c_char_p), ("usual", c_int64), ("least", c_int64),
                ("most", c_int64), ("power", c_bool), ("doc", c_char_p)]


class Value(Structure):
    """tk_value: a compile-time value."""
    kind: int
    is_constexpr: bool
    hi: int
    lo: int
    f: float
    str: bytes | None
    n: int
    items: _Pointer[Value]
    ptr: int | None


Value._fields_ = [
    ("kind", c_int), ("is_constexpr", c_bool), ("hi", c_int64),
    ("lo", c_uint64), ("f", c_double), ("str", c_char_p), ("n", c_size_t),
    ("items", POINTER(Value)), ("ptr", c_void_p)]


class Tensor(Structure):
    """tk_tensor: memory that a kernel may reach, strides in elements."""
    data: int | None
    dtype: int
    rank: int
    shape: Array[c_int64]
    strides: Array[c_int64]
    storage: int | None
    storage_bytes: int
    flags: int
    device_address: int
    written: int | None
    _fields_ = [
        ("data", c_void_p), ("dtype", c_int), ("rank", c_int),
        ("shape", c_int64 * MAX_RANK), ("strides", c_int64 * MAX_RANK),
        ("storage", c_void_p), ("storage_bytes", c_size_t),
        ("flags", c_uint), ("device_address", c_uint64),
        ("written", c_void_p)]


class Summary(Structure):
    """tk_summary: what a run did."""
    programs: int
    ops: int
    seconds: float
    peak_bytes: int
    kernel: bytes | None
    engine: bytes | None
    grid: Array[c_int64]
    errors: int
    warnings: int
    notes: int
    _fields_ = [("programs", c_uint64), ("ops", c_uint64),
                ("seconds", c_double), ("peak_bytes", c_size_t),
                ("kernel", c_char_p), ("engine", c_char_p),
                ("grid", c_int64 * 3), ("errors", c_uint64),
                ("warnings", c_uint64), ("notes", c_uint64)]


AttendFn = CFUNCTYPE(None, c_void_p, POINTER(c_int))
OutputFn = CFUNCTYPE(None, c_void_p, c_void_p, c_size_t)
SayFn = CFUNCTYPE(None, c_void_p, c_char_p)
CompilerFn = CFUNCTYPE(c_bool, c_void_p, c_char_p, c_char_p,
                       POINTER(c_char_p))
ProgressFn = CFUNCTYPE(None, c_void_p, c_uint64, c_uint64)
GlobalFn = CFUNCTYPE(c_int, c_void_p, c_void_p, c_char_p, POINTER(Value))
AttrFn = GlobalFn
CallFn = CFUNCTYPE(c_int, c_void_p, c_void_p, POINTER(Value), c_size_t,
                   POINTER(c_char_p), c_size_t, POINTER(Value))


class Bound(Structure):
    """tk_bound: how far elements may be apart; negative: derived."""
    rtol: float
    atol: float
    ulp: int
    _fields_ = [("rtol", c_double), ("atol", c_double), ("ulp", c_int64)]


class RunOptions(Structure):
    """tk_run_options; ``size`` is filled by the constructor."""
    size: int
    pids: bytes | None
    order: bytes | None
    dot: bytes | None
    no_asserts: bool
    progress: Any
    progress_ud: int | None
    schedule: bytes | None
    blame: bytes | None
    explain: bytes | None
    engine: bytes | None
    access_line: int
    silent_answers: bool
    log_accesses: bool
    against: bytes | None
    bound: _Pointer[Bound]
    pinpoint: bool
    jobs: int
    unordered: bool
    shard: bytes | None
    stores: bytes | None
    numerics: bytes | None
    explain_stop: Any
    arch: bytes | None
    form: int | None
    _fields_ = [("size", c_size_t), ("pids", c_char_p), ("order", c_char_p),
                ("dot", c_char_p), ("no_asserts", c_bool),
                ("progress", ProgressFn), ("progress_ud", c_void_p),
                ("schedule", c_char_p), ("blame", c_char_p),
                ("explain", c_char_p), ("engine", c_char_p),
                ("access_line", c_int), ("silent_answers", c_bool),
                ("log_accesses", c_bool), ("against", c_char_p),
                ("bound", POINTER(Bound)), ("pinpoint", c_bool),
                ("jobs", c_size_t), ("unordered", c_bool), ("shard", c_char_p),
                ("stores", c_char_p), ("numerics", c_char_p),
                ("explain_stop", POINTER(c_int64)), ("arch", c_char_p),
                ("form", c_void_p)]

    def __init__(self, **fields: Any) -> None:
        super().__init__(size=ctypes.sizeof(RunOptions), **fields)


class Edit(Structure):
    """tk_edit: bytes of a source that give way to others."""
    file: bytes | None
    at: int
    removed: int
    text: bytes | None
    _fields_ = [("file", c_char_p), ("at", c_size_t), ("removed", c_size_t),
                ("text", c_char_p)]


class EmitOptions(Structure):
    """tk_emit_options; ``size`` is filled by the constructor."""
    size: int
    emit: bytes | None
    skip: bytes | None
    after_all: bool
    arch: bytes | None
    output: bytes | None
    by: bytes | None
    _fields_ = [("size", c_size_t), ("emit", c_char_p), ("skip", c_char_p),
                ("after_all", c_bool), ("arch", c_char_p),
                ("output", c_char_p), ("by", c_char_p)]

    def __init__(self, **fields: Any) -> None:
        super().__init__(size=ctypes.sizeof(EmitOptions), **fields)


REFUTED = 1  # of tk_verdict


class ProveOptions(Structure):
    """tk_prove_options; ``size`` is filled by the constructor."""
    size: int
    assume: bytes | None
    told: bytes | None
    smt_out: bytes | None
    all_forms: bool
    _fields_ = [("size", c_size_t), ("assume", c_char_p), ("told", c_char_p),
                ("smt_out", c_char_p), ("all_forms", c_bool)]

    def __init__(self, **fields: Any) -> None:
        super().__init__(size=ctypes.sizeof(ProveOptions), **fields)


class CacheSummary(Structure):
    """tk_cache_summary: what compiled code is kept."""
    folder: bytes
    entries: int
    bytes: int
    _fields_ = [("folder", c_char * 4096), ("entries", c_uint64),
                ("bytes", c_uint64)]


class CheckOptions(Structure):
    """tk_check_options; ``size`` is filled by the constructor."""
    size: int
    suppressions: bytes | None
    limit: int
    assume_written: bool
    stop: bool
    collect: bool
    keep_going: bool
    arch: int
    _fields_ = [("size", c_size_t), ("suppressions", c_char_p),
                ("limit", c_size_t), ("assume_written", c_bool),
                ("stop", c_bool), ("collect", c_bool),
                ("keep_going", c_bool), ("arch", c_int)]

    def __init__(self, **fields: Any) -> None:
        super().__init__(size=ctypes.sizeof(CheckOptions), **fields)


class ConsoleOptions(Structure):
    """tk_console_options; ``size`` is filled by the constructor."""
    size: int
    commands: _Pointer[c_char_p]
    files: _Pointer[c_char_p]
    breakpoints: _Pointer[c_char_p]
    ncommands: int
    nfiles: int
    nbreakpoints: int
    json: bool
    stop_at_start: bool
    stop_at_end: bool
    wait_for_call: bool
    colour: bool
    no_init: bool
    script: bool
    _fields_ = [("size", c_size_t), ("commands", POINTER(c_char_p)),
                ("files", POINTER(c_char_p)),
                ("breakpoints", POINTER(c_char_p)),
                ("ncommands", c_size_t), ("nfiles", c_size_t),
                ("nbreakpoints", c_size_t), ("json", c_bool),
                ("stop_at_start", c_bool), ("stop_at_end", c_bool),
                ("wait_for_call", c_bool), ("colour", c_bool),
                ("no_init", c_bool), ("script", c_bool)]

    def __init__(self, **fields: Any) -> None:
        super().__init__(size=ctypes.sizeof(ConsoleOptions), **fields)


class GdbserverOptions(Structure):
    """tk_gdbserver_options; ``size`` is filled by the constructor."""
    size: int
    address: bytes | None
    listen_anywhere: bool
    once: bool
    multi: bool
    script: bool
    restarts: bool
    replaceable: int
    port_file: bytes | None
    write_elf: bytes | None
    machine: bytes | None
    say: Any
    ud: int | None
    _fields_ = [("size", c_size_t), ("address", c_char_p),
                ("listen_anywhere", c_bool), ("once", c_bool),
                ("multi", c_bool), ("script", c_bool), ("restarts", c_bool),
                ("replaceable", c_int),
                ("port_file", c_char_p),
                ("write_elf", c_char_p), ("machine", c_char_p),
                ("say", SayFn), ("ud", c_void_p)]

    def __init__(self, **fields: Any) -> None:
        super().__init__(size=ctypes.sizeof(GdbserverOptions), **fields)


class DapOptions(Structure):
    """tk_dap_options; ``size`` is filled by the constructor."""
    size: int
    address: bytes | None
    listen_anywhere: bool
    script: bool
    port_file: bytes | None
    say: Any
    ud: int | None
    _fields_ = [("size", c_size_t), ("address", c_char_p),
                ("listen_anywhere", c_bool), ("script", c_bool),
                ("port_file", c_char_p), ("say", SayFn), ("ud", c_void_p)]

    def __init__(self, **fields: Any) -> None:
        super().__init__(size=ctypes.sizeof(DapOptions), **fields)


class Host(Structure):
    """tk_host: the callbacks that look names up in the host program."""
    ud: int | None
    global_: Any
    attr: Any
    call: Any
    _fields_ = [("ud", c_void_p), ("global_", GlobalFn), ("attr", AttrFn),
                ("call", CallFn)]


_P = c_void_p  # an opaque object
_S = c_char_p
_OUT = POINTER(c_void_p)

# name: (result, argument types), in the header's order
PROTOTYPES = {
    "tk_version": (_S, []),
    "tk_option_at": (POINTER(Option), [c_size_t]),
    "tk_option_pair_at": (c_bool, [c_size_t, POINTER(OptionPair)]),
    "tk_session_new": (_P, []),
    "tk_session_new_with": (_P, [_P, _P]),
    "tk_session_free": (None, [_P]),
    "tk_session_output": (None, [_P, OutputFn, _P]),
    "tk_session_compiler": (None, [_P, CompilerFn, _P]),
    "tk_session_triton_version": (c_int, [_P, _S]),
    "tk_triton_meaning": (_S, [_S]),
    "tk_triton_change": (_S, [c_size_t, POINTER(c_char_p)]),
    "tk_triton_version_at": (_S, [c_size_t]),
    "tk_triton_added": (_S, [c_size_t, POINTER(c_char_p)]),
    "tk_triton_removed": (_S, [c_size_t, POINTER(c_char_p),
                               POINTER(c_char_p)]),
    "tk_interrupt": (None, [_P]),
    "tk_session_attend": (None, [_P, AttendFn, _P]),
    "tk_report": (_S, [_P, c_bool]),
    "tk_report_unshown": (_S, [_P, c_bool]),
    "tk_report_json": (_S, [_P]),
    "tk_report_json_lines": (_S, [_P]),
    "tk_report_count": (c_size_t, [_P]),
    "tk_report_clear": (None, [_P]),
    "tk_dtype_name": (_S, [c_int]),
    "tk_dtype_size": (c_size_t, [c_int]),
    "tk_dtype_from_name": (c_int, [_S]),
    "tk_module_open": (c_int, [_P, _S, _S, c_size_t, _OUT]),
    "tk_module_open_file": (c_int, [_P, _S, _OUT]),
    "tk_module_kernel_name": (_S, [_P, c_size_t]),
    "tk_function_named": (c_int, [_P, _S, _OUT]),
    "tk_function_at": (c_int, [_P, _S, c_int, _OUT]),
    "tk_function_remark": (c_int, [_P, c_char_p]),
    "tk_function_host": (None, [_P, POINTER(Host), _P]),
    "tk_function_name": (_S, [_P]),
    "tk_function_param_count": (c_size_t, [_P]),
    "tk_function_param_name": (_S, [_P, c_size_t]),
    "tk_function_param_is_constexpr": (c_bool, [_P, c_size_t]),
    "tk_function_param_has_default": (c_bool, [_P, c_size_t]),
    "tk_launch_new": (c_int, [_P, _P, _OUT]),
    "tk_launch_free": (None, [_P]),
    "tk_launch_grid": (c_int, [_P, c_int64, c_int64, c_int64]),
    "tk_launch_compile_option": (c_int, [_P, _S, _S]),
    "tk_launch_option_at": (POINTER(LaunchOptionInfo), [c_size_t]),
    "tk_launch_option": (c_int, [_P, _S, c_int64]),
    "tk_launch_option_text": (c_int, [_P, _S]),
    # tensors are given by address: launches pack them by hand
    "tk_launch_tensor": (c_int, [_P, _S, _P]),
    "tk_launch_value": (c_int, [_P, _S, _P]),
    "tk_launch_scalar": (c_int, [_P, _S, c_int, c_uint64]),
    "tk_launch_no_specialize": (c_int, [_P, _S]),
    "tk_launch_arg_text": (c_int, [_P, _S]),
    "tk_launch_grid_text": (c_int, [_P, _S]),
    "tk_launch_extra": (c_int, [_P, _S, _P]),
    "tk_launch_get_tensor": (POINTER(Tensor), [_P, _S]),
    "tk_launch_expect": (c_int, [_P, _S, c_double, c_double]),
    "tk_launch_got": (c_int, [_P, _S]),
    "tk_launch_expect_tensor": (c_int, [_P, _S, POINTER(Tensor), c_double,
                                        c_double]),
    "tk_tensor_save": (c_int, [_P, POINTER(Tensor), c_char_p]),
    "tk_launch_save": (c_int, [_P, _S, _S]),
    "tk_launch_print": (c_int, [_P, _S]),
    "tk_launch_record": (c_int, [_P, _S]),
    "tk_launch_take_form": (c_int, [_P, _P]),
    "tk_launch_replay": (c_int, [_P, _S, _OUT]),
    "tk_recording_open": (c_int, [_P, _S, _OUT]),
    "tk_recording_replay": (c_int, [_P, _P, POINTER(Edit), c_size_t, _OUT]),
    "tk_launch_run": (c_int, [_P, POINTER(RunOptions), POINTER(Summary)]),
    "tk_launch_merge": (c_int, [_P, POINTER(_S), c_size_t, _OUT]),
    "tk_engine_name": (_S, [c_size_t]),
    "tk_engine_doc": (_S, [c_size_t]),
    "tk_engine_available": (c_bool, [c_size_t, POINTER(c_char_p)]),
    "tk_session_check": (c_int, [_P, _S, POINTER(CheckOptions)]),
    "tk_check_name": (_S, [c_size_t]),
    "tk_check_doc": (_S, [c_size_t]),
    "tk_check_is_on": (c_bool, [_P, _S]),
    "tk_check_is_list": (c_bool, [_S]),
    "tk_check_findings": (c_size_t, [_P]),
    "tk_check_kept_going": (c_size_t, [_P, c_bool]),
    "tk_check_suppressions": (_S, [_P]),
    "tk_launch_compile": (c_int, [_P]),
    "tk_launch_ir": (_S, [_P]),
    "tk_launch_emit": (c_int, [_P, POINTER(EmitOptions), POINTER(_S)]),
    "tk_launch_prove": (c_int, [_P, POINTER(ProveOptions), _OUT]),
    "tk_duty_name": (_S, [c_int]),
    "tk_duty_doc": (_S, [c_int]),
    "tk_prove_available": (c_bool, []),
    "tk_proof_text": (_S, [_P, _P]),
    "tk_proof_json": (_S, [_P, _P]),
    "tk_proof_junit": (c_int, [_P, _P, _S]),
    "tk_proof_worst": (c_int, [_P]),
    "tk_verdict_status": (c_int, [c_int]),
    "tk_cache_look": (c_bool, [POINTER(CacheSummary), c_bool]),
    "tk_layout_draw": (c_int, [_P, _S, POINTER(c_int64), c_int,
                               POINTER(_S)]),
    "tk_ptxas_path": (c_bool, [_P, c_size_t]),
    "tk_arch_name": (_S, [c_size_t]),
    "tk_stage_name": (_S, [c_size_t]),
    "tk_stage_doc": (_S, [c_size_t]),
    "tk_pass_name": (_S, [c_size_t]),
    "tk_pass_doc": (_S, [c_size_t]),
    "tk_launch_resources": (None, [_P, c_int, POINTER(c_size_t),
                                   POINTER(c_int), POINTER(c_int)]),
    "tk_launch_scratch": (c_size_t, [_P, c_int]),
    "tk_ir_open": (c_int, [_P, _S, _S, c_size_t, _OUT]),
    "tk_ptx_open": (c_int, [_P, _P, _OUT]),
    "tk_builtin_name": (_S, [c_size_t]),
    "tk_expression_name": (_S, [c_size_t]),
    "tk_builtin_signature": (_S, [c_size_t]),
    "tk_builtin_doc": (_S, [c_size_t]),
    "tk_pids_check": (c_int, [_P, _S]),
    "tk_elements_check": (c_int, [_P, _S, _S]),
    "tk_debugger_new": (c_int, [_P, _P, _OUT]),
    "tk_debugger_command": (c_bool, [_P, _S]),
    "tk_debugger_has_quit": (c_bool, [_P]),
    "tk_debugger_end": (c_size_t, [_P]),
    "tk_debugger_is_active": (c_bool, [_P]),
    "tk_debugger_ignore": (None, [_P, c_bool]),
    "tk_debugger_complete": (_S, [_P, _S, c_size_t]),
    "tk_debugger_command_name": (_S, [c_size_t]),
    "tk_debugger_command_help": (_S, [c_size_t]),
    "tk_debugger_go_back": (c_int, [_P]),
    "tk_debugger_raised": (c_int, [_P, c_char_p]),
    "tk_console_new": (c_int, [_P, POINTER(ConsoleOptions), _OUT]),
    # profile.h
    "tk_profile_new": (c_int, [_P, _OUT]),
    "tk_profile_ignore": (None, [_P, c_bool]),
    "tk_profile_read": (c_int, [_P, _OUT]),
    "tk_profile_intensity": (c_double, [_P]),
    "tk_profile_reached": (c_double, [_P, _P]),
    "tk_profile_text": (c_int, [_P, c_bool, POINTER(c_char_p)]),
    "tk_profile_json": (c_int, [_P, POINTER(c_char_p)]),
    "tk_profile_html": (c_int, [_P, POINTER(c_char_p)]),
    "tk_profile_save": (c_int, [_P, _S]),
    # view.h
    "tk_view_new": (c_int, [_P, c_size_t, _OUT]),
    "tk_view_free": (None, [_P]),
    "tk_view_expect_many": (None, [_P]),
    "tk_view_ignore": (None, [_P, c_bool]),
    "tk_view_launches": (c_size_t, [_P]),
    "tk_view_json": (c_int, [_P, POINTER(c_char_p)]),
    "tk_view_triton": (None, [_P, c_bool]),
    "tk_view_keep": (None, [_P, c_uint64]),
    "tk_view_add": (c_int, [_P, _S, _S]),
    "tk_view_html": (c_int, [_P, POINTER(c_char_p)]),
    "tk_view_save": (c_int, [_P, _S]),
    "tk_view_show": (None, [_S]),
    # gdbserver.h
    "tk_gdbserver_new": (c_int, [_P, POINTER(GdbserverOptions), _OUT]),
    "tk_gdbserver_over": (c_int, [_P, POINTER(GdbserverOptions), _OUT]),
    "tk_gdbserver_lend": (c_int, [_P, c_char_p]),
    "tk_gdbserver_debugger": (_P, [_P]),
    "tk_gdbserver_end": (None, [_P, c_int]),
    # dap.h
    "tk_dap_listen": (c_int, [_P, POINTER(DapOptions), _OUT]),
    "tk_dap_accept": (c_bool, [_P]),
    "tk_dap_drop": (None, [_P]),
    "tk_dap_greet": (c_bool, [_P, POINTER(POINTER(_S)), POINTER(c_size_t)]),
    "tk_dap_handed": (_S, [_P]),
    "tk_dap_refuse": (None, [_P, _S]),
    "tk_dap_folder": (_S, [_P]),
    "tk_dap_variable": (_S, [_P, c_size_t, POINTER(_S)]),
    "tk_dap_new": (c_int, [_P, POINTER(DapOptions), _OUT]),
    "tk_dap_configure": (c_int, [_P]),
    "tk_dap_wait": (c_bool, [_P]),
    "tk_dap_attend": (c_bool, [_P]),
    "tk_dap_end": (None, [_P, c_int]),
    "tk_dap_debugger": (_P, [_P]),
    "tk_dap_request": (_S, [c_size_t]),
    "tk_dap_request_doc": (_S, [c_size_t]),
    "tk_dap_attribute": (_S, [c_size_t]),
    "tk_dap_attribute_type": (_S, [c_size_t]),
    "tk_dap_attribute_doc": (_S, [c_size_t]),
}


def candidates() -> list[str]:
    """Paths where the library may lie, in the order they are tried."""
    named = os.environ.get("TKDBG_LIBRARY")
    if named:
        return [named]
    package = os.path.dirname(os.path.abspath(__file__))
    python = os.path.dirname(package)
    folders = [
        package,                                            # beside us
        os.path.join(python, "..", "build"),                # working tree
        os.path.join(python, "..", ".."),                   # PREFIX/lib
    ]
    return [os.path.normpath(os.path.join(f, name)) for f in folders
            for name in ("libtkdbg.so", "libtkdbg.dylib")]


def _open():
    tried = candidates()
    for path in tried:
        if os.path.exists(path):
            return ctypes.CDLL(path), path
    raise ImportError(
        "tkdbg: libtkdbg.so was not found; tried " + ", ".join(tried) +
        " (set TKDBG_LIBRARY to its path)")


def bind(lib: Any, prototypes: dict[str, Any]) -> Any:
    """Gives functions of a loaded library their prototypes."""
    for name, (result, args) in prototypes.items():
        function = getattr(lib, name)
        function.restype, function.argtypes = result, args
    return lib


def load() -> Any:
    """The library, opened and bound; raises ImportError for one of another
    version than this package."""
    lib, path = _open()
    try:
        bind(lib, PROTOTYPES)
    except AttributeError as e:
        raise ImportError(f"tkdbg: {path} lacks a function: {e}") from e
    found = text(lib.tk_version())
    if found != VERSION:
        raise ImportError(f"tkdbg: {path} is version {found}, this package "
                          f"is {VERSION}")
    return lib


def listed(at: Any) -> list[str]:
    """What at(0), at(1), ... give as text, up to the first NULL."""
    found: list[str] = []
    while True:
        item = at(len(found))
        if not item:
            return found
        found.append(item.decode())


@functools.cache
def launch_options(lib: Any) -> list[tuple[str, int]]:
    """(name, largest value) of each launch option that the library keeps."""
    rows = itertools.takewhile(bool, map(lib.tk_launch_option_at,
                                         itertools.count()))
    return [(row[0].name.decode(), row[0].most) for row in rows]


def text(data: Any, size: int | None = None) -> str:
    """Decodes bytes, a char pointer's value or address + size."""
    if data is None:
        return ""
    if size is not None:
        data = ctypes.string_at(data, size) if size else b""
    return data.decode("utf-8", "replace")


def output_is_lost() -> bool:
    """Whether what the library has written to standard output cannot be: a
    debugger writes there by itself."""
    libc = ctypes.CDLL(None)
    try:
        stdout = c_void_p.in_dll(libc, "stdout")
    except ValueError:  # this C library calls it otherwise
        return False
    return bool(libc.fflush(stdout) or libc.ferror(stdout))
