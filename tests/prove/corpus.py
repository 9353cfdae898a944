"""Proves the kernels of many scripts and tests, and prints shares and times as
a table.

    corpus.py --tkdbg PROGRAM [--keep FOLDER] [--cases N] [--seconds N]
        [NAME=FOLDER ...]

Always the examples and the solutions of the puzzles; more are what lies in a
FOLDER: scripts, files of tests (test_*.py, which pytest runs, N cases of each
function), and the *.json that `tkdbg prove --table` has written.  A script that
takes too long, or of which no kernel was proved because it failed, is named.
--keep: what is proved stays in that folder, and what is there already is not
proved again, so that long work can be done in parts.
"""
from __future__ import annotations

import argparse
import collections
import glob
import json
import os
import re
import resource
import signal
import statistics
import subprocess
import sys
import tempfile
from typing import Any

import answers

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
VERDICTS = "proved", "counterexample", "depends on data", "undecided"
STATUSES = 0, 1, 5  # of `tkdbg prove`, where it came to an end


def run_to_end(command: list[str], seconds: int) -> tuple[int | None, str]:
    """The status of a command and the last line that it wrote; None: it took
    too long, and what it had started is ended with it."""
    path = os.pathsep.join([os.path.join(HERE, "plugin"), *filter(None, [
        os.environ.get("PYTHONPATH")])])
    process = subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE, text=True, errors="replace",
        start_new_session=True, env=dict(os.environ, PYTHONPATH=path))
    try:
        said = process.communicate(timeout=seconds)[1].split("\n")
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        return None, ""
    return process.returncode, next((x for x in reversed(said) if x), "")


class Corpus:
    """What is proved, by group, and what failed."""

    def __init__(self, given: argparse.Namespace, keep: str) -> None:
        self.tkdbg, self.seconds, self.keep = given.tkdbg, given.seconds, keep
        self.groups: dict[str, list[dict[str, Any]]] = {}
        self.failed: list[str] = []

    def add(self, group: str, what: str, command: list[str]) -> None:
        """The kernels that a command launches; what: its name."""
        safe = re.sub(r"[^\w.]+", "_", f"{group} {what}")
        path = os.path.join(self.keep, safe + ".json")
        if not os.path.exists(path):
            self._prove(group, what, path, command)
        self.groups.setdefault(group, []).extend(read([path]))

    def _prove(self, group: str, what: str, path: str,
               command: list[str]) -> None:
        status, said = run_to_end(
            [self.tkdbg, "prove", "-q", "--table", path, *command],
            self.seconds)
        number = len(read([path]))
        print(f"{group}: {what}: {number} kernels", file=sys.stderr, flush=True)
        if status is None:
            self.failed.append(f"{what}: longer than {self.seconds} s, "
                               f"after {number} kernels")
        elif status not in STATUSES or (status == 1 and not number):
            self.failed.append(f"{what}: status {status}, "
                               f"after {number} kernels: {said}")

    def add_launch(self, group: str, what: str, command: list[str]) -> None:
        """What is proved of a direct launch, which makes no table."""
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
        done = subprocess.run(
            [self.tkdbg, "prove", "--json", *command], capture_output=True,
            text=True, stdin=subprocess.DEVNULL, timeout=self.seconds)
        spent = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
        if done.returncode not in STATUSES:
            self.failed.append(f"{what}: status {done.returncode}: "
                               f"{done.stderr.strip()}")
            return
        for line in done.stdout.splitlines():
            proof = json.loads(line)
            found = {i["verdict"] for i in proof["items"]} or {"proved"}
            proof.update(seconds=spent, verdict=(
                "proved" if found == {"proved"} else "not proved"))
            self.groups.setdefault(group, []).append(proof)

    def add_folder(self, group: str, folder: str) -> None:
        """Scripts, tests and tables."""
        tables = sorted(glob.glob(os.path.join(folder, "*.json")))
        self.groups.setdefault(group, []).extend(read(tables))
        for path in sorted(glob.glob(os.path.join(folder, "**", "*.py"),
                                     recursive=True)):
            name = os.path.basename(path)
            if name.startswith("test_"):
                self.add(group, os.path.relpath(path, folder), [
                    "-m", "pytest", "-q", "-p", "few",
                    path])
            elif os.path.dirname(path) == os.path.normpath(folder):
                self.add(group, name, [path])

    def add_puzzles(self, group: str, folder: str) -> None:
        """The solutions of a pack."""
        with tempfile.TemporaryDirectory() as into:
            for path, options in answers.launches(folder, into):
                what = os.path.basename(path)[:-len(".py")]
                kernel = options[options.index("--kernel") + 1]
                self.add_launch(group, f"{what} {kernel}", [path, *options])


def read(tables: list[str]) -> list[dict[str, Any]]:
    """The kernels of tables."""
    kernels = []
    for path in tables:
        if os.path.exists(path) and os.path.getsize(path):
            with open(path, encoding="utf-8") as file:
                kernels += json.load(file)["kernels"]
    return kernels


def distinct(kernels: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Those of different names, values or questions."""
    known: dict[Any, dict[str, Any]] = {}
    for kernel in kernels:
        key = (kernel["kernel"], kernel["for"], kernel.get("form"),
               json.dumps([[i.get("file"), i.get("line"), i["duty"],
                            i["verdict"]] for i in kernel["items"]]))
        known.setdefault(key, kernel)
    return list(known.values())


def row(name: str, kernels: list[dict[str, Any]]) -> str:
    items = [i["verdict"] for k in kernels for i in k["items"]]
    shares = [f"{100 * items.count(v) / max(1, len(items)):.1f} %"
              for v in VERDICTS]
    whole = sum(k["verdict"] == "proved" for k in kernels)
    seconds = [k["seconds"] for k in kernels] or [0.0]
    names = {k["kernel"] for k in kernels}
    cells = [name, len(names), len(kernels), whole, len(items), *shares,
             f"{statistics.median(seconds):.2f}", f"{max(seconds):.1f}"]
    return "| " + " | ".join(map(str, cells)) + " |\n"


def reasons(kernels: list[dict[str, Any]]) -> list[tuple[str, int]]:
    """Why questions are undecided, the most frequent first."""
    counted = collections.Counter(
        i["reason"].partition(": ")[0] for k in kernels for i in k["items"]
        if i["verdict"] == "undecided" and "line" not in i["reason"])
    return counted.most_common(8)


def table(groups: dict[str, list[dict[str, Any]]]) -> str:
    heads = ["from", "kernels", "forms", "all proved", "questions", *VERDICTS,
             "median s", "most s"]
    text = "| " + " | ".join(heads) + " |\n" + "|---" * len(heads) + "|\n"
    return text + "".join(row(name, k) for name, k in groups.items() if k)


def show(groups: dict[str, list[dict[str, Any]]]) -> None:
    for name, kernels in groups.items():
        for k in kernels:
            for i in k["items"]:
                if i["verdict"] == "counterexample":
                    print(f"{name}: {k['kernel']}: {i.get('file')}:"
                          f"{i.get('line')}: {i['duty']}: {i['finding']}")
        for k in sorted(kernels, key=lambda k: -k["seconds"])[:3]:
            print(f"{name}: {k['kernel']}: {k['seconds']} s")
        for reason, count in reasons(kernels):
            print(f"{name}: undecided, {count}: {reason}")


def prove_all(given: argparse.Namespace, keep: str) -> Corpus:
    corpus = Corpus(given, keep)
    os.environ["TKDBG_CASES"] = str(given.cases)
    corpus.add_folder("the examples", os.path.join(ROOT, "examples"))
    corpus.add_puzzles("the puzzles", os.path.join(ROOT, "puzzles"))
    for more in given.more:
        name, _, where = more.partition("=")
        corpus.add_folder(name, where)
    for name, kernels in corpus.groups.items():
        corpus.groups[name] = distinct(kernels)
    return corpus


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--tkdbg", required=True)
    parser.add_argument("--keep", metavar="FOLDER")
    parser.add_argument("--cases", type=int, default=1)
    parser.add_argument("--seconds", type=int, default=300)
    parser.add_argument("more", nargs="*", metavar="NAME=FOLDER")
    given = parser.parse_args()
    if given.keep:
        os.makedirs(given.keep, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        corpus = prove_all(given, given.keep or folder)
    show(corpus.groups)
    for line in corpus.failed:
        print(f"failed: {line}")
    print(table(corpus.groups), end="")
    return 1 if corpus.failed else 0


if __name__ == "__main__":
    sys.exit(main())
