"""Long tables of tests, each row of which starts a process or two: `make test`
tries some of their rows, the same ones each time, and ROWS=all all of them."""
from __future__ import annotations

import os
from typing import Sequence, TypeVar

T = TypeVar('T')


def are_all() -> bool:
    return os.environ.get('ROWS') == 'all'


def some(rows: Sequence[T], nth: int) -> list[T]:
    """Each nth row, or all of them."""
    return list(rows if are_all() else rows[::nth])
