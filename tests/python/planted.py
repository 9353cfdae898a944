"""Scripts with planted bugs: reading them, and running them in forks.

    python3 tests/python/planted.py [--show] [TEXT]
    python3 tests/python/planted.py --table

runs those whose name has TEXT, and says of each whether `run`, the detectors of
`run --check`, all that `run --check` says, and `tkdbg why` name the culprit's
line; --table counts that by kind.  planted.txt holds them, and
planted_torch.txt those that use PyTorch, if it is installed.
"""
import contextlib
import functools
import importlib.util
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
TORCH = "import torch\n"  # in front of the head
SIZE = 100
SIZES = 100, 64, 257, 37  # of correct scripts


class Planted:
    """A script with a bug."""

    def __init__(self, name, lines, imports):
        self.name = name
        self.kind = name.partition(":")[0]
        self.lines = lines
        self.head = imports + HEAD

    def text(self, size=SIZE, right=False):
        head = self.head.replace("SIZE", str(size))
        return head + "".join(f"{_version(line, right)}\n"
                              for line in self.lines)

    def culprits(self):
        """The numbers of the lines that are to blame."""
        first = self.head.count("\n") + 1
        return [i for i, line in enumerate(self.lines, first)
                if "  #! " in line or line.endswith("  #~")]


def _version(line, right):
    wrong, mark, better = line.removesuffix("  #~").partition("  #! ")
    if not (mark and right):
        return wrong
    return wrong[:len(wrong) - len(wrong.lstrip())] + better


def _read(file, imports):
    with open(os.path.join(support.HERE, file)) as f:
        sections = re.split(r"^== (.*)\n", f.read(), flags=re.M)
    return [Planted(name, text.rstrip().split("\n"), imports)
            for name, text in zip(sections[1::2], sections[2::2])]


def read():
    torch = importlib.util.find_spec("torch")
    return (_read("planted.txt", "") +
            (_read("planted_torch.txt", TORCH) if torch else []))


def run(texts, options):
    """(what scripts write to standard error, their highest exit status) when
    they run under tkdbg with these options, one after the other in a fork of
    this process."""
    import numpy.testing  # noqa: F401 so that no fork imports it
    if any(text.startswith(TORCH) for text in texts):
        import torch  # noqa: F401
    from tkdbg import __main__ as front, session, settings
    with tempfile.TemporaryDirectory() as folder:
        said = os.path.join(folder, "stderr")
        pid = os.fork()
        if not pid:
            status = 3
            with contextlib.suppress(BaseException):
                with open(said, "wb", buffering=0) as f:
                    os.dup2(f.fileno(), 1)
                    os.dup2(f.fileno(), 2)
                chosen = session.current().options
                assert isinstance(chosen, settings.Options)
                chosen.update({"triton": "ours", "quiet": True,
                               **_version_for(texts), **options})
                os.chdir(folder)
                script, statuses = os.path.join(folder, "script.py"), []
                for text in texts:
                    with open(script, "w") as f:
                        f.write(text)
                    try:
                        statuses.append(front.run([script]))
                    except SystemExit as e:
                        statuses.append(e.code if isinstance(e.code, int)
                                        else int(bool(e.code)))
                status = max(statuses)
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(status)
        status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        with open(said, errors="replace") as f:
            return f.read(), status


def _version_for(texts):
    """Scripts with block pointers need a Triton that still has them."""
    return {"triton_version": "3.8"} if any(
        "make_block_ptr" in text for text in texts) else {}


class Said:
    """What is said of a script with a bug."""

    def __init__(self, case):
        said, _ = run([case.text()], {"why": True, "suspects": "off"})
        self.run = _findings(said)
        self.why = _answer(said) or "\n".join(
            line for line in said.split("\n") if not line.startswith("  File "))
        said, _ = run([case.text()], {"check": "all"})
        self.detectors = _findings(said)
        self.check = "\n".join((self.detectors, _answer(said)))

    def columns(self):
        """As docs/findings.md has them."""
        return self.run, self.detectors, self.check, self.why


def _findings(said):
    """What was found in a script's kernels while they ran."""
    return "\n".join(re.findall(r"^(?:  note: )?\S*script\.py:\d+:.*$", said,
                                re.M))


def _answer(said):
    """The lines about a comparison that failed."""
    found = re.search(r"^tkdbg: .* fails on .*", said, re.M | re.S)
    return found.group().rstrip("\n") if found else ""


def named(text):
    """The numbers of the lines of script.py that a report names."""
    return {int(n) for found in re.findall(
        r"script\.py:(\d+)|^ +(\d+) \||\bline (\d+)", text, re.M)
        for n in found if n}


def names_culprit(text, case):
    lines = named(text)
    return any(abs(n - at) <= 1 for n in lines for at in case.culprits())


@functools.lru_cache(maxsize=None)
def all_said():
    """[(Planted, Said), ...]"""
    return [(case, Said(case)) for case in read()]


def _rows(found, kind_of):
    rows = {}
    for case, said in found:
        row = rows.setdefault(kind_of(case), [0] * (1 + len(said.columns())))
        row[0] += 1
        for i, text in enumerate(said.columns(), 1):
            row[i] += names_culprit(text, case)
    return [" | ".join([f"| {kind}", *(f"{n} of {row[0]}" for n in row[1:])]) +
            " |" for kind, row in rows.items()]


def table():
    """The rows of docs/findings.md: of how many scripts of a kind each way
    names the culprit's line, or the one next to it."""
    plain = [found for found in all_said() if found[0].head == HEAD]
    rest = [found for found in all_said() if found[0].head != HEAD]
    return (_rows(plain, lambda case: case.kind) +
            _rows(plain, lambda case: "all of these") +
            _rows(rest, lambda case: case.kind))


def main(words):
    if "--table" in words:
        print("\n".join(table()))
        return
    asked = [w for w in words if not w.startswith("--")]
    for case in read():
        if not all(w in case.name for w in asked):
            continue
        said = Said(case)
        print(*("ok" if names_culprit(text, case) else "NO"
                for text in said.columns()), case.name, case.culprits(),
              said.why.count("\n") + 1)
        if "--show" in words:
            print(said.check, said.why, sep="\n")


if __name__ == "__main__":
    main(sys.argv[1:])
