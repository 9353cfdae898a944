"""Which version of Triton kernels have their meaning from."""
from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from . import _capi

if TYPE_CHECKING:
    from .session import Session


class Version:
    """Of a session."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._installed: str | None = None  # the Triton that is taken over
        self._follows: str | None = None    # what C was told to follow
        self._noted = False                 # ... in place of another one

    def follow(self, installed: str | None) -> None:
        """Kernels mean what they mean in the installed Triton of this
        version; None: no Triton is installed, or it is left."""
        self._installed = installed
        if self._session.is_open():
            self.choose()

    def meaning(self, version: str | None) -> str | None:
        """The version whose meaning kernels have under this version of
        Triton, or None."""
        found = self._session.lib.tk_triton_meaning(
            version and version.encode())
        return _capi.text(found) if found else None

    def _newest(self) -> str:
        """The newest version that is followed."""
        return _capi.text(self._session.lib.tk_triton_meaning(None))

    def release(self) -> str:
        """What triton.__version__ is where no Triton is installed."""
        named = self._session.options.triton_version
        return f"{named or self._newest()}.0"

    def since(self, major: int, minor: int) -> bool:
        """Whether the host's modules are those of this version or a newer
        one."""
        numbers = (self._installed or self.release()).split(".")
        return (int(numbers[0]), int(numbers[1])) >= (major, minor)

    def choose(self) -> None:
        """Follows the version that --triton-version names, else the one that
        is installed; says so, once, where another one is followed."""
        session, newest = self._session, self._newest()
        named: str = (session.options.triton_version or
                 self.meaning(self._installed) or newest)
        if named != (self._follows or newest):
            session.check(session.lib.tk_session_triton_version(
                session.ptr, named.encode()))
            self._follows = named
        if not (self._noted or session.options.is_quiet()):
            said = self.unfollowed()
            self._noted = bool(said)
            sys.stderr.write(said)

    def unfollowed(self) -> str:
        """A line on the version that is followed in place of the one that
        was asked for or is installed; "" where that one is."""
        asked = self._session.options.triton_version
        version: str = asked or self._installed or self._newest()
        meaning = self.meaning(version) or self._newest()
        short = ".".join(version.split(".")[:2])
        if meaning == short:
            return ""
        what = (f"--triton-version {asked}" if asked else
                f"Triton {short} is installed")
        return (f"tkdbg: {what}: kernels mean what they mean in Triton "
                f"{meaning}; docs/compatibility.md lists the differences\n")
