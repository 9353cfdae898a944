"""Proves the kernels of many scripts, and prints shares and times as a table.

    corpus.py --tkdbg PROGRAM [NAME=FOLDER ...]

Always the examples; more are scripts of a FOLDER, or the *.json in it that
`tkdbg prove --table` has written.  A script that takes too long, or of which no
kernel was proved because it failed, is named.
"""
from __future__ import annotations

import argparse
import collections
import glob
import json
import os
import signal
import statistics
import subprocess
import sys
import tempfile
from typing import Any

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
VERDICTS = "proved", "counterexample", "depends on data", "undecided"
STATUSES = 0, 1, 5  # of `tkdbg prove`, where it came to an end
MOST_SECONDS = 300  # of a script


def run_to_end(command: list[str]) -> tuple[int | None, str]:
    """The status of a command and the last line that it wrote; None: it took
    too long, and what it had started is ended with it."""
    process = subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE, text=True, errors="replace",
        start_new_session=True)
    try:
        said = process.communicate(timeout=MOST_SECONDS)[1].split("\n")
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        return None, ""
    return process.returncode, next((x for x in reversed(said) if x), "")


def proved(tkdbg: str, script: str, failed: list[str]) -> list[dict[str, Any]]:
    """The kernels of a script; adds to those that failed, with the reason."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "table.json")
        status, said = run_to_end(
            [tkdbg, "prove", "-q", "--table", path, script])
        kernels = read([path])
    print(f"{script}: {len(kernels)} kernels", file=sys.stderr, flush=True)
    if status is None:
        failed.append(f"{script}: longer than {MOST_SECONDS} s, "
                      f"after {len(kernels)} kernels")
    elif status not in STATUSES:
        failed.append(f"{script}: status {status}, "
                      f"after {len(kernels)} kernels: {said}")
    return kernels


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
    cells = [name, len(kernels), whole, len(items), *shares,
             f"{statistics.median(seconds):.2f}", f"{max(seconds):.1f}"]
    return "| " + " | ".join(map(str, cells)) + " |\n"


def reasons(kernels: list[dict[str, Any]]) -> list[tuple[str, int]]:
    """Why questions are undecided, the most frequent first."""
    counted = collections.Counter(
        i["reason"].partition(": ")[0] for k in kernels for i in k["items"]
        if i["verdict"] == "undecided" and "line" not in i["reason"])
    return counted.most_common(8)


def table(groups: dict[str, list[dict[str, Any]]]) -> str:
    heads = ["kernels of", "forms", "all proved", "questions", *VERDICTS,
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


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--tkdbg", required=True)
    parser.add_argument("more", nargs="*", metavar="NAME=FOLDER")
    given = parser.parse_args()
    groups: dict[str, list[dict[str, Any]]] = {}
    failed: list[str] = []
    scripts = {"the examples": sorted(glob.glob(
        os.path.join(ROOT, "examples", "*.py")))}
    for more in given.more:
        name, _, where = more.partition("=")
        scripts[name] = sorted(glob.glob(os.path.join(where, "*.py")))
        groups[name] = read(glob.glob(os.path.join(where, "*.json")))
    for name, paths in scripts.items():
        groups[name] = distinct(groups.pop(name, []) + [
            k for path in paths
            for k in proved(given.tkdbg, path, failed)])
    show(groups)
    for line in failed:
        print(f"failed: {line}")
    print(table(groups), end="")
    return 1 if failed else 0


sys.exit(main())
