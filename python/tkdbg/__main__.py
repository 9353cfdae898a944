"""``python3 -m tkdbg run [options] FILE.py [ARGS]``: a script under tkdbg.

Also ``-m MODULE [ARGS]`` and ``-c CODE [ARGS]`` in place of FILE.py, and
``-``, standard input.  Options
come from TKDBG_OPTIONS, which ``tkdbg run`` sets, and from the command line:
those that ``tkdbg run`` has for scripts.

Exit status: the script's own; 1 when a finding or another exception is
uncaught, and where the script says 0 although detectors have found something
or autotuned configurations disagree; 2 for bad usage, and where the script says
0 but what an option asks for never came; 3 for a fault of tkdbg; 130 after
Ctrl-C.
"""
from __future__ import annotations

import os
import runpy
import sys
import time
from typing import TYPE_CHECKING, Any

from . import (_capi, dapserver, errors, excepthook, findings, gdbserver,
               interrupt, othersizes, othertries, parsing, profile, progress,
               reruns, settings, setup, source, tuned, viewpage, why)
from . import session as session_

if TYPE_CHECKING:
    import collections
    from .session import Session
    from .settings import Option

USAGE = ("usage: python3 -m tkdbg run [options] FILE.py [ARGS]\n"
         "       python3 -m tkdbg run [options] -m MODULE [ARGS]\n"
         "       python3 -m tkdbg run [options] -c CODE [ARGS]\n")


def parse(argv: list[str]) -> tuple[dict[str, Any], str, str, list[str]]:
    """(options, kind, target, args): kind is "file", "-m" or "-c".

    Raises UsageError.
    """
    args, lib = list(argv), _capi.load()
    values: dict[str, Any] = {}
    known = spellings(settings.table(lib))
    if args[:1] == ["run"]:
        args.pop(0)
    while args and args[0].startswith("-") and args[0] not in ("-m", "-c",
                                                               "-"):
        name, equals, text = args.pop(0).partition("=")
        value: Any = text
        option = known.get(name)
        if option is None:
            raise errors.UsageError(f"tkdbg: unknown option {name}\n{USAGE}")
        if not equals:
            value = _implied(option, lib, args)
            if value is None and not args:
                raise errors.UsageError(f"tkdbg: {name} needs a value")
            value = args.pop(0) if value is None else value
        elif option.kind == _capi.OPTION_FLAG:
            raise errors.UsageError(f"tkdbg: {name} takes no value")
        if option.kind == _capi.OPTION_LIST:
            value = [*values.get(option.key, ()), value]
        values[option.key] = option.checked(value)
    if not args:
        raise errors.UsageError(f"tkdbg: no script given\n{USAGE}")
    kind = args.pop(0) if args[0] in ("-m", "-c") else "file"
    if not args:
        raise errors.UsageError(f"tkdbg: {kind} needs a value\n{USAGE}")
    return values, kind, args[0], args[1:]


def spellings(table: dict[str, Option]) -> dict[str, Option]:
    """{"--name" or "-n": Option}"""
    return {**{f"--{o.name}": o for o in table.values()},
            **{f"-{o.letter}": o for o in table.values() if o.letter}}


def _implied(option, lib, args):
    """What an option without "=value" stands for; None: the next word."""
    if option.kind == _capi.OPTION_FLAG:
        return option.when_given
    if option.kind != _capi.OPTION_OPTIONAL:
        return None
    listed = args and lib.tk_check_is_list(args[0].encode())
    return None if listed else "all"


def check(session: Session) -> None:
    """Reports bad program conditions and elements, and options that need
    others, before the script starts."""
    o = session.options
    o.check_needs()
    if o.sizes is not None:
        othersizes.each(o.sizes)
    if o.table:
        session.runs.table.begin()
    if o.pids is not None:
        session.check(session.lib.tk_pids_check(session.ptr, o.pids.encode()))
    for name in "blame", "explain":
        session.check(session.lib.tk_elements_check(
            session.ptr, f"--{name}".encode(),
            "".join(f"{e}\n" for e in getattr(o, name)).encode()))


# ---- running ----------------------------------------------------------------


def execute(kind: str, target: str, args: list[str]) -> None:
    """Runs the script as Python would: sys.argv, sys.path, __main__."""
    folder = os.getcwd()
    if sys.path and sys.path[0] in ("", folder):
        sys.path.pop(0)
    if kind == "file" and target == "-":
        sys.path.insert(0, "")
        sys.argv = ["-", *args]
        _run_text(sys.stdin.buffer.read(), "<stdin>", None)
    elif kind == "file":
        sys.argv = [target, *args]
        _run_file(target)
    elif kind == "-m":
        sys.path.insert(0, folder)
        sys.argv = [target, *args]
        runpy.run_module(target, run_name="__main__", alter_sys=True)
    else:
        sys.path.insert(0, "")
        sys.argv = ["-c", *args]
        _run_text(target, "<string>", None)


def _run_file(path):
    if not os.path.exists(path):
        raise errors.UsageError(f"tkdbg: no such file: {path}")
    if os.path.isdir(path) or path.endswith((".pyz", ".zip")):
        sys.path.insert(0, path)
        runpy.run_path(path, run_name="__main__")
        return
    sys.path.insert(0, os.path.dirname(os.path.abspath(path)))
    with open(path, "rb") as f:
        text = f.read()
    source.check_encoding(path, text)
    _run_text(text, path, path)


def _run_text(text, name, path):
    """Executes source text in a fresh __main__ module."""
    import builtins
    import types
    code = parsing.code(text, name)
    module = types.ModuleType("__main__")
    vars(module)["__builtins__"] = builtins
    if path is not None:
        module.__file__ = path
    sys.modules["__main__"] = module
    if path is None:
        source.keep_lines(name, text if isinstance(text, str) else
                          text.decode("utf-8", "replace"))
    exec(code, module.__dict__)


def flush(session: Session | None = None) -> None:
    """Empties stdout; a closed pipe is not an error of the script.  What else
    keeps it from being written is said, and is session's."""
    problem = None
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        return
    except OSError as e:
        problem = e.strerror
    except ValueError:  # it is closed
        pass
    if session is None or session.script.is_mute or not (
            problem or _capi.output_is_lost()):
        return
    session.script.lose_output()
    sys.stderr.write("tkdbg: cannot write to standard output"
                     + (f": {problem}\n" if problem else "\n"))
    sys.stdout = open(os.devnull, "w")  # Python would fail with it again


def run(argv: list[str]) -> int:
    """Runs a command line; returns the exit status."""
    try:
        status = _run(argv)
    except SystemExit as e:
        status = _found() or (e.code in (None, 0) and (_wrong() or _unmet()))
        if not status:
            raise
        raise SystemExit(status) from None
    return _found() or status or _unmet()


def _unmet():
    """The exit status of a script that went well, if something that an option
    asks for never came; 0."""
    session = session_.existing()
    if session and session.script.is_unmet:
        return 2
    return session.runs.verdict if session else 0


def _found():
    """The exit status that --error-exitcode asks for, if a bug was found."""
    session = session_.existing()
    if session is None:
        return None
    code = session.options.error_exitcode
    return code if code and (session.reports.findings() or
                             session.reports.raised or
                             session.script.fails_elsewhere) else None


def _serve(session):
    """Waits for gdb's or an editor's client, if one is to debug the script;
    the terminal is for one process alone."""
    served = gdbserver.wanted(session.options) or dapserver.wanted(
        session.options)
    if served:
        assert session.ptr  # gdb is listened for before the script prints
        session.debugging.server.begin()
    if not (session.options.debug or served):
        os.environ["TKDBG"] = "1"  # Pythons that the script starts


def _show_raised(e):
    """Shows what the script raised, by its own hook if it has set one."""
    if _custom_hook() and not isinstance(e, errors.KernelError):
        tb = excepthook.strip(e.__traceback__)
        sys.excepthook(type(e), e.with_traceback(tb), tb)
    else:
        excepthook.show(e)
    excepthook.note_shown(e)


def _run(argv):
    values, kind, target, args = parse(argv)
    session = session_.current()
    session.watch.end_process()
    session.script.begin(len(args))
    asks_again = (values.get("sizes", session.options.sizes) is not None or
                  session.options.tries is not None)
    if asks_again and session.options.check is None:
        values.setdefault("check", "all")
    setup.install(values)
    if asks_again:
        session.reports.use_checks()
    check(session)
    if session.options.json:
        session.json.keep_stream()
    session.requests.share()
    again = _again(kind, target)
    asked = why.Why(session, session.setup.comparisons, script=again) if (
        session.setup.comparisons) else None
    profiled = profile.Profile(session) if session.options.profile else None
    viewed = viewpage.View(session) if session.options.view else None
    interrupt.by_python()
    _serve(session)
    clean = asked.close if asked else lambda: None
    try:
        failed = _outcome(kind, target, args)
        with interrupt.ending(clean):
            _show_end(session, failed)
        if _has_failed(session, failed):
            session.debugging.raised(failed)
        _tell(session, failed, asked, profiled or viewed,
              _words(session, kind, target, args))
        if session.options.sizes is not None and _is_complete(failed):
            say_unmet(session, othersizes.tell(session, again()))
        if session.options.tries is not None and _is_complete(failed):
            say_unmet(session, othertries.tell(session, again()))
    except KeyboardInterrupt:  # it came between two of these
        interrupt.by_default()
        clean()
        return interrupt.STATUS
    if isinstance(failed, KeyboardInterrupt):
        interrupt.by_default()
        return interrupt.STATUS
    if not _is_complete(failed):
        if isinstance(failed, SystemExit):
            raise failed
        return status_of(failed)
    return _wrong()


def _again(kind, target):
    """A function that gives the script as one that may run again, or None."""
    began = time.process_time()

    def script():
        if kind != "file" or not target.endswith(".py"):
            return None
        return reruns.script(target, lambda text: _run_text(
            text, target, target), time.process_time() - began)
    return script


def _wrong() -> int:
    """The exit status of a script that got to its end: 1 if something was
    found; 0."""
    session = session_.existing()
    if session is None:
        return 0
    caught = session.options.check and any(session.reports.raised.values())
    return 1 if (session.runs.disagreements or caught or
                 session.script.fails_elsewhere or
                 session.reports.findings()) else 0


def _outcome(kind, target, args):
    """Runs the script; what has ended it, or None."""
    try:
        interrupt.called(execute, kind, target, args)
    except BaseException as e:
        return e
    return None


def _is_complete(failed):
    """Whether the script got to its end, or to one that it calls good."""
    return failed is None or (isinstance(failed, SystemExit) and
                              failed.code in (None, 0))


def _has_failed(session, failed):
    """Whether a debugger may now go back into launches."""
    if isinstance(failed, SystemExit):  # a test runner may have told of it
        return not (_is_complete(failed) or session.script.has_failed)
    return failed is not None and not isinstance(failed, KeyboardInterrupt)


def _show_end(session, failed):
    """Shows what has ended the script, if it is an exception."""
    if isinstance(failed, SystemExit):
        if _has_failed(session, failed):
            flush()
    elif isinstance(failed, KeyboardInterrupt):
        session.watch.leave()
        flush()
        excepthook.show(failed)
    elif failed is not None:
        flush()
        _show_raised(failed)


def _tell(session, failed, asked, profiled, command):
    """What is said once the script has ended; with ``why`` the debugger may
    begin."""
    complete = _is_complete(failed)
    if isinstance(failed, SystemExit) and complete:
        failed = None
    stop = None
    with interrupt.ending(asked.close if asked else lambda: None) as end:
        finish(session, complete)
        if profiled is not None:
            profiled.tell(complete)
        if session.watch.ended or _has_been_interrupted(failed):
            if asked is not None:
                asked.close()
        elif asked is not None:
            stop = asked.tell(failed, sys.stderr, command, end)
        else:
            sys.stderr.write(why.hint(failed, session, command))
    if stop:
        why.debug(stop, sys.stderr, command)


def _has_been_interrupted(error: BaseException | None) -> bool:
    """Whether the script has raised this after Ctrl-C."""
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__cause__ or error.__context__
    return error is not None


def _words(session, kind, target, args):
    """The script as the command line has it, after the options without which
    it runs other kernels."""
    options = session.options.words("triton", "triton_version",
                                    "torch_compile")
    script = [target, *args] if kind == "file" else [kind, target, *args]
    return [*options, *script]


def _custom_hook():
    """Whether the script set an excepthook of its own."""
    hook = sys.excepthook
    inner = getattr(hook, "tkdbg_before", hook)
    return inner is not sys.__excepthook__


def status_of(error: BaseException) -> int:
    """The exit status of an uncaught exception."""
    if isinstance(error, errors.UsageError):
        return 2
    return 3 if isinstance(error, errors.InternalError) else 1


def finish(session: Session, complete: bool) -> None:
    """The summary line; complete: the script got to its end."""
    flush(session)
    quit = session.debugging.debugger and session.lib.tk_debugger_has_quit(
        session.debugging.debugger)
    if session.debugging.debugger:
        missing = session.lib.tk_debugger_end(session.debugging.debugger)
        if missing and session.options.breakpoints:
            session.script.miss()
        flush(session)
    session.reports.kept_going(tell=True)
    if session.options.gen_suppressions and session.reports.findings():
        alone = session.options.json and (session.runs.profile or
                                          session.runs.views or
                                          session.debugging.debugger)
        to = sys.stderr if alone else sys.stdout  # the other is JSON alone
        to.write(_capi.text(session.lib.tk_check_suppressions(session.ptr)))
        flush()
    if not session.options.json:
        sys.stderr.write(caught(session.reports.raised))
    if not session.options.is_quiet():
        sys.stderr.write("".join(
            f"tkdbg: {line}\n" for line in (
                *session.part(tuned.Tuned).lines(),
                *session.requests.remarks())))
    unmet = session.requests.unmet()
    totals = session.runs.totals
    if session.options.is_quiet():
        pass
    elif totals["launches"]:
        sys.stderr.write(progress.summary(totals, session.watch.ended or quit))
    elif complete and not unmet and (not session.debugging.debugger or
                                     session.debugging.server and not quit):
        named = session.options.kernel
        sys.stderr.write("tkdbg: no kernel was launched in this process" + (
            f"; --arg describes a launch of '{named}'\n" if named else "\n"))
    if complete and not quit:
        say_unmet(session, unmet)


def say_unmet(session: Session, lines: list[str]) -> None:
    """Says what options ask for that never came."""
    if not lines:
        return
    session.script.miss()
    if session.options.json:
        session.json.tell([findings.entry("argument", line)
                           for line in lines])
    else:
        sys.stderr.write("".join(f"tkdbg: {line}\n" for line in lines))


def caught(raised: collections.Counter[str]) -> str:
    """What is said of findings whose exceptions the script caught.

    raised: {headline: how often}"""
    lines = [f"  {line}" + (f" ({n} times)" if n > 1 else "")
             for line, n in raised.items() if n > 0]
    if not lines:
        return ""
    return "\n".join(["tkdbg: findings that the script caught:", *lines, ""])


def end_server(status: int) -> None:
    """Tells who debugs the script from outside that it has ended."""
    session = session_.existing()
    if session and session.debugging.server:
        flush()
        session.debugging.server.end(status)


def main() -> None:
    try:
        status = run(sys.argv[1:])
    except SystemExit as e:
        code = e.code if isinstance(e.code, int) else int(e.code is not None)
        end_server(code)
        raise
    except (errors.UsageError, ImportError, errors.InternalError) as e:
        sys.stderr.write(f"{str(e).rstrip()}\n")
        status = 3 if isinstance(e, errors.InternalError) else 2
    end_server(status)
    sys.exit(status)


if __name__ == "__main__":
    # one copy of this module: __main__ becomes the script's
    from tkdbg.__main__ import main as run_main
    run_main()
