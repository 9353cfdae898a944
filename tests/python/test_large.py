"""Large inputs (tests/support/large.py) through every command: no crash, no
report of a sanitizer, no traceback, no end that does not come, and right
results where they are known.

Each kind goes through a part of the ways here; LARGE=1 in the environment
takes all of them, at the sizes that large.py names as huge.  In one process,
and very many: tests/fuzz/test_large.c.
"""
import os
import re
import subprocess
import sys
import tempfile
import unittest

import support
import large

support.need("library", "numpy")

BUILD = support.BUILD
TKDBG = os.path.join(BUILD, "tkdbg")
ALL = bool(os.environ.get("LARGE"))
SIZE = 700
EACH = 5  # without LARGE, each kind goes each fifth way
SECONDS = 300

# What no input may lead to.
FAULTS = re.compile(
    r"\.c:\d+: assertion failed|Sanitizer|runtime error:|Segmentation"
    r"|out of memory"
    r"|Traceback \(most recent call last\)(?!(.|\n)*k\.py)")


class Files:
    """A case as files, and the words that its launch is described by."""

    def __init__(self, case: large.Case, folder: str):
        self.case, self.folder = case, folder
        large.write(case, folder)
        self.launch = ["k.py", "--kernel", case.name, "--grid",
                       str(case.grid)]
        for name, value in case.args:
            self.launch += ["--arg", f"{name}={value}"]

    def run(self, *words: str, typed: str = "") -> "tuple[int, str]":
        done = subprocess.run([TKDBG, *words], cwd=self.folder, input=typed,
                              stdout=subprocess.PIPE, timeout=SECONDS,
                              stderr=subprocess.STDOUT, text=True,
                              errors="replace", env=support.environment())
        return done.returncode, done.stdout

    def lines(self) -> str:
        return "".join(f"{line}\n" for line in self.case.lines
                       if not line.startswith(("save", "source")))


def direct(f: Files, *words: str) -> "tuple[int, str]":
    return f.run("run", *words, *f.launch)


def script(f: Files) -> "tuple[int, str]":
    return f.run("run", "--python", sys.executable, "k.py")


def form(f: Files) -> "tuple[int, str]":
    status, text = f.run("ir", *f.launch)
    if status:
        return status, text
    with open(os.path.join(f.folder, "k.tk"), "w", encoding="utf-8") as out:
        out.write(text)
    return f.run("run", "--ir", "k.tk", *f.launch[3:])


def replay(f: Files) -> "tuple[int, str]":
    status, text = direct(f, "--record", "k.safetensors")
    return (status, text) if status else f.run("replay", "k.safetensors")


def debug(f: Files) -> "tuple[int, str]":
    return f.run("debug", "--nx", *f.launch, typed=f.lines())


def monitored(f: Files) -> "tuple[int, str]":
    """The same lines as gdb's `monitor` sends them, in packets."""
    packets = ["?", "qXfer:features:read:target.xml:0,ffff", "g"]
    packets += [f"qRcmd,{line.encode().hex()}"
                for line in f.lines().splitlines()]
    packets += ["m" + "0" * 5000 + ",4", "X0," + "0" * 5000, "vCont;c"]
    sent = b"".join(b"$%s#%02x+" % (p.encode(), sum(p.encode()) % 256)
                    for p in packets)
    return f.run("gdbserver", "-", *f.launch, typed=sent.decode())


def edited(f: Files) -> "tuple[int, str]":
    """An editor that evaluates them, and sets breakpoints with them."""
    import json
    path = os.path.join(f.folder, "k.py")
    words = {"program": path, "kernel": f.case.name,
             "grid": str(f.case.grid), "stopOnEntry": True,
             "args": dict(f.case.args)}
    asked = [("initialize", {"adapterID": "tkdbg"}), ("launch", words),
             ("setBreakpoints",
              {"source": {"path": path},
               "breakpoints": [{"line": 8, "condition": line,
                                "logMessage": line}
                               for line in f.lines().splitlines()]}),
             ("configurationDone", {})]
    asked += [("evaluate", {"expression": line, "context": context})
              for line in f.lines().splitlines()
              for context in ("repl", "watch")]
    asked.append(("disconnect", {}))
    sent = ""
    for i, (command, arguments) in enumerate(asked):
        body = json.dumps({"seq": i + 1, "type": "request",
                           "command": command, "arguments": arguments})
        sent += f"Content-Length: {len(body)}\r\n\r\n{body}"
    return f.run("dap", typed=sent)


WAYS = {
    "direct": direct,
    "script": script,
    "check": lambda f: direct(f, "--check"),
    "form": form,
    "ttir": lambda f: f.run("compile", "--emit", "ttir", *f.launch),
    "llir": lambda f: f.run("compile", "--emit", "llir", *f.launch),
    "ptx": lambda f: direct(f, "--engine", "ptx"),
    "debug": debug,
    "gdb": monitored,
    "dap": edited,
    "why": lambda f: f.run("why", "--python", sys.executable, "k.py"),
    "profile": lambda f: f.run("profile", *f.launch),
    "kernels": lambda f: f.run("kernels", "k.py"),
    "replay": replay,
    "explain": lambda f: direct(f, "--explain", "x[0]", "--blame", "x[0]"),
    "yield": lambda f: direct(f, "--schedule", "yield", "--jobs", "2"),
}
RESULT_IS_KNOWN = ("script",)


class Large(unittest.TestCase):
    """A test for each way; each case is a part of it."""

    def judge(self, way: str, f: Files) -> None:
        status, text = WAYS[way](f)
        fault = FAULTS.search(text)
        shown = text[-3000:]
        self.assertIsNone(fault, shown)
        self.assertIn(status, (0, 1, 2), shown)
        if way in RESULT_IS_KNOWN and f.case.holds and not f.case.may_refuse:
            self.assertEqual(status, 0, shown)

    def go(self, way: str) -> None:
        turn = list(WAYS).index(way)
        for i, (name, kind) in enumerate(large.KINDS.items()):
            case = large.make(name, kind.huge if ALL
                              else min(SIZE, kind.most, kind.huge), 1)
            if case.ptx or (not ALL and (i + turn) % EACH):
                continue
            if way == "script" and any(large.python_value(v) is None
                                       for _, v in case.args):
                continue
            with self.subTest(kind=name), \
                    tempfile.TemporaryDirectory() as folder:
                self.judge(way, Files(case, folder))


def add_tests() -> None:
    for way in WAYS:
        setattr(Large, f"test_{way}",
                lambda self, way=way: self.go(way))


add_tests()


if __name__ == "__main__":
    unittest.main()
