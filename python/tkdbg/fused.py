"""The first kernel of PyTorch's compiler that does not compute what PyTorch's
own operators do.

A recorded launch is run again, and the part of the graph that its kernel
stands for (fragments.py) is computed by PyTorch from what the launch read:
in the types that the graph names, and in float64.  How far those two are
apart says how much rounding may differ; a kernel that is further from float64
is off, whatever the launches before it did.
"""
from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from . import arrays, fragments, origins, tensors
from .launchlog import Log, Logged, Replay

if TYPE_CHECKING:
    from .fragments import Fragment

ROUNDINGS = 32  # as many times what eager rounds
MOST_PAIRINGS = 64  # that are tried
SEEN = 1e-3  # a rounding beside the largest number that is told
NEARER = 4  # times, that a kernel is nearer to float64
ULPS = 8  # ... and units in the last place beside


class Wanted(NamedTuple):
    """What a parameter should hold after a launch, in its own shape, and how
    far it may be off."""
    logged: Logged
    parameter: str
    node: str
    values: Any
    rtol: float
    atol: float
    dtype: str = "float64"  # that the graph names
    eager: float = 0.0  # how far eager is from float64, at most
    certain: bool = True  # that the parameter is the node


class Rounded(NamedTuple):
    """A tensor of which the kernel is much nearer to float64 than eager is:
    the largest distances."""
    wanted: Wanted
    kernel: float
    eager: float


class Result(NamedTuple):
    """off: the first tensor that is; same, unknown: how many launches of such
    kernels compute what eager does, and could not be compared; rounded: where
    eager rounds most beside the kernel."""
    off: Wanted | None
    same: int
    unknown: int
    rounded: Rounded | None = None


def first(lib: Any, log: Log) -> Result:
    """Looks at the launches in their order, as far as the first that is
    off."""
    same = unknown = 0
    rounded: list[Rounded] = []
    for logged in log.launches:
        if logged.model is None:
            continue
        with tensors.without_torch_functions():
            outputs = _outputs(lib, logged)
        for wanted, held in outputs:
            if not _agrees(held, wanted):
                return Result(wanted, same, unknown)
            rounded += _rounded(held, wanted)
        seen = bool(outputs)
        same += seen
        unknown += not seen
    return Result(None, same, unknown, max(
        rounded, key=lambda r: r.eager / r.wanted.atol, default=None))


def _rounded(held, wanted):
    """Whether eager's rounding can be seen beside the kernel's."""
    import numpy
    error = abs(held - wanted.values)
    kernel = float(error[numpy.isfinite(error)].max(initial=0.0))
    size = abs(wanted.values[numpy.isfinite(wanted.values)]).max(initial=0.0)
    if wanted.eager > SEEN * size and wanted.eager > NEARER * kernel:
        yield Rounded(wanted, kernel, wanted.eager)


def _agrees(held, wanted):
    import numpy
    return numpy.allclose(held, wanted.values, wanted.rtol, wanted.atol,
                          equal_nan=True)


def _outputs(lib, logged) -> list[tuple[Wanted, Any]]:
    """(what a launch should have written, what it wrote), in the order of
    the graph.  Where nothing says which parameter is which node, a way to
    pair them in which all is as it should be is taken for the right one."""
    fragment = logged.model.fragment
    if fragment is None:
        return []
    with Replay(lib, logged) as replay:
        before = dict(origins.storages(lib, replay, logged.tensors))
        if not replay.run():
            return []
        after = dict(origins.storages(lib, replay, logged.tensors))
    outputs: list[tuple[Wanted, Any]] = []
    for reads, writes in itertools.islice(_pairings(fragment, before),
                                          MOST_PAIRINGS):
        outputs = list(_compared(logged, fragment, reads, writes, before,
                                 after)) or outputs
        if outputs and all(_agrees(held, wanted) for wanted, held in outputs):
            break
    certain = bool(fragment.writes)
    return [(wanted._replace(certain=certain), held)
            for wanted, held in outputs]


def _pairings(fragment: Fragment, held: dict[str, Any]) -> (
        Iterator[tuple[dict[str, str], dict[str, str]]]):
    """({parameter: node that it reads}, {parameter: node that it writes})"""
    if fragment.reads or fragment.writes:
        yield fragment.reads, fragment.writes
        return
    into = [p for p in held if p.startswith(("in_ptr", "in_out_ptr"))]
    out = [p for p in held if p.startswith(("out_ptr", "in_out_ptr"))]
    for writes in _matches(out, fragment.returns, lambda p, node: True):
        for reads in _matches(into, list(fragment.inputs), lambda p, node:
                              _fits(fragment.inputs[node], held[p])):
            yield reads, writes


def _fits(layout, held):
    """Whether a node may be what a parameter holds."""
    _, own = held
    return not layout.is_known() or math.prod(layout.shape) == own.size


def _matches(parameters: list[str], nodes: list[str],
             may: Callable[[str, str], bool]) -> Iterator[dict[str, str]]:
    """All ways to give each parameter a node of its own."""
    if not parameters:
        yield {}
        return
    first, *others = parameters
    for node in nodes:
        if may(first, node):
            for rest in _matches(others, [n for n in nodes if n != node],
                                 may):
                yield {first: node, **rest}


def _compared(logged, fragment, reads, writes, before, after):
    inputs = _inputs(fragment, reads, before)
    if inputs is None:
        return
    inputs.update(fragment.numbers(logged.values))
    narrow, wide = (fragments.compute(fragment, inputs, w)
                    for w in (False, True))
    order = [*fragment.inputs, *(node.name for node in fragment.nodes)]
    for parameter, node in sorted(writes.items(), key=lambda item: (
            item[1] in order and order.index(item[1]))):
        if node in inputs or node not in wide or parameter not in after:
            continue
        elements, own = after[parameter]
        wanted = _wanted(logged, parameter, node, own.shape,
                         narrow.get(node), wide[node])
        if wanted is not None:
            yield wanted, elements[own]


def _inputs(fragment: Fragment, reads: dict[str, str],
            held: dict[str, Any]) -> dict[str, Any] | None:
    """{node: tensor} of what a launch is about to read; None if not all of
    it is known."""
    import numpy
    import torch
    nodes = {node: parameter for parameter, node in reads.items()}
    found = {}
    for node, layout in fragment.inputs.items():
        if node not in nodes:
            continue  # what the kernel writes, and reads again
        if nodes[node] not in held:
            return None
        elements, own = held[nodes[node]]
        if layout.is_known():
            own = arrays.positions(own.flat[0] if own.size else 0,
                                   layout.shape, layout.strides)
        if own.size and own.max() >= len(elements):
            return None
        found[node] = torch.from_numpy(numpy.asarray(elements[own])).to(
            getattr(torch, layout.dtype))
    return found


def _wanted(logged, parameter, node, shape, narrow, wide):
    """What eager gives for a tensor; None if it has another shape, or other
    numbers where it is computed in another precision."""
    import numpy
    import torch
    if not (torch.is_tensor(narrow) and torch.is_tensor(wide)):
        return None
    if narrow.numel() != numpy.prod(shape, dtype=int):
        return None
    exact = wide.to(torch.float64).reshape(shape).numpy()
    if not narrow.is_floating_point():
        if not torch.equal(narrow.to(torch.float64), wide.to(torch.float64)):
            return None  # a comparison of numbers that almost agree
        return Wanted(logged, parameter, node, exact, 0, 0)
    error = abs(narrow.to(torch.float64).reshape(shape).numpy() - exact)
    finite = numpy.isfinite(error)
    size = exact[finite]
    unit = torch.finfo(narrow.dtype).eps
    rms = numpy.sqrt(numpy.mean(size ** 2)) if size.size else 0.0
    eager = float(error[finite].max(initial=0.0))
    atol = ROUNDINGS * eager + ULPS * unit * float(rms)
    return Wanted(logged, parameter, node, exact, ULPS * unit, atol,
                  str(narrow.dtype).partition(".")[2], eager)
