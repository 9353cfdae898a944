"""The ctypes layer against the header it describes."""
import ctypes
import json
import os
import re
import shutil
import subprocess
import tempfile
import unittest

import support
from tkdbg import _capi, _results, errors


def header(*names):
    """The text of public headers, without comments."""
    text = ""
    for name in names or ("tkdbg.h", "compile.h", "profile.h", "prove.h",
                          "view.h", "gdbserver.h", "dap.h"):
        path = os.path.join(os.path.dirname(support.HEADER), name)
        with open(path) as f:
            text += re.sub(r"/\*.*?\*/", "", f.read(), flags=re.S)
    return text


class Header(unittest.TestCase):
    def test_every_function_has_a_prototype(self):
        found = set(re.findall(r"\b(tk_\w+)\s*\((?!\*)", header()))
        declared = {n for n in found if re.search(
            rf"^[\w \*]+\b{n}\s*\(", header(), re.M)}
        self.assertEqual(set(_capi.PROTOTYPES), declared)

    def test_argument_counts(self):
        for name, (_, args) in _capi.PROTOTYPES.items():
            found = re.search(rf"\b{name}\s*\(([^;]*?)\);", header(), re.S)
            listed = found.group(1).strip()
            count = 0 if listed == "void" else listed.count(",") + 1
            self.assertEqual(len(args), count, name)

    def test_changes_between_versions_are_documented(self):
        path = os.path.join(support.ROOT, "docs", "semantics.md")
        with open(path, encoding="utf-8") as f:
            page = f.read()
        lib, version = _capi.load(), ctypes.c_char_p()
        for i in range(1000):
            text = lib.tk_triton_change(i, ctypes.byref(version))
            if text is None:
                break
            row = f"| {version.value.decode()} | before: {text.decode()} |"
            self.assertIn(row, page)
        self.assertGreater(i, 3)

    def test_status_order(self):
        body = re.search(r"enum tk_status \{(.*?)\}", header(), re.S)
        names = re.findall(r"TK_(\w+)", body.group(1))
        self.assertEqual([getattr(_capi, n) for n in names],
                         list(range(len(names))))

    def test_value_kinds_order(self):
        body = re.search(r"enum tk_value_kind \{(.*?)\}", header(), re.S)
        names = re.findall(r"TK_(V_\w+)", body.group(1))
        self.assertEqual([getattr(_capi, n) for n in names],
                         list(range(len(names))))

    def test_version(self):
        found = re.search(r'TK_VERSION "(.*?)"', header()).group(1)
        self.assertEqual(found, _capi.VERSION)

    def test_run_time_kinds_exist(self):
        path = os.path.join(support.ROOT, "include", "tkdbg", "diag.def")
        with open(path) as f:
            known = set(re.findall(r'DIAG\(\w+, \w+, "(.*?)", "\w*"\)',
                                   f.read()))
        self.assertEqual(errors.RUN_TIME - known, set())

    def test_option_kinds_order(self):
        body = re.search(r"enum tk_option_kind \{(.*?)\}", header(), re.S)
        names = re.findall(r"TK_(OPTION_\w+)", body.group(1))
        self.assertEqual([getattr(_capi, n) for n in names],
                         list(range(len(names))))


def structs():
    """{name in C: ctypes structure} of all that the bridge describes."""
    known = {**vars(_capi), **vars(_results)}
    found = {"tk_" + re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower(): cls
             for name, cls in known.items()
             if isinstance(cls, type) and issubclass(cls, ctypes.Structure)
             and cls is not ctypes.Structure}
    assert len(found) >= 8, found
    return found


def members(c_name):
    """The names of a struct's members in the header, in order."""
    body = re.search(rf"struct {c_name} \{{(.*?)\n\}}",
                     header() + header("results.h"), re.S)
    for declaration in body.group(1).split(";"):
        pointer = re.search(r"\(\*(\w+)\)", declaration)
        if pointer:
            yield pointer.group(1)
        elif declaration.strip():
            for part in declaration.split(","):
                yield re.search(r"(\w+)\s*(\[.*\])?\s*$", part).group(1)


class Layouts(unittest.TestCase):
    """Every structure has the members of its struct in the header, each
    where the compiler puts it and as large."""

    def test_members(self):
        for c_name, struct in structs().items():
            ours = [field[0].rstrip("_") for field in struct._fields_]
            self.assertEqual(ours, list(members(c_name)), c_name)

    @unittest.skipUnless(shutil.which("cc"), "no C compiler")
    def test_offsets(self):
        lines, expected = [], []
        for c_name, struct in structs().items():
            lines.append(f'printf("%zu 0\\n", sizeof({c_name}));')
            expected.append((c_name, "", ctypes.sizeof(struct), 0))
            for name, *_ in struct._fields_:
                member = name.rstrip("_")
                lines.append(
                    f'printf("%zu %zu\\n", offsetof({c_name}, {member}), '
                    f'sizeof((({c_name} *)0)->{member}));')
                field = getattr(struct, name)
                expected.append((c_name, member, field.offset, field.size))
        found = [tuple(map(int, line.split()))
                 for line in self.printed(lines)]
        self.assertEqual([e[:2] + f for e, f in zip(expected, found)],
                         expected)

    def printed(self, lines):
        """The lines that C statements print."""
        with tempfile.TemporaryDirectory() as folder:
            source = os.path.join(folder, "sizes.c")
            with open(source, "w") as f:
                f.write("#include <stdio.h>\n#include <stddef.h>\n"
                        '#include "tkdbg/compile.h"\n'
                        '#include "tkdbg/dap.h"\n'
                        '#include "tkdbg/gdbserver.h"\n'
                        '#include "tkdbg/prove.h"\n'
                        '#include "tkdbg/results.h"\nint main(void) {'
                        + "".join(lines) + "return 0; }\n")
            program = os.path.join(folder, "sizes")
            subprocess.run(["cc", "-I", os.path.join(support.ROOT, "include"),
                            source, "-o", program], check=True)
            return subprocess.run(
                [program], capture_output=True, text=True,
                check=True).stdout.splitlines()


@unittest.skipIf(support.library() is None, "libtkdbg.so is not built")
class Findings(unittest.TestCase):
    """What the bridge reads from structs is what the library's JSON says."""

    KERNEL = b"""
import triton
import triton.language as tl
@triton.jit
def pick(x, y, n):
    i = tl.arange(0, 8)
    v = tl.load(x + i, mask=i < n)
    tl.store(y + i, v)
    tl.store(y + i + 3, v, mask=i < 7)
"""

    def setUp(self):
        self.lib = _capi.load()
        _capi.bind(self.lib, _results.PROTOTYPES)
        self.session = self.lib.tk_session_new()

    def tearDown(self):
        self.lib.tk_session_free(self.session)

    def check(self):
        found = _results.findings(self.lib, self.session)
        text = self.lib.tk_report_json(self.session).decode()
        self.assertEqual(found, json.loads(text))
        return found

    def open(self, text):
        module = ctypes.c_void_p()
        self.lib.tk_module_open(self.session, b"k.py", text, len(text),
                                ctypes.byref(module))
        return module

    def test_nothing(self):
        self.assertEqual(self.check(), [])

    def test_of_a_run(self):
        fn, launch = ctypes.c_void_p(), ctypes.c_void_p()
        lib = self.lib
        self.assertEqual(lib.tk_session_check(self.session, b"undef", None),
                         _capi.OK)
        lib.tk_function_named(self.open(self.KERNEL), b"pick",
                              ctypes.byref(fn))
        lib.tk_launch_new(self.session, fn, ctypes.byref(launch))
        for arg in b"x=f32[8]:arange", b"y=f32[8]", b"n=5":
            self.assertEqual(lib.tk_launch_arg_text(launch, arg), _capi.OK)
        lib.tk_launch_grid_text(launch, b"1")
        self.assertEqual(lib.tk_launch_run(launch, None, None), _capi.FINDING)
        undef, bounds = self.check()
        self.assertEqual((undef["kind"], undef["lane"], undef["program"]),
                         ("undef", [5], [0, 0, 0]))
        self.assertEqual(undef["notes"][-1]["line"], 7)
        self.assertEqual(bounds["kind"], "out-of-bounds")
        lib.tk_launch_free(launch)

    def test_of_a_text(self):
        fn, launch = ctypes.c_void_p(), ctypes.c_void_p()
        self.lib.tk_function_named(
            self.open("import triton\n@triton.jit\ndef f(x):\n  'é'\n  x = é\n"
                      .encode()), b"f", ctypes.byref(fn))
        self.lib.tk_launch_new(self.session, fn, ctypes.byref(launch))
        self.lib.tk_launch_arg_text(launch, b"x=1")
        self.lib.tk_launch_grid_text(launch, b"1")
        self.lib.tk_launch_run(launch, None, None)
        self.lib.tk_launch_free(launch)
        found, = self.check()
        self.assertEqual((found["kind"], found["line"]), ("name", 5))


class Loading(unittest.TestCase):
    def test_candidates_obey_the_environment(self):
        before = os.environ.get("TKDBG_LIBRARY")
        os.environ["TKDBG_LIBRARY"] = "/nowhere/lib.so"
        try:
            self.assertEqual(_capi.candidates(), ["/nowhere/lib.so"])
        finally:
            if before is None:
                del os.environ["TKDBG_LIBRARY"]
            else:
                os.environ["TKDBG_LIBRARY"] = before

    def test_text(self):
        self.assertEqual(_capi.text(None), "")
        self.assertEqual(_capi.text("añ".encode()), "añ")
        self.assertEqual(_capi.text(b"\xff"), "\ufffd")

    @unittest.skipIf(support.library() is None, "libtkdbg.so is not built")
    def test_dtype_names(self):
        from tkdbg import session
        s = session.current()
        self.assertEqual(s.dtypes.names[0], "int1")
        for spelling in ("fp32", "float32", "f32"):
            self.assertEqual(s.dtypes.names[s.dtypes.number(spelling)], "fp32")
        self.assertIsNone(s.dtypes.number("float31"))


if __name__ == "__main__":
    unittest.main()
