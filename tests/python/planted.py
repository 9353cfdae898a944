"""Scripts with planted bugs: reading them, and running them in forks.

    python3 tests/python/planted.py [--check] [--show] [TEXT]
    python3 tests/python/planted.py --table

runs those whose name has TEXT under `tkdbg why`, or `run --check`, and says
which of them do not name the culprit's line.  planted.txt holds them.
"""
import contextlib
import os
import re
import sys
import tempfile

import support

HEAD = '''\
import numpy as np
import triton
import triton.language as tl
N, rng = SIZE, np.random.default_rng(0)
def randn(*shape): return rng.standard_normal(shape).astype("f4")
'''
SIZE = 100
SIZES = 100, 64, 257, 37  # of correct scripts


class Planted:
    """A script with a bug."""

    def __init__(self, name, lines):
        self.name = name
        self.kind = name.partition(":")[0]
        self.lines = lines

    def text(self, size=SIZE, right=False):
        head = HEAD.replace("SIZE", str(size))
        return head + "".join(f"{_version(line, right)}\n"
                              for line in self.lines)

    def culprits(self):
        """The numbers of the lines that are to blame."""
        first = HEAD.count("\n") + 1
        return [i for i, line in enumerate(self.lines, first)
                if "  #! " in line or line.endswith("  #~")]


def _version(line, right):
    wrong, mark, better = line.removesuffix("  #~").partition("  #! ")
    if not (mark and right):
        return wrong
    return wrong[:len(wrong) - len(wrong.lstrip())] + better


def read(path=os.path.join(support.HERE, "planted.txt")):
    with open(path) as f:
        sections = re.split(r"^== (.*)\n", f.read(), flags=re.M)
    return [Planted(name, text.rstrip().split("\n"))
            for name, text in zip(sections[1::2], sections[2::2])]


def run(text, options):
    """(what a script writes to standard error, its exit status) when it runs
    under tkdbg with these options, in a fork of this process."""
    import numpy  # noqa: F401 so that no fork imports it
    from tkdbg import __main__ as front, session, settings
    with tempfile.TemporaryDirectory() as folder:
        script = os.path.join(folder, "script.py")
        said = os.path.join(folder, "stderr")
        with open(script, "w") as f:
            f.write(text)
        pid = os.fork()
        if not pid:
            status = 3
            with contextlib.suppress(BaseException):
                with open(said, "wb", buffering=0) as f:
                    os.dup2(f.fileno(), 1)
                    os.dup2(f.fileno(), 2)
                chosen = session.current().options
                assert isinstance(chosen, settings.Options)
                chosen.update({"triton": "ours", "quiet": True, **options})
                os.chdir(folder)
                status = front.run([script])
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(status)
        status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        with open(said, errors="replace") as f:
            return f.read(), status


def answer(case):
    """The lines that `tkdbg why` adds."""
    said, _ = run(case.text(), {"why": True})
    lines = said.split("\n")
    starts = [i for i, line in enumerate(lines)
              if line.startswith("tkdbg: ")]
    if starts and "caught" not in lines[starts[-1]]:
        return lines[starts[-1]:-1]
    return [line for line in lines if not line.startswith("  File ")]


def named(text):
    """The numbers of the lines of script.py that a report names."""
    return {int(n) for found in re.findall(
        r"script\.py:(\d+)|^ +(\d+) \||\bline (\d+)", text, re.M)
        for n in found if n}


def names_culprit(text, case):
    lines = named(text)
    return any(abs(n - at) <= 1 for n in lines for at in case.culprits())


def findings(case, **options):
    """What `run` with these options says of a script's kernels."""
    said, _ = run(case.text(), options)
    return "\n".join(re.findall(r"^\S*script\.py:\d+:.*$", said, re.M))


def table():
    """The rows of docs/findings.md: of how many scripts of a kind each way
    names the culprit's line, or the one next to it."""
    rows = {}
    for case in read():
        row = rows.setdefault(case.kind, [0, 0, 0, 0])
        row[0] += 1
        for i, text in enumerate((findings(case), findings(case, check="all"),
                                  "\n".join(answer(case))), 1):
            row[i] += names_culprit(text, case)
    return [f"| {kind} | {a} of {n} | {b} of {n} | {c} of {n} |"
            for kind, (n, a, b, c) in rows.items()]


def main(words):
    if "--table" in words:
        print("\n".join(table()))
        return
    check, show = "--check" in words, "--show" in words
    asked = [w for w in words if not w.startswith("--")]
    hits, cases = 0, [c for c in read() if all(w in c.name for w in asked)]
    for case in cases:
        text = findings(case, check="all") if check else "\n".join(answer(case))
        hit = names_culprit(text, case)
        hits += hit
        print("ok" if hit else "NO", case.name, case.culprits(),
              text.count("\n") + 1)
        if show:
            print(text)
    print(f"{hits} of {len(cases)}")


if __name__ == "__main__":
    main(sys.argv[1:])
