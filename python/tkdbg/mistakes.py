"""What was wrong with the line of a launch, where the exception that Python
or Triton raises leaves the reader to guess: no grid, a grid of floats, a list
for a tensor, a forgotten decorator and their like.

The exception stays as it is.  Its frames still hold what the launch was given,
and the syntax tree of the script says where that stands.
"""
from __future__ import annotations

import ast
import difflib
import inspect
import linecache
import os
import re
import types
from collections.abc import Iterator
from typing import Any, Callable, NamedTuple, Optional

from . import arguments, binder, errors, functions, hostlines, source

_HERE = os.path.dirname(os.path.abspath(__file__)) + os.sep
_LIBRARIES = ("triton", "torch")  # who stands between script and launch
_UNKNOWN = object()


class Found(NamedTuple):
    """A mistake: the expression, what it is, and what to do."""
    node: Any
    said: str
    to_do: str


class Launch(NamedTuple):
    """A call of a function that runs as a kernel, or is meant to."""
    call: ast.Call
    kernel: Any  # a jit function, a tuner, or a plain function
    inner: list[types.FrameType]  # called by the script's line, in order

    @property
    def name(self) -> str:
        """The kernel as the script's line has it."""
        func = self.call.func
        return ast.unparse(func.value if isinstance(func, ast.Subscript)
                           else func)

    @property
    def grid(self) -> ast.expr | None:
        func = self.call.func
        return func.slice if isinstance(func, ast.Subscript) else None

    @property
    def function(self) -> types.FunctionType | None:
        return _plain(self.kernel)

    @property
    def parameters(self) -> dict[str, inspect.Parameter]:
        function = self.function
        return dict(inspect.signature(function).parameters) if (
            function is not None) else {}

    def given(self) -> dict[str, Any]:
        """What the parameters were given, by name, as far as it is known."""
        run = self._local("args", "kwargs")
        if run is None or self.function is None:
            return {}
        known = {k: v for k, v in run["kwargs"].items()
                 if k in self.parameters}
        try:
            return dict(inspect.signature(self.function).bind_partial(
                *run["args"], **known).arguments)
        except TypeError:
            return known

    def node_of(self, parameter: str) -> ast.AST:
        """The expression that stands for a parameter; else the call."""
        given, _ = hostlines.given_to(self.call, list(self.parameters))
        return given.get(parameter, self.call)

    def grid_value(self) -> Any:
        """The grid, or what a function gave for it."""
        for frame in reversed(self.inner):
            if "grid" in frame.f_locals and _is_library(frame):
                return frame.f_locals["grid"]
        return _UNKNOWN

    def _local(self, *names: str) -> dict[str, Any] | None:
        """The variables of the outermost inner frame that has these."""
        return next((f.f_locals for f in self.inner
                     if all(n in f.f_locals for n in names)), None)


class Place(NamedTuple):
    """A line of the script that was running."""
    file: str
    line: int
    tree: ast.AST
    launches: list[Launch]


def advice(error: BaseException) -> str:
    """The report on a mistake in the script's line, or "".  To be asked
    while the exception has all its frames."""
    text = str(error.args[0]) if error.args else ""
    if isinstance(error, SyntaxError):
        badly = "Non-UTF-8 code" in text or "codec can't decode" in text
        return _encoding(error.filename) if badly else ""
    try:
        for place in _places(error.__traceback__):
            if "should be defined in a Python file" in text:
                return _encoding(place.file)
            for kind, pattern, rule in _RULES:
                match = isinstance(error, kind) and re.search(pattern, text)
                found = match and rule(place, match)
                if found:
                    return _report(place.file, found)
    except (TypeError, ValueError, AttributeError, RecursionError):
        pass  # it is only advice: objects of the script may do anything
    return ""


# ---- frames and calls --------------------------------------------------------


def _is_library(frame: types.FrameType) -> bool:
    name = str(frame.f_globals.get("__name__")).partition(".")[0]
    file = frame.f_code.co_filename
    return name in _LIBRARIES or file.startswith((_HERE, "<"))


def _places(tb: types.TracebackType | None) -> Iterator[Place]:
    """The lines of the script that an exception came through, the innermost
    first."""
    frames = []
    while tb is not None:
        frames.append((tb.tb_frame, tb.tb_lineno))
        tb = tb.tb_next
    for i in range(len(frames) - 1, -1, -1):
        frame, line = frames[i]
        if _is_library(frame):
            continue
        file = frame.f_code.co_filename
        tree = source.tree("".join(linecache.getlines(file)))
        if tree is None:  # perhaps because of its encoding
            tree = ast.Module([], [])
        inner = [f for f, _ in frames[i + 1:]]
        yield Place(file, line, tree, _launches(tree, frame, line, inner))


def _launches(tree: ast.AST, frame: types.FrameType, line: int,
              inner: list[types.FrameType]) -> list[Launch]:
    """The calls around a line whose function is a kernel, or meant to be."""
    found = []
    for node in ast.walk(tree):
        if not (isinstance(node, ast.Call) and
                node.lineno <= line <= (node.end_lineno or node.lineno)):
            continue
        func = node.func
        kernel = _value(func.value if isinstance(func, ast.Subscript)
                        else func, frame)
        if _is_kernel(kernel) or _uses_language(kernel):
            found.append(Launch(node, kernel, inner))
    return found


def _value(node: ast.expr, frame: types.FrameType) -> Any:
    """What a name, or an attribute of one, stands for; else None."""
    if isinstance(node, ast.Name):
        return frame.f_locals.get(node.id, frame.f_globals.get(node.id))
    if isinstance(node, ast.Attribute):
        of = _value(node.value, frame)
        return None if of is None else getattr(of, node.attr, None)
    return None


def _is_kernel(value: Any) -> bool:
    return functions.is_jit_class(type(value)) or (
        hasattr(value, "fn") and hasattr(value, "run"))


def _plain(value: Any) -> types.FunctionType | None:
    """The Python function in a jit function or a tuner."""
    for _ in range(16):
        if isinstance(value, types.FunctionType):
            return value
        value = getattr(value, "fn", None)
    return None


def _uses_language(value: Any) -> bool:
    """Whether a plain function has operations of the language in it."""
    if not isinstance(value, types.FunctionType):
        return False
    named = (value.__globals__.get(n) for n in value.__code__.co_names)
    return any(isinstance(v, types.ModuleType) and
               v.__name__ == "triton.language" for v in named)


# ---- reports --------------------------------------------------------------


def _report(file: str, found: Found) -> str:
    """The mistake as a report of tkdbg's shows it."""
    line, begin = found.node.lineno, found.node.col_offset
    text = linecache.getline(file, line).rstrip("\n")
    data = text.encode()
    end = (found.node.end_col_offset if found.node.end_lineno == line
           else len(data))
    column = len(data[:begin].decode("utf-8", "replace"))
    width = len(data[begin:end].decode("utf-8", "replace"))
    return (f"\n{file}:{line}:{column + 1}: error: {found.said} [launch]\n"
            f"{line:5} | {text}\n      | {' ' * column}^"
            f"{'~' * (width - 1)}\n  help: {found.to_do}")


def _encoding(file: str | None) -> str:
    """The report on a byte that is not in a file's encoding, or ""."""
    found = source.undecodable(file) if file else None
    if found is None:
        return ""
    return (f"\n{found.file}:{found.line}:{found.column}: error: the byte "
            f"0x{found.byte:02x} is not UTF-8 [file]\n{found.line:5} | "
            f"{found.text}\n      | {' ' * (found.column - 1)}^\n  help: save "
            "the file as UTF-8, or name its encoding in its first line, such "
            "as # -*- coding: latin-1 -*-")


def _a(value: Any) -> str:
    """What kind of thing a value is: "a list", "an int"."""
    name = type(value).__name__
    return ("an " if name[:1] in "aeiouAEIOU" else "a ") + name


def _listed(names: Any) -> str:
    names = list(names)
    return ", ".join(names[:-1]) + " and " * (len(names) > 1) + (
        names[-1] if names else "nothing")


def _nearest(name: str, among: Any) -> str:
    """The name that was probably meant, or ""."""
    near = difflib.get_close_matches(name, list(among), 1)
    return near[0] if near else ""


# ---- the kernel ------------------------------------------------------------


def _without_grid(place: Place, match: re.Match) -> Found | None:
    for launch in place.launches:
        if launch.grid is None and _is_kernel(launch.kernel):
            name = launch.name
            return Found(
                launch.call.func, f"{name} is a kernel, and is called like a "
                "function", "say how many programs run: "
                f"{name}[grid](...), where grid is a tuple such as (1,) or "
                "(triton.cdiv(n, BLOCK),)")
    return None


def _not_decorated(place: Place, match: re.Match) -> Found | None:
    for launch in place.launches:
        function = launch.kernel
        if isinstance(function, types.FunctionType):
            code = function.__code__
            file = os.path.basename(code.co_filename)
            return Found(
                launch.call.func,
                f"{launch.name} is a plain Python function, not a kernel",
                f"put @triton.jit on the line above 'def {code.co_name}' "
                f"({file}:{code.co_firstlineno})" + (
                    "" if launch.grid is not None else
                    f", and launch it with a grid: {launch.name}[grid](...)"))
    return None


def _not_imported(place: Place, match: re.Match) -> Found | None:
    name = match[1]
    node = next((n for n in ast.walk(place.tree) if isinstance(n, ast.Name)
                 and n.id == name and n.lineno == place.line
                 and isinstance(n.ctx, ast.Load)), None)
    if node is None:
        return None
    line = ("import triton.language as tl" if name == "tl"
            else "import triton")
    return Found(node, f"{name} is used, and nothing of that name is imported",
                 f"write '{line}' at the top of the file")


def _result(place: Place, match: re.Match) -> Found | None:
    """Something is done with what a launch returned."""
    node = min((n for n in ast.walk(place.tree) if isinstance(n, ast.expr)
                and n.lineno == place.line), default=None,
               key=lambda n: n.col_offset)
    if node is None:
        return None
    return Found(node, "a launch has no result to compute with: it gives what "
                 "the kernel was compiled to",
                 "let the kernel store into a tensor, such as out = "
                 "torch.empty_like(x), and use that tensor after the launch")


# ---- grids -----------------------------------------------------------------

_TUPLE = "a grid is a tuple of one to three whole numbers, such as "


def _grid(place: Place, match: re.Match) -> Found | None:
    for launch in place.launches:
        value = launch.grid_value()
        if launch.grid is None or value is _UNKNOWN:
            continue
        return _wrong_grid(launch.grid, value)
    return None


def _wrong_grid(node: ast.expr, value: Any) -> Found | None:
    """What is wrong with a grid; None: nothing."""
    if not isinstance(value, (tuple, list)):
        if callable(value):
            return Found(node, "the function that gives the grid takes no "
                         "argument", "it is called with a dictionary of the "
                         "kernel's arguments: lambda meta: (triton.cdiv(n, "
                         "meta['BLOCK']),)")
        whole = isinstance(value, int)
        return Found(node, f"the grid is {_a(value)}, {value!r}",
                     _TUPLE + (f"({value},)" if whole else "(1,)"))
    if not value:
        return Found(node, "the grid is empty", _TUPLE + "(1,)")
    for axis, item in enumerate(value[:3]):
        if not hasattr(item, "__index__"):
            inside = node.elts[axis] if (
                isinstance(node, ast.Tuple) and axis < len(node.elts)
                ) else node
            to_do = ("'/' gives a float: use triton.cdiv(n, BLOCK), which "
                     "rounds up, or //" if isinstance(item, float) else
                     _TUPLE + "(1,)")
            return Found(inside, f"axis {axis} of the grid is {_a(item)}, "
                         f"{item!r}, not a whole number", to_do)
    return None


def _bad_axis(place: Place, match: re.Match) -> Found | None:
    """A number of programs that no grid can have."""
    axis = "xyz".index(match[1])
    for launch in place.launches:
        node = launch.grid
        if node is None:
            continue
        if isinstance(node, ast.Tuple) and axis < len(node.elts):
            node = node.elts[axis]
        return Found(node, f"axis {axis} of the grid is {match[2]}",
                     "a grid counts programs: compute it from the sizes of "
                     "the tensors, as in (triton.cdiv(n, BLOCK),)")
    return None


def _grid_key(place: Place, match: re.Match) -> Found | None:
    """A grid's function asks for a name that is not a parameter."""
    name = match[0]
    for launch in place.launches:
        names = launch.parameters
        asked = next((n for n in ast.walk(launch.grid or launch.call)
                      if isinstance(n, ast.Constant) and n.value == name),
                     None)
        if launch.grid is None or not names or name in names:
            continue
        near = _nearest(name, names)
        return Found(asked or launch.grid, f"the grid asks for '{name}', and "
                     f"{launch.name} has no such parameter",
                     f"did you mean '{near}'?" if near else
                     f"its parameters are {_listed(names)}")
    return None


# ---- arguments --------------------------------------------------------------


def _argument(place: Place, match: re.Match) -> Found | None:
    """An argument of a type that kernels do not take."""
    for launch in place.launches:
        constexprs = {
            name for name, p in launch.parameters.items()
            if "constexpr" in binder.normalise(p.annotation)}
        for name, value in launch.given().items():
            if name not in constexprs and _type_name(value) == match[1]:
                return Found(launch.node_of(name), f"{name} of {launch.name} "
                             f"is {_a(value)}, which a kernel cannot take",
                             _instead(name, value))
    return None


def _type_name(value: Any) -> str:
    """The class of a value as the exception names it."""
    return str(arguments.unsupported(value)).rpartition(" ")[2]


def _instead(name: str, value: Any) -> str:
    if isinstance(value, list):
        return (f"make a tensor of it: torch.tensor({name}, device='cuda'); a "
                "tuple is taken too, and each item is then an argument")
    if hasattr(value, "__array_interface__"):
        return f"make a tensor of it: torch.from_numpy({name}).cuda()"
    if isinstance(value, (str, bytes)) or str(value).startswith("torch."):
        return (f"what is known before the launch is a compile-time value: "
                f"annotate the parameter, {name}: tl.constexpr" + (
                    "; element types are tl.float32 and so on"
                    if str(value).startswith("torch.") else ""))
    if isinstance(value, dict):
        return "pass each entry as an argument of its own"
    return ("kernels take tensors, numbers, None, tuples of these, and as "
            f"{name}: tl.constexpr any value known before the launch")


def _on_cpu(place: Place, match: re.Match) -> Found | None:
    for launch in place.launches:
        for name, value in launch.given().items():
            if getattr(getattr(value, "device", None), "type", "") == "cpu":
                return Found(launch.node_of(name), f"{name} of {launch.name} "
                             "is a tensor on the CPU", "create it with "
                             "device='cuda', or move it there with .cuda()")
    return None


def _missing(place: Place, match: re.Match) -> Found | None:
    """Parameters without an argument."""
    for launch in place.launches:
        names = launch.parameters
        missing = [n for n in re.findall(r"'(\w+)'", match.string)
                   if n in names]
        if not missing:
            continue
        other = [k for k in launch.call.keywords
                 if k.arg and k.arg not in names and k.arg not in
                 binder.OPTIONS]
        for keyword in other:
            near = _nearest(keyword.arg or "", missing)
            if near:
                return Found(keyword, f"{launch.name} has no parameter "
                             f"{keyword.arg}, and {near} is missing",
                             f"did you mean {near}?")
        last = missing[-1]
        known = "constexpr" in binder.normalise(names[last].annotation)
        return Found(launch.call, f"{launch.name} is called without "
                     f"{_listed(missing)}", f"its parameters are "
                     f"{_listed(names)}" + (
                         f"; {last} is a compile-time value, most often given "
                         f"by name: {launch.name}[grid](..., {last}=128)"
                         if known else ""))
    return None


def _too_many(place: Place, match: re.Match) -> Found | None:
    for launch in place.launches:
        names, args = launch.parameters, launch.call.args
        twice = re.search(r"multiple values for argument '(\w+)'",
                          match.string)
        if twice and twice[1] in names:
            node = next((k for k in launch.call.keywords
                         if k.arg == twice[1]), launch.call)
            return Found(node, f"{twice[1]} is given twice, by its place and "
                         "by name", f"the order is {_listed(names)}")
        if names and len(args) > len(names):
            return Found(args[len(names)], f"{launch.name} has {len(names)} "
                         f"parameters, and this is argument {len(names) + 1}",
                         f"the parameters are {_listed(names)}")
    return None


def _keyword(place: Place, match: re.Match) -> Found | None:
    """A keyword that is neither a parameter nor an option of launches."""
    for launch in place.launches:
        node = next((k for k in launch.call.keywords if k.arg == match[1]),
                    None)
        if node is None:
            continue
        near = _nearest(match[1], [*launch.parameters, *binder.OPTIONS])
        return Found(node, f"{match[1]} is neither a parameter of "
                     f"{launch.name} nor an option of launches",
                     f"did you mean {near}?" if near else
                     f"the parameters are {_listed(launch.parameters)}")
    return None


Rule = Callable[[Place, re.Match], Optional[Found]]

# (class of the exception, what its text has, who finds the mistake)
_RULES: tuple[tuple[Any, str, Rule], ...] = (
    (RuntimeError, r"Cannot call @triton\.jit'd outside", _without_grid),
    (TypeError, r"'function' object is not subscriptable", _not_decorated),
    (ValueError, r"Did you forget to add @triton\.jit", _not_decorated),
    (NameError, r"name '(tl|triton)' is not defined", _not_imported),
    ((TypeError, AttributeError), r"CompiledKernel'", _result),
    (KeyError, r"Keyword argument (\w+) was specified but", _keyword),
    (TypeError, r"failed to specialize argument of type: (\S+)",
     _argument),
    (ValueError, r"Pointer argument .* cannot be accessed", _on_cpu),
    (TypeError, r"\bmissing \d+ required", _missing),
    (errors.UsageError, r"grid axis ([xyz]) is (-?\d+)", _bad_axis),
    (TypeError, r"multiple values for|positional arguments? but \d+ were",
     _too_many),
    (KeyError, r"^\w+$", _grid_key),
    ((TypeError, IndexError, ValueError, AttributeError), "", _grid),
)
