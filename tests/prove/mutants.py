"""Mutants of kernels that are right, and what `tkdbg prove` says of each.

    python3 tests/prove/mutants.py --tkdbg build/tkdbg [--runs N] [--right]
        [KERNEL...]

Each kernel of table.txt that is proved is changed in one place: a mask is
dropped, < becomes <=, a program takes another one's part. What is proved of a
mutant is run at random sizes under the detectors, and must have no finding;
what is refuted was run by tkdbg already. --right: the kernels as they are.
Exit status 1 if a verdict is wrong.
"""
from __future__ import annotations

import argparse
import ast
import collections
import copy
import json
import os
import random
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from typing import Any

import launches

# of a finding, the duty that it speaks against
AGAINST = {"bounds": "bounds", "overflow": "no wrap", "race": "apart",
           "unwritten": "coverage", "assert": "assert"}


class Change(ast.NodeTransformer):
    """The change of a number; `made` says what was changed, None: nothing."""

    def __init__(self, number: int) -> None:
        self.left = number
        self.made: str | None = None

    def _take(self, what: str) -> bool:
        self.left -= 1
        if self.left == -1:
            self.made = what
        return self.left == -1

    def visit_Call(self, node: ast.Call) -> Any:
        self.generic_visit(node)
        for keyword in node.keywords:
            if keyword.arg == "mask" and self._take("no mask"):
                node.keywords = [k for k in node.keywords
                                 if k.arg not in ("mask", "other")]
                return node
        name = ast.unparse(node.func)
        if name == "tl.cdiv" and self._take("cdiv rounds down"):
            return ast.BinOp(node.args[0], ast.FloorDiv(), node.args[1])
        if name in ("tl.program_id", "tl.arange") and self._take("one more"):
            return ast.BinOp(node, ast.Add(), ast.Constant(1))
        return node

    def visit_Compare(self, node: ast.Compare) -> Any:
        self.generic_visit(node)
        others = {ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE,
                  ast.GtE: ast.Gt}
        other = others.get(type(node.ops[0]))
        if other is not None and self._take("the limit too"):
            node.ops[0] = other()
        if self._take("one more in a condition"):
            node.comparators[0] = ast.BinOp(node.comparators[0], ast.Add(),
                                            ast.Constant(1))
        return node

    def visit_BinOp(self, node: ast.BinOp) -> Any:
        self.generic_visit(node)
        if isinstance(node.op, ast.BitAnd):
            if self._take("half a mask"):
                return node.left
            if self._take("the other half"):
                return node.right
        if isinstance(node.op, ast.Add) and self._take("a difference"):
            node.op = ast.Sub()
        elif isinstance(node.op, ast.Mult) and self._take("not multiplied"):
            return node.left
        elif isinstance(node.op, ast.FloorDiv) and self._take("a remainder"):
            node.op = ast.Mod()
        return node


def mutants(function: ast.FunctionDef) -> Iterator[tuple[str, str]]:
    """(what was changed, the text of the function)."""
    number = 0
    while True:
        change = Change(number)
        tree = ast.fix_missing_locations(change.visit(copy.deepcopy(function)))
        if change.made is None:
            return
        yield change.made, ast.unparse(tree)
        number += 1


class Sources:
    """The kernels, and a file with one of them changed."""

    def __init__(self) -> None:
        with open(launches.KERNELS) as f:
            self.tree = ast.parse(f.read())

    def function(self, name: str) -> ast.FunctionDef:
        return next(n for n in self.tree.body
                    if isinstance(n, ast.FunctionDef) and n.name == name)

    def text(self, name: str, changed: str) -> str:
        parts = [changed if isinstance(n, ast.FunctionDef) and n.name == name
                 else ast.unparse(n) for n in self.tree.body]
        return "\n\n".join(parts) + "\n"


def tkdbg(command: str, *args: str) -> Any:
    return subprocess.run([command, *args], capture_output=True, text=True,
                          timeout=600)


def proof_of(command: str, path: str, row: launches.Row) -> Any:
    """The proof; None: the mutant does not compile."""
    launch = launches.launch(row.kind, row.kernel, *launches.SIZES)
    done = tkdbg(command, "prove", "--json", path, *launch.options(),
                 *row.options())
    return json.loads(done.stdout) if done.stdout.startswith("{") else None


def sizes_for(row: launches.Row, choose: random.Random) -> tuple[int, ...]:
    """Sizes that obey what the row assumes."""
    m, n, k = (choose.randrange(2, 70) for _ in range(3))
    if row.kernel == "described":
        n *= 4  # descriptors want strides of 16 bytes
    if row.kind == "O":
        m = min(m, launches.B)
    if "N % B" in row.assume:
        n = launches.B * choose.randrange(1, 5)
    if "n % 4" in row.assume:
        m *= 4
    if "n_cols <= B" in row.assume:
        n = min(n, 64)
    return m, n, k


def contradicted(command: str, path: str, row: launches.Row,
                 sizes: tuple[int, ...], proved: Any) -> list[str]:
    """What a run of these sizes reports against what is proved: duties that
    are proved at that line, or of that tensor."""
    launch = launches.launch(row.kind, row.kernel, *sizes)
    done = tkdbg(command, "run", "-q", "--json", "--keep-going",
                 "--check=bounds,race,twice,overflow,unwritten", path,
                 *launch.options())
    wrong = []
    for line in done.stderr.splitlines() + done.stdout.splitlines():
        found = json.loads(line) if line.startswith("{") else {"kind": ""}
        duty = AGAINST.get(found["kind"])
        if "another lane" in found.get("message", ""):
            duty = None  # of one program: prove does not speak of its order
        elif found["kind"] == "twice":
            duty = "apart" if "programs" in found["message"] else "once"
        wrong += [f"{p['duty']} of {p['subject']}: {found['message']}"
                  for p in proved if p["duty"] == duty and _is_about(p, found)]
    return wrong


def _is_about(item: Any, found: Any) -> bool:
    """Whether a finding is of the line of a proof, or of its tensor."""
    tensor = item["subject"].split()[-1]
    if item["duty"] in ("bounds", "no wrap", "assert"):
        return item.get("line") == found.get("line")
    return f"{tensor}[" in found["message"]


class Trial:
    """What verdicts come to, and which of them are wrong."""

    def __init__(self, command: str, runs: int) -> None:
        self.command, self.runs = command, runs
        self.count: collections.Counter[str] = collections.Counter()
        self.wrong = 0
        self.choose = random.Random(35)

    def judge(self, path: str, row: launches.Row, what: str) -> None:
        """The kernel of a row, as a file has it."""
        proof = proof_of(self.command, path, row)
        if proof is None:
            self.count["not compiled"] += 1
            return
        verdicts = {i["verdict"] for i in proof["items"]}
        verdict = next((v for v in ("counterexample", "undecided",
                                    "depends on data") if v in verdicts),
                       "proved")
        self.count[verdict] += 1
        proved = [i for i in proof["items"] if i["verdict"] == "proved"]
        for _ in range(self.runs):
            sizes = sizes_for(row, self.choose)
            for text in contradicted(self.command, path, row, sizes, proved):
                self.wrong += 1
                print(f"WRONG {row.kernel}, {what}, sizes {sizes}: {text}")
        print(f"{row.kernel}: {what}: {verdict}", flush=True)

    def tell(self) -> None:
        for verdict, times in sorted(self.count.items()):
            print(f"{times:5} {verdict}")
        print(f"{self.wrong:5} wrong")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tkdbg", required=True)
    parser.add_argument("--runs", type=int, default=4)
    parser.add_argument("--right", action="store_true")
    parser.add_argument("kernels", nargs="*")
    asked = parser.parse_args()
    sources, trial = Sources(), Trial(asked.tkdbg, asked.runs)
    rows = {r.kernel: r for r in launches.table()
            if not r.refuted and not r.open and
            (not asked.kernels or r.kernel in asked.kernels)}
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "mutant.py")
        for name, row in rows.items():
            function = sources.function(name)
            changes = ([("as it is", ast.unparse(function))] if asked.right
                       else mutants(function))
            for what, text in changes:
                with open(path, "w") as f:
                    f.write(sources.text(name, text))
                trial.judge(path, row, what)
    trial.tell()
    return 1 if trial.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
