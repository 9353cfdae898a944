"""Deletes statements of a kernel for as long as it fails in the same way."""
from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterator

from .kernel import Kernel, Statement, walk


def users(kernel: Kernel, names: set[str]) -> list[Statement]:
    """Statements that have one of the names, in all bodies."""
    return [s for f in kernel.functions for body in walk(f.body)
            for s in body if s.words() & names]


def deletions(kernel: Kernel) -> list[tuple[int, int, int, int]]:
    """(how many statements, what deletes them from a copy), larger first."""
    found = []
    for at, f in enumerate(kernel.functions):
        for where, body in enumerate(walk(f.body)):
            size = len(body)
            while size:
                for start in range(0, len(body), size):
                    found.append((size, at, where, start))
                size //= 2
    return sorted(found, reverse=True)


def without(kernel: Kernel, at: int, where: int, start: int,
            size: int) -> Kernel | None:
    """A copy without those statements; what they gave has plain values."""
    out = kernel.copy()
    function = out.functions[at]
    body = list(walk(function.body))[where]
    gone = body[start:start + size]
    if any(s.text.startswith("return") for s in gone):
        return None
    gives = {name: text for s in gone for name, text in s.gives.items()}
    rest = body[:start] + body[start + size:]
    words = set().union(*[s.words() for b in walk(function.body) if b is body
                          or not b for s in rest] or [set()])
    body[:] = rest
    words = set().union(*(s.words() for s in function.body), set())
    body[start:start] = [Statement(f"{name} = {text}") for name, text
                         in gives.items() if name in words
                         and gone[0].text != f"{name} = {text}"]
    if body and body[start:start + 1] and body[start].text == "else:":
        return None
    return out


def flattened(kernel: Kernel, at: int, where: int,
              start: int) -> Kernel | None:
    """A copy where the body of a statement stands in its place."""
    out = kernel.copy()
    body = list(walk(out.functions[at].body))[where]
    if body[start].body is None or body[start].text == "else:":
        return None
    follows = body[start + 1:start + 2]
    drop = 2 if follows and follows[0].text == "else:" else 1
    inner = list(body[start].body or ())
    head = re.match(r'for (\w+) in', body[start].text)
    first = []
    if head and any(head[1] in s.words() for s in inner):
        first = [Statement(f"{head[1]} = tl.program_id(0) * 0 + 1")]
    body[start:start + drop] = first + inner
    return out


def is_smaller(kernel: Kernel, old: Kernel) -> bool:
    """By the lines, then by the letters."""
    a, b = (k.text() for k in (kernel, old))
    return (a.count('\n'), len(a)) < (b.count('\n'), len(b))


def candidates(kernel: Kernel) -> Iterator[Callable[[], Kernel | None]]:
    for size, at, where, start in deletions(kernel):
        yield functools.partial(without, kernel, at, where, start, size)
        if size == 1:
            yield functools.partial(flattened, kernel, at, where, start)


def shrink(kernel: Kernel, fails: Callable[[Kernel], bool]) -> Kernel:
    """The smallest kernel found for which fails(kernel) holds."""
    progress = True
    while progress:
        progress = False
        for make in candidates(kernel):
            smaller = make()
            if smaller is None or not is_smaller(smaller, kernel):
                continue
            if smaller.outputs and fails(smaller):
                kernel, progress = smaller, True
                break
    last = kernel.without_unused()
    return last if last.outputs and fails(last) else kernel
