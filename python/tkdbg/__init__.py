"""tkdbg: runs kernels of the Triton language without a GPU.

``import tkdbg; tkdbg.install()`` before ``import triton`` makes this process
run every kernel under tkdbg; ``tkdbg run FILE.py`` does the same for a
script.  See ``install`` for the options.  ``pytest -p tkdbg`` runs tests
under it, ``%load_ext tkdbg`` the cells of a notebook.

The modules stand in layers.  A module imports from its own layer and from
those below it, never in a circle; tools/pyknots.py reads this table and
checks it.  What a module above has to keep belongs to the one session
(``session.part``): no other module has state that changes, but for the texts
that source keeps.  The functions of this module import what they need when
they are called: puzzles need little of it, and must start at once.

PYTEST_DONT_REWRITE: there are no assertions here for pytest to rewrite.

front      __init__      install(), uninstall(), options()
           __main__      ``python3 -m tkdbg run``: runs a script
           pytest_plugin ``pytest -p tkdbg``
           notebook      ``%load_ext tkdbg``
           pictures      ... its pictures of accesses
           puzzles       ``tkdbg puzzles``
           why           ``tkdbg why``: from a comparison to a line
           answer        ... what is said of one
           untouched     ... of an array that no launch wrote
           verifying     calls compared with a reference, a sample of them
           wholes        ... which changes the script ends well with
           fused         kernels of PyTorch's compiler beside its operators
           othersizes    ``tkdbg run --sizes``: other sizes, tried
           hostnumbers   ... the numbers of a script that sizes can be
           otherstrides  ... and other strides
           sizejudge     ... what of that is a fault
           sizeruns      ... what a run of the script has done
           sizesaid      ... what is said of each
           sizetests     ... and of a test of pytest's
           othertries    ... and launches with them, which others compare
           reruns        the whole script again, in a process split off
           repairs       which changes make a comparison pass
           whypage       ... and drawn
           profile       ``tkdbg profile``: where the time of launches went
           viewpage      ``tkdbg view``, tkdbg.view: a page of launches
           watched       ... what the two have in common
           fuzz          ``tkdbg fuzz``: random kernels, in two ways
           standalone    ``tkdbg report``: a launch as a file to attach
           bisect        which pass of Triton's compiler is wrong
           triton_replay a launch file by real Triton, as a process of its own
           llvmoptions   options of the LLVM in that Triton
           setup         what install() puts in place and takes away again
           runners       ... what stops a debugger where a test raises
           comparisons   ... functions that compare arrays
           asserted      what an assert compares, by its source
           purity        ... which functions may be called once more
           excepthook    uncaught exceptions, as reports
           mistakes      ... what was wrong with the line of a launch
triton     modules       what ``import triton`` finds, where it is ours
           takeover      real Triton with its launches taken over
           beside        what its own run() compiles and launches instead
           inductor      the files that PyTorch's compiler writes
           modelled      ... and the lines of the model they come from
           written       ... and where the program has kernels copied there
           fragments     ... and the operations that their kernels stand for
           helion        functions of Helion: which configuration runs
           jaxtriton     jax_triton.triton_call without a GPU
           vcuda         the virtual CUDA devices
           cutile        kernels of CUDA Tile, as typed forms
tuning     tuner         @autotune and @heuristics
           compare       configurations side by side
           tuned         what tuning has cleared and left out
           bench         times of functions, as triton.testing measures them
launch     launch        @jit functions: decoration and launch
           hooks         the hooks of triton.knobs, around a launch
           hostsizes     where the sizes of a launch come from, for proofs
           sizes         ... whole numbers that know what made them
           mock          arguments for compiling, by their types
           typed         arguments of what was compiled for a signature
           prepared      a launch that is kept for one signature
           compiled      the compiled kernel that scripts see
           scratch       memory that launches ask the program for
           arguments     kinds of arguments, and how each one is set
           binder        from a call to the values of the parameters
           launchlog     launches recorded, and run again
           watchdog      ... and ended where they take too long
           workers       attempts, shared among processes
           hostlines     ... the lines of the script that made them
           arrays        arrays of a script as numbers to compare
           history       what the memory of tensors was made from
           copies        where the elements of a copy come from
           origins       which launch's tensor an array is
           edits         one-expression edits of kernels
           hostedits     ... and of their launches
           host          C asks what a kernel's free names mean
values     convert       Python objects as values of C, and back
           functions     what is decorated, as the layers below a launch see it
           scope         where a function's free names live
           operations    tl.load and the others as host objects
           constexprs    Python functions that run while a kernel is compiled
           aggregates    classes whose values kernels hold
           wrappers      what stands for a tensor
session    session       the one session: library, options, lock, its parts
           runs          ... launches as they run, and what is counted
           reports       ... what the library has found, raised or said
           prooftable    ``tkdbg prove --table``: the proofs of a test run
           debugging     ... the debugger over all launches
           version       ... the version of Triton that kernels mean
           real          ... what real Triton has that is taken over
           compiling     ... functions while kernels are compiled
           script        ... what has become of the script
           kept          ... what C may keep pointing to
           dtypes        ... element types by name and number
           settings      the options
           gdbserver     ... whose debugger is gdb
           dapserver     ... or an editor's
           tensors       where a tensor's memory is
           restride      arrays of other strides, with the same elements
           fresh         which memory was never written
           requests      what options ask of launches, and which of it came
           findings      findings as JSON
           device        the model of the virtual device, in numbers
           interrupt     signals while C runs
           progress      the progress bar and the summary line
ground     _capi         the C API
           _results      ... its findings as structs
           errors        what a launch raises
           tltypes       types and values of the language on the host
           environment   Triton's knobs and variables that change results
           variables     ... and each of them, by name
           source        the text that a function was written in
           parsing       texts of Python as trees and code
           patches       replaced attributes of other people's modules
           torch_private PyTorch's private names, which no other file has
"""
from __future__ import annotations

import os as _os
import signal as _signal
import sys as _sys
from typing import TYPE_CHECKING, Any

if _sys.argv[:1] == ["-m"] and (  # "python -m tkdbg" has not begun yet
        _signal.getsignal(_signal.SIGINT) is _signal.default_int_handler):
    _signal.signal(_signal.SIGINT, _signal.SIG_DFL)
if _os.environ.pop("TKDBG_SIGINT_IS_BLOCKED", None):  # by the command
    _signal.pthread_sigmask(_signal.SIG_UNBLOCK, [_signal.SIGINT])

from ._capi import VERSION as __version__
from .errors import (CompilationError, InternalError, KernelError,
                     LaunchError, UsageError)

if TYPE_CHECKING:
    from collections.abc import Callable

    from .settings import Options
    from .verifying import VerificationError, Verified
    from .viewpage import Page

__all__ = ["install", "uninstall", "installed", "options", "address_of",
           "keep_stdin", "verify", "view",
           "CompilationError", "InternalError", "KernelError", "LaunchError",
           "UsageError", "__version__"]

# what ``pytest -p tkdbg`` loads with this module
pytest_plugins = ("tkdbg.pytest_plugin",)


def install(**values: Any) -> None:
    """Takes over ``import triton`` and, without CUDA, ``device='cuda'``.

    values: options by name, see tkdbg.settings.Options; also
    ``triton="ours" | "installed" | "auto"``.  Safe to call again: later
    values replace earlier ones.  Raises UsageError on an unknown option.
    """
    from . import setup
    setup.install(values)


def uninstall() -> None:
    """Undoes install(); kernels made meanwhile keep running under tkdbg."""
    from . import setup
    setup.uninstall()


def installed() -> bool:
    """Whether install() is in effect."""
    from . import session
    return session.current().setup is not None


def options() -> Options:
    """The options of this process, which may be changed at any time."""
    from . import session
    return session.current().options


def keep_stdin() -> None:
    """For a Python that takes its program from standard input, before it
    does: kernels in it have a source.  sitecustomize calls this."""
    from . import source
    source.keep_stdin()


def address_of(array: Any) -> int:
    """The address of a NumPy array, which kernels may load from memory.

    Launches know the arrays whose address was asked for, as long as they
    live; PyTorch tensors have ``data_ptr()`` for the same.
    """
    from . import session
    return session.current().addresses.add_array(array)


def verify(function: Any, reference: Callable[..., Any], every: int = 1,
           rtol: float | None = None, atol: float | None = None,
           folder: str = ".",
           on_failure: Callable[[VerificationError], Any] | None = None
           ) -> Verified:
    """What to call in place of a function, or of a kernel: every N-th call is
    compared with what the reference gives for copies of the same arguments.

    Results are compared where there are any, else the arrays among the
    arguments.  The bound is that of torch.testing.assert_close, unless rtol or
    atol says otherwise.  If an array is wrong, the launch that wrote it and
    what it should hold are written to the folder, as files for ``tkdbg why``,
    and VerificationError is raised; on_failure, if there is one, is called
    with it instead.
    """
    from . import verifying
    return verifying.verify(function, reference, every, rtol, atol, folder,
                            on_failure)


def view(kernel: Any, grid: Any, /, *args: Any, **kwargs: Any) -> Page:
    """Launches ``kernel[grid](*args, **kwargs)``, and returns the page of it:
    docs/view.md describes what it shows.

    A notebook shows it where it is the value of a cell; ``save(path)`` writes
    it to a file.  If the launch ends with an error, the page has it on its
    line, and ``error`` is the exception.
    """
    from . import viewpage
    return viewpage.view(kernel, grid, args, kwargs)


def load_ipython_extension(shell: Any) -> None:
    """``%load_ext tkdbg``"""
    from . import notebook
    notebook.load(shell)


def unload_ipython_extension(shell: Any) -> None:
    """``%unload_ext tkdbg``"""
    from . import notebook
    notebook.unload(shell)
