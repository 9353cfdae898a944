"""The launches of table.txt: how each kind of launch follows from its sizes."""
from __future__ import annotations

import os
import re
from typing import NamedTuple

HERE = os.path.dirname(os.path.abspath(__file__))
KERNELS = os.path.join(HERE, "kernels.py")
B, P, BM, BN, BK = 16, 5, 8, 16, 8


def cdiv(a: int, b: int) -> int:
    return -(-a // b)


def _vector(n: int, *more: str) -> list[str]:
    return [f"x=f32[{n}]:ones", f"out=f32[{n}]:empty", f"n={n}", f"B={B}",
            *more]


def _rows(m: int, n: int, stride: str, size: str, block: str) -> list[str]:
    args = [f"x=f32[{m},{n}]:ones", f"out=f32[{m},{n}]:empty"]
    args += [f"{name}={n}" for name in stride.split()]
    return args + [f"{size}={n}"] + ([f"B={block}"] if block else [])


def _tiles(m: int, n: int, turned: bool) -> list[str]:
    out = (n, m) if turned else (m, n)
    return [f"x=f32[{m},{n}]:ones", f"out=f32[{out[0]},{out[1]}]:empty",
            f"M={m}", f"N={n}", f"stride_x={n}", f"stride_o={out[1]}",
            f"BM={BM}", f"BN={BN}"]


class Launch(NamedTuple):
    kernel: str
    args: list[str]
    grid: str

    def options(self) -> list[str]:
        given = [o for a in self.args for o in ("--arg", a)]
        return ["--kernel", self.kernel, "--grid", self.grid, *given]


# The sizes that launches are proved at: no two of them are alike.
SIZES = (91, 45, 29)


def launch(kind: str, kernel: str, m: int, n: int, k: int) -> Launch:
    """A launch of a kind with these sizes; vectors have m."""
    grid, args = f"{cdiv(m, B)}", _vector(m)
    if kind == "I":
        args.pop(1)
    elif kind == "P":
        args, grid = _vector(m, f"P={P}"), f"{P}"
    elif kind == "C":
        grid = f"{P}"
    elif kind == "G" or kind == "O":
        fill = "arange" if kind == "G" else "zeros"
        args = _vector(m, f"idx=i32[{m}]:{fill}")
        grid = grid if kind == "G" else "1"
    elif kind == "A":
        args[1] = "out=f32[1]:zeros"
    elif kind == "X":
        args = [f"out=f32[{m},4]:empty", f"n={m}", f"B={B}"]
    elif kind == "W":
        args, grid = [f"x=f32[{m}]:zeros", "out=f32[1]:zeros", f"n={m}"], "1"
    elif kind == "L":
        args, grid = [f"out=f32[{m}]:zeros", f"n={m}", f"B={B}"], "1"
    elif kind == "R":
        name = kernel == "softmax"
        args = _rows(m, n, "stride_x stride_o" if name else "stride",
                     "n_cols" if name else "N", "64" if name else str(B))
        grid = f"{m}"
    elif kind == "S":
        args, grid = _rows(m, n, "stride", "N", str(B)), f"{m}"
        args[1] = f"out=f32[{m}]:empty"
    elif kind == "Q":
        args, grid = _rows(m, n, "stride", "N", ""), f"{m}"
    elif kind in "TU":
        args, grid = _tiles(m, n, kind == "U"), f"{cdiv(m, BM)},{cdiv(n, BN)}"
    elif kind == "F":
        args = _tiles(m, n, False)
        grid = f"{cdiv(m, BM) * cdiv(n, BN)}"
    elif kind == "D":
        args, grid = [*_tiles(m, n, False), f"P={P}"], f"{P}"
    elif kind == "M":
        args = [f"a=f32[{m},{k}]:ones", f"b=f32[{k},{n}]:ones",
                f"c=f32[{m},{n}]:empty", f"M={m}", f"N={n}", f"K={k}",
                f"stride_a={k}", f"stride_b={n}", f"stride_c={n}",
                "BM=16", "BN=16", "BK=16"]
        grid = f"{cdiv(m, 16)},{cdiv(n, 16)}"
    if kernel.startswith("grouped") or kernel in (
            "swizzled", "persistent_tiles"):
        args.append("G=4")
    return Launch(kernel, args, grid)


class Row(NamedTuple):
    kind: str
    kernel: str
    refuted: frozenset[str]
    open: frozenset[str]
    assume: str

    def options(self) -> list[str]:
        """Those that assume what the row does."""
        parts = [p.strip() for p in self.assume.split("&") if p.strip()]
        return [o for p in parts for o in ("--assume", p)]

    def is_long(self) -> bool:
        """Whether its proof is one of those that take longest."""
        return self.kernel in _LONG


# Those whose proofs take longest, which `make test ROWS=all` tries.
_LONG = frozenset((
    "grouped", "grouped_no_min", "swizzled", "persistent_short",
    "persistent_fast", "matmul_no_k", "copy_2d_limits", "transpose_stride"))


def _duties(text: str) -> frozenset[str]:
    return frozenset(d.strip() for d in text.split(",") if d.strip())


def table() -> list[Row]:
    """The rows of table.txt."""
    rows = []
    with open(os.path.join(HERE, "table.txt")) as f:
        for line in f:
            if line.startswith("#") or not line.strip():
                continue
            what, _, assume = line.partition(";")
            found = re.match(r"(\w) (\w+) (.*)", what)
            assert found, line
            kind, kernel, verdicts = found.groups()
            wrong, _, rest = verdicts.replace("proved", "").partition("?")
            rows.append(Row(kind, kernel, _duties(wrong), _duties(rest),
                            assume.strip()))
    return rows
