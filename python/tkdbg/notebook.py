"""``%load_ext tkdbg``: kernels of a notebook, or of IPython, under tkdbg.

A cell is a source like a file: it is called In[3] in reports, and its lines
count from its first one, magic or not.  Reports are shown below the cell
whose launch they are about, in place of Python's warnings and of a traceback
through our own frames.
"""
from __future__ import annotations

import ast
import contextlib
import html
import io
import os
import re
import shlex
import sys
from typing import TYPE_CHECKING, Any

from . import __main__ as main
from . import (errors, excepthook, parsing, pictures, setup, source,
               viewpage, why)
from . import session as session_

if TYPE_CHECKING:
    from .session import Session

HELP = """%tkdbg [OPTIONS]     sets options for the cells that follow
%%tkdbg [OPTIONS]    runs a cell with its kernels under all detectors, or
                     with the options that are given, only for this cell

The options are those of 'tkdbg run' for scripts; also
  --access LINE      draws which elements line LINE of the cell touches
  --view             with %%tkdbg: shows the page of 'tkdbg view'; with
                     --page-size MEGABYTES
  --off              with %tkdbg: resets all options
"""

PICTURES = 8  # shown of a cell

_CHECK_OPTIONS = {"check", "limit", "suppressions", "assume_written",
                  "stop_on_finding", "keep_going"}

_BEFORE = ("it is read when the extension is loaded: set it in TKDBG_OPTIONS "
           "before that")
_DEBUGGER = ("a notebook has no terminal for a debugger; 'tkdbg debug' "
             "runs a script under one")
_SCRIPT = "it applies to a whole script: 'tkdbg {0} SCRIPT' has it"

# Options that magics refuse, and why.
REFUSED = {
    **dict.fromkeys(("triton", "triton_version", "virtual_cuda"), _BEFORE),
    **dict.fromkeys(("debug", "breakpoints", "commands", "command_files",
                     "no_init", "listen", "stdio", "listen_anywhere",
                     "port_file", "machine", "write_elf", "once", "multi",
                     "dap"), _DEBUGGER),
    **dict.fromkeys(("shard", "stores", "error_exitcode",
                     "gen_suppressions", "json", "sizes"),
                    _SCRIPT.format("run")),
    "why": _SCRIPT.format("why"), "profile": _SCRIPT.format("profile"),
    "open": _SCRIPT.format("view"),
    "html": _SCRIPT.format("profile")}


# what IPython asks of an exception
_RENDER = "_render_traceback_"


def load(shell: Any) -> None:
    """load_ipython_extension"""
    setup.install({"why": True})
    notebook = session_.current().part(Notebook)
    notebook.shell = shell
    notebook.session.reports.listen(notebook.hear)
    notebook.use_colour()
    setattr(errors.KernelError, _RENDER, _render)
    shell.register_magic_function(notebook.magic, "line_cell", "tkdbg")
    notebook.record()
    for event, call in notebook.events().items():
        shell.events.register(event, call)


def unload(shell: Any) -> None:
    """unload_ipython_extension"""
    session = session_.current()
    session.reports.listen(None)
    notebook = session.part(Notebook)
    notebook.forget()
    for event, call in notebook.events().items():
        with contextlib.suppress(ValueError):  # it was reset
            shell.events.unregister(event, call)
    delattr(errors.KernelError, _RENDER)
    for kind in "line", "cell":
        shell.magics_manager.magics[kind].pop("tkdbg", None)
    setup.uninstall()


class Notebook:
    """What the magics keep: the shell, and what a cell asked for."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.shell: Any = None
        self.shown = 0
        self.why: why.Why | None = None

    def use_colour(self) -> None:
        """Notebooks show colours, whatever stdout is."""
        if hasattr(self.shell, "kernel"):
            self.session.options.update({"color": "always"})
        elif getattr(self.shell, "colors", "") == "NoColor":
            self.session.options.update({"color": "never"})

    # ---- why an assertion has failed -------------------------------------

    def events(self) -> dict[str, Any]:
        """What IPython calls before and after each cell."""
        return {"pre_run_cell": self._cell_begins,
                "post_run_cell": self._cell_ended}

    def record(self) -> None:
        """Keeps the launches from here on: a later cell may compare what they
        wrote."""
        comparisons = self.session.setup.comparisons
        if comparisons is not None:
            self.why = why.Why(self.session, comparisons, True,
                               most_bytes=why.MOST_BYTES_CHECKED)

    def forget(self) -> None:
        """Launches are no longer kept."""
        if self.why is not None:
            self.why.close()
            self.why = None

    def _cell_begins(self, _info=None):
        if self.why is not None:
            self.why.comparisons.forget()

    def _cell_ended(self, result):
        """Shows why the comparison failed that has ended a cell."""
        error, asked = result.error_in_exec, self.why
        if asked is None or not isinstance(error, AssertionError):
            return
        with self.session.lock:
            lines = asked.about(error, None)
        self.record()
        if lines:
            _display(Report("\n".join(lines)))

    # ---- the magics ------------------------------------------------------

    def magic(self, line: str, cell: str | None = None) -> Any:
        """The magics %tkdbg and %%tkdbg."""
        from IPython.core.error import UsageError
        __tracebackhide__ = True
        try:
            values, access, off = self._parse(line)
            _check_view(values, cell)
            if cell is None:
                if off:
                    self._reset()
                self._set(values, given=not off)
                self._begin()
                if not line.strip():
                    print(HELP, end="")
                return None
            values = values or ({} if access else {"check": "all"})
            before = self._values(values)
            self._set(values, given=True)
        except errors.UsageError as e:
            raise UsageError(str(e).split("\nusage:")[0]) from None
        try:
            return self._run(cell, access)
        finally:
            self._set(before)

    def _parse(self, line):
        """(options, line of --access, whether --off)"""
        try:
            words, access, off = shlex.split(line), None, False
        except ValueError as e:
            raise errors.UsageError(f"tkdbg: {line}: {e}") from None
        if "--off" in words:
            words.remove("--off")
            off = True
        if "--access" in words:
            at = words.index("--access")
            number = words[at + 1:at + 2]
            if not number or not number[0].isdigit() or number == ["0"]:
                raise errors.UsageError(
                    "tkdbg: --access needs the number of a line of the cell")
            access = int(number[0])
            del words[at:at + 2]
        values, kind, target, _ = main.parse([*words, "-"])
        for key in values:
            if key in REFUSED:
                name = self.session.options.name_of(key)
                raise errors.UsageError(
                    f"tkdbg: --{name} has no effect in a cell: {REFUSED[key]}")
        if (kind, target) != ("file", "-"):
            raise errors.UsageError(
                f"tkdbg: a cell needs no script: {target}\n{HELP}")
        return values, access, off

    def _set(self, values, given=False):
        """Sets options; none of them, if one cannot be.  given: somebody has
        written them, so that each must have an effect."""
        session = self.session
        before = self._values(values)
        with session.lock:
            session.open()  # with the options before
            try:
                session.options.update(values)
                if given:
                    session.options.check_needs(values)
                main.check(session)
                if values.keys() & _CHECK_OPTIONS:
                    session.reports.use_checks()
            except errors.UsageError:
                session.options.update(before)
                session.reports.use_checks()
                raise

    def _values(self, names):
        return {name: getattr(self.session.options, name) for name in names}

    def _reset(self):
        options = self.session.options
        self._set(dict.fromkeys(options.names()))
        self.use_colour()

    def _run(self, cell, access):
        """Runs a cell; its last expression is the cell's value."""
        __tracebackhide__ = True
        session, names = self.session, self.shell.user_ns
        code, last = self._compile(cell)
        self._begin()
        session.runs.look_at(access or 0,
                             self._show_pictures if access else None)
        try:
            with self._viewed():
                exec(code, names)
                value = eval(last, names) if last else None
            for line in session.requests.unmet():
                print(f"tkdbg: {line}", file=sys.stderr)
            if access and not self.shown:
                print(f"tkdbg: no kernel of this cell loads or stores in line "
                      f"{access}; the line with %%tkdbg is line 1",
                      file=sys.stderr)
            return value
        finally:
            session.runs.look_at(0, None)
            session.reports.kept_going(tell=True)

    @contextlib.contextmanager
    def _viewed(self):
        """With --view, shows the page of the launches meanwhile; also where
        an exception ends the cell."""
        __tracebackhide__ = True
        session = self.session
        if not session.options.view:
            yield
            return
        with session.lock:
            recording = viewpage.Recording(session)
            recording.select()
        try:
            yield
        finally:
            with session.lock:
                try:
                    page = recording.page()
                finally:
                    recording.close()
            if page is None:
                print("tkdbg: --view: no kernel was launched in this cell: "
                      "there is nothing to show", file=sys.stderr)
            else:
                _display(page)

    def _begin(self):
        """A cell's launches are counted, recorded and printed anew."""
        self.shown = 0
        self.session.runs.begin_again()

    def _compile(self, cell):
        """(code, code of the expression at its end or None)"""
        shell = self.shell
        text = "\n" + shell.transform_cell(cell)  # the magic's own line
        number = len(shell.history_manager.input_hist_parsed) - 1
        name = shell.compile.cache(text, number)
        parsing.check(text, name)
        tree = shell.transform_ast(shell.compile.ast_parse(text, name))
        last = None
        if tree.body and isinstance(tree.body[-1], ast.Expr):
            last = compile(ast.Expression(tree.body.pop().value), name,
                           "eval")
        return compile(tree, name, "exec"), last

    # ---- what is shown ---------------------------------------------------

    def hear(self, _entries: list[dict[str, Any]], plain: str, colour: str,
             raised: bool) -> None:
        """Shows a report, unless an exception brings it."""
        if raised:
            return
        coloured = self.session.options.color == "always"
        _display(Report(colour if coloured else plain))

    def _show_pictures(self, launch):
        for picture in pictures.of(self.session.lib, launch):
            self.shown += 1
            if self.shown > PICTURES:
                return
            _display(picture)


def _check_view(values, cell):
    if "view" in values and cell is None:
        raise errors.UsageError(
            "tkdbg: --view shows the launches of one cell: write %%tkdbg "
            "--view in its first line")
    if "page_size" in values and "view" not in values:
        raise errors.UsageError("tkdbg: --page-size needs --view")


def _display(what):
    from IPython.display import display
    display(what)


def _render(error):
    """What IPython shows of a KernelError: a list of lines."""
    import IPython
    theirs = os.path.dirname(IPython.__file__)
    error.__traceback__ = excepthook.strip(
        error.__traceback__, lambda name: name.startswith(theirs))
    out = io.StringIO()
    excepthook.show(error, out)
    text = re.sub(r'File "(.*)", (line \d+)', _cell_line, out.getvalue())
    return text.rstrip("\n").split("\n")


def _cell_line(match):
    cell = source.cell(match.group(1))
    return f"Cell {cell}, {match.group(2)}" if cell else match.group(0)


# ---- reports -----------------------------------------------------------------

_SGR = {"1": "font-weight:bold", "2": "opacity:.6", "31": "color:#c62828",
        "32": "color:#2e7d32", "35": "color:#ad1457", "36": "color:#00838f"}


class Report:
    """A text, perhaps with the colours of a terminal."""

    def __init__(self, text: str) -> None:
        self.text = text.rstrip("\n")

    def _repr_pretty_(self, printer, _cycle):
        printer.text(self.text)

    def _repr_html_(self):
        parts, opened = [], 0
        for piece in re.split(r"(\x1b\[[0-9;]*m)", self.text):
            if not piece.startswith("\x1b"):
                parts.append(html.escape(piece))
                continue
            parts.append("</span>" * opened)
            styles = [_SGR[c] for c in piece[2:-1].split(";") if c in _SGR]
            opened = 1 if styles else 0
            if styles:
                parts.append(f'<span style="{";".join(styles)}">')
        parts.append("</span>" * opened)
        return f"<pre>{''.join(parts)}</pre>"
