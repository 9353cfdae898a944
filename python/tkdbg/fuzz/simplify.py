"""Makes what is left of a kernel simpler: its launch, shapes, types, operands.

Each candidate is a copy with one change; whether it still fails in the same way
is for who asks to say, so that a change need not be right by itself.
"""
from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from .kernel import Kernel, Tensor, walk

NARROWER = {"int64": "int32", "uint64": "uint32", "int16": "int32",
            "int8": "int32", "uint16": "uint32", "uint8": "uint32",
            "uint32": "int32", "float64": "float32", "float16": "float32"}
# A part of a statement, and what may stand in its place.
PARTS = tuple((re.compile(pattern), repl) for pattern, repl in (
    (r", (?:cache_modifier|eviction_policy|sem|scope)=\"[^\"]*\"", ""),
    (r", volatile=True", ""),
    (r", mask=\w+, other=\w+", ""),
    (r", mask=\w+", ""),
    (r", reverse=True", ""),
    (r", descending=True", ""),
    (r"\.to\(tl\.\w+\)", ""),
    (r"\((\w+) [-+*&|^] (?:\w+|-\d+)\)", r"\1"),
    (r"\((?:\w+|-\d+) [-+*&|^] (\w+)\)", r"\1"),
    (r"\(pid \+ (?:\w+)\)|\((?:\w+) \+ pid\)|\bpid\b", "0"),
    (r"\bn\b", "2")))


def texts(kernel: Kernel, change: Callable[[str], str]) -> Kernel:
    """A copy in which every text is changed."""
    out = kernel.copy()
    for function in out.functions:
        for body in walk(function.body):
            for s in body:
                s.replace(change)
    return out


def launches(kernel: Kernel) -> Iterator[Kernel]:
    """With a simpler grid, simpler options, simpler arguments."""
    if kernel.grid != (1, 1, 1):
        out = kernel.copy()
        out.launch_on((1, 1, 1))
        yield out
    for name, usual in (("num_warps", 1), ("num_stages", 1), ("num_warps", 4)):
        if kernel.options.get(name, usual) > usual:
            out = kernel.copy()
            out.launch_with(**{name: usual})
            yield out
    yield from kernel.smaller()


def shapes(kernel: Kernel) -> Iterator[Kernel]:
    """With half of a power of two that stands in it."""
    text = kernel.text()
    sizes = {int(n) for n in re.findall(r"\b\d+\b", text)}
    for size in sorted((n for n in sizes if n > 1 and not n & (n - 1)),
                       reverse=True):
        def half(text: str, size: int = size) -> str:
            return re.sub(rf"\b{size}\b", str(size // 2), text)
        yield texts(kernel, half)


def dtypes(kernel: Kernel) -> Iterator[Kernel]:
    """With another type in the place of one."""
    text = kernel.text()
    for old, new in NARROWER.items():
        if not re.search(rf"\b{old}\b", text) and not any(
                isinstance(a, Tensor) and a.dtype == old
                for a in kernel.args.values()):
            continue

        def other(text: str, old: str = old, new: str = new) -> str:
            return re.sub(rf"\b{old}\b", new, text)
        yield texts(kernel, other).with_dtype(old, new)


def operands(kernel: Kernel) -> Iterator[Kernel]:
    """With a part of a statement left out."""
    places = [(f, b, s) for f, function in enumerate(kernel.functions)
              for b, body in enumerate(walk(function.body))
              for s in range(len(body))]
    for f, b, s in places:
        text = list(walk(kernel.functions[f].body))[b][s].text
        for pattern, repl in PARTS:
            for match in pattern.finditer(text):
                out = kernel.copy()
                changed = list(walk(out.functions[f].body))[b][s]
                new = text[:match.start()] + match.expand(
                    repl) + text[match.end():]
                changed.say(new)
                yield out


def candidates(kernel: Kernel) -> Iterator[Kernel]:
    for way in (launches, operands, shapes, dtypes):
        yield from way(kernel)


def simplify(kernel: Kernel, fails: Callable[[Kernel], bool],
             most: int = 400) -> Kernel:
    """The simplest kernel found for which fails(kernel) holds, in so many
    tries."""
    seen = {kernel.describe()}
    progress = True
    while progress and len(seen) < most:
        progress = False
        for simpler in candidates(kernel):
            key = simpler.describe()
            if key in seen or len(seen) >= most:
                continue
            seen.add(key)
            if fails(simpler):
                kernel, progress = simpler, True
                break
    return kernel
