#!/usr/bin/env python3
"""What `tkdbg run --sizes` says of scripts, counted: a table for docs/prove.md.

    tests/sizes/table.py --tkdbg TKDBG [--python PYTHON] [--most N] FILE...

Each finding is printed too, so that somebody reads it at its source.  Exit
status: 1 if there is one.
"""
import argparse
import collections
import json
import os
import subprocess
import sys
import time

HEAD = "| scripts | tried | nothing found | not judged | findings | not tried |"
RULE = "|---|---|---|---|---|---|"


def outcomes(tkdbg, path, python, most):
    """(a count of what came of each run, the findings) of a script."""
    command = [tkdbg, "run", "--json", f"--sizes={most}",
               *(["--python", python] if python else []), path]
    done = subprocess.run(command, stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE, text=True, check=False)
    count: collections.Counter = collections.Counter()
    found = []
    for line in done.stderr.splitlines():
        entry = json.loads(line) if line.startswith("{") else {}
        message = entry.get("message", "")
        if entry.get("kind") == "sizes":
            for what in "nothing found", "not judged":
                count[what] += f": {what}" in message
        elif any("line" in n and n.get("file", "").endswith(
                os.path.basename(path)) for n in entry.get("notes", ())[-1:]):
            count["findings"] += 1
            found.append(f"{path}: {entry['notes'][-1]['text']}: {message}")
    return count, found


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tkdbg", required=True)
    parser.add_argument("--python", help="runs the scripts")
    parser.add_argument("--most", type=int, default=2)
    parser.add_argument("files", nargs="+")
    args = parser.parse_args()
    total: collections.Counter = collections.Counter()
    every, slowest = [], 0.0
    for path in args.files:
        began = time.monotonic()
        count, found = outcomes(args.tkdbg, path, args.python, args.most)
        slowest = max(slowest, time.monotonic() - began)
        total += count
        total["tried" if sum(count.values()) else "not tried"] += 1
        every += found
    print(HEAD, RULE, sep="\n")
    print(f"| {len(args.files)} |", " | ".join(str(total[k]) for k in (
        "tried", "nothing found", "not judged", "findings", "not tried")),
        "|")
    print(f"slowest: {slowest:.1f} s", *every, sep="\n", file=sys.stderr)
    return bool(every)


if __name__ == "__main__":
    sys.exit(main())
