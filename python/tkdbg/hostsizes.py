"""Where the sizes of a launch come from, for proofs about other sizes.

While a script is proved, a mode of PyTorch's sees its calls.  What they say
of tensors (shape, stride, numel) are Sizes (sizes.py); tensors that a script
makes of Sizes, or of other tensors, have theirs.  At a launch, the numbers
among its arguments and in its grid are then terms over sizes of the tensors
among them, which is what `tkdbg prove` asks for.
"""
from __future__ import annotations

import builtins
import sys
import weakref
from collections.abc import Callable, Sequence
from typing import Any

from . import sizes, torch_private
from .patches import Patches
from .sizes import Fact, Facts, Root, Size, Term

MOST_TENSORS = 4096


class Sizes:
    """The terms of a tensor's sizes and strides; None: not known, such as a
    stride that nobody has asked for."""

    def __init__(self, tensor: Any, shape: Sequence[Any],
                 strides: Sequence[Any]) -> None:
        self.tensor = weakref.ref(tensor)
        self.values = tuple(tensor.shape), tuple(tensor.stride())
        self.shape = [Root("shape", v) if t is None else t
                      for t, v in zip(shape, self.values[0])]
        self.strides = list(strides)

    def is_of(self, tensor: Any) -> bool:
        """Whether it is still true of a tensor."""
        return self.tensor() is tensor and self.values == (
            tuple(tensor.shape), tuple(tensor.stride()))

    def is_contiguous(self) -> bool:
        return all(a is b or a == b for a, b in zip(
            self.strides, row_major(self.shape)))


def row_major(shape: Sequence[Term]) -> list[Term]:
    """The strides of a contiguous tensor."""
    strides: list[Term] = []
    stride: Term = 1
    for size in reversed(shape):
        strides.append(stride)
        stride = sizes.made("*", stride, size)
    return strides[::-1]


class Known:
    """What is known of tensors."""

    def __init__(self) -> None:
        self.facts = Facts()
        self._all: dict[int, Sizes] = {}

    def find(self, tensor: Any) -> Sizes | None:
        found = self._all.get(id(tensor))
        return found if found is not None and found.is_of(tensor) else None

    def of(self, tensor: Any) -> Sizes:
        """Those of a tensor, that are what they are where it is new."""
        rank = len(tensor.shape)
        return self.find(tensor) or self.put(
            tensor, [None] * rank, [None] * rank)

    def put(self, tensor: Any, shape: Sequence[Any],
            strides: Sequence[Any]) -> Sizes:
        """Notes them, where there are as many as the tensor has axes."""
        if len(self._all) >= MOST_TENSORS:
            self._all = {i: s for i, s in self._all.items()
                         if s.tensor() is not None}
        made = self._all[id(tensor)] = Sizes(tensor, shape, strides)
        return made

    def size(self, value: int, term: Term) -> int:
        return Size.make(value, term, self.facts)

    # ---- what a script asks for ------------------------------------------

    def shape(self, tensor: Any) -> Any:
        """torch.Size of Sizes."""
        known = self.of(tensor)
        return type(tensor.shape)(map(self.size, known.values[0], known.shape))

    def strides(self, tensor: Any) -> tuple[int, ...]:
        known = self.of(tensor)
        for i, term in enumerate(known.strides):
            if term is None:
                known.strides[i] = Root("stride", known.values[1][i])
        return tuple(map(self.size, known.values[1], known.strides))

    def numel(self, tensor: Any) -> int:
        return sizes.product(self.shape(tensor))


# ---- tensors that are made --------------------------------------------------


def _numbers(args):
    """The numbers in f(2, 3), f((2, 3)) or f([2, 3])."""
    if len(args) == 1 and isinstance(args[0], (tuple, list)):
        args = args[0]
    return args if all(isinstance(a, int) and not isinstance(a, bool)
                       for a in args) else None


def _terms(numbers):
    """Those that are Sizes; a number that stands in the script could be
    another one."""
    return [n.term if isinstance(n, Size) else None for n in numbers]


class Making:
    """What each function of PyTorch makes of sizes: a method for each kind
    gets the result, the arguments and the keywords."""

    def __init__(self, known: Known) -> None:
        self.known = known

    def _put_rows(self, result, shape, dense):
        """dense: it lies row after row, whatever the sizes."""
        if len(shape) != len(result.shape):
            return
        rank = len(shape)
        made = self.known.put(result, shape, [None] * rank)
        if dense and result.is_contiguous():
            made.strides = row_major(made.shape)

    def factory(self, result: Any, args: Any, kwargs: Any) -> None:
        """torch.empty(2, 3), torch.zeros(size=(2, 3))"""
        numbers = kwargs.get("size", _numbers(args))
        if numbers is not None:
            self._put_rows(result, _terms(numbers),
                           "memory_format" not in kwargs)

    def method_factory(self, result: Any, args: Any, kwargs: Any) -> None:
        """x.new_empty(2, 3)"""
        self.factory(result, args[1:], kwargs)

    def full(self, result: Any, args: Any, kwargs: Any) -> None:
        """torch.full((2, 3), 0.0)"""
        self.factory(result, args[:1], kwargs)

    def new_full(self, result: Any, args: Any, kwargs: Any) -> None:
        """x.new_full((2, 3), 0.0)"""
        self.factory(result, args[1:2], kwargs)

    def integers(self, result: Any, args: Any, kwargs: Any) -> None:
        """torch.randint(0, 9, (2, 3))"""
        self.factory(result, [a for a in args if isinstance(
            a, (tuple, list))][:1], kwargs)

    def counted(self, result: Any, args: Any, kwargs: Any) -> None:
        """torch.arange(n)"""
        if len(args) == 1 and not {"start", "step"} & set(kwargs):
            self.factory(result, args, {})

    def like(self, result: Any, args: Any, kwargs: Any) -> None:
        """torch.empty_like(x), x.clone(), x.to(...): the same sizes; the rows
        of a contiguous tensor stay where they are."""
        source = args[0]
        if result is source or result.shape != source.shape:
            return
        known = self.known.of(source)
        self._put_rows(result, known.shape, known.is_contiguous() and
                       "memory_format" not in kwargs)

    def contiguous(self, result: Any, args: Any, kwargs: Any) -> None:
        """x.contiguous()"""
        if kwargs or len(args) > 1:
            return
        known = self.known.of(args[0])
        if result is args[0]:
            known.strides = row_major(known.shape)
        else:
            self._put_rows(result, known.shape, True)

    def strided(self, result: Any, args: Any, kwargs: Any) -> None:
        """torch.empty_strided((2, 3), (3, 1))"""
        if len(args) >= 2 and len(args[0]) == len(args[1]):
            self.known.put(result, _terms(args[0]), _terms(args[1]))

    def view(self, result: Any, args: Any, kwargs: Any) -> None:
        """x.view(-1, n), x.reshape(-1, n)"""
        source, numbers = args[0], kwargs.get("shape", _numbers(args[1:]))
        if numbers is None or len(numbers) != len(result.shape) or (
                len(args) < 2 and not kwargs):
            return
        known = self.known.of(source)
        made = self.known.put(
            result, [t if n != -1 else 1 for t, n in zip(
                _terms(numbers), numbers)], [None] * len(numbers))
        count: Term = sizes.product(map(self.known.size, known.values[0],
                                        known.shape))
        others = sizes.product(map(self.known.size, made.values[0],
                                   made.shape))
        if -1 in [int(n) for n in numbers]:
            axis = [int(n) for n in numbers].index(-1)
            rest = sizes.product(
                self.known.size(v, t) for i, (v, t) in enumerate(zip(
                    made.values[0], made.shape)) if i != axis)
            made.shape[axis] = sizes.term_of(count // rest)
            self._fact(count % rest, 0)
        else:
            self._fact(count, others)
        if known.is_contiguous():
            made.strides = row_major(made.shape)

    def flatten(self, result: Any, args: Any, kwargs: Any) -> None:
        """x.flatten()"""
        if len(args) == 1 and not kwargs:
            self.view(result, (args[0], -1), {})

    def _fact(self, left, right):
        """PyTorch has checked that they are equal."""
        left, right = sizes.term_of(left), sizes.term_of(right)
        if not isinstance(left, int) and left != right:
            self.known.facts.add(Fact(left, "==", right, None))

    def transposed(self, result: Any, args: Any, kwargs: Any) -> None:
        """x.transpose(0, 1)"""
        rank = len(result.shape)
        if len(args) == 3 and rank:
            axes = list(range(rank))
            i, j = int(args[1]) % rank, int(args[2]) % rank
            axes[i], axes[j] = axes[j], axes[i]
            self._permute(result, args[0], axes)

    def turned(self, result: Any, args: Any, kwargs: Any) -> None:
        """x.t(), x.T, x.mT"""
        rank = len(result.shape)
        if rank == 2:
            self._permute(result, args[0], [1, 0])

    def permuted(self, result: Any, args: Any, kwargs: Any) -> None:
        """x.permute(1, 0, 2)"""
        axes = _numbers(args[1:])
        if axes is not None and len(axes) == len(result.shape):
            self._permute(result, args[0],
                          [int(a) % len(axes) for a in axes])

    def _permute(self, result, source, axes):
        known = self.known.of(source)
        self.known.strides(source)  # the same strides, in another order
        self.known.put(result, [known.shape[a] for a in axes],
                       [known.strides[a] for a in axes])

    def part(self, result: Any, args: Any, kwargs: Any) -> None:
        """x[2], x[:, 1:9], x[None]"""
        source, key = args
        key = key if isinstance(key, tuple) else (key,)
        if not all(k is None or isinstance(k, (int, slice)) for k in key):
            return
        known = self.known.of(source)
        shape: list[Any] = []
        strides: list[Any] = []
        self.known.strides(source)
        axis = 0
        for k in [*key, *[slice(None)] * (len(known.shape) - len(
                [k for k in key if k is not None]))]:
            if k is None:
                shape.append(1)
                strides.append(None)
                continue
            if isinstance(k, slice):
                whole = k == slice(None)
                shape.append(known.shape[axis] if whole else None)
                strides.append(known.strides[axis]
                               if k.step in (None, 1) else None)
            axis += 1
        if len(shape) == len(result.shape):
            self.known.put(result, shape, strides)


_KINDS = {
    "factory": "torch.empty torch.zeros torch.ones torch.rand torch.randn",
    "method_factory": "Tensor.new_empty Tensor.new_zeros Tensor.new_ones",
    "full": "torch.full", "new_full": "Tensor.new_full",
    "integers": "torch.randint", "counted": "torch.arange",
    "like": "torch.empty_like torch.zeros_like torch.ones_like "
            "torch.full_like torch.rand_like torch.randn_like "
            "torch.randint_like torch.clone Tensor.clone Tensor.to "
            "Tensor.cuda Tensor.cpu Tensor.float Tensor.half "
            "Tensor.bfloat16 Tensor.int Tensor.long Tensor.detach "
            "torch.detach Tensor.type",
    "contiguous": "Tensor.contiguous", "strided": "torch.empty_strided",
    "view": "Tensor.view Tensor.reshape torch.reshape",
    "flatten": "Tensor.flatten torch.flatten",
    "transposed": "Tensor.transpose torch.transpose",
    "turned": "Tensor.t torch.t Tensor.T.__get__ Tensor.mT.__get__",
    "permuted": "Tensor.permute torch.permute",
    "part": "Tensor.__getitem__"}


def _function(torch, path):
    found = torch.Tensor if path.startswith("Tensor.") else torch
    for name in path.partition(".")[2].split("."):
        found = getattr(found, name, None)
    return found


class Watch:
    """What is called for each function of PyTorch."""

    def __init__(self, known: Known) -> None:
        torch = sys.modules["torch"]
        self.known = known
        making = Making(known)
        self.makers: dict[Any, Any] = {
            _function(torch, path): getattr(making, kind)
            for kind, paths in _KINDS.items() for path in paths.split()}
        t = torch.Tensor
        self.askers: dict[Any, Any] = {
            t.shape.__get__: lambda x: known.shape(x),
            t.numel: known.numel, t.nelement: known.numel,
            torch.numel: known.numel, t.size: self._size,
            t.stride: self._stride, t.__len__: lambda x: known.shape(x)[0],
            t.is_contiguous: self._is_contiguous}

    def _size(self, x, dim=None):
        found = self.known.shape(x)
        return found if dim is None else found[dim]

    def _stride(self, x, dim=None):
        found = self.known.strides(x)
        return found if dim is None else found[dim]

    def _is_contiguous(self, x):
        value = x.is_contiguous()
        if value:
            known = self.known.of(x)
            known.strides = row_major(known.shape)
        return value

    def call(self, func: Any, args: Any, kwargs: dict[str, Any]) -> Any:
        """func(*args, **kwargs), and what it tells of sizes."""
        result = func(*sizes.plain(tuple(args)), **{
            name: sizes.plain(v) for name, v in kwargs.items()})
        ask = self.askers.get(func)
        make = self.makers.get(func)
        if ask is None and make is None:
            return result
        with torch_private.unseen():
            try:
                if ask is not None and _is_plain(args[0]):
                    return ask(*args, **kwargs)
                if make is not None and _is_plain(result):
                    make(result, args, kwargs)
            except (TypeError, ValueError, IndexError):
                pass  # arguments that are not understood here
        return result


def _is_plain(tensor):
    """Whether it is a tensor that has memory of its own, or a Parameter."""
    torch: Any = sys.modules.get("torch")
    return torch is not None and type(tensor) in (torch.Tensor,
                                                  torch.nn.Parameter)


def _mode(watch):
    from torch.overrides import TorchFunctionMode

    class SizesMode(TorchFunctionMode):
        """Sends every call to ``Watch.call``."""

        def __torch_function__(self, func, types, args=(), kwargs=None):
            return watch.call(func, args, kwargs or {})
    return SizesMode()


# ---- launches ---------------------------------------------------------------


class Launch:
    """The terms of a launch that is about to run."""

    def __init__(self, known: Known, names: Sequence[str], args: Any,
                 kwargs: dict[str, Any]) -> None:
        self.known = known
        self.values = {**dict(zip(names, args)),
                       **{n: v for n, v in kwargs.items() if n in names}}
        self.grid: Any = ()

    def resolve(self, grid: Callable[..., Any]) -> Callable[..., Any]:
        """A function that gives the grid, which notes it."""
        def noted(given):
            meant = {n: v for n, v in self.values.items()
                     if isinstance(v, Size)}
            return self.note(grid({**given, **meant}))
        return noted

    def note(self, grid: Any) -> Any:
        self.grid = grid if isinstance(grid, (tuple, list)) else (grid,)
        return sizes.plain(grid)

    # ---- as text ---------------------------------------------------------

    def _tensors(self):
        """(name, its Sizes) of tensors, also of those in descriptors."""
        with torch_private.unseen():
            for name, value in self.values.items():
                tensor = getattr(value, "base", value)
                if _is_plain(tensor):
                    yield name, self.known.of(tensor)

    def _quantities(self):
        """(text, term) of the numbers of the launch."""
        tensors = list(self._tensors())
        for name, known in tensors:
            for i, term in enumerate(known.shape):
                yield f"{name}.shape[{i}]", term
        for name, known in tensors:
            for i, term in enumerate(known.strides):
                if term is not None:
                    yield f"{name}.stride({i})", term
        for name, value in self.values.items():
            if isinstance(value, Size):
                yield name, value.term
        for i, value in enumerate(self.grid):
            if isinstance(value, Size):
                yield f"grid[{i}]", value.term

    def _worked_with(self):
        """Terms of the numbers that the script has worked with: a stride that
        it only hands on says nothing of sizes, though it may be one."""
        tensors = list(self._tensors())
        strides = [t for _, known in tensors for t in known.strides]
        for _, known in tensors:
            yield from (t for t in known.shape if not isinstance(t, Root))
        for name, value in self.values.items():
            if isinstance(value, Size) and not (
                    "stride" in name and value.term in strides):
                yield value.term
        yield from (v.term for v in self.grid if isinstance(v, Size))

    def relations(self) -> str:
        """A line for each relation: "n == x.numel()", and for each number that
        the script uses as it is: "x.shape[0]"."""
        quantities = list(self._quantities())
        names: dict[Root, str] = {}
        for name, term in quantities:
            if isinstance(term, Root):
                names.setdefault(term, name)
        lines: list[str] = []
        used: set[Root] = set()
        for name, term in quantities:
            needed = sizes.roots(term)
            if isinstance(term, Root) and names[term] == name or (
                    not needed <= names.keys()):
                continue
            lines.append(f"{name} == {sizes.text(term, names)}")
        for term in self._worked_with():
            used |= sizes.roots(term) & names.keys()
        for fact in self.known.facts:
            needed = sizes.roots(fact.left) | sizes.roots(fact.right)
            if needed and needed <= names.keys():
                lines.append(_said(fact, names))
        return "\n".join([names[root] for root in used] + lines)


def _said(fact, names):
    text = (f"{sizes.text(fact.left, names)} {fact.comparison} "
            f"{sizes.text(fact.right, names)}")
    at = fact.place
    return text if at is None else f"{text}  # {at.file}:{at.line}"


class HostSizes:
    """Of a session, while scripts are proved."""

    def __init__(self) -> None:
        self.known = Known()
        self.launch: Launch | None = None  # that is about to run
        self._patches = Patches()
        self._watch: Watch | None = None
        self._entered: Any = None

    def mode(self) -> Any:
        """The mode that sees calls, for a thread that has none."""
        assert self._watch is not None
        return _mode(self._watch)

    def install(self) -> None:
        """After PyTorch was imported."""
        self._watch = Watch(self.known)
        self._entered = self.mode()
        self._entered.__enter__()
        put = self._patches.set
        put(builtins, "min", sizes.extreme(min, "min"))
        put(builtins, "max", sizes.extreme(max, "max"))

    def follow(self) -> None:
        """After Triton, or what stands in its place, was imported."""
        triton = sys.modules["triton"]
        self._patches.set(triton, "next_power_of_2",
                          sizes.next_power(triton.next_power_of_2))

    def uninstall(self) -> None:
        if self._entered is not None:
            self._entered.__exit__(None, None, None)
            self._entered = None
        self._patches.undo()

    def begin(self, names: Sequence[str], args: Any, kwargs: dict[str, Any],
              grid: Any) -> tuple[Any, dict[str, Any], Any]:
        """A launch begins; its arguments, keywords and grid with ints in
        place of Sizes."""
        launch = self.launch = Launch(self.known, names, args, kwargs)
        grid = launch.resolve(grid) if callable(grid) else (
            None if grid is None else launch.note(grid))
        return (sizes.plain(tuple(args)),
                {n: sizes.plain(v) for n, v in kwargs.items()}, grid)

    def begin_compiled(self, function: Any, args: Any,
                       grid: Any) -> tuple[Any, Any]:
        """The same of a compiled kernel, which takes all arguments, or all
        but constexprs."""
        names = [p.name for p in function.params
                 if len(args) == len(function.params) or not p.is_constexpr]
        args, _, grid = self.begin(names, args, {}, grid)
        return args, grid

    def relations(self) -> str:
        """Those of the launch that is about to run, as text."""
        return "" if self.launch is None else self.launch.relations()
