"""Waits until files of a folder change: by inotify where there is one, else
by looking at the folder."""
from __future__ import annotations

import ctypes
import os
import select
import time
from typing import Any

# inotify.h
_CLOSE_WRITE, _MOVED_TO, _CREATE, _MODIFY = 0x8, 0x80, 0x100, 0x2
_NONBLOCK, _CLOEXEC = 0o4000, 0o2000000
POLL = 0.2     # seconds between two looks, without inotify
SETTLE = 0.02  # an editor may write a file in pieces


class Changes:
    """Says when files of a folder have changed since it was asked last."""

    def __init__(self, folder: str, polls: bool = False) -> None:
        self.folder = folder
        self.seen = self._stamps()
        self.fd = None if polls else _inotify(folder)

    def close(self) -> None:
        if self.fd is not None:
            os.close(self.fd)

    def _stamps(self):
        found = {}
        for entry in os.scandir(self.folder):
            if entry.name.endswith(".py"):
                try:
                    stat = entry.stat()
                except OSError:
                    continue
                found[entry.name] = (stat.st_mtime_ns, stat.st_size,
                                     stat.st_ino)
        return found

    def wait(self, *readable: Any) -> tuple[Any, ...]:
        """Waits for a change or for input; returns the names that have
        changed, and the members of readable that can be read."""
        watched = list(readable) + ([] if self.fd is None else [self.fd])
        while True:
            ready, _, _ = select.select(watched, [], [],
                                        POLL if self.fd is None else None)
            input_ = [r for r in ready if r != self.fd]
            if self.fd is not None and self.fd in ready:
                time.sleep(SETTLE)
                os.read(self.fd, 1 << 16)
            changed = self.take()
            if changed or input_:
                return changed, input_

    def take(self) -> set[str]:
        """The names of the files that have changed."""
        now = self._stamps()
        changed = {n for n in now if now[n] != self.seen.get(n)}
        self.seen = now
        return changed


def _inotify(folder):
    """The descriptor of an inotify that watches a folder, or None."""
    libc = ctypes.CDLL(None, use_errno=True)
    try:
        fd = libc.inotify_init1(_NONBLOCK | _CLOEXEC)
    except AttributeError:
        return None
    if fd < 0:
        return None
    wanted = _CLOSE_WRITE | _MOVED_TO | _CREATE | _MODIFY
    if libc.inotify_add_watch(fd, os.fsencode(folder), wanted) < 0:
        os.close(fd)
        return None
    return fd
