"""A plugin of pytest: of each test function, only the first cases run.

A kernel is proved when a test first launches it; the other cases of that test
mostly launch the same forms once more, which takes long.  TKDBG_CASES says how
many cases are kept."""
from __future__ import annotations

import collections
import os
from typing import Any


def pytest_collection_modifyitems(config: Any, items: list[Any]) -> None:
    most = int(os.environ.get("TKDBG_CASES", "1"))
    seen: collections.Counter[str] = collections.Counter()
    kept, left = [], []
    for item in items:
        function = item.nodeid.partition("[")[0]
        seen[function] += 1
        (kept if seen[function] <= most else left).append(item)
    if left:
        config.hook.pytest_deselected(items=left)
        items[:] = kept
