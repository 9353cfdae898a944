"""``tkdbg run --sizes``: a script once more, with other strides.

Where a script makes the numbers that it works with, as in
``x = torch.randn(64, 32).half()``, they are laid out in another way
(restride.py) before anybody sees them; their shapes and values stay what they
are.  Host code that asks for strides, makes rows contiguous or asserts that
they are works as it always does.
"""
from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from . import hostnumbers, parsing, restride, sizejudge
from .edits import Source
from .hostnumbers import Number

if TYPE_CHECKING:
    from .reruns import Script
    from .sizeruns import Run
    from .sizesaid import Said

MOST_TENSORS = 12  # that are looked at
# what restride.py makes of an array: its function, how that is said, and
# whether elements stay what they are
LAYOUTS = (("padded", "with padded rows", True),
           ("transposed", "transposed in memory", True),
           ("stepped", "with gaps between its elements", True),
           ("expanded", "with its first row for each other one", False))
_MAKERS = frozenset((
    "rand", "randn", "randint", "random", "standard_normal", "normal",
    "uniform", "integers", "arange", "linspace", "randperm", "permutation"))


class Made(NamedTuple):
    """An expression that makes an array."""
    at: Number
    name: str


def try_all(run: Callable[..., Run | None], script: Script,
            most: int, said: Said) -> bool:
    """Says what came of each array with at most so many other layouts;
    whether one was judged."""
    source = Source(script.path, script.text)
    found = list(made(source, parsing.tree(script.text.decode())))
    base = run(script.text, True) if found else None
    if base is None or base.stops:
        return False
    were_judged = False
    for each in found[:MOST_TENSORS]:
        for layout, words, like in LAYOUTS[:most]:
            what = f"{each.name} {words}"
            verdict = sizejudge.of_strides(base, run(with_layout(
                script.text, each, layout), True, (each.at, what)), like)
            if verdict is not None:
                were_judged |= verdict[0] != sizejudge.UNJUDGED
                said.add(each.at, what, *verdict)
    if len(found) > MOST_TENSORS:
        said.note(found[MOST_TENSORS].at, f"strides are tried of the first "
                  f"{MOST_TENSORS} arrays")
    return were_judged


def with_layout(text: bytes, each: Made, layout: str) -> bytes:
    """A text in which an array is laid out in another way."""
    lo, hi = each.at.span
    call = f"__import__('tkdbg.restride', fromlist=['{layout}']).{layout}("
    return text[:lo] + call.encode() + text[lo:hi] + b")" + text[hi:]


def with_types(script: Script) -> Iterator[tuple[Number, str, bytes]]:
    """(the first array, the type, a text) in which all arrays have numbers of
    another type."""
    found = list(made(Source(script.path, script.text),
                      parsing.tree(script.text.decode())))
    for dtype in restride.DTYPES if found else ():
        text = script.text
        for each in sorted(found, key=lambda e: e.at.span, reverse=True):
            text = with_layout(text, each, dtype)
        yield found[0].at, dtype, text


def made(source: Source, tree: Any) -> Iterator[Made]:
    """The expressions of the host that make arrays of numbers of their own, in
    their order."""
    parents = {child: node for node in ast.walk(tree)
               for child in ast.iter_child_nodes(node)}
    seen = set()
    for node in hostnumbers.host(tree):
        if not (isinstance(node, ast.Call) and _makes(node)):
            continue
        whole: Any = node
        while _goes_on(whole, parents):
            whole = parents[whole]
        if whole not in seen:
            seen.add(whole)
            yield Made(Number("", 0, whole.lineno, whole.col_offset + 1,
                              source.span(whole)),
                       _name(whole, parents.get(whole), source))


def _makes(call):
    return isinstance(call.func, ast.Attribute) and call.func.attr in _MAKERS


def _goes_on(node, parents):
    """Whether what a node gives is an object whose method makes the array, as
    in torch.randn(8).half()."""
    parent = parents.get(node)
    return isinstance(parent, ast.Attribute) or isinstance(
        parent, ast.Call) and parent.func is node


def _name(node, parent, source):
    if isinstance(parent, ast.Assign) and len(parent.targets) == 1 and (
            isinstance(parent.targets[0], ast.Name)):
        return parent.targets[0].id
    text = " ".join(source.of(node).split())
    return text if len(text) <= 40 else f"{text[:37]}..."
