"""triton.runtime.cache: files kept between runs, one folder for each key.

tkdbg caches nothing on disk; projects derive their own managers from these
and give them to Triton by name.
"""
from __future__ import annotations

import abc
import json
import os
import tempfile
from typing import Any

_GROUP = "__grp__"


class CacheManager(abc.ABC):
    """What a manager must answer to."""

    def __init__(self, key: str, override: bool = False,  # noqa: B027
                 dump: bool = False) -> None:
        """What subclasses may call, and need not."""

    @abc.abstractmethod
    def get_file(self, filename: str) -> str | None:
        """The path of a kept file, or None."""

    @abc.abstractmethod
    def put(self, data: bytes | str, filename: str,
            binary: bool = True) -> str:
        """Keeps bytes or text; returns the path."""

    @abc.abstractmethod
    def get_group(self, filename: str) -> dict[str, str] | None:
        """{name: path} of the files that were put as one group, or None."""

    @abc.abstractmethod
    def put_group(self, filename: str, group: dict[str, str]) -> str:
        """Keeps {name: path} under one name."""


def _root(override, dump):
    """The folder that Triton's environment variables choose."""
    name, leaf = ("DUMP", "dump") if dump else ("CACHE", "cache")
    if override and not dump:
        name, leaf = "OVERRIDE", "override"
    home = os.path.expanduser(os.environ.get("TRITON_HOME", "~"))
    return (os.environ.get(f"TRITON_{name}_DIR", "").strip()
            or os.path.join(home, ".triton", leaf))


class FileCacheManager(CacheManager):
    """Keeps files in the folder of its key."""

    def __init__(self, key: str, override: bool = False,
                 dump: bool = False) -> None:
        self.key = key
        self.lock_path = None
        self.cache_dir = os.path.join(_root(override, dump), key)
        if dump or not override:
            self.lock_path = os.path.join(self.cache_dir, "lock")
            os.makedirs(self.cache_dir, exist_ok=True)

    def _make_path(self, filename):
        return os.path.join(self.cache_dir, filename)

    def has_file(self, filename: str) -> bool:
        return os.path.exists(self._make_path(filename))

    def get_file(self, filename: str) -> str | None:
        return self._make_path(filename) if self.has_file(filename) else None

    def put(self, data: bytes | str, filename: str, binary: bool = True) -> str:
        binary = isinstance(data, bytes)
        # Another process must never see half a file.
        with tempfile.NamedTemporaryFile(
                "wb" if binary else "w", dir=self.cache_dir,
                delete=False) as file:
            file.write(data if binary else str(data))
        path = self._make_path(filename)
        os.replace(file.name, path)
        return path

    def get_group(self, filename: str) -> dict[str, str] | None:
        path = self.get_file(_GROUP + filename)
        if path is None:
            return None
        with open(path, encoding="utf-8") as file:
            paths = json.load(file).get("child_paths")
        if paths is None:
            return None
        return {n: p for n, p in paths.items() if os.path.exists(p)}

    def put_group(self, filename: str, group: dict[str, str]) -> str:
        return self.put(json.dumps({"child_paths": group}),
                        _GROUP + filename, binary=False)


def get_cache_manager(key: str) -> FileCacheManager:
    return FileCacheManager(key)


def get_override_manager(key: str) -> Any:
    return FileCacheManager(key, override=True)


def get_dump_manager(key: str) -> Any:
    return FileCacheManager(key, dump=True)
