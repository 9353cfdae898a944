"""tkdbg: runs kernels of the Triton language without a GPU.

``import tkdbg; tkdbg.install()`` before ``import triton`` makes this process
run every kernel under tkdbg; ``tkdbg run FILE.py`` does the same for a
script.  See ``install`` for the options.
"""
from __future__ import annotations

from ._capi import VERSION as __version__
from .errors import (CompilationError, InternalError, KernelError,
                     LaunchError, UsageError)

__all__ = ["install", "uninstall", "installed", "options", "address_of",
           "CompilationError", "InternalError", "KernelError", "LaunchError",
           "UsageError", "__version__"]


def install(**values):
    """Takes over ``import triton`` and, without CUDA, ``device='cuda'``.

    values: options by name, see tkdbg.settings.Options; also
    ``triton="ours" | "installed" | "auto"``.  Safe to call again: later
    values replace earlier ones.  Raises UsageError on an unknown option.
    """
    from . import setup
    setup.install(values)


def uninstall():
    """Undoes install(); kernels made meanwhile keep running under tkdbg."""
    from . import setup
    setup.uninstall()


def installed():
    """Whether install() is in effect."""
    from . import session
    return session.current().setup is not None


def options():
    """The options of this process, which may be changed at any time."""
    from . import session
    return session.current().options


def address_of(array):
    """The address of a NumPy array, which kernels may load from memory.

    Launches know the arrays whose address was asked for, as long as they
    live; PyTorch tensors have ``data_ptr()`` for the same.
    """
    from . import session
    return session.current().addresses.add_array(array)
