"""What options ask of launches by their names, and which of it came.

``--kernel``, ``--record``, ``--explain`` and others mean launches that a script
is yet to make.  What never came is said at the end, and is the exit status, if
nothing else is.  Processes that the script starts run under tkdbg as well: they
note what came in memory that the first one has.
"""
from __future__ import annotations

import difflib
import os
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ._capi import Summary
    from .session import Session

COMPILED = "torch.compile"  # was called, on the virtual device
FILE = "TKDBG_REQUESTS"  # variable of the environment: where it is noted


class Requests:
    """Of a session."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._met: set[str] = set()
        self._file: Any = None  # where other processes note it
        self._owner: Any = None  # the process that reads this
        self.begin()

    def begin(self) -> None:
        """No launch has come."""
        self._met &= {"device", COMPILED}
        self.kernels: dict[str, int] = {}  # launches of each
        self._tensors: dict[str, None] = {}  # arguments of those meant
        self._grid = None

    # ---- what comes ------------------------------------------------------

    def share(self) -> None:
        """From here on processes that this one starts note what comes."""
        self._file = os.memfd_create("tkdbg-requests")
        self._owner = os.getpid()
        os.environ[FILE] = f"/proc/{self._owner}/fd/{self._file}"

    def note(self, what: str) -> None:
        """Something came."""
        if what in self._met:
            return
        self._met.add(what)
        path = os.environ.get(FILE)
        if path and os.getpid() != self._owner:
            try:
                with open(path, "a", encoding="utf-8") as f:
                    f.write(f"{what}\n")
            except OSError:
                pass  # whoever would read it has gone

    def remarks(self) -> list[str]:
        """What came and was done in another way than the program may
        believe."""
        if self._session.options.torch_compile == "eager" and (
                COMPILED in self._met):
            return ["torch.compile gave functions as they are; with "
                    "--torch-compile inductor the kernels that it writes run"]
        return []

    def launched(self, kernel: str, selected: bool) -> None:
        """A launch begins; selected: options mean it."""
        if kernel not in self.kernels:
            self.kernels[kernel] = 0
            self.note(f"kernel {kernel}")
        self.kernels[kernel] += 1
        if selected and "launch" not in self._met:
            self.note("launch")

    def ran(self, launch: int, summary: Summary) -> None:
        """A launch that options mean has run."""
        session, options = self._session, self._session.options
        if options.pids is not None:
            self._grid = session.runs.grid
            # a part of the grid may have none of them
            some = summary.programs or options.shard
            self.note("pids" if some else "no pids")
        if not (options.blame or options.explain):
            return
        self._tensors.update(dict.fromkeys(
            name for name, value in session.runs.launched.items()
            if hasattr(value, "shape")))
        for blamed in _answers(session.lib.tk_launch_blame, launch):
            self.note(f"blame {_asked(blamed)}")
        for explained in _answers(session.lib.tk_launch_explanation,
                                     launch):
            self.note(f"explain {_asked(explained.blame)}")

    # ---- what did not ----------------------------------------------------

    def unmet(self) -> list[str]:
        """What never came, a line each."""
        self._read()
        options = self._session.options
        asked = self._about_launches()
        lines = self._about_device()
        if "launch" in self._met:
            return lines + self._about_elements() + self._about_programs()
        named = [f"--{name} {value}" for name, value in (
            ("kernel", options.kernel), ("launch", options.launch))
            if value is not None]
        if asked or named:
            what = ", ".join(asked) or " ".join(named)
            lines.append(f"{what}: {self._why_none(bool(asked))}")
        return lines

    def _read(self) -> None:
        """Adds what other processes have noted.  The file stays open: those
        that have not ended know its number, which another must not get."""
        if self._file is None or os.getpid() != self._owner:
            return
        os.environ.pop(FILE, None)
        with open(self._file, encoding="utf-8", closefd=False) as f:
            f.seek(0)
            self._met.update(f.read().splitlines())
        self._file = None
        for what in self._met:
            word, _, kernel = what.partition(" ")
            if word == "kernel":
                self.kernels.setdefault(kernel, 1)

    def _about_launches(self) -> list[str]:
        """The options that launches answer."""
        o = self._session.options
        named = o.kernel is not None or o.launch is not None
        given = [("record", o.record), ("pid", o.pids), ("shard", o.shard),
                 ("junit", o.junit if o.prove else None),
                 ("smt-out", o.smt_out),
                 ("output", None if o.view else o.output),
                 ("order", o.order if named else None)]
        return ([f"--{name} {value}" for name, value in given
                 if value is not None]
                + [f"--blame {element}" for element in o.blame]
                + [f"--explain {element}" for element in o.explain])

    def _why_none(self, asked: bool) -> str:
        """No launch was the one that options mean.  asked: others than
        --kernel and --launch are."""
        kernel, number = (self._session.options.kernel,
                          self._session.options.launch)
        if not self.kernels:
            return "no kernel was launched in this process" + (
                f"; --arg describes a launch of '{kernel}'" if kernel else "")
        if kernel is not None and kernel not in self.kernels:
            near = difflib.get_close_matches(kernel, self.kernels, 1)
            return (f"no kernel named '{kernel}' was launched; launched were: "
                    + ", ".join(self.kernels)
                    + (f"; did you mean '{near[0]}'?" if near else ""))
        count = self._session.runs.count
        of = "" if kernel is None else f" of {kernel}"
        return (f"launch {number} never came: " if asked else "") + (
            f"there was 1 launch{of}" if count == 1 else
            f"there were {count} launches{of}")

    def _about_elements(self) -> list[str]:
        lines = []
        for option in "blame", "explain":
            for element in getattr(self._session.options, option):
                plain = "".join(element.split())
                if f"{option} {plain}" in self._met:
                    continue
                name = plain.partition("[")[0]
                near = difflib.get_close_matches(name, self._tensors, 1)
                lines.append(
                    f"--{option} {element}: no launch has a tensor called "
                    f"'{name}'"
                    + ("; there were: " + ", ".join(self._tensors)
                       if self._tensors else "")
                    + (f"; did you mean '{near[0]}'?" if near else ""))
        return lines

    def _about_programs(self) -> list[str]:
        pids = self._session.options.pids
        if (not (pids or "").strip() or "pids" in self._met or
                "no pids" not in self._met):  # a launch was interrupted
            return []
        grid = f"; the grid was {self._grid}" if self._grid else ""
        return [f"--pid {pids}: no program of a launch matches{grid}"]

    def _about_device(self) -> list[str]:
        o = self._session.options
        lines = []
        if "device" not in self._met:
            why = ("PyTorch has CUDA and a GPU" if "torch" in sys.modules else
                   "PyTorch was not imported")
            lines = [f"--{name}: there was no virtual device: {why}"
                     for name, given in (
                         ("virtual-cuda", o.virtual_cuda),
                         ("lenient-device", o.lenient_device),
                         ("torch-compile inductor",
                          o.torch_compile == "inductor")) if given]
        if o.torch_compile == "inductor" and "device" in self._met and (
                COMPILED not in self._met):
            lines.append("--torch-compile inductor: torch.compile has "
                         "compiled nothing")
        if o.autotune == "all" and "autotune" not in self._met:
            lines.append("--autotune all: no kernel with triton.autotune was "
                         "launched")
        return lines


def _answers(get, launch):
    """What get finds: each answer to a launch's questions."""
    i = 0
    while found := get(launch, i):
        yield found.contents
        i += 1


def _asked(blame) -> str:
    return blame.asked.decode() if blame.asked else ""
