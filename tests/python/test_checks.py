"""What --check finds in scripts: right examples, torch.empty, tuners."""
import glob
import json
import os
import re
import subprocess
import textwrap
import unittest

import support

support.need("library", "numpy")

BUILD = support.BUILD
EXAMPLES = sorted(glob.glob(os.path.join(support.ROOT, "examples", "*.py")))

# One process for all of them, which is ten times faster.
RUN_ALL = """
    import runpy, sys
    for path in sys.argv[1:]:
        runpy.run_path(path, run_name="__main__")
"""


class Examples(support.ScriptCase):
    """No detector finds anything in a kernel that is right."""
    triton = "ours"  # test_examples runs them beside Triton too

    def test_nothing_is_found(self):
        self.assertGreaterEqual(len(EXAMPLES), 40)
        done = self.run_script(RUN_ALL, "-q", args=EXAMPLES, check=False,
                               json_options={"check": "all"})
        found = re.findall(r"^.*: (?:error|warning): .*$", done.stderr, re.M)
        self.assertEqual(found, [])
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout.count(": OK"), len(EXAMPLES))


class SameMemory(support.ScriptCase):
    triton = "ours"  # what is said of a kernel is put together in C

    def test_a_race_in_it(self):
        """How results depend on the order is said once, whatever the memory is
        called; and what the kernel was made of."""
        done = self.run_script("""
            from tkdbg import modelled

            @triton.jit
            def turn(x, y, n, B: tl.constexpr):
                i = tl.program_id(0) * B + tl.arange(0, B)
                tl.store(y + n - 1 - i, tl.load(x + i))
            turn.fn.tkdbg_model = modelled.Model(["of model.py:3"], None)
            x = np.arange(64, dtype="f4")
            turn[(8,)](x, x, 64, 8)
        """, "--check", head=support.HEAD, check=False)
        self.assertIn("[race]", done.stderr)
        self.assertEqual(done.stderr.count("depends on the order of"), 1)
        self.assertIn("note: of model.py:3\n", done.stderr)


class Status(support.ScriptCase):
    triton = "ours"  # findings are counted in C, and by the command

    def test_a_finding_is_no_success(self):
        for end, wanted in (("", 1), ("sys.exit()", 1), ("sys.exit(0)", 1),
                            ("sys.exit(4)", 4), ("sys.exit(4)  # 9", 9),
                            ("x.no  # 9", 9), ("pass  # 9", 9)):
            given = ("--error-exitcode", "9") if "9" in end else ()
            done = self.run_script("""
                import sys
                z = np.zeros(1, "f4")

                @triton.jit
                def total(x, z, n, B: tl.constexpr):
                    i = tl.arange(0, B)
                    tl.store(z, tl.sum(tl.load(x + i, mask=i < n), 0))
                total[(1,)](np.ones(10, "f4"), z, 10, 16)
                END
            """.replace("END", end), "--check=undef", *given, head=support.HEAD,
                check=False)
            self.assertEqual(done.returncode, wanted, done.stderr)
            self.assertIn("tl.load", done.stderr)


class Remarks(support.ScriptCase):
    """What a kernel that a program has written says of where it is from."""

    def test_findings_have_them(self):
        done = self.run_script("""
            import numpy as np
            import triton
            import triton.language as tl

            @triton.jit
            def k(x):
                tl.store(x + 9, 1.0)
            from tkdbg import modelled
            k.fn.tkdbg_model = modelled.Model(
                ["the kernel computes y", "of model.py:3"], None)
            k[(1,)](np.zeros(4, np.float32))
        """, "--triton", "ours", check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn("[out-of-bounds]", done.stderr)
        self.assertIn("  note: the kernel computes y\n  note: of model.py:3\n",
                      done.stderr)


class Versions(support.ScriptCase):
    """Notes of what another version of Triton makes of a kernel."""
    triton = "ours"  # found in C

    # What is only printed when the kernel is compiled changes no program.
    PRINTED = {"WEAK_NUMBERS", "BF16_KEPT", "CUMPROD_WIDENS", "FILTERS_HOLD"}
    STORED = {
        "tl.store(y + i, tl.maximum(tl.load(x + i), 0.1))":
            ("3.9", "this is fp32, not fp16"),
        "tl.store(y + i, tl.load(x + i) == 0.1)":
            ("3.9", "this means something else"),
        "v = tl.load(x + i).to(tl.bfloat16)\n    "
        "tl.store(y + i, tl.maximum(v, v))":
            ("3.9", "this is fp32, not bf16"),
        "tl.store(y + i, tl.cumprod(i.to(tl.int8)))":
            ("3.9", "this is int8, not int32"),
        "tl.store(y, len([n for n in (1, 2, 3) if n > 1]))":
            ("3.9", "this means something else"),
        "tl.store(y + i, -tl.load(x + i))":
            ("3.8", "this means something else"),
        "tl.store(y + i, tl.load(x + i) * 2.0)":
            ("3.2", "this is fp32, not fp16"),
    }
    ALIKE = (
        "tl.store(y + i, tl.load(x + i) + 1, mask=tl.load(x + i) > 0)",
        "tl.store(y + i, tl.softmax(tl.load(x + i).to(tl.float32)))",
        "tl.store(y + tl.cdiv(10, 4) * 2 + i, i // tl.cdiv(10, 4))",
        "if tl.sum(i) > 3:\n        tl.store(y + i, tl.load(x + i))",
    )

    def said(self, path, version, launch, checks="versions"):
        grid, *given = launch.split()
        done = subprocess.run(
            [os.path.join(BUILD, "tkdbg"), "run", "-q", f"--check={checks}",
             "--json", "--triton-version", version, "--kernel", "k",
             "--grid", grid, *(w for a in given for w in ("--arg", a)), path],
            capture_output=True, text=True, check=False)
        lines = done.stderr.splitlines()
        return done.returncode, [json.loads(line) for line in lines]

    def notes(self, body, version, launch, checks="versions"):
        if "def k(" not in body:
            names = [w.partition("=")[0] for w in launch.split()[1:]]
            body = "@triton.jit\ndef k({}):\n{}".format(", ".join(
                n + ": tl.constexpr" * n.isupper() for n in names), body)
        path = self.write("import triton, triton.language as tl\n" + body)
        status, found = self.said(path, version, launch, checks)
        errors = [f for f in found if f["severity"] == "error"]
        self.assertEqual(status, int(bool(errors)), found)
        return [f for f in found if f["kind"] == "versions"]

    def simple(self, line, version, checks="versions"):
        return self.notes(f"    i = tl.arange(0, 8)\n    {line}\n", version,
                          "1 x=f16[16]:arange y=f32[16]:zeros", checks)

    def test_what_a_version_changed_is_noted_on_both_sides(self):
        path = os.path.join(support.ROOT, "tests/language/versions.case")
        with open(path, encoding="utf-8") as f:
            blocks = re.split(r"^== ", f.read(), flags=re.M)[1:]
        tried = 0
        for block in blocks:
            name, version, launch, body = re.match(
                r"(\w+) in .*\ntriton: (\S+)\nlaunch: (.*)\n"
                r"(?s:(.*?))^(?:--|!!)", block, re.M).groups()
            if name in self.PRINTED:
                continue
            with self.subTest(name, version=version):
                texts = [n["text"] for f in self.notes(body, version, launch)
                         for n in f["notes"]]
                self.assertIn(self.before(name), texts)
            tried += 1
        self.assertGreater(tried, 50)

    @staticmethod
    def before(name):
        with open(os.path.join(support.ROOT, "src/typing/version.def"),
                  encoding="utf-8") as f:
            row = re.search(rf'^CHANGE\({name}, (\d)0(\d),\s+(".*?")\)$',
                            f.read(), re.M | re.S)
        text = "".join(re.findall(r'"(.*?)"', row[3]))
        return f"before {row[1]}.{row[2]}: {text}"

    def test_other_types_and_values(self):
        for line, (newer, text) in self.STORED.items():
            with self.subTest(line):
                found = [f["message"] for f in self.simple(line, "3.9")]
                self.assertEqual(found, [f"before Triton {newer} {text}"])

    def test_what_comes_to_the_same(self):
        for line in self.ALIKE:
            for version in "3.9", "3.6":
                with self.subTest(line, version=version):
                    self.assertEqual(self.simple(line, version), [])

    def test_where_it_begins(self):
        found = self.simple(
            "v = tl.maximum(tl.load(x + i), 0.1)\n    w = v * v + i\n"
            "    if tl.sum(w) > 2:\n        w = w + v\n"
            "    tl.store(y + i, w)", "3.9")
        self.assertEqual([f["line"] for f in found], [5])

    def test_a_kernel_that_is_refused(self):
        line = "tl.store(y + i, tl.load(x + i, boundary_check=()))"
        found, = self.simple(line, "3.9")
        self.assertEqual(found["message"], "Triton 3.8 and older take this")
        found, = self.simple("tl.store(y, tl.sum(tl.topk(i, 3, 0)))", "3.9")[:1]
        self.assertEqual(found["message"], "Triton 3.4 to 3.8 take this")
        self.assertEqual(self.simple("tl.store(y + i, nothing)", "3.9"), [])

    def test_only_on_request(self):
        line = next(iter(self.STORED))
        self.assertEqual(self.simple(line, "3.9", "all"), [])
        self.assertEqual(len(self.simple(line, "3.9", "all,versions")), 1)

    def test_a_script(self):
        done = self.run_script("""
            @triton.jit
            def k(x, y, N: tl.constexpr):
                tl.static_print("once")
                i = tl.arange(0, N)
                tl.store(y + i, tl.maximum(tl.load(x + i), 0.1))
            x = np.ones(8, "f2")
            for n in 8, 8, 4:
                k[(1,)](x, x, n)
        """, "-q", "--check=versions", "--triton-version", "3.9",
                               head=support.HEAD)
        self.assertEqual(done.stderr.count("this is fp32, not fp16"), 1)
        self.assertEqual(done.stdout.count("once"), 2)

    def test_a_script_that_is_refused(self):
        done = self.run_script("""
            @triton.jit
            def k(x):
                p = tl.make_block_ptr(x, (8,), (1,), (0,), (8,), (0,))
            k[(1,)](np.ones(8, "f2"))
        """, "-q", "--check=versions", "--triton-version", "3.9",
                               head=support.HEAD, check=False)
        self.assertIn("Triton 3.8 and older take this", done.stderr)


UNWRITTEN = """
    import torch
    import triton
    import triton.language as tl

    @triton.jit
    def fill(y, n, B: tl.constexpr):
        i = tl.program_id(0) * B + tl.arange(0, B)
        tl.store(y + i, 1.0, mask=i < n)

    y = torch.empty(17, device="cuda")
    fill[(2,)](y, 16, B=8)
    THEN
"""


class Unwritten(support.ScriptCase):
    """An output is judged when somebody reads it."""
    triton = "ours"  # reading it is PyTorch's; each case is a process

    def setUp(self):
        support.need("torch")
        super().setUp()

    def found(self, then, checks="undef,unwritten"):
        done = self.run_script(UNWRITTEN.replace("THEN", then), "-q",
                               f"--check={checks}", check=False)
        found = "no program writes y[16]" in done.stderr
        self.assertEqual(done.returncode, int(found), done.stderr)
        return found

    def test_read(self):
        for then in ("y.sum()", "print(y)", "z = y + 1", "y.tolist()",
                     "y.view(-1)[3:].add_(1)", "torch.cat([y, y])"):
            self.assertTrue(self.found(then), then)
        self.assertTrue(self.found("y.sum()", "unwritten"))

    def test_written_first(self):
        for then in ("y[16] = 2; y.sum()", "y[16:].fill_(2); print(y)",
                     "y.zero_(); print(y)",
                     "torch.add(y.new_zeros(17), 1, out=y); y.tolist()",
                     "fill[(3,)](y, 17, B=8); y.sum()"):
            self.assertFalse(self.found(then), then)

    def test_freed_before_it_is_read(self):
        self.run_script("""
            import torch
            from tkdbg.fresh import Fresh

            def read(t):
                fresh.judge(torch.Tensor.sum, (t,), {},
                            lambda func, args, kwargs: func(*args, **kwargs))

            fresh, said = Fresh(True), []
            memory = bytearray(32)
            old = torch.frombuffer(memory, dtype=torch.float32)
            assert fresh.hold(old, lambda: said.append("old"))
            del old
            new = torch.frombuffer(memory, dtype=torch.float32)
            read(new)
            assert not said and fresh.unsaid == 1
            assert fresh.hold(new, lambda: said.append("new"))
            read(new)
            assert said == ["new"]
        """, "-q", "--no-virtual-cuda")

    def test_not_read(self):
        for then in ("pass", "print(y.shape, y.view(-1).numel())",
                     "print(y[:16].sum())", "torch.zeros_like(y)"):
            self.assertFalse(self.found(then), then)


EMPTY = """
    import torch
    import triton
    import triton.language as tl

    @triton.jit
    def copy(x, y, n, B: tl.constexpr):
        i = tl.program_id(0) * B + tl.arange(0, B)
        v = tl.load(x + i, mask=i < n, other=0)
        tl.store(y + i, v, mask=i < n)

    y = torch.zeros(16, device="cuda")
    x = torch.empty(32, device="cuda")
    ones = torch.ones(16, device="cuda")
"""


@unittest.skipUnless(support.has("torch"), "torch is not installed")
class Empty(support.ScriptCase):
    """torch.empty is unwritten in views and later launches too."""
    triton = "ours"  # making it is PyTorch's; each case is a process

    def found(self, text, **options):
        text = textwrap.dedent(text) + "copy[(2,)](x, y, 16, 8)\n"
        options = {"check": "undef", **options}
        done = self.run_script(text, "-q", head=EMPTY, check=False,
                               json_options=options)
        found = re.findall(r"(x\[\d+\]) was never written", done.stderr)
        self.assertEqual(done.returncode, int(bool(found)), done.stderr)
        return found

    def test_plain(self):
        self.assertEqual(self.found(""), ["x[0]"])

    def test_memory_is_taken_for_what_is_touched(self):
        self.assertEqual(self.found("""
            import resource
            x = torch.empty(1 << 28, device="cuda")
            copy[(2,)](ones, x[1 << 27:], 16, 8)
            copy[(2,)](x[1 << 27:], y, 16, 8)
            x = x[1 << 26:]
            most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
            assert most < 700_000, most
            """, check="undef,race"), ["x[0]"])

    def test_assumed_written(self):
        self.assertEqual(self.found("", assume_written=True), [])

    def test_view(self):
        self.assertEqual(self.found("x = x[8:24]\n"), ["x[0]"])

    def test_view_of_another_type(self):
        self.assertEqual(self.found("""
            x = torch.empty(64, dtype=torch.int8, device="cuda")
            x[:32] = 0
            x = x.view(torch.float32)
            """), ["x[8]"])

    def test_a_launch_before_wrote_half(self):
        self.assertEqual(self.found("copy[(1,)](ones, x, 8, 8)\n"),
                         ["x[8]"])

    def test_a_launch_before_wrote_all(self):
        self.assertEqual(self.found("copy[(2,)](ones, x, 16, 8)\n"), [])

    def test_a_launch_before_wrote_through_another_view(self):
        self.assertEqual(self.found("copy[(1,)](ones, x[4:], 8, 8)\n"),
                         ["x[0]"])

    def test_the_program_wrote_a_slice(self):
        self.assertEqual(self.found("x[:12] = 1\n"), ["x[12]"])
        self.assertEqual(self.found("x[:16] = 1\n"), [])

    def test_the_program_wrote_every_other_element(self):
        self.assertEqual(self.found("x[::2].fill_(1)\n"), ["x[1]"])

    def test_writes_that_are_not_understood_count_for_all(self):
        self.assertEqual(self.found("x[torch.arange(4)] = 1.0\n"), [])
        self.assertEqual(self.found(
            "torch.add(torch.cat([ones, ones]), 1, out=x)\n"), [])

    def test_memory_that_was_handed_out(self):
        self.assertEqual(self.found("""
            x = torch.empty(16)
            x.numpy()[:] = 1
            x = x.pin_memory()
            """), [])


PADDED = """
    import torch
    import triton
    import triton.language as tl

    @triton.jit
    def fill(y, step, B: tl.constexpr):
        tl.store(y + tl.program_id(0) * step + tl.arange(0, B), 1.0)

    memory = torch.MAKE((3, 16), device="cuda")
    y = memory[:, :11]
    fill[(2,)](y, y.stride(0), B=16)
    print(y[:2].sum())
"""


class Padded(support.ScriptCase):
    """Rows of a view that have room for whole blocks."""
    triton = "ours"  # making it is PyTorch's; each case is a process

    def setUp(self):
        support.need("torch")
        super().setUp()

    def test_room_that_holds_nothing(self):
        self.run_script(PADDED.replace("MAKE", "empty"), "-q", "--check")

    def test_room_that_holds_something(self):
        done = self.run_script(PADDED.replace("MAKE", "zeros"), "-q",
                               "--check", check=False)
        self.assertIn("store between the elements of y: offset 11",
                      done.stderr)


TUNED = """
    import torch
    import triton
    import triton.language as tl

    def kernel(**options):
        @triton.autotune([triton.Config({"B": 8}), triton.Config({"B": 16})],
                         key=["n"], **options)
        @triton.jit
        def add(x, y, n, B: tl.constexpr):
            i = tl.program_id(0) * B + tl.arange(0, B)
            v = tl.load(y + i) + tl.load(x + i)
            tl.store(y + i, v)
            tl.atomic_add(y + 16, tl.sum(v))
        return add

    def run(kernel, before=0.0):
        x = torch.ones(16, device="cuda")
        y = torch.full((17,), before, device="cuda")
        for _ in range(2):
            kernel[lambda m: (16 // m["B"],)](x, y, 16)
"""


@unittest.skipUnless(support.has("torch"), "torch is not installed")
class Tuned(support.ScriptCase):
    """Tuning runs a kernel again on what it left."""

    def found(self, options):
        done = self.run_script(f"run(kernel({options}))\n", "-q", head=TUNED,
                               check=False,
                               json_options={"check": "idempotence"})
        found = re.findall(r"^.*\[idempotence\].*$", done.stderr, re.M)
        self.assertEqual(done.returncode, int(bool(found)), done.stderr)
        return found

    def test_in_place(self):
        found = self.found("")
        self.assertEqual(len(found), 1, found)
        self.assertIn("y[0] is 1.0 after one run, 2.0 after two", found[0])

    def advice(self, options, before):
        done = self.run_script(f"run(kernel({options}), {before})\n",
                               head=TUNED, check=False,
                               json_options={"check": "idempotence"})
        return done.stderr

    def test_advice_keeps_what_is_there(self):
        said = self.advice("", 0.0)
        self.assertIn("help: give the autotuner reset_to_zero=['y'] or", said)
        said = self.advice("", 3.0)
        self.assertIn("help: give the autotuner restore_value=['y'], which "
                      "puts back what it held; reset_to_zero= would clear it",
                      said)

    def test_what_tuning_has_done(self):
        said = self.advice("reset_to_zero=['y']", 3.0)
        self.assertIn("tuning cleared y, which held values, as "
                      "reset_to_zero=['y'] says", said)
        self.assertIn("--check saw 1 of 2 configurations; --autotune all",
                      said)
        said = self.advice("reset_to_zero=['y']", 0.0)
        self.assertNotIn("cleared", said)

    def test_reset_or_restored(self):
        self.assertEqual(self.found("reset_to_zero=['y']"), [])
        self.assertEqual(self.found("restore_value=['y']"), [])
        self.assertEqual(self.found("pre_hook=lambda *_, **__: None"), [])


if __name__ == "__main__":
    unittest.main()
